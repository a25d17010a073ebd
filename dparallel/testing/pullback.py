"""A function that all ranks call together, and its backward pass, so that no rank is left waiting for another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd import Tensor, enable_grad, grad, tensor

from ..comm import Communicator
from ..functions.pending_messages import discarded_messages, next_pass_joins_a_send
from ..pytree.tree import PyTree, tree_leaves_with_path


def everyones(comm: Communicator, thing: Any) -> list[Any]:
    """A small object of every process, by process: one for each rank, or one alone on local devices."""
    found = comm.allgather_object([thing] * len(comm.held))
    return found if len(comm.held) == 1 else found[:1]


def refuse(comm: Communicator, problem: str, error: type[Exception]) -> None:
    """Raise on every rank what is wrong on any: `problem` is this rank's, empty where there is none."""
    problems = everyones(comm, problem)
    texts = {text: [rank for rank, other in enumerate(problems) if other == text] for text in problems if text}
    if texts:
        raise error("; ".join(f"rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))} of {comm.size}: {text}"
                              if len(comm.held) == 1 else text for text, ranks in texts.items()))


def floating(tree: PyTree) -> list[Tensor]:
    """The tensors of a pytree that may have gradients: of floats or complex numbers."""
    return [value for _, value in tree_leaves_with_path(tree) if isinstance(value, Tensor) and value.dtype.kind in "fcV"]


def is_part(x: Any) -> bool:
    """Whether x is an array or a tensor of floats or complex numbers."""
    return isinstance(x, (Tensor, np.ndarray, np.generic)) and np.dtype(x.dtype).kind in "fcV"


def with_empty_parts(xs: Sequence[Any], comm: Communicator) -> list[Any]:
    """Arguments in which None is an empty tensor that requires grad wherever another rank has a tensor in its place.

    Otherwise this rank's part of the backward pass would lead nowhere, and a pass over that could not begin.
    """
    kinds = [np.dtype(x.dtype) if is_part(x) else None for x in xs]
    everyone = everyones(comm, kinds)
    filled = list(xs)
    for number, x in enumerate(filled):
        found = [theirs[number] for theirs in everyone if len(theirs) > number and theirs[number]]
        if x is None and found:
            filled[number] = tensor(np.empty(0, found[0]), requires_grad=True)
    return filled


def inner(xs: Sequence[Any], ys: Sequence[Any]) -> float:
    """The real part of <x, y>, summed; None counts as zero."""
    return float(sum(np.vdot(x.array, y.array).real for x, y in zip(xs, ys, strict=True) if x is not None and y is not None))


def gradients(outputs: Sequence[Tensor], inputs: Sequence[Tensor], us: Sequence[Tensor], *,
              create_graph: bool = False) -> list[Any]:
    """The gradients of <outputs, us> by the inputs, or None; the graph is kept.

    A rank without inputs asks for its output's own gradient: so its part of the collectives runs all the same.
    """
    if not outputs:
        return [None] * len(inputs)
    found = grad(list(outputs), list(inputs) or [outputs[0]], list(us), retain_graph=True, create_graph=create_graph,
                 allow_unused=True)
    return list(found) if inputs else []


def nothing_of(us: Sequence[Tensor]) -> list[Any]:
    """A zero that depends on us, where gradients of them went off in messages whose backward this rank must run, too."""
    return [(sum((u * 0).abs().sum() for u in us))] if next_pass_joins_a_send(us) else []


class Traced:
    """func(*args), recorded, on every rank: which of its outputs lead back to inputs.

    AssertionError (or `error`) on every rank if they do on some ranks and on others there are none: backward would hang.
    """

    def __init__(self, func: Callable[..., Any], args: Sequence[Any], comm: Communicator,
                 error: type[Exception] = AssertionError) -> None:
        with enable_grad():
            outputs = floating(func(*args))
        self.func = func
        self.leading = [number for number, y in enumerate(outputs) if y.requires_grad]
        flags = everyones(comm, bool(self.leading))
        self.recorded = any(flags)
        if not self.recorded:                        # nothing has a gradient: all outputs must be constant
            self.leading = list(range(len(outputs)))
        self.count = len(outputs)
        self.outputs = [outputs[number] for number in self.leading]
        lost = "" if not self.recorded or self.leading else (
            f"no output of {name(func)} leads back to its inputs here, while on other ranks some do: their backward would "
            "wait for this rank's for ever. A collective is recorded on every rank or on none; where a rank has no result, "
            "return the empty tensor that the collective gives")
        refuse(comm, lost, error)

    def again(self, args: Sequence[Any]) -> list[Tensor]:
        """The same outputs for other arguments; the messages that made them wait for no backward pass."""
        with discarded_messages():
            outputs = floating(self.func(*args))
        if len(outputs) != self.count:
            raise RuntimeError(f"{name(self.func)} gave {self.count} tensors of floats, and then {len(outputs)}")
        return [outputs[number] for number in self.leading]


def name(function: Any) -> str:
    """What to call a function in a message."""
    return getattr(function, "__qualname__", repr(function))
