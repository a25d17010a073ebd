"""The uniform distribution on an interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.random.draw import rand
from . import constraints
from .constraints import Constraint
from .distribution import Distribution, broadcast_all


class Uniform(Distribution):
    """The uniform distribution on [low, high), which broadcast."""

    low: Any                                         # a Tensor; comparisons, which are bound at import, have no types
    high: Any
    has_rsample = True
    arg_constraints: dict[str, Constraint] = {"low": constraints.real, "high": constraints.real}  # noqa: RUF012

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not (self.low < self.high).all():
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """The interval from low to high, as a constraint."""
        return constraints.interval(self.low, self.high)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        return self._expanded(batch_shape, _instance, low=self.low.expand(batch_shape), high=self.high.expand(batch_shape))

    @property
    def mean(self) -> Tensor:
        """The expected value (low + high) / 2."""
        return (self.high + self.low) / 2

    @property
    def variance(self) -> Tensor:
        """The variance (high - low)^2 / 12."""
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """low + (high - low) * u with u from U(0, 1): differentiable in low and high."""
        return self.low + rand(self._extended_shape(sample_shape), dtype=self.low.dtype) * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        """The log density: -log(high - low) in [low, high), -inf outside."""
        if self._validate_args:
            self._validate_sample(value)
        inside = (self.low <= value) & (value < self.high)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        """The cumulative distribution function, (value - low) / (high - low) clamped to [0, 1]."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile function, low + value * (high - low)."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        """The entropy log(high - low), in nats."""
        return (self.high - self.low).log()
