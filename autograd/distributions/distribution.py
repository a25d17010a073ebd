"""Distribution, the base class. Samples have shape sample_shape + batch_shape + event_shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import dtypes
from ..base.size import Size
from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..ops.creation.create import tensor
from ..ops.shape import broadcast_tensors
from .constraints import Constraint


class Distribution:
    """Base class: a subclass names its parameters in arg_constraints and computes samples and densities."""

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: dict[str, Constraint] = {}  # noqa: RUF012 - one for the class, as PyTorch's
    support: Any = None
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set the default of validate_args."""
        if value not in (True, False):
            raise ValueError("validate_args must be True or False")
        Distribution._validate_args = value

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (),
                 validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if not self._validate_args:
            return
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__ and not constraint.holds(self.__dict__[name]):
                raise _outside(f"parameter {name}", self.__dict__[name],
                               f"of distribution {self!r} to satisfy the constraint {constraint!r}")

    def _validate_sample(self, value: Tensor) -> None:
        """ValueError unless value could have been drawn."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        if not self._validate_args:
            return
        own = self._batch_shape + self._event_shape
        if self._event_shape and value.shape[-len(self._event_shape):] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}.")
        for mine, given in zip(reversed(own), reversed(value.shape), strict=False):
            if mine != 1 and given != 1 and mine != given:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {own}.")
        if self.support is not None and not self.support.holds(value):
            raise _outside("value argument", value, f"to be within the support ({self.support!r}) of the distribution "
                           f"{self!r}")

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        """The shape of a sample."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters: the number of independent distributions in each dimension."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw from one of the distributions."""
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        """The expected value, of shape batch_shape + event_shape."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The mode, of shape batch_shape + event_shape."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The expected squared distance from the mean."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation, the square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw a tensor of shape sample_shape + batch_shape + event_shape, without a gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw by the reparameterization trick: the sample is differentiable in the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no reparameterized samples")

    def sample_n(self, n: int) -> Tensor:
        """Draw n samples: sample((n,)), kept for old code."""
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The log of the density (or of the probability) at value."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The cumulative distribution function: the probability of a draw <= value."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile function: the inverse of cdf()."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The differential (or discrete) entropy -E[log p], in nats."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """The perplexity exp(entropy())."""
        return self.entropy().exp()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution along a new first dimension."""
        raise NotImplementedError

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        """Expand the parameters to a larger batch_shape."""
        raise NotImplementedError

    def _expanded(self, batch_shape: Sequence[int], _instance: Distribution | None = None,
                  **parameters: Any) -> Distribution:
        """A distribution of this class with these attributes, without validation."""
        new = type(self).__new__(type(self)) if _instance is None else _instance
        new.__dict__.update(parameters)
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def __repr__(self) -> str:
        shown = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        inside = ", ".join(f"{name}: {p if p.numel() == 1 else p.shape}" if not isinstance(p, Tensor) or p.numel() > 1
                           else f"{name}: {p.item()}" for name, p in shown.items())
        return f"{type(self).__name__}({inside})"


def _outside(what: str, value: Tensor, rest: str) -> ValueError:
    return ValueError(f"Expected {what} ({type(value).__name__} of shape {tuple(value.shape)}) {rest}, but found invalid "
                      f"values:\n{value}")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of one shape; numbers take the dtype of the first tensor, else the default dtype."""
    for v in values:
        if not isinstance(v, (Tensor, int, float)):
            raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                             "__torch_function__.")
    dtype = next((v.dtype for v in values if isinstance(v, Tensor)), dtypes.get_default_dtype())
    return broadcast_tensors(*[v if isinstance(v, Tensor) else tensor(v, dtype=dtype) for v in values])


def between(probs: Tensor) -> Tensor:
    """Probabilities clamped to [eps, 1 - eps] of their dtype, which keeps their logs finite."""
    eps = dtypes.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class derived:
    """Descriptor of a parameter that was not given: computed from the other one on first access, then cached in the
    instance."""

    def __init__(self, compute: Any) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.compute(instance)
        return value


__all__ = ["Distribution"]
