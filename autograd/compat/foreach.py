"""torch._foreach_*: an operation on each tensor of a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.creation.fill import full_like
from ..ops.linalg.norms import vector_norm

PREFIX = "_foreach_"
NAMES = frozenset("""
    abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt
    sigmoid sign sin sinh sqrt tan tanh trunc add sub mul div pow maximum minimum clamp_max clamp_min lerp addcdiv addcmul
    clone max mm norm copy_ zero_""".split())


def foreach(name: str) -> Callable[..., Any]:
    """The function of a name such as "_foreach_add_": new tensors, or those of the list where the name ends in "_".

    Arguments are numbers or tensors for all, or lists with one for each tensor."""
    operation = name.removeprefix(PREFIX)
    if operation not in NAMES and operation.removesuffix("_") not in NAMES:
        raise AttributeError(f"there is no function {name}")
    inplace = operation.endswith("_")

    def function(self: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = self if isinstance(self, (list, tuple)) else [self] * len(args[0])         # pow(2.0, exponents)
        values = args[-1] if operation.startswith("addc") and len(args) == 3 else None       # value, by position
        if values is not None:
            args, kwargs = args[:2], {"value": values}
        if operation == "norm":
            args, kwargs = (), {"ord": kwargs.pop("ord", args[0] if args else 2), **kwargs}
        for which in ("value", "scalars"):
            if which in kwargs and operation.startswith("addc"):
                kwargs["value"] = each(kwargs.pop(which), len(tensors))
        lists = [each(argument, len(tensors)) for argument in args]
        results = []
        for number, tensor in enumerate(tensors):
            named = {key: value[number] if key == "value" else value for key, value in kwargs.items()}
            results.append(apply(operation, tensor, [values[number] for values in lists], named))
        return list(tensors) if inplace else tuple(results)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{operation}() of each tensor of a list."
    return function


def each(argument: Any, count: int) -> list[Any]:
    """The argument for each of `count` tensors."""
    if not isinstance(argument, (list, tuple)):
        return [argument] * count
    if len(argument) != count:
        raise RuntimeError(f"Tensor lists must have the same number of tensors, got {count} and {len(argument)}")
    return list(argument)


def apply(operation: str, tensor: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The operation on one tensor."""
    if operation == "norm":
        return vector_norm(tensor, **kwargs)
    if not isinstance(tensor, Tensor):
        return tensor ** args[0]
    if operation.removesuffix("_") in ("maximum", "minimum"):            # a number is accepted here only
        other = args[0] if isinstance(args[0], Tensor) else full_like(tensor, args[0])
        result = getattr(tensor, operation.removesuffix("_"))(other)
        return tensor.copy_(result) if operation.endswith("_") else result
    return getattr(tensor, operation)(*args, **kwargs)
