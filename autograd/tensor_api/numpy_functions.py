"""NumPy's functions as calls of autograd's: the supported arguments of each, under NumPy's names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..base.dtypes import promote
from ..base.namesake import public
from ..base.types import DTypeLike, SizeLike
from ..core.tensor import Tensor, result
from ..core.types import TensorOrArray, TensorOrNumber


class Operations:
    """autograd's operations by name, looked up when they are called: this module is imported before they are complete."""

    def find(self, name: str) -> Callable[..., Any] | None:
        """autograd.<name>, None where there is none."""
        found: Any = public()
        for part in name.split("."):
            found = getattr(found, part, None)
        return found

    def named(self, name: str, asked: str) -> Callable[..., Any]:
        """autograd.<name>. TypeError with `asked`, NumPy's name, where there is none."""
        found = self.find(name)
        if found is None:
            raise TypeError(f"{asked} is not supported on Tensors; use tensor.detach().numpy() for its values")
        return found

    def __getattr__(self, name: str) -> Any:
        return self.named(name, f"numpy's counterpart of {name}()")


ag: Operations
operations: Operations
operations = ag = Operations()
Axis = Any


def dims(a: Tensor, axis: Axis) -> tuple[int, ...]:
    """axis as a tuple of dimensions; None is all of them."""
    return tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)


def tensors(arrays: Iterable[TensorOrArray]) -> list[Any]:
    """A sequence of Tensors and arrays as Tensors."""
    return [x if isinstance(x, Tensor) else result(forward(np.asarray(x))) for x in arrays]


def forward(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array, copied where its strides run backwards: views of Tensors have positive ones."""
    return array.copy() if any(stride < 0 for stride in array.strides) else array


def of_one_dtype(*arrays: TensorOrArray) -> list[Any]:
    """Tensors and arrays as Tensors of the dtype that NumPy computes in: PyTorch's products take only one."""
    given = tensors(arrays)
    dtype = given[0].dtype
    for x in given[1:]:
        dtype = promote(dtype, x.dtype)
    return [x if x.dtype == dtype else x.to(dtype) for x in given]


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
    return ag.matmul(*of_one_dtype(a, b))


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


def gradient(f: Tensor, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """numpy.gradient: an array for one axis, else a list with one for each."""
    along = dims(f, axis)
    spacing = varargs if len(varargs) > 1 else varargs * len(along)
    found = list(ag.gradient(f, spacing=[s if np.ndim(plain(s)) == 0 else tensors([s])[0] for s in spacing], dim=along,
                             edge_order=edge_order) if spacing else ag.gradient(f, dim=along, edge_order=edge_order))
    return found[0] if len(along) == 1 else found


def plain(x: Any) -> Any:
    """A Tensor's array; anything else as it is."""
    return x.array if isinstance(x, Tensor) else x


def pad(array: Tensor, pad_width: Any, mode: str = "constant", **settings: Any) -> Tensor:
    """numpy.pad with a constant."""
    value = settings.pop("constant_values", 0)
    if mode != "constant" or settings or np.ndim(value):
        raise TypeError(f"numpy.pad on Tensors: mode={mode!r}, {settings} is not supported, only one constant value")
    widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))[::-1]
    return ag.constant_pad_nd(array, [int(width) for pair in widths for width in pair], value)


def average(a: Tensor, axis: Axis = None, weights: Any = None, *, keepdims: bool = False) -> Tensor:
    """numpy.average, with weights for each element or along one axis."""
    if weights is None:
        return ag.mean(a, axis, keepdims)
    (w,) = tensors([weights])
    if w.shape != a.shape:
        shape = [1] * a.ndim
        shape[axis] = -1
        w = w.reshape(shape).expand(a.shape)
    return ag.sum(a * w, axis, keepdims) / ag.sum(w, axis, keepdims)


