"""Sums and maxima over rows that belong together, on arrays."""

from __future__ import annotations

import numpy as np

from ..base.types import Array
from . import scatter


def add_rows(rows: Array, index: Array, n: int) -> Array:
    """Zeros (n, d) with rows[i] (m, d) added to row index[i]."""
    out = np.zeros((n, *rows.shape[1:]), rows.dtype)
    scatter.add_rows(out, index, rows)
    return out


def first_largest(rows: Array, groups: Array) -> tuple[Array, Array]:
    """For rows (m, d) with ascending group numbers (m,): the groups there are, and for each of them and each column the
    number of the row with the largest element, the first of equal ones; nan is largest."""
    starts = np.flatnonzero(np.concatenate((np.ones(min(groups.size, 1), bool), groups[1:] != groups[:-1])))
    present = groups[starts]
    if not starts.size:
        return present, np.zeros((0, rows.shape[1]), np.int64)
    largest = np.maximum.reduceat(rows, starts, axis=0)
    spread = np.repeat(largest, np.diff(np.append(starts, groups.size)), axis=0)
    numbers = np.arange(len(rows))[:, None]
    candidates = np.where((rows == spread) | np.isnan(rows), numbers, len(rows))
    return present, np.minimum.reduceat(candidates, starts, axis=0)
