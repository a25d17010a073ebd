"""A run that continues after some of its ranks have died: survive().

May import: checkpoint, comm, model, sharding. Read first: run.py, then memory.py and watch.py.
"""

from __future__ import annotations

from .run import Run, survive

__all__ = ["Run", "survive"]
