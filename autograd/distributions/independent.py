"""Independent: treat batch dimensions as dimensions of one event."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..core.tensor import Tensor
from .constraints import Constraint
from .distribution import Distribution


class Independent(Distribution):
    """Turn the last dimensions of a distribution's batch_shape into event dimensions: log_prob and entropy sum over them."""

    def __init__(self, base_distribution: Distribution, reinterpreted_batch_ndims: int,
                 validate_args: bool | None = None) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                             f"{reinterpreted_batch_ndims} vs {len(batch)}")
        self.base_dist: Distribution = base_distribution
        self.reinterpreted_batch_ndims: int = reinterpreted_batch_ndims
        cut = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:cut], batch[cut:] + base_distribution.event_shape, validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the base distribution has reparameterized samples."""
        return bool(self.base_dist.has_rsample)

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """The support of the base distribution, which is checked element by element."""
        return self.base_dist.support

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        """The same distribution with the base expanded to a larger batch_shape."""
        inner = self._event_shape[:self.reinterpreted_batch_ndims]
        return self._expanded(batch_shape, _instance, base_dist=self.base_dist.expand((*batch_shape, *inner)),
                              reinterpreted_batch_ndims=self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Tensor:
        """The mean of the base distribution."""
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        """The mode of the base distribution."""
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        """The variance of the base distribution."""
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """A sample of the base distribution, without a gradient."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """A reparameterized sample of the base distribution."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The base's log_prob, summed over the reinterpreted dimensions."""
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """The base's entropy, summed over the reinterpreted dimensions."""
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """The base's support. NotImplementedError if any dimension is reinterpreted."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


def summed(value: Tensor, dims: int) -> Tensor:
    """value summed over its last `dims` dimensions."""
    kept = value.ndim - dims
    return value.reshape(*value.shape[:kept], math.prod(value.shape[kept:])).sum(-1) if dims else value
