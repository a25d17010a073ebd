"""Apple's GPUs, which are not used."""


def is_available() -> bool:
    """False: tensors do not live on Apple GPUs.

    Example:
        >>> ag.backends.mps.is_available()
        False
    """
    return False


def is_built() -> bool:
    """False: this library is not built with Metal.

    Example:
        >>> ag.backends.mps.is_built()
        False
    """
    return False
