"""The three passes of a convolution by oneDNN: float32, 1 to 3 dimensions, results with their channels last.

Measured on one thread of an AMD EPYC, 3x3, 16 to 64 channels: 190 to 260 GFLOP/s forward, as much by data, 130 to 240 by
weights; in plain (n, c, h, w) memory 86 to 131. Each function gives None where oneDNN is absent or has no quick way.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from .. import choose
from ..addresses import address
from ..memory_format import empty_last
from ..windows import Array, Sizes, WindowGeometry
from . import primitives as dnn
from .library import FLOAT32, onednn, supported
from .reorder import to_channels_last

if TYPE_CHECKING:
    from .primitives import Primitive

DIRECT = 1                                           # dnnl_convolution_direct


class Pass:
    """A primitive, and the reorder of the weight from rows to its required layout, or back."""

    sizes: tuple[int, int, int]

    def __init__(self, primitive: dnn.Primitive, weight: int, rows: dnn.Description) -> None:
        self.primitive: Primitive = primitive
        self.weight: int = weight
        self.copying: dnn.Primitive | None = None
        if not primitive.takes(weight, rows):
            ends = (rows, primitive.wants(weight))
            self.copying = dnn.reordering(*(ends if weight == dnn.WEIGHTS else ends[::-1]))
        self.sizes = (primitive.bytes(weight), primitive.room, 0 if self.copying is None else self.copying.room)

    def run(self, weight: Array, first: int, *rest: int) -> None:
        """Run on the other arguments' addresses and the weight, which is the second argument of every pass."""
        with dnn.scratch(*self.sizes) as (place, room, other):
            if self.copying is None:
                self.primitive.run(room, first, address(weight), *rest)
            elif self.weight == dnn.WEIGHTS:
                self.copying.run(other, address(weight), place)
                self.primitive.run(room, first, place, *rest)
            else:
                self.primitive.run(room, first, place, *rest)
                self.copying.run(other, place, address(weight))


@dnn.cached
def planned(kind: str, x: Sizes, weight: Sizes, bias: bool, geometry: WindowGeometry, groups: int) -> Pass | None:
    """The pass "forward", "input" or "weight" for these shapes; None if oneDNN refuses, or another way is quicker."""
    try:
        with dnn.width(x[0] * prod(geometry.out) * prod(weight)):
            return _planned(kind, x, weight, bias, geometry, groups)
    except dnn.Refused:
        return None


def _planned(kind: str, x: Sizes, weight: Sizes, bias: bool, geometry: WindowGeometry, groups: int) -> Pass | None:
    plane, m = x[2:], weight[0]
    spans = [d * (k - 1) + 1 for k, d in zip(geometry.kernel, geometry.dilation, strict=True)]
    after = tuple([max(0, (o - 1) * t + s - b - n)
                   for o, t, s, b, n in zip(geometry.out, geometry.stride, spans, geometry.before, plane, strict=True)])
    if any((n + b + a - s) // t + 1 != o for n, b, a, s, t, o in
           zip(plane, geometry.before, after, spans, geometry.stride, geometry.out, strict=True)):
        raise dnn.Refused("an output that a convolution of this plane does not have")
    grouped = weight if groups == 1 else (groups, m // groups, *weight[1:])
    source, target = dnn.described(x, "last"), dnn.described((x[0], m, *geometry.out), "last")
    free = dnn.described(grouped, "any")
    constant = dnn.described((m,), "rows") if bias else None
    how = [dnn.dims(sizes) for sizes in (geometry.stride, tuple([d - 1 for d in geometry.dilation]), geometry.before, after)]
    name = "dnnl_convolution_{}_primitive_desc_create"
    forward = dnn.create(name.format("forward"), dnn.engine(), dnn.TRAINING, DIRECT, source, free, constant, target, *how,
                         dnn.attributes())
    rows = dnn.described(grouped, "rows")
    if kind == "forward":
        arguments = (dnn.SRC, dnn.WEIGHTS, dnn.DST, dnn.BIAS)
        return Pass(dnn.Primitive(forward, *arguments[:3 + bias]), dnn.WEIGHTS, rows)
    try:
        if kind == "input":
            descriptor = dnn.create(name.format("backward_data"), dnn.engine(), DIRECT, source, free, target, *how, forward,
                                    dnn.attributes())
            return Pass(dnn.Primitive(descriptor, dnn.DIFF_DST, dnn.WEIGHTS, dnn.DIFF_SRC), dnn.WEIGHTS, rows)
        descriptor = dnn.create(name.format("backward_weights"), dnn.engine(), DIRECT, source, free, constant, target, *how,
                                forward, dnn.attributes())
        arguments = (dnn.SRC, dnn.DIFF_WEIGHTS, dnn.DIFF_DST, dnn.DIFF_BIAS)
        primitive = dnn.Primitive(descriptor, *arguments[:3 + bias])
        return None if choose.patches_instead(primitive.name, weight, groups) else Pass(primitive, dnn.DIFF_WEIGHTS, rows)
    finally:
        onednn.library.dnnl_primitive_desc_destroy(forward)


def conv(x: Array, weight: Array, bias: Array | None, geometry: WindowGeometry, groups: int) -> Array | None:
    """The same as convolution.conv; None where oneDNN does not take these operands."""
    if not supported(x, weight, bias):
        return None
    plan = planned("forward", x.shape, weight.shape, bias is not None, geometry, groups)
    if plan is None:
        return None
    out = empty_last((x.shape[0], weight.shape[0], *geometry.out), FLOAT32)
    x, weight = to_channels_last(x), np.ascontiguousarray(weight)
    if bias is None:
        plan.run(weight, address(x), address(out))
    else:
        bias = np.ascontiguousarray(bias)
        plan.run(weight, address(x), address(out), address(bias))
    return out


def conv_input(g: Array, weight: Array, plane: Sizes, geometry: WindowGeometry, groups: int) -> Array | None:
    """The same as convolution.conv_input; None where oneDNN does not take these operands."""
    if not supported(g, weight):
        return None
    shape = (g.shape[0], weight.shape[1] * groups, *plane)
    plan = planned("input", shape, weight.shape, False, geometry, groups)
    if plan is None:
        return None
    out = empty_last(shape, FLOAT32)
    g, weight = to_channels_last(g), np.ascontiguousarray(weight)
    plan.run(weight, address(g), address(out))
    return out


def conv_weight(g: Array, x: Array, geometry: WindowGeometry, groups: int, bias: bool) -> tuple[Array, Array | None] | None:
    """See convolution.conv_weight; with bias also the gradient of a bias."""
    if not supported(g, x):
        return None
    m, c = g.shape[1], x.shape[1]
    shape = (m, c // groups, *geometry.kernel)
    plan = planned("weight", x.shape, shape, bias, geometry, groups)
    if plan is None:
        return None
    out = np.empty(shape, FLOAT32)
    total = np.empty(m, FLOAT32) if bias else None
    x, g = to_channels_last(x), to_channels_last(g)
    plan.run(out, address(x), address(g), *(() if total is None else (address(total),)))
    return out, total
