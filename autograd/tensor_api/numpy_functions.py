"""NumPy's functions as calls of autograd's: the supported arguments of each, under NumPy's names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..base.dtypes import promote
from ..base.name_collision import public
from ..base.types import DTypeLike, SizeLike
from ..core.tensor import Tensor, result
from ..core.types import TensorOrArray
from ..ops.linalg.sparse_products import is_sparse


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
    """numpy.reshape; in Fortran's order the transpose has C's."""
    if order not in ("C", "F"):
        raise TypeError(f"numpy.reshape on Tensors: argument order={order!r} is not supported")
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    return ag.reshape(a, sizes) if order == "C" else transpose(ag.reshape(transpose(a), sizes[::-1]))


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


def where(condition: Any, *xy: Any) -> Any:
    """numpy.where: selection of two, or with the condition alone the indices where it holds."""
    if not xy:
        return ag.nonzero(condition, as_tuple=True)
    condition = tensors([condition])[0]
    if not any(isinstance(x, Tensor) for x in xy):
        return result(np.where(condition.array, *xy))
    return ag.where(condition if condition.dtype == bool else condition != 0, *map(operand, xy))


def operand(x: Any) -> Any:
    """A list or an array as a Tensor; Tensors and numbers as they are."""
    return tensors([np.asarray(x)])[0] if isinstance(x, (list, tuple, np.ndarray)) else x


def dot(a: Any, b: Any) -> Any:
    """numpy.dot: over the last dimension of a and the last but one of b; of a number the product."""
    if is_sparse(a) or is_sparse(b):
        return ag.matmul(a, b)
    a, b = of_one_dtype(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return ag.matmul(a, b) if b.ndim <= 2 else ag.tensordot(a, b, ([-1], [-2]))


def einsum(*operands: Any, optimize: Any = False) -> Tensor:
    """numpy.einsum, in either of its forms. The order of products is ours, whatever optimize says."""
    given = list(operands)
    places = range(1, len(given)) if isinstance(given[0], str) else range(0, len(given) - len(given) % 2, 2)
    for place, x in zip(places, of_one_dtype(*(given[i] for i in places)), strict=True):
        given[place] = x
    return ag.einsum(*given)


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Tensor:
    """numpy.clip, with the limits under either of their names."""
    (a,) = tensors([a])
    low, high = operand(a_min if min is None else min), operand(a_max if max is None else max)
    if isinstance(low, Tensor) != isinstance(high, Tensor):              # both are Tensors, or none
        low, high = (x if x is None or isinstance(x, Tensor) else ag.tensor(x, dtype=a.dtype) for x in (low, high))
    return ag.clamp(a, low, high)


def prod(a: Tensor, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False) -> Tensor:
    """numpy.prod of all elements, or along axes, one after the other."""
    if axis is None and not keepdims:
        return ag.prod(a, dtype=dtype)
    for dim in sorted((d % a.ndim for d in dims(a, axis)), reverse=True):
        a = ag.prod(a, dim, keepdims, dtype=dtype)
    return a


def floats(a: Tensor) -> Tensor:
    """Whole numbers as float64, in which NumPy computes means."""
    return a.double() if a.dtype.kind in "iub" else a


def spread(name: str) -> Callable[..., Any]:
    """var or std, of the population unless ddof says otherwise."""
    def call(a: Tensor, axis: Axis = None, dtype: DTypeLike = None, *, ddof: float = 0, correction: float | None = None,
             keepdims: bool = False) -> Tensor:
        a = floats(a) if dtype is None else a.to(dtype)
        return operations.named(name, f"numpy.{name}")(a, axis, correction=ddof if correction is None else correction,
                                                       keepdim=keepdims)
    return call


def observations(x: Any, rowvar: bool) -> Tensor:
    """Variables in rows."""
    (x,) = tensors([x])
    x = floats(x) if x.ndim == 2 else ag.reshape(floats(x), (1, -1))
    return x if rowvar or x.shape[0] == 1 else x.T


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
        aweights: Any = None) -> Tensor:
    """numpy.cov: covariances of the rows, or of the columns with rowvar=False."""
    x = ag.cat([observations(part, rowvar) for part in (m, y) if part is not None])
    return ag.cov(x, correction=int(not bias) if ddof is None else ddof, fweights=operand(fweights),
                  aweights=operand(aweights)).squeeze()


def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Tensor:
    """numpy.corrcoef: correlations of the rows, or of the columns with rowvar=False."""
    return ag.corrcoef(ag.cat([observations(part, rowvar) for part in (x, y) if part is not None])).squeeze()


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """numpy.diff; a number before or after is one for each row."""
    (a,) = tensors([a])

    def edge(x: Any) -> Any:
        if x is None:
            return None
        (x,) = tensors([x])
        shape = list(a.shape)
        shape[axis] = 1
        return x.to(a.dtype).expand(tuple(shape)) if x.ndim == 0 else x.to(a.dtype)

    return ag.diff(a, n, axis, edge(prepend), edge(append))


def ordered(a: Tensor, axis: int | None, kind: str | None, stable: bool | None) -> tuple[Tensor, int, bool]:
    """The arguments of sort() and argsort() as autograd takes them."""
    return (ag.reshape(a, -1), 0, True) if axis is None else (a, axis, bool(stable) or kind in ("stable", "mergesort"))


def sort(a: Tensor, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None) -> Tensor:
    """numpy.sort: ascending; of the flattened array without an axis."""
    a, axis, stable = ordered(a, axis, kind, stable)
    return ag.sort(a, axis, stable=stable)[0]


def argsort(a: Tensor, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None) -> Tensor:
    """numpy.argsort: the positions that sort() takes its elements from."""
    a, axis, stable = ordered(a, axis, kind, stable)
    return ag.argsort(a, axis, stable=stable)


def concatenate(arrays: Any, axis: int | None = 0) -> Tensor:
    """numpy.concatenate; without an axis of the flattened arrays."""
    return ag.cat(tensors(arrays), axis) if axis is not None else ag.cat([ag.reshape(x, -1) for x in tensors(arrays)])


def expand_dims(a: Tensor, axis: Any) -> Tensor:
    """numpy.expand_dims, with NumPy's errors."""
    return ag.reshape(a, np.expand_dims(np.broadcast_to(np.False_, a.shape), axis).shape)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """numpy.meshgrid: the coordinates of a grid, one array a dimension."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    places = [1, 0, *range(2, len(xi))] if indexing == "xy" and len(xi) > 1 else range(len(xi))
    grids = [ag.reshape(x, [-1 if place == i else 1 for i in range(len(xi))])
             for place, x in zip(places, tensors(xi), strict=True)]
    grids = grids if sparse else list(broadcast_arrays(*grids))
    return tuple(ag.clone(grid) for grid in grids) if copy else tuple(grids)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """numpy.repeat: as often for each element, or as often as a list says."""
    counts = np.asarray(plain(repeats))
    times = int(counts.reshape(())) if counts.size == 1 else result(counts.astype(np.int64))
    return ag.repeat_interleave(*tensors([a]), times, axis)


def take(a: Any, indices: Any, axis: int | None = None, *, mode: str = "raise") -> Tensor:
    """numpy.take: elements along an axis, or of the flattened array."""
    (a,) = tensors([a])
    a, axis = (ag.reshape(a, -1), 0) if axis is None else (a, axis)
    places = np.asarray(plain(indices))
    places = places if places.size else places.astype(np.int64)          # an empty list is of floats
    places = places if mode == "raise" else np.take(np.arange(a.shape[axis]), places, mode=mode)  # type: ignore[call-overload]
    return a[(slice(None),) * (axis % a.ndim) + (result(places),)]


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Tensor:
    """numpy.take_along_axis: the other dimensions broadcast, negative indices count from the end."""
    (arr,) = tensors([arr])
    arr, axis = (ag.reshape(arr, -1), 0) if axis is None else (arr, axis % arr.ndim)
    places = np.asarray(plain(indices))
    if places.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    width, count = arr.shape[axis], places.shape[axis]
    outer = list(np.broadcast_shapes(*((*x.shape[:axis], 1, *x.shape[axis + 1:]) for x in (arr, places))))
    places = np.broadcast_to(np.where(places < 0, places + width, places), (*outer[:axis], count, *outer[axis + 1:]))
    return ag.gather(arr.expand((*outer[:axis], width, *outer[axis + 1:])), axis, result(places.copy()))


def diagonal(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """numpy.diagonal: of the planes of two dimensions; they become the last one."""
    return ag.diagonal(a, offset, axis1, axis2)


def trace(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None) -> Tensor:
    """numpy.trace: the sum of each diagonal."""
    return ag.sum(ag.diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


def moved(function: Callable[..., Any], place: int = 0) -> Callable[..., Any]:
    """A function of NumPy that moves, repeats or leaves out elements: a selection by what it makes of their numbers."""
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) <= place:
            raise TypeError(f"numpy.{function.__name__} on Tensors: the array must be given by position")
        (a,) = tensors([args[place]])
        flat, numbers = ag.reshape(a, -1), np.arange(a.numel()).reshape(a.shape)
        others = [plain(x) for x in args]
        return flat[result(function(*others[:place], numbers, *others[place + 1:], **kwargs))]

    return call


def divmod(a: Any, b: Any) -> tuple[Any, Any]:
    """numpy.divmod: floored quotient and remainder."""
    return ag.floor_divide(a, b), ag.remainder(a, b)


def modf(x: Tensor) -> tuple[Any, Any]:
    """numpy.modf: the fraction and the whole part, both with the sign of x."""
    return ag.frac(x), ag.trunc(x)


def matvec(a: Any, b: Any) -> Tensor:
    """numpy.matvec: a matrix times a vector, for each of a stack."""
    return ag.matmul(a, ag.unsqueeze(b, -1)).squeeze(-1)


def vecmat(a: Any, b: Any) -> Tensor:
    """numpy.vecmat: a vector's conjugate times a matrix, for each of a stack."""
    return ag.matmul(ag.unsqueeze(ag.conj(a), -2), b).squeeze(-2)


