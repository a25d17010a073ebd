"""NumPy's functions on Tensors: np.exp(t), np.add(array, t), np.concatenate([t, u]) are recorded as ours are.

A function with a counterpart in autograd calls that, with NumPy's arguments under PyTorch's names, and returns Tensors;
arguments that the counterpart does not have are a TypeError that names them. So are the ufuncs of scipy.special. All other
functions compute on the values, and are refused where a gradient would be lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..base.types import Dims
from ..core.modes import modes
from ..core.tensor import MSG_NUMPY, Tensor, result
from ..ops.linalg.sparse_products import is_sparse
from . import numpy_linalg
from .numpy_functions import FUNCTIONS, of_one_dtype, operations
from .numpy_functions import UFUNCS as OWN

# NumPy's ufuncs whose counterpart has another name; all others are looked up by their own.
UFUNCS = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj", "degrees": "rad2deg", "divide": "div", "equal": "eq",
    "fabs": "abs", "greater": "gt", "greater_equal": "ge", "invert": "bitwise_not", "left_shift": "bitwise_left_shift",
    "less": "lt", "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne", "power": "pow",
    "radians": "deg2rad", "right_shift": "bitwise_right_shift", "rint": "round", "subtract": "sub",
    "vecdot": "linalg.vecdot",
}
REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all",
              "logical_or": "any"}

ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
PRODUCTS = {"matmul", "matvec", "vecdot", "vecmat"}
COMPARISONS = {"equal", "greater", "greater_equal", "less", "less_equal", "not_equal"}
# what Python has an operator for: of two dtypes PyTorch's, whichever side of the operator the Tensor is on
OPERATORS = {*COMPARISONS, "absolute", "add", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "divmod", "floor_divide",
             "invert", "left_shift", "multiply", "negative", "positive", "power", "remainder", "right_shift", "subtract"}

# scipy.special's, where autograd.special has another name
SPECIAL = {"j0": "bessel_j0", "j1": "bessel_j1", "k0": "modified_bessel_k0", "k0e": "scaled_modified_bessel_k0",
           "k1": "modified_bessel_k1", "k1e": "scaled_modified_bessel_k1", "y0": "bessel_y0", "y1": "bessel_y1"}

# Functions that return what NumPy returns: they read only shape and dtype; all others values (refused where a tensor is
# tracked). What would write into a Tensor behind its version counter is refused.
SHAPE_FUNCTIONS = {"can_cast", "iscomplexobj", "isrealobj", "may_share_memory", "ndim", "result_type", "shape",
                   "shares_memory", "size"}
WRITING = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
LINALG = {f"linalg.{name}": function for name, function in numpy_linalg.FUNCTIONS.items()}


def array_ufunc(self: Tensor, ufunc: Callable[..., Any], method: str, *inputs: Any, **settings: Any) -> Any:
    """A ufunc on Tensors: np.add(x, y), np.add.outer(x, y); of some also np.add.reduce(x, axis), np.add.accumulate(x)."""
    out = settings.pop("out", None)
    if out is not None and not any(isinstance(o, Tensor) for o in out):      # array += tensor
        arrays = [plain(x, False) for x in inputs]
        return getattr(ufunc, method)(*arrays, out=out[0] if len(out) == 1 else out, **settings)
    name = ufunc.__name__
    if method == "reduce" and name in REDUCTIONS and out is None:
        return reduced(name, *inputs, **settings)
    if method == "accumulate" and name in ACCUMULATIONS and out is None:
        return accumulated(name, *inputs, **settings)
    if method == "outer" and len(inputs) == 2 and out is None:
        a, b = (x if isinstance(x, Tensor) else result(np.asarray(x)) for x in inputs)
        return array_ufunc(self, ufunc, "__call__", a.reshape(a.shape + (1,) * b.ndim), b, **settings)
    if method != "__call__":
        raise TypeError(f"numpy.{name}.{method} is not supported on Tensors")
    call = counterpart(ufunc)
    if call is None:
        if out is not None:
            raise TypeError(f"{name} on Tensors: argument 'out' is not supported")
        values = ufunc(*[plain(x, False) for x in inputs], **settings)
        return tuple(map(result, map(np.asarray, values))) if isinstance(values, tuple) else result(np.asarray(values))
    if settings:
        raise TypeError(f"numpy.{name} on Tensors: argument {', '.join(map(repr, settings))} is not supported")
    operands = [np.asarray(x) if isinstance(x, (list, tuple)) else x for x in inputs]
    if name in PRODUCTS:
        operands = operands if any(map(is_sparse, operands)) else of_one_dtype(*operands)
    elif name in COMPARISONS:
        operands[0] = np.asarray(operands[0]) if isinstance(operands[0], (bool, int, float, complex)) else operands[0]
    elif name not in OPERATORS:
        operands = of_numpys_dtypes(ufunc, operands)
    return call(*operands) if out is None else call(*operands, out=out[0])


def of_numpys_dtypes(ufunc: Any, operands: list[Any]) -> list[Any]:
    """The operands as Tensors of the dtypes in which NumPy computes: float64 for whole numbers in np.sqrt, say."""
    if all(isinstance(x, Tensor) and x.dtype.kind not in "iub" for x in operands) and len({x.dtype for x in operands}) == 1:
        return operands
    kinds = [np.dtype(x.dtype) if hasattr(x, "dtype") else np.dtype(bool) if isinstance(x, bool) else type(x)
             for x in operands]
    try:
        dtypes = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))
    except TypeError:                                # bfloat16, say: of the Tensors' dtype
        dtypes = [next(x.dtype for x in operands if isinstance(x, Tensor))] * len(operands)
    return [x.to(dtype) if isinstance(x, Tensor) else result(np.asarray(x, dtype))
            for x, dtype in zip(operands, dtypes, strict=False)]     # dtypes: the results', too


def counterpart(ufunc: Any) -> Callable[..., Any] | None:
    """autograd's function for a ufunc of NumPy or of scipy.special; None if there is none."""
    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        return OWN.get(name) or operations.find(UFUNCS.get(name, name))
    if getattr(sys.modules.get("scipy.special"), name, None) is ufunc:
        return operations.find(f"special.{SPECIAL.get(name, name)}")
    return None


