"""Covariances and correlations of variables (rows) over observations (columns)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base.dtypes import default
from ...core.tensor import Tensor
from ..index import getitem
from ..linalg.matmul import matmul
from ..pointwise.cast import cast
from ..pointwise.complex import conj, real
from ..pointwise.powers import sqrt
from ..reductions.reduce import sum
from ..shape import mT, reshape


def _checked_weights(weights: Tensor, name: str, kind: str, words: str, columns: int) -> Tensor:
    """Weights of observations: at most one dimension, the right kind, one for each, none negative."""
    if weights.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {weights.ndim}")
    if weights.dtype.kind not in kind:
        raise RuntimeError(f"cov(): expected {name} to have {words} dtype but got {weights.dtype}")
    if weights.array.size != columns:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but "
                           f"got {weights.array.size} != {columns}")
    if weights.array.size and weights.array.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return weights


def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance of each pair of rows: products of distances from the means, averaged over columns."""
    if input.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got {input.ndim}")
    if input.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input; convert with .int()")
    x = reshape(input, (1, -1 if input.array.size else 0)) if input.ndim < 2 else input
    columns = x.shape[1]
    weights = None
    if fweights is not None:
        weights = reshape(_checked_weights(fweights, "fweights", "iu", "integral", columns), -1 if columns else 0)
    if aweights is not None:
        aweights = reshape(_checked_weights(aweights, "aweights", "f", "floating point", columns), -1 if columns else 0)
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        total: Any = columns
    else:
        total = sum(weights)
        if not columns or total.item() == 0:
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    x = cast(x, default.dtype) if x.dtype.kind not in "fcV" else x
    mean = (sum(x, 1) if weights is None else sum(x * weights, 1)) / total
    if weights is not None and aweights is not None and correction:
        freedom = total - correction * sum(weights * aweights) / total
    else:
        freedom = total - correction
    if (freedom if isinstance(freedom, (int, float)) else freedom.item()) <= 0:
        warnings.warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
                      f"observations, got {correction}", UserWarning, stacklevel=2)
        freedom = 0
    x = x - reshape(mean, (-1, 1))
    weighted = x if weights is None else x * weights
    out = matmul(x, conj(cast(mT(weighted), x.dtype))) / freedom
    return reshape(out, ()) if out.array.size == 1 else out


def corrcoef(input: Tensor) -> Tensor:
    """The covariance of each pair of rows over the product of their standard deviations."""
    if input.ndim > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got {input.ndim}")
    c = cov(input)
    if c.ndim == 0:
        return c / c
    each = np.arange(c.shape[0])
    deviation = sqrt(real(getitem(c, (each, each))))
    return c / reshape(deviation, (-1, 1)) / deviation


__all__ = ["corrcoef", "cov"]
METHODS = ["cov", "corrcoef"]
