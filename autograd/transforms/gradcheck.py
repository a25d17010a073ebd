"""gradcheck and gradgradcheck compare first and second derivatives with finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import docstrings as _docstrings
from ..base.types import Array
from ..core.backward import grad
from ..core.modes import enable_grad
from ..core.tensor import Tensor, result
from ..ops.creation.fill import zeros_like
from ..ops.shape import stack
from .forward_ad import dual_level, make_dual, unpack_dual
from .functional import dependent_gradients
from .vmap import vmap

MSG_NONE = "backward returned None for input {}, which requires grad: its gradient counts as zero"


class GradcheckError(RuntimeError):
    """An analytical derivative differs from the numerical one."""


def _as_tuple(value: Tensor | Sequence[Tensor]) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _floating(outputs: Tensor | Sequence[Tensor]) -> list[tuple[int, Tensor]]:
    """The outputs of floating point or complex dtype, each with its position among what the function returned."""
    return [(number, y) for number, y in enumerate(_as_tuple(outputs)) if isinstance(y, Tensor) and y.dtype.kind in "fcV"]


def _differentiable(outputs: Tensor | Sequence[Tensor]) -> list[tuple[int, Tensor]]:
    """The floating point or complex outputs that require grad, with their positions."""
    return [(number, y) for number, y in _floating(outputs) if y.requires_grad]


def _real(array: Array) -> Array:
    """The elements as one row of float64, a complex one as its real and its imaginary part: the coordinates in which
    Jacobians are compared. A gradient holds the derivatives by these coordinates, whatever the dtypes are."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128).reshape(-1).view(np.float64)
    return array.astype(np.float64).reshape(-1)


def _of(row: Array, like: Tensor) -> Array:
    """An array of the shape and dtype of `like` whose coordinates are `row`."""
    if like.dtype.kind == "c":
        row = np.ascontiguousarray(row).view(np.complex128)
    return row.reshape(like.shape).astype(like.dtype)


def _compare(a: Array, n: Any, y: Tensor, what: str, atol: float, rtol: float) -> None:
    """GradcheckError where two Jacobians (rows: the input's coordinates, columns: the output's) differ. Of a complex output
    the columns of imaginary parts are compared by themselves, and first."""
    parts = [("", slice(None))] if y.dtype.kind != "c" else [
        (f"While considering the {part} part of complex outputs only, ", slice(first, None, 2))
        for part, first in (("imaginary", 1), ("real", 0))]
    for prefix, columns in parts:
        if not np.allclose(a[..., columns], n[..., columns], rtol=rtol, atol=atol, equal_nan=True):
            raise GradcheckError(f"{prefix}{what},\nnumerical:{n[..., columns]}\nanalytical:{a[..., columns]}\n")


