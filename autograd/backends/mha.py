"""The switch of PyTorch's fast path of transformers in evaluation. There is one path here."""

enabled = True


def get_fastpath_enabled() -> bool:
    """What set_fastpath_enabled() set last; True at first.

    Example:
        >>> ag.backends.mha.get_fastpath_enabled()
        True
    """
    return enabled


def set_fastpath_enabled(value: bool) -> None:
    """Set the switch, which has no effect.

    Args:
        value (bool): What get_fastpath_enabled() is to return.

    Example:
        >>> ag.backends.mha.set_fastpath_enabled(True)
    """
    global enabled
    enabled = value
