"""The order of elements in memory."""

from __future__ import annotations

from typing import Any


def in_rows(array: Any) -> Any:
    """The array, or a copy of it whose elements lie row by row.

    NumPy gives what it computes from transposed inputs in their order; PyTorch gives sums, softmaxes, joins and the like
    row by row, and model code takes view() of them.
    """
    return array if array.flags.c_contiguous else array.copy()
