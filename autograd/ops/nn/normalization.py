"""Normalizations: batch, instance, layer, group, root mean square, local response; and vectors of length 1.

All but the last two are Standardize: mean 0 and variance 1 over some dimensions, then a weight and a bias."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...base.dtypes import finfo, float32
from ...base.types import Array
from ...core.batching import Level, elementwise, samples
from ...core.graph import shared_counter
from ...core.operation import Operation, sum_to_like
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import group_norm as group_norm_kernel
from ...kernels import layer_norm as layer_norm_kernel
from ...kernels import sums
from ...kernels.halves import array_of, converted
from ...kernels.memory_format import channels_last, in_rows, is_channels_last
from ...kernels.onednn.reorder import like_order
from ..linalg.distances import p_norm
from ..pointwise.cast import cast
from ..pointwise.powers import pow, rsqrt
from ..reductions.reduce import mean
from ..shape import contiguous, pad_constant, reshape, wrap_dim

add_up: Any = np.add.reduce
CACHED = 1 << 16                                     # elements


def _affine(level: Level, out: Any, weight: Any, bias: Any, form: tuple[int, ...], dtype: Any) -> Any:
    """out times each sample's own weight, plus its bias, taken in the shape `form`."""
    form = (level.size, *(1,) * (out.ndim - 1 - len(form)), *form)
    if weight is not None:
        out = out * level.front(weight).reshape(form)
    if bias is not None:
        out = out + level.front(bias).reshape(form)
    return out if out.dtype == dtype else cast(out, dtype)