def reduced(name: str, x: Tensor, axis: Dims = 0, *, keepdims: bool = False, **settings: Any) -> Any:
    """ufunc.reduce(x, axis), for the ufuncs in REDUCTIONS."""
    if settings:
        raise TypeError(f"numpy.{name}.reduce on Tensors: argument {', '.join(map(repr, settings))} is not supported")
    call = operations.named(REDUCTIONS[name], f"numpy.{name}.reduce")
    if name != "multiply":
        return call(x, tuple(range(x.ndim)) if axis is None else axis, keepdims)
    return FUNCTIONS["prod"](x, axis, keepdims=keepdims)


def accumulated(name: str, x: Tensor, axis: int = 0, **settings: Any) -> Any:
    """ufunc.accumulate(x, axis), for the ufuncs in ACCUMULATIONS."""
    if settings:
        raise TypeError(f"numpy.{name}.accumulate on Tensors: argument {', '.join(map(repr, settings))} is not supported")
    found = operations.named(ACCUMULATIONS[name], f"numpy.{name}.accumulate")(x, axis)
    return found[0] if isinstance(found, tuple) else found


def array_function(self: Tensor, function: Callable[..., Any], types: Iterable[type],
                   args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A public function of NumPy that is no ufunc."""
    module = function.__module__.removeprefix("numpy").lstrip(".")
    name = f"{module}.{function.__name__}" if module in ("linalg", "fft") else function.__name__
    known = FUNCTIONS.get(name) or LINALG.get(name)
    if known is not None:
        return known(*args, **kwargs)
    if (name in WRITING and isinstance(args[0], Tensor)) or isinstance(kwargs.get("out"), Tensor):
        raise TypeError(f"numpy.{name} into a Tensor is not supported; use the tensor's own methods")
    form = name in SHAPE_FUNCTIONS
    return function(*plain(args, form), **plain(kwargs, form))


def plain(value: Any, tracked: bool) -> Any:
    """An argument with the arrays of its Tensors (of tracked ones only if `tracked`)."""
    if isinstance(value, (list, tuple)):
        values = [plain(x, tracked) for x in value]
        return type(value)(*values) if hasattr(value, "_fields") else type(value)(values)
    if isinstance(value, dict):
        return {name: plain(x, tracked) for name, x in value.items()}
    if not isinstance(value, Tensor):
        return value
    if value.tracked & modes.recording and not tracked:
        raise RuntimeError(MSG_NUMPY)
    return value.array


METHODS: dict[str, Any] = {"__array_ufunc__": array_ufunc, "__array_function__": array_function}
