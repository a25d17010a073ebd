"""Tensors of one value or without values: zeros, ones, full, empty, their _like forms, and empty_strided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.devices import check, check_format, in_format, preserve_format
from ...base.hidden import Hidden
from ...base.types import Array, DeviceLike, DTypeLike, Layout, MemoryFormat, SizeLike
from ...core.primitive import primitive, spanned
from ...core.tensor import Tensor, result
from ...core.types import TensorOrNumber
from ...kernels.memory_format import order_of
from .arguments import extent, fitting, kind, new_leaf, number, shape_of

ndarray = np.ndarray


@spanned
def zeros(*sizes: Any, size: Sequence[int] | None = None, out: Tensor | None = None, dtype: DTypeLike = None,
          layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
          requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    dtype = kind(dtype, layout, device, pin_memory, out)
    return new_leaf(np.zeros(extent("zeros", sizes, size), dtype), requires_grad, out)


@spanned
def ones(*sizes: Any, size: Any = None, out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None,
         device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    dtype = kind(dtype, layout, device, pin_memory, out)
    return new_leaf(np.ones(extent("ones", sizes, size), dtype), requires_grad, out)


def empty(*sizes: Any, size: Any = None, out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None,
          device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False,
          memory_format: MemoryFormat | None = None) -> Tensor:
    """Memory as it is found."""
    dtype = kind(dtype, layout, device, pin_memory, out)
    shape = extent("empty", sizes, size)
    if memory_format is not None:
        check_format(memory_format)
        return new_leaf(_found(in_format, shape, dtype, memory_format), requires_grad, out)
    return new_leaf(_found(np.empty, shape, dtype), requires_grad, out)


@primitive
def _found(make: Callable[..., Any], *args: Any) -> Array:
    """An array with uninitialised memory, from make(*args); a call of its own, since its contents are no constant."""
    return make(*args)


@spanned
def full(size: SizeLike, fill_value: TensorOrNumber, *, out: Tensor | None = None, dtype: DTypeLike = None,
         layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
         requires_grad: bool = False) -> Tensor:
    """fill_value everywhere; the dtype is that of tensor(fill_value)."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    value = number("full", "fill_value", fill_value)
    if dtype is None and out is None:
        dtype = fill_value.dtype if hasattr(fill_value, "dtype") else dtypes.for_number(dtypes.bool_, value)
    dtype = kind(dtype, layout, device, pin_memory, out)
    return new_leaf(np.full(shape_of("full", size), fitting(value, dtype), dtype), requires_grad, out)


