"""The normal distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.tensor import Tensor
from ..ops.random.draw import randn
from ..ops.special.functions import ndtr, ndtri
from . import constraints
from .distribution import Distribution, broadcast_all

if TYPE_CHECKING:
    from .constraints import Constraint


class Normal(Distribution):
    """The normal distribution with mean `loc` and standard deviation `scale`, which broadcast."""

    has_rsample = True
    arg_constraints: dict[str, Constraint] = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.real
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        return self._expanded(batch_shape, _instance, loc=self.loc.expand(batch_shape), scale=self.scale.expand(batch_shape))

    @property
    def mean(self) -> Tensor:
        """The expected value, which is loc."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The likeliest value, which is loc."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """The standard deviation, which is scale."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variance scale^2."""
        return self.scale.pow(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """loc + scale * z with standard normal z: differentiable in loc and scale."""
        return self.loc + self.scale * randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """The log density -(value - loc)^2 / (2 scale^2) - log(scale * sqrt(2 pi))."""
        if self._validate_args:
            self._validate_sample(value)
        return -0.5 * ((value - self.loc) / self.scale) ** 2 - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Tensor) -> Tensor:
        """The cumulative distribution function at value; it keeps its digits in the lower tail."""
        if self._validate_args:
            self._validate_sample(value)
        return ndtr((value - self.loc) / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile function, the inverse of cdf."""
        return self.loc + self.scale * ndtri(value)

    def entropy(self) -> Tensor:
        """The entropy 1/2 + log(scale * sqrt(2 pi)), in nats."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()
