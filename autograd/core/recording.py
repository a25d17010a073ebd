# cython: annotation_typing=True
"""How a call becomes a node of the graph: record(), which every kind of operation calls.

Who calls it has run forward, and has set node.saved, node.meta and node.hooks: what backward needs differs between declared
operations, Operations and Functions.
"""

from __future__ import annotations

from typing import Any

from .graph import Edge, Node, next_number
from .interceptors import notify_recorded
from .modes import GRAD
from .tensor import TensorBase


def begin_node(node: Node, state: dict[str, Any], edges: tuple[Edge | None, ...]) -> None:
    """Number the node of a call with one output (`outputs` can be set after it).

    state: modes.state() of this thread. edges: one for each input, from edge_of(); they are handed in, since a literal tuple
    costs 0.1 us less than a loop over inputs.
    """
    node.seq = next_number()
    node.lane = state["lane"]
    node.edges = edges
    node.outputs = 1


def record(node: Node, state: dict[str, Any], edges: tuple[Edge | None, ...], inputs: tuple[Any, ...],
           outs: tuple[Any, ...]) -> None:
    """Make `node` the origin of `outs`, the Tensors that a call on `inputs` has made, and tell the interceptors.

    Of several outputs those that are not floating point or complex have no derivative, and stay outside the graph. A caller
    with a single output asks itself: if that has none, there is nothing to record.
    """
    begin_node(node, state, edges)
    tensor: TensorBase                               # types of variables are those of C in a compiled core
    if len(outs) == 1:
        tensor = outs[0]
        tensor.edge = (node, 0)
        tensor.tracked = GRAD
    else:
        node.outputs = len(outs)
        for number, out in enumerate(outs):
            tensor = out
            if tensor.array.dtype.kind in "fcV":
                tensor.edge = (node, number)
                tensor.tracked = GRAD
    if state["recording"] > GRAD:
        notify_recorded(node, inputs, outs)


__all__ = ["begin_node", "record"]
