"""Signal processing: windows.

May import: base, core. Read first: windows.py."""

from . import windows

__all__ = ["windows"]
