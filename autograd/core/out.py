"""out=: write the result of an operation into the caller's tensor."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

import numpy as np

from ..base.dtypes import can_cast
from ..kernels.halves import copy_into
from .casting import casting, suspended
from .forward_mode import tangent_of
from .graph import shared_counter
from .modes import GRAD, modes
from .primitive import value_written
from .tensor import Tensor
from .views import MSG_OVERLAP, overlaps

F = TypeVar("F", bound=Callable[..., Any])
# Nodes and functions that do not cast their result to the dtype of `out`, as in PyTorch
EXACT = frozenset((
    "Abs", "BitwiseNot", "Ceil", "Floor", "Frac", "Neg", "Round", "Sign", "Trunc", "addmm", "amax", "amin", "argmax",
    "argmin", "bmm", "clamp", "conj_physical", "diag", "dot", "index_select", "kthvalue", "logcumsumexp", "masked_select",
    "matmul", "mm", "mode", "nan_to_num", "round", "sgn", "sort", "take", "tril", "triu", "where"))


def detached(value: Any) -> Any:
    """A Tensor without its graph; other values unchanged."""
    return value.detach() if isinstance(value, Tensor) else value


def into(out: Any, value: Any, *inputs: Any, name: str = "", dtype: Any = None) -> Tensor:
    """Write `value` into `out`, which is resized if its shape differs. RuntimeError if a gradient would be lost, if the
    operation `name` does not cast, or if the argument `dtype` differs from out's dtype.
    """
    if not isinstance(out, Tensor):
        raise TypeError(f"out= must be a Tensor, not {type(out).__name__}")
    if modes.recording & GRAD and any(isinstance(x, Tensor) and x.requires_grad for x in (out, *inputs)):
        raise RuntimeError("functions with out=... arguments don't support automatic differentiation, but one of the "
                           "arguments requires grad. Leave out= away, or call within no_grad().")
    if modes.level is not None and any(tangent_of(x) is not None for x in (out, *inputs)):
        raise RuntimeError("out= function: functions with out=... arguments don't support forward mode, but one of the "
                           "arguments has a tangent. Leave out= away.")
    array = value.array
    if array.dtype != out.array.dtype and name in EXACT and not (name == "Abs" and inputs[0].dtype.kind == "c"):
        raise RuntimeError(f"{name.lower()}(): Found dtype {out.dtype} of out= but expected {value.dtype}")
    if dtype is not None and array.dtype != out.array.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {value.dtype}, which follows from dtype=, but got "
                           f"{out.dtype} instead")
    if not can_cast(array.dtype, out.array.dtype):
        raise RuntimeError(f"result type {array.dtype} can't be cast to the desired output type {out.dtype}")
    if 0 in out.array.strides and out.array.size and overlaps(out.array):
        raise RuntimeError(MSG_OVERLAP)
    if out.array.shape != array.shape:
        if out.array.size:
            warnings.warn(f"An output with one or more elements was resized since it had shape {list(out.shape)}, which "
                          f"does not match the required output shape {list(array.shape)}.", UserWarning, stacklevel=3)
        out.array = np.empty(array.shape, out.array.dtype)
    value_written(out.array, array)
    copy_into(out.array, array)
    shared_counter(out).value += 1
    return out


def takes_out(operation: F) -> F:
    """Add the argument `out=` to a function that returns a Tensor or a tuple of Tensors."""

    @functools.wraps(operation)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return operation(*args)
        out = kwargs.pop("out", None)
        if out is None:
            return operation(*args, **kwargs)
        with suspended() if casting.used else nullcontext():      # autocast does not apply with `out`, as in PyTorch
            value = operation(*(detached(a) for a in args), **{k: detached(v) for k, v in kwargs.items()})
        inputs, name, dtype = (*args, *kwargs.values()), operation.__name__, kwargs.get("dtype")
        if not isinstance(value, tuple):
            return into(out, value, *inputs, name=name, dtype=dtype)
        outs = [into(o, v, *inputs, name=name, dtype=dtype) for o, v in zip(out, value, strict=True)]
        return type(value)(*outs) if hasattr(value, "_fields") else tuple(outs)

    wrapped.without_out = operation                  # type: ignore[attr-defined]
    return wrapped  # type: ignore[return-value]


def check_apart(out: Any, *inputs: Any) -> None:
    """Raise RuntimeError if `out` shares memory with an input, or if two of its elements share memory."""
    if isinstance(out, Tensor):
        if overlaps(out.array):
            raise RuntimeError(MSG_OVERLAP)
        if any(x is out or (isinstance(x, Tensor) and np.may_share_memory(out.array, x.array)) for x in inputs):
            raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer "
                               "to a single memory location. Please clone() the tensor before performing the operation.")


def takes_out_apart(operation: F) -> F:
    """takes_out() for operations that read their inputs while writing: `out=` must not share memory with them."""
    writing = takes_out(operation)

    @functools.wraps(operation)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return operation(*args)
        out = kwargs.pop("out", None)
        if out is None:
            return operation(*args, **kwargs)
        check_apart(out, *args, *kwargs.values())
        return writing(*args, out=out, **kwargs)

    return wrapped  # type: ignore[return-value]
