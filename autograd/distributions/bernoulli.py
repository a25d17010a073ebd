"""The Bernoulli distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..base.dtypes import finfo
from ..base.size import Size
from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..ops.creation.fill import full_like
from ..ops.nn.binary_cross_entropy import binary_cross_entropy_with_logits
from ..ops.pointwise.where import where
from ..ops.random.draw import bernoulli
from . import constraints
from .distribution import Distribution, between, broadcast_all, derived

if TYPE_CHECKING:
    from .constraints import Constraint


class Bernoulli(Distribution):
    """The Bernoulli distribution: 1 with probability `probs`, else 0; logits = log(probs / (1 - probs))."""

    has_enumerate_support = True
    arg_constraints: dict[str, Constraint] = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012
    support = constraints.boolean

    def __init__(self, probs: Tensor | float | None = None, logits: Tensor | float | None = None,
                 validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name = "logits" if probs is None else "probs"
        (self.__dict__[name],) = broadcast_all(logits if probs is None else probs)
        super().__init__(self.__dict__[name].shape, validate_args=validate_args)

    @derived
    def probs(self) -> Tensor:
        """The probability of 1, of shape batch_shape."""
        return self.logits.sigmoid()

    @derived
    def logits(self) -> Tensor:
        """The log-odds log(probs / (1 - probs)); probs are moved off 0 and 1 by eps first."""
        probs = between(self.probs)
        return probs.log() - (-probs).log1p()

    @property
    def param_shape(self) -> Size:
        """The shape of probs or logits, whichever was given."""
        return self.probs.shape if "probs" in self.__dict__ else self.logits.shape

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        given = {name: self.__dict__[name].expand(batch_shape) for name in ("probs", "logits") if name in self.__dict__}
        return self._expanded(batch_shape, _instance, **given)

    @property
    def mean(self) -> Tensor:
        """The expected value, which is probs."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The likelier of 0 and 1; nan where probs is 0.5."""
        return where(self.probs == 0.5, full_like(self.probs, float("nan")), (self.probs > 0.5).to(self.probs.dtype))

    @property
    def variance(self) -> Tensor:
        """The variance probs * (1 - probs)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Zeros and ones in the dtype of probs, of shape sample_shape + batch_shape; no gradient."""
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """log(probs) where value is 1, log(1 - probs) where it is 0. ValueError for other values, if validated."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        """-p * log(p) - (1 - p) * log(1 - p), in nats."""
        limit = finfo(self.logits.dtype).max         # at infinite logits the gradients are 0
        return binary_cross_entropy_with_logits(self.logits.clamp(-limit, limit), self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """The values 0 and 1 along a new first dimension: (2, *batch_shape), or (2, 1, ...) if not expand."""
        values = self.probs.new_tensor([0.0, 1.0]).view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values
