"""Element types and how they combine: PyTorch's promotion rules, which are not NumPy's."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

float16: np.dtype[np.float16] = np.dtype("float16")
float32: np.dtype[np.float32] = np.dtype("float32")
float64: np.dtype[np.float64] = np.dtype("float64")
int8: np.dtype[np.int8] = np.dtype("int8")
int16: np.dtype[np.int16] = np.dtype("int16")
int32: np.dtype[np.int32] = np.dtype("int32")
int64: np.dtype[np.int64] = np.dtype("int64")
uint8: np.dtype[np.uint8] = np.dtype("uint8")
uint16: np.dtype[np.uint16] = np.dtype("uint16")
uint32: np.dtype[np.uint32] = np.dtype("uint32")
uint64: np.dtype[np.uint64] = np.dtype("uint64")
complex64: np.dtype[np.complex64] = np.dtype("complex64")
complex128: np.dtype[np.complex128] = np.dtype("complex128")
bool_: np.dtype[np.bool_] = np.dtype("bool")


class Default:
    """The floating dtype of what is made of Python's floats, or without a dtype. The process has one, see `default`."""

    dtype: np.dtype[Any] = float32


default: Default = Default()                         # asked by every file, at each call; set by set_default_dtype()

_CATEGORY = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def common(array: Any) -> Any:
    """The array, or a view of it, whose dtype is NumPy's own object. An unpickled array of numbers has a copy, and so
    has what is computed from it; kernels compare dtypes by identity and would not take it."""
    own = np.dtype(array.dtype.char) if array.dtype.isnative and array.dtype.kind in "biufc" else array.dtype
    return array if array.dtype is own else array.view(own)


def category(dtype: np.dtype[Any]) -> int:
    """0 bool, 1 integer, 2 floating, 3 complex."""
    try:
        return _CATEGORY[dtype.kind]
    except KeyError:
        if dtype.name == "bfloat16":                 # a type of the package ml_dtypes; for NumPy it is of no kind
            return 2
        raise TypeError(f"tensors hold bool, integer, floating or complex numbers, not {dtype}") from None


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a result of two operands of the same rank class: an integer gives way to any float."""
    x, y = category(a), category(b)
    if x != y and x < 3 and y < 3:
        return a if x > y else b
    if "V" in (a.kind, b.kind) and a != b:           # bfloat16 and another: float32 holds both it and float16
        a, b = (float32 if d.kind == "V" else d for d in (a, b))
    if 3 in (x, y) and (x < 2 or y < 2):             # integers do not widen complex numbers
        return a if x > y else b
    return np.promote_types(a, b)


def result_type(a: Any, b: Any) -> np.dtype[Any]:
    """The dtype of an operation on arrays a and b; a 0-d array counts only if its category is the higher one."""
    if (a.ndim == 0) == (b.ndim == 0):
        return promote(a.dtype, b.dtype)
    whole, zero = (b, a) if a.ndim == 0 else (a, b)
    if zero.dtype.kind == "c" and category(whole.dtype) == 2:
        return to_complex(whole.dtype)
    return whole.dtype if category(whole.dtype) >= category(zero.dtype) else promote(whole.dtype, zero.dtype)


def for_number(dtype: np.dtype[Any], number: Any) -> np.dtype[Any]:
    """The dtype in which a tensor of `dtype` meets a Python number: the tensor's, unless the number's kind is higher."""
    kind = 0 if isinstance(number, bool) else 1 if isinstance(number, int) else 2 if isinstance(number, float) else 3
    if category(dtype) >= kind:
        return dtype
    if kind == 3:
        return to_complex(dtype if category(dtype) == 2 else default.dtype)
    return int64 if kind == 1 else default.dtype


def to_complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The complex dtype whose parts are of the floating `dtype` (complex64 for the small ones)."""
    return complex128 if dtype == float64 else complex64


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """A dtype, or what NumPy takes for one (Python's float is float64), as one that tensors can have. TypeError else."""
    if dtype.__class__ is not np.dtype:
        if dtype.__class__ is TensorDType:
            return dtype.dtype                       # type: ignore[no-any-return]
        if dtype is _bfloat16 or (dtype.__class__ is str and dtype == _bfloat16.name):
            return bfloat16()                        # or the error that says which package is missing
        try:
            dtype = np.dtype(dtype)
        except TypeError:
            raise TypeError(f"argument 'dtype' must be a dtype such as float32, not {dtype!r}") from None
    category(dtype)
    return dtype


