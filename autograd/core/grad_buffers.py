"""Gradient buffers: where the gradient of a leaf is to live, and who is told that it is complete.

Who sums gradients over ranks wants them end to end in one flat array, and wants to know when all of them are there. For that
a leaf can be given a buffer, into which backward() writes its gradient, and a LeafCounter, which counts it."""

from __future__ import annotations

from typing import Any

from .engine import running
from .tensor import AccumulateGrad, TensorBase, ensure_hooks


class LeafCounter:
    """Counts the leaves that get their gradients in one pass, `backward_pass`: calls complete() when the last of `left` has
    its own. A gradient that comes in another pass, or does not lie in the leaf's buffer, goes to uncounted() instead;
    before one of another pass changes .grad, before_uncounted() is called."""

    def __init__(self) -> None:
        self.backward_pass: Any = None
        self.left: int = 0
        self.counted: list[Any] = []

    def complete(self) -> None:
        """All leaves have got their gradients."""

    def before_uncounted(self) -> None:
        """A leaf is about to get a gradient in a pass that is not `backward_pass`."""

    def uncounted(self, leaf: Any) -> None:
        """A leaf has got a gradient that was not counted."""

    def count(self, backward_pass: Any, leaf: Any) -> None:
        """A leaf has got its gradient."""
        grad = leaf._grad
        if self.backward_pass is not backward_pass or grad is None or grad.array is not leaf.hooks.grad_buffer:
            self.uncounted(leaf)
            return
        self.counted.append(leaf)
        self.left -= 1
        if self.left == 0:
            self.complete()


def set_grad(leaf: TensorBase, grad: Any) -> None:
    """Let leaf.grad be this Tensor (None: none), as a backward pass does: unlike an assignment by a user it is not checked,
    and no watcher of calls is told."""
    leaf._grad = grad


def set_grad_buffer(leaf: TensorBase, buffer: Any) -> None:
    """Let the gradient of a leaf live in this array, of its shape; None: in memory of its own."""
    ensure_hooks(leaf).grad_buffer = buffer


def set_counter(leaf: TensorBase, counter: LeafCounter | None) -> LeafCounter | None:
    """Tell this counter, and no other, of the leaf's gradients; the one that was told before."""
    hooks = ensure_hooks(leaf)
    before, hooks.counter = hooks.counter, counter
    return before


def counter_of(leaf: TensorBase) -> LeafCounter | None:
    """The counter that is told of the leaf's gradients."""
    return None if leaf.hooks is None else leaf.hooks.counter


def buffer_for(node: Any, place: int) -> Any:
    """Where the rule of `node` may write the gradient of its input `place` at once: the buffer of a leaf that gets no other
    gradient and that nobody watches; else None, and what the rule returns is copied there."""
    edge = node.edges[place]
    if type(edge) is not tuple or type(edge[0]) is not AccumulateGrad:       # what replays a rule has no edges
        return None
    leaf: Any = edge[0]
    hooks = leaf.variable.hooks
    if hooks is None or hooks.grad_buffer is None or hooks.tensor or leaf.hooks is not None or node.hooks is not None:
        return None
    if not running.passes:                           # tangents run rules too
        return None
    current = running.passes[-1]
    free = current.fills_buffers and current.accumulate and not current.create and current.targets is None
    once = current.uses.get(leaf) == 1 and leaf not in current.pending and leaf.variable._grad is None
    return hooks.grad_buffer if free and once else None
