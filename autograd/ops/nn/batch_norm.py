"""Batch normalization over all dimensions but the channels: oneDNN's where it has one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...kernels import onednn_norm
from .standardize import BatchNorm


class ChannelNorm(BatchNorm, name="NativeBatchNorm"):
    """BatchNorm that keeps the mean and the variance, two vectors, where oneDNN has computed them."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, bias: Any, *, dims: tuple[int, ...], eps: float, form: tuple[int, ...],
                centre: bool = True, observe: Any = None) -> Any:
        """The result has its channels last, as oneDNN's all have."""
        made = onednn_norm.batch_norm(x, weight, bias, eps)
        if made is None:
            return BatchNorm.forward(ctx, x, weight, bias, dims=dims, eps=eps, form=form, observe=observe)
        out, *kept = made
        ctx.given = dims, eps, form, centre
        ctx.save(x, weight, bias, tuple(kept))
        if observe is not None:
            observe(*kept, x.size // x.shape[1])
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """oneDNN's of arrays; the composed rule of Tensors."""
        x, weight, bias, (mean_of, var) = ctx.values
        _, eps, form, _ = ctx.given
        if isinstance(g, Tensor) or mean_of.ndim != 1:
            return BatchNorm.backward(ctx, g)
        made = onednn_norm.batch_norm_back(g, x, mean_of, var, weight, bias is not None, eps)
        if made is not None:
            return made
        ctx.values = [x, weight, bias, (mean_of.reshape(form), 1 / np.sqrt(var + eps).reshape(form))]
        return BatchNorm.backward(ctx, g)


__all__: list[str] = []
