"""What backward() and grad() are handed, checked: where gradients start and with what, and where they are asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .edges import GradientEdge, input_metadata
from .graph import AccumulateGrad, Edge
from .operation import Operation, fit
from .tensor import Tensor, edge_of, result

MSG_SCALAR = "grad can be implicitly created only for scalar outputs, this one has shape {shape}"
MSG_MISMATCH = ("Mismatch in shape: grad_output[{number}] has a shape of {got} and output[{number}] has a shape of "
                "{expected}.")
MSG_BATCHED = ("If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
               "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
               "mismatch was detected: grad_output[{number}] has a shape of {got} and output[{number}] has a shape of "
               "{expected}.")


def listed(value: Any) -> list[Any]:
    """One Tensor or GradientEdge, or a sequence of them, as a list."""
    return [value] if isinstance(value, (Tensor, GradientEdge)) else list(value)


def wanted(inputs: Any, caller: str) -> list[Any]:
    """The `inputs` of backward() or grad() as a list; a dict stands for its values."""
    if isinstance(inputs, Mapping):
        if type(inputs) is not dict:
            raise TypeError(f"`inputs` argument to `{caller}()` must be a dict, not {type(inputs).__name__}. Other "
                            "Mapping types are not supported.")
        inputs = list(inputs.values())
    inputs = listed(inputs)
    if not inputs:
        raise RuntimeError(f"`inputs` argument to `{caller}()` cannot be empty.")
    return inputs


def targets(inputs: Sequence[Any]) -> list[Edge]:
    """The edges whose gradient is asked for."""
    edges: list[Edge] = []
    for number, given in enumerate(inputs):
        if isinstance(given, GradientEdge):
            edges.append((given.node, given.output_nr))
            continue
        if not isinstance(given, Tensor):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(given).__name__}")
        edge = edge_of(given)
        if edge is None and given.requires_grad:     # a view made in inference mode: no gradient ever gets there
            edge = AccumulateGrad(given), 0
        if edge is None:
            raise RuntimeError(f"One of the differentiated Tensors does not require grad: inputs[{number}]")
        edges.append(edge)
    return edges


def seeds(roots: list[Any], grads: Any, batched: bool = False) -> tuple[list[Edge], list[Tensor]]:
    """Edges of the roots and the gradient to start each from: 1 for a scalar. With `batched`, a stack of gradients."""
    grads = [None] * len(roots) if grads is None else [grads] if isinstance(grads, Tensor) else list(grads)
    if len(roots) != len(grads):
        raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    edges: list[Edge] = []
    starts = []
    for number, (root, g) in enumerate(zip(roots, grads, strict=True)):
        edge, shape, dtype = _root(root, number)
        if g is None:
            if batched:
                raise NotImplementedError("grad(is_grads_batched=True) needs a stack of gradients for each output, but "
                                          f"grad_outputs[{number}] is None")
            g = _one(shape, dtype)
        elif not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if batched and g.ndim == 0:
            raise ValueError(f"grad(is_grads_batched=True): grad_outputs[{number}] has no dimension, expected a stack")
        got = g.shape[1:] if batched else g.shape
        if shape is not None and got != shape:
            message = MSG_BATCHED if batched else MSG_MISMATCH
            raise RuntimeError(message.format(number=number, got=list(got), expected=list(shape)))
        if dtype is not None and (g.dtype.kind == "c") != (dtype.kind == "c"):
            raise RuntimeError(f"For complex Tensors, both grad_output[{number}] and output[{number}] are required to have "
                               f"the same dtype. Mismatch in dtype: grad_output[{number}] has {g.dtype}, output[{number}] "
                               f"has {dtype}.")
        edges.append(edge)
        starts.append(g if dtype is None or g.dtype is dtype else fit(g, g.shape, dtype))
    return edges, starts


def _root(root: Any, number: int) -> tuple[Edge, Any, Any]:
    """The edge, shape and dtype of a root."""
    if isinstance(root, GradientEdge):
        return (root.node, root.output_nr), *input_metadata(root)
    if not isinstance(root, Tensor):
        raise TypeError(f"element {number} is a {type(root).__name__}, not a Tensor")
    edge = edge_of(root)
    if edge is None:
        raise RuntimeError(f"element {number} of tensors does not require grad and does not have a grad_fn")
    return edge, root.array.shape, root.array.dtype


def _one(shape: Any, dtype: Any) -> Tensor:
    """The gradient of a root of one element with respect to itself."""
    if shape is None:
        raise RuntimeError("grad can be implicitly created only for scalar outputs: of this GradientEdge the shape is "
                           "not known, pass its gradient")
    if math.prod(shape) != 1:
        raise RuntimeError(MSG_SCALAR.format(shape=list(shape)))
    if dtype.kind == "c":
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
    return result(np.ones(shape, dtype))


# --- a stack of gradients ---------------------------------------------------------------------------------------------

class Stack(Operation):
    """Arrays of one shape along a new first dimension."""

    @staticmethod
    def forward(ctx: Any, *arrays: Any) -> Any:
        """The arrays, of one shape, along a new first dimension."""
        ctx.count = len(arrays)
        return np.stack(arrays)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Each array gets its row of g."""
        return tuple([g[number] for number in range(ctx.count)])


def batches(starts: list[Tensor]) -> list[list[Tensor]]:
    """From one stack of gradients for each root, one list of gradients for each row."""
    sizes = [g.shape[0] for g in starts]
    if len(set(sizes)) > 1:
        raise ValueError("grad(is_grads_batched=True): Expected all tensors to have the same size in the mapped "
                         f"dimension, got sizes {sizes} for the mapped dimension")
    return [[g[row] for g in starts] for row in range(sizes[0] if sizes else 0)]


def stacked(rows: list[list[Any]], inputs: Sequence[Any]) -> list[Any]:
    """The gradients of each input over all rows, None where it got none."""
    if not rows:
        return [result(np.zeros((0, *i.shape), i.dtype)) if isinstance(i, Tensor) else None for i in inputs]
    return [None if any(g is None for g in column) else Stack.apply(*column) for column in zip(*rows, strict=True)]


__all__ = ["batches", "listed", "seeds", "stacked", "targets", "wanted"]
