"""How autograd tracks a tensor that a collective or a message writes into.

The write is an in-place operation without a derivative: backward through nodes that saved the old value, or through the new
value to the old one's graph, is an error that names the collective.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from autograd.core.graph import shared_counter
from autograd.core.modes import DUAL, modes
from autograd.core.primitive import value_written
from autograd.core.views import MSG_OVERLAP, check_writable, overlaps

from ..autograd import Function, Tensor, is_grad_enabled

Array = np.ndarray[Any, Any]


class Overwritten(Function):
    """The node of a tensor in a graph after a collective has overwritten it: a backward pass through it is an error."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *, writer: str) -> Tensor:
        """x itself, which is overwritten."""
        ctx.writer = writer
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> NoReturn:
        """Raise: the collective was not recorded."""
        raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace operation: "
                           f"a tensor of shape {list(g.shape)} was overwritten by {ctx.writer}, which autograd does not "
                           "record, and the gradient would be that of the old value. Pass a copy (x.detach().clone()), or "
                           "call a recorded collective (dparallel.distributed.nn, dparallel.AllReduce and similar)")


def in_graph(tensor: Tensor) -> bool:
    """Whether a write changes the tensor's position in the graph. Not for a leaf that requires grad, or a view of one."""
    base = tensor if tensor.base is None else tensor.base
    return is_grad_enabled() and tensor.grad_fn is not None and not (base.is_leaf and base.requires_grad)


def check_output(tensor: Tensor, name: str) -> None:
    """ValueError or RuntimeError if the argument `name` can't be overwritten."""
    array = tensor.array
    if not array.flags.writeable:
        raise ValueError(f"{name}: the memory of this tensor of shape {list(array.shape)} is read-only, like the NumPy "
                         "array that it was created from; pass a copy (x.clone())")
    if 0 in array.strides and array.size and overlaps(array):
        raise RuntimeError(f"{name}: {MSG_OVERLAP}")
    if tensor.tracked & modes.recording & DUAL:
        raise RuntimeError(f"{name}: this tensor of shape {list(array.shape)} has a tangent, which would remain that of "
                           "the old value, because this collective is not recorded. Pass a copy (x.detach().clone()), or "
                           "call a recorded collective (dparallel.distributed.nn, dparallel.AllReduce and similar)")
    if in_graph(tensor):
        check_writable(tensor, 0)


def overwritten(tensor: Tensor, writer: str) -> None:
    """Record that a collective writes into the tensor, now or until it is waited for."""
    if in_graph(tensor):
        Overwritten.apply(tensor, writer=writer)
    shared_counter(tensor).count_write(writer)


def write(tensor: Tensor, value: Array) -> Tensor:
    """Write an array of as many elements into a tensor. Returns the tensor. The caller calls overwritten()."""
    value = value.reshape(tensor.array.shape)
    value_written(tensor.array, value)
    np.copyto(tensor.array, value)
    return tensor
