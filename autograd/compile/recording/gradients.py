"""The gradients of leaves in a recorded step: replays bind each .grad to what the step bound it to.

When a replay begins, .grad may be another than when the step was recorded: None, or the result of earlier passes. So a leaf
from outside of the step gets its gradient as in the step: added to the present one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from ...core.tensor import Tensor, result
from .calls import Array, Call, root_of

if TYPE_CHECKING:
    from .values import Values


class Gradients:
    """The leaves from outside of the step and those that got gradients, with the last known Tensor of each .grad."""

    def __init__(self, tracer: Values) -> None:
        self.tracer = tracer
        self.bound: dict[Tensor, Tensor | None] = {}
        self.outside: set[Tensor] = set()

    def begin(self, leaves: Collection[Tensor]) -> None:
        """Begin, with the leaves that exist before the step runs."""
        self.outside.update(leaves)
        self.bound.update(dict.fromkeys(leaves))
        self.rescan()

    def deliver(self, leaf: Tensor, g: Array) -> None:
        """Add the gradient of a leaf to .grad, now and in replays."""
        tracer = self.tracer
        value = tracer.operand(g)
        unbuffered = leaf.hooks is None or leaf.hooks.grad_buffer is None
        if leaf in self.bound:
            self.record_unseen(leaf)
        known = leaf in self.outside
        if leaf._grad is None and unbuffered and not value.adopted and value.maker is not None and (
                g.base is None and g.dtype == leaf.array.dtype and value.uses == 1):
            value.adopted = True
            leaf._grad = result(g)
            tracer.calls.append(Call(adopt_or_add if known else adopt, (leaf, value), label="grad ="))
            self.bound[leaf] = leaf._grad
            if known:
                self._fetch(leaf)
            return
        if leaf._grad is None and not known:
            tracer.calls.append(Call(clear_grad, (leaf,), label="grad = None"))
        accumulate(leaf, g)
        tracer.calls.append(Call(accumulate, (leaf, value), label="grad +="))
        self._fetch(leaf)

    def _fetch(self, leaf: Tensor) -> None:
        """Record that .grad is read anew from the leaf: unrecorded code may have replaced it or written to it."""
        assert leaf._grad is not None
        self.bound[leaf] = leaf._grad
        call = Call(grad_array, (leaf,), label="grad")
        call.optional = True
        self.tracer.calls.append(call)
        call.outs = [self.tracer.value(leaf._grad.array, call)]

    def rescan(self) -> None:
        """Read every .grad anew after code that replays call again, which may have bound or written gradients."""
        for leaf in list(self.bound):
            if leaf._grad is None:
                self.bound[leaf] = None
            else:
                self._fetch(leaf)

    def record_write(self, array: Array) -> None:
        """Record a write to an array that is, or shares memory with, the .grad of a leaf."""
        for leaf, bound in self.bound.items():
            if leaf._grad is bound is not None and root_of(bound.array) is root_of(array) and (
                    np.may_share_memory(bound.array, array)):
                self.tracer.calls.append(Call(overwrite, (leaf, self.tracer.operand(bound.array)), label="grad ="))

    def assigned(self, leaf: Tensor, value: Tensor | None) -> None:
        """Record an assignment to .grad, also of a None that it is already."""
        if value is None:
            self.tracer.calls.append(Call(clear_grad, (leaf,), label="grad = None"))
        else:
            self.tracer.calls.append(Call(bind, (leaf, self.tracer.operand(value.array)), label="grad ="))
        self.bound[leaf] = value

    def record_unseen(self, only: Tensor | None = None) -> None:
        """Record what the step has bound to .grad unobserved, before code that may read it."""
        for leaf, before in self.bound.items() if only is None else [(only, self.bound[only])]:
            if leaf._grad is not before:
                self.assigned(leaf, leaf._grad)


def adopt(leaf: Tensor, g: Array) -> None:
    """Bind .grad to this array, to which there is no other reference."""
    leaf._grad = result(g)


bind = adopt


def adopt_or_add(leaf: Tensor, g: Array) -> None:
    """Bind .grad to this array if there is no gradient; else add it."""
    if leaf._grad is None:
        leaf._grad = result(g)
    else:
        leaf.accumulate_grad(g, False)


ADOPTING = (adopt, adopt_or_add)            # these bind .grad to the array itself


def clear_grad(leaf: Tensor) -> None:
    """Set .grad to None."""
    leaf._grad = None


def accumulate(leaf: Tensor, g: Array) -> None:
    """Add g to .grad. A new .grad is a copy of g, since replays write to the memory of g."""
    if leaf._grad is None and (leaf.hooks is None or leaf.hooks.grad_buffer is None):
        leaf._grad = result(np.array(g, leaf.array.dtype))
    else:
        leaf.accumulate_grad(g, False)


def overwrite(leaf: Tensor, g: Array) -> None:
    """Write g to the memory of .grad, if there is one."""
    if leaf._grad is not None:
        leaf._grad.array[...] = g


def grad_array(leaf: Tensor) -> Array:
    """The array of .grad; zeros if it is None."""
    return np.zeros_like(leaf.array) if leaf._grad is None else leaf._grad.array


__all__ = ["ADOPTING", "Gradients"]
