"""What a node keeps for backward: packed with the versions that it was at, unpacked with a check that nobody wrote to it."""

from __future__ import annotations

from typing import Any

from .graph import FREED, MSG_FREED, Node, raise_changed
from .mode import DUAL, GRAD
from .tensor import Tensor, result


class Output:
    """Stands among a node's saved values for one of its own outputs: holding the tensor would make a cycle."""

    __slots__ = ("array", "number")

    def __init__(self, array: Any, number: int) -> None:
        self.array = array
        self.number = number


def pack(node: Node, values: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Keep `values` (Tensors or anything else) in node.saved, with the versions that they are at."""
    written = own = False
    for value in values:
        if isinstance(value, Tensor):
            for out in outputs:
                if value is out:
                    own = True
            if value.counter is not None and value.counter.value:
                written = True
    if own:
        numbers = {id(out): number for number, out in enumerate(outputs) if isinstance(out, Tensor)}
        node.saved = tuple([Output(v.array, numbers[id(v)]) if id(v) in numbers else v for v in values])
    else:
        node.saved = values
    if written:
        node.versions = tuple([v._version if isinstance(v, Tensor) else 0 for v in values])


def unpack(node: Node, create: bool) -> list[Any]:
    """The saved values, checked: as arrays, or, when `create`, as Tensors joined to the graph."""
    if node.saved is FREED:
        raise RuntimeError(MSG_FREED)
    values = []
    for position, value in enumerate(node.saved):
        if isinstance(value, Tensor):
            if value.counter is not None:
                then = 0 if node.versions is None else node.versions[position]
                if value.counter.value != then:
                    raise_changed(node, f"a tensor of shape {list(value.shape)}", value.counter.value, then)
            values.append(value if create else value.array)
        elif value.__class__ is Output:
            values.append(output_value(node, value, create))
        else:
            values.append(value)
    return values


def output_value(node: Node, value: Output, create: bool) -> Any:
    """A saved output: its array, or, when `create`, a Tensor that stands where the output stood."""
    if node.output_counters and value.number in node.output_counters:
        counter = node.output_counters[value.number]
        then = 0 if node.versions is None else max(node.versions)
        if counter.value != then:
            raise_changed(node, f"output {value.number} of shape {list(value.array.shape)}", counter.value, then)
    if not create:
        return value.array
    tensor = result(value.array)
    tensor.edge, tensor.tracked = (node, value.number), True
    if node.output_duals is not None:                # forward over reverse
        tensor.dual, tensor.tracked = node.output_duals[value.number], GRAD | DUAL
    if node.output_counters:
        tensor.counter = node.output_counters.get(value.number)
    return tensor
