"""Normalizations: batch, instance, layer, group, root mean square, local response; and vectors of length 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...base.dtypes import finfo, float32
from ...core.graph import shared_counter
from ...kernels.order import channels_last
from .._out import takes_out
from ..linalg.distance import p_norm
from ..pointwise.arithmetic import weighted
from ..pointwise.cast import cast
from ..pointwise.powers import pow, rsqrt
from ..reductions.reduce import mean
from ..shape import contiguous, pad_constant, reshape, wrap_dim
from .batch_norm import ChannelNorm
from .standardize import GroupNorm, InstanceNorm, LayerNorm, RmsNorm


def batch_norm(input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
               training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Any:
    """Each channel (dimension 1) standardized, times weight, plus bias.

    training: by the batch's own mean and variance, and the running ones (if any) move towards these by `momentum`, in
    place. Otherwise by the running ones.
    """
    channels = input.shape[1] if input.ndim > 1 else 0
    _check_channels(channels, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    if input.ndim < 2:
        if input.array.size:
            raise RuntimeError(f"batch_norm: expected an input of 2 or more dimensions (n, channels, ...), got "
                               f"{list(input.shape)}")
        return input * 1.0
    form = (1, channels, *[1] * (input.ndim - 2))
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
        return _by_running(input, running_mean, running_var, weight, bias, eps, form)
    _check_more_than_one(input.shape, input.shape[0] * math.prod(input.shape[2:]))

    def observe(mean: Any, var: Any, n: int) -> None:
        update_running(running_mean, mean.reshape(-1), momentum)
        update_running(running_var, var.reshape(-1), momentum, n / max(n - 1, 1))

    given = input.array.size and (running_mean is not None or running_var is not None)     # an empty batch says nothing
    return ChannelNorm.apply(input, weight, bias, dims=(0, *range(2, input.ndim)), eps=eps, form=form,
                             observe=observe if given else None)


def update_running(running: Any, now: Any, momentum: float, times: float = 1.0) -> None:
    """running <- (1 - momentum) running + momentum times now, in place."""
    if running is None:
        return
    running.array[...] = (1 - momentum) * running.array + (momentum * times) * now
    shared_counter(running).value += 1


def _by_running(input: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, eps: float,
                form: tuple[int, ...]) -> Any:
    """batch_norm by statistics from before."""
    scale = rsqrt(running_var + eps)
    scale = scale if weight is None else scale * weight
    shift = -running_mean * scale
    shift = shift if bias is None else shift + bias
    laid = input if channels_last(input.array) else contiguous(input)
    out = weighted(laid, reshape(scale, form)) + reshape(shift, form)
    return cast(out, input.dtype) if input.dtype.itemsize == 2 else out          # with float32 statistics, as PyTorch


def _check_channels(channels: int, **vectors: Any) -> None:
    for name, vector in vectors.items():
        if vector is not None and vector.array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {vector.array.size}")


def _check_more_than_one(shape: Sequence[int], count: int) -> None:
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(shape)}")


def instance_norm(input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
                  use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-05) -> Any:
    """Each channel of each sample standardized by itself; use_input_stats=False: by the running statistics."""
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if input.ndim < 3:
        raise ValueError(f"instance_norm: expected (n, channels, ...) of 3 or more dimensions, got {list(input.shape)}")
    channels = input.shape[1]
    if math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {list(input.shape)}")
    _check_channels(channels, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    if not input.array.size:
        return batch_norm(input, None, None, weight, bias, True, momentum, eps)

    def observe(mean: Any, var: Any, n: int) -> None:
        update_running(running_mean, mean.reshape(input.shape[0], -1).mean(0), momentum)
        update_running(running_var, var.reshape(input.shape[0], -1).mean(0), momentum, n / max(n - 1, 1))

    given = running_mean is not None or running_var is not None
    return InstanceNorm.apply(input, weight, bias, groups=channels, eps=eps, observe=observe if given else None)


def _trailing(name: str, input: Any, normalized_shape: Sequence[int], weight: Any, bias: Any) -> dict[str, Any]:
    """The settings of a normalization over the last dimensions, checked."""
    if not isinstance(normalized_shape, (tuple, list)):
        raise TypeError(f"{name}(): argument 'normalized_shape' must be a tuple of ints, not "
                        f"{type(normalized_shape).__name__}")
    shape, have = tuple(normalized_shape), input.array.shape
    if not shape:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
                           "but got normalized_shape = []")
    if have[-len(shape):] != shape:
        raise RuntimeError(f"Given normalized_shape={list(shape)}, expected input with shape "
                           f"[*, {', '.join(map(str, shape))}], but got input of size {list(input.shape)}")
    for what, vector in (("weight", weight), ("bias", bias)):
        if vector is not None and vector.array.shape != shape:
            raise RuntimeError(f"Expected {what} to be of same shape as normalized_shape, but got {what} of shape "
                               f"{list(vector.shape)} and normalized_shape = {list(shape)}")
    if input.dtype.kind not in "fcV":
        raise NotImplementedError(f'"{name}" not implemented for {input.dtype}; cast the input to floating point first')
    return {"dims": tuple(range(len(have) - len(shape), len(have))), "form": shape}


def layer_norm(input: Any, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-05) -> Any:
    """The last dimensions, of `normalized_shape`, standardized together; times weight, plus bias."""
    settings = _trailing("layer_norm", input, normalized_shape, weight, bias)
    return LayerNorm.apply(input, weight, bias, eps=eps, **settings)


def rms_norm(input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None) -> Any:
    """The last dimensions over the square root of their mean square; times weight. eps: the dtype's own if None.

    Of complex numbers the square is z * z, as PyTorch's: the result is holomorphic in input and not of length 1.
    """
    settings = _trailing("rms_norm", input, normalized_shape, weight, None)
    eps = finfo(input.dtype if input.dtype.itemsize > 2 else float32).eps if eps is None else eps
    if input.dtype.kind == "c" or (weight is not None and weight.dtype.kind == "c"):
        out = input * rsqrt(mean(input * input, settings["dims"], True) + eps)
        return out if weight is None else out * weight
    return RmsNorm.apply(input, weight, None, eps=eps, centre=False, **settings)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-05) -> Any:
    """The channels (dimension 1) in `num_groups` groups, each standardized with all its positions, sample by sample."""
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    shape = input.shape
    n, channels = shape[:2]
    if num_groups <= 0 or channels % num_groups:
        raise RuntimeError(f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
                           f"{list(shape)} and num_groups={num_groups}")
    size = channels // num_groups
    _check_more_than_one(shape, n * size * math.prod(shape[2:]))
    for name, vector in (("weight", weight), ("bias", bias)):
        if vector is not None and vector.shape != (channels,):
            raise RuntimeError(f"Expected {name} to be a vector of size equal to the number of channels in input, but got "
                               f"{name} of shape {list(vector.shape)} and input of shape {list(shape)}")
    return GroupNorm.apply(input, weight, bias, groups=num_groups, eps=eps)


def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """input / (k + alpha * mean of the squares of `size` neighbouring channels) ** beta."""
    if input.ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)")
    if input.array.size == 0:
        return input
    before = size // 2
    square = input * input
    around = pad_constant(square, ((0, 0), (before, (size - 1) // 2), *[(0, 0)] * (input.ndim - 2)))
    total = around[:, :input.shape[1]]
    for start in range(1, size):
        total = total + around[:, start:start + input.shape[1]]
    if input.dtype.kind in "iu":                     # PyTorch's mean of integers is one
        return input / pow(total // size * alpha + k, beta)
    return input / pow(total * (alpha / size) + k, beta)


@takes_out
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """input / max(norm along dim, eps)."""
    if isinstance(dim, int):
        wrap_dim(dim, input.ndim)
    length = p_norm(input, p, dim, True)
    return input / length.clamp(min=eps)


__all__ = ["rms_norm"]
METHODS: list[str] = []
