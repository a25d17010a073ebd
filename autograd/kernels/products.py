"""Matrix products: NumPy's, and oneDNN's where those are large, float32, and quicker: see choose.products()."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..base.types import Array
from . import choose
from .addresses import address
from .choose import PRODUCT, here
from .halves import converted
from .matmul import NARROW, matmul
from .onednn.openmp import using
from .openblas import alone
from .threads import WIDE, number

FLOAT16, FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)
PIECE = 512                          # numbers of a dot product
WORTH_FLOAT32 = 1 << 12              # from which float16 is quicker in float32: NumPy takes 3 ns for a product of halves


def product(x: Array, y: Array, out: Array | None = None, add: bool = False) -> Array:
    """x @ y for at least two dimensions each; into `out` (contiguous) if it is given, added to what is there if `add`."""
    if (x.dtype is FLOAT32 and x.ndim == 2 and y.ndim == 2 and (x.size * y.shape[1] >= PRODUCT or here.rows_alike)
            and y.dtype is FLOAT32):
        library = choose.products()
        if library is not None:
            made = _sgemm(library, x, y, out, add)
            if made is not None:
                return made
    if x.dtype is FLOAT16 and y.dtype is FLOAT16 and x.size * y.shape[-1] >= WORTH_FLOAT32:
        made = converted(product(converted(x, FLOAT32), converted(y, FLOAT32)), FLOAT16)
        if out is None:
            return made
        np.copyto(out, out + made if add else made)
        return out
    if out is None or not add:
        return matmul(x, y, out)
    out += matmul(x, y)
    return out


def affine(x: Array, weight: Array, bias: Array, out: Array | None = None) -> Array:
    """x @ weight^T + bias for matrices x (n, k), weight (m, k), and bias (m,); into `out` (contiguous) if it is given."""
    if (x.dtype is FLOAT32 and (x.size * weight.shape[0] >= PRODUCT or here.rows_alike) and weight.dtype is FLOAT32
            and choose.products() is not None):
        out = np.empty((x.shape[0], weight.shape[0]), FLOAT32) if out is None else out
        out[...] = bias
        return product(x, weight.T, out, add=True)
    out = product(x, weight.T, out) if x.dtype is FLOAT16 else matmul(x, weight.T, out)
    out += bias
    return out


def bound(x: Array, y: Array, out: Array | None = None, add: bool = False) -> Callable[[], Any] | None:
    """product(x, y, out, add) as a call of C without arguments, for arrays that stay where they are: 7 us instead of 8.5 for
    64 x 64 by 64 x 128. Without `out` it gives a new array each time. None where that is NumPy's."""
    if not (x.dtype is FLOAT32 and x.ndim == 2 and y.ndim == 2 and x.size * y.shape[1] >= PRODUCT and y.dtype is FLOAT32):
        return None
    library, left, right = choose.products(), _layout(x), _layout(y)
    if (library is None or left is None or right is None or (out is not None and not out.flags.c_contiguous)
            or _sgemm(library, x, y, out) is None):
        return None
    (rows, inner), columns = x.shape, y.shape[1]
    call = partial(library.dnnl_sgemm, left[0], right[0], rows, columns, inner, 1.0, address(x), left[1], address(y),
                   right[1], 1.0 if add else 0.0)
    if not library.single or number() > 1:
        call = partial(_using, library, rows * columns * inner >= WIDE, call)
    if out is not None:
        call = partial(call, address(out), columns)
        vars(call)["memory"] = x, y, out             # which must stay while it can be called
        return call
    vars(call)["memory"] = x, y

    def new_product() -> Array:
        made = np.empty((rows, columns), FLOAT32)
        call(address(made), columns)
        return made

    return new_product


def _using(library: Any, wide: bool, call: Callable[..., Any], *args: Any) -> None:
    using(library, number() if wide else 1, call, *args)


def column_sums(x: Array) -> Array:
    """The sums of a matrix, or each of a stack, over its rows. As a product with ones for floats: 13 against 23 us for
    512 x 512. Of float16 in float32, rounded once."""
    if x.dtype.char in "fd":
        if x.size < NARROW:
            return _ones(x.shape[-2], x.dtype) @ x
        with alone():
            return _ones(x.shape[-2], x.dtype) @ x
    return np.add.reduce(x, -2, dtype=np.float32 if x.dtype.char == "e" else x.dtype).astype(x.dtype, copy=False)


def dot(x: Array, y: Array) -> Any:
    """x @ y of real vectors. BLAS adds up all products in a few sums, which lose digits where they are long."""
    parts = x.size // PIECE
    if parts < 8:
        return np.matmul(x, y)
    whole = parts * PIECE
    total = np.add.reduce(np.vecdot(x[:whole].reshape(parts, PIECE), y[:whole].reshape(parts, PIECE)))
    return total + np.matmul(x[whole:], y[whole:])


@lru_cache(maxsize=64)
def _ones(count: int, dtype: np.dtype[Any]) -> Array:
    ones = np.ones(count, dtype)
    ones.flags.writeable = False                     # a constant
    return ones


def _sgemm(library: Any, x: Array, y: Array, out: Array | None, add: bool = False) -> Array | None:
    """By oneDNN; None if it can't read the operands as they lie, or refuses."""
    (rows, inner), columns = x.shape, y.shape[1]
    left, right = _layout(x), _layout(y)
    if left is None or right is None or inner != y.shape[0]:
        return None
    if out is None:
        out = np.empty((rows, columns), FLOAT32)
    count = number() if rows * columns * inner >= WIDE else 1
    if count == 1 and library.single:
        status = library.dnnl_sgemm(left[0], right[0], rows, columns, inner, 1.0, address(x), left[1], address(y), right[1],
                                    1.0 if add else 0.0, address(out), columns)
    else:
        status = using(library, count, library.dnnl_sgemm, left[0], right[0], rows, columns, inner, 1.0, address(x), left[1],
                       address(y), right[1], 1.0 if add else 0.0, address(out), columns)
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
