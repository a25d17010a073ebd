"""Initialization of parameters, in place; every function returns its tensor."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import docstrings as _docstrings
from ..base.types import Array
from ..core.graph import shared_counter
from ..core.tensor import Tensor
from ..kernels.error_functions import ndtr, ndtri
from ..kernels.halves import add, copy_into, multiply
from ..modes.random import Generator, drawing
from ..ops.creation.arguments import storable
from ..ops.random.draw import normal_numbers, uniform_numbers

LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")


def _fill(tensor: Tensor, values: Array) -> Tensor:
    copy_into(tensor.array, values)
    shared_counter(tensor).value += 1
    return tensor


def _normal(tensor: Tensor, mean: float, std: float, generator: Generator | None) -> Array:
    """Normal numbers of the tensor's shape and dtype."""
    if std < 0:
        raise RuntimeError(f"normal_ expects std >= 0.0, but found std {std}")
    drawn = normal_numbers(drawing(generator), tensor.array.shape, tensor.dtype)
    drawn = multiply(drawn, np.asarray(std, tensor.dtype))
    return add(drawn, np.asarray(mean, tensor.dtype)) if mean else drawn


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill the tensor with values from U(a, b)."""
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={b}")
    drawn = uniform_numbers(drawing(generator), tensor.array.shape, tensor.dtype)
    return _fill(tensor, add(multiply(drawn, np.asarray(b - a, tensor.dtype)), np.asarray(a, tensor.dtype)))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill the tensor with values from N(mean, std^2)."""
    return _fill(tensor, _normal(tensor, mean, std, generator))


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
                  generator: Generator | None = None) -> Tensor:
    """Fill the tensor with values from N(mean, std^2) truncated to [a, b]."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
                      "incorrect.", stacklevel=2)
    low, high = (float(ndtr((limit - mean) / std)) for limit in (a, b))
    if high - low < 0.25:                            # few draws would fall inside: invert the distribution function
        mirrored = low > 0.5                         # where the tail is small and has all its digits
        if mirrored:
            low, high = (float(ndtr((mean - limit) / std)) for limit in (b, a))
        z = ndtri(drawing(generator).uniform(low, high, tensor.array.shape))
        return _fill(tensor, np.clip(mean + std * (-z if mirrored else z), a, b))
    drawn = _normal(tensor, mean, std, generator)
    while (outside := (drawn < a) | (drawn > b)).any():
        again = drawing(generator).standard_normal(int(outside.sum()))
        drawn[outside] = again * std + mean
    return _fill(tensor, drawn)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill the tensor with a constant."""
    return _fill(tensor, np.asarray(storable(val, tensor.dtype)).astype(tensor.dtype))


def ones_(tensor: Tensor) -> Tensor:
    """Fill the tensor with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill the tensor with zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _fill(tensor, np.eye(*tensor.shape, dtype=tensor.dtype))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it preserves as many channels per group as possible."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    zeros_(tensor)
    of_group = tensor.shape[0] // groups
    channels = np.arange(min(of_group, tensor.shape[1]))
    middle = tuple(size // 2 for size in tensor.shape[2:])
    for g in range(groups):
        places = (g * of_group + channels, channels, *middle)
        tensor.array[places] = 1
    return tensor


# --- by the number of inputs and outputs ------------------------------------------------------------------------------

def fans(tensor: Tensor) -> tuple[int, int]:
    """Number of inputs and outputs of a unit of a weight (out, in, ...)."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Recommended gain of a nonlinearity, which compensates for the standard deviation that it removes."""
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    gains = {**dict.fromkeys(LINEAR, 1), "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def _fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return fans(tensor)[mode == "fan_out"]


def _empty(tensor: Tensor) -> bool:
    """Whether there is nothing to fill, with a warning: a unit without inputs is rarely intended."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return 0 in tensor.shape


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill the tensor uniformly with variance 2 gain^2 / (fan_in + fan_out). Glorot & Bengio 2010."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill the tensor normally with variance 2 gain^2 / (fan_in + fan_out). Glorot & Bengio 2010."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(fans(tensor))), generator)


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                     generator: Generator | None = None) -> Tensor:
    """Fill the tensor uniformly with variance gain^2 / fan. He et al. 2015 (arXiv:1502.01852)."""
    if _empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                    generator: Generator | None = None) -> Tensor:
    """Fill the tensor normally with variance gain^2 / fan. He et al. 2015 (arXiv:1502.01852)."""
    if _empty(tensor):
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


# --- matrices -----------------------------------------------------------------------------------------------------------

def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill the tensor with a (semi-)orthogonal matrix (dimension 0, all others). Saxe et al. 2013 (arXiv:1312.6120)."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    drawn = normal_numbers(drawing(generator), (max(rows, columns), min(rows, columns)), tensor.dtype)
    q, r = np.linalg.qr(drawn.astype(np.result_type(drawn, np.float32)))
    diagonal = np.diagonal(r)
    q = q * (diagonal / np.abs(diagonal))
    return _fill(tensor, gain * (q.T if rows < columns else q).reshape(tensor.shape))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fill a matrix normally, and zero a random fraction of each column, rounded up. Martens 2010."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    normal_(tensor, 0.0, std, generator)
    order = drawing(generator).random((rows, columns)).argsort(axis=0)[:math.ceil(sparsity * rows)]
    tensor.array[order, np.arange(columns)] = 0
    return tensor


# --- older names ----------------------------------------------------------------------------------------------------------

_calculate_fan_in_and_fan_out, _calculate_correct_fan = fans, _fan      # private in PyTorch, but model code calls them
_no_grad_uniform_, _no_grad_normal_ = uniform_, normal_


def _older(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    new = function.__name__

    def fill(*args: Any, **kwargs: Any) -> Tensor:
        """The function with an underscore at the end, with a warning."""
        warnings.warn(f"`nn.init.{new[:-1]}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    fill.__name__ = new[:-1]
    fill.__doc__ = f"The older name of {new}, with a FutureWarning. {function.__doc__}"
    return fill


dirac: Callable[..., Tensor]
eye: Callable[..., Tensor]
constant: Callable[..., Tensor]
normal: Callable[..., Tensor]
uniform: Callable[..., Tensor]
uniform, normal, constant, eye, dirac = (_older(f) for f in (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform: Callable[..., Tensor] = _older(xavier_uniform_)
xavier_normal: Callable[..., Tensor] = _older(xavier_normal_)
kaiming_uniform: Callable[..., Tensor] = _older(kaiming_uniform_)
kaiming_normal: Callable[..., Tensor] = _older(kaiming_normal_)
orthogonal: Callable[..., Tensor] = _older(orthogonal_)
sparse: Callable[..., Tensor] = _older(sparse_)

_docstrings.complete(globals(), "nn_utils", "nn.init.")
