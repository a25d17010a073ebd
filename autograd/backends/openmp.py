"""OpenMP and MKL, which are not used: threads are this library's own."""


def is_available() -> bool:
    """False: no operation uses it."""
    return False
