"""Kernels: arrays in, arrays out, no Tensor. This file alone chooses which implementation serves each name.

The reference (NumPy) serves all of them; optional accelerators take over here, function by function.
"""

from .reference import add_at, conv2d, conv2d_input, conv2d_weight, max_pool2d, pooled_size

__all__ = ["add_at", "conv2d", "conv2d_input", "conv2d_weight", "max_pool2d", "pooled_size"]
