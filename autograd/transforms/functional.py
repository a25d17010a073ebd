"""Derivatives of functions of tensors: vjp, jvp, vhp, hvp, jacobian, hessian, as `torch.autograd.functional` has them.

All of them take a function of one or several Tensors and its inputs (a Tensor or a tuple). With create_graph the results can
be differentiated again. With strict, what does not depend on an input is an error instead of zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import docstrings as _docstrings
from ..core.backward import grad
from ..core.modes import enable_grad, is_grad_enabled, set_grad_enabled
from ..core.tensor import Tensor, result
from ..core.types import TensorOrNumber
from ..ops.creation.fill import zeros_like
from ..ops.shape import reshape, squeeze, stack

OUTPUTS = "outputs of the user-provided function"
NOT_STRICT = "This is not allowed in strict mode"

UNTRACKED = {
    "outputs": ("Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                "differentiable manner from the input when running in strict mode."),
    "grad_inputs": ("The gradient with respect to input {i} is independent of the inputs of the user-provided function. "
                    f"{NOT_STRICT}."),
    "jacobian": ("While computing the hessian, found that the jacobian of the user-provided function with respect to "
                 f"input {{i}} is independent of the input. {NOT_STRICT}. You should ensure that your function is twice "
                 "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
                 "for example)."),
    "hessian": ("The hessian of the user-provided function with respect to input {i} is independent of the input. "
                f"{NOT_STRICT}. You should ensure that your function is thrice differentiable and that the hessian depends "
                "on the inputs."),
}
MISSING = {
    "back": f"The output of the user-provided function is independent of input {{i}}. {NOT_STRICT}.",
    "back_trick": ("The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the "
                   f"double backward trick to compute forward mode gradients. {NOT_STRICT}."),
    "double_back": f"The jacobian of the user-provided function is independent of input {{i}}. {NOT_STRICT}.",
    "double_back_trick": ("The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. "
                          f"{NOT_STRICT} as it prevents from using the double backward trick to replace forward mode AD."),
}


# --- arguments and results ---------------------------------------------------------------------------------------------

def _as_tuple(value: Any, what: str, caller: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether value is a tuple, and value as a tuple of Tensors."""
    several = isinstance(value, tuple)
    values = value if several else (value,)
    for index, one in enumerate(values):
        if not isinstance(one, Tensor):
            place = f"value at index {index}" if several else f"given {what}"
            raise TypeError(f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but the {place} "
                            f"has type {type(one)}.")
    return several, values


def _fresh(inputs: Sequence[Tensor], create_graph: bool, tracked: bool) -> tuple[Tensor, ...]:
    """Inputs to differentiate with respect to: views that stay in the graph of the given ones, or leaves."""
    return tuple([reshape(x, x.shape) if create_graph and x.requires_grad else x.detach().requires_grad_(tracked)
                  for x in inputs])


def _vector(v: TensorOrNumber | Sequence[Tensor], like: Sequence[Tensor], several: bool, create_graph: bool,
            caller: str) -> tuple[Tensor, ...]:
    """The v of vjp and the others, checked against the shapes of what it is multiplied with."""
    _, given = _as_tuple(v, "v", caller)
    given = _fresh(given, create_graph, False)
    if len(like) != len(given):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}." if several else
                           "The given v should contain a single Tensor.")
    for index, (one, other) in enumerate(zip(given, like, strict=True)):
        if one.shape != other.shape:
            place = f"Entry {index} in " if several else ""
            raise RuntimeError(f"{place}v has invalid size: should be {list(other.shape)} but got {list(one.shape)}.")
    return given


def _input_vector(v: TensorOrNumber | Sequence[Tensor] | None, inputs: tuple[Tensor, ...], several: bool, create_graph: bool,
                  caller: str) -> tuple[Tensor, ...] | None:
    """v for jvp, vhp, hvp: shaped like the inputs; None stands for 1 if there is one input of one element."""
    if v is not None:
        return _vector(v, inputs, several, create_graph, caller)
    if len(inputs) != 1 or inputs[0].numel() != 1:
        raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single Tensor "
                           "with a single element.")
    return None


def _check_tracked(values: Sequence[Any], kind: str, strict: bool) -> None:
    """In strict mode: all values depend on the inputs."""
    for index, value in enumerate(values if strict else ()):
        if value is None:
            raise RuntimeError(MISSING["back"].format(i=index))
        if not value.requires_grad:
            raise RuntimeError(UNTRACKED[kind].format(i=index))


def dependent_gradients(outputs: Sequence[Any], inputs: Sequence[Tensor], vectors: Any = None, create_graph: bool = False,
                        retain_graph: bool | None = None) -> tuple[Any, ...]:
    """grad() of those outputs that depend on something; None where nothing does."""
    vectors = (None,) * len(outputs) if vectors is None else vectors
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    found: tuple[Any, ...] = grad([o for o, _ in pairs], inputs, [v for _, v in pairs], allow_unused=True,
                                  create_graph=create_graph, retain_graph=retain_graph)
    return found


