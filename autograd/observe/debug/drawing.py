"""draw(): the recorded graph behind a tensor as indented text, as Graphviz' dot, or as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...base import docstrings as _docstrings
from ...core.graph import Node
from ...core.recording import Output
from ...core.tensor import Tensor
from .owners import Owners, recorded_owners
from .picture import Drawing, as_dot

Edge = tuple[Node, int]                              # a node and the number of one of its outputs
REDUCTIONS = ("Sum", "Mean", "Extreme")              # operations whose ctx.shape is their input's


def draw(y: Tensor | Iterable[Tensor] | Callable[[], Any], params: Any = None, format: str = "text") -> Drawing:
    """The graph behind y (a Tensor or several), from y down to the leaves; or the operations of what jit.trace() returned.

    params: names of leaves, as a dict, pairs (name, tensor), or a Module. format="text": a node's one input stands below
    it, several as a list with dashes; "(above, #1)" is the node marked #1. Shapes are shown where nodes tell them.
    format="dot": for Graphviz.

    The text is a Drawing: save() writes it as SVG, PNG or PDF, and a notebook shows it, by Graphviz' program `dot`. There
    nodes have the colours of modules: of the one whose parameters they read; or, if y is a function that computes the
    tensors, of the one in which each was made."""
    if format not in ("text", "dot"):
        raise ValueError(f"format must be 'text' or 'dot', not {format!r}; draw(...).save() writes pictures")
    traced: Any = getattr(y, "graph", y)             # what jit.trace() returned, or its graph
    if hasattr(traced, "drawable"):
        shown, boxes, labels, names = traced.drawable()
        return drawing_of(shown, boxes, labels, names, None, "", format)
    names, made_in = leaf_names(params), None
    if hasattr(y, "named_parameters"):
        raise TypeError(f"draw() takes Tensors, not {type(y).__name__}: draw(lambda: model(x), model)")
    drawn: Any = y
    if callable(y) and not isinstance(y, Tensor):
        drawn, made_in = recorded_owners(y, params)
    outputs = [drawn] if isinstance(drawn, Tensor) or not isinstance(drawn, Iterable) else list(drawn)
    for out in outputs:
        if not isinstance(out, Tensor):
            raise TypeError(f"draw() takes Tensors, not {type(out).__name__}")
    roots = [out.edge for out in outputs if out.edge is not None]
    nodes = visited(roots)
    shapes = known_shapes(nodes, {out.edge: out.shape for out in outputs if out.edge is not None})
    labels = {id(node): label(node, shapes, names) for node in nodes}
    return drawing_of(outputs, nodes, labels, names, made_in, getattr(params, "_get_name", lambda: "")(), format)


def drawing_of(outputs: list[Any], nodes: list[Any], labels: dict[int, str], names: dict[int, str], made_in: Any, top: str,
               format: str) -> Drawing:
    """The drawing of these nodes. names: of leaves; made_in, top: see Owners."""
    dot = as_dot(outputs, nodes, labels, Owners(nodes, names, top, made_in))
    return Drawing(as_text(outputs, nodes, labels) if format == "text" else dot, dot, len(nodes))


def leaf_names(params: Any) -> dict[int, str]:
    """id of a leaf -> its name."""
    if params is None:
        return {}
    pairs: Iterable[Any] = (params.named_parameters() if hasattr(params, "named_parameters")
                            else params.items() if isinstance(params, Mapping) else params)
    return {id(tensor): name for name, tensor in pairs}


def visited(roots: list[Edge]) -> list[Node]:
    """All nodes, each once, in the order in which the text shows them: depth first, first inputs first."""
    nodes: list[Node] = []
    seen: set[int] = set()
    stack = [node for node, _ in reversed(roots)]
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            nodes.append(node)
            stack += [edge[0] for edge in reversed(node.edges) if edge is not None]
    return nodes


def known_shapes(nodes: list[Node], known: dict[Any, tuple[int, ...]]) -> dict[tuple[int, int], tuple[int, ...]]:
    """(id of node, output number) -> shape, if known: from saved values, and from the saved shapes of inputs."""
    shapes = {(id(node), number): shape for (node, number), shape in known.items()}
    for node in sorted(nodes, key=lambda node: -node.seq):           # outputs before inputs
        saved = node.saved if isinstance(node.saved, tuple) else ()
        for value in saved:
            if isinstance(value, Output):
                shapes[id(node), value.number] = value.array.shape
            elif isinstance(value, Tensor) and value.edge is not None:
                shapes[id(value.edge[0]), value.edge[1]] = value.shape
        for edge, shape in zip(node.edges, input_shapes(node, shapes), strict=False):
            if edge is not None and shape is not None:
                shapes.setdefault((id(edge[0]), edge[1]), shape)
    return shapes


def input_shapes(node: Node, shapes: dict[tuple[int, int], tuple[int, ...]]) -> list[Any]:
    """The shapes of a node's inputs, None for unknown ones."""
    declared = type(node).__mro__[1].__name__        # see core/declare.py
    if isinstance(node.meta, list):
        return [meta[0] if meta else None for meta in node.meta]             # () for arguments that are not Tensors
    if declared == "LinearNode":
        return [node.given[0]]                       # type: ignore[attr-defined]
    operation: Any = getattr(node, "operation", None)
    if operation is not None and operation.__name__ in REDUCTIONS:
        return [node.shape]                          # type: ignore[attr-defined]
    if declared in ("UnaryNode", "SettledNode", "BinaryNode"):      # elementwise, without broadcasting
        return [shapes.get((id(node), 0))] * len(node.edges)
    return []


def label(node: Node, shapes: dict[tuple[int, int], tuple[int, ...]], names: dict[int, str]) -> str:
    """The name of a node, or of its leaf, and the shapes of its outputs."""
    if node.is_leaf:
        variable = node.variable                     # type: ignore[attr-defined]
        return f"{names.get(id(variable), 'leaf')} {list(variable.shape)}"
    found = [shapes.get((id(node), number)) for number in range(node.outputs)]
    text = ", ".join("?" if shape is None else str(list(shape)) for shape in found)
    return node.name() if all(shape is None for shape in found) else f"{node.name()} {text}"


def as_text(outputs: list[Tensor], nodes: list[Node], labels: dict[int, str]) -> str:
    """One line per node; a node with several uses is shown at its first use."""
    several = {id(node): 0 for node in nodes}
    for edge in [*(out.edge for out in outputs), *(edge for node in nodes for edge in node.edges)]:
        if edge is not None:
            several[id(edge[0])] += 1
    numbers: dict[int, int] = {}
    lines = [f"(no graph) {list(out.shape)}" for out in outputs if out.edge is None]
    stack: list[tuple[Node, int, str]] = [(out.edge[0], 0, "") for out in reversed(outputs) if out.edge is not None]
    while stack:
        node, column, mark = stack.pop()
        text = " " * min(column - len(mark), 100) + mark + labels[id(node)]      # limited: deep graphs would fill the memory
        if id(node) in numbers:
            lines.append(text + f" (above, #{numbers[id(node)]})")
            continue
        if several[id(node)] > 1:
            numbers[id(node)] = len(numbers) + 1
            text += f" #{numbers[id(node)]}"
        lines.append(text)
        inputs = [edge[0] for edge in reversed(node.edges) if edge is not None]
        stack += [(inputs[0], column, "")] if len(inputs) == 1 else [(source, column + 2, "- ") for source in inputs]
    return "\n".join(lines)


_docstrings.complete(globals(), "observe", "drawing.")
