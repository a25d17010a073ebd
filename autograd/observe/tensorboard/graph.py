"""The graph of a model as TensorBoard's Graphs page shows it: operations in the boxes of the modules that made them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...base.pytree import nested_values
from ...core.tensor import Tensor
from ..debug.drawing import known_shapes, visited
from ..debug.owners import recorded_owners
from .messages import protocol


def leaf(x: Any) -> Any:
    """An input of the model as a leaf, so that the graph contains it; integers require no grad and are not in it."""
    return x.detach().requires_grad_() if isinstance(x, Tensor) and x.dtype.kind in "fcV" else x


def graph_of(model: Any, inputs: tuple[Any, ...]) -> Any:
    """A GraphDef of model(*inputs), which is run once: nodes are named by the paths of their modules, leaves by their names.

    What needs no gradient (frozen weights, inputs that are integers, and what is computed of these alone) is not recorded.
    ValueError if nothing was."""
    proto = protocol.graph
    given = [leaf(x) for x in inputs]
    output, made_in = recorded_owners(lambda: model(*given), model)
    outputs = [x for x in nested_values(output) if isinstance(x, Tensor) and x.edge is not None]
    if not outputs:
        raise ValueError(f"add_graph: the output of {model._get_name()} has no graph: it depends on no parameter that "
                         "requires grad, and on no input of floats")
    top = model._get_name()
    nodes = visited([x.edge for x in outputs if x.edge is not None])
    shapes = known_shapes(nodes, {x.edge: x.shape for x in outputs if x.edge is not None})
    leaves = {id(p): f"{top}/{name.replace('.', '/')}" for name, p in model.named_parameters()}
    leaves |= {id(x): f"input/{number}" for number, x in enumerate(given)}
    names: dict[int, str] = {}                       # by node
    used: Counter[str] = Counter()
    for node in sorted(nodes, key=lambda node: (not node.is_leaf, node.seq or 0)):
        if node.is_leaf:
            names[id(node)] = leaves.get(id(node.variable), f"{top}/constant")     # type: ignore[attr-defined]
        else:
            owner = made_in.get(node, "")
            scope = top if owner in ("", top) else f"{top}/{owner.replace('.', '/')}"
            names[id(node)] = f"{scope}/{node.name().removesuffix('0').removesuffix('Backward')}"
        used[names[id(node)]] += 1
        if used[names[id(node)]] > 1:
            names[id(node)] += f"_{used[names[id(node)]] - 1}"
    made = []
    for node in nodes:
        name = names[id(node)]
        if node.is_leaf:
            op = "Input" if name.startswith("input/") else "Parameter"
            found: list[Any] = [node.variable.shape]             # type: ignore[attr-defined]
        else:
            op, found = node.name(), [shapes.get((id(node), number)) for number in range(node.outputs)]
        read = [names[id(edge[0])] + (f":{edge[1]}" if edge[1] else "") for edge in node.edges if edge is not None]
        made.append(node_def(name, op, read, found))
    for number, x in enumerate(outputs):
        assert x.edge is not None
        source, place = x.edge
        made.append(node_def(f"output/{number}", "Output", [names[id(source)] + (f":{place}" if place else "")], [x.shape]))
    return proto.GraphDef(node=made, versions=protocol.versions.VersionDef(producer=22))


def node_def(name: str, op: str, inputs: list[str], shapes: list[Any]) -> Any:
    """One node; shapes: of its outputs, None for unknown ones."""
    shape, attributes = protocol.shape.TensorShapeProto, protocol.attributes.AttrValue
    known = [shape(unknown_rank=True) if s is None else shape(dim=[shape.Dim(size=n) for n in s]) for s in shapes]
    return protocol.nodes.NodeDef(name=name, op=op, input=inputs,
                                  attr={"_output_shapes": attributes(list=attributes.ListValue(shape=known))})
