"""The names that PyTorch's files may call: storages, and the functions that rebuild tensors."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from pickle import UnpicklingError
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.devices import device
from ...base.size import Size
from ...core.graph import shared_counter
from ...core.tensor import Parameter, Tensor, restore
from ...nn.parameter import Buffer, UninitializedBuffer, UninitializedParameter
from ..blocks import Memory, require_grad
from ..kinds import NUMBERS, named_dtype
from .unpickle import Machine, Named, contents, short_repr

STORAGES = {"Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64",
            "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool",
            "ComplexDouble": "complex128", "ComplexFloat": "complex64"}
UNTYPED = "untyped"
MOST_DIMS = 64                                       # NumPy's largest number of dimensions


class StorageType:
    """A class of storages: the kind of its numbers, and their size in bytes."""

    def __init__(self, kind: str) -> None:
        self.kind: str = kind
        self.size: int = size_of("uint8" if kind == UNTYPED else kind)


class Storage:
    """The memory of one or several tensors, and the kind of numbers in it."""

    def __init__(self, memory: Memory, kind: str) -> None:
        self.memory: Memory = memory
        self.kind: str = kind


def size_of(kind: str) -> int:
    """Bytes of one number."""
    return 2 if kind == "bfloat16" else np.dtype(kind).itemsize


def unpickle(stream: Any, persistent: Callable[[Any], Any]) -> Any:
    """The object of the next pickle. UnpicklingError if it contains anything but these names."""
    value = Machine(NAMES, persistent).run(stream)
    for part in contents(value):
        if isinstance(part, (Named, Storage, StorageType)):
            what = part.name if isinstance(part, Named) else "a storage without a tensor"
            raise UnpicklingError(f"it holds {what} as a value; only tensors, parameters, containers, numbers and strings "
                                  "are read")
    return value


def _tensor(storage: Any, offset: int, size: Sequence[int], stride: Sequence[int], requires_grad: bool, kind: Any,
            metadata: dict[str, Any] | None) -> Tensor:
    """A tensor of a storage: offset and strides in elements."""
    if not isinstance(storage, Storage) or kind == UNTYPED:
        raise ValueError(f"a tensor of a {type(storage).__name__} of {kind} numbers")
    if type(size) not in (tuple, Size) or type(stride) is not tuple:
        raise ValueError(f"a tensor of the shape {short_repr(size)} and strides {short_repr(stride)}")
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or len(size) > MOST_DIMS or any(type(n) is not int or not 0 <= n < 2**63 for n in numbers):
        raise ValueError(f"a tensor of the shape {short_repr(size)}, strides {short_repr(stride)} and offset "
                         f"{short_repr(offset)}")
    step = size_of(kind)
    marks = metadata or {}
    if not isinstance(marks, dict) or not marks.keys() <= {"conj", "neg"}:
        raise UnpicklingError(f"a tensor has the marks {short_repr(marks)}; only conj and neg are read")
    array = storage.memory.array(tuple(size), kind, offset * step, tuple(s * step for s in stride),
                                 conj=bool(marks.get("conj")), neg=bool(marks.get("neg")))
    tensor = storage.memory.tensor(array)
    require_grad(tensor, requires_grad)
    return tensor


def _rebuild_tensor(storage: Any, offset: int, size: Sequence[int], stride: Sequence[int], requires_grad: bool = False,
                    hooks: Any = None, metadata: dict[str, Any] | None = None) -> Tensor:
    """_rebuild_tensor and its second form."""
    return _tensor(storage, offset, size, stride, requires_grad, getattr(storage, "kind", None), metadata)


def _rebuild_tensor_v3(storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, dtype: Any,
                       metadata: Any = None) -> Tensor:
    """The third form: the dtype is the tensor's own."""
    if not isinstance(dtype, (dtypes.TensorDType, np.dtype)):
        raise ValueError(f"a tensor of the dtype {short_repr(dtype)}")
    return _tensor(storage, offset, size, stride, requires_grad, dtype.name, metadata)


