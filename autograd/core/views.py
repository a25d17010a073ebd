"""Views and in-place writes: how a write into memory shared by several tensors changes the graph.

A view refers to its base, the tensor that owns the memory (never a view itself), and the memory's counter lists all views. A
write to a view makes the base the output of CopySlices, a function of the previous base and the written values. A write to
the base replaces the base's node. In both cases every view becomes a part of the new base: its node is AsStrided. These are
PyTorch's rules, but views are updated at the write, not at their next use.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.addresses import address
from .graph import shared_counter
from .modes import GRAD, modes
from .operation import Operation, OperationNode
from .tensor import Tensor

MSG_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
MSG_VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."
MSG_UNRECORDED = (
    "A view was created in {mode} mode and is being modified inplace with grad mode enabled. Given that this use case "
    "is ambiguous and error-prone, it is forbidden. Make the view and write to it either both inside that mode, or both "
    "outside.")
MSG_OUTPUT = "Output {number} of {name} is a view and is being modified inplace. "
MSG_ONE_OF_MANY = (
    "This view is the output of a function that returns "
    "multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace "
    "operation by an out-of-place one.")
MSG_IN_FUNCTION = (
    "This view was created inside a custom Function, whose backward the write would take out of the graph. Return a clone "
    "of the view from forward, or replace the inplace operation by an out-of-place one.")
MSG_VIEW_OF_UNRECORDED = (
    "Output {number} of {name}, a view of a view that was created with recording off, is being modified inplace with grad "
    "mode enabled. It is forbidden: make the views and write to them either all inside the no_grad block or all outside.")
VIEWS_FROM = {"unrecorded": MSG_UNRECORDED.format(mode="no_grad"), "inference": MSG_UNRECORDED.format(mode="inference"),
              "one of many": MSG_OUTPUT + MSG_ONE_OF_MANY,
              "function": MSG_OUTPUT + MSG_IN_FUNCTION}
MSG_OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation.")


class Layout(NamedTuple):
    """The layout of an array's elements in a range of `span` units: strides and offset in units.

    A unit is an element. If one of base and view is complex and the other real, a unit is a real number: `pairs` is true if
    the elements are complex numbers of two units each, in a buffer of real numbers.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    span: int
    pairs: bool = False

    def of(self, buffer: Any) -> Any:
        """The elements, as a view of a buffer of `span` units."""
        size = buffer.itemsize
        dtype = np.result_type(buffer.dtype, np.complex64) if self.pairs else buffer.dtype
        return np.ndarray(self.shape, dtype, buffer, self.offset * size, tuple([s * size for s in self.strides]))

    def to_buffer(self, x: Any) -> Any:
        """A buffer of `span` units with x in this layout and zeros elsewhere."""
        buffer = np.zeros(self.span, x.real.dtype if self.pairs else x.dtype)
        self.of(buffer)[...] = x
        return buffer

    def is_all_of(self, x: Any) -> bool:
        """Whether x, an array of this shape, has this layout without gaps: the usual case for a base."""
        if type(x) is not np.ndarray or not x.flags.c_contiguous:
            return False
        parts = 2 if self.pairs else 1
        return (x.size * parts == self.span and (not self.pairs or x.dtype.kind == "c")
                and self.strides == tuple([s * parts // x.itemsize for s in x.strides]))

    def units(self, x: Any) -> Any:
        """x, for which is_all_of() is true, as a buffer that shares its memory."""
        flat = x.reshape(-1)
        return flat.view(x.real.dtype) if self.pairs else flat

    def parts(self) -> Layout:
        """The layout in units: with `pairs`, real and imaginary parts along a new last dimension."""
        if not self.pairs:
            return self
        return Layout((*self.shape, 2), (*self.strides, 1), self.offset, self.span)


def layouts(base: Any, view: Any) -> tuple[Layout, Layout]:
    """The layouts of a base and of a view of it, in the range of memory that covers both."""
    (start, low, high), (place, first, end) = bounds(base), bounds(view)
    mixed = base.dtype is not view.dtype and (base.dtype.kind == "c") != (view.dtype.kind == "c")
    low, size = min(low, first), min(base.itemsize, view.itemsize) if mixed else base.itemsize
    span = max(1, (max(high, end) - low) // size)

    def layout(a: Any, at: int) -> Layout:
        return Layout(a.shape, tuple([s // size for s in a.strides]), (at - low) // size if a.size else 0, span,
                      mixed and a.dtype.kind == "c")

    return layout(base, start), layout(view, place)


def bounds(a: Any) -> tuple[int, int, int]:
    """Three addresses: the first element, and the begin and end of the memory that the elements cover."""
    start = low = high = address(a)
    for n, step in zip(a.shape, a.strides, strict=True):
        if not n:
            return start, start, start
        if step > 0:
            high += (n - 1) * step
        else:
            low += (n - 1) * step
    return start, low, high + a.itemsize


class ViewOfLayout(Operation, name="AsStrided"):
    """The elements of x (laid out as `base`) that `view` covers."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, base: Layout, view: Layout) -> Any:
        """Copy x into a buffer with the base's layout, and take the view's layout of it."""
        ctx.base, ctx.view = base, view
        return view.of(base.units(x) if base.is_all_of(x) else base.to_buffer(x)).copy()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Zeros, with g at the view's elements."""
        return ViewIntoLayout.apply(g, base=ctx.base, view=ctx.view)


class ViewIntoLayout(Operation, name="AsStridedAdd"):
    """Zeros like the base, with g added at the view's elements; the adjoint of ViewOfLayout."""

    @staticmethod
    def forward(ctx: Any, g: Any, *, base: Layout, view: Layout) -> Any:
        """Add up elements that the view contains several times."""
        ctx.base, ctx.view = base, view
        if overlaps(view):
            places, parts = view.parts(), np.stack((g.real, g.imag), -1) if view.pairs else g
            buffer = np.zeros(base.span, parts.dtype)
            np.add.at(buffer, places.of(np.arange(base.span)), parts)
        else:
            buffer = view.to_buffer(g)
        return base.of(buffer).copy()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The gradient of the written part: the same strided view of g."""
        return ViewOfLayout.apply(g, base=ctx.base, view=ctx.view)


class Outside(Operation, name="CopySlicesMask"):
    """x with zeros at the view's elements."""

    @staticmethod
    def forward(ctx: Any, x: Any, *, base: Layout, view: Layout) -> Any:
        """The other elements."""
        ctx.base, ctx.view = base, view
        if base.is_all_of(x):
            out = x.copy()
            view.of(base.units(out))[...] = 0
            return out
        buffer = base.to_buffer(x)
        view.of(buffer)[...] = 0
        return base.of(buffer).copy()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The operation is its own adjoint."""
        return Outside.apply(g, base=ctx.base, view=ctx.view)


class CopySlices(Operation):
    """The base after values were written to the view."""

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The gradient of the previous base has zeros where it was overwritten; the written values get those elements."""
        kept = Outside.apply(g, base=ctx.base, view=ctx.view) if ctx.needs(0) else None
        return kept, ViewOfLayout.apply(g, base=ctx.base, view=ctx.view) if ctx.needs(1) else None


CopySlices.node = type("CopySlices", (OperationNode,), {"operation": CopySlices})


def overlaps(layout: Any) -> bool:
    """Whether a layout (or an array) contains an element more than once; interleaving strides are not detected."""
    return any(stride == 0 and n > 1 for stride, n in zip(layout.strides, layout.shape, strict=True))


def check_writable(x: Tensor, kind: int, whole: bool = True) -> None:
    """Raise RuntimeError if a write to x (to all of it, if `whole`) would lose a gradient or write an element twice. kind:
    the `tracked` bits of the written values."""
    array = x.array
    if whole and 0 in array.strides and array.size and overlaps(array):
        raise RuntimeError(MSG_OVERLAP)
    if x.counter is not None:
        x.counter.refuse_write()
    if not modes.recording & GRAD:
        return
    if x.made_at is not None and (x.tracked | kind) & GRAD:
        raise RuntimeError(VIEWS_FROM["inference"])
    if x.tracked & GRAD and x.edge is None:
        raise RuntimeError(MSG_LEAF)
    if x.base is not None and (x.tracked | x.base.tracked | kind) & GRAD:
        source = x.view_from or ("one of many" if x.edge is not None and x.edge[0].outputs > 1 else "")
        if source:
            made_unrecorded = source in ("unrecorded", "inference")
            message = MSG_VIEW_OF_UNRECORDED if made_unrecorded and x.edge is not None else VIEWS_FROM[source]
            name = x.edge[0].name() if x.edge is not None else "the Function"
            raise RuntimeError(message.format(number=x.output_nr, name=name))
        if x.base.tracked & GRAD and x.base.edge is None:
            raise RuntimeError(MSG_VIEW_OF_LEAF)


def written(x: Tensor, value: Tensor | None, passing: bool = False) -> None:
    """Update the graph after `value` (of x's shape and dtype; None: nothing the graph depends on) was written to x's memory.
    passing: x is a temporary view."""
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
        if view is None or view.base is not base or (passing and view is x):
            continue
        if view.made_at is not None:
            view.tracked |= base.tracked & GRAD
        else:
            take_over(view, recorded(ViewOfLayout, (base,), view.array, layouts(base.array, view.array)))


def recorded(operation: type[Operation], inputs: tuple[Tensor, ...], array: Any, places: tuple[Layout, Layout]) -> Tensor:
    """A tensor around `array` as the output of an operation that the write has already computed."""
    node = operation.node()
    node.saved = None
    node.base, node.view = places
    out: Tensor = operation.record(node, inputs, [x.array for x in inputs], array)
    return out


def take_over(x: Tensor, source: Tensor) -> None:
    """Give x the node of `source`; from now on a retained gradient is that of the new value."""
    retained = x.retains_grad
    if retained and x.edge is not None:
        node, number = x.edge
        node.ensure_hooks().retain.pop(number)
    x.edge, x.tracked, x.dual = source.edge, source.tracked, source.dual
    if retained:
        x.retain_grad()
