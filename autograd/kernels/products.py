"""Matrix products: NumPy's, and oneDNN's where those are large and float32.

oneDNN chooses its kernels by what the processor can do, OpenBLAS by the processor's name or by OPENBLAS_CORETYPE: 215
against 108 GFLOP/s for 512 x 512 on an AMD EPYC with Haswell's kernels, one thread; alike where both use AVX-512.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .onednn import onednn

Array = np.ndarray[Any, Any]
FLOAT32 = np.dtype(np.float32)
WORTH = 1 << 19                      # multiplications from which 4 us of ctypes are won back


def product(x: Array, y: Array, out: Array | None = None) -> Array:
    """x @ y for at least two dimensions each, contiguous; into `out` (contiguous) if it is given."""
    if (x.dtype is FLOAT32 and x.ndim == 2 and y.ndim == 2 and x.size * y.shape[1] >= WORTH and y.dtype is FLOAT32
            and type(x) is np.ndarray):
        library = onednn.library()
        if library is not None:
            made = _sgemm(library, x, y, out)
            if made is not None:
                return made
    return np.matmul(x, y, order="C") if out is None else np.matmul(x, y, out=out)


def _sgemm(library: Any, x: Array, y: Array, out: Array | None) -> Array | None:
    """By oneDNN; None if it can't read the operands as they lie, or refuses."""
    (rows, inner), columns = x.shape, y.shape[1]
    left, right = _layout(x), _layout(y)
    if left is None or right is None or inner != y.shape[0]:
        return None
    if out is None:
        out = np.empty((rows, columns), FLOAT32)
    status = library.dnnl_sgemm(left[0], right[0], rows, columns, inner, 1.0, x.ctypes.data, left[1], y.ctypes.data,
                                right[1], 0.0, out.ctypes.data, columns)
    return None if status else out


def _layout(x: Array) -> tuple[bytes, int] | None:
    """How a matrix lies: by rows (N) or by columns (T), and the distance of its rows or columns in elements."""
    down, across = x.strides
    rows, columns = x.shape
    if not x.flags.aligned:
        return None
    if across == 4 and down % 4 == 0 and down >= 4 * columns:
        return b"N", down // 4
    if down == 4 and across % 4 == 0 and across >= 4 * rows:
        return b"T", across // 4
    return None
