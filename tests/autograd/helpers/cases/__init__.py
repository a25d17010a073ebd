"""The table of operations: one row each, run through autograd and PyTorch by test_ops.py.

Every module here but `row` has a list CASES; a new family of operations brings a new module.
"""

import importlib
import pkgutil

MODULES = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "row")
CASES = [case for name in MODULES for case in importlib.import_module(f"{__name__}.{name}").CASES]
