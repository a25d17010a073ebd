"""Hidden: what a tensor inside vmap() has for an array, with the shape and dtype of one sample and without values.

The samples are elsewhere, all in one array (core/batching.py). Code that asks for a shape or a dtype gets the sample's; code
that would compute with values gets NeedsLoop, and vmap() then calls its function for each sample."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np


class NeedsLoop(BaseException):
    """`what` has no rule for batches of `level`. vmap() catches it: no Exception, or a function's own `except` would."""

    def __init__(self, level: Any, what: str) -> None:
        super().__init__(what)
        self.level = level


class Hidden:
    """Shape and dtype of one sample. `level` is the vmap() call, `value` the Tensor with all samples. It is no np.ndarray,
    whose subclasses NumPy reads without asking."""

    __slots__ = ("dtype", "level", "shape", "value")

    def __init__(self, level: Any, value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.level, self.value, self.shape, self.dtype = level, value, shape, dtype

    ndim: Any = property(lambda self: len(self.shape))
    size: Any = property(lambda self: math.prod(self.shape))
    itemsize: Any = property(lambda self: self.dtype.itemsize)
    nbytes: Any = property(lambda self: self.size * self.dtype.itemsize)
    strides: Any = property(lambda self: self.stand_in().strides)
    flags: Any = property(lambda self: self.stand_in().flags)
    base: None = None

    def __len__(self) -> int:
        return self.shape[0]

    def stand_in(self) -> np.ndarray[Any, Any]:
        """An array of this shape and dtype, by rows, in next to no memory: every element is the same one."""
        steps = [self.itemsize]
        for n in self.shape[:0:-1]:
            steps.insert(0, steps[0] * n)
        one = np.zeros(1, self.dtype)
        return np.lib.stride_tricks.as_strided(one, self.shape, steps[:self.ndim], writeable=False)

    def tensor(self) -> Any:
        """A Tensor of vmap() on the same samples, without a graph."""
        if self.level.paused:
            self.refuse("a tensor from outside the function")
        return self.level.wrapped(self.value.detach())

    def refuse(self, what: str) -> NoReturn:
        """Loop over the samples, or say that there are none any more."""
        raise self.level.refusal(what)

    def reshape(self, *shape: Any, **settings: Any) -> Any:
        """Of each sample."""
        return self.tensor().reshape(*shape).array

    def astype(self, dtype: Any, *args: Any, copy: bool = True, **settings: Any) -> Any:
        """Of each sample."""
        return self if not copy and self.dtype == dtype else self.tensor().to(dtype).array

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse(name)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self.refuse("a function of arrays")

    def __array_ufunc__(self, ufunc: Any, *args: Any, **kwargs: Any) -> NoReturn:
        self.refuse(ufunc.__name__)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in OF_SHAPES:
            self.refuse(function.__name__)
        return function(*[x.stand_in() if type(x) is Hidden else x for x in args], **kwargs)


def _refusing(name: str) -> Any:
    def method(self: Hidden, *args: Any, **kwargs: Any) -> NoReturn:
        self.refuse(name)
    return method


for _name in ("__bool__", "__float__", "__int__", "__index__", "__complex__", "__iter__", "__getitem__", "__setitem__",
              "__contains__", "__reduce__", "__deepcopy__", "__neg__", "__abs__", "__invert__",
              *[f"__{side}{name}__" for side in ("", "r") for name in (
                  "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")],
              "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Hidden, _name, _refusing(_name))
Hidden.__hash__ = object.__hash__                    # type: ignore[method-assign]

# functions that ask for shapes and dtypes only
OF_SHAPES = frozenset((np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj, np.empty_like,
                       np.zeros_like, np.ones_like, np.full_like))
