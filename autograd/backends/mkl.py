"""MKL, which is not used: products are NumPy's."""

from .openmp import is_available

__all__ = ["is_available"]
