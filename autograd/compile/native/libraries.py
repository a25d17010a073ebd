"""Functions of other libraries that native code calls by address: matrix products and the C library's mathematics.

The text of a program has a call for each library, and the table of pointers says which is made: so a program's text does
not depend on what was measured to be the fastest.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.fastest_product import candidates, fastest
from ...kernels.onednn import onednn
from ...kernels.onednn.openmp import using
from ...kernels.openblas import few
from ...kernels.threads import WIDE, number
from .normal import Product, layout
from .values import kind_of

if TYPE_CHECKING:
    from .emit import Function


class Gemms:
    """The libraries for one product, each of which makes it if its pointer in the table is not null."""

    def __init__(self, product: Product) -> None:
        (m, n), k = product.out.shape[-2:], product.a.shape[-1]
        left, right = layout(product.a), layout(product.b)
        assert left is not None and right is not None
        self.sizes, self.left, self.right = (m, n, k), left, right
        self.step: int = n if m == 1 else product.out.strides[-2]
        self.kind: str = kind_of(product.out.dtype)
        self.libraries: dict[str, str] = {g.name: g.integer for g in candidates(self.kind)}
        self.work: int = m * n * k

    def pointers(self) -> list[tuple[Any, int]]:
        """Keys and contents of the table's entries, in the order of arguments()."""
        shape = (*self.sizes, self.left[0] == "T", self.right[0] == "T")
        chosen = fastest(*shape, np.dtype(self.kind))
        out: list[tuple[Any, int]] = []
        for name in self.libraries:
            out.append(((name, *shape, self.kind), chosen.address if chosen is not None and chosen.name == name else 0))
        if "onednn" in self.libraries:
            out.append(("threads", threads_setter()))
        return out

    def arguments(self) -> list[str]:
        """Names of the function's arguments."""
        return [*self.libraries, *(["threads"] if "onednn" in self.libraries else [])]

    def call(self, f: Function, where: list[str], threads: int) -> None:
        """The instructions of one product into where[0]."""
        (m, n, k), (a, lda), (b, ldb) = self.sizes, self.left, self.right
        t = "float" if self.kind == "f4" else "double"
        for name, i in self.libraries.items():
            end = f.when(f"%{name}")
            if name == "onednn":
                inner = f.when("%threads")
                f.lines.append(f"  call void %threads(i32 {threads if self.work >= WIDE else 1})")
                f.otherwise(inner)
                first = f"i32 %onednn(i8 signext {ord(a)}, i8 signext {ord(b)}"
            else:
                first = f"void %{name}(i32 101, i32 {111 + (a == 'T')}, i32 {111 + (b == 'T')}"
            f.lines.append(f"  call {first}, {i} {m}, {i} {n}, {i} {k}, {t} 1.0, ptr {where[1]}, {i} {lda}, ptr {where[2]}, "
                           f"{i} {ldb}, {t} 0.0, ptr {where[0]}, {i} {self.step})")
            f.otherwise(end)


def guarded(call: Callable[[], Any], work: int) -> Callable[[], Any]:
    """A call with products, the largest of so many multiplications, that leaves the libraries' threads as they were."""
    if number() == 1 or not work:
        return call

    def run() -> None:
        with few(work):
            call()

    return run if onednn.library is None else partial(using, onednn.library, 1, run)


def threads_setter() -> int:
    """Where the function is that sets the threads of oneDNN's next call; 0 if there is none, or no need."""
    known = hasattr(onednn.library.set_threads, "restype") and not onednn.library.single
    return address_of(onednn.library.set_threads) if known else 0


def address_of(function: Any) -> int:
    """Where a function of ctypes is."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@lru_cache
def mathematics() -> Any:
    """The C library's mathematics."""
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    return ctypes.CDLL(ctypes.util.find_library("m") or None)


def libm(symbol: str) -> int:
    """The address of a function such as sinf."""
    return address_of(getattr(mathematics(), symbol))