def bfloat16() -> np.dtype[Any]:
    """The 16-bit float with float32's range; NumPy's kind "V". ModuleNotFoundError without the package ml_dtypes."""
    try:
        return np.dtype(importlib.import_module("ml_dtypes").bfloat16)
    except ModuleNotFoundError:
        raise ModuleNotFoundError("bfloat16 needs the package ml_dtypes: pip install ml_dtypes") from None


class Absent:
    """bfloat16 where its package is not installed: code may compare with it, as in `x.dtype in (float16, bfloat16)`. All
    else is a ModuleNotFoundError that names the package, also where NumPy is given it: that asks for `dtype` first."""

    name = "bfloat16"

    def __repr__(self) -> str:
        return self.name

    @property
    def dtype(self) -> Any:
        """ModuleNotFoundError, which names the package ml_dtypes: NumPy has no bfloat16 of its own."""
        return bfloat16()

    itemsize = kind = is_floating_point = is_complex = is_signed = to_real = to_complex = dtype

    def __index__(self) -> int:
        """ModuleNotFoundError, where a size may stand as well: view(bfloat16)."""
        return int(bfloat16().itemsize)


_bfloat16 = Absent()


def bfloat16_or_name() -> Any:
    """bfloat16, or what stands for it without the package: making a tensor of that is the ModuleNotFoundError."""
    try:
        return bfloat16()
    except ModuleNotFoundError:
        return _bfloat16


# --- the dtypes that users see -------------------------------------------------------------------------------------

if TYPE_CHECKING:
    Base = np.dtype[Any]                             # it may stand wherever NumPy's dtype may, and has its attributes
else:
    Base = object


