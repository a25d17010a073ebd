"""What NumPy's errors are called in PyTorch: operands that do not fit each other."""

from __future__ import annotations

import sys
import warnings
from typing import Any

MSG_MINUS = ("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
             "the `~` or `logical_not()` operator instead.")
MSG_NEGATIVE = ("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
                "the `~` or `logical_not()` operator instead.")


def explain(error: Exception, *operands: Any) -> None:
    """Raise RuntimeError in place of NumPy's error, if it is about operands that do not broadcast, or about booleans."""
    text = str(error)
    if isinstance(error, OverflowError):
        raise RuntimeError(f"value cannot be converted without overflow: {text}") from None
    if "broadcast" in text:
        check_broadcast(*[x.shape for x in operands if hasattr(x, "shape")])
    if "boolean subtract" in text or "boolean negative" in text:
        raise RuntimeError(MSG_MINUS if "subtract" in text else MSG_NEGATIVE) from None


def check_broadcast(*shapes: tuple[int, ...]) -> None:
    """RuntimeError unless the shapes broadcast."""
    a: tuple[int, ...] = ()
    for b in shapes:
        width = max(len(a), len(b))
        a, b = (1,) * (width - len(a)) + a, (1,) * (width - len(b)) + b
        for place in reversed(range(width)):
            if 1 != a[place] != b[place] != 1:
                raise RuntimeError(f"The size of tensor a ({a[place]}) must match the size of tensor b ({b[place]}) at "
                                   f"non-singleton dimension {place}; the shapes are {[list(s) for s in shapes]}") from None
        a = tuple([n if m == 1 else m for m, n in zip(a, b, strict=True)])


def unsupported(name: str, *operands: Any, numbers: bool = True) -> Any:
    """NotImplemented if another operand's class may know what to do; else TypeError."""
    for x in operands:
        if type(x).__module__ == "builtins" and not (numbers and isinstance(x, (bool, int, float, complex))):
            raise TypeError(f"{name}(): unsupported operand of type {type(x).__name__}; it must be a Tensor"
                            f"{' or a number' if numbers else ''}")
        if hasattr(x, "tocsr") and type(x).__name__.endswith("_matrix"):         # of which * is the product of matrices
            raise TypeError(f"{name}(): unsupported operand of type {type(x).__name__}: the product with a "
                            "Tensor is x @ matrix, for the others use matrix.toarray()")
        if hasattr(type(x), "__dlpack__") and not hasattr(type(x), "array"):          # another library's tensor
            raise TypeError(f"{name}(): unsupported operand of type {type(x).__module__}.{type(x).__name__}; "
                            "as_tensor(x) is a Tensor on the same memory")
    return NotImplemented


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the line of the user's that led here; compiled code has no frames, so levels can't be counted."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("autograd."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
