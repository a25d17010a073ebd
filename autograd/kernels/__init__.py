"""Kernels: arrays in, arrays out, no Tensor. One module for each family of algorithms; NumPy, and accelerators behind it.

May import: nothing. Read first: products.py, then threads.py.
"""

from . import memory

__all__ = ["memory"]