# ufuncs without an operation of their own
UFUNCS: dict[str, Callable[..., Any]] = {"divmod": divmod, "modf": modf, "matvec": matvec, "vecmat": vecmat}


def cumulative(name: str) -> Callable[..., Any]:
    """cumsum or cumprod, of the flattened array without an axis."""
    return lambda a, axis=None, dtype=None: operations.named(name, f"numpy.{name}")(
        ag.reshape(a, -1) if axis is None else a, 0 if axis is None else axis, dtype=dtype)


def close(name: str) -> Callable[..., Any]:
    """allclose or isclose."""
    return lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: operations.named(name, f"numpy.{name}")(
        *of_one_dtype(a, b), rtol=rtol, atol=atol, equal_nan=equal_nan)


def same(name: str) -> Callable[..., Any]:
    """autograd's function of the same name and arguments, the first by position."""
    return lambda *args: operations.named(name, f"numpy.{name}")(*args)


def gradient(f: Tensor, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """numpy.gradient: an array for one axis, else a list with one for each."""
    along = dims(f, axis)
    spacing = varargs if len(varargs) > 1 else varargs * len(along)
    found = list(ag.gradient(f, spacing=[s if np.ndim(plain(s)) == 0 else tensors([s])[0] for s in spacing], dim=along,
                             edge_order=edge_order) if spacing else ag.gradient(f, dim=along, edge_order=edge_order))
    return found[0] if len(along) == 1 else tuple(found)


def plain(x: Any) -> Any:
    """A Tensor's array; anything else as it is."""
    return x.array if isinstance(x, Tensor) else x


def pad(array: Tensor, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0, **settings: Any) -> Tensor:
    """numpy.pad with constants, or with elements of the array."""
    if mode in ("edge", "reflect", "symmetric", "wrap", "empty"):
        if mode != "empty":
            return moved(np.pad)(array, pad_width, mode, **settings)
        mode = "constant"
    if mode != "constant" or settings:
        raise TypeError(f"numpy.pad on Tensors: mode={mode!r}, {settings} is not supported; constant, edge, reflect, "
                        "symmetric and wrap are")
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(d, pad_width.get(d - array.ndim, 0)) for d in range(array.ndim)]
        pad_width = [width if np.ndim(width) else (width, width) for width in pad_width]
    widths = np.broadcast_to(np.asarray(plain(pad_width)), (array.ndim, 2))
    values = np.asarray(plain(constant_values))
    if values.size == 1:
        return ag.constant_pad_nd(array, [int(width) for pair in widths[::-1] for width in pair], values.item())
    edges = np.broadcast_to(values, (array.ndim, 2))
    for dim, (counts, both) in enumerate(zip(widths, edges, strict=True)):
        shapes = [[int(count) if d == dim else n for d, n in enumerate(array.shape)] for count in counts]
        before, after = (ag.full(shape, value.item(), dtype=array.dtype) for shape, value in zip(shapes, both, strict=True))
        array = ag.cat([before, array, after], dim)
    return array


