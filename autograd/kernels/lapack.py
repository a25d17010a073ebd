"""LAPACK and BLAS in the library that NumPy is linked to, through ctypes: what NumPy has in C but does not pass on.

The functions are looked up from NumPy's own extension module, which finds them in the libraries that it has loaded: in the
OpenBLAS of a wheel, in Accelerate, in whatever a distribution's NumPy uses. Nothing is guessed of their integers: a small
matrix with known factors is factored first, with room for 64-bit integers, and its pivots tell how wide they are. A library
that has not all of the names, or gives other factors, is not used; kernels/lu.py then does without.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.types import Array
from .accelerators import Accelerator, Missing
from .addresses import address
from .openblas import few

PATTERNS = ("scipy_{}_64_", "scipy_{}_", "{}_64_", "{}64_", "{}_", "{}$NEWLAPACK$ILP64", "{}$NEWLAPACK")
LETTERS: dict[Any, str] = {np.dtype(np.float32): "s", np.dtype(np.float64): "d", np.dtype(np.complex64): "c",
                           np.dtype(np.complex128): "z"}
BROUGHT = "NumPy's wheels bring one whose names are known"
INSTEAD = "LU factors and triangular systems are made of what NumPy has, several times slower"
FLAGS = {letter: ctypes.create_string_buffer(letter.encode()) for letter in "LRUNT"}
FLAG = {letter: ctypes.addressof(buffer) for letter, buffer in FLAGS.items()}
ONES = {dtype: np.ones(1, dtype) for dtype in LETTERS}
ONE = ctypes.c_size_t(1)             # Fortran compilers pass the lengths of texts behind all arguments


class Lapack:
    """The functions of one library, by NumPy's dtypes."""

    getrf: dict[Any, Any]
    trsm: dict[Any, Any]

    def __init__(self, library: Any, pattern: str) -> None:
        self.getrf = {dtype: _typed(library, pattern, f"{letter}getrf", 6, 0) for dtype, letter in LETTERS.items()}
        self.trsm = {dtype: _typed(library, pattern, f"{letter}trsm", 11, 4) for dtype, letter in LETTERS.items()}
        self.integer: Any = np.int64
        self.integer = self._measured()

    def _measured(self) -> Any:
        """The type of the library's integers: the pivots of a matrix whose rows have to be exchanged tell it."""
        for dtype in LETTERS:
            a = np.array([[0, 2], [4, 0]], dtype)                # columns of [[0, 4], [2, 0]]
            pivots, info = self.factor(a[None])
            found = np.int64 if pivots.tolist() == [[2, 2]] else np.int32
            if pivots.view(found).reshape(-1)[:2].tolist() != [2, 2] or info.any() or a.tolist() != [[2, 0], [0, 4]]:
                raise OSError(f"the LAPACK that NumPy is linked to factors a matrix of {dtype} wrongly: {pivots}, {a}")
            b = np.array([[2, 8], [3, 6]], dtype)                # X with X [[2, 0], [0, 4]] = B^T
            self.solve(a, b, "R", "U", "N", "N", 2, 2)
            if b.tolist() != [[1, 4], [0.75, 1.5]]:
                raise OSError(f"the BLAS that NumPy is linked to solves a system of {dtype} wrongly: {b}")
        return found

    def factor(self, a: Array) -> tuple[Array, Array]:
        """Replace each matrix of a (count, n, m), which lie by columns, by its factors: pivots, counted from 1, and info.

        Sizes lie in 64 bits with their upper halves zero, so that they are right for 32-bit integers as well.
        """
        count, n, m = a.shape
        k = min(m, n)
        pivots, sizes = np.zeros((count, k), np.int64), np.array([m, n, max(m, 1)], np.int64)
        info = np.zeros(count, np.int64)
        run, rows = self.getrf[a.dtype], address(sizes)
        at, at_pivots, at_info = address(a), address(pivots), address(info)
        with few(m * n * k):
            for i in range(count):
                run(rows, rows + 8, at + i * m * n * a.itemsize, rows + 16, at_pivots + i * k * 8, at_info + i * 8)
        if self.integer is np.int32:
            pivots, info = pivots.view(np.int32).reshape(count, 2 * k)[:, :k], info.view(np.int32)[::2]
        return pivots, info

    def solve(self, a: Array, b: Array, side: str, triangle: str, turned: str, diagonal: str, rows: int, columns: int,
              at_a: Sequence[int] | None = None, at_b: Any = None, step: int = 0) -> None:
        """X of op(A) X = B or X op(A) = B written to b; matrices by columns, `step` elements from one of a's to the next.
        at_a, at_b: where the matrices begin; one each if they are not given."""
        sizes = np.array([rows, columns, step or max(rows if side == "L" else columns, 1), max(rows, 1)], np.int64)
        start, one, run = address(sizes), address(ONES[b.dtype]), self.trsm[b.dtype]
        flags = FLAG[side], FLAG[triangle], FLAG[turned], FLAG["U" if diagonal == "U" else "N"]
        at_a, at_b = (address(a),) if at_a is None else at_a, (address(b),) if at_b is None else at_b
        with few(rows * columns * max(rows, columns)):
            for one_a, one_b in zip(at_a, at_b, strict=True):
                run(*flags, start, start + 8, one, one_a, start + 16, one_b, start + 24, 1, 1, 1, 1)


def _typed(library: Any, pattern: str, name: str, arguments: int, texts: int) -> Any:
    """A function of the library. AttributeError if it has none of this name."""
    function = library[pattern.format(name)]
    function.argtypes = [ctypes.c_void_p] * arguments + [ctypes.c_size_t] * texts
    function.restype = None
    return function


def load() -> Lapack:
    """The library behind numpy.linalg. Missing if it has other names than the known ones."""
    if sys.byteorder != "little":
        raise OSError("integers of unknown width can be passed on little-endian machines only")
    library = ctypes.CDLL(find())
    for pattern in PATTERNS:
        try:
            return Lapack(library, pattern)
        except AttributeError:
            continue
    raise Missing("the library that NumPy is linked to does not show its LAPACK under a known name")


def find() -> str:
    """The file of the extension module through which the functions are found."""
    module: Any = np.linalg._umath_linalg  # type: ignore[attr-defined]
    return str(module.__file__)


lapack: Accelerator = Accelerator("lapack", load, find, BROUGHT, INSTEAD)


def lapack_for(*arrays: Any) -> Lapack | None:
    """The library for ordinary arrays of one dtype that it knows; else None."""
    dtype = arrays[0].dtype
    if dtype not in LETTERS or any(type(x) is not np.ndarray or x.dtype != dtype for x in arrays):
        return None
    return lapack.library  # type: ignore[no-any-return]


def beginnings(x: Array, batch: tuple[int, ...]) -> list[int]:
    """The addresses of the matrices of a stack x, broadcast to `batch`."""
    starts = np.full(batch, address(x), np.int64)
    skipped = len(batch) - (x.ndim - 2)
    for dim, (size, stride) in enumerate(zip(x.shape[:-2], x.strides[:-2], strict=True)):
        if size > 1:
            starts += (np.arange(size) * stride).reshape(-1, *[1] * (len(batch) - skipped - dim - 1))
    return starts.reshape(-1).tolist()  # type: ignore[no-any-return]
