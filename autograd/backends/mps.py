"""Apple's GPUs, which are not used."""


def is_available() -> bool:
    """False: tensors do not live on Apple GPUs."""
    return False


def is_built() -> bool:
    """False: this library is not built with Metal."""
    return False
