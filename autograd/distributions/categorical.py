"""Distributions over a finite number of categories: drawn as an index, or as a one-hot vector."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..base import dtypes
from ..base.size import Size
from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..ops.creation.fill import full, zeros
from ..ops.creation.sequence import arange
from ..ops.nn.softmax import softmax
from ..ops.random.draw import multinomial
from ..ops.shape import broadcast_tensors
from . import constraints
from .constraints import Constraint
from .distribution import Distribution, between, derived


class Categorical(Distribution):
    """The categorical distribution: index i in 0..n-1 with probability probs[..., i]."""

    has_enumerate_support = True
    arg_constraints: dict[str, Constraint] = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given: Any = logits if probs is None else probs
        if given.ndim < 1:
            raise ValueError(f"`{'logits' if probs is None else 'probs'}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.__dict__["probs"] = probs / probs.sum(-1, keepdim=True)
        else:
            self.__dict__["logits"] = given - given.logsumexp(-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @derived
    def probs(self) -> Tensor:
        """The probabilities (*batch_shape, n), summing to 1 along the last dimension."""
        return softmax(self.logits, -1)

    @derived
    def logits(self) -> Tensor:
        """The normalised log-probabilities (*batch_shape, n)."""
        return between(self.probs).log()

    @property
    def param_shape(self) -> Size:
        """The shape of probs or logits, whichever was given."""
        return self.probs.shape if "probs" in self.__dict__ else self.logits.shape

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """The integers 0 to n - 1, as a constraint."""
        return constraints.integer_interval(0, self._num_events - 1)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        given = {name: self.__dict__[name].expand((*batch_shape, self._num_events)) for name in ("probs", "logits")
                 if name in self.__dict__}
        return self._expanded(batch_shape, _instance, _num_events=self._num_events, **given)

    @property
    def mean(self) -> Tensor:
        """NaN, of shape batch_shape: category indices have no mean."""
        return full(self._extended_shape(), math.nan, dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self) -> Tensor:
        """The likeliest index, of shape batch_shape."""
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Indices of int64, of shape sample_shape + batch_shape; no gradient."""
        shape = self._extended_shape(sample_shape)
        count = math.prod(sample_shape)
        with no_grad():
            drawn = multinomial(self.probs.reshape(-1, self._num_events), count, True) if count else zeros(0, dtype="int64")
            return drawn.t().reshape(shape) if count > 1 else drawn.reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The log-probability of each index in value; value broadcasts with batch_shape."""
        if self._validate_args:
            self._validate_sample(value)
        index, logits = value.long().unsqueeze(-1), self.logits
        if value.shape != self._batch_shape:
            index, logits = broadcast_tensors(index, logits)
            index = index[..., :1]
        return logits.gather(-1, index).squeeze(-1)

    def entropy(self) -> Tensor:
        """-sum(p * log(p)) in nats, with 0 * log(0) = 0."""
        logits = self.logits.clamp(min=dtypes.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """The indices 0 to n - 1 along a new first dimension: (n, *batch_shape), or (n, 1, ...) if not expand."""
        values = arange(self._num_events).view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class OneHotCategorical(Distribution):
    """The categorical distribution over one-hot vectors of length n."""

    has_enumerate_support = True
    support = constraints.one_hot

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @property
    def probs(self) -> Tensor:
        """The probabilities (*batch_shape, n), summing to 1 along the last dimension."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The normalised log-probabilities (*batch_shape, n)."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of probs or logits, whichever was given."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        """The expected vector, which is probs."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The one-hot vector of the likeliest index."""
        return self._vectors(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        """The variance of each component, probs * (1 - probs)."""
        return self.probs * (1 - self.probs)

    def _vectors(self, indices: Tensor) -> Tensor:
        return (indices.unsqueeze(-1) == arange(self._event_shape[0])).to(self.probs.dtype)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        return self._expanded(batch_shape, _instance, _categorical=self._categorical.expand(batch_shape))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """One-hot vectors in the dtype of probs, of shape sample_shape + batch_shape + (n,); no gradient."""
        return self._vectors(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """The log-probability of the index of the 1. ValueError for vectors that are not one-hot, if validated."""
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        """The entropy of the underlying Categorical, in nats."""
        return self._categorical.entropy()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
