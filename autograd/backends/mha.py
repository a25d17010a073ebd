"""The switch of PyTorch's fast path of transformers in evaluation. There is one path here."""

from ..base import docstrings as _docstrings

enabled = True


def get_fastpath_enabled() -> bool:
    """What set_fastpath_enabled() set last; True at first."""
    return enabled


def set_fastpath_enabled(value: bool) -> None:
    """Set the switch, which has no effect."""
    global enabled
    enabled = value

_docstrings.complete(globals(), "backends", "backends.mha.")
