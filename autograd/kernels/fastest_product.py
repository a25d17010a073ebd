"""The fastest library for a matrix product of one shape, found by measurement.

Libraries add up in different orders, so ranks that choose differently round differently: measure on one rank, broadcast
`table()`, and `adopt()` it on the others before their first product.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..base.types import Array
from . import choose
from .addresses import address
from .onednn import onednn
from .onednn.openmp import using
from .openblas import alone, openblas
from .threads import WIDE, number

CBLAS = (("scipy_cblas_{}gemm64_", "i64"), ("cblas_{}gemm64_", "i64"), ("scipy_cblas_{}gemm", "i32"),
         ("cblas_{}gemm", "i32"))
SECONDS = 1e-3                       # of measuring a shape, or three calls of each library if these take longer
MARGIN = 0.05                        # by which another library must be faster than the usual one
ROWS, TRANSPOSED, PLAIN = 101, 112, 111      # CblasRowMajor, CblasTrans, CblasNoTrans
# of this thread alone: other processes on the core would count otherwise
CLOCK: Callable[[], float] = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-6 else time.perf_counter
Shape = tuple[int, int, int, bool, bool, str]


class Gemm(NamedTuple):
    """A library's product of one dtype: C = A @ B + beta * C by rows. Only the first arguments differ between libraries."""

    name: str                        # "onednn" or "openblas"
    function: Any                    # of ctypes
    integer: str                     # its sizes: "i64" or "i32"

    @property
    def address(self) -> int:
        """Where the function is: dnnl_sgemm(char, char, sizes...) or cblas_?gemm(order, int, int, sizes...)."""
        return ctypes.cast(self.function, ctypes.c_void_p).value or 0

    def bound(self, m: int, n: int, k: int, transposed_a: bool, transposed_b: bool, a: int, b: int, out: int,
              beta: float = 0.0) -> Callable[[], Any]:
        """The call for contiguous matrices at these addresses: a (m, k), or (k, m) if transposed, b likewise, out (m, n)."""
        first: tuple[Any, ...] = tuple([b"T" if t else b"N" for t in (transposed_a, transposed_b)])
        if self.name == "openblas":
            first = (ROWS, *[TRANSPOSED if t else PLAIN for t in (transposed_a, transposed_b)])
        left, right = m if transposed_a else k, k if transposed_b else n
        return partial(self.function, *first, m, n, k, 1.0, a, left, b, right, beta, out, n)


def candidates(dtype: Any) -> list[Gemm]:
    """The libraries that multiply float32 or float64 here, the usual one (choose.products()) first."""
    found, blas = [], blas_gemm(np.dtype(dtype).char)
    if np.dtype(dtype).char == "f" and onednn.library is not None:
        found.append(Gemm("onednn", onednn.library.dnnl_sgemm, "i64"))
    if blas is not None:
        found.insert(0 if found and choose.products() is None else len(found), blas)
    return found


def fastest(m: int, n: int, k: int, transposed_a: bool, transposed_b: bool, dtype: Any) -> Gemm | None:
    """The library for A @ B of (m, k) by (k, n), measured at the first call for a shape; None if there is none.

    The usual library keeps a shape unless another is 5 % faster. Nothing is measured where results must not depend on it
    (choose.rows_alike()), nor for products on several threads: OpenBLAS's workers spin.
    """
    found = candidates(dtype)
    if len(found) < 2 or choose.here.rows_alike or (m * n * k >= WIDE and number() > 1):
        return found[0] if found else None
    shape = m, n, k, bool(transposed_a), bool(transposed_b), np.dtype(dtype).char
    name = _chosen.get(shape)
    if name is None:
        with _measuring:                             # one measurement at a time: they would slow each other down
            name = _chosen.get(shape) or _chosen.setdefault(shape, _measured(shape, found))
    return next(gemm for gemm in found if gemm.name == name)


def table() -> dict[Shape, str]:
    """The choices so far, (m, n, k, transposed_a, transposed_b, dtype's character) -> a library's name."""
    return dict(_chosen)


def adopt(choices: dict[Shape, str]) -> None:
    """Take the choices of another rank's table(). RuntimeError if a library is missing here."""
    missing = {name for (*_, char), name in choices.items() if name not in [gemm.name for gemm in candidates(char)]}
    if missing:
        raise RuntimeError(f"products: another rank chose {' and '.join(sorted(missing))}, which this rank does not have; "
                           "install the same libraries on each rank")
    _chosen.update(choices)


@lru_cache
def blas_gemm(char: str) -> Gemm | None:
    """OpenBLAS's product of float32 ("f") or float64 ("d"), if NumPy's products are made by it."""
    np.ones((2, 2)) @ np.ones((2, 2))
    found = openblas()
    for name, integer in CBLAS if found is not None else ():
        try:
            function = getattr(found.library, name.format("s" if char == "f" else "d"))     # type: ignore[union-attr]
        except AttributeError:
            continue
        size, pointer = ctypes.c_int64 if integer == "i64" else ctypes.c_int, ctypes.c_void_p
        real = ctypes.c_float if char == "f" else ctypes.c_double
        function.argtypes = [*[ctypes.c_int] * 3, *[size] * 3, real, pointer, size, pointer, size, real, pointer, size]
        function.restype = None
        return Gemm("openblas", function, integer)
    return None


def _measured(shape: Shape, found: list[Gemm]) -> str:
    """The name of the fastest, by the shortest call of each in turn."""
    m, n, k, left, right, char = shape
    a, b, out = np.ones((m, k), char), np.ones((k, n), char), np.empty((m, n), char)
    calls = [_alone(gemm, (m, n, k, left, right), a, b, out) for gemm in found]
    empty = [_shortest([_alone(gemm, (0, n, k, left, right), a, b, out)], 5)[0] for gemm in found]
    with alone():
        once = sum(_shortest([call], 2)[0] for call in calls)
        times = _shortest(calls, max(3, int(SECONDS / once)))
    cost = [taken - nothing for taken, nothing in zip(times, empty, strict=True)]     # without what ctypes takes
    best = min(range(len(found)), key=cost.__getitem__)
    return found[best if cost[best] < (1 - MARGIN) * cost[0] else 0].name


def _alone(gemm: Gemm, form: tuple[int, int, int, bool, bool], a: Array, b: Array, out: Array) -> Callable[[], Any]:
    """A call on one thread."""
    call = gemm.bound(*form, address(a), address(b), address(out))
    return partial(using, onednn.library, 1, call) if gemm.name == "onednn" else call


def _shortest(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Seconds of the shortest call of each, called in turn."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for place, call in enumerate(calls):
            start = CLOCK()
            call()
            best[place] = min(best[place], CLOCK() - start)
    return best


_chosen: dict[Shape, str] = {}
_measuring: threading.Lock = threading.Lock()