def _standardized_rule(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """Standardize's rule for batches. oneDNN's kernel knows one dimension of samples, so it is not used."""
    x, weight, bias = args
    given = {**settings, "dims": tuple([d + 1 for d in settings["dims"]])}
    if settings.get("observe") is not None:
        given["observe"] = _observed(level, settings["observe"])
    if call.__self__ is ChannelNorm:
        call = BatchNorm.apply
    if not level.has(weight) and not level.has(bias):
        return call(level.raw(x), weight, bias, **given)
    return _affine(level, call(level.front(x), None, None, **given), weight, bias, settings["form"], x.dtype)


def _groups_rule(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """GroupNorm's rule for batches."""
    x, weight, bias = args
    if settings.get("observe") is not None:
        settings = {**settings, "observe": _observed(level, settings["observe"])}
    if not level.has(weight) and not level.has(bias):
        return samples(1, 2)(level, call, args, settings)
    out = samples(1, 2)(level, call, (level.batch(x), None, None), settings)
    return _affine(level, out, weight, bias, (1, x.shape[1], *[1] * (x.ndim - 2)), x.dtype)


def _observed(level: Level, observe: Any) -> Any:
    """The function that updates running statistics, of all samples. RuntimeError where they are one for all samples."""
    mean, var, *how = observe.args
    if any(running is not None and not level.has(running) for running in (mean, var)):
        raise RuntimeError("Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
                           "updated in place, were not batched. Set track_running_stats=False, use eval(), or map over the "
                           "buffers too")
    return partial(observe.func, level.raw(mean), level.raw(var), *how)


class Standardize(Operation):
    """(x - mean) / sqrt(variance + eps) * weight + bias, mean and variance over `dims`.

    weight and bias are taken in the shape `form`, or left out. centre=False leaves the mean in (root mean square).
    observe(mean, variance) receives the computed statistics."""

    batched = _standardized_rule

    real = True
    mixes = True
    like_first = True

    @staticmethod
    def forward(ctx: Context, x: Array, weight: Array | None, bias: Array | None, *, dims: tuple[int, ...], eps: float,
                form: tuple[int, ...], centre: bool = True, observe: Callable[..., Any] | None = None) -> Array:
        """Saves the mean and 1 / sqrt(variance + eps) for an ordinary backward pass."""
        ctx.given = dims, eps, form, centre
        out, *kept = standardized(x, weight, bias, dims, eps, form, centre, observe)
        ctx.save(x, weight, bias, tuple(kept))       # a tuple: numbers to the graph, freed with the rest
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Any:
        """With h = g * weight and z the standardized x: (h - mean(h) - z mean(h z)) / sqrt(variance + eps)."""
        x, weight, bias, kept = ctx.values
        dims, eps, form, centre = ctx.given
        if not isinstance(g, Tensor):
            return _backward_of_arrays(ctx, g, x, weight, bias, *kept)
        wide = cast(x, np.float32) if x.dtype == np.float16 else x
        centred = wide - mean(wide, dims, keepdim=True) if centre else wide
        scale = rsqrt(mean(centred * centred, dims, keepdim=True) + eps)
        z = centred * scale
        gx = gw = gb = None
        if ctx.needs(0):
            h = g if weight is None else g * reshape(weight, form)
            inner = h - z * mean(h * z, dims, keepdim=True)
            gx = scale * (inner - mean(h, dims, keepdim=True) if centre else inner)
        if ctx.needs(1):
            gw = reshape(sum_to_like(g * z, form, weight.dtype), weight.shape)
        if ctx.needs(2):
            gb = reshape(sum_to_like(g, form, bias.dtype), bias.shape)
        return gx, gw, gb


def standardized(x: Array, weight: Array | None, bias: Array | None, dims: tuple[int, ...], eps: float,
                 form: tuple[int, ...], centre: bool, observe: Callable[..., Any] | None) -> tuple[Any, Any, Any]:
    """The output by NumPy, the mean and 1 / sqrt(variance + eps). Half precision in single.

    The mean is computed twice: rounding has left several units in it (in float32, over thousands of numbers). Where weight
    and bias are few numbers beside x, so are factor and shift, and this rest is taken out with them."""
    out = converted(x, np.float32) if x.dtype == np.float16 else x
    n = max(math.prod([x.shape[d] for d in dims]), 1)
    extra = x.ndim - len(form)
    sizes = [1 if d in dims else size for d, size in enumerate(x.shape)]
    few = 8 * math.prod(sizes[:extra]) * math.prod(map(max, sizes[extra:], form)) <= x.size
    mean_of = rest = None
    if centre:
        mean_of = total(out, None, dims) / n
        out = out - mean_of
        rest = total(out, None, dims) / n
        mean_of = mean_of + rest
        if not few:
            out -= rest
            rest = None
    var = total(out, out, dims) / n
    if rest is not None:
        var = var - rest * rest
    if observe is not None:
        observe(mean_of, var, n)
    scale = 1 / np.sqrt(var + eps)
    factor, shift = scale, None if bias is None else bias.reshape(form)
    if weight is not None and few:
        factor, weight = scale * weight.reshape(form), None
    if rest is not None:
        shift = -rest * factor if shift is None else shift - rest * factor
    out = np.multiply(out, factor, out=out if centre else None)
    if weight is not None:
        out *= weight.reshape(form)
    if shift is not None:
        out += shift
    return in_rows(array_of(out, x.dtype)), mean_of, scale


def total(x: Array, y: Array | None, dims: tuple[int, ...]) -> Array:
    """The sum of x * y (of x, if y is None) over dims, which keep size 1.

    The last dimensions go first, as one: NumPy is quickest there, and needs no memory for the product. Their sums are added
    up in double precision, in which the result is rounded once."""
    lead = x.ndim
    if dims == (lead - 1,):                          # as it mostly is
        return add_up(x, axis=-1, keepdims=True) if y is None else np.vecdot(x, y)[..., None]
    while lead and lead - 1 in dims:
        lead -= 1
    wide = np.float64 if x.dtype == float32 else x.dtype
    if lead == x.ndim:
        terms = x.astype(wide, copy=False) if y is None else np.multiply(x, y, dtype=wide)
        return sums.total(terms, dims, True).astype(x.dtype)
    shape = (*x.shape[:lead], math.prod(x.shape[lead:]))
    part = add_up(x.reshape(shape), axis=-1) if y is None else np.vecdot(x.reshape(shape), y.reshape(shape))
    rest = tuple(d for d in dims if d < lead)
    if rest:
        part = sums.total(part.astype(wide, copy=False), rest, True).astype(x.dtype)
    return np.asarray(part).reshape(*np.shape(part), *[1] * (x.ndim - lead))


def _backward_of_arrays(ctx: Context, g: Any, x: Array, weight: Any, bias: Any, mean_of: Array | None, scale: Array) -> Any:
    """The rule of backward on arrays, in place where possible."""
    dims, _, form, centre = ctx.given
    z = np.multiply(x - mean_of if centre else x, scale)
    gx = gw = gb = None
    if centre and np.shape(scale) == form:           # one weight for each mean: fewer roundings, and the sums serve twice
        parts = total(g, None, dims), total(g, z, dims)
        if ctx.needs(0):
            factor = scale if weight is None else scale * weight.reshape(form)
            share = factor / np.asarray(max(x.size // max(scale.size, 1), 1), g.dtype)
            z *= parts[1] * share
            z += parts[0] * share
            gx = np.subtract(g * factor, z, out=z)
        return (gx, parts[1].reshape(weight.shape) if ctx.needs(1) else None,
                parts[0].reshape(bias.shape) if ctx.needs(2) else None)
    extra = x.ndim - len(form)
    others = (*range(extra), *[d + extra for d, size in enumerate(form) if size == 1])
    if ctx.needs(2):
        gb = total(g, None, others).reshape(bias.shape)
    if ctx.needs(1):
        gw = total(g, z, others).reshape(weight.shape)
    if ctx.needs(0):
        h = g if weight is None else g * weight.reshape(form)
        n = np.asarray(max(x.size // max(scale.size, 1), 1), h.dtype)
        z *= total(h, z, dims) / n
        gx = np.subtract(h, z, out=z)
        if centre:
            gx -= total(h, None, dims) / n
        gx *= scale
    return gx, gw, gb


class BatchNorm(Standardize, name="NativeBatchNorm"):
    """Over all dimensions but the channels."""

    joins: tuple[tuple[int, int], ...] = ((0, 1),) * 3
    joins_zeros = False


class LayerNorm(Standardize, name="NativeLayerNorm"):
    """Over the last dimensions: by a kernel where there is one."""

    joins: Any = ((0, 1, 2),) * 3
    joins_zeros = False

    @staticmethod
    def forward(ctx: Context, x: Array, weight: Array | None, bias: Array | None, *, dims: tuple[int, ...], eps: float,
                form: tuple[int, ...], centre: bool = True, observe: Any = None) -> Array:
        made = layer_norm_kernel.forward(x, weight, bias, form, eps, centre)
        if made is None:
            return Standardize.forward(ctx, x, weight, bias, dims=dims, eps=eps, form=form, centre=centre)
        ctx.given = dims, eps, form, centre
        ctx.save(x, weight, bias, made[1:])
        return made[0]

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        x, weight, _, (means, scales) = ctx.values
        _, _, form, centre = ctx.given
        if not isinstance(g, Tensor) and means is not None:
            made = layer_norm_kernel.backward(g, x, weight, means, scales, form, centre,
                                              (ctx.needs(0), ctx.needs(1), ctx.needs(2)))
            if made is not None:
                return made
        return Standardize.backward(ctx, g)


class GroupNorm(Operation, name="NativeGroupNorm"):
    """Over groups of channels of x (n, c, *plane), sample by sample: by a kernel where there is one."""

    batched = _groups_rule

    joins: Any = ((0, 1), (0, 1), ())
    joins_zeros = False
    real = True
    mixes = True
    like_first = True

    @staticmethod
    def forward(ctx: Context, x: Array, weight: Array | None, bias: Array | None, *, groups: int, eps: float,
                observe: Callable[..., Any] | None = None) -> Array:
        """The kernel's result has its channels last, NumPy's lies as x does."""
        n, c = x.shape[:2]
        form = (1, groups, c // groups, 1)
        ctx.given = (2, 3), eps, form, True
        made = group_norm_kernel.forward(x, weight, bias, groups, eps)
        if made is None:
            grouped = x.reshape(n, *form[1:3], math.prod(x.shape[2:]))
            out, *kept = standardized(grouped, weight, bias, (2, 3), eps, form, True, observe)
            ctx.save(x, weight, bias, tuple(kept))
            return like_order(out.reshape(x.shape), x)
        out, means, variances, scales = made
        if observe is not None:
            observe(means, variances, x.size // means.size)
        ctx.save(x, weight, bias, (means, scales))
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Gradients:
        """Standardize's rule of the groups, or its kernel."""
        x, weight, bias, (means, scales) = ctx.values
        n, groups = x.shape[0], ctx.given[2][1]
        shape = (n, *ctx.given[2][1:3], math.prod(x.shape[2:]))
        if not isinstance(g, Tensor):
            made = group_norm_kernel.backward(g, x, weight, means.reshape(n, groups), scales.reshape(n, groups))
            if made is not None:
                return tuple([v if ctx.needs(k) else None for k, v in enumerate(made)])
        kept = tuple([v.reshape(n, groups, 1, 1) for v in (means, scales)])
        ctx.values = [reshape(x, shape), weight, bias, kept]
        gx, gw, gb = Standardize.backward(ctx, reshape(g, shape))
        return None if gx is None else reshape(gx, x.shape), gw, gb


class InstanceNorm(GroupNorm, name="NativeBatchNorm"):
    """Over each channel by itself."""

    joins: tuple[tuple[int, ...], ...] | None = ((0, 1),) * 3


class RmsNorm(LayerNorm, name="FusedRmsNorm"):
    """Over the last dimensions, the mean left in."""

    joins = None


class ChannelNorm(BatchNorm, name="NativeBatchNorm"):
    """BatchNorm that keeps the mean and 1 / sqrt(variance + eps), two vectors, where a kernel has computed them."""

    @staticmethod
    def forward(ctx: Context, x: Array, weight: Array | None, bias: Array | None, *, dims: tuple[int, ...], eps: float,
                form: tuple[int, ...], centre: bool = True, observe: Callable[..., Any] | None = None) -> Array:
        made = group_norm_kernel.forward(x, weight, bias, group_norm_kernel.BATCH, eps)
        if made is None:
            return like_order(BatchNorm.forward(ctx, x, weight, bias, dims=dims, eps=eps, form=form, observe=observe), x)
        out, mean_of, var, scale = made
        ctx.given = dims, eps, form, centre
        ctx.save(x, weight, bias, (mean_of, scale))
        if observe is not None:
            observe(mean_of, var, x.size // x.shape[1])
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The kernel's of arrays; the composed rule of Tensors."""
        x, weight, bias, (mean_of, scale) = ctx.values
        if not isinstance(g, Tensor) and mean_of.ndim == 1:
            made = group_norm_kernel.backward(g, x, weight, mean_of, scale)
            if made is not None:
                return tuple([v if ctx.needs(k) else None for k, v in enumerate(made)])
        form = ctx.given[2]
        ctx.values = [x, weight, bias, (mean_of.reshape(form), scale.reshape(form))]
        return BatchNorm.backward(ctx, g)


def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
               bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Each channel (dimension 1) standardized, times weight, plus bias."""
    _check_floating("batch_norm", input)
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

    given = input.array.size and (running_mean is not None or running_var is not None)     # an empty batch says nothing
    return ChannelNorm.apply(input, weight, bias, dims=(0, *range(2, input.ndim)), eps=eps, form=form,
                             observe=partial(_observe, running_mean, running_var, momentum) if given else None)


def _observe(running_mean: Tensor | None, running_var: Tensor | None, momentum: float, mean: Array, var: Array,
             n: int) -> None:
    """Move running statistics of channels towards those of a batch, or towards the mean of those of its samples. Inside
    vmap() running statistics have a dimension of samples in front."""
    update_running(running_mean, mean, momentum)
    update_running(running_var, var, momentum, n / max(n - 1, 1))


def update_running(running: Tensor | None, now: Array, momentum: float, times: float = 1.0) -> None:
    """running <- (1 - momentum) running + momentum times now, in place."""
    if running is None:
        return
    shape = running.array.shape
    now = now.reshape(shape) if now.size == running.array.size else now.reshape(*shape[:-1], -1, shape[-1]).mean(-2)
    running.array[...] = (1 - momentum) * running.array + (momentum * times) * now
    shared_counter(running).value += 1


class RunningNorm(Operation, name="NativeBatchNorm"):
    """(x - mean) * scale + bias, by statistics from before.

    The mean is subtracted first: of x * scale + (bias - mean * scale), a mean of 300 takes 7 bits."""

    batched = elementwise

    joins: Any = ((0,), (), (), ())
    mixes = True

    @staticmethod
    def forward(ctx: Context, x: Array, mean_of: Array, scale: Array, bias: Array | None) -> Array:
        """Some samples at a time, which the processor's cache holds for the second and third step."""
        ctx.save(x, mean_of, scale)
        alike = all(v is None or (v.ndim == x.ndim and len(v) == 1) for v in (mean_of, scale, bias))      # not inside vmap()
        if alike and (out := group_norm_kernel.by_running(x, mean_of, scale, bias)) is not None:
            return out
        whole = x.shape[0] if alike else 1
        step = max(1, CACHED * whole // max(x.size, 1)) if whole > 1 else 1
        if step >= whole:
            out = (x - mean_of) * scale
            return out if bias is None else out + bias
        out = np.empty_like(x, np.result_type(x, mean_of, scale))
        for start in range(0, whole, step):
            part = np.subtract(x[start:start + step], mean_of, out=out[start:start + step])
            part *= scale
            if bias is not None:
                part += bias
        return out

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        x, mean_of, scale = ctx.values
        h: Any = None
        if ctx.needs(0) or ctx.needs(1):
            h = group_norm_kernel.by_running(g, np.zeros_like(scale), scale, None) if isinstance(g, np.ndarray) else None
            h = g * scale if h is None else h
        of_scale: Any
        of_bias: Any = g
        sums_of = None
        if ctx.needs(2) and isinstance(g, np.ndarray) and scale.shape == mean_of.shape:
            sums_of = group_norm_kernel.sums_by_running(g, x, mean_of)
        if not ctx.needs(2):
            of_scale = None
        elif sums_of is not None:
            of_bias, of_scale = sums_of.astype(float32).reshape(2, *scale.shape)
        elif isinstance(g, np.ndarray) and g.dtype == float32 and g.ndim == scale.ndim:
            dims = tuple([d for d, size in enumerate(scale.shape) if size == 1])         # thousands of terms for each number
            product = np.multiply(g, x - mean_of, dtype=np.float64)
            of_scale = sums.total(product, dims, True).astype(float32)
        else:
            of_scale = g * (x - mean_of)
        return h, -h if ctx.needs(1) else None, of_scale, of_bias


def _by_running(input: Tensor, running_mean: Tensor, running_var: Tensor, weight: Tensor | None, bias: Tensor | None,
                eps: float, form: tuple[int, ...]) -> Tensor:
    """batch_norm by statistics from before."""
    scale = rsqrt(running_var + eps)
    scale = scale if weight is None else scale * weight
    laid = input if is_channels_last(input.array) or channels_last(input.array) else contiguous(input)
    shift = None if bias is None else reshape(bias, form)
    out = RunningNorm.apply(laid, reshape(running_mean, form), reshape(scale, form), shift)
    return cast(out, input.dtype) if input.dtype.itemsize == 2 else out          # with float32 statistics, as PyTorch


def _check_floating(name: str, input: Tensor) -> None:
    if input.array.dtype.kind not in "fcV":
        raise NotImplementedError(f'"{name}" not implemented for {input.dtype}; cast the input to floating point first')


def _check_channels(channels: int, **vectors: Any) -> None:
    for name, vector in vectors.items():
        if vector is not None and vector.array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {vector.array.size}")


def _check_more_than_one(shape: Sequence[int], count: int) -> None:
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(shape)}")


def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
                  weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Each channel of each sample standardized by itself; use_input_stats=False: by the running statistics."""
    _check_floating("instance_norm", input)
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

    given = running_mean is not None or running_var is not None
    return InstanceNorm.apply(input, weight, bias, groups=channels, eps=eps,
                              observe=partial(_observe, running_mean, running_var, momentum) if given else None)


def _trailing(name: str, input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None,
              bias: Tensor | None) -> dict[str, Any]:
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
    _check_floating(name, input)
    return {"dims": tuple(range(len(have) - len(shape), len(have))), "form": shape}


def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-05) -> Tensor:
    """The last dimensions, of `normalized_shape`, standardized together; times weight, plus bias."""
    settings = _trailing("layer_norm", input, normalized_shape, weight, bias)
    return LayerNorm.apply(input, weight, bias, eps=eps, **settings)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:
    """The last dimensions over the square root of their mean square; times weight. eps: the dtype's own if None.

    Of complex numbers the square is z * z, as PyTorch's: the result is holomorphic in input and not of length 1."""
    settings = _trailing("rms_norm", input, normalized_shape, weight, None)
    eps = finfo(input.dtype if input.dtype.itemsize > 2 else float32).eps if eps is None else eps
    if input.dtype.kind == "c" or (weight is not None and weight.dtype.kind == "c"):
        out = input * rsqrt(mean(input * input, settings["dims"], True) + eps)
        return out if weight is None else out * weight
    return RmsNorm.apply(input, weight, None, eps=eps, centre=False, **settings)


def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-05) -> Tensor:
    """The channels (dimension 1) in `num_groups` groups, each standardized with all its positions, sample by sample."""
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    _check_floating("group_norm", input)
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


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
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
def normalize(input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12) -> Tensor:
    """input / max(norm along dim, eps)."""
    if isinstance(dim, int):
        wrap_dim(dim, input.ndim)
    length = p_norm(input, p, dim, True)
    return input / length.clamp(min=eps)

__all__ = ["rms_norm"]
