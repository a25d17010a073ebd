"""The switches of cuDNN, which is not here. Every operation is deterministic whatever they say."""

from .switches import Switches

enabled: bool = True
benchmark: bool = False
deterministic: bool = False
allow_tf32: bool = True
benchmark_limit = 10
_switches = Switches(__name__, enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True)
flags, set_flags = _switches.flags, _switches.set_flags


def is_available() -> bool:
    """False: there is no cuDNN without a GPU."""
    return False


def version() -> None:
    """None, since there is no cuDNN."""
    return None
