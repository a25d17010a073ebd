"""The part of a Tracer that notes what is applied to what, as a Graph, while a profiler names the operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.graph import Node
from ...core.interceptors import Interceptor
from ...core.modes import GRAD, modes
from ...core.operation import Operation, OperationNode
from ...core.tensor import Tensor
from ...spans.spans import BLOCK, names, profilers, this_ring
from .backward import Backward
from .calls import Array, Location, location, user_line
from .effects import PURE, Effects
from .graph import Graph, GraphNode, GraphValue, mapped


class Applied(Backward, Effects, Interceptor):
    """Notes each operation, Function, backward node, write and primitive; what these call themselves is not noted."""

    def __init__(self, apart: bool = False, first: Any = None) -> None:
        super().__init__(apart, first)
        self.graph: Graph = Graph()
        self._noting: bool = bool(profilers)
        self._named: list[Any] = []                  # tensors and arrays, whose memory no other one may take
        self._shown_values: dict[Location | int, GraphValue] = {}         # by memory; of empty arrays by the Tensor's id

    def begin_graph(self, inputs: Sequence[Tensor]) -> None:
        """Register the tensors of the arguments."""
        self.graph._inputs = [self._name(x, None) for x in inputs] if self._noting else []

    def end_graph(self, outputs: Sequence[Tensor]) -> None:
        """Register the tensors of the result, and note nothing more."""
        if self._noting:
            self.graph._outputs = [self._shown(x) for x in outputs]
            self._noting = False

    def note(self, kind: str, args: Sequence[Any], settings: dict[str, Any], outs: Sequence[Any]) -> None:
        """Note one call, unless it is part of another one."""
        if self._noting:
            given = [mapped(x, self._shown) for x in args], {name: mapped(x, self._shown) for name, x in settings.items()}
            node = GraphNode(kind, *given, user_line())
            self.graph._nodes.append(node)
            node._outputs += [self._name(out, node) for out in outs if isinstance(out, (Tensor, np.ndarray))]

    def _name(self, x: Tensor | Array, node: GraphNode | None) -> GraphValue:
        """A new value for a tensor or array."""
        self._named.append(x)
        value = self._shown_values[place_of(x)] = GraphValue(x, node)
        return value

    def _shown(self, x: Any) -> Any:
        """The value of a tensor or array, a new one if it comes from outside; a number of an operand; or x itself."""
        if not isinstance(x, (Tensor, np.ndarray)):
            return getattr(x, "array", x)
        if place_of(x) in self._shown_values:
            return self._shown_values[place_of(x)]
        array = x.array if isinstance(x, Tensor) else x
        node = GraphNode("prim::Constant", (), {"value": array.item()} if array.size == 1 else {}, "")
        self.graph._nodes.append(node)
        value = self._name(x, node)
        node._outputs.append(value)
        self.graph._outside.append((x, value))
        return value

    def _whole(self, call: Callable[..., Any], *args: Any) -> Any:
        """Make a call whose parts are not noted."""
        noting, self._noting = self._noting, False
        try:
            return call(*args)
        finally:
            self._noting = noting

    # --- events -------------------------------------------------------------------------------------------------------

    def computed(self, forward: Callable[..., Any], arrays: tuple[Any, ...], inputs: tuple[Any, ...], out: Tensor) -> None:
        """Note a declared operation."""
        super().computed(forward, arrays, inputs, out)
        if self._noting:
            self.note(span_name(), (*inputs, *arrays[len(inputs):]), {}, (out,))

    def operated(self, operation: type[Operation], node: OperationNode, args: tuple[Any, ...], arrays: list[Any],
                 settings: dict[str, Any], out: Tensor | tuple[Tensor, ...]) -> None:
        """Note an Operation."""
        super().operated(operation, node, args, arrays, settings, out)
        self.note(names[operation.span][0], args, settings, out if isinstance(out, tuple) else (out,))

    def function(self, cls: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """Note a Function."""
        out = self._whole(super().function, cls, args, settings)
        self.note(cls.__name__, args, settings, out if isinstance(out, tuple) else (out,))
        return out

    def primitive(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note a primitive."""
        out = self._whole(super().primitive, function, args, kwargs)
        if self._noting:
            if getattr(function, "__module__", PURE[0]).startswith(PURE):
                self.note(span_name(), args, kwargs, (out,))
            else:                                    # a method, such as an optimizer's step()
                self.note(f"{type(args[0]).__name__}.{function.__name__}", args[1:], kwargs, (out,))
        return out

    def value_written(self, array: Array, source: Any, index: Any) -> None:
        """Note a write."""
        super().value_written(array, source, index)
        if index is ...:
            self.note("aten::copy_", (array, source), {}, (array,))
        else:
            self.note("aten::index_put_", (array, index, source), {}, (array,))
        if self._noting and modes.recording & GRAD:
            node = self.graph._nodes[-1]
            node._outputs[0]._requires_grad = any(value._requires_grad for value in node.inputs())

    def run_node(self, node: Node, g: Any, frees: bool) -> Any:
        """Note a node of a backward pass."""
        grads = self._whole(super().run_node, node, g, frees)
        self.note(node.name(), g if isinstance(g, list) else [g], {}, grads)
        return grads

    def record_sum(self, pending: Array, value: Array) -> Array:
        """Note a sum of gradients."""
        total = super().record_sum(pending, value)
        self.note("aten::add", (pending, value), {}, (total,))
        return total

    def deliver(self, leaf: Tensor, g: Array) -> None:
        """Note the gradient of a leaf."""
        self.note("AccumulateGrad", (leaf, g), {}, ())
        self.gradients.deliver(leaf, g)


def place_of(x: Tensor | Array) -> Location | int:
    """What identifies a tensor or array."""
    array: Array = x.array if isinstance(x, Tensor) else x
    return location(array) if array.size else id(x)


def span_name() -> str:
    """The name of the operation that runs: that of the innermost open span."""
    ring = this_ring()
    block = ring.open // BLOCK
    return names[ring.blocks[block % ring.most if ring.most else block][ring.open % BLOCK * 8]][0]


__all__ = ["Applied"]
