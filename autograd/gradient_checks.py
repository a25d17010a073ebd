"""Checks derivatives against differences: gradcheck for first ones, gradgradcheck for second ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .derivatives import grad
from .forward_ad import dual_level, make_dual, unpack_dual
from .mode import enable_grad, no_grad
from .tensor import Tensor, result


class GradcheckError(RuntimeError):
    """An analytical derivative differs from the numerical one."""


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _differentiable(outputs: Any) -> list[Tensor]:
    return [y for y in _as_tuple(outputs) if isinstance(y, Tensor) and y.dtype.kind in "fV" and y.requires_grad]


def gradcheck(func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
              raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
              check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
              check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False,
              masked: bool | None = None) -> bool:
    """Compare the Jacobians of func(*inputs), by backward and by central differences, for inputs that require grad.

    Use float64. fast_mode compares one random direction a pair instead of whole Jacobians. Also checked: the same
    result from two backward passes (nondet_tol), and gradients that are None. Raises GradcheckError, or returns False.

    >>> gradcheck(lambda x: x.exp() * x, randn(3, dtype=float64, requires_grad=True))
    """
    for flag, name in ((check_batched_grad, "check_batched_grad"),
                       (check_batched_forward_grad, "check_batched_forward_grad"), (masked, "masked")):
        if flag:
            raise NotImplementedError(f"gradcheck({name}=True) is not implemented")
    inputs = _as_tuple(inputs)
    sources = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if not sources:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the inputs have "
                         "requires_grad=True.")
    for index, x in enumerate(sources):
        if x.dtype != np.float64:
            warnings.warn(f"Input #{index} requires gradient and is not a double precision floating point. This check "
                          "will likely fail if all the inputs are not of double precision floating point.",
                          stacklevel=2)
    if not check_backward_ad and not check_forward_ad:
        raise ValueError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    try:
        if check_forward_ad:
            _check_forward(func, inputs, sources, eps, atol, rtol)
        if check_backward_ad:
            _check(func, inputs, sources, eps, atol, rtol, nondet_tol, fast_mode, check_undefined_grad,
                   check_grad_dtypes)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check(func: Any, inputs: Any, sources: list[Tensor], eps: float, atol: float, rtol: float, nondet_tol: float,
           fast: bool, undefined: bool, dtypes: bool) -> None:
    with enable_grad():
        outputs = _differentiable(func(*inputs))
    if not outputs:
        _check_independent(func, inputs, sources, eps, atol)
        return
    rng = np.random.default_rng(0)
    for number, y in enumerate(outputs):
        analytical = _fast_analytical if fast else _analytical
        numerical = _fast_numerical if fast else _numerical
        for position, x in enumerate(sources):
            u, v = rng.standard_normal(y.shape), rng.standard_normal(x.shape)
            a = analytical(y, x, u, v)
            b = analytical(y, x, u, v)
            if np.max(np.abs(a - b), initial=0.0) > nondet_tol:
                raise GradcheckError(f"Backward is not reentrant, i.e., running backward with same input and grad_output "
                                     f"multiple times gives different values, although analytical gradient matches "
                                     f"numerical gradient, for output {number} and input {position}")
            n = numerical(func, inputs, x, number, eps, u, v)
            if n is None:                            # an input without elements
                continue
            if not np.allclose(a, n, rtol=rtol, atol=atol, equal_nan=True):
                raise GradcheckError(f"Jacobian mismatch for output {number} with respect to input {position},\n"
                                     f"numerical:{n}\nanalytical:{a}\n")
        if dtypes:
            for x, g in zip(sources, grad(y.sum(), sources, retain_graph=True, allow_unused=True), strict=True):
                if g is not None and g.dtype != x.dtype:
                    raise GradcheckError(f"gradient dtype {g.dtype} differs from the input's {x.dtype}")
    if undefined:
        _check_zero(outputs, sources)


def _check_forward(func: Any, inputs: Any, sources: list[Tensor], eps: float, atol: float, rtol: float) -> None:
    """Tangents by forward mode against differences, one direction for each element of each input."""
    for position, x in enumerate(sources):
        rows: list[list[Any]] = []
        for i in range(x.array.size):
            direction = np.zeros(x.array.size, x.dtype)
            direction[i] = 1
            with dual_level():
                duals = [make_dual(x, result(direction.reshape(x.shape))) if y is x else y for y in inputs]
                outputs = [y for y in _as_tuple(func(*duals)) if isinstance(y, Tensor) and y.dtype.kind in "fV"]
                rows.append([(unpack_dual(y).tangent, y.shape) for y in outputs])
        for number in range(len(rows[0]) if rows else 0):
            a = np.array([np.zeros(shape).reshape(-1) if t is None else t.detach().numpy().reshape(-1)
                          for t, shape in (row[number] for row in rows)])
            n = _numerical(func, inputs, x, number, eps, None, None)
            if not np.allclose(a, n, rtol=rtol, atol=atol, equal_nan=True):
                raise GradcheckError(f"Jacobian computed with forward mode mismatch for output {number} with respect to "
                                     f"input {position},\nnumerical:{n}\nanalytical:{a}\n")


def _check_independent(func: Any, inputs: Any, sources: list[Tensor], eps: float, atol: float) -> None:
    """No output requires grad: then no output may change with the inputs."""
    outputs = [y for y in _as_tuple(func(*inputs)) if isinstance(y, Tensor) and y.dtype.kind in "fV"]
    for number in range(len(outputs)):
        for x in sources:
            n = _numerical(func, inputs, x, number, eps, None, None)
            if n is not None and not np.allclose(n, 0, atol=atol):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_zero(outputs: list[Tensor], sources: list[Tensor]) -> None:
    """A gradient of zeros at the outputs gives zeros (or None) at the inputs."""
    zeros = [result(np.zeros(y.shape, y.dtype)) for y in outputs]
    for g in grad(outputs, sources, zeros, retain_graph=True, allow_unused=True):
        if g is not None and np.any(g.array != 0):
            raise GradcheckError("Expected the gradient of zero output gradients to be zero")


def _analytical(y: Tensor, x: Tensor, u: Any, v: Any) -> Any:
    """d y / d x as a matrix (x elements, y elements), one backward pass a column."""
    columns = np.zeros((x.array.size, y.array.size))
    for j in range(y.array.size):
        seed = np.zeros(y.array.size, y.dtype)
        seed[j] = 1
        (g,) = grad(y, x, result(seed.reshape(y.shape)), retain_graph=True, allow_unused=True)
        if g is not None:
            if g.shape != x.shape:
                raise GradcheckError(f"Gradient has shape {list(g.shape)}, its input {list(x.shape)}")
            columns[:, j] = g.detach().numpy().reshape(-1)
    return columns


def _moved(func: Any, inputs: Any, x: Tensor, number: int, change: Any) -> Any:
    """Output `number` with `change` added to x; x is restored."""
    before = x.array.copy()
    np.copyto(x.array, before + change)
    try:
        with no_grad():
            outputs = [y for y in _as_tuple(func(*inputs)) if isinstance(y, Tensor) and y.dtype.kind in "fV"]
        return outputs[number].array.astype(np.float64)      # a copy: the output may share x's memory
    finally:
        np.copyto(x.array, before)


def _numerical(func: Any, inputs: Any, x: Tensor, number: int, eps: float, u: Any, v: Any) -> Any:
    """The same matrix by central differences."""
    rows = []
    for i in range(x.array.size):
        step = np.zeros(x.array.size, x.dtype)
        step[i] = eps
        step = step.reshape(x.shape)
        ahead, behind = (_moved(func, inputs, x, number, s) for s in (step, -step))
        rows.append(((ahead - behind) / (2 * eps)).reshape(-1))
    return np.array(rows) if rows else None


def _fast_analytical(y: Tensor, x: Tensor, u: Any, v: Any) -> Any:
    """<v, (dy/dx)^T u> by one backward pass."""
    (g,) = grad(y, x, result(u.astype(y.dtype)), retain_graph=True, allow_unused=True)
    return np.array(0.0 if g is None else np.vdot(g.detach().numpy(), v))


def _fast_numerical(func: Any, inputs: Any, x: Tensor, number: int, eps: float, u: Any, v: Any) -> Any:
    """The same number by one central difference along v."""
    step = (eps * v).astype(x.dtype)
    ahead, behind = (_moved(func, inputs, x, number, s) for s in (step, -step))
    return np.array(np.vdot(u, (ahead - behind) / (2 * eps)))


def gradgradcheck(func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6,
                  atol: float = 1e-5, rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False,
                  raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
                  check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_fwd_over_rev: bool = False,
                  check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False) -> bool:
    """gradcheck of the backward pass of func, with respect to the inputs and to the output gradients (random ones)."""
    if not check_fwd_over_rev and not check_rev_over_rev:
        raise ValueError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    inputs = _as_tuple(inputs)
    with enable_grad():
        outputs = _differentiable(func(*inputs))
    if grad_outputs is None:
        rng = np.random.default_rng(1)
        seeds = []
        for y in outputs:
            array = rng.standard_normal((*y.shape, 2))[..., 0] if gen_non_contig_grad_outputs \
                else rng.standard_normal(y.shape)
            seeds.append(result(np.asarray(array).astype(y.dtype, copy=False)).requires_grad_())
    else:
        seeds = [s.detach().requires_grad_() for s in _as_tuple(grad_outputs)]
    count = len(inputs)

    def backward_pass(*args: Any) -> Any:
        with enable_grad():
            sources = [x for x, given in zip(args[:count], inputs, strict=True)
                       if isinstance(given, Tensor) and given.requires_grad]
            ys = _differentiable(func(*args[:count]))
            grads = grad(ys, sources, list(args[count:]), create_graph=True, allow_unused=True)
            return tuple(g for g in grads if g is not None)

    return gradcheck(backward_pass, (*inputs, *seeds), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
                     nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
                     check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad, fast_mode=fast_mode,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, masked=masked)
