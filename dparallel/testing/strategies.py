"""hypothesis strategies for collectives: shapes, dtypes, roots, and how rows are split over ranks.

Requires hypothesis. Every rank must run the same examples: with @pytest.mark.ranks any @given test does (see
docs/testing.md); elsewhere under MPI use @settings(derandomize=True, database=None).

>>> @pytest.mark.ranks
... @settings(deadline=None)
... @given(shape=shapes(), dtype=dtypes(), seed=seeds())
... def test_sum(comm, shape, dtype, seed): ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograd.base.docstrings import attach_to_modules

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")


def shapes(min_dims: int = 0, max_dims: int = 4, max_side: int = 4, min_side: int = 0) -> st.SearchStrategy[Any]:
    """Shapes of arrays, also 0-d and with sides of 0."""
    return st.lists(st.integers(min_side, max_side), min_size=min_dims, max_size=max_dims).map(tuple)


def dtypes(kinds: str = "fiubc") -> st.SearchStrategy[Any]:
    """Dtypes that communicators send, as numpy.dtype."""
    names = [name for name in (*FLOATS, *INTEGERS, "bool", *COMPLEX) if np.dtype(name).kind in kinds]
    return st.sampled_from(names).map(np.dtype)


def roots(size: int) -> st.SearchStrategy[Any]:
    """A rank of `size` ranks."""
    return st.integers(0, size - 1)


def pieces(size: int, max_rows: int = 5) -> st.SearchStrategy[Any]:
    """Numbers of rows of `size` ranks, including 0: a list of ints."""
    return st.lists(st.integers(0, max_rows), min_size=size, max_size=size)


def splits(size: int, rows: int) -> st.SearchStrategy[Any]:
    """Sizes that split `rows` rows into `size` parts, also empty ones: a list of ints whose sum is `rows`."""
    cuts = st.lists(st.integers(0, rows), min_size=size - 1, max_size=size - 1).map(sorted)
    return cuts.map(lambda inner: [b - a for a, b in zip([0, *inner], [*inner, rows], strict=True)])


def exchanges(size: int, max_rows: int = 3) -> st.SearchStrategy[Any]:
    """The table of an alltoall: row r has the numbers of rows that rank r sends to each rank."""
    return st.lists(pieces(size, max_rows), min_size=size, max_size=size)


def dims(ndim: int) -> st.SearchStrategy[Any]:
    """A dimension of an array, negative or not."""
    return st.integers(-ndim, ndim - 1)


def seeds() -> st.SearchStrategy[Any]:
    """Seeds for numbers()."""
    return st.integers(0, 2**31 - 1)


def numbers(shape: Sequence[int], dtype: Any = np.float64, *, seed: int, rank: int = 0) -> Any:
    """Random numbers of each rank, small enough for exact sums. The example is the seed, from which each rank draws its
    own."""
    rng = np.random.default_rng([seed, rank])
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return np.asarray(rng.standard_normal(tuple(shape))).astype(dtype)
    if dtype.kind == "c":
        return np.asarray(rng.standard_normal(tuple(shape)) + 1j * rng.standard_normal(tuple(shape))).astype(dtype)
    return np.asarray(rng.integers(0, 2 if dtype.kind == "b" else 8, tuple(shape))).astype(dtype)


attach_to_modules("dparallel.testing")
__all__ = ["dims", "dtypes", "exchanges", "numbers", "pieces", "roots", "seeds", "shapes", "splits"]
