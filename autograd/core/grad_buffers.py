"""Gradient buffers: where the gradient of a leaf is stored, and the counter that is notified when it is complete.

Code that sums gradients over ranks needs them contiguous in one flat array, and a notification when all are complete. For
this a leaf can have a buffer, into which backward() writes its gradient, and a LeafCounter, which counts it.
"""

from __future__ import annotations

from typing import Any

from .engine import running
from .tensor import AccumulateGrad, TensorBase, ensure_hooks


class LeafCounter:
    """Counts the leaves that get their gradients in one pass, `backward_pass`, and calls `listener`: bucket_full() when the
    last of `left` has its gradient; gradient_arrived(leaf) for a gradient of another pass, or one that is not in the leaf's
    buffer; and begin() before a gradient of another pass changes .grad."""

    def __init__(self) -> None:
        self.backward_pass: Any = None
        self.left: int = 0
        self.counted: list[Any] = []
        self.listener: Any = None

    def count(self, backward_pass: Any, leaf: Any) -> None:
        """Count the gradient of a leaf."""
        grad = leaf._grad
        if self.backward_pass is not backward_pass or grad is None or grad.array is not leaf.hooks.grad_buffer:
            self.listener.gradient_arrived(leaf)
            return
        self.counted.append(leaf)
        self.left -= 1
        if self.left == 0:
            self.listener.bucket_full()


def set_grad(leaf: TensorBase, grad: Any) -> None:
    """Set leaf.grad to this Tensor or None, as a backward pass does: without the checks and the notification of a user's
    assignment."""
    leaf._grad = grad


def set_grad_buffer(leaf: TensorBase, buffer: Any) -> None:
    """Store the gradient of a leaf in this array of its shape; None: in new memory."""
    ensure_hooks(leaf).grad_buffer = buffer


def set_counter(leaf: TensorBase, counter: LeafCounter | None) -> LeafCounter | None:
    """Make this the only counter of the leaf's gradients; returns the previous one."""
    hooks = ensure_hooks(leaf)
    before, hooks.counter = hooks.counter, counter
    return before


def counter_of(leaf: TensorBase) -> LeafCounter | None:
    """The counter of the leaf's gradients."""
    return None if leaf.hooks is None else leaf.hooks.counter


def buffer_for(node: Any, place: int) -> Any:
    """The array into which the rule of `node` may write the gradient of its input `place`: the buffer of a leaf that gets no
    other gradient and has no hooks. Otherwise None, and the rule's result is copied into the buffer."""
    edge = node.edges[place]
    if type(edge) is not tuple or type(edge[0]) is not AccumulateGrad:       # replayed rules have no edges
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
