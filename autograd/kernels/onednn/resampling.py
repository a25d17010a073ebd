"""Interpolation along straight lines by oneDNN: float32, pixels as areas, the scale the quotient of sizes; else None.

16 images of 32 x 14 x 14, twice as large: 0.05 ms forward and 0.7 back, where NumPy takes 0.9 and 2.0.
"""

from __future__ import annotations

from math import prod

from ..addresses import address
from ..memory_format import empty_last
from ..windows import Array, Sizes
from . import primitives as dnn
from .library import FLOAT32, supported
from .reorder import to_channels_last

LINEAR = 0x2fff1                                     # dnnl_resampling_linear


@dnn.cached
def planned(shape: Sizes, outs: Sizes) -> tuple[dnn.Primitive, dnn.Primitive] | None:
    """Forward and backward for these sizes; None if oneDNN refuses."""
    name = "dnnl_resampling_{}_primitive_desc_create"
    source, target = dnn.described(shape, "last"), dnn.described((*shape[:2], *outs), "last")
    try:
        with dnn.width(prod(shape[:2]) * max(prod(shape[2:]), prod(outs)), dnn.threads.WIDE_PASS):
            there = dnn.create(name.format("forward"), dnn.engine(), dnn.TRAINING, LINEAR, None, source, target,
                               dnn.attributes())
            forward = dnn.Primitive(there, dnn.SRC, dnn.DST)
            back = dnn.create(name.format("backward"), dnn.engine(), LINEAR, None, source, target, there, dnn.attributes())
            return forward, dnn.Primitive(back, dnn.DIFF_DST, dnn.DIFF_SRC)
    except dnn.Refused:
        return None


def linear(x: Array, outs: Sizes) -> Array | None:
    """x (n, c, *plane) in the sizes `outs`."""
    plan = planned(x.shape, outs) if supported(x) else None
    return None if plan is None else _run(plan[0], x, outs)


def linear_back(g: Array, plane: Sizes) -> Array | None:
    """The adjoint: g (n, c, *outs) -> (n, c, *plane)."""
    plan = planned((*g.shape[:2], *plane), g.shape[2:]) if supported(g) else None
    return None if plan is None else _run(plan[1], g, plane)


def _run(primitive: dnn.Primitive, x: Array, sizes: Sizes) -> Array:
    x, out = to_channels_last(x), empty_last((*x.shape[:2], *sizes), FLOAT32)
    with dnn.scratch(primitive.room) as (room,):
        primitive.run(room, address(x), address(out))
    return out