def _rebuild_parameter(data: Tensor, requires_grad: bool, hooks: Any, state: dict[str, Any] | None = None) -> Tensor:
    """A Parameter of a tensor's memory."""
    return _with_state(_as(Parameter, data, requires_grad), state)


def _rebuild_from_type(make: Any, cls: Any, arguments: Any, state: Any) -> Tensor:
    """A tensor with attributes; buffers are of this form."""
    if not isinstance(make, Named) or make.call is None or not make.name.startswith("torch._utils._rebuild"):
        raise UnpicklingError(f"a tensor is made with {getattr(make, 'name', type(make).__name__)}")
    tensor = make.call(*arguments)
    if isinstance(state, dict) and state.get("_is_buffer") is True:
        tensor = _as(Buffer, tensor, tensor.requires_grad)
    return _with_state(tensor, state)


def _as(cls: type[Tensor], data: Tensor, requires_grad: bool) -> Tensor:
    """The same memory as a tensor of another class."""
    if not isinstance(data, Tensor):
        raise ValueError(f"a {cls.__name__} of a {type(data).__name__}")
    tensor = restore(cls, data.array, False)
    tensor.counter = shared_counter(data)
    require_grad(tensor, requires_grad)
    return tensor


def _with_state(tensor: Tensor, state: dict[str, Any] | None) -> Tensor:
    """Set the user's attributes of the tensor, but none that tensors have themselves."""
    if state is not None and type(state) is not dict:
        raise UnpicklingError(f"a tensor has the state {type(state).__name__}; only a dict of attributes is read")
    for name, value in (state or {}).items():
        if hasattr(Tensor, name) or (isinstance(name, str) and name.startswith("__")):
            raise UnpicklingError(f"a tensor has the attribute {name!r}, which is taken")
        if name != "_is_buffer":
            setattr(tensor, name, value)
    return tensor


def _encode(text: str, encoding: str) -> bytes:
    """The bytes that pickles of protocol 2 hold as text."""
    if encoding != "latin1":
        raise UnpicklingError(f"bytes encoded as {encoding!r}")
    return text.encode("latin1")


def _names() -> dict[str, Any]:
    """All names allowed in a file."""
    calls: dict[str, Callable[..., Any] | None] = {
        "argparse.Namespace": Namespace, "collections.OrderedDict": OrderedDict, "collections.Counter": Counter,
        "builtins.set": set, "builtins.frozenset": frozenset, "builtins.complex": complex, "_codecs.encode": _encode,
        "torch.Size": Size,
        "torch.device": device, "torch._utils._rebuild_tensor": _rebuild_tensor,
        "torch._utils._rebuild_tensor_v2": _rebuild_tensor, "torch._utils._rebuild_tensor_v3": _rebuild_tensor_v3,
        "torch._utils._rebuild_parameter": _rebuild_parameter,
        "torch._utils._rebuild_parameter_with_state": _rebuild_parameter,
        "torch._tensor._rebuild_from_type_v2": _rebuild_from_type,
        "torch.nn.parameter.UninitializedParameter": UninitializedParameter,
        "torch.nn.parameter.UninitializedBuffer": UninitializedBuffer,
        "torch.Tensor": None, "torch.nn.parameter.Parameter": None, "torch.nn.parameter.Buffer": None}
    found: dict[str, Any] = {name: Named(name, call) for name, call in calls.items()}
    found |= {f"torch.{name}Storage": StorageType(kind) for name, kind in STORAGES.items()}
    found["torch.storage.UntypedStorage"] = StorageType(UNTYPED)
    found |= {f"torch.{kind}": dtypes.of_tensors[named_dtype(kind)] for kind in NUMBERS if kind != "bfloat16"}
    return found


class Names(dict[str, Any]):
    """NAMES, with bfloat16 looked up on first use, since it needs the package ml_dtypes."""

    def __contains__(self, name: object) -> bool:
        return name == "torch.bfloat16" or super().__contains__(name)

    def __missing__(self, name: str) -> Any:
        return dtypes.of_tensors[dtypes.bfloat16()]


NAMES = Names(_names())
