"""Special functions."""

__all__: list[str] = []
METHODS: list[str] = []
