"""Constraints on parameters and samples: objects whose check(value) is True where the value is allowed."""

from __future__ import annotations

import math
from typing import Any

from ..base import docstrings as _docstrings
from ..core.primitive import value_read
from ..core.tensor import Tensor
from ..core.types import Operand, TensorOrArray, TensorOrNumber

SMALL = 1024                         # elements from which Tensors are added up by kernels


class Constraint:
    """A set of allowed values. With event_dim > 0 it applies to whole vectors, and check() drops their dimension."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """True where value is in the set: a bool tensor of value's shape without the last event_dim dimensions."""
        raise NotImplementedError

    def holds(self, value: Tensor) -> bool:
        """Whether every element (or vector) of value is in the set."""
        if isinstance(value, Tensor):
            value_read("validation of a distribution's arguments")
        return bool(self.check(value.array if self._plain(value) else value).all())

    def _plain(self, value: Tensor) -> bool:
        """Whether check() may run on the NumPy array, which takes a third of the time: for small tensors, and constraints
        of this file."""
        return (type(self) in ON_ARRAYS and isinstance(value, Tensor) and value.dtype.char in "fd?bBhilq"
                and value.array.size < SMALL and not any(isinstance(bound, Tensor) for bound in vars(self).values()))

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__}({bounds})"


class Real(Constraint):
    """All numbers except nan."""

    def check(self, value: TensorOrArray) -> Any:
        """True where value is not nan."""
        return value == value


class RealVector(Constraint):
    """Vectors without nan."""

    event_dim = 1

    def check(self, value: Operand) -> Operand:
        """True for each vector without nan: value (..., n) -> (...)."""
        return (value == value).all(-1)              # type: ignore[return-value]    # of an array an array


class GreaterThan(Constraint):
    """Numbers above a bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Operand) -> Operand:
        """True where value > lower_bound."""
        return self.lower_bound < value


class Interval(Constraint):
    """Numbers between two bounds, both included."""

    def __init__(self, lower_bound: TensorOrNumber, upper_bound: TensorOrNumber) -> None:
        self.lower_bound: TensorOrNumber = lower_bound
        self.upper_bound: TensorOrNumber = upper_bound

    def check(self, value: TensorOrArray) -> Any:
        """True where lower_bound <= value <= upper_bound."""
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class IntegerInterval(Interval):
    """Integers between two bounds, both included; floats with integer values count."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """True where value is an integer within the bounds."""
        inside = super().check(value)
        return inside if value.dtype.kind in "iub" else (value % 1 == 0) & inside


class Boolean(Constraint):
    """The values 0 and 1."""

    is_discrete = True

    def check(self, value: TensorOrArray) -> Any:
        """True where value is 0 or 1."""
        return (value == 0) | (value == 1)


class OneHot(Constraint):
    """One-hot vectors: one component is 1, the others are 0."""

    is_discrete: bool = True
    event_dim: int = 1

    def check(self, value: Operand) -> Operand:
        """True for each one-hot vector: value (..., n) -> (...)."""
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)      # type: ignore[return-value]


class Simplex(Constraint):
    """Probability vectors: components of at least 0 that sum to 1."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        """True for each vector of non-negative components whose sum is 1 within 1e-6: value (..., n) -> (...)."""
        return (value >= 0).all(-1) & (abs(value.sum(-1) - 1) < 1e-6) & (abs(value) < math.inf).all(-1)


real: Real = Real()
real_vector: RealVector = RealVector()
positive: GreaterThan = GreaterThan(0.0)
unit_interval: Interval = Interval(0.0, 1.0)
boolean: Boolean = Boolean()
one_hot: OneHot = OneHot()
simplex: Simplex = Simplex()
ON_ARRAYS: set[type] = {Real, RealVector, GreaterThan, Interval, IntegerInterval, Boolean, OneHot, Simplex}
greater_than, interval, integer_interval = GreaterThan, Interval, IntegerInterval

__all__ = ["Constraint", "boolean", "greater_than", "integer_interval", "interval", "one_hot", "positive", "real",
           "real_vector", "simplex", "unit_interval"]

_docstrings.complete(globals(), "distributions", "distributions.constraints.")
