"""The switches of cuDNN, which is not here. Every operation is deterministic whatever they say."""

enabled, benchmark, deterministic, allow_tf32 = True, False, False, True
benchmark_limit = 10


def is_available() -> bool:
    """False."""
    return False


def version() -> None:
    """None."""
    return None
