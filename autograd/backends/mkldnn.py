"""The switches of oneDNN, which is not here."""

enabled, deterministic, allow_tf32 = True, False, False


def is_available() -> bool:
    """False."""
    return False