def gradcheck(func: Callable[..., Any], inputs: Tensor | Sequence[Tensor], *, eps: float = 1e-6, atol: float = 1e-5,
              rtol: float = 1e-3, raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
              check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
              check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False,
              masked: bool | None = None) -> bool:
    """Compare the Jacobians of func(*inputs), by backward and by central differences, for inputs that require grad.

    Use float64. fast_mode compares one random direction a pair instead of whole Jacobians. Also checked: the same
    result from two backward passes (nondet_tol), and gradients that are None. Raises GradcheckError, or returns False."""
    for flag, name in ((check_batched_forward_grad, "check_batched_forward_grad"), (masked, "masked")):
        if flag:
            raise NotImplementedError(f"gradcheck({name}=True) is not implemented")
    inputs = _as_tuple(inputs)
    sources = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if not sources:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the inputs have "
                         "requires_grad=True.")
    for index, x in enumerate(sources):
        if x.dtype not in (np.float64, np.complex128):
            warnings.warn(f"Input #{index} requires gradient and is not a double precision floating point. This check "
                          "will likely fail if all the inputs are not of double precision floating point.",
                          stacklevel=2)
    shared = overlap(list(enumerate(inputs)))
    if shared:
        raise RuntimeError(shared)
    if not check_backward_ad and not check_forward_ad:
        raise ValueError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    try:
        if check_forward_ad:
            _check_forward(func, inputs, sources, eps, atol, rtol)
        if check_backward_ad:
            _check(func, inputs, sources, eps, atol, rtol, nondet_tol, fast_mode, check_undefined_grad,
                   check_grad_dtypes, check_batched_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _addresses(array: Array) -> Array:
    """Where each element lies in memory."""
    places = np.zeros(array.shape, np.int64)
    for dim, (n, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        places += (np.arange(n) * stride).reshape((n,) + (1,) * (array.ndim - dim - 1))
    return places.reshape(-1) + array.__array_interface__["data"][0]


def overlap(inputs: Sequence[tuple[Any, Any]]) -> str:
    """Why the inputs (names and tensors) can't be changed element by element: a change of one that requires grad would
    change another. "" if they can."""
    tensors = [(name, x) for name, x in inputs if isinstance(x, Tensor)]
    advice = "gradcheck changes one element at a time, in place; call .clone() on the input first"
    for name, x in tensors:
        if not x.requires_grad:
            continue
        places = _addresses(x.array)
        if np.unique(places).size < places.size:
            return (f"gradcheck: elements of input {name} overlap in memory (shape {list(x.shape)}, strides "
                    f"{list(x.stride())}), as after expand(). {advice}.")
        for other, y in tensors:
            if y is not x and np.may_share_memory(x.array, y.array) and np.intersect1d(places, _addresses(y.array)).size:
                return f"gradcheck: inputs {name} and {other} overlap in memory. {advice}."
    return ""


def _check(func: Callable[..., Any], inputs: Sequence[Tensor], sources: list[Tensor], eps: float, atol: float, rtol: float,
           nondet_tol: float, fast: bool, undefined: bool, dtypes: bool, batched: bool) -> None:
    with enable_grad():
        outputs = _differentiable(func(*inputs))
    if not outputs:
        _check_independent(func, inputs, sources, eps, atol)
        return
    rng = np.random.default_rng(0)
    for number, (output_nr, y) in enumerate(outputs):
        analytical = _fast_analytical if fast else _analytical
        numerical = _fast_numerical if fast else _numerical
        for position, x in enumerate(sources):
            u, v = (rng.standard_normal(_real(z.array).size) for z in (y, x))
            a = analytical(y, x, u, v)
            b = analytical(y, x, u, v)
            if np.max(np.abs(a - b), initial=0.0) > nondet_tol:
                raise GradcheckError(f"Backward is not reentrant, i.e., running backward with same input and grad_output "
                                     f"multiple times gives different values, although analytical gradient matches "
                                     f"numerical gradient, for output {number} and input {position}")
            n = numerical(func, inputs, x, output_nr, eps, u, v)
            if n is not None:                        # None: an input without elements
                what = f"Jacobian mismatch for output {number} with respect to input {position}"
                try:
                    _compare(a, n, y, what, atol, rtol)
                except GradcheckError as error:
                    if dependent_gradients([y], [x], [zeros_like(y)], retain_graph=True)[0] is not None:
                        raise
                    raise GradcheckError(f"{error}{MSG_NONE.format(position)}\n") from None
        if dtypes:
            for x, g in zip(sources, grad(y.sum(), sources, retain_graph=True, allow_unused=True), strict=True):
                if g is not None and g.dtype != x.dtype:
                    raise GradcheckError(f"gradient dtype {g.dtype} differs from the input's {x.dtype}")
        if batched:
            _check_batched(y, sources, number, rng)
    if undefined:
        _check_zero([y for _, y in outputs], sources)


def _check_forward(func: Callable[..., Any], inputs: Sequence[Tensor], sources: list[Tensor], eps: float, atol: float,
                   rtol: float) -> None:
    """Tangents by forward mode against differences, one direction for each coordinate of each input. func gets inputs
    that do not require grad: forward mode alone is on."""
    with enable_grad():
        outputs = _differentiable(func(*inputs))
    for position, x in enumerate(sources):
        rows: list[list[Any]] = []
        for direction in np.eye(_real(x.array).size):
            with dual_level():
                duals = [make_dual(y.detach(), result(_of(direction, x))) if y is x
                         else y.detach() if isinstance(y, Tensor) and y.requires_grad else y for y in inputs]
                found = _as_tuple(func(*duals))
                tangents = [unpack_dual(found[output_nr]).tangent for output_nr, _ in outputs]
                rows.append([_real(np.zeros(y.shape, y.dtype) if t is None else t.detach().array)
                             for t, (_, y) in zip(tangents, outputs, strict=True)])
        for number, (output_nr, y) in enumerate(outputs if rows else ()):      # none: an input without elements
            n = _numerical(func, inputs, x, output_nr, eps, None, None)
            _compare(np.array([row[number] for row in rows]), n, y,
                     f"Jacobian computed with forward mode mismatch for output {number} with respect to input {position}",
                     atol, rtol)


def _check_independent(func: Any, inputs: Any, sources: list[Tensor], eps: float, atol: float) -> None:
    """No output requires grad: then no output may change with the inputs."""
    for output_nr, _ in _floating(func(*inputs)):
        for x in sources:
            n = _numerical(func, inputs, x, output_nr, eps, None, None)
            if n is not None and not np.allclose(n, 0, atol=atol):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_zero(outputs: list[Tensor], sources: list[Tensor]) -> None:
    """A gradient of zeros at the outputs gives zeros (or None) at the inputs."""
    zeros = [result(np.zeros(y.shape, y.dtype)) for y in outputs]
    for g in grad(outputs, sources, zeros, retain_graph=True, allow_unused=True):
        if g is not None and np.any(g.array != 0):
            raise GradcheckError("Expected the gradient of zero output gradients to be zero")


def _check_batched(y: Tensor, sources: list[Tensor], number: int, rng: np.random.Generator) -> None:
    """Backward of several gradients of an output at once, inside vmap(), gives what they give one by one."""
    def pull(v: Tensor) -> list[Tensor]:
        found = dependent_gradients([y], sources, [v], retain_graph=True)
        return [zeros_like(x) if g is None else g for g, x in zip(found, sources, strict=True)]

    vectors = [result(_of(rng.standard_normal(_real(y.array).size), y)) for _ in range(2)]
    each = [pull(v) for v in vectors]
    for position, (found, *expected) in enumerate(zip(vmap(pull)(stack(vectors)), *each, strict=True)):
        one_by_one = np.stack([g.detach().array for g in expected])
        if not np.allclose(found.detach().array, one_by_one, equal_nan=True):
            raise GradcheckError(f"Batched gradients mismatch for output {number} with respect to input {position},\n"
                                 f"by vmap:{found.detach().array}\none by one:{one_by_one}\n")


def _analytical(y: Tensor, x: Tensor, u: Array, v: Array) -> Array:
    """d y / d x as a matrix (coordinates of x, coordinates of y), one backward pass a column."""
    count = _real(y.array).size
    columns = np.zeros((_real(x.array).size, count))
    for j, row in enumerate(np.eye(count)):
        (g,) = grad(y, x, result(_of(row, y)), retain_graph=True, allow_unused=True)
        if g is not None:
            if g.shape != x.shape:
                raise GradcheckError(f"Gradient has shape {list(g.shape)}, its input {list(x.shape)}")
            columns[:, j] = _real(g.detach().array)
    return columns


def _perturbed_output(func: Callable[..., Any], inputs: Sequence[Tensor], x: Tensor, output_nr: int,
                      change: Array) -> Tensor:
    """A copy of output `output_nr` with `change` added to x; x is restored. Recording is on: func may ask what
    requires grad, or register hooks."""
    before = x.array.copy()
    np.copyto(x.array, before + change)
    try:
        with enable_grad():
            found: Tensor = _as_tuple(func(*inputs))[output_nr]
        return result(found.array.copy())            # the output may share x's memory
    finally:
        np.copyto(x.array, before)


def _difference(func: Callable[..., Any], inputs: Sequence[Tensor], x: Tensor, output_nr: int, eps: float,
                direction: Array) -> Array:
    """The central difference of an output along a direction of x, in coordinates."""
    step = _of(eps * direction, x)
    ahead, behind = (_perturbed_output(func, inputs, x, output_nr, s) for s in (step, -step))
    for name in ("shape", "dtype"):
        one, other = getattr(ahead, name), getattr(behind, name)
        if one != other:
            raise AssertionError(f"Expected `func` to return outputs with the same {name} when inputs are perturbed on the "
                                 f"order of {eps}, but got {one} and {other}")
    return (_real(ahead.array) - _real(behind.array)) / (2 * eps)


def _numerical(func: Callable[..., Any], inputs: Sequence[Tensor], x: Tensor, output_nr: int, eps: float, u: Array | None,
               v: Array | None) -> Array | None:
    """The Jacobian by central differences, laid out as in _analytical(); None for an input without elements."""
    rows = [_difference(func, inputs, x, output_nr, eps, direction) for direction in np.eye(_real(x.array).size)]
    return np.array(rows) if rows else None


def _weights_of_parts(u: Array, y: Tensor) -> list[Any]:
    """Weights of the coordinates of y: u, or for a complex y those of the real and those of the imaginary parts alone."""
    if y.dtype.kind != "c":
        return [u]
    real = np.arange(u.size) % 2 == 0
    return [np.where(real, u, 0), np.where(real, 0, u)]


def _fast_analytical(y: Tensor, x: Tensor, u: Array, v: Array) -> Array:
    """<v, (dy/dx)^T u> by one backward pass (two for a complex y)."""
    found = []
    for half in _weights_of_parts(u, y):
        (g,) = grad(y, x, result(_of(half, y)), retain_graph=True, allow_unused=True)
        found.append(0.0 if g is None else np.dot(_real(g.detach().array), v))
    return np.array(found)


def _fast_numerical(func: Callable[..., Any], inputs: Sequence[Tensor], x: Tensor, output_nr: int, eps: float, u: Array,
                    v: Array) -> Array:
    """The numbers of _fast_analytical() by one central difference along v."""
    moved = _difference(func, inputs, x, output_nr, eps, v)
    y = _as_tuple(func(*inputs))[output_nr]
    return np.array([np.dot(half, moved) for half in _weights_of_parts(u, y)])


def gradgradcheck(func: Callable[..., Any], inputs: Tensor | Sequence[Tensor], grad_outputs: Sequence[Tensor] | None = None,
                  *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False,
                  raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
                  check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_fwd_over_rev: bool = False,
                  check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False) -> bool:
    """gradcheck of the backward pass of func, with respect to the inputs and to the output gradients (random ones)."""
    if not check_fwd_over_rev and not check_rev_over_rev:
        raise ValueError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    inputs = _as_tuple(inputs)
    with enable_grad():
        outputs = [y for _, y in _differentiable(func(*inputs))]
    if grad_outputs is None:
        rng = np.random.default_rng(1)
        seeds = []
        for y in outputs:
            row = rng.standard_normal(_real(y.array).size)
            array = _of(row, y)
            if gen_non_contig_grad_outputs:
                array = np.stack([array, array], -1)[..., 0]
            seeds.append(result(array).requires_grad_())
    else:
        seeds = list(_as_tuple(grad_outputs))
    count = len(inputs)

    def backward_pass(*args: Any) -> tuple[Tensor, ...]:
        with enable_grad():
            sources = [x for x, given in zip(args[:count], inputs, strict=True)
                       if isinstance(given, Tensor) and given.requires_grad]
            for x in sources:
                x.requires_grad_()                   # _check_forward hands over tensors that do not
            ys = [y for _, y in _differentiable(func(*args[:count]))]
            grads = grad(ys, sources, list(args[count:]), create_graph=True, allow_unused=True)
            return tuple(g for g in grads if g is not None)

    return gradcheck(backward_pass, (*inputs, *seeds), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
                     nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
                     check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad, fast_mode=fast_mode,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, masked=masked)

_docstrings.complete(globals(), "transforms", "")
