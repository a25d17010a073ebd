"""Initial values of parameters, written in place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..graph import shared_counter
from ..random import Generator, default_generator
from ..tensor import Tensor


def _fill(tensor: Tensor, values: Any) -> Tensor:
    np.copyto(tensor.array, values, casting="same_kind")
    shared_counter(tensor).value += 1
    return tensor


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform on [a, b)."""
    return _fill(tensor, (generator or default_generator()).numpy.uniform(a, b, tensor.shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal."""
    return _fill(tensor, (generator or default_generator()).numpy.normal(mean, std, tensor.shape))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One number everywhere."""
    return _fill(tensor, val)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return _fill(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return _fill(tensor, 1.0)


def fans(tensor: Tensor) -> tuple[int, int]:
    """Inputs and outputs of one unit of a weight (out, in, ...)."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much a nonlinearity shrinks the standard deviation, to make up for it."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    gains = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                     generator: Generator | None = None) -> Tensor:
    """Uniform with variance gain^2 / fan. He et al. 2015 (arXiv:1502.01852)."""
    if 0 in tensor.shape:
        return tensor
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = fans(tensor)[mode == "fan_out"]
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(fan)
    return uniform_(tensor, -bound, bound, generator)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform with variance 2 gain^2 / (fan in + fan out). Glorot & Bengio 2010."""
    bound = gain * math.sqrt(6.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)
