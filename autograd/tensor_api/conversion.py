"""Tensor's queries (device, layout, strides, memory) and conversions: to(), type(), float() and the other casts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.devices import (
    CPU,
    channels_last,
    channels_last_3d,
    check,
    check_format,
    contiguous_format,
    device,
    preserve_format,
    strided,
)
from ..base.dlpack import exported
from ..base.types import DeviceLike, DTypeLike, MemoryFormat
from ..core.graph import shared_counter
from ..core.operation import Cast
from ..core.tensor import Tensor, attributes, restore
from ..ops.shape import clone, flip, wrap_dim
from ..ops.shape.copies import layout_of, to_copy
from .storage import root_of
from .tensor_types import TYPES, TensorType

# --- memory layout -----------------------------------------------------------------------------------------------------


def stride(self: Tensor, dim: int | None = None) -> Any:
    """The strides in elements: how far apart neighbours along each dimension, or along `dim`, are in memory."""
    array = self.array
    if array.size == 0 and array.base is None:       # NumPy gives empty arrays other strides than PyTorch
        steps, step = [], 1
        for n in reversed(array.shape):
            steps.append(step)
            step *= max(n, 1)
        strides = tuple(reversed(steps))
    else:
        strides = tuple(s // array.itemsize for s in array.strides)
    return strides if dim is None else strides[wrap_dim(dim, array.ndim)]


def data_ptr(self: Tensor) -> int:
    """The address of the first element; 0 for a tensor without elements."""
    return self.array.__array_interface__["data"][0] if self.array.size else 0


def storage_offset(self: Tensor) -> int:
    """How many elements before the first one belong to the memory that this tensor is a view of."""
    root = root_of(self.array)
    return (self.array.__array_interface__["data"][0] - root.__array_interface__["data"][0]) // self.array.itemsize


def is_contiguous(self: Tensor, memory_format: MemoryFormat | None = contiguous_format) -> bool:
    """Whether the elements are contiguous in memory, in the order of `memory_format`."""
    check_format(memory_format)
    array = self.array
    if memory_format is channels_last or memory_format is channels_last_3d:
        rank = 4 if memory_format is channels_last else 5
        return array.ndim == rank and np.moveaxis(array, 1, -1).flags.c_contiguous
    return array.flags.c_contiguous


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both are the same elements of the same memory."""
    return (data_ptr(self), self.shape, self.array.strides, self.dtype) == (
        data_ptr(tensor), tensor.shape, tensor.array.strides, tensor.dtype)


def element_size(self: Tensor) -> int:
    """Bytes of one element."""
    return self.array.itemsize


def nelement(self: Tensor) -> int:
    """The number of elements."""
    return self.array.size


def ndimension(self: Tensor) -> int:
    """The number of dimensions."""
    return self.array.ndim


def get_device(self: Tensor) -> int:
    """-1: the CPU."""
    return -1


def is_pinned(self: Tensor) -> bool:
    """False: no accelerator, no pinned memory."""
    return False


def is_shared(self: Tensor) -> bool:
    """False: no other process sees this memory."""
    return False


def dense_dim(self: Tensor) -> int:
    """The number of dimensions: all are dense."""
    return self.array.ndim


def sparse_dim(self: Tensor) -> int:
    """0: no dimension is sparse."""
    return 0


def dim_order(self: Tensor) -> tuple[int, ...]:
    """The dimensions from the one with the largest step in memory to the one with the smallest."""
    strides = stride(self)
    return tuple(sorted(range(self.array.ndim), key=lambda d: -strides[d]))


def identity(self: Tensor, *args: Any) -> Tensor:
    """The tensor itself: it is dense, and conjugates and negatives are computed at once."""
    return self


def cpu(self: Tensor, memory_format: MemoryFormat | None = preserve_format) -> Tensor:
    """The tensor itself: the CPU is the only device."""
    return to(self, memory_format=memory_format)


def cuda(self: Tensor, device: DeviceLike = None, non_blocking: bool = False,
         memory_format: MemoryFormat | None = preserve_format) -> Tensor:
    """Raises NotImplementedError: tensors live in the CPU's memory."""
    raise NotImplementedError(f"cuda(device={device!r}): tensors live in the CPU's memory; leave cuda() out")


def pin_memory(self: Tensor) -> Tensor:
    """Raises RuntimeError: there is no accelerator to copy to."""
    raise RuntimeError("pin_memory() needs an accelerator to copy to; tensors here live in the CPU's memory")


