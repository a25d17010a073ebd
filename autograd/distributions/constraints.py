"""Which values a parameter or a sample may have: objects with check(value), True where the value is allowed."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from ..core.traced import tracers

SMALL = 1024                         # elements from which Tensors are added up by kernels


class Constraint:
    """A set of values; those of event_dim > 0 judge whole vectors."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """True where value is in the set."""
        raise NotImplementedError

    def holds(self, value: Any) -> bool:
        """Whether all of value is in the set."""
        return bool(self.check(value.array if self._plain(value) else value).all())

    def _plain(self, value: Any) -> bool:
        """Whether arrays do, in a third of the time: for small ones, in sets of this file, where nobody traces."""
        return (type(self) in ON_ARRAYS and isinstance(value, Tensor) and not tracers and value.dtype.char in "fd?bBhilq"
                and value.array.size < SMALL and not any(isinstance(bound, Tensor) for bound in vars(self).values()))

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__}({bounds})"


class Real(Constraint):
    """Any number but nan."""

    def check(self, value: Any) -> Any:
        """value == value."""
        return value == value


class RealVector(Constraint):
    """Vectors of any numbers but nan."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        """All of the vector."""
        return (value == value).all(-1)


class GreaterThan(Constraint):
    """Numbers above a bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        """lower_bound < value."""
        return self.lower_bound < value


class Interval(Constraint):
    """Numbers between two bounds, these among them."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        """lower_bound <= value <= upper_bound."""
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class IntegerInterval(Interval):
    """Whole numbers between two bounds, these among them."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """Whole, and between the bounds."""
        inside = super().check(value)
        return inside if value.dtype.kind in "iub" else (value % 1 == 0) & inside


class Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """0 or 1."""
        return (value == 0) | (value == 1)


class OneHot(Constraint):
    """Vectors of one 1 and zeros."""

    is_discrete, event_dim = True, 1

    def check(self, value: Any) -> Any:
        """0 or 1 each, 1 together."""
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class Simplex(Constraint):
    """Vectors of numbers of at least 0 whose sum is 1."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        """To 1e-6."""
        return (value >= 0).all(-1) & (abs(value.sum(-1) - 1) < 1e-6) & (abs(value) < math.inf).all(-1)


real, real_vector, positive, unit_interval = Real(), RealVector(), GreaterThan(0.0), Interval(0.0, 1.0)
boolean, one_hot, simplex = Boolean(), OneHot(), Simplex()
ON_ARRAYS = {Real, RealVector, GreaterThan, Interval, IntegerInterval, Boolean, OneHot, Simplex}
greater_than, interval, integer_interval = GreaterThan, Interval, IntegerInterval

__all__ = ["Constraint", "boolean", "greater_than", "integer_interval", "interval", "one_hot", "positive", "real",
           "real_vector", "simplex", "unit_interval"]
