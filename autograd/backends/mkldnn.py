"""The switches of oneDNN, which is not here."""

enabled, deterministic, allow_tf32 = True, False, False


def is_available() -> bool:
    """False, as code written for PyTorch's own oneDNN build asks; kernels/accelerators.py finds the library by itself."""
    return False