def _filled(grads: Sequence[Any], like: Sequence[Tensor], strict: bool, create_graph: bool, stage: str) -> list[Tensor]:
    """The gradients, with zeros for missing ones; an error for those in strict mode."""
    out = []
    for index, (g, other) in enumerate(zip(grads, like, strict=True)):
        if g is None and strict:
            raise RuntimeError(MISSING[stage].format(i=index))
        if g is not None and strict and create_graph and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(f"The {what} of the user-provided function is independent of input {index}. {NOT_STRICT} "
                               "when create_graph=True.")
        out.append(zeros_like(other) if g is None else g)
    return out


def _returned(values: Sequence[Any], several: bool, create_graph: bool) -> Any:
    """One result or a tuple of them, out of the graph unless create_graph."""
    values = tuple(values) if create_graph else tuple([x.detach() for x in values])
    return values if several else values[0]


def _scalar(outputs: Sequence[Tensor], several: bool, caller: str) -> None:
    if several:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {caller} should contain a single element")


# --- products ----------------------------------------------------------------------------------------------------------

def vjp(func: Callable[..., Any], inputs: Tensor | Sequence[Tensor], v: Tensor | Sequence[Tensor] | None = None,
        create_graph: bool = False, strict: bool = False) -> Any:
    """(func(*inputs), v^T J) with J the Jacobian of func at the inputs."""
    with enable_grad():
        several, inputs = _as_tuple(inputs, "inputs", "vjp")
        inputs = _fresh(inputs, create_graph, True)
        several_outputs, outputs = _as_tuple(func(*inputs), OUTPUTS, "vjp")
        _check_tracked(outputs, "outputs", strict)
        if v is not None:
            v = _vector(v, outputs, several_outputs, create_graph, "vjp")
        elif len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor with "
                               "a single element.")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(dependent_gradients(outputs, inputs, v, create_graph), inputs, strict, create_graph, "back")
    return _returned(outputs, several_outputs, create_graph), _returned(found, several, create_graph)


