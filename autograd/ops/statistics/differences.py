"""Differences and integrals of samples along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...base.dtypes import bool_, uint8
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import TensorOrNumber
from .._names import also
from ..pointwise.comparison import ne
from ..reductions.cumulative import cumsum
from ..reductions.dims import dims_of, one_dim
from ..reductions.reduce import sum
from ..shape import cat, narrow, reshape


def _pairs(x: Tensor, dim: int) -> tuple[Any, Any]:
    """All but the first and all but the last along dim."""
    n = max(x.shape[dim] - 1, 0)
    return narrow(x, dim, min(1, x.shape[dim]), n), narrow(x, dim, 0, n)


@also(axis="dim")
@takes_out
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """The n-th difference of neighbours along `dim`, with `prepend` and `append` joined on before; bool: whether unequal."""
    if input.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    dim = one_dim(dim, input.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for extra in (prepend, append):
        if extra is not None and extra.ndim != input.ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input, got "
                               f"{extra.ndim} and {input.ndim}")
    x = input if n == 0 or (prepend is None and append is None) else \
        cat([part for part in (prepend, input, append) if part is not None], dim)
    for _ in range(n):
        if x.shape[dim] == 0:
            return x
        right, left = _pairs(x, dim)
        x = ne(right, left) if x.dtype.kind == "b" else right - left
    return x if x is not input else x.clone()


# --- integrals -------------------------------------------------------------------------------------------------------

def _widths(y: Tensor, x: Tensor, dim: int, name: str) -> Tensor:
    """The distances between samples at x, as a shape that meets y's."""
    if x.ndim == 0:
        raise RuntimeError(f"{name}: There is no one `x` value for each sample; x must have at least one dimension")
    if x.ndim == 1 and y.ndim != 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point, got {x.shape[0]} for "
                               f"{y.shape[dim]}")
        x = reshape(x, (-1,) + (1,) * (y.ndim - 1 - dim))
        right, left = _pairs(x, 0)
        return right - left
    lead = y.ndim - x.ndim
    x = reshape(x, (1,) * max(lead, 0) + tuple(x.shape))
    place = dim + max(-lead, 0)
    right, left = _pairs(x, place)
    return right - left


def _areas(y: Tensor, x: Tensor | None, dx: float | None, dim: int, name: str) -> tuple[Any, int]:
    """Twice the area under each pair of neighbours, and the dimension that they follow."""
    if y.dtype.kind == "b":
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if x is not None and dx is not None:
        raise TypeError(f"{name}() takes x or dx, not both")
    place = one_dim(dim, y.ndim)
    if x is None:
        right, left = _pairs(y, place)
        return (right + left) * (1 if dx is None else dx), place
    if x.dtype.kind == "b":
        raise RuntimeError(f"{name}: received a bool input for `x`, but bool is not supported")
    widths = _widths(y, x, place, name)
    right, left = _pairs(y, place)
    return widths * (right + left), place + max(widths.ndim - y.ndim, 0)


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """The integral of samples y along `dim` by the trapezoidal rule; at places x, or dx (1) apart."""
    if y.ndim and y.shape[one_dim(dim, y.ndim)] == 0 and y.dtype.kind != "b":
        return sum(y, dim) * 1.0
    areas, place = _areas(y, x, dx, dim, "trapezoid")
    return sum(areas, place) / 2.0


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integrals up to each sample but the first along `dim`, by the trapezoidal rule."""
    areas, place = _areas(y, x, dx, dim, "cumulative_trapezoid")
    return cumsum(areas, place) / 2.0


def trapz(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """trapezoid() by its older name."""
    return trapezoid(y, x, dx=dx, dim=dim)


# --- numerical derivatives -------------------------------------------------------------------------------------------

def _spacings(spacing: TensorOrNumber | Sequence[Tensor], dims: tuple[int, ...], given: bool) -> list[Any]:
    """One spacing, a number or a vector of places, for each dimension."""
    if not isinstance(spacing, (tuple, list)):
        if isinstance(spacing, Tensor) and spacing.ndim:
            spacing = [spacing]
        else:
            return [spacing.item() if isinstance(spacing, Tensor) else spacing] * len(dims)
    if len(spacing) != len(dims):
        raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar or a list of length equal to "
                           f"{'the number of dims' if given else 'input.dim()'} = {len(dims)}, but got a list of length "
                           f"{len(spacing)}")
    return list(spacing)


def _slope(x: Tensor, dim: int, places: TensorOrNumber, edge_order: int) -> Tensor:
    """The derivative along dim by differences of second order inside; places: the distance, or a vector of places."""
    n = x.shape[dim]

    def at(start: int, length: int = 1) -> Tensor:
        return narrow(x, dim, start, length)

    if not isinstance(places, Tensor):               # plain differences: a weight of 0 times inf would be nan
        inside = (at(2, n - 2) - at(0, n - 2)) / places / 2
        if edge_order == 1:
            return cat([(at(1) - at(0)) / places, inside, (at(n - 1) - at(n - 2)) / places], dim)
        start = (at(1) * 2. - at(0) * 1.5 - at(2) * 0.5) / places
        end = (at(n - 1) * 1.5 - at(n - 2) * 2. + at(n - 3) * 0.5) / places
        return cat([start, inside, end], dim)
    if places.ndim != 1 or places.shape[0] != n:
        raise RuntimeError(f"torch.gradient expected each coordinate tensor to be a vector as long as its dimension, "
                           f"{n}, got shape {list(places.shape)}")
    h = reshape(diff(places), (-1,) + (1,) * (x.ndim - 1 - dim))
    a, b = narrow(h, 0, 0, n - 2), narrow(h, 0, 1, n - 2)
    first, last = narrow(h, 0, 0, 1), narrow(h, 0, n - 2, 1)
    inside = (at(2, n - 2) * (a / (b * (a + b))) + at(1, n - 2) * ((b - a) / (a * b)) - at(0, n - 2) * (b / (a * (a + b))))
    if edge_order == 1:
        return cat([(at(1) - at(0)) / first, inside, (at(n - 1) - at(n - 2)) / last], dim)
    a, b = first, narrow(h, 0, 1, 1)
    start = at(1) * ((a + b) / (a * b)) - at(0) * ((2 * a + b) / (a * (a + b))) - at(2) * (a / (b * (a + b)))
    a, b = narrow(h, 0, n - 3, 1), last
    end = at(n - 1) * ((a + 2 * b) / (b * (a + b))) - at(n - 2) * ((a + b) / (a * b)) + at(n - 3) * (b / (a * (a + b)))
    return cat([start, inside, end], dim)


def gradient(input: Tensor, *, spacing: Sequence[Tensor] | float | None = 1, dim: int | Sequence[int] | None = None,
             edge_order: int = 1) -> tuple[Any, ...]:
    """The derivative of samples along each of `dim` (all), by central differences; edges of order 1 or 2."""
    if input.dtype in (uint8, bool_):
        raise RuntimeError(f"torch.gradient does not support {input.dtype} input; convert with .int()")
    dims = dims_of(dim, input.ndim)
    spacings = _spacings(1 if spacing is None else spacing, dims, dim is not None)
    if edge_order not in (1, 2):
        raise RuntimeError(f"torch.gradient only supports edge_order=1 and edge_order=2. edge_order={edge_order}")
    for d in dims:
        if input.shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1 = "
                               f"{edge_order + 1}, got shape {list(input.shape)}")
    return tuple([_slope(input, d, h, edge_order) for d, h in zip(dims, spacings, strict=True)])


__all__ = ["cumulative_trapezoid", "diff", "gradient", "trapezoid", "trapz"]
METHODS = ["diff"]
