"""Floating point operations of calls and of nodes in backward, from shapes, by PyTorch's formulas: a multiplication and an
addition count as two. The profiler's column of FLOPs and FlopCounterMode use them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ...core.graph import Node
from ...core.recording import unpack_one

Shape = Sequence[int]


def flops_of(event: Any) -> int:
    """The operations of a profiler's event; 0 if there is no formula for it."""
    formula = FORMULAS.get(event.name)
    if formula is None or not event.input_shapes:
        return 0
    return int(formula(event.input_shapes, event.kwinputs))


# --- calls: formulas of the shapes of all inputs, [] for one that is no tensor ------------------------------------------

def product(shapes: list[Any], settings: dict[str, Any]) -> int:
    """Of x (..., m, k) @ y (..., k, n), and of linear(x, weight, None), which shares its name."""
    if len(shapes) > 2:
        return affine(shapes, settings)
    x, y = shapes
    return 2 * prod(broadcast([x[:-2], y[:-2]])) * x[-2] * x[-1] * y[-1] if len(x) > 1 and len(y) > 1 else 0


def affine(shapes: list[Any], settings: dict[str, Any]) -> int:
    """Of linear(x (..., k), weight (n, k), bias) and of addmm(bias, x (m, k), y (k, n)), which share a name."""
    if "beta" not in settings:
        return 2 * prod(shapes[0]) * shapes[1][0]
    return product(shapes[1:], settings) if len(shapes) > 2 else 0


def contraction(shapes: list[Any], settings: dict[str, Any]) -> int:
    """Of a product of two factors of an einsum: two for each combination of the labels' values."""
    left, right, out = settings["left"], settings["right"], settings["output_labels"]
    if not (set(left) & set(right)) - set(out):
        return 0                                     # nothing is summed: PyTorch multiplies elements
    labels = (*left, *right)
    return 2 * prod(dict(zip(labels, (*shapes[0], *shapes[1]), strict=True)).values())


def convolution(shapes: list[Any], settings: dict[str, Any]) -> int:
    """Of x (n, c, ...) with weight (m, c / groups, *kernel): two for each element of weight and each place of a window. Of a
    transposed convolution, whose geometry is that of its adjoint, too."""
    geometry = settings.get("geometry")
    return 0 if not geometry else 2 * shapes[0][0] * prod(shapes[1]) * prod(geometry[-1])


def of_weight(shapes: list[Any], settings: dict[str, Any]) -> int:
    """Of the gradient of a convolution's weight of g (n, m, *out) and x (n, c, ...): PyTorch counts all pairs of channels,
    also of different groups."""
    return 2 * prod(shapes[0]) * shapes[1][1] * prod(settings["geometry"][0])


def attention(shapes: list[Any], settings: dict[str, Any]) -> int:
    """Of query (..., l, e), key (..., s, e), value (..., s, d): the scores, and their product with the values."""
    batch, l, s, e, d = sizes_of_attention(shapes)
    return 2 * batch * l * s * (e + d)


def sizes_of_attention(shapes: list[Any]) -> tuple[int, int, int, int, int]:
    """The batch, the numbers of queries and keys, and the sizes of a key and of a value."""
    query, key, value = shapes[:3]
    return prod(broadcast([query[:-2], key[:-2], value[:-2]])), query[-2], key[-2], key[-1], value[-1]


def recurrent(shapes: list[Any], settings: dict[str, Any]) -> int:
    """Of a layer of x (..., k): each row times the weights of inputs and of states, and an LSTM's projection."""
    x, w_ih, w_hh = shapes[:3]
    w_hr = shapes[5] if len(shapes) > 5 and shapes[5] else [0]
    return 2 * prod(x[:-1]) * (prod(w_ih) + prod(w_hh) + prod(w_hr))


def each(shapes: list[Any], settings: dict[str, Any]) -> int:
    """One per element of the result."""
    given = [s for s in shapes if s]
    return prod(broadcast(given)) if given else 0


def broadcast(shapes: list[Any]) -> list[int]:
    """The shape to which shapes broadcast."""
    dims = max(map(len, shapes))
    padded = [[1] * (dims - len(s)) + list(s) for s in shapes]
    return [max(sizes) for sizes in zip(*padded, strict=True)]


PRODUCTS = {"aten::mm": product, "aten::bmm": contraction, "aten::addmm": affine, "aten::convolution": convolution,
            "aten::convolution_backward_input": convolution, "aten::convolution_backward_weight": of_weight,
            "aten::scaled_dot_product_attention": attention, "aten::recurrent": recurrent}
FORMULAS = {**PRODUCTS, "aten::mul": each, "aten::add": each}

FUSED = "aten._scaled_dot_product_flash_attention"   # PyTorch's name of attention in one operation, for its counter


