"""Other names and other orders of arguments: NumPy's names, names that PyTorch's variants of a function differ in, and
PyTorch's deprecated order with numbers between the tensors."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
NUMBERS = (bool, int, float, complex, np.number)


def also(**names: str) -> Callable[[F], F]:
    """Let a function take arguments under further names: also(axis="dim")."""

    def decorate(function: F) -> F:
        plain = getattr(function, "without_out", function)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if not kwargs:
                return plain(*args)                  # not by way of takes_out(): 0.2 us
            for other, name in names.items():
                if other in kwargs:
                    kwargs[name] = kwargs.pop(other)
            return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    return decorate


def older_order(*numbers: str) -> Callable[[F], F]:
    """Let a function of three Tensors take numbers between them too, in the order of `numbers`.

    PyTorch deprecates such calls: addmm(beta, input, alpha, mat1, mat2)."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if len(args) > 3:
                values = [a for a in args if isinstance(a, NUMBERS)]
                given = dict(zip(numbers, values, strict=False))
                if len(args) == 3 + len(values) and len(given) == len(values) and not given.keys() & kwargs.keys():
                    warnings.warn(f"{function.__name__}(): pass {', '.join(given)} by name; numbers by position are "
                                  "deprecated", UserWarning, stacklevel=2)
                    args = tuple([a for a in args if not isinstance(a, NUMBERS)])
                    kwargs.update(given)
            return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    return decorate
