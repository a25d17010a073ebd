"""SliceArray: this rank's elements of a gradient, as p.grad of a model with shard=.

Elementwise operations are as on a whole gradient. Sums, norms and extremes would differ silently on each rank, so they
raise. Optimizers and clipping read the plain array, ParameterSlice.gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MSG_PART = ("{name}: p.grad of a model with shard= holds this rank's elements of the gradient, so this would not be the "
            "value of the whole gradient. nn.utils.clip_grad_norm_(model.parameters(), max_norm) returns and clips the norm "
            "of the whole (max_norm=inf only measures it); p.grad.numpy() has this rank's elements, to be summed over "
            "p.shard.comm")
PRODUCTS = (np.dot, np.vdot, np.inner, np.tensordot, np.einsum, np.linalg.norm, np.linalg.svd, np.median, np.quantile,
            np.sort, np.unique, np.histogram)
TESTS = (np.logical_and, np.logical_or)              # all() and any() compare: isfinite(), equal()


class SliceArray(np.ndarray[Any, Any]):
    """A view of the elements. Elementwise operations on it return a SliceArray."""

    part_of = "a gradient"                           # see autograd.core.tensor.result()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        if (method not in ("__call__", "at") and ufunc not in TESTS) or ufunc.signature is not None:
            refuse(ufunc.__name__)
        if settings.get("out") is not None:
            getattr(ufunc, method)(*plain(inputs), **plain(settings))
            out = settings["out"]
            return out[0] if len(out) == 1 else out
        return marked(getattr(ufunc, method)(*plain(inputs), **plain(settings)))

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if function in PRODUCTS:
            refuse(function.__name__)
        return marked(super().__array_function__(function, types, args, kwargs))

    def dot(self, other: Any, out: Any = None) -> Any:
        """Raise for a product over elements, as __array_ufunc__() does."""
        refuse("dot")

    def sort(self, *args: Any, **settings: Any) -> Any:
        """Raise: positions, extremes, medians and the largest elements depend on the whole gradient."""
        refuse("an order of its elements")

    argsort = partition = argpartition = argmax = argmin = sort


def refuse(name: str) -> None:
    """Raise RuntimeError for a reduction of a part."""
    raise RuntimeError(MSG_PART.format(name=name))


def plain(value: Any) -> Any:
    """An argument, or tuple or dict of arguments, with plain arrays for SliceArrays."""
    if isinstance(value, SliceArray):
        return value.view(np.ndarray)
    if isinstance(value, tuple):
        return tuple([plain(v) for v in value])
    return {name: plain(v) for name, v in value.items()} if isinstance(value, dict) else value


def marked(value: Any) -> Any:
    """A floating result as a SliceArray."""
    return value.view(SliceArray) if type(value) is np.ndarray and value.ndim and value.dtype.kind in "fcV" else value
