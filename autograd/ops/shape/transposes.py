"""Dimensions in another order: transpose, permute, movedim. All views."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...core.batching import Level, placed
from ...core.declare import linear
from ...core.operation import Conj
from ...core.tensor import Tensor
from ...core.types import Operand
from .dims import either, sizes, wrap_dim

_swap: Any = linear("Transpose", lambda x, i, j: x.swapaxes(i, j), lambda g, was, i, j: _swap(g, i, j), view=True,
                    batched=placed(1, 2))


def _each_transposed(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """The rule for batches of t(): of matrices, vectors or numbers."""
    return _swap(level.raw(args[0]), *((1, 2) if args[0].ndim == 2 else (0, 0)))


_t: Any = linear("T", lambda x: x.T, lambda g, was: _t(g), view=True, batched=_each_transposed)
_permute: Any = linear("Permute", lambda x, dims: x.transpose(dims),
                       lambda g, was, dims: _permute(g, tuple(np.argsort(dims).tolist())), view=True,
                       batched=lambda level, call, args, settings: call(level.raw(args[0]), (0, *[d + 1 for d in args[1]])))


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """input with two dimensions exchanged, a view."""
    ndim = input.ndim
    i, j = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    return _swap(input, i, j) if ndim else _permute(input, ())


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """transpose() under NumPy's name."""
    return transpose(input, axis0, axis1)


swapdims = transpose


def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; vectors and scalars as they are. A view."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return _t(input)


def T(input: Tensor) -> Tensor:
    """The property x.T: the transpose of a matrix; other numbers of dimensions are reversed, with a warning."""
    if input.ndim not in (1, 2):
        warnings.warn("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated: use "
                      "`x.mT` for batches of matrices, or `x.permute(...)`", UserWarning, stacklevel=2)
    return _permute(input, tuple(range(input.ndim - 1, -1, -1)))


def _matrices(x: Operand, name: str) -> Operand:
    if x.ndim == 1:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return _swap(x, x.ndim - 2, x.ndim - 1) if x.ndim else x


def mT(input: Operand) -> Operand:
    """input with its last two dimensions exchanged, a view."""
    return _matrices(input, "mT")


def mH(input: Operand) -> Operand:
    """The conjugate transpose of each matrix; of real ones mT."""
    out = _matrices(input, "mH")
    return Conj.apply(out) if out.dtype.kind == "c" else out


def adjoint(input: Tensor) -> Tensor:
    """The conjugate transpose of each matrix: mH as a method."""
    return mH(input) if input.ndim != 1 else _matrices(input, "adjoint()")


def H(input: Tensor) -> Tensor:
    """The conjugate transpose of one matrix."""
    if input.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndim}-D tensor. For batches "
                           "of matrices, consider using tensor.mH")
    return mH(input)


def permute(input: Tensor, *args: Any, dims: Any = None) -> Tensor:
    """input with its dimensions in the order `dims`, a view."""
    given = sizes(either(args, dims))
    if len(given) != input.ndim:
        raise RuntimeError(f"permute: the tensor has {input.ndim} dimensions, but dims {list(given)} name {len(given)}; "
                           f"they must name each of the {input.ndim} dimensions once")
    order = tuple([wrap_dim(d, input.ndim) for d in given])
    if len(set(order)) != len(order):
        raise RuntimeError(f"permute(): duplicate dims are not allowed: dims {list(given)} do not name each of the "
                           f"{input.ndim} dimensions once")
    return _permute(input, order)


def movedim(input: Any, source: Any, destination: Any) -> Any:
    """input with dimensions moved from `source` to `destination` (integers, or as many in each), the others in order."""
    ndim = input.ndim
    ends: list[list[int]] = []
    for name, dims in (("source", source), ("destination", destination)):
        listed = list(dims) if isinstance(dims, (tuple, list)) else [dims]
        ends.append([wrap_dim(d, ndim) for d in listed])
        if len(set(ends[-1])) != len(listed):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({listed})")
    origins, targets = ends
    if len(origins) != len(targets):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({origins} dims) should contain the same "
                           f"number of dims as destination ({targets} dims)")
    order = [d for d in range(ndim) if d not in origins]
    for place, d in sorted(zip(targets, origins, strict=True)):
        order.insert(place, d)
    return _permute(input, tuple(order) if ndim else ())


moveaxis = movedim

__all__ = ["adjoint", "moveaxis", "movedim", "permute", "swapaxes", "swapdims", "t", "transpose"]
METHODS = ["adjoint", "moveaxis", "movedim", "permute", "swapaxes", "swapdims", "t", "transpose"]
PROPERTIES = ["H", "T", "mH", "mT"]
