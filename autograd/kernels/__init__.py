"""Kernels: arrays in, arrays out, no Tensor. One module for each family of algorithms; NumPy, and accelerators behind it."""

from . import memory

__all__ = ["memory"]
