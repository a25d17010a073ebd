"""NumPy's functions on Tensors: np.exp(t), np.add(array, t), np.concatenate([t, u]) are recorded as ours are.

A function with a counterpart in autograd calls that, with NumPy's arguments under PyTorch's names, and returns Tensors. All
other functions, and arguments that the counterpart does not have, are a TypeError that names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..base.types import Dims
from ..core.modes import modes
from ..core.tensor import MSG_NUMPY, Tensor
from .numpy_functions import FUNCTIONS, operations

# NumPy's ufuncs whose counterpart has another name; all others are looked up by their own.
UFUNCS = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj", "degrees": "rad2deg", "divide": "div", "equal": "eq",
    "fabs": "abs", "greater": "gt", "greater_equal": "ge", "invert": "bitwise_not", "left_shift": "bitwise_left_shift",
    "less": "lt", "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne", "power": "pow",
    "radians": "deg2rad", "right_shift": "bitwise_right_shift", "rint": "round", "subtract": "sub",
}
REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all",
              "logical_or": "any"}

# Functions that return what NumPy returns: they read only shape and dtype, or values (refused where a tensor is tracked).
SHAPE_FUNCTIONS = {"can_cast", "iscomplexobj", "isrealobj", "may_share_memory", "ndim", "result_type", "shape",
                   "shares_memory", "size"}
VALUE_FUNCTIONS = {"array2string", "array_equal", "array_equiv", "array_repr", "array_str", "digitize", "histogram",
                   "histogram2d", "histogram_bin_edges", "median", "nanpercentile", "nanquantile", "percentile",
                   "quantile", "save", "savetxt", "savez", "savez_compressed"}


def array_ufunc(self: Tensor, ufunc: Callable[..., Any], method: str, *inputs: Any, **settings: Any) -> Tensor:
    """A ufunc on Tensors: np.add(x, y); of the ufuncs in REDUCTIONS also np.add.reduce(x, axis)."""
    out = settings.pop("out", None)
    if out is not None and not any(isinstance(o, Tensor) for o in out):      # array += tensor
        arrays = [plain(x, False) for x in inputs]
        return getattr(ufunc, method)(*arrays, out=out[0] if len(out) == 1 else out, **settings)
    name = ufunc.__name__
    if method == "reduce" and name in REDUCTIONS and out is None:
        return reduced(name, *inputs, **settings)
    if method != "__call__":
        raise TypeError(f"numpy.{name}.{method} is not supported on Tensors")
    if settings:
        raise TypeError(f"numpy.{name} on Tensors: argument {', '.join(map(repr, settings))} is not supported")
    call = operations.named(UFUNCS.get(name, name), f"numpy.{name}")
    operands = [np.asarray(x) if isinstance(x, (list, tuple)) else x for x in inputs]
    return call(*operands) if out is None else call(*operands, out=out[0])


def reduced(name: str, x: Tensor, axis: Dims = 0, *, keepdims: bool = False, **settings: Any) -> Any:
    """ufunc.reduce(x, axis), for the ufuncs in REDUCTIONS."""
    if settings:
        raise TypeError(f"numpy.{name}.reduce on Tensors: argument {', '.join(map(repr, settings))} is not supported")
    call = operations.named(REDUCTIONS[name], f"numpy.{name}.reduce")
    if name != "multiply":
        return call(x, tuple(range(x.ndim)) if axis is None else axis, keepdims)
    if axis is None and not keepdims:
        return call(x)
    if not isinstance(axis, int):
        raise TypeError(f"numpy.multiply.reduce on Tensors: axis={axis!r} is not supported, only one axis")
    return call(x, axis, keepdims)


def array_function(self: Tensor, function: Callable[..., Any], types: Iterable[type],
                   args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A public function of NumPy that is no ufunc."""
    module = function.__module__.removeprefix("numpy").lstrip(".")
    name = f"{module}.{function.__name__}" if module in ("linalg", "fft") else function.__name__
    if name in FUNCTIONS:
        return FUNCTIONS[name](*args, **kwargs)
    if name in SHAPE_FUNCTIONS or name in VALUE_FUNCTIONS:
        form = name in SHAPE_FUNCTIONS
        return function(*[plain(a, form) for a in args], **{k: plain(v, form) for k, v in kwargs.items()})
    raise TypeError(f"numpy.{name} is not supported on Tensors; use tensor.detach().numpy() for its values")


def plain(value: object, tracked: bool) -> Any:
    """A Tensor's array (of a tracked one only if `tracked`); anything else as it is."""
    if not isinstance(value, Tensor):
        return value
    if value.tracked & modes.recording and not tracked:
        raise RuntimeError(MSG_NUMPY)
    return value.array


METHODS = {"__array_ufunc__": array_ufunc, "__array_function__": array_function}
