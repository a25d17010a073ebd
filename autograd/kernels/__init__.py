"""Kernels: functions of arrays, without Tensors. One module for each family of algorithms.

A kernel tries its accelerator and falls back to NumPy if that returns None. convolution.conv() calls onednn/convolution.py
(primitives of oneDNN, float32); relu.relu() calls a loop of `loops/` (compiled with the package) through activations.py;
lapack.py calls NumPy's LAPACK. Users switch accelerators in accelerators.py; choose.py has the thresholds that kernels
share. "Compiled" alone means the core, see base/extensions.py.

May import: base. Read first: products.py, then threads.py.
"""

from . import malloc

__all__ = ["malloc"]
