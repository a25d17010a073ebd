"""A run that continues after some of its ranks have died: survive().

May import: checkpoint, comm, model, sharding. Read first: run.py, then last_state.py and watch.py.
"""

from __future__ import annotations

from autograd.base.docstrings import attach_to_modules

from .run import Run, survive

attach_to_modules("dparallel.survival")
__all__ = ["Run", "survive"]
