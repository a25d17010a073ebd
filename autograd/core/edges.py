"""GradientEdge: a place in the graph where a gradient is computed, named without holding the tensor."""

from __future__ import annotations

from typing import Any, NamedTuple

from .graph import Node
from .tensor import Tensor, edge_of


class GradientEdge(NamedTuple):
    """Output `output_nr` of `node`. backward() and grad() take one wherever they take a tensor."""

    node: Node
    output_nr: int
    ownership_token: Node | None = None              # PyTorch's; here `node` itself keeps its graph alive


class EdgeOfTensor(GradientEdge):
    """A GradientEdge that remembers the shape and dtype of its tensor."""

    shape: tuple[int, ...]
    dtype: Any

    def __repr__(self) -> str:
        """The edge as GradientEdge shows it: what is remembered is for autograd.graph's own use."""
        return repr(GradientEdge(*self))


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge where the gradient of `tensor` is computed: grad(loss, edge) is grad(loss, tensor). It does not keep the
    tensor's memory."""
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    found = EdgeOfTensor(*edge)
    found.shape, found.dtype = tensor.shape, tensor.dtype
    return found


def input_metadata(edge: GradientEdge) -> tuple[Any, Any]:
    """(shape, dtype) of the tensor at an edge; (None, None) if they are unknown."""
    if isinstance(edge, EdgeOfTensor):
        return edge.shape, edge.dtype
    if edge.node.is_leaf:
        variable = edge.node.variable  # type: ignore[attr-defined]
        return variable.shape, variable.dtype
    metas = getattr(edge.node, "output_meta", ())
    return metas[edge.output_nr] if edge.output_nr < len(metas) else (None, None)
