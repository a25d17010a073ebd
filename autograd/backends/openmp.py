"""OpenMP and MKL, which are not used: threads are this library's own."""


def is_available() -> bool:
    """False: no operation uses it.

    Example:
        >>> ag.backends.openmp.is_available(), ag.backends.mkl.is_available()
        (False, False)
    """
    return False
