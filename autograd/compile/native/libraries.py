"""Functions of other libraries that native code calls by address: matrix products and the C library's mathematics."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...kernels import choose
from ...kernels.fastest_product import blas_gemm
from ...kernels.onednn.openmp import using
from ...kernels.openblas import few
from ...kernels.threads import WIDE

if TYPE_CHECKING:
    from .emit import Function


class OneDnn:
    """oneDNN's sgemm."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.addresses: dict[str, int] = {"sgemm": address_of(library.dnnl_sgemm)}
        if not library.single:                       # before each product: for how many threads it is large enough
            self.addresses["threads"] = address_of(library.set_threads)

    def run(self, call: Callable[[], Any], work: int) -> None:
        """A call that sets threads, which are put back."""
        using(self._library, 1, call)

    def call(self, f: Function, kind: str, sizes: tuple[int, int, int], where: list[str], left: Any,
             right: Any, step: int, threads: int) -> None:
        """The instruction of one product."""
        m, n, k = sizes
        if "threads" in self.addresses:
            f.lines.append(f"  call void %threads(i32 {threads if m * n * k >= WIDE else 1})")
        f.lines.append(f"  call i32 %sgemm(i8 signext {ord(left[0])}, i8 signext {ord(right[0])}, i64 {m}, i64 {n}, "
                       f"i64 {k}, float 1.0, ptr {where[1]}, i64 {left[1]}, ptr {where[2]}, i64 {right[1]}, float 0.0, "
                       f"ptr {where[0]}, i64 {step})")


class Blas:
    """sgemm or dgemm of the OpenBLAS that NumPy has loaded."""

    def __init__(self, function: Any, integer: str) -> None:
        self.addresses: dict[str, int] = {"gemm": address_of(function)}
        self.integer: str = integer

    def run(self, call: Callable[[], Any], work: int) -> None:
        """A call whose largest product has so many multiplications."""
        with few(work):
            call()

    def call(self, f: Function, kind: str, sizes: tuple[int, int, int], where: list[str], left: Any,
             right: Any, step: int, threads: int) -> None:
        """The instruction of one product."""
        t, i = "float" if kind == "f4" else "double", self.integer
        order = ", ".join(f"i32 {111 if x[0] == 'N' else 112}" for x in (left, right))
        counts = ", ".join(f"{i} {x}" for x in sizes)
        f.lines.append(f"  call void %gemm(i32 101, {order}, {counts}, {t} 1.0, ptr {where[1]}, {i} {left[1]}, "
                       f"ptr {where[2]}, {i} {right[1]}, {t} 0.0, ptr {where[0]}, {i} {step})")


def address_of(function: Any) -> int:
    """Where a function of ctypes is."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def product(kind: str) -> OneDnn | Blas | None:
    """The library for products of this kind; None: loops of our own."""
    library = choose.products() if kind == "f4" else None
    return OneDnn(library) if library is not None else blas(kind)


@lru_cache
def blas(kind: str) -> Blas | None:
    """OpenBLAS's product of this kind, if NumPy's products are made by it."""
    found = blas_gemm("f" if kind == "f4" else "d")
    return None if found is None else Blas(found.function, found.integer)


@lru_cache
def mathematics() -> Any:
    """The C library's mathematics."""
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    return ctypes.CDLL(ctypes.util.find_library("m") or None)


def libm(symbol: str) -> int:
    """The address of a function such as sinf."""
    return address_of(getattr(mathematics(), symbol))
