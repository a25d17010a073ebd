"""The switches of the package opt_einsum, which einsum() does not use: NumPy chooses the order of its products."""

from .openmp import is_available
from .switches import Switches

enabled: bool = False
strategy: str | None = None
flags = Switches(__name__, enabled=None, strategy=None).flags

__all__ = ["enabled", "flags", "is_available", "strategy"]
