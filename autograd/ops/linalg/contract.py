"""Contract: the product of two tensors with labelled dimensions, summed over labels. Under einsum, tensordot and inner."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.products import product
from .._declare import Operation
from ..pointwise.complex import conj

Labels = tuple[int, ...]


def contracted(x: Any, y: Any, left: Labels, right: Labels, kept: Labels) -> Any:
    """The sum of x * y over the labels that are not in `kept`, as matrix products: on arrays.

    Labels in both and in `kept` number the matrices; labels in both but not in `kept` are summed. A label stands once
    on each side, and every label is in `kept` or on both sides.
    """
    batch = [n for n in kept if n in left and n in right]
    summed = [n for n in left if n not in kept]
    rows, columns = [n for n in kept if n not in right], [n for n in kept if n not in left]
    sizes = {**dict(zip(left, x.shape, strict=True)), **dict(zip(right, y.shape, strict=True))}
    x = np.transpose(x, [left.index(n) for n in (*batch, *rows, *summed)])
    y = np.transpose(y, [right.index(n) for n in (*batch, *summed, *columns)])
    groups = [tuple(sizes[n] for n in group) for group in (batch, rows, summed, columns)]
    heads, shape_rows, shape_summed, shape_columns = groups
    if not summed:                                   # no sum: a product of aligned arrays is quicker than matrices
        out = x.reshape((*heads, *shape_rows, *(1,) * len(columns))) * y.reshape((*heads, *(1,) * len(rows), *shape_columns))
    else:
        k = _product(shape_summed)
        a = x.reshape(*heads, _product(shape_rows), k)
        b = y.reshape(*heads, k, _product(shape_columns))
        if not rows and not columns:
            out = np.vecdot(np.conj(a[..., 0, :]), b[..., 0])
        else:
            out = product(a, b)
        out = np.reshape(out, (*heads, *shape_rows, *shape_columns))
    order = [*batch, *rows, *columns]
    return np.transpose(out, [order.index(n) for n in kept])


def _product(sizes: tuple[int, ...]) -> int:
    n = 1
    for size in sizes:
        n *= size
    return n


class Contract(Operation, name="Bmm"):
    """contracted(x, y): its derivatives are contractions of the gradient with the other side."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any, *, left: Labels, right: Labels, kept: Labels) -> Any:
        """As matrix products."""
        ctx.save(x, y)
        ctx.labels = left, right, kept
        return contracted(x, y, left, right, kept)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The gradient's labels are the output's; what is kept are the input's."""
        x, y = ctx.values
        left, right, kept = ctx.labels
        return (Contract.apply(g, conj(y), left=kept, right=right, kept=left) if ctx.needs(0) else None,
                Contract.apply(conj(x), g, left=left, right=kept, kept=right) if ctx.needs(1) else None)


__all__: list[str] = []
