"""Leaves' .grad in a traced step: what the step binds them to is found by looking, and bound again in replays.

What it holds when a replay begins may be something else than when the step was recorded: nothing, or what passes before
have left. So leaves from outside get their gradients as in the step: added to what is there.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ..core.tensor import Tensor, result
from .calls import Call, owner_of


class Gradients:
    """The leaves from outside and those that got gradients, and the Tensor that .grad was when last looked at."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.bound: dict[Tensor, Any] = {}
        self.outside: set[Tensor] = set()

    def begin(self, leaves: Collection[Tensor]) -> None:
        """These leaves are there before the step begins."""
        self.outside.update(leaves)
        self.bound.update(dict.fromkeys(leaves))
        self.look()

    def deliver(self, leaf: Tensor, g: Any) -> None:
        """The gradient of a leaf is known: into .grad, now and in replays."""
        tracer = self.tracer
        value = tracer.operand(g)
        own = leaf.hooks is None or leaf.hooks.grad_buffer is None
        if leaf in self.bound:
            self.settle(leaf)
        known = leaf in self.outside
        if leaf._grad is None and own and not value.adopted and value.maker is not None and (
                g.base is None and g.dtype == leaf.array.dtype and value.uses == 1):
            value.adopted = True
            leaf._grad = result(g)
            tracer.calls.append(Call(receive if known else adopt, (leaf, value), label="grad ="))
            self.bound[leaf] = leaf._grad
            if known:
                self._fetch(leaf)
            return
        if leaf._grad is None and not known:
            tracer.calls.append(Call(forget, (leaf,), label="grad = None"))
        accumulate(leaf, g)
        tracer.calls.append(Call(accumulate, (leaf, value), label="grad +="))
        self._fetch(leaf)

    def _fetch(self, leaf: Tensor) -> None:
        """Let the trace know the array of .grad by the leaf: what it was before, unseen code may have written to."""
        assert leaf._grad is not None
        self.bound[leaf] = leaf._grad
        call = Call(gradient, (leaf,), label="grad")
        call.optional = True
        self.tracer.calls.append(call)
        call.outs = [self.tracer.value(leaf._grad.array, call)]

    def look(self) -> None:
        """Code that replays call again may have bound other gradients, or written to them: they will be there too."""
        for leaf in list(self.bound):
            if leaf._grad is None:
                self.bound[leaf] = None
            else:
                self._fetch(leaf)

    def wrote(self, array: Any) -> None:
        """The step has written to an array: what is some leaf's .grad, or a part of it, replays write there as well."""
        for leaf, bound in self.bound.items():
            if leaf._grad is bound is not None and owner_of(bound.array) is owner_of(array) and (
                    np.may_share_memory(bound.array, array)):
                self.tracer.calls.append(Call(put, (leaf, self.tracer.operand(bound.array)), label="grad ="))

    def assigned(self, leaf: Tensor, value: Any) -> None:
        """The step assigns to .grad, maybe the None that it is already."""
        if value is None:
            self.tracer.calls.append(Call(forget, (leaf,), label="grad = None"))
        else:
            self.tracer.calls.append(Call(bind, (leaf, self.tracer.operand(value.array)), label="grad ="))
        self.bound[leaf] = value

    def settle(self, only: Tensor | None = None) -> None:
        """Before somebody reads .grad unseen: replays bind what the step's own code has bound since."""
        for leaf, before in self.bound.items() if only is None else [(only, self.bound[only])]:
            if leaf._grad is not before:
                self.assigned(leaf, leaf._grad)


def adopt(leaf: Tensor, g: Any) -> None:
    """.grad is this array, which nobody else holds."""
    leaf._grad = result(g)


bind = adopt


def receive(leaf: Tensor, g: Any) -> None:
    """The same where there is no gradient; else it is added."""
    if leaf._grad is None:
        leaf._grad = result(g)
    else:
        leaf.accumulate_grad(g, False)


TAKING = (adopt, receive)            # make the very array that they get a .grad


def forget(leaf: Tensor) -> None:
    """.grad is None."""
    leaf._grad = None


def accumulate(leaf: Tensor, g: Any) -> None:
    """Add to .grad, which never is g itself: replays write there."""
    if leaf._grad is None and (leaf.hooks is None or leaf.hooks.grad_buffer is None):
        leaf._grad = result(np.array(g, leaf.array.dtype))
    else:
        leaf.accumulate_grad(g, False)


def put(leaf: Tensor, g: Any) -> None:
    """Write to .grad, where it is, if there is one."""
    if leaf._grad is not None:
        leaf._grad.array[...] = g


def gradient(leaf: Tensor) -> Any:
    """The array of .grad; zeros where there is none."""
    return np.zeros_like(leaf.array) if leaf._grad is None else leaf._grad.array


__all__ = ["TAKING", "Gradients"]
