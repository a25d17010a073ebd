"""Making tensors: from data, of one value, in sequence, at random."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..dtypes import default
from ..random import Generator, default_generator
from ..tensor import Tensor, result
from .shape import sizes


def _check(device: Any, layout: Any = None, pin_memory: bool = False) -> None:
    if device is not None and str(device) != "cpu":
        raise NotImplementedError(f"device={device!r}: tensors live in the CPU's memory; leave device out or pass 'cpu'")
    if layout is not None:
        raise NotImplementedError(f"layout={layout!r}: only dense (strided) tensors are implemented")


def _made(array: Any, requires_grad: bool) -> Tensor:
    out = result(array)
    if requires_grad:
        out.requires_grad = True
    return out


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Tensor:
    """A new leaf with a copy of `data` (numbers, nested lists, arrays). Python floats become float32."""
    _check(device)
    if isinstance(data, Tensor):
        data = data.array
    array = np.array(data)
    if dtype is None and not isinstance(data, (np.ndarray, np.generic)) and array.dtype == np.float64:
        dtype = _list_dtype(data)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"cannot make a tensor of {array.dtype} elements from {type(data).__name__}: pass numbers, and "
                        "lists of equal lengths")
    return _made(array if dtype is None else array.astype(dtype), requires_grad)


def _list_dtype(data: Any) -> Any:
    """float64 for a list of float64 arrays or Tensors, else the default for Python's floats."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return data.dtype if isinstance(data, (np.ndarray, np.generic, Tensor)) else default


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a Tensor, without a copy where it is one, or an array, of the right dtype already."""
    if isinstance(data, Tensor):
        if dtype is None or data.dtype == dtype:
            return data
        return tensor(data, dtype=dtype, device=device)
    if isinstance(data, np.ndarray):
        _check(device)
        return result(data if dtype is None else data.astype(dtype, copy=False))
    return tensor(data, dtype=dtype, device=device)


def from_numpy(array: Any) -> Tensor:
    """A Tensor that shares the array's memory."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return result(array)


def zeros(*size: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
          requires_grad: bool = False) -> Tensor:
    """Zeros."""
    _check(device, layout)
    return _made(np.zeros(sizes(size), dtype or default), requires_grad)


def ones(*size: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
         requires_grad: bool = False) -> Tensor:
    """Ones."""
    _check(device, layout)
    return _made(np.ones(sizes(size), dtype or default), requires_grad)


def empty(*size: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
          requires_grad: bool = False) -> Tensor:
    """Memory as it is found."""
    _check(device, layout)
    return _made(np.empty(sizes(size), dtype or default), requires_grad)


def full(size: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
         pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """fill_value everywhere; the dtype is that of tensor(fill_value)."""
    _check(device, layout)
    return _made(np.full(sizes((size,)), fill_value, dtype or tensor(fill_value).dtype), requires_grad)


def zeros_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros of input's shape and dtype."""
    return zeros(input.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)


def ones_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones of input's shape and dtype."""
    return ones(input.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Memory as it is found, of input's shape and dtype."""
    return empty(input.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None,
              requires_grad: bool = False) -> Tensor:
    """fill_value in input's shape and dtype."""
    return full(input.shape, fill_value, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None,
           requires_grad: bool = False) -> Tensor:
    """start, start + step, ... below end; arange(end) starts at 0. Integers give int64."""
    _check(device)
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("step must be nonzero")
    whole = all(isinstance(v, (int, np.integer)) for v in (start, end, step))
    return _made(np.arange(start, end, step).astype(dtype or (np.int64 if whole else default)), requires_grad)


def linspace(start: float, end: float, steps: int, *, dtype: Any = None, device: Any = None,
             requires_grad: bool = False) -> Tensor:
    """`steps` numbers from start to end, both included."""
    _check(device)
    return _made(np.linspace(start, end, operator.index(steps)).astype(dtype or default), requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal of an (n, m) matrix, zeros elsewhere."""
    _check(device)
    return _made(np.eye(n, m, dtype=dtype or default), requires_grad)


def rand(*size: Any, generator: Generator | None = None, dtype: Any = None, device: Any = None,
         requires_grad: bool = False) -> Tensor:
    """Uniform on [0, 1)."""
    _check(device)
    rng = (generator or default_generator()).numpy
    return _made(rng.random(sizes(size), dtype=_drawn(dtype)).astype(dtype or default, copy=False), requires_grad)


def randn(*size: Any, generator: Generator | None = None, dtype: Any = None, device: Any = None,
          requires_grad: bool = False) -> Tensor:
    """Normal with mean 0 and variance 1."""
    _check(device)
    rng = (generator or default_generator()).numpy
    drawn = rng.standard_normal(sizes(size), dtype=_drawn(dtype))
    return _made(np.asarray(drawn).astype(dtype or default, copy=False), requires_grad)


def _drawn(dtype: Any) -> Any:
    """The dtype in which NumPy draws: float64 for float64, float32 for all others."""
    return np.float64 if dtype is not None and np.dtype(dtype) == np.float64 else np.float32


def randint(low: int, high: Any = None, size: Any = None, *, generator: Generator | None = None, dtype: Any = None,
            device: Any = None) -> Tensor:
    """Integers from low to high - 1; randint(high, size) starts at 0."""
    _check(device)
    if size is None:
        low, high, size = 0, low, high
    if high is None or size is None:
        raise TypeError("randint() takes (high, size) or (low, high, size)")
    rng = (generator or default_generator()).numpy
    return result(rng.integers(low, high, sizes((size,))).astype(dtype or np.int64))


def randperm(n: int, *, generator: Generator | None = None, dtype: Any = None, device: Any = None) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
    _check(device)
    return result((generator or default_generator()).numpy.permutation(n).astype(dtype or np.int64))


def rand_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Uniform on [0, 1), of input's shape and dtype."""
    return rand(input.shape, dtype=dtype or input.dtype)


def randn_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Normal with mean 0 and variance 1, of input's shape and dtype."""
    return randn(input.shape, dtype=dtype or input.dtype)


__all__ = ["arange", "as_tensor", "empty", "empty_like", "eye", "from_numpy", "full", "full_like", "linspace", "ones",
           "ones_like", "rand", "rand_like", "randint", "randn", "randn_like", "randperm", "tensor", "zeros",
           "zeros_like"]
