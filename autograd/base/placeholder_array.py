"""AbsentArray: the placeholder in a Tensor's `array` for an array that is not in memory, or has no shape yet.

A subclass provides the known attributes (dtype, shape, ...). Any other use calls present(), which returns the array or
raises the error. So no operation has to check beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

INTERFACES = ("__array_struct__", "__array_interface__")         # of memory, where NumPy looks for it before __array__


class AbsentArray(np.lib.mixins.NDArrayOperatorsMixin):
    """Base: override present(), and set what is known."""

    dtype: np.dtype[Any]

    def present(self, use: str) -> np.ndarray[Any, Any]:
        """The array; `use` names what it is wanted for. May raise instead."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name in INTERFACES and self.dtype.num > 255:          # NumPy is to ask __array__: these do not tell of bfloat16
            raise AttributeError(name)
        return getattr(self.present(name), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.present("numpy"), dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        return getattr(ufunc, method)(*present_in(inputs, ufunc.__name__), **present_in(settings, ufunc.__name__))

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        return function(*present_in(args, function.__name__), **present_in(kwargs, function.__name__))

    def __len__(self) -> int:
        return len(self.present("len"))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.present("iter"))

    def __getitem__(self, index: Any) -> Any:
        return self.present("__getitem__")[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.present("__setitem__")[index] = value

    def __deepcopy__(self, memo: dict[int, Any]) -> np.ndarray[Any, Any]:
        return self.present("copy").copy()

    def __reduce__(self) -> Any:
        return self.present("pickle").__reduce__()


def present_in(value: Any, use: str) -> Any:
    """An argument, or tuple, list or dict of arguments, with arrays for AbsentArrays."""
    if isinstance(value, AbsentArray):
        return value.present(use)
    if isinstance(value, (tuple, list)):
        return type(value)([present_in(v, use) for v in value])
    if isinstance(value, dict):
        return {name: present_in(v, use) for name, v in value.items()}
    return value
