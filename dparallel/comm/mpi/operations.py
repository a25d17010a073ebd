"""MPI's operations for ours. Importing this module imports mpi4py, which starts MPI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from autograd.kernels.halves import converted

from ..base import Array
from ..reference import is_half
from .ordered_floats import decoded, encoded

BYTE: Any = MPI.BYTE
OPS: dict[str, Any] = {"sum": MPI.SUM, "mean": MPI.SUM, "prod": MPI.PROD, "max": MPI.MAX, "min": MPI.MIN,
       "band": MPI.BAND, "bor": MPI.BOR, "bxor": MPI.BXOR}
BOOL_OPS: dict[str, Any] = {"sum": MPI.LOR, "prod": MPI.LAND, "max": MPI.LOR, "min": MPI.LAND,
            "band": MPI.LAND, "bor": MPI.LOR, "bxor": MPI.LXOR}


def reducible(x: Array, op: str, size: int) -> tuple[Array, Any, Callable[[Array], Array]]:
    """x in a form that MPI can reduce, MPI's operation, and the function from its result to that over `size` ranks."""
    dtype = x.dtype
    if dtype.kind in "fV" and op in ("max", "min"):
        wide = converted(x, np.float32) if dtype.kind == "V" else x
        return encoded(wide, op), OPS[op], lambda out: converted(decoded(out, wide.dtype), dtype, copy=False)
    if op == "mean":
        return (converted(x, np.float32) if is_half(dtype) else x, OPS[op],
                lambda out: converted(np.divide(out, size, out=out), dtype, copy=False))
    if is_half(dtype):
        return converted(x, np.float32), OPS[op], lambda out: converted(out, dtype)
    return x, (BOOL_OPS if dtype.kind == "b" else OPS)[op], lambda out: out