def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """numpy.average, with weights for each element or along one axis; returned: and the sum of the weights."""
    (a,) = tensors([a])
    a = floats(a)
    w = ag.ones_like(a) if weights is None else tensors([weights])[0]
    if w.shape != a.shape:
        if not isinstance(axis, (int, np.integer)):
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if tuple(w.shape) != (a.shape[axis],):
            raise ValueError("Length of weights not compatible with specified axis.")
        shape = [1] * a.ndim
        shape[axis] = -1
        w = w.reshape(shape).expand(a.shape)
    total = ag.sum(w, axis, keepdims)
    mean = ag.sum(a * w, axis, keepdims) / total
    return (mean, total) if returned else mean


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
    a, b = of_one_dtype(a, b)
    return ag.linalg.cross(*ag.broadcast_tensors(a, b), dim=axisa if axis is None else axis)


def ptp(a: Tensor, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """numpy.ptp: the largest less the smallest element."""
    return ag.amax(a, dims(a, axis), keepdims) - ag.amin(a, dims(a, axis), keepdims)


SAME = """atleast_1d atleast_2d atleast_3d"""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: same(name) for name in SAME.split()},
    "all": lambda a, axis=None, *, keepdims=False: ag.all(a, dims(a, axis), keepdims),
    "allclose": close("allclose"),
    "amax": lambda a, axis=None, *, keepdims=False: ag.amax(a, dims(a, axis), keepdims),
    "amin": lambda a, axis=None, *, keepdims=False: ag.amin(a, dims(a, axis), keepdims),
    "angle": lambda z, deg=False: ag.rad2deg(ag.angle(z)) if deg else ag.angle(z),
    "any": lambda a, axis=None, *, keepdims=False: ag.any(a, dims(a, axis), keepdims),
    "argmax": lambda a, axis=None, *, keepdims=False: ag.argmax(a, axis, keepdims),
    "argmin": lambda a, axis=None, *, keepdims=False: ag.argmin(a, axis, keepdims),
    "argsort": argsort,
    "argwhere": lambda a: ag.argwhere(a),
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
    "compress": moved(np.compress, 1),
    "concatenate": concatenate,
    "copy": lambda a, order="K": ag.clone(a),
    "count_nonzero": lambda a, axis=None: ag.count_nonzero(a, axis),
    "corrcoef": corrcoef,
    "cov": cov,
    "cross": cross,
    "cumprod": cumulative("cumprod"),
    "cumsum": cumulative("cumsum"),
    "delete": moved(np.delete),
    "diag": lambda v, k=0: ag.diag(v, k),
    "diagflat": lambda v, k=0: ag.diagflat(v, k),
    "diagonal": diagonal,
    "diff": diff,
    "dot": dot,
    "dsplit": lambda ary, indices_or_sections: parts(ary, indices_or_sections, 2),
    "dstack": lambda tup: ag.dstack(tensors(tup)),
    "ediff1d": lambda ary: diff(ag.reshape(ary, -1)),
    "einsum": einsum,
    "empty_like": lambda prototype, dtype=None: ag.empty_like(prototype, dtype=dtype),
    "expand_dims": expand_dims,
    "extract": lambda condition, arr: ag.masked_select(arr, *(x != 0 for x in tensors([condition]))),
    "flatnonzero": lambda a: ag.nonzero(ag.reshape(a, -1))[:, 0],
    "flip": lambda m, axis=None: ag.flip(m, dims(m, axis)),
    "fliplr": lambda m: ag.flip(m, (1,)),
    "flipud": lambda m: ag.flip(m, (0,)),
    "full_like": lambda a, fill_value, dtype=None: ag.full_like(a, fill_value, dtype=dtype),
    "gradient": gradient,
    "hsplit": lambda ary, indices_or_sections: parts(ary, indices_or_sections, 0 if ary.ndim == 1 else 1),
    "hstack": lambda tup: ag.hstack(tensors(tup)),
    "imag": lambda val: ag.imag(val) if val.dtype.kind == "c" else ag.zeros_like(val),
    "inner": lambda a, b: ag.inner(*of_one_dtype(a, b)),
    "isclose": close("isclose"),
    "isreal": lambda x: ag.isreal(x),
    "kron": lambda a, b: ag.kron(*tensors([a, b])),
    "matrix_transpose": lambda x: ag.transpose(x, -2, -1),
    "max": lambda a, axis=None, *, keepdims=False: ag.amax(a, dims(a, axis), keepdims),
    "meshgrid": meshgrid,
    "mean": lambda a, axis=None, dtype=None, *, keepdims=False: ag.mean(floats(a), axis, keepdims, dtype=dtype),
    "min": lambda a, axis=None, *, keepdims=False: ag.amin(a, dims(a, axis), keepdims),
    "moveaxis": lambda a, source, destination: ag.movedim(a, source, destination),
    "nan_to_num": lambda x, *, nan=0.0, posinf=None, neginf=None: ag.nan_to_num(x, nan, posinf, neginf),
    "nanmean": lambda a, axis=None, dtype=None, *, keepdims=False: ag.nanmean(floats(a), axis, keepdims, dtype=dtype),
    "nansum": lambda a, axis=None, dtype=None, *, keepdims=False: ag.nansum(a, axis, keepdims, dtype=dtype),
    "nonzero": lambda a: ag.nonzero(a, as_tuple=True),
    "ones_like": lambda a, dtype=None: ag.ones_like(a, dtype=dtype),
    "outer": lambda a, b: ag.outer(*(ag.reshape(x, -1) for x in tensors([a, b]))),
    "pad": pad,
    "prod": prod,
    "ptp": ptp,
    "ravel": lambda a, order="C": reshape(a, -1, order),
    "real": lambda val: ag.real(val),
    "repeat": repeat,
    "reshape": reshape,
    "resize": moved(np.resize),
    "roll": lambda a, shift, axis=None: ag.roll(a, shift, axis),
    "rollaxis": moved(np.rollaxis),
    "rot90": lambda m, k=1, axes=(0, 1): ag.rot90(m, k, axes),
    "round": lambda a, decimals=0: ag.round(a, decimals=decimals) if decimals else ag.round(a),
    "sort": sort,
    "split": split,
    "squeeze": lambda a, axis=None: ag.squeeze(a) if axis is None else ag.squeeze(a, axis),
    "stack": lambda arrays, axis=0: ag.stack(tensors(arrays), axis),
    "std": spread("std"),
    "sum": lambda a, axis=None, dtype=None, *, keepdims=False: ag.sum(a, axis, keepdims, dtype=dtype),
    "swapaxes": lambda a, axis1, axis2: ag.transpose(a, axis1, axis2),
    "take": take,
    "take_along_axis": take_along_axis,
    "tensordot": lambda a, b, axes=2: ag.tensordot(*of_one_dtype(a, b), axes),
    "tile": lambda A, reps: ag.tile(A, (reps,) if isinstance(reps, (int, np.integer)) else tuple(reps)),
    "transpose": transpose,
    "trace": trace,
    "trapezoid": trapezoid,
    "tril": lambda m, k=0: ag.tril(m, k),
    "triu": lambda m, k=0: ag.triu(m, k),
    "unstack": lambda x, *, axis=0: ag.unbind(x, axis),
    "var": spread("var"),
    "vdot": lambda a, b: ag.vdot(*(ag.reshape(x, -1) for x in of_one_dtype(a, b))),
    "vsplit": lambda ary, indices_or_sections: parts(ary, indices_or_sections, 0),
    "vstack": lambda tup: ag.vstack(tensors(tup)),
    "where": where,
    "zeros_like": lambda a, dtype=None: ag.zeros_like(a, dtype=dtype),
}
for _name, _function in FUNCTIONS.items():           # what Python's errors about arguments begin with
    _function.__qualname__ = f"numpy.{_name} on Tensors"
