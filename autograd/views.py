"""Views and writes: what a write into memory that several tensors share means for the graph.

A view knows its base, the tensor whose memory it looks into (never a view itself), and the memory's counter knows all
views. A write to a view makes the base the output of CopySlices, which takes the base as it was and the values written;
a write to the base just replaces what the base comes from. Either way every view is then a part of the new base: its
node becomes AsStrided. The rules are PyTorch's, but views are moved on at the write, not when they are next looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .graph import shared_counter
from .kernels.addresses import address
from .mode import GRAD, modes
from .operation import Operation, OperationNode
from .recorded import finish
from .tensor import Tensor

MSG_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
MSG_VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."
MSG_UNRECORDED = (
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case "
    "is ambiguous and error-prone, it is forbidden. Make the view and write to it either both inside no_grad(), or both "
    "outside.")
MSG_ONE_OF_MANY = (
    "Output {number} of {name} is a view and is being modified inplace. This view is the output of a function that returns "
    "multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace "
    "operation by an out-of-place one.")
MSG_OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation.")


class Layout(NamedTuple):
    """Where an array's elements lie in a stretch of `span` elements: strides and offset in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    span: int

    def of(self, buffer: Any) -> Any:
        """The elements, as a view of a buffer of `span` elements."""
        size = buffer.itemsize
        return np.ndarray(self.shape, buffer.dtype, buffer, self.offset * size, tuple([s * size for s in self.strides]))

    def laid(self, x: Any) -> Any:
        """A buffer of `span` elements that holds x in this layout, and zeros elsewhere."""
        buffer = np.zeros(self.span, x.dtype)
        self.of(buffer)[...] = x
        return buffer

    def is_all_of(self, x: Any) -> bool:
        """Whether x, an array of this shape, lies in this layout, and nothing else does: the usual base."""
        return type(x) is np.ndarray and x.flags.c_contiguous and x.size == self.span and self.strides == tuple(
            [s // x.itemsize for s in x.strides])


def layouts(base: Any, view: Any) -> tuple[Layout, Layout]:
    """The layouts of a base and of a view of it, in the stretch of memory that both lie in."""
    (start, low, high), (place, first, end) = bounds(base), bounds(view)
    low, size = min(low, first), base.itemsize
    span = max(1, (max(high, end) - low) // size)

    def layout(a: Any, at: int) -> Layout:
        return Layout(a.shape, tuple([s // size for s in a.strides]), (at - low) // size if a.size else 0, span)

    return layout(base, start), layout(view, place)


def bounds(a: Any) -> tuple[int, int, int]:
    """Addresses: of the first element, where the memory begins that the elements lie in, where it ends."""
    start = low = high = address(a)
    for n, step in zip(a.shape, a.strides, strict=True):
        if not n:
            return start, start, start
        if step > 0:
            high += (n - 1) * step
        else:
            low += (n - 1) * step
    return start, low, high + a.itemsize


class AsStrided(Operation):
    """The elements of x (laid out as `base`) that `view` covers."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, base: Layout, view: Layout) -> Any:
        """Laid out in a buffer like the base, then looked at like the view."""
        ctx.base, ctx.view = base, view
        return view.of(x.reshape(-1) if base.is_all_of(x) else base.laid(x)).copy()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Zeros, with g where the view lies."""
        return IntoStrided.apply(g, base=ctx.base, view=ctx.view)


class IntoStrided(Operation, name="AsStridedAdd"):
    """Zeros like the base, with g added where the view lies; the adjoint of AsStrided."""

    @staticmethod
    def forward(ctx: Any, g: Any, *, base: Layout, view: Layout) -> Any:
        """Elements that the view shows several times add up."""
        ctx.base, ctx.view = base, view
        if overlaps(view):
            buffer = np.zeros(base.span, g.dtype)
            np.add.at(buffer, view.of(np.arange(base.span)), g)
        else:
            buffer = view.laid(g)
        return base.of(buffer).copy()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Look again."""
        return AsStrided.apply(g, base=ctx.base, view=ctx.view)


class Outside(Operation, name="CopySlicesMask"):
    """x with zeros where the view lies."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, base: Layout, view: Layout) -> Any:
        """The other elements."""
        ctx.base, ctx.view = base, view
        if base.is_all_of(x):
            out = x.copy()
            view.of(out.reshape(-1))[...] = 0
            return out
        buffer = base.laid(x)
        view.of(buffer)[...] = 0
        return base.of(buffer).copy()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Its own adjoint."""
        return Outside.apply(g, base=ctx.base, view=ctx.view)


class CopySlices(Operation):
    """The base after values were written to the view."""

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The base as it was gets what was not overwritten, the values the rest."""
        kept = Outside.apply(g, base=ctx.base, view=ctx.view) if ctx.needs(0) else None
        return kept, AsStrided.apply(g, base=ctx.base, view=ctx.view) if ctx.needs(1) else None


CopySlices.node = type("CopySlices", (OperationNode,), {"operation": CopySlices})


def overlaps(layout: Any) -> bool:
    """Whether a layout (or an array) shows an element more than once; of strides that interleave we do not ask."""
    return any(stride == 0 and n > 1 for stride, n in zip(layout.strides, layout.shape, strict=True))


def check_writable(x: Tensor, kind: int, whole: bool = True) -> None:
    """RuntimeError if a write to x (all of it, if `whole`), of values tracked as `kind` says, would lose a gradient or
    write an element twice.
    """
    array = x.array
    if whole and 0 in array.strides and array.size and overlaps(array):
        raise RuntimeError(MSG_OVERLAP)
    if x.counter is not None:
        x.counter.refuse_write()
    if not modes.recording & GRAD:
        return
    if x.tracked & GRAD and x.edge is None:
        raise RuntimeError(MSG_LEAF)
    if x.base is not None and (x.tracked | x.base.tracked | kind) & GRAD:
        if x.base.tracked & GRAD and x.base.edge is None:
            raise RuntimeError(MSG_VIEW_OF_LEAF)
        if x.unrecorded:
            raise RuntimeError(MSG_UNRECORDED)
        if x.edge is not None and x.edge[0].outputs > 1:
            raise RuntimeError(MSG_ONE_OF_MANY.format(number=x.edge[1], name=x.edge[0].name()))


def written(x: Tensor, value: Tensor | None, passing: bool = False) -> None:
    """x's memory now holds `value` (of x's shape and dtype; None: nothing that the graph has to know): move the graph on.
    passing: x is a view that nobody will look at again."""
    shared_counter(x).value += 1
    if value is None or not (x.tracked | value.tracked) & modes.recording:
        return
    base = x if x.base is None else x.base
    if base is x:
        take_over(x, value)
    else:
        take_over(base, recorded(CopySlices, (base, value), base.array, layouts(base.array, x.array)))
    for reference in base.counter.views:
        view = reference()
        if view is not None and view.base is base and not (passing and view is x):
            take_over(view, recorded(AsStrided, (base,), view.array, layouts(base.array, view.array)))


def recorded(operation: type[Operation], inputs: tuple[Tensor, ...], array: Any, places: tuple[Layout, Layout]) -> Tensor:
    """A tensor around `array` as the output of an operation that has run already, by the write itself."""
    node = operation.node()
    node.saved = None
    node.base, node.view = places
    out: Tensor = operation.record(node, inputs, [x.array for x in inputs], array)
    if modes.recording > GRAD:
        finish(node, inputs, (out,))
    return out


def take_over(x: Tensor, source: Tensor) -> None:
    """Let x come from where `source` comes from; a retained gradient is from now on that of the new value."""
    retained = x.retains_grad
    if retained and x.edge is not None:
        node, number = x.edge
        node.ensure_hooks().retain.pop(number)
    x.edge, x.tracked, x.dual = source.edge, source.tracked, source.dual
    if retained:
        x.retain_grad()
