"""NumPy's functions as calls of autograd's: the supported arguments of each, under NumPy's names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..base.namesake import public
from ..base.types import DTypeLike, SizeLike
from ..core.tensor import Tensor, result
from ..core.types import TensorOrArray, TensorOrNumber


class Operations:
    """autograd's operations by name, looked up when they are called: this module is imported before they are complete."""

    def named(self, name: str, asked: str) -> Callable[..., Any]:
        """autograd.<name>. TypeError with `asked`, NumPy's name, where there is none."""
        found: Any = public()
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is None:
            raise TypeError(f"{asked} is not supported on Tensors; use tensor.detach().numpy() for its values")
        return found

    def __getattr__(self, name: str) -> Any:
        return self.named(name, f"numpy's counterpart of {name}()")


operations = ag = Operations()
Axis = Any


def dims(a: Tensor, axis: Axis) -> tuple[int, ...]:
    """axis as a tuple of dimensions; None is all of them."""
    return tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)


def tensors(arrays: Iterable[TensorOrArray]) -> list[Any]:
    """A sequence of Tensors and arrays as Tensors."""
    return [x if isinstance(x, Tensor) else result(np.asarray(x)) for x in arrays]


# --- with code of their own ------------------------------------------------------------------------------------------

def reshape(a: Tensor, shape: SizeLike, order: str = "C") -> Tensor:
    """numpy.reshape, in C order only."""
    if order != "C":
        raise TypeError(f"numpy.reshape on Tensors: argument order={order!r} is not supported")
    return ag.reshape(a, shape)


