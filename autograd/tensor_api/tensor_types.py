"""PyTorch's older constructors, Tensor(2, 3) and FloatTensor([1, 2]), and the names of tensor types."""

from __future__ import annotations

import functools
import operator
from typing import Any, Union

import numpy as np

from ..base import dtypes
from ..base.devices import check
from ..base.types import Array, DeviceLike, SizeLike
from ..core.graph import shared_counter
from ..core.tensor import Tensor, result, start
from ..ops.creation.arguments import shape_of
from ..ops.creation.create import copied


class TensorType:
    """A dtype as a constructor: FloatTensor(2, 3) is a tensor of that shape, FloatTensor([1.0, 2.0]) one of those values.

    `isinstance(x, FloatTensor)` asks for the dtype. Those of a device that is not here can be named, not called."""

    __name__: str
    dtype: np.dtype[Any]

    def __init__(self, name: str, dtype: np.dtype[Any], module: str = "torch") -> None:
        self.__name__, self.__module__, self.dtype = name, module, dtype

    def __call__(self, *data: Any, device: DeviceLike = None) -> Tensor:
        if self.is_cuda:
            raise TypeError(f"type {self} not available: tensors live in the CPU's memory")
        check(device)
        return result(legacy_array(data, self.dtype, strict=True))

    def __instancecheck__(self, value: Tensor) -> bool:
        return isinstance(value, Tensor) and value.dtype == self.dtype and not self.is_cuda

    def __or__(self, other: Any) -> Any:
        return Union[self, other]                    # noqa: UP007 (`FloatTensor | None` in an annotation)

    __ror__ = __or__

    @property
    def is_cuda(self) -> bool:
        """Whether it is a type of tensors on an accelerator, of which there are none."""
        return self.__module__ != "torch"

    def __repr__(self) -> str:
        return f"{self.__module__}.{self.__name__}"

    def __reduce__(self) -> Any:
        return of_name, (self.__module__, self.__name__)


def legacy_array(data: tuple[Any, ...], dtype: np.dtype[Any], strict: bool = False) -> Array:
    """The array for a constructor's arguments: uninitialised memory of some sizes, values, or another tensor's memory.

    strict: a tensor given must have the dtype."""
    if not data:
        return np.empty(0, dtype)
    first = data[0]
    if len(data) == 1 and isinstance(first, Tensor):
        if strict and first.dtype != dtype:
            raise TypeError(f"expected a tensor of dtype {dtype}, got one of {first.dtype}; use to(dtype)")
        return first.array
    if len(data) == 1 and hasattr(first, "elements_as"):             # a storage
        return first.elements_as(dtype)              # type: ignore[no-any-return]
    if len(data) == 1 and hasattr(first, "numel"):                   # a Size
        return np.empty(first, dtype)
    if len(data) == 1 and ((isinstance(first, np.ndarray) and first.ndim) or isinstance(first, (list, tuple, range))):
        return copied(np.asarray(first, dtype) if _truncates(first, dtype) else first, dtype)
    try:
        sizes = [operator.index(n) for n in data if not isinstance(n, bool)]
    except TypeError:
        sizes = []
    if len(sizes) != len(data):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
    return np.empty(shape_of("new", sizes), dtype)


def _truncates(data: object, dtype: np.dtype[Any]) -> bool:
    """Whether floats shall become integers, as LongTensor([1.5]) asks."""
    return dtype.kind in "iu" and isinstance(data, (list, tuple)) and any(isinstance(v, float) for v in data)


def construct(self: Tensor, *data: Any, device: DeviceLike = None) -> None:
    """Tensor(2, 3): memory of that shape, as it is found. Tensor([1, 2]), Tensor(array): these values in the default dtype.
    Tensor(tensor): the same memory."""
    check(device)
    if len(data) == 1 and isinstance(data[0], Tensor):
        if data[0].tracked:
            raise NotImplementedError("Tensor(x) of a tensor that requires grad: take x.view_as(x), or x.detach()")
        start(self, data[0].array)
        self.counter = shared_counter(data[0])
    else:
        start(self, legacy_array(data, dtypes.default.dtype))


def new(self: Tensor, *data: Any, size: SizeLike | None = None, device: DeviceLike = None) -> Tensor:
    """x.new(2, 3), x.new(size=(2, 3)), x.new([1, 2]): what Tensor(...) makes, in this tensor's dtype."""
    check(device)
    if size is not None:
        data = (*data, *((size,) if isinstance(size, int) else size))
    return result(legacy_array(data, self.dtype, strict=True))


TYPES: dict[str, np.dtype[Any]] = {
         "FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64, "HalfTensor": dtypes.float16,
         "LongTensor": dtypes.int64, "IntTensor": dtypes.int32, "ShortTensor": dtypes.int16, "CharTensor": dtypes.int8,
         "ByteTensor": dtypes.uint8, "BoolTensor": dtypes.bool_, "ComplexFloatTensor": dtypes.complex64,
         "ComplexDoubleTensor": dtypes.complex128}


@functools.cache
def types(module: str) -> dict[str, TensorType]:
    """The constructors by name."""
    return {name: TensorType(name, dtype, module) for name, dtype in TYPES.items() if not name.startswith("Complex")}


def of_name(module: str, name: str) -> TensorType:
    """One of types(), for a pickle."""
    return types(module)[name]


def set_default_tensor_type(t: TensorType | str, /) -> None:
    """set_default_dtype by the name of a type, such as DoubleTensor or "torch.DoubleTensor"."""
    name = t.__name__ if isinstance(t, TensorType) else str(t).split(".")[-1]
    if name not in TYPES or (isinstance(t, str) and "cuda" in t) or (isinstance(t, TensorType) and t.is_cuda):
        raise TypeError(f"invalid type object: only floating-point types on the CPU can be the default, not {t}")
    dtypes.set_default_dtype(TYPES[name])