class TensorDType(Base):  # type: ignore[misc, valid-type]
    """The dtype of a tensor, with PyTorch's attributes; NumPy takes it for its own dtype, which it equals.

    There is one object for each dtype, which pickles and copies to itself. `dtype("float32")` is that object; what NumPy's
    dtype has besides (kind, char, type, ...) it has too.

    Args:
        dtype (dtype): This, or what NumPy takes for a dtype.

    Raises:
        TypeError: NumPy does not know it, or tensors can't hold it.

    Example:
        >>> ag.ones(2).dtype, ag.float32.is_floating_point, ag.complex64.is_complex, ag.uint8.is_signed
        (torch.float32, True, True, False)
        >>> ag.float32.itemsize, ag.float32.to_complex(), ag.complex128.to_real()
        (4, torch.complex64, torch.float64)
        >>> ag.ones(2).numpy().dtype == ag.float32
        True
    """

    __slots__ = ("dtype", "is_complex", "is_floating_point", "is_signed", "itemsize", "kind", "name")

    dtype: np.dtype[Any]
    is_complex: bool
    is_floating_point: bool
    is_signed: bool

    def __new__(cls, dtype: Any) -> TensorDType:
        return of_tensors[as_dtype(dtype)]

    if not TYPE_CHECKING:                            # or checkers would take any name

        def __getattr__(self, name: str) -> Any:
            return getattr(object.__getattribute__(self, "dtype"), name)

    def to_complex(self) -> TensorDType:
        """The complex dtype of two such numbers: of float64 complex128, of complex ones the same, else complex64.

        Raises:
            RuntimeError: for bool and integers.
        """
        if not (self.is_floating_point or self.is_complex):
            raise RuntimeError(f"{self}.to_complex(): only floating and complex dtypes have a complex one")
        return self if self.is_complex else of_tensors[to_complex(self.dtype)]

    def to_real(self) -> TensorDType:
        """The floating dtype of the parts of a complex one; of others the same."""
        return of_tensors[np.empty(0, self.dtype).real.dtype] if self.is_complex else self

    def __eq__(self, other: object) -> bool:
        return self is other or (other is not None and other.__class__ is not TensorDType and self.dtype == other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return TensorDType, (self.name,)


class OfTensors(dict[Any, TensorDType]):
    """The dtype of tensors for each of NumPy's; what stands for a missing bfloat16 stays as it is."""

    def __missing__(self, dtype: Any) -> Any:
        if dtype is _bfloat16:
            return dtype
        new: Any = object.__new__(TensorDType)
        new.dtype, new.kind, new.name, new.itemsize = dtype, dtype.kind, dtype.name, dtype.itemsize
        new.is_floating_point, new.is_complex, new.is_signed = dtype.kind in "fV", dtype.kind == "c", dtype.kind not in "bu"
        return self.setdefault(dtype, new)


of_tensors: OfTensors = OfTensors()


# --- asked by users ------------------------------------------------------------------------------------------------

def get_default_dtype() -> TensorDType:
    """The floating dtype of what is made of Python's floats, or without a dtype."""
    return of_tensors[default.dtype]


def set_default_dtype(d: Any, /) -> None:
    """Make `d`, a floating dtype, the one of what is made of Python's floats, or without a dtype."""
    if d is _bfloat16:
        bfloat16()
    if not isinstance(d, (TensorDType, np.dtype)) or category(as_dtype(d)) != 2:
        raise TypeError(f"only floating-point types are supported as the default type, not {d!r}")
    default.dtype = as_dtype(d)


def promote_types(type1: Any, type2: Any) -> TensorDType:
    """The smallest dtype, by PyTorch's rules, that both convert to."""
    return of_tensors[promote(as_dtype(type1), as_dtype(type2))]


def can_cast(from_: Any, to: Any) -> bool:
    """Whether values of `from_` may go into a tensor of `to`: never to a lower one of bool, integer, float, complex."""
    return category(as_dtype(from_)) <= category(as_dtype(to))


@functools.cache
def _limits(dtype: Any) -> tuple[str, int, float, float, float, float, float]:
    """What finfo holds: 7 us to ask for."""
    limits: Any = importlib.import_module("ml_dtypes") if dtype.kind == "V" else np
    limits = limits.finfo(dtype)
    return (str(limits.dtype), int(limits.bits), float(limits.eps), float(limits.max), float(limits.min),
            float(limits.smallest_normal), 10.0 ** -int(limits.precision))


class finfo:
    """The limits of a floating dtype: bits, eps, max, min, tiny, resolution."""

    dtype: str
    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    resolution: float
    smallest_normal: float

    def __init__(self, type: Any = None) -> None:
        if hasattr(type, "finfo"):                   # a name of torch_names: float8_e5m2
            limits = type.finfo()
        else:
            dtype = default.dtype if type is None else as_dtype(type)
            if category(dtype) < 2:
                raise TypeError(f"finfo() requires a floating point input type. Use iinfo to handle '{dtype}'")
            limits = _limits(dtype)
        self.dtype, self.bits, self.eps, self.max, self.min, self.tiny, self.resolution = limits
        self.smallest_normal = self.tiny

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    __hash__ = None                                  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})")


class iinfo:
    """The limits of an integer dtype: bits, max, min."""

    dtype: str
    bits: int
    max: int
    min: int

    def __init__(self, type: Any) -> None:
        dtype = as_dtype(type)
        if category(dtype) > 1:
            raise TypeError(f"iinfo() requires an integer input type. Use finfo to handle '{dtype}'")
        if dtype.kind == "b":
            raise TypeError("\"iinfo\" not implemented for 'Bool'")
        limits = np.iinfo(dtype)
        self.dtype, self.bits, self.max, self.min = str(dtype), int(limits.bits), int(limits.max), int(limits.min)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    __hash__ = None                                  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
