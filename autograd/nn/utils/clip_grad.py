"""Clipping gradients: to a total norm, or each element to an interval."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...base import docstrings as _docstrings
from ...base.arguments import listed, real_number
from ...base.dtypes import result_type
from ...core.graph import shared_counter
from ...core.primitive import primitive
from ...core.tensor import Tensor, result
from ...kernels.halves import multiply_by
from ...kernels.norms import norm

MSG_NONFINITE = ("The total norm of order {order} for gradients from `parameters` is non-finite, so it cannot be clipped. "
                 "To disable this error and scale the gradients by the non-finite norm anyway, set "
                 "`error_if_nonfinite=False`")
MSG_TENSORS = "gradients are clipped of Tensors, not of {}: give model.parameters()"


def _as_list(tensors: Any) -> list[Tensor]:
    """A list of Tensors; TypeError for what can't be one, and a warning for an iterator that gives none."""
    if isinstance(tensors, Tensor):
        return [tensors]
    if not isinstance(tensors, Iterable):
        raise TypeError(MSG_TENSORS.format(type(tensors).__name__))
    return listed("clipping: `parameters`", tensors, stacklevel=4)


def _grads(parameters: Iterable[Tensor]) -> list[Tensor]:
    try:
        return [p._grad for p in parameters if p._grad is not None]            # of a slice, without SliceArray's refusals
    except AttributeError:
        wrong = next((p for p in parameters if not isinstance(p, Tensor)), None)
        if wrong is None:
            raise
        raise TypeError(MSG_TENSORS.format(type(wrong).__name__)) from None


def get_total_norm(tensors: Tensor | Iterable[Tensor], norm_type: float | str = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:
    """The norm of all elements of all tensors together."""
    tensors, order = _as_list(tensors), real_number("clip_grad_norm_(norm_type", norm_type)
    if not tensors:
        return result(np.zeros((), np.float32))
    dtype = _real_dtype(tensors)
    total = np.asarray(norm(np.array([norm(tensor.array, order) for tensor in tensors]), order)).astype(dtype)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(MSG_NONFINITE.format(order=order))
    return result(total)


def _real_dtype(tensors: list[Tensor]) -> np.dtype[Any]:
    """The dtype of the norm of tensors: that in which they are stacked, real for complex numbers. Integers are refused."""
    for tensor in tensors:
        if tensor.dtype.kind not in "fcV":
            raise RuntimeError(f"Expected floating point or complex gradients for a norm, not {tensor.dtype}")
    dtypes = [tensor.array.real.dtype for tensor in tensors]
    return functools.reduce(lambda a, b: result_type(np.empty(1, a), np.empty(1, b)), dtypes)


def _norm_with_slices(parameters: list[Tensor], sliced: list[Any], order: float) -> Tensor:
    """The norm of gradients of which some are this rank's elements of a parameter, maybe none."""
    numbers = {id(p) for p in sliced}
    pieces = [grad for grad in _grads(sliced) if grad.numel()]
    here = float(get_total_norm(pieces, order).array) if pieces else None
    norms = [sliced[0].norm_over_ranks(here, order)]
    rest = _grads([p for p in parameters if id(p) not in numbers])
    if rest:
        norms.append(float(get_total_norm(rest, order).array))
    return result(np.asarray(norm(np.array(norms), order)).astype(_real_dtype(parameters)))


def clip_grads_with_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor,
                          foreach: bool | None = None) -> None:
    """Scale the gradients in place by max_norm / total_norm if that is below 1."""
    _scale_to_norm(_as_list(parameters), max_norm, total_norm)


@primitive
def _scale_to_norm(parameters: list[Tensor], max_norm: float, total_norm: Tensor) -> None:
    """clip_grads_with_norm_() of a list."""
    total = total_norm.array
    limit = real_number("clip_grad_norm_(max_norm", max_norm)
    scale = np.minimum(np.asarray(limit / (total + np.asarray(1e-6, total.dtype))), 1)
    for grad in _grads(parameters):
        multiply_by(grad.array, scale.astype(grad.dtype))
        shared_counter(grad).value += 1


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float | str = 2.0,
                    error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """Scale the gradients in place so that their total norm is at most max_norm; return the previous norm.

    For parameters sharded over ranks it is the norm of the whole parameters, and all ranks must call it."""
    return _clip_to_norm(_as_list(parameters), max_norm, norm_type, error_if_nonfinite, foreach)


@primitive
def _clip_to_norm(parameters: list[Tensor], max_norm: float, norm_type: float | str, error_if_nonfinite: bool,
                  foreach: bool | None) -> Tensor:
    """clip_grad_norm_() of a list."""
    sliced = [p for p in parameters if hasattr(p, "norm_over_ranks")]
    if sliced:
        total = _norm_with_slices(parameters, sliced, float(norm_type))
        if error_if_nonfinite and not np.isfinite(total.array):
            raise RuntimeError(MSG_NONFINITE.format(order=float(norm_type)))
    else:
        total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float | str = 2.0,
                   error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """clip_grad_norm_() under its old name, with a FutureWarning."""
    warnings.warn("`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.", FutureWarning,
                  stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Clamp each element of the gradients to [-clip_value, clip_value], in place."""
    _clip_values(_as_list(parameters), real_number("clip_grad_value_(clip_value", clip_value))


@primitive
def _clip_values(parameters: list[Tensor], limit: float) -> None:
    """clip_grad_value_() of a list."""
    grads = _grads(parameters)
    for grad in grads:
        if grad.dtype.kind == "c":
            raise RuntimeError(f"clip_grad_value_: a gradient of shape {list(grad.shape)} is complex ({grad.dtype}), and "
                               "complex numbers have no order; clip its parts by view_as_real(p.grad).clamp_(), or its "
                               "norm by clip_grad_norm_")
    for grad in grads:
        np.clip(grad.array, -limit, limit, out=grad.array)
        shared_counter(grad).value += 1


__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.")