def jvp(func: Callable[..., Any], inputs: Any, v: Tensor | Sequence[Tensor] | None = None, create_graph: bool = False,
        strict: bool = False) -> Any:
    """(func(*inputs), J v) with J the Jacobian of func at the inputs.

    J v is the derivative of u^T J, which is linear in u, with respect to u: two backward passes."""
    with enable_grad():
        several, inputs = _as_tuple(inputs, "inputs", "jvp")
        inputs = _fresh(inputs, create_graph, True)
        v = _input_vector(v, inputs, several, create_graph, "jvp")
        several_outputs, outputs = _as_tuple(func(*inputs), OUTPUTS, "jvp")
        _check_tracked(outputs, "outputs", strict)
        u = tuple([zeros_like(out, requires_grad=True) for out in outputs])
        rows = dependent_gradients(outputs, inputs, u, create_graph=True)
        _check_tracked(rows, "grad_inputs", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(dependent_gradients(rows, u, v, create_graph), outputs, strict, create_graph, "back_trick")
    return _returned(outputs, several_outputs, create_graph), _returned(found, several_outputs, create_graph)


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(func(*inputs), v^T H) with H the Hessian of a scalar function."""
    several, inputs, v, outputs, rows = _first_derivative(func, inputs, v, create_graph, strict, "vhp")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(dependent_gradients(rows, inputs, v, create_graph), inputs, strict, create_graph, "double_back")
    return _returned(outputs, False, create_graph), _returned(found, several, create_graph)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(func(*inputs), H v) with H the Hessian of a scalar function; vhp() gives the same where H is symmetric, for less."""
    several, inputs, v, outputs, rows = _first_derivative(func, inputs, v, create_graph, strict, "hvp")
    with enable_grad():
        u = tuple([zeros_like(x, requires_grad=True) for x in inputs])
        second = dependent_gradients(rows, inputs, u, create_graph=True)
        _check_tracked(rows, "hessian", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(dependent_gradients(second, u, v, create_graph), inputs, strict, create_graph, "double_back_trick")
    return _returned(outputs, False, create_graph), _returned(found, several, create_graph)


def _first_derivative(func: Callable[..., Any], inputs: Tensor | Sequence[Tensor],
                      v: TensorOrNumber | Sequence[Tensor] | None, create_graph: bool, strict: bool,
                      caller: str) -> tuple[Any, ...]:
    """The first part of vhp and hvp: the inputs, v, the output and its gradient, which can be differentiated again."""
    with enable_grad():
        several, inputs = _as_tuple(inputs, "inputs", caller)
        inputs = _fresh(inputs, create_graph, True)
        v = _input_vector(v, inputs, several, create_graph, caller)
        several_outputs, outputs = _as_tuple(func(*inputs), OUTPUTS, caller)
        _check_tracked(outputs, "outputs", strict)
        _scalar(outputs, several_outputs, caller)
        rows = dependent_gradients(outputs, inputs, create_graph=True)
        _check_tracked(rows, "jacobian", strict)
    return several, inputs, v, outputs, rows


# --- matrices ----------------------------------------------------------------------------------------------------------

def jacobian(func: Callable[..., Any], inputs: Tensor | Sequence[Tensor], create_graph: bool = False, strict: bool = False,
             vectorize: bool = False, strategy: str = "reverse-mode") -> Any:
    """J[output][input], of shape output.shape + input.shape; without the index where there is one output or input.

    One backward pass per element of the outputs, whatever vectorize and strategy ask for: they change nothing but which
    of the other arguments are allowed, as in PyTorch."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has '
                             'more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to '
                             'use "reverse-mode".')
    if strategy == "forward-mode":
        _check_forward(create_graph, strict, vectorize)
    with enable_grad():
        several, inputs = _as_tuple(inputs, "inputs", "jacobian")
        inputs = _fresh(inputs, create_graph, True)
        several_outputs, outputs = _as_tuple(func(*inputs), OUTPUTS, "jacobian")
        _check_tracked(outputs, "outputs", strict)
        for out in outputs:
            if out.dtype.kind == "c":
                raise RuntimeError(f"jacobian: the outputs must be real, but one of shape {list(out.shape)} is {out.dtype}: "
                                   "its derivatives by real and imaginary parts do not fit one matrix; use view_as_real")
        if vectorize and strict:
            raise RuntimeError("autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                               "together. Please either set `strict=False` or `vectorize=False`.")
        rows = tuple([_returned(_jacobian_row(number, out, inputs, create_graph, strict), several, create_graph)
                      for number, out in enumerate(outputs)])
    return rows if several_outputs else rows[0]


def _check_forward(create_graph: bool, strict: bool, vectorize: bool) -> None:
    """What PyTorch's forward-mode strategy does not take."""
    if create_graph:
        raise NotImplementedError("autograd.functional.jacobian: `create_graph=True` and `strategy=\"forward-mode\"` are "
                                  "not supported together (yet). Please either set `create_graph=False` or "
                                  "`strategy=\"reverse-mode\"`.")
    if strict:
        raise RuntimeError("autograd.functional.jacobian: `strict=True` and `strategy=\"forward-mode\"` are not supported "
                           "together (yet). Please either set `strict=False` or `strategy=\"reverse-mode\"`.")
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented "
                                  "for `vectorize=True`.")


def _jacobian_row(number: int, out: Tensor, inputs: Sequence[Tensor], create_graph: bool, strict: bool) -> list[Any]:
    """The derivatives of one output with respect to each input."""
    columns: list[list[Any]] = [[] for _ in inputs]
    for position in range(out.numel()):
        seed: Any = np.zeros(out.numel(), out.dtype)
        seed[position] = 1
        grads = dependent_gradients((out,), inputs, (result(seed.reshape(out.shape)),), create_graph, retain_graph=True)
        for index, (column, g, x) in enumerate(zip(columns, grads, inputs, strict=True)):
            if g is None and strict:
                raise RuntimeError(f"Output {number} of the user-provided function is independent of input {index}. "
                                   f"{NOT_STRICT}.")
            if g is not None and strict and create_graph and not g.requires_grad:
                raise RuntimeError(f"The jacobian of the user-provided function is independent of input {number}. "
                                   f"{NOT_STRICT} when create_graph=True.")
            column.append(zeros_like(x) if g is None else g)
    return [reshape(stack(column), (*out.shape, *x.shape)) if column else
            result(np.zeros((*out.shape, *x.shape), x.dtype)) for column, x in zip(columns, inputs, strict=True)]


def hessian(func: Callable[..., Any], inputs: Tensor | Sequence[Tensor], create_graph: bool = False, strict: bool = False,
            vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """H[i][j], the second derivatives of a scalar function with respect to inputs i and j; H itself for one input."""
    several, inputs = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*args: Tensor) -> Tensor:
        out = func(*args)
        several_outputs, outputs = _as_tuple(out, OUTPUTS, "hessian")
        _check_tracked(outputs, "outputs", strict)
        _scalar(outputs, several_outputs, "hessian")
        squeezed: Tensor = squeeze(out)
        return squeezed

    def first(*args: Tensor) -> tuple[Tensor, ...]:
        row = jacobian(scalar, args, create_graph=True)
        _check_tracked(row, "jacobian", strict)
        return row

    found = jacobian(first, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if several else found[0][0]


_docstrings.complete(globals(), "transforms", "autograd.functional.")
