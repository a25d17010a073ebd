"""The forms of an index in x[...]: PyTorch's, reduced to a view followed by NumPy's integer arrays."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from ...core.primitive import value_read
from ...core.tensor import Tensor
from ...core.types import TensorOrArray

EVERYTHING = slice(None)
SEQUENCES = (list, tuple, range)
MSG_TYPE = ("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
            "(got {})")


def plain(index: Any) -> Any:
    """An index with arrays where it had Tensors and lists; integers, slices, None, ... and bools as they are."""
    if index.__class__ is tuple:
        return tuple([plain(i) for i in index])
    out = part(index)
    return out.array if isinstance(out, Tensor) else out


def parts_of(index: Any) -> tuple[Any, ...]:
    """The index for each dimension. A short list that holds slices, sequences or Tensors counts as a tuple."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < 32 and any(
            i is None or i is Ellipsis or isinstance(i, (slice, Tensor, np.ndarray, *SEQUENCES)) for i in index):
        warnings.warn("Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of "
                      "x[seq].", UserWarning, stacklevel=3)
        return tuple(index)
    return (index,)


def part(p: Any) -> Any:
    """One part of an index as an int, a slice, None, Ellipsis, a bool, or an integer or bool array or Tensor of one
    dimension or more. IndexError for what is none."""
    kind = p.__class__
    if kind is int or kind is bool or p is None or p is Ellipsis:
        return p
    if kind is slice:
        if p.step is not None and operator.index(p.step) < 0:
            raise ValueError(f"step must be greater than zero, not {p.step}")
        return p
    if isinstance(p, (Tensor, np.ndarray)):
        return _array(p)
    if isinstance(p, SEQUENCES):
        array = np.asarray([element(i) for i in p], None if len(p) else np.int64)
        return array if array.dtype.kind in "ib" else array.astype(np.int64)
    if isinstance(p, np.bool_):
        raise IndexError(MSG_TYPE.format("numpy.bool"))
    if hasattr(kind, "__array__") and not isinstance(p, np.generic):
        return _array(np.asarray(p))                 # another library's: a pandas mask, a PyTorch tensor
    try:
        return operator.index(p)
    except TypeError:
        raise IndexError(MSG_TYPE.format(type(p).__name__)) from None


def element(p: Any) -> Any:
    """An element of a list that is an index: a number, or a sequence of such. A Tensor of one element is its number."""
    if isinstance(p, (float, np.floating)):
        return int(p)                                # as PyTorch reads it
    if isinstance(p, np.bool_):
        return bool(p)
    if isinstance(p, SEQUENCES):
        return [element(i) for i in p]
    found = plain(p)
    return found.item() if isinstance(p, Tensor) and isinstance(found, np.ndarray) and found.size == 1 else found


def _array(p: TensorOrArray) -> Any:
    dtype, ndim = p.dtype, p.ndim
    short = dtype.kind in "iu" and dtype.itemsize < 4 and dtype != np.uint8
    if isinstance(p, np.ndarray) and (short or dtype.kind in "fV"):
        return p.astype(np.int64)                    # PyTorch reads NumPy's floats and short integers so
    if dtype.kind not in "iub" or (ndim and dtype.kind == "i" and dtype.itemsize < 4):
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, not {dtype}")
    if dtype.kind == "u" and dtype.itemsize == 1:
        warnings.warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
                      UserWarning, stacklevel=4)
        p = (p.array if isinstance(p, Tensor) else p).astype(bool)
    return p if ndim else p.item()


def located(index: Any, shape: tuple[int, ...]) -> tuple[Any, tuple[int, ...], list[Any]]:
    """(basic, dims, arrays): x[index] is x[basic] with its dimensions `dims` indexed by `arrays` of integers.

    basic is None where it would change nothing. An integer makes its dimension go first, as in PyTorch: it does not count as
    an array when it comes to where the arrays' dimensions go (NumPy lets it)."""
    parts = [part(p) for p in parts_of(index)]
    taken = 0
    for p in parts:
        if isinstance(p, (Tensor, np.ndarray)):
            taken += p.ndim if p.dtype.kind == "b" else 1
        elif p is not None and p is not Ellipsis and p is not True and p is not False:
            taken += 1
    if taken > len(shape):
        if not shape:
            raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number")
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    basic: list[Any] = []
    dims: list[int] = []
    arrays: list[Any] = []
    dim = place = dots = 0                           # in x, in x[basic]; how many Ellipses
    for p in parts:
        if p is Ellipsis:
            fill = 0 if dots else len(shape) - taken
            dots += 1
            basic += [EVERYTHING] * fill
            dim, place = dim + fill, place + fill
        elif p is True or p is False:
            basic.append(None)
            arrays.append(np.zeros(int(p), np.int64))
            dims.append(place)
            place += 1
        elif isinstance(p, (Tensor, np.ndarray)):
            found = [p] if p.dtype.kind != "b" else nonzero_of(p, shape, dim)
            basic += [EVERYTHING] * len(found)
            arrays += found
            dims += range(place, place + len(found))
            dim, place = dim + len(found), place + len(found)
        else:
            basic.append(p)
            dim += p is not None
            place += p.__class__ is not int
    last: Any = parts[-1] if dots > 1 else None
    if dots > 1 and taken < len(shape) and last is not Ellipsis and not (last.__class__ is slice and last == EVERYTHING):
        raise IndexError(f"an index can have one Ellipsis ('...') only: {index}")
    trivial = all(p is EVERYTHING for p in basic)
    return None if trivial else tuple(basic), tuple(dims), arrays


def is_basic(index: Any, shape: tuple[int, ...]) -> bool:
    """Whether an index has only integers, slices, None and ..., so that x[index] is a view."""
    if index.__class__ is slice or (index.__class__ is int and shape):
        return True
    return not located(index, shape)[2]


def nonzero_of(mask: TensorOrArray, shape: tuple[int, ...], dim: int) -> list[Any]:
    """The indices of the true elements of a mask that begins at dimension `dim`, one array for each of its dimensions."""
    array = mask.array if isinstance(mask, Tensor) else mask
    if isinstance(mask, Tensor):
        value_read("a mask as an index")
    if array.shape != shape[dim:dim + array.ndim]:
        raise mismatch(array.shape, shape, dim)
    return list(np.nonzero(array))


def mismatch(mask: tuple[int, ...], shape: tuple[int, ...], dim: int = 0) -> IndexError:
    """What to raise for a mask that does not fit."""
    at = next((i for i, (a, b) in enumerate(zip(mask, shape[dim:], strict=False)) if a != b), 0)
    return IndexError(f"The shape of the mask {list(mask)} at index {at} does not match the shape of the indexed tensor "
                      f"{list(shape)} at index {dim + at}")


def worded(error: IndexError) -> IndexError:
    """NumPy's error in PyTorch's words."""
    text = str(error)
    if text.startswith("cannot do a non-empty take"):
        return IndexError("index is out of bounds for dimension with size 0")
    if text.startswith("too many indices for array: array is 0-dimensional"):
        return IndexError("invalid index of a 0-dim tensor. Use tensor.item() to convert a 0-dim tensor to a number")
    text = text.replace("along axis", "for dimension").replace("axis", "dimension").replace("array", "tensor")
    return IndexError(text)


__all__: list[str] = []
