"""Logic of truth values and of bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.declare import elementwise
from .._kinds import as_arrays, only, tensors

if TYPE_CHECKING:
    from ...core.types import Declared

logical_and: Declared = elementwise("LogicalAnd", tensors("logical_and", np.logical_and), inputs=2)
logical_or: Declared = elementwise("LogicalOr", tensors("logical_or", np.logical_or), inputs=2)
logical_xor: Declared = elementwise("LogicalXor", tensors("logical_xor", np.logical_xor), inputs=2)
logical_not: Declared = elementwise("LogicalNot", np.logical_not)

bitwise_and: Declared = elementwise("BitwiseAnd", only("biu", "bitwise_and", np.bitwise_and), inputs=2)
bitwise_or: Declared = elementwise("BitwiseOr", only("biu", "bitwise_or", np.bitwise_or), inputs=2)
bitwise_xor: Declared = elementwise("BitwiseXor", only("biu", "bitwise_xor", np.bitwise_xor), inputs=2)
bitwise_not: Declared = elementwise("BitwiseNot", only("biu", "bitwise_not", np.invert))


def _shift(ufunc: Any) -> Any:
    """A shift of bits; by as many as there are, or by a negative number, it leaves nothing (of a negative number: -1)."""
    return lambda a, b: ufunc(*as_arrays(a, b))


bitwise_left_shift: Declared = elementwise("BitwiseLeftShift", only("iu", "lshift", _shift(np.left_shift)), inputs=2)
bitwise_right_shift: Declared = elementwise("BitwiseRightShift", only("iu", "rshift", _shift(np.right_shift)), inputs=2)

__all__ = ["bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
           "logical_and", "logical_not", "logical_or", "logical_xor"]
METHODS = __all__
IN_PLACE = __all__
