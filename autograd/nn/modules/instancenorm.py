"""Instance normalisation: batch normalisation of each sample by itself. Ulyanov et al. 2016 (arXiv:1607.08022)."""

from __future__ import annotations

import warnings

from ...base.types import DeviceLike, DTypeLike
from ...core.tensor import Tensor
from .. import functional as F
from .batchnorm import NormBase


class _InstanceNorm(NormBase):
    """(x - mean) / sqrt(variance + eps) * weight + bias, per sample and channel over all positions.

    With track_running_stats=True evaluation uses the running statistics."""

    sample_ndim = 0                                  # dimensions of one sample, its channels among them

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
                 track_running_stats: bool = False, device: DeviceLike = None, dtype: DTypeLike = None, *,
                 bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Tensor) -> None:
        n = self.sample_ndim
        if input.ndim not in (n, n + 1):
            raise ValueError(f"expected {n}D or {n + 1}D input (got {input.ndim}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """input (n, num_features, ...) or (num_features, ...) -> the same shape. ValueError for another number of
        dimensions."""
        self._check_input_dim(input)
        channel = input.ndim - self.sample_ndim
        if input.shape[channel] != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={channel} to match num_features ({self.num_features}), but "
                                 f"got: {input.shape[channel]}.")
            warnings.warn(f"input's size at dim={channel} does not match num_features. You can silence this warning by not "
                          "passing in num_features, which is not used because affine=False", stacklevel=2)
        if channel == 0:
            return self._normalised(input.unsqueeze(0)).squeeze(0)
        return self._normalised(input)

    def _normalised(self, input: Tensor) -> Tensor:
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats,
                               0.0 if self.momentum is None else self.momentum, self.eps)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of (n, c, length) or (c, length)."""

    sample_ndim = 2


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of (n, c, h, w) or (c, h, w)."""

    sample_ndim = 3


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of (n, c, d, h, w) or (c, d, h, w)."""

    sample_ndim = 4


__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]
