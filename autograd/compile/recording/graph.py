"""Graph: the operations of a recorded run, with what each reads and returns, for people: jit.trace() shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...base.dtypes import TensorDType
from ...core.tensor import Tensor
from ...ops._kinds import NAMES
from .calls import Array

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), slice, np.generic)


class GraphValue:
    """A value of a graph: an input, the result of a node, or a tensor from outside."""

    def __init__(self, x: Tensor | Array, node: GraphNode | None) -> None:
        array: Array = x.array if isinstance(x, Tensor) else x
        self.shape: tuple[int, ...] = array.shape
        self.name: str = ""
        self._dtype: str = NAMES.get(array.dtype.name, array.dtype.name)
        self._requires_grad: bool = isinstance(x, Tensor) and x.requires_grad
        self._node = node

    def debugName(self) -> str:
        """The value's name in the text of the graph, without the %."""
        return self.name

    def node(self) -> GraphNode | None:
        """The node that returns the value; None for an input."""
        return self._node

    def requires_grad(self) -> bool:
        """Whether the value requires grad."""
        return self._requires_grad

    def type(self) -> str:
        """The dtype and shape, such as `Float(2, 3)`."""
        parts = [*map(str, self.shape), *(["requires_grad=1"] if self._requires_grad else [])]
        return f"{self._dtype}({', '.join(parts)})"

    def __repr__(self) -> str:
        return f"%{self.name}"


class GraphNode:
    """A node of a graph: one operation, Function, write or optimizer step, applied to values and constants."""

    def __init__(self, kind: str, args: Sequence[Any], settings: Mapping[str, Any], line: str) -> None:
        self._kind, self._args, self._settings, self._line = kind, args, settings, line
        self._outputs: list[GraphValue] = []

    def kind(self) -> str:
        """The operation's name, such as aten::mul, or the class of a Function."""
        return self._kind

    def inputs(self) -> list[GraphValue]:
        """The values that the node reads."""
        return list(values_in((*self._args, *self._settings.values())))

    def outputs(self) -> list[GraphValue]:
        """The values that the node returns."""
        return self._outputs

    def sourceRange(self) -> str:
        """file:line of the user's code that called the operation."""
        return self._line

    def __repr__(self) -> str:
        given = [*map(text_of, self._args), *(f"{name}={text_of(x)}" for name, x in self._settings.items())]
        outs = ", ".join(f"{out} : {out.type()}" for out in self._outputs)
        return f"{outs} = {self._kind}({', '.join(given)})".lstrip()


class Graph:
    """The nodes of a recorded run, in their order. `print(graph)` shows it, `draw(graph)` draws it."""

    def __init__(self) -> None:
        self._inputs: list[GraphValue] = []
        self._nodes: list[GraphNode] = []
        self._outputs: list[GraphValue] = []
        self._outside: list[tuple[Tensor | Array, GraphValue]] = []

    def inputs(self) -> list[GraphValue]:
        """The tensors in the arguments."""
        return self._inputs

    def nodes(self) -> list[GraphNode]:
        """The nodes, in the order in which they ran."""
        return self._nodes

    def outputs(self) -> list[GraphValue]:
        """The tensors in the result."""
        return self._outputs

    def __str__(self) -> str:
        head = ",\n      ".join(f"{x} : {x.type()}" for x in self._inputs)
        lines = [f"  {node}" + (f" # {node.sourceRange()}" if node.sourceRange() else "") for node in self._nodes]
        return "\n".join([f"graph({head}):", *lines, f"  return ({', '.join(map(str, self._outputs))})"])

    __repr__ = __str__

    # --- recording and drawing ----------------------------------------------------------------------------------------

    def give_names(self, inputs: Sequence[str], tensors: Mapping[int, str]) -> None:
        """Name the inputs, and tensors from outside by their id; number all other values."""
        for value, name in zip(self._inputs, inputs, strict=True):
            value.name = name
        for x, value in self._outside:
            value.name = tensors.get(id(x), "")
            node = value.node()
            if value.name and node is not None:
                node._kind, node._settings = "prim::GetAttr", {"name": value.name}
        taken = {value.name for value in self._inputs}
        for number, value in enumerate([*self._inputs, *(out for node in self._nodes for out in node.outputs())]):
            if not value.name or (value.name in taken and number >= len(self._inputs)):
                value.name = str(number) if not value.name else f"{value.name}.{number}"

    def drawable(self) -> tuple[list[Any], list[Any], dict[int, str], dict[int, str]]:
        """For draw(): the outputs, the boxes from them on, labels of boxes, and names of leaves, both by id."""
        boxes: dict[int, Any] = {}                   # by id of the node, or of a value that no operation made
        labels: dict[int, str] = {}

        def edge_of(value: GraphValue) -> Any:
            node = value.node()
            leaf = node is None or node.kind().startswith("prim::")
            return boxes[id(value if leaf else node)], 0

        def add(key: object, label: str, outputs: Sequence[GraphValue], edges: Sequence[Any], leaf: bool) -> None:
            shapes = ", ".join(str(list(value.shape)) for value in outputs)
            box = boxes[id(key)] = SimpleNamespace(edges=edges, is_leaf=leaf, seq=len(boxes), variable=key)
            labels[id(box)] = f"{label} {shapes}".rstrip()

        for value in self._inputs:
            add(value, value.name, [value], (), True)
        for node in self._nodes:
            if node.kind().startswith("prim::"):
                add(node.outputs()[0], node.outputs()[0].name, node.outputs(), (), True)
            else:
                add(node, node.kind(), node.outputs(), [edge_of(value) for value in node.inputs()], False)
        outputs = [SimpleNamespace(edge=edge_of(value), shape=value.shape) for value in self._outputs]
        return outputs, list(boxes.values()), labels, {id(value): value.name for value in (
            *self._inputs, *(value for _, value in self._outside))}


def values_in(x: Any) -> Iterator[GraphValue]:
    """The values in a nest of tuples and lists."""
    if isinstance(x, GraphValue):
        yield x
    elif isinstance(x, (tuple, list)):
        for part in x:
            yield from values_in(part)


def text_of(x: Any) -> str:
    """A value or constant in the text of a node."""
    if isinstance(x, (tuple, list)):
        inside = ", ".join(map(text_of, x))
        return f"[{inside}]" if isinstance(x, list) else f"({inside}{',' * (len(x) == 1)})"
    if isinstance(x, (GraphValue, *PLAIN)):
        return "..." if x is ... else f"{x.item()!r}" if isinstance(x, np.generic) else repr(x)
    if isinstance(x, (np.dtype, TensorDType)):
        return x.name
    return f"<{getattr(x, '__name__', type(x).__name__)}>"


def mapped(x: Any, change: Callable[[Any], Any]) -> Any:
    """A nest of tuples and lists with changed parts."""
    if isinstance(x, (tuple, list)):
        return (list if isinstance(x, list) else tuple)(mapped(part, change) for part in x)
    return change(x)


__all__ = ["Graph", "GraphNode", "GraphValue"]
