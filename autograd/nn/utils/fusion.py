"""Batch norms in evaluation, folded into the layers before them."""

from __future__ import annotations

import copy
from typing import Any

from ...base import docstrings as _docstrings
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import ones_like, zeros_like
from ...ops.pointwise.powers import rsqrt

MSG_TRAINING = "Fusion only for eval!"


def fuse_conv_bn_weights(conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
                         bn_w: Tensor | None, bn_b: Tensor | None, transpose: bool = False) -> tuple[Parameter, Parameter]:
    """Weight and bias of the convolution that computes what a convolution and a batch norm in evaluation compute."""
    bias = zeros_like(bn_rm) if conv_b is None else conv_b
    scale = (ones_like(bn_rm) if bn_w is None else bn_w) * rsqrt(bn_rv + bn_eps)
    shape = [1, -1, *[1] * (conv_w.ndim - 2)] if transpose else [-1, *[1] * (conv_w.ndim - 1)]
    shift = zeros_like(bn_rm) if bn_b is None else bn_b
    weight = conv_w * scale.to(conv_w.dtype).reshape(shape)
    bias = ((bias - bn_rm) * scale + shift).to(bias.dtype)
    return Parameter(weight.detach(), conv_w.requires_grad), Parameter(bias.detach(), bias.requires_grad)


def fuse_linear_bn_weights(linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
                           bn_w: Tensor | None, bn_b: Tensor | None) -> tuple[Parameter, Parameter]:
    """Weight and bias of the linear layer that computes what a linear layer and a batch norm in evaluation compute."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of a convolution in evaluation that computes the batch norm after it too."""
    return fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of a linear layer in evaluation that computes the batch norm after it too."""
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return fused(linear, bn, False)


def fused(layer: Any, bn: Any, transpose: bool) -> Any:
    """The copy of a layer with the norm in it."""
    if layer.training or bn.training:
        raise AssertionError(MSG_TRAINING)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("a batch norm without running statistics cannot be folded into a layer")
    made = copy.deepcopy(layer)
    made.weight, made.bias = fuse_conv_bn_weights(layer.weight, layer.bias, bn.running_mean, bn.running_var, bn.eps,
                                                  bn.weight, bn.bias, transpose)
    return made


__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.")
