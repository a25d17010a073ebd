"""Kernels: arrays in, arrays out, no Tensor. One module for each family of algorithms, in NumPy.

Accelerators stand behind them: `onednn/` (primitives of oneDNN, float32) and `loops/` (compiled with the package); lapack.py
calls the LAPACK that NumPy itself brings. accelerators.py says which are used, choose.py which of two ways is quicker.
"Compiled" alone means the core, see base/extensions.py.

May import: base. Read first: products.py, then threads.py.
"""

from . import malloc

__all__ = ["malloc"]