def empty_strided(size: Sequence[int], stride: Sequence[int], *, dtype: DTypeLike = None, layout: Layout | None = None,
                  device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Memory as it is found, where one step along dimension i is stride[i] elements."""
    dtype = kind(dtype, layout, device, pin_memory)
    shape, strides = shape_of("empty_strided", size), tuple(stride)
    if len(shape) != len(strides):
        raise RuntimeError(f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})")
    if any(s < 0 for s in strides):
        raise RuntimeError(f"empty_strided: strides must not be negative, got {list(strides)}")
    length = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    step = tuple(s * dtype.itemsize for s in strides)
    return new_leaf(np.ndarray(shape, dtype, np.empty(length, dtype), 0, step), requires_grad)


def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], *, dtype: DTypeLike = None,
                   layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
                   requires_grad: bool = False) -> Tensor:
    """Memory as it is found, with the dimensions in the order physical_layout, the outermost first."""
    dtype = kind(dtype, layout, device, pin_memory)
    shape, order = shape_of("empty_permuted", size), list(physical_layout)
    if len(order) != len(shape):
        raise RuntimeError(f"Number of dimensions in size does not match the length of the physical_layout; "
                           f"i.e. len(size) = {len(shape)} is not equal to len(physical_layout) = {len(order)}")
    if any(not 0 <= d < len(shape) for d in order):
        raise RuntimeError(f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {order})")
    if len(set(order)) != len(order):
        raise RuntimeError(f"Duplicate dim not allowed: physical_layout = {order}")
    array = np.empty([shape[d] for d in order], dtype)
    return new_leaf(np.transpose(array, np.argsort(order)) if order else array, requires_grad)


# --- like another ----------------------------------------------------------------------------------------------------

def like(input: Tensor, dtype: DTypeLike, layout: Layout | None, device: DeviceLike, pin_memory: bool,
         memory_format: MemoryFormat | None) -> Array:
    """An empty array of input's shape, and of its dtype and strides unless others are asked for."""
    if not isinstance(input, Tensor):
        raise TypeError(f"argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    dtype = input.array.dtype if dtype is None else dtypes.as_dtype(dtype)
    if layout is not None or device is not None or pin_memory:
        check(device, layout, pin_memory)
    if memory_format is None or memory_format is preserve_format:
        return np.empty_like(input.array, dtype, "K" if input.array.__class__ is not ndarray else order_of(input.array))
    check_format(memory_format)
    return in_format(input.array.shape, dtype, memory_format)


def each_sample(like: Tensor, out: Tensor) -> Tensor:
    """out, which may be written to: one for each sample, where `like` is a batch inside vmap()."""
    array = like.array
    if array.__class__ is ndarray:
        return out
    levels: list[Any] = []
    while array.__class__ is Hidden:
        levels.insert(0, array.level)
        array = array.value.array
    if not levels:
        return out
    each = result(np.broadcast_to(out.array, (*[level.size for level in levels], *out.array.shape)).copy())
    for level in levels:
        each = level.wrapped(each)
    if out.requires_grad:
        each.requires_grad = True                    # refused
    return each


@spanned
def zeros_like(input: Tensor, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
               pin_memory: bool = False, requires_grad: bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """Zeros of input's shape and dtype."""
    array = like(input, dtype, layout, device, pin_memory, memory_format)
    array.fill(0)
    out = new_leaf(array, requires_grad)
    return each_sample(input, out)


@spanned
def ones_like(input: Tensor, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
              pin_memory: bool = False, requires_grad: bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """Ones of input's shape and dtype."""
    array = like(input, dtype, layout, device, pin_memory, memory_format)
    array.fill(1)
    out = new_leaf(array, requires_grad)
    return each_sample(input, out)


def empty_like(input: Tensor, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None,
               pin_memory: bool = False, requires_grad: bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """Memory as it is found, of input's shape and dtype."""
    if input.__class__ is Tensor or input.array.__class__ is not Hidden:
        return new_leaf(_found(like, input, dtype, layout, device, pin_memory, memory_format), requires_grad)
    return each_sample(input, new_leaf(like(input, dtype, layout, device, pin_memory, memory_format), requires_grad))


@spanned
def full_like(input: Tensor, fill_value: Any, *, dtype: DTypeLike = None, layout: Layout | None = None,
              device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False,
              memory_format: MemoryFormat | None = None) -> Tensor:
    """fill_value in input's shape and dtype."""
    array = like(input, dtype, layout, device, pin_memory, memory_format)
    array.fill(fitting(number("full_like", "fill_value", fill_value), array.dtype))
    out = new_leaf(array, requires_grad)
    return each_sample(input, out)


# --- methods of a tensor: new ones of its dtype ----------------------------------------------------------------------

@spanned
def new_zeros(self: Tensor, *sizes: Any, size: Any = None, dtype: DTypeLike = None, layout: Layout | None = None,
              device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Zeros of this tensor's dtype."""
    out = zeros(extent("new_zeros", sizes, size), dtype=self.dtype if dtype is None else dtype, layout=layout,
                device=device, pin_memory=pin_memory, requires_grad=requires_grad)
    return each_sample(self, out)


@spanned
def new_ones(self: Tensor, *sizes: Any, size: Any = None, dtype: DTypeLike = None, layout: Layout | None = None,
             device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Ones of this tensor's dtype."""
    out = ones(extent("new_ones", sizes, size), dtype=self.dtype if dtype is None else dtype, layout=layout, device=device,
               pin_memory=pin_memory, requires_grad=requires_grad)
    return each_sample(self, out)


def new_empty(self: Tensor, *sizes: Any, size: Any = None, dtype: DTypeLike = None, layout: Layout | None = None,
              device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Memory as it is found, of this tensor's dtype."""
    out = empty(extent("new_empty", sizes, size), dtype=self.dtype if dtype is None else dtype, layout=layout,
                device=device, pin_memory=pin_memory, requires_grad=requires_grad)
    return each_sample(self, out)


@spanned
def new_full(self: Tensor, size: Sequence[int], fill_value: TensorOrNumber, *, dtype: DTypeLike = None,
             layout: Layout | None = None,
             device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """fill_value in this tensor's dtype."""
    out = full(size, fill_value, dtype=self.dtype if dtype is None else dtype, layout=layout, device=device,
               pin_memory=pin_memory, requires_grad=requires_grad)
    return each_sample(self, out)


def new_empty_strided(self: Tensor, size: Sequence[int], stride: Sequence[int], *, dtype: DTypeLike = None,
                      layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False,
                      requires_grad: bool = False) -> Tensor:
    """Memory as it is found, of this tensor's dtype, in these strides."""
    out = empty_strided(size, stride, dtype=self.dtype if dtype is None else dtype, layout=layout, device=device,
                        pin_memory=pin_memory, requires_grad=requires_grad)
    return each_sample(self, out)


__all__ = ["empty", "empty_like", "empty_permuted", "empty_strided", "full", "full_like", "ones", "ones_like", "zeros",
           "zeros_like"]
METHODS = ["new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros"]
