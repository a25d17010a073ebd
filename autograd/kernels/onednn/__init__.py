"""Kernels by oneDNN, called through ctypes: float32 on the CPU, one module for each kind of primitive.

library.py finds and loads the shared library, primitives.py is all of its C interface that is used. A kernel gives None
where oneDNN is absent, switched off, or has no quick way: the NumPy kernels of the room above do the work then.
"""

from .library import onednn

__all__ = ["onednn"]