def parts(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """numpy.array_split: into parts of almost equal size, or before the given indices."""
    if isinstance(indices_or_sections, (int, np.integer)):
        return list(ag.tensor_split(ary, int(indices_or_sections), axis))
    return split(ary, indices_or_sections, axis)


def broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    """numpy.broadcast_arrays. What is no Tensor stays an array, of anything (as in matplotlib's bar())."""
    shape = np.broadcast_shapes(*(np.shape(plain(x)) for x in args))
    return tuple(x.expand(shape) if isinstance(x, Tensor) else np.broadcast_to(np.asarray(x), shape) for x in args)


def trapezoid(y: Tensor, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """numpy.trapezoid: with the distance dx, or at the points x."""
    return ag.trapezoid(y, dx=dx, dim=axis) if x is None else ag.trapezoid(*tensors([y, x]), dim=axis)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Tensor:
    """numpy.cross of vectors of three elements, along one axis."""
    if axis is None and (axisa, axisb, axisc) != (axisa,) * 3:
        raise TypeError(f"numpy.cross on Tensors: axisa={axisa}, axisb={axisb}, axisc={axisc}: only one axis is supported")
    a, b = tensors([a, b])
    return ag.linalg.cross(*ag.broadcast_tensors(a, b), dim=axisa if axis is None else axis)


def ptp(a: Tensor, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """numpy.ptp: the largest less the smallest element."""
    return ag.amax(a, dims(a, axis), keepdims) - ag.amin(a, dims(a, axis), keepdims)


SAME = """atleast_1d atleast_2d atleast_3d argwhere diagonal fliplr flipud imag isreal real tile trace"""

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
    "append": lambda arr, values, axis=None: ag.cat(
        [ag.reshape(x, -1) if axis is None else x for x in tensors([arr, values])], axis or 0),
    "array_split": parts,
    "astype": lambda x, dtype, *, copy=True: x.to(dtype, copy=copy),
    "average": average,
    "broadcast_arrays": broadcast_arrays,
    "broadcast_to": lambda array, shape: array.expand(shape),
    "clip": clip,
    "column_stack": lambda tup: ag.column_stack(tensors(tup)),
    "concatenate": lambda arrays, axis=0: ag.cat(tensors(arrays), axis),
    "copy": lambda a: ag.clone(a),
    "count_nonzero": lambda a, axis=None: ag.count_nonzero(a, axis),
    "corrcoef": lambda x, y=None: ag.corrcoef(x if y is None else ag.stack(tensors([x, y]))),
    "cov": lambda m, *, ddof=None: ag.cov(m, correction=1 if ddof is None else ddof),
    "cross": cross,
    "cumprod": cumulative("cumprod"),
    "cumsum": cumulative("cumsum"),
    "diag": lambda v, k=0: ag.diag(v, k),
    "diagflat": lambda v, k=0: ag.diagflat(v, k),
    "diff": lambda a, n=1, axis=-1: ag.diff(a, n, axis),
    "dot": dot,
    "dstack": lambda tup: ag.dstack(tensors(tup)),
    "einsum": lambda subscripts, *operands: ag.einsum(subscripts, *of_one_dtype(*operands)),
    "empty_like": lambda prototype, dtype=None: ag.empty_like(prototype, dtype=dtype),
    "expand_dims": lambda a, axis: ag.unsqueeze(a, axis),
    "flatnonzero": lambda a: ag.nonzero(ag.reshape(a, -1))[:, 0],
    "flip": lambda m, axis=None: ag.flip(m, dims(m, axis)),
    "full_like": lambda a, fill_value, dtype=None: ag.full_like(a, fill_value, dtype=dtype),
    "gradient": gradient,
    "hsplit": lambda ary, indices_or_sections: parts(ary, indices_or_sections, 0 if ary.ndim == 1 else 1),
    "hstack": lambda tup: ag.hstack(tensors(tup)),
    "inner": lambda a, b: ag.inner(*of_one_dtype(a, b)),
    "isclose": close("isclose"),
    "kron": lambda a, b: ag.kron(*tensors([a, b])),
    "matrix_transpose": lambda x: ag.transpose(x, -2, -1),
    "max": lambda a, axis=None, *, keepdims=False: ag.amax(a, dims(a, axis), keepdims),
    "meshgrid": lambda *xi, indexing="xy": tuple(ag.meshgrid(*tensors(xi), indexing=indexing)),
    "mean": lambda a, axis=None, dtype=None, *, keepdims=False: ag.mean(a, axis, keepdims, dtype=dtype),
    "min": lambda a, axis=None, *, keepdims=False: ag.amin(a, dims(a, axis), keepdims),
    "moveaxis": lambda a, source, destination: ag.movedim(a, source, destination),
    "nan_to_num": lambda x, *, nan=0.0, posinf=None, neginf=None: ag.nan_to_num(x, nan, posinf, neginf),
    "nanmean": lambda a, axis=None, dtype=None, *, keepdims=False: ag.nanmean(a, axis, keepdims, dtype=dtype),
    "nansum": lambda a, axis=None, dtype=None, *, keepdims=False: ag.nansum(a, axis, keepdims, dtype=dtype),
    "nonzero": lambda a: ag.nonzero(a, as_tuple=True),
    "ones_like": lambda a, dtype=None: ag.ones_like(a, dtype=dtype),
    "outer": lambda a, b: ag.outer(*(ag.reshape(x, -1) for x in tensors([a, b]))),
    "pad": pad,
    "prod": prod,
    "ptp": ptp,
    "ravel": lambda a: ag.reshape(a, -1),
    "repeat": lambda a, repeats, axis=None: ag.repeat_interleave(a, repeats, axis),
    "reshape": reshape,
    "roll": lambda a, shift, axis=None: ag.roll(a, shift, axis),
    "rot90": lambda m, k=1, axes=(0, 1): ag.rot90(m, k, axes),
    "round": lambda a, decimals=0: ag.round(a, decimals=decimals) if decimals else ag.round(a),
    "sort": lambda a, axis=-1: ag.sort(a, axis)[0],
    "split": split,
    "squeeze": lambda a, axis=None: ag.squeeze(a) if axis is None else ag.squeeze(a, axis),
    "stack": lambda arrays, axis=0: ag.stack(tensors(arrays), axis),
    "std": lambda a, axis=None, *, ddof=0, keepdims=False: ag.std(a, axis, correction=ddof, keepdim=keepdims),
    "sum": lambda a, axis=None, dtype=None, *, keepdims=False: ag.sum(a, axis, keepdims, dtype=dtype),
    "swapaxes": lambda a, axis1, axis2: ag.transpose(a, axis1, axis2),
    "take": lambda a, indices, axis=None: ag.take(a, *tensors([indices])) if axis is None else a[
        (slice(None),) * (axis % a.ndim) + (*tensors([indices]),)],
    "take_along_axis": lambda arr, indices, axis=-1: ag.gather(arr, axis, *tensors([indices])),
    "tensordot": lambda a, b, axes=2: ag.tensordot(*of_one_dtype(a, b), axes),
    "transpose": transpose,
    "trapezoid": trapezoid,
    "tril": lambda m, k=0: ag.tril(m, k),
    "triu": lambda m, k=0: ag.triu(m, k),
    "var": lambda a, axis=None, *, ddof=0, keepdims=False: ag.var(a, axis, correction=ddof, keepdim=keepdims),
    "vdot": lambda a, b: ag.vdot(*(ag.reshape(x, -1) for x in of_one_dtype(a, b))),
    "vstack": lambda tup: ag.vstack(tensors(tup)),
    "where": where,
    "zeros_like": lambda a, dtype=None: ag.zeros_like(a, dtype=dtype),
}
for _name, _function in FUNCTIONS.items():           # what Python's errors about arguments begin with
    _function.__qualname__ = f"numpy.{_name} on Tensors"
