"""Several distributions as one, of vectors."""

from __future__ import annotations

import math
from typing import Any

from .distribution import Distribution


class Independent(Distribution):
    """The last dimensions of a distribution's batch_shape taken for one draw: log_prob and entropy sum over them."""

    def __init__(self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                             f"{reinterpreted_batch_ndims} vs {len(batch)}")
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        cut = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:cut], batch[cut:] + base_distribution.event_shape, validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """As the base's."""
        return bool(self.base_dist.has_rsample)

    @property
    def support(self) -> Any:  # type: ignore[override]
        """The base's, which judges each number."""
        return self.base_dist.support

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for each place of a larger batch_shape."""
        inner = self._event_shape[:self.reinterpreted_batch_ndims]
        return self._expanded(batch_shape, _instance, base_dist=self.base_dist.expand((*batch_shape, *inner)),
                              reinterpreted_batch_ndims=self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Any:
        """As the base's."""
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """As the base's."""
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """As the base's."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        """As the base's."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """As the base's."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """The sum of the base's."""
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        """The sum of the base's."""
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        """The base's, where no dimension was taken."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


def summed(value: Any, dims: int) -> Any:
    """The sum over the last `dims` dimensions."""
    kept = value.ndim - dims
    return value.reshape(*value.shape[:kept], math.prod(value.shape[kept:])).sum(-1) if dims else value
