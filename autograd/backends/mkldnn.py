"""The switches of oneDNN, which is not here."""

enabled: bool = True
deterministic: bool = False
allow_tf32: bool = False


def is_available() -> bool:
    """False, as code written for PyTorch's own oneDNN build asks; kernels/accelerators.py finds the library by itself.

    Example:
        >>> ag.backends.mkldnn.is_available()
        False
    """
    return False
