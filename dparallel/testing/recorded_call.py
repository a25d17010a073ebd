"""RecordedCall, for check_adjoint() and gradcheck(): a function that all ranks call, and its backward, so that no rank waits
for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd import Tensor, enable_grad, grad, tensor
from ..comm import Communicator
from ..functions.pending_messages import discarded_messages, next_pass_joins_a_send
from ..pytree.tree import PyTree, tree_leaves_with_path


def gather_from_all(comm: Communicator, obj: Any) -> list[Any]:
    """The small objects of all processes: one for each rank, or the one of the only process on local devices."""
    objects = comm.allgather_object([obj] * len(comm.held))
    return objects if len(comm.held) == 1 else objects[:1]


def raise_on_all_ranks(comm: Communicator, problem: str, error: type[Exception]) -> None:
    """Raise `error` on every rank if any rank has a problem. problem: this rank's, "" for none."""
    problems = gather_from_all(comm, problem)
    texts = {text: [rank for rank, other in enumerate(problems) if other == text] for text in problems if text}
    if texts:
        raise error("; ".join(f"rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))} of {comm.size}: {text}"
                              if len(comm.held) == 1 else text for text, ranks in texts.items()))


def differentiable_tensors(tree: PyTree) -> list[Tensor]:
    """The tensors of a pytree that may have gradients: of floats or complex numbers."""
    return [value for _, value in tree_leaves_with_path(tree) if isinstance(value, Tensor) and value.dtype.kind in "fcV"]


def is_differentiable(x: object) -> bool:
    """Whether x is an array or a tensor of floats or complex numbers."""
    return isinstance(x, (Tensor, np.ndarray, np.generic)) and np.dtype(x.dtype).kind in "fcV"


def with_empty_parts(xs: Sequence[Any], comm: Communicator) -> list[Any]:
    """The arguments, with an empty tensor that requires grad instead of None if another rank has a tensor.

    Without it this rank's backward pass would have no inputs.
    """
    dtypes = [np.dtype(x.dtype) if is_differentiable(x) else None for x in xs]
    dtypes_of_ranks = gather_from_all(comm, dtypes)
    args = list(xs)
    for number, x in enumerate(args):
        others = [of_rank[number] for of_rank in dtypes_of_ranks if len(of_rank) > number and of_rank[number]]
        if x is None and others:
            args[number] = tensor(np.empty(0, others[0]), requires_grad=True)
    return args


def inner_product(xs: Sequence[Tensor | None], ys: Sequence[Tensor | None]) -> float:
    """The real part of <xs, ys>; None counts as zero."""
    return float(sum(np.vdot(x.array, y.array).real for x, y in zip(xs, ys, strict=True) if x is not None and y is not None))


def gradients(outputs: Sequence[Tensor], inputs: Sequence[Tensor], us: Sequence[Tensor], *,
              create_graph: bool = False) -> list[Tensor | None]:
    """The gradients of <outputs, us> with respect to the inputs, or None; the graph is kept.

    A rank without inputs differentiates with respect to its first output, so that its backward pass runs, too.
    """
    if not outputs:
        return [None] * len(inputs)
    grads = grad(list(outputs), list(inputs) or [outputs[0]], list(us), retain_graph=True, create_graph=create_graph,
                 allow_unused=True)
    return list(grads) if inputs else []


def zero_of_sent_gradients(us: Sequence[Tensor]) -> list[Tensor]:
    """A zero that depends on us, if gradients computed from them were sent in messages whose backward this rank must run."""
    if not next_pass_joins_a_send(us):
        return []
    zero: Any = sum((u * 0).abs().sum() for u in us)
    return [zero]


class RecordedCall:
    """func(*args), recorded, on every rank; `outputs` are those that require grad (all, if none does on any rank).

    AssertionError (or `error`) on every rank if some ranks have such outputs and others have none: backward would hang.
    """

    def __init__(self, func: Callable[..., Any], args: Sequence[Any], comm: Communicator,
                 error: type[Exception] = AssertionError) -> None:
        with enable_grad():
            outputs = differentiable_tensors(func(*args))
        self.func = func
        self.recorded_outputs: list[int] = [number for number, y in enumerate(outputs) if y.requires_grad]
        flags = gather_from_all(comm, bool(self.recorded_outputs))
        self.recorded: bool = any(flags)
        if not self.recorded:                        # no output requires grad on any rank: all must be constant
            self.recorded_outputs = list(range(len(outputs)))
        self.count: int = len(outputs)
        self.outputs: list[Tensor] = [outputs[number] for number in self.recorded_outputs]
        problem = "" if not self.recorded or self.recorded_outputs else (
            f"no output of {name(func)} depends on its inputs here, while on other ranks some do: their backward would "
            "wait for this rank's for ever. A collective is recorded on every rank or on none; on a rank without a result, "
            "return the collective's empty tensor")
        raise_on_all_ranks(comm, problem, error)

    def outputs_for(self, args: Sequence[Any]) -> list[Tensor]:
        """The same outputs for other arguments; messages of this call take part in no backward pass."""
        with discarded_messages():
            outputs = differentiable_tensors(self.func(*args))
        if len(outputs) != self.count:
            raise RuntimeError(f"{name(self.func)} gave {self.count} tensors of floats, and then {len(outputs)}")
        return [outputs[number] for number in self.recorded_outputs]


def name(function: Callable[..., Any]) -> str:
    """The name of a function in a message."""
    return getattr(function, "__qualname__", repr(function))
