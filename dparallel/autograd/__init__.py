"""The package autograd under a name that no other has: `import dparallel.autograd as ag`. Read first: this page.

It is `autograd` itself, one module under two names, and dparallel.autograd.nn is autograd.nn. Only where HIPS's package is
installed as `autograd` (base/name_collision.py), this is a module of its own: our `__init__.py` runs here, from a
copy in the wheel, and our other modules become submodules of HIPS's `autograd`, which has none of these names. So names and
classes are the same everywhere, also in pickles and in C. What else was tried: docs/design/namesake.md.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..same_modules import SameModules

if TYPE_CHECKING:
    from autograd import *
    from autograd import __version__ as __version__
else:
    def __getattr__(name: str) -> Any:
        """A name of the module that takes this one's place, for a thread that waited while another one imported it."""
        module = sys.modules[__name__]
        if vars(module) is globals():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(module, name)


HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "autograd")
COPY = os.path.join(HERE, "whole_init.py")           # setup.py: of autograd/__init__.py, which HIPS's package overwrites


def name_collision() -> ModuleType:
    """autograd/base/name_collision.py, by its path."""
    path = os.path.join(OURS, "base", "name_collision.py")
    spec = importlib.util.spec_from_file_location("autograd.base.name_collision", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def beside(theirs: ModuleType) -> ModuleType:
    """Our package beside HIPS's: our modules as submodules of theirs, and a module of our `__init__.py`."""
    if not hasattr(theirs, "differential_operators"):
        raise ImportError(name_collision().fault())
    core = import_module("autograd.core")
    if not hasattr(core, "__path__"):                # theirs lies elsewhere: our core/__init__.py was not run
        name_collision().share(theirs, core)
    file = COPY if os.path.exists(COPY) else os.path.join(OURS, "__init__.py")
    loader = SourceFileLoader("autograd", file)
    module = ModuleType(__name__)
    vars(module).update(__spec__=ModuleSpec("autograd", loader, origin=file, is_package=True), __loader__=loader,
                        __package__="autograd", __path__=[OURS], __file__=file)
    code = loader.get_code("autograd")
    assert code is not None
    exec(code, vars(module))
    sys.modules[__name__] = module                   # whole: other threads see it now
    return module


sys.meta_path.insert(0, SameModules(__name__))
try:
    package = import_module("autograd")
except Exception as error:                           # HIPS's own: without what it needs, or too old for this NumPy
    if fault := name_collision().fault():
        raise ImportError(f"{fault}. It cannot be imported: {error!r}") from error
    raise
if hasattr(package, "__distribution__"):
    sys.modules[__name__] = package
else:
    beside(package)
