"""Questions about the types and sizes of tensors: result_type, is_floating_point, numel, and the like."""

from __future__ import annotations

import numpy as np

from ...base import dtypes
from ...base.dtypes import TensorDType
from ...core.primitive import value_read
from ...core.tensor import Tensor
from ...core.types import TensorOrNumber
from ...modes.inference import is_inference


def result_type(tensor1: TensorOrNumber, tensor2: TensorOrNumber) -> TensorDType:
    """The dtype of an arithmetic operation on two tensors or numbers.

    >>> result_type(tensor([1, 2]), 1.0)             # float32: a number of a higher kind has the default dtype
    """
    one, two = (v.array if isinstance(v, Tensor) else v for v in (tensor1, tensor2))
    for value in (one, two):
        if not isinstance(value, (np.ndarray, bool, int, float, complex)):
            raise TypeError(f"result_type() takes Tensors and numbers, not {type(value).__name__}")
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return dtypes.of_tensors[dtypes.result_type(one, two)]
    if isinstance(one, np.ndarray):
        return dtypes.of_tensors[dtypes.for_number(one.dtype, two)]
    if isinstance(two, np.ndarray):
        return dtypes.of_tensors[dtypes.for_number(two.dtype, one)]
    return dtypes.of_tensors[dtypes.promote(dtypes.for_number(dtypes.bool_, one), dtypes.for_number(dtypes.bool_, two))]


def is_tensor(obj: TensorOrNumber, /) -> bool:
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is float16, bfloat16, float32 or float64."""
    return dtypes.category(input.array.dtype) == 2


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return input.array.dtype.kind == "c"


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return input.array.dtype.kind not in "bu"


def is_conj(input: Tensor) -> bool:
    """False: conj() computes its values at once."""
    return False


def is_neg(input: Tensor) -> bool:
    """False: negative parts of conjugates are computed at once."""
    return False


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not 0."""
    value_read("is_nonzero()")
    if input.array.size == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    if input.array.size > 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(input.array.item())


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return input.array.shape == other.array.shape


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.array.size


__all__ = ["is_complex", "is_conj", "is_floating_point", "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed",
           "is_tensor", "numel", "result_type"]
METHODS = ["is_complex", "is_conj", "is_floating_point", "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed"]