def transpose(a: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """numpy.transpose: permute, by default to the reverse order."""
    return ag.permute(a, tuple(reversed(range(a.ndim))) if axes is None else tuple(axes))


def split(ary: Tensor, indices_or_sections: SizeLike, axis: int = 0) -> list[Any]:
    """numpy.split: into equal parts, or before the given indices."""
    size = ary.shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)):
        if size % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        return list(ag.split(ary, size // int(indices_or_sections), axis))
    marks = [0, *(slice(i).indices(size)[1] for i in indices_or_sections), size]
    return [ag.narrow(ary, axis, a, max(b - a, 0)) for a, b in itertools.pairwise(marks)]


def where(condition: TensorOrArray, *xy: Any) -> Any:
    """numpy.where: selection of two, or with the condition alone the indices where it holds."""
    if not xy:
        return ag.nonzero(condition, as_tuple=True)
    condition = result(np.asarray(condition)) if not isinstance(condition, Tensor) else condition
    return ag.where(condition, *xy)


def dot(a: TensorOrArray, b: TensorOrArray) -> Any:
    """numpy.dot of numbers, vectors and matrices: over the last dimension of a and the last but one of b."""
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if b.ndim > 2:
        raise TypeError(f"numpy.dot on Tensors is not supported for a second factor of {b.ndim} dimensions")
    return ag.matmul(*tensors([a, b]))


def clip(a: Tensor, a_min: TensorOrNumber | None = None, a_max: TensorOrNumber | None = None, *,
         min: TensorOrNumber | None = None, max: TensorOrNumber | None = None) -> Tensor:
    """numpy.clip, with the limits under either of their names."""
    return ag.clamp(a, a_min if min is None else min, a_max if max is None else max)


def prod(a: Tensor, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False) -> Tensor:
    """numpy.prod of all elements, or along one axis."""
    if axis is None and not keepdims:
        return ag.prod(a, dtype=dtype)
    if not isinstance(axis, int):
        raise TypeError(f"numpy.prod on Tensors: axis={axis!r} is not supported, only one axis")
    return ag.prod(a, axis, keepdims, dtype=dtype)


def cumulative(name: str) -> Callable[..., Any]:
    """cumsum or cumprod, of the flattened array without an axis."""
    return lambda a, axis=None, dtype=None: operations.named(name, f"numpy.{name}")(
        ag.reshape(a, -1) if axis is None else a, 0 if axis is None else axis, dtype=dtype)


def close(name: str) -> Callable[..., Any]:
    """allclose or isclose."""
    return lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: operations.named(name, f"numpy.{name}")(
        *tensors([a, b]), rtol=rtol, atol=atol, equal_nan=equal_nan)


def same(name: str) -> Callable[..., Any]:
    """autograd's function of the same name and arguments, all by position."""
    return lambda *args: operations.named(name, f"numpy.{name}")(*args)


SAME = """atleast_1d atleast_2d atleast_3d argwhere diagonal einsum imag inner isreal kron real tile trace
    linalg.cholesky linalg.det linalg.inv linalg.pinv linalg.slogdet linalg.solve"""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: same(name) for name in SAME.split()},
    "all": lambda a, axis=None, *, keepdims=False: ag.all(a, dims(a, axis), keepdims),
    "allclose": close("allclose"),
    "amax": lambda a, axis=None, *, keepdims=False: ag.amax(a, dims(a, axis), keepdims),
    "amin": lambda a, axis=None, *, keepdims=False: ag.amin(a, dims(a, axis), keepdims),
    "any": lambda a, axis=None, *, keepdims=False: ag.any(a, dims(a, axis), keepdims),
    "argmax": lambda a, axis=None, *, keepdims=False: ag.argmax(a, axis, keepdims),
    "argmin": lambda a, axis=None, *, keepdims=False: ag.argmin(a, axis, keepdims),
    "argsort": lambda a, axis=-1, *, stable=False: ag.argsort(a, axis, stable=bool(stable)),
    "around": lambda a, decimals=0: ag.round(a, decimals=decimals) if decimals else ag.round(a),
    "broadcast_to": lambda array, shape: array.expand(shape),
    "clip": clip,
    "column_stack": lambda tup: ag.column_stack(tensors(tup)),
    "concatenate": lambda arrays, axis=0: ag.cat(tensors(arrays), axis),
    "copy": lambda a: ag.clone(a),
    "count_nonzero": lambda a, axis=None: ag.count_nonzero(a, axis),
    "cumprod": cumulative("cumprod"),
    "cumsum": cumulative("cumsum"),
    "diag": lambda v, k=0: ag.diag(v, k),
    "diff": lambda a, n=1, axis=-1: ag.diff(a, n, axis),
    "dot": dot,
    "dstack": lambda tup: ag.dstack(tensors(tup)),
    "empty_like": lambda prototype, dtype=None: ag.empty_like(prototype, dtype=dtype),
    "expand_dims": lambda a, axis: ag.unsqueeze(a, axis),
    "flatnonzero": lambda a: ag.nonzero(ag.reshape(a, -1))[:, 0],
    "flip": lambda m, axis=None: ag.flip(m, dims(m, axis)),
    "full_like": lambda a, fill_value, dtype=None: ag.full_like(a, fill_value, dtype=dtype),
    "hstack": lambda tup: ag.hstack(tensors(tup)),
    "isclose": close("isclose"),
    "linalg.norm": lambda x, ord=None, axis=None, keepdims=False: ag.linalg.norm(x, ord, axis, keepdims),
    "max": lambda a, axis=None, *, keepdims=False: ag.amax(a, dims(a, axis), keepdims),
    "mean": lambda a, axis=None, dtype=None, *, keepdims=False: ag.mean(a, axis, keepdims, dtype=dtype),
    "min": lambda a, axis=None, *, keepdims=False: ag.amin(a, dims(a, axis), keepdims),
    "moveaxis": lambda a, source, destination: ag.movedim(a, source, destination),
    "nan_to_num": lambda x, *, nan=0.0, posinf=None, neginf=None: ag.nan_to_num(x, nan, posinf, neginf),
    "nanmean": lambda a, axis=None, dtype=None, *, keepdims=False: ag.nanmean(a, axis, keepdims, dtype=dtype),
    "nansum": lambda a, axis=None, dtype=None, *, keepdims=False: ag.nansum(a, axis, keepdims, dtype=dtype),
    "nonzero": lambda a: ag.nonzero(a, as_tuple=True),
    "ones_like": lambda a, dtype=None: ag.ones_like(a, dtype=dtype),
    "outer": lambda a, b: ag.outer(*(ag.reshape(x, -1) for x in tensors([a, b]))),
    "prod": prod,
    "ravel": lambda a: ag.reshape(a, -1),
    "repeat": lambda a, repeats, axis=None: ag.repeat_interleave(a, repeats, axis),
    "reshape": reshape,
    "roll": lambda a, shift, axis=None: ag.roll(a, shift, axis),
    "round": lambda a, decimals=0: ag.round(a, decimals=decimals) if decimals else ag.round(a),
    "sort": lambda a, axis=-1: ag.sort(a, axis)[0],
    "split": split,
    "squeeze": lambda a, axis=None: ag.squeeze(a) if axis is None else ag.squeeze(a, axis),
    "stack": lambda arrays, axis=0: ag.stack(tensors(arrays), axis),
    "std": lambda a, axis=None, *, ddof=0, keepdims=False: ag.std(a, axis, correction=ddof, keepdim=keepdims),
    "sum": lambda a, axis=None, dtype=None, *, keepdims=False: ag.sum(a, axis, keepdims, dtype=dtype),
    "swapaxes": lambda a, axis1, axis2: ag.transpose(a, axis1, axis2),
    "take_along_axis": lambda arr, indices, axis=-1: ag.gather(arr, axis, *tensors([indices])),
    "tensordot": lambda a, b, axes=2: ag.tensordot(a, b, axes),
    "transpose": transpose,
    "tril": lambda m, k=0: ag.tril(m, k),
    "triu": lambda m, k=0: ag.triu(m, k),
    "var": lambda a, axis=None, *, ddof=0, keepdims=False: ag.var(a, axis, correction=ddof, keepdim=keepdims),
    "vstack": lambda tup: ag.vstack(tensors(tup)),
    "where": where,
    "zeros_like": lambda a, dtype=None: ag.zeros_like(a, dtype=dtype),
}
for _name, _function in FUNCTIONS.items():           # what Python's errors about arguments begin with
    _function.__qualname__ = f"numpy.{_name} on Tensors"