def dlpack(self: Tensor, *, stream: Any = None, max_version: Sequence[int] | None = None, dl_device: Any = None,
           copy: bool | None = None) -> Any:
    """The memory as a DLPack capsule, for other libraries; refused where a gradient would be lost."""
    if self.tracked:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    shared_counter(self)                             # the consumer keeps a reference to it: see ops/shape/views.py
    return exported(np.asarray(self.array), stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """(1, 0): the CPU."""
    return 1, 0


# --- conversions ---------------------------------------------------------------------------------------------------------

def to(self: Tensor, *args: Any, dtype: DTypeLike = None, device: DeviceLike = None, non_blocking: bool = False,
       copy: bool = False, memory_format: MemoryFormat | None = preserve_format) -> Tensor:
    """This tensor in another dtype: to(dtype), to(device, dtype), to(other), each with non_blocking and copy after it.

    Itself where nothing is to be changed, unless `copy`."""
    rest: tuple[Any, ...] = args[1:]
    if args and isinstance(args[0], Tensor):
        dtype = args[0].dtype
    elif args and (args[0] is None or _is_device(args[0])):
        device = args[0]
        if rest and not isinstance(rest[0], bool):
            dtype, rest = rest[0], rest[1:]
    elif args:
        dtype = args[0]
    if len(rest) > 2:
        raise TypeError(f"to() takes (dtype), (device, dtype) or (other), non_blocking and copy, not {args}")
    copy = rest[1] if len(rest) > 1 else copy
    if device is not None:
        check(device)
    return converted(self, self.dtype if dtype is None else dtypes.as_dtype(dtype), copy, memory_format)


def _is_device(arg: object) -> bool:
    return isinstance(arg, (str, device)) or (isinstance(arg, int) and not isinstance(arg, bool))


def converted(x: Tensor, dtype: np.dtype[Any], copy: bool, memory_format: MemoryFormat | None) -> Tensor:
    """x converted to a dtype and a memory format; x itself if it has both, unless `copy`."""
    out = x
    if x.array.dtype != dtype:
        out = Cast.apply(x, dtype=dtype)
    if memory_format is not preserve_format:
        check_format(memory_format)
        order = "C" if memory_format is None else layout_of(memory_format, x.ndim)
        if not is_contiguous(out, memory_format) or (copy and out is x):
            return to_copy(out, order)
    return clone(out) if copy and out is x else out


def type_(self: Tensor, dtype: DTypeLike = None, non_blocking: bool = False) -> Any:
    """PyTorch's name of the type, such as "torch.FloatTensor"; with `dtype` (a dtype or such a name) the tensor as that."""
    if dtype is None:
        other = "BFloat16Tensor" if self.dtype.kind == "V" else f"{self.dtype.name.replace('uint', 'UInt')}Tensor"
        name = next((name for name, known in TYPES.items() if known == self.dtype), other)
        return f"torch.{name}"
    if isinstance(dtype, TensorType):
        dtype = str(dtype)
    if isinstance(dtype, str):
        name = dtype.split(".")[-1]
        if name not in TYPES or dtype.startswith("torch.cuda"):
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = TYPES[name]
    return converted(self, dtypes.as_dtype(dtype), False, preserve_format)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in the dtype of `other`."""
    return converted(self, other.dtype, False, preserve_format)


def _cast_to(name: str, dtype: Any) -> Any:
    def method(self: Tensor, memory_format: MemoryFormat | None = preserve_format) -> Tensor:
        return converted(self, dtypes.bfloat16() if dtype is None else dtype, False, memory_format)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"This tensor as {dtype or 'bfloat16'}."
    return method


CASTS: dict[str, Any] = {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": None, "long": dtypes.int64,
    "int": dtypes.int32, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_,
    "cfloat": dtypes.complex64, "cdouble": dtypes.complex128}

def shallow(self: Tensor) -> Any:
    """copy.copy(): a leaf on the same memory, of its class."""
    if self.edge is not None:
        made = restore(type(self), self.array, self.requires_grad)
    else:
        make, args = self.__reduce__()[:2]
        made = make(*args)
    vars(made).update(attributes(self))
    return made


METHODS: dict[str, Any] = {
    **{name: _cast_to(name, dtype) for name, dtype in CASTS.items()},
    "to": to, "type": type_, "type_as": type_as, "cpu": cpu, "cuda": cuda, "pin_memory": pin_memory, "stride": stride,
    "data_ptr": data_ptr, "storage_offset": storage_offset, "is_contiguous": is_contiguous, "is_set_to": is_set_to,
    "element_size": element_size, "nelement": nelement, "ndimension": ndimension, "get_device": get_device,
    "_is_view": lambda self: self.base is not None, "is_pinned": is_pinned, "is_shared": is_shared,
    "dense_dim": dense_dim,
    "sparse_dim": sparse_dim, "dim_order": dim_order, "to_dense": identity, "resolve_conj": identity,
    "resolve_neg": identity,
    "__copy__": shallow,
    "__reversed__": lambda self: flip(self, 0) if self.array.ndim else self, "__dlpack__": dlpack,
    "__dlpack_device__": dlpack_device, "__complex__": lambda self: complex(self.item()),
}
ABSENT = ("cuda", "ipu", "maia", "meta", "mkldnn", "mps", "mtia", "nested", "quantized", "sparse", "sparse_csr", "vulkan",
          "xla", "xpu")
PROPERTIES: dict[str, Any] = {
    "device": lambda self: CPU, "layout": lambda self: strided, "itemsize": element_size,
    "_base": lambda self: self.base, "nbytes": lambda self: self.array.nbytes, "is_cpu": lambda self: True,
    **{f"is_{name}": lambda self: False for name in ABSENT},
}
