"""One timeline of all ranks: what each did when, which rank waited for which, and why.

Read first: ring_files.py, which writes; then run.py, phases.py, blame.py and report.py, which read.
"""

from autograd.base.docstrings import attach_to_modules

from .ring_files import timeline

attach_to_modules("dparallel.observe")
__all__ = ["timeline"]
