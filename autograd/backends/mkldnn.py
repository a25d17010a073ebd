"""The switches of oneDNN, which is not here."""

from .switches import Switches

enabled: bool = True
deterministic: bool = False
allow_tf32: bool = False
_switches = Switches(__name__, enabled=False, deterministic=False, allow_tf32=False)
flags, set_flags = _switches.flags, _switches.set_flags


def is_available() -> bool:
    """False, as code written for PyTorch's own oneDNN build asks; kernels/accelerators.py finds the library by itself."""
    return False
