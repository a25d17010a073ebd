# cython: annotation_typing=True
"""How a call becomes a node of the graph, and what the node saves for backward.

Every kind of operation calls record(), after it has run forward and set node.saved, node.meta and node.hooks: what backward
needs differs between declared operations, Operations and Functions. pack() stores tensors in node.saved with their current
versions; unpack() returns them and checks that they were not written to.
"""

from __future__ import annotations

import weakref
from typing import Any

from ..spans import spans
from .graph import FREED, MSG_FREED, Edge, Node, Position, next_number, raise_changed, shared_counter
from .interceptors import notify_recorded
from .modes import DUAL, GRAD
from .tensor import Tensor, TensorBase, edge_of, result


def begin_node(node: Node, state: dict[str, Any], edges: tuple[Edge | None, ...]) -> None:
    """Number the node of a call with one output (callers with more set `outputs` afterwards).

    state: modes.state() of this thread. edges: edge_of() each input. The caller passes them, because a literal tuple takes
    0.1 us less than a loop over the inputs.
    """
    node.seq = next_number()
    node.lane = state["lane"]
    node.edges = edges
    node.outputs = 1
    if spans.fine:
        spans.link(node.seq)


def record(node: Node, state: dict[str, Any], edges: tuple[Edge | None, ...], inputs: tuple[Any, ...],
           outs: tuple[Any, ...]) -> None:
    """Make `node` the origin of `outs`, the Tensors that a call on `inputs` returned, and notify the interceptors.

    Of several outputs, those that are neither floating point nor complex have no derivative and stay outside the graph. A
    caller with a single output checks this itself: without a derivative it records nothing.
    """
    begin_node(node, state, edges)
    tensor: TensorBase                               # in the compiled core these annotations are C types
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


# --- saved values -----------------------------------------------------------------------------------------------------

class Output:
    """Replaces an output of the node among its saved values: holding the tensor would create a reference cycle.

    With the number PACKED it replaces a value that a saved-tensors hook packed, and `array` is a Packed.
    """

    __slots__ = ("array", "number")

    def __init__(self, array: Any, number: int) -> None:
        self.array: Any = array
        self.number: int = number


PACKED = -1


def pack(node: Node, values: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Save `values` (Tensors or anything else) in node.saved, with their current versions."""
    written = own = False
    for value in values:
        if isinstance(value, Tensor):
            for number, out in enumerate(outputs):
                if value is out:
                    own = True
                    if value.array.dtype.kind not in "fcV":          # a write will not find the node through an edge
                        shared_counter(value)
                    if value.counter is not None:    # it had aliases before it became an output
                        node.output_counters = {**(node.output_counters or {}), number: value.counter}
            if value.counter is not None and value.counter.saved():
                written = True
    if own:
        numbers = {id(out): number for number, out in enumerate(outputs) if isinstance(out, Tensor)}
        node.saved = tuple([Output(v.array, numbers[id(v)]) if id(v) in numbers else v for v in values])
    else:
        node.saved = values
    if written:
        node.versions = tuple([v.counter.saved() if isinstance(v, Tensor) and v.counter is not None else 0 for v in values])


def unpack(node: Node, create: bool) -> list[Any]:
    """The saved values, checked for writes: as arrays, or, if `create`, as Tensors of the graph."""
    if node.saved is FREED:
        raise RuntimeError(MSG_FREED)
    return [unpack_one(node, position, create) for position in range(len(node.saved))]


def unpack_one(node: Node, position: Position, create: bool) -> Any:
    """The saved value at `position`, checked for writes: an array or a number; if `create`, a Tensor of the graph."""
    value = node.saved[position]
    if type(value) is Output:
        return output_value(node, value, create, position)
    if isinstance(value, Tensor):
        tensor: TensorBase = value                   # a C type in the compiled core
        if tensor.counter is not None:
            then = 0 if node.versions is None else node.versions[position]
            if tensor.counter.saved() != then:
                array = recalled(node.name(), tensor.counter, value.array, then, "a tensor")
                return tensor_at(array, edge_of(value)) if create else array
        return value if create else value.array
    return value


def output_value(node: Node, value: Output, create: bool, position: Position) -> Any:
    """The saved output at `position` in node.saved: its array, or, if `create`, a Tensor at its place in the graph."""
    if value.number == PACKED:
        return value.array.unpack(node, create)
    array, counter = value.array, None
    if node.output_counters and value.number in node.output_counters:
        counter = node.output_counters[value.number]
        then = 0 if node.versions is None else node.versions[position]
        if counter.saved() != then:
            array, counter = recalled(node.name(), counter, value.array, then, f"output {value.number}"), None
    if not create:
        return array
    tensor = result(array)
    tensor.counter = counter                         # None if the array is a copy made before an overwrite
    if array.dtype.kind not in "fcV":
        return tensor
    tensor.edge, tensor.tracked = (node, value.number), True
    if node.output_duals is not None:                # forward over reverse
        tensor.dual, tensor.tracked = node.output_duals[value.number], GRAD | DUAL
    return tensor


def recalled(name: str, counter: Any, array: Any, then: Any, what: str) -> Any:
    """The array as the node `name` saved it, if the library has overwritten it since. RuntimeError if the user has."""
    before = counter.recalled(array, then)
    if before is None:
        raise_changed(name, f"{what} of shape {list(array.shape)}", counter, then)
    return before


def tensor_at(array: Any, edge: Any) -> Tensor:
    """A Tensor around `array` at the given edge of the graph; at the edge of a leaf it is a leaf."""
    tensor = result(array)
    if edge is not None:
        tensor.tracked = GRAD
        if edge[0].is_leaf:
            tensor.accumulator = weakref.ref(edge[0])
        else:
            tensor.edge = edge
    return tensor


__all__ = ["PACKED", "Output", "begin_node", "output_value", "pack", "recalled", "record", "tensor_at",
           "unpack", "unpack_one"]