def of_call(name: str, shapes: list[Any], settings: dict[str, Any]) -> tuple[str, int] | None:
    """PyTorch's name, and the operations, of a call of the operation `name`; None of one that its counter does not count:
    it counts products of matrices and what is made of them."""
    formula = PRODUCTS.get(name)
    if formula is None:
        return None
    stacks = min(map(len, shapes[-2:])) > 2          # of matrices: PyTorch has other names
    if name == "aten::mm" and stacks:
        name = "aten::bmm"
    elif name == "aten::addmm" and stacks:
        name = "aten::baddbmm"
    elif name.startswith("aten::convolution_backward"):
        name = "aten::convolution_backward"
    elif name == "aten::recurrent":
        name = "aten::addmm"
    elif name == "aten::scaled_dot_product_attention":
        name = FUSED
    count = int(formula(shapes, settings))
    return (name.replace("::", "."), count) if count else None


# --- nodes in backward: formulas of the node, the gradient's shape and the shapes of the first inputs that it saved ------

def of_products(node: Any, g: Shape, saved: list[Shape], first: int = 0) -> tuple[str, int]:
    """g y^T and x^T g, each as large as x y: those of inputs `first` and the next that are needed."""
    needed = node.needs(first) + node.needs(first + 1)
    return "aten.bmm" if min(map(len, saved)) > 2 else "aten.mm", 2 * prod(g) * saved[0][-1] * needed


def of_addmm(node: Any, g: Shape, saved: list[Shape]) -> tuple[str, int]:
    """As of a product, of the second and third inputs."""
    return of_products(node, g, saved, 1)


def of_contraction(node: Any, g: Shape, saved: list[Shape]) -> tuple[str, int]:
    """Two contractions over the same labels."""
    left, right, out = node.labels
    forward = contraction(saved, {"left": left, "right": right, "output_labels": out})
    return "aten.bmm", forward * (node.needs(0) + node.needs(1))


def of_convolution(node: Any, g: Shape, saved: list[Shape]) -> tuple[str, int]:
    """Of the input as many as forward; of the weight as of_weight()."""
    forward = convolution([g, saved[1]], {"geometry": node.geometry})
    return "aten.convolution_backward", forward * (node.needs(0) + node.needs(1) * node.groups)


def of_weight_gradient(node: Any, g: Shape, saved: list[Shape]) -> tuple[str, int]:
    """Of a convolution's gradient in its weight, which create_graph=True recorded: u has the weight's shape."""
    forward = convolution([saved[0], g], {"geometry": node.geometry})
    return "aten.convolution", forward * (node.needs(0) + node.needs(1))


def of_attention(node: Any, g: Shape, saved: list[Shape]) -> tuple[str, int]:
    """Five products: PyTorch also counts the recomputed scores."""
    batch, l, s, e, d = sizes_of_attention(saved)
    return f"{FUSED}_backward", 2 * batch * l * s * (3 * e + 2 * d)


def of_recurrent(node: Any, g: Shape, saved: list[Shape]) -> tuple[str, int]:
    """Those of x, the weights and the states; the first state only if the user passed it."""
    x, w_ih, w_hh = saved[:3]
    rows = prod(x[:-1])
    start, stop = node.steps[0] if node.steps else (0, 0)
    projection = prod(saved[5]) if len(saved) > 5 and saved[5] else 0
    states = rows if node.needs(6) else rows - (stop - start)
    return "aten.mm", 2 * (rows * prod(w_ih) * (node.needs(0) + node.needs(1))
                           + prod(w_hh) * (rows * node.needs(2) + states) + rows * projection * (1 + node.needs(5)))


class Backward(NamedTuple):
    """The rule that counts an Operation's node."""

    formula: Any
    saved: slice                                     # the first input of the call that it saved


OF_NODES = {"MatMul": Backward(of_products, slice(0, 2)), "Linear": Backward(of_products, slice(0, 2)),
            "LinearWithoutBias": Backward(of_products, slice(0, 2)), "Addmm": Backward(of_addmm, slice(1, 3)),
            "Contract": Backward(of_contraction, slice(0, 2)), "Conv": Backward(of_convolution, slice(0, 2)),
            "ConvTranspose": Backward(of_convolution, slice(0, 2)), "ConvInput": Backward(of_convolution, slice(0, 2)),
            "ConvWeight": Backward(of_weight_gradient, slice(0, 2)),
            "ScaledDotProductAttention": Backward(of_attention, slice(0, 3)),
            "Recurrent": Backward(of_recurrent, slice(0, 6))}


def rule_of(node: Node) -> Backward | None:
    """The rule that counts a node; None if it is not counted."""
    operation = getattr(node, "operation", None)
    return None if operation is None else OF_NODES.get(operation.__name__)


def of_node(node: Node, rule: Backward, g: Any, inputs: list[Shape] | None) -> tuple[str, int]:
    """PyTorch's name, and the operations, of a run of a node on the gradients g. inputs: the shapes of the call's inputs;
    None: unknown, and what the node saved has them."""
    first: Any = next(x for x in g if x is not None) if isinstance(g, (list, tuple)) else g
    if inputs is not None:
        shapes = inputs[rule.saved]
    else:
        count = rule.saved.stop - rule.saved.start
        shapes = [tuple(getattr(unpack_one(node, place, False), "shape", ())) for place in range(count)]
    name, count = rule.formula(node, tuple(first.shape), shapes)
    return name, int(count)
