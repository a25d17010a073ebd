"""Functions of functions, as torch.func has them: grad, vjp, jvp, jacrev, jacfwd, hessian and linearize; vmap.py has vmap.

All derivatives are backward passes, whose graph is made where a further derivative can ask for it, so they nest in each
other and in vmap in any order. A result is tracked where the derivative depends on a tensor from outside that requires a
gradient (an argument, a closure), and only there."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..base import docstrings as _docstrings
from ..base.pytree import nested_map, nested_values
from ..core.batching import Level, here, within
from ..core.engine import survey
from ..core.modes import enable_grad, is_grad_enabled
from ..core.tensor import Tensor, edge_of, result
from ..ops.creation.fill import zeros_like
from ..ops.shape import reshape, stack
from .functional import dependent_gradients
from .vmap import checked_chunks, differentiated, vmap

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Argnums = int | tuple[int, ...]


def _leaves(nested: Any) -> list[Any]:
    return list(nested_values(nested))


# --- inputs, outputs, and what lies outside -------------------------------------------------------------------------------

def _leaf(x: Tensor) -> Tensor:
    """A tensor to differentiate with respect to: a view of a tracked one, still in its graph; else a leaf."""
    return reshape(x, x.shape) if x.requires_grad else x.detach().requires_grad_()


def _inputs(tree: Any, caller: str) -> Any:
    """The tree of tensors to differentiate with respect to; inside vmap() each has its own value for each sample."""
    level = here.level

    def fresh(x: Any) -> Tensor:
        if not isinstance(x, Tensor):
            raise ValueError(f"{caller}: expected the inputs to differentiate to be Tensors, got {type(x)}; argnums says "
                             "which arguments they are")
        return _leaf(x) if level is None else level.gathered(_leaf(level.spread(x)))
    return nested_map(fresh, tree)


def _outputs(out: Any, caller: str) -> list[Tensor]:
    """The tensors that a function returned."""
    found = _leaves(out)
    for one in found:
        if not isinstance(one, Tensor):
            raise RuntimeError(f"{caller}: Expected f(*args) to return only tensors, got unsupported type {type(one)}")
    return found


def _leaves_behind(tensors: Sequence[Tensor]) -> Iterator[int]:
    """id() of the leaves whose .grad a backward pass from these tensors, which require grad, would set."""
    _, uses = survey([edge for x in tensors if (edge := edge_of(x)) is not None])
    return (id(leaf.variable) for leaf in uses)      # type: ignore[attr-defined]


def _like(tree: Any, values: Sequence[Any]) -> Any:
    """The values in the structure of the tree."""
    remaining = iter(values)
    return nested_map(lambda _: next(remaining), tree)


def _chosen(args: tuple[Any, ...], argnums: Argnums, caller: str) -> tuple[int, ...]:
    """The positions of the arguments to differentiate, counted from 0."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not numbers:
        raise RuntimeError(f"{caller}: argnums must be non-empty")
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"{caller}: Got argnum={number}, but only {len(args)} positional inputs")
    found = tuple([number % len(args) for number in numbers])
    if len(set(found)) < len(found):
        raise RuntimeError(f"{caller}: argnums elements must be unique, got {argnums}")
    return found


def _split(out: Any, has_aux: bool, caller: str) -> tuple[Any, Any]:
    """(output, auxiliary output) of what a function returned."""
    if not has_aux:
        return out, None
    if not isinstance(out, tuple) or len(out) != 2:
        raise RuntimeError(f"{caller}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return out


class _Call:
    """func(*args) with fresh inputs in the places `argnums`: what comes out, and what belongs to it."""

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums,
                 has_aux: bool, caller: str) -> None:
        self.tracked = is_grad_enabled()
        self.level = here.level                      # the vmap() that this is inside, if any
        numbers = _chosen(args, argnums, caller)
        chosen = _inputs(tuple([args[number] for number in numbers]), caller)
        self.tree: Any = chosen[0] if isinstance(argnums, int) else chosen
        self.inputs: list[Tensor] = _leaves(chosen)
        self.own = {id(self.batch(x)) for x in self.inputs}
        every = list(args)
        for number, one in zip(numbers, chosen, strict=True):
            every[number] = one
        out = recorded(func, *every, **kwargs) if self.level is None else recorded(
            differentiated, self.level, func, tuple(every), kwargs)
        self.out, self.aux = _split(out, has_aux, caller)

    def batch(self, x: Tensor) -> Tensor:
        """x; inside vmap() the tensor of all samples, whose graph backward passes run through."""
        return within(self.level, x, Level.spread)   # type: ignore[no-any-return]

    @cached_property
    def beyond(self) -> bool:
        """Whether the caller records, and the outputs depend on more than the inputs: then derivatives do so, too."""
        return self.depends(_leaves(self.out))

    def depends(self, tensors: Sequence[Any]) -> bool:
        """Whether the caller records, and tensors depend on more than the inputs."""
        if not self.tracked:
            return False
        recorded = [self.batch(x) for x in tensors if isinstance(x, Tensor) and x.requires_grad]
        return any(leaf not in self.own for leaf in _leaves_behind(recorded))

    def release(self, tree: Any, depends: bool | None = None) -> Any:
        """A result for the caller, out of the graph unless it depends on more than the inputs."""
        if self.depends(_leaves(tree)) if depends is None else depends:
            return tree
        return nested_map(lambda x: x.detach() if isinstance(x, Tensor) and x.requires_grad else x, tree)

    def pull(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence[Any], graph: bool,
             keep: bool | None = None) -> list[Tensor]:
        """v^T J for each input, with a graph or without; zeros where nothing depends on it. keep: the outputs' graph."""
        ends, starts, places = outputs, vectors, inputs
        if self.level is not None:
            ends, places = [self.batch(y) for y in outputs], [self.batch(x) for x in inputs]
            starts = [result(np.ones(y.shape, y.dtype)) if v is None else self.batch(v)
                      for v, y in zip(vectors, ends, strict=True)]
        found = recorded(dependent_gradients, ends, places, starts, graph, keep)
        if self.level is not None:
            found = [None if g is None else within(self.level, g, Level.gathered) for g in found]
        return [zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def recorded(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """function(*args, **kwargs) where operations are recorded."""
    if is_grad_enabled():
        return function(*args, **kwargs)
    with enable_grad():
        return function(*args, **kwargs)


def _demand_real(call: _Call, caller: str) -> None:
    """RuntimeError for complex numbers, of which a Jacobian would hold the derivatives by real parts alone."""
    for what, tensors in (("inputs", call.inputs), ("outputs", _leaves(call.out))):
        for x in tensors:
            if isinstance(x, Tensor) and x.dtype.kind == "c":
                raise RuntimeError(f"{caller}: expected all {what} to be real, but one of shape {list(x.shape)} is "
                                   f"{x.dtype}; use view_as_real, or vjp and jvp")


# --- products -------------------------------------------------------------------------------------------------------------

def grad_and_value(func: Callable[Arguments, Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[Arguments, Any]:
    """A function that computes the gradient and the value of func."""
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        caller = "grad_and_value(f)(*args)"
        call = _Call(func, args, kwargs, argnums, has_aux, caller)
        if not isinstance(call.out, Tensor):
            raise RuntimeError(f"{caller}: Expected f(*args) to return a Tensor, got {type(call.out)}")
        if call.out.dim():
            raise RuntimeError(f"{caller}: Expected f(*args) to return a scalar Tensor, got tensor with {call.out.dim()} "
                               "dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
        found = _like(call.tree, call.pull([call.out], call.inputs, [None], call.beyond))
        value = call.release(call.out, call.beyond)
        return call.release(found, None if call.beyond else False), (value, call.release(call.aux)) if has_aux else value
    return wrapper


def grad(func: Callable[Arguments, Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[Arguments, Any]:
    """A function that computes the gradient of func."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found
    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """func's value, and its vector-Jacobian product as a function."""
    call = _Call(func, primals, {}, tuple(range(len(primals))), has_aux, "vjp(f, *primals)")
    outputs = _outputs(call.out, "vjp(f, *primals)")

    def product(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        vectors = _leaves(cotangents)
        if len(vectors) != len(outputs):
            raise RuntimeError(f"vjp_fn: Expected a tensor for each of the {len(outputs)} outputs of f, got {len(vectors)}")
        graph = (is_grad_enabled() if create_graph is None else create_graph) and (
            call.beyond or any(v.requires_grad for v in vectors))
        found = _like(call.tree, call.pull(outputs, call.inputs, vectors, graph, retain_graph or graph))
        return call.release(found, None if graph else False)
    return (call.release(call.out), product, *([call.release(call.aux)] if has_aux else []))


def _pushing(call: _Call, caller: str) -> Callable[[Sequence[Tensor]], Any]:
    """tangents -> J tangents: the derivative, with respect to u, of u^T J, which is linear in u."""
    outputs = _outputs(call.out, caller)
    u = []
    for y in outputs:
        zeros = result(np.zeros(call.batch(y).shape, y.dtype)).requires_grad_()
        call.own.add(id(zeros))                       # u is ours, too: a result that depends on it alone is not tracked
        u.append(zeros if call.level is None else call.level.gathered(zeros))
    rows = call.pull(outputs, call.inputs, u, True)

    def product(tangents: Sequence[Tensor]) -> Any:
        graph = call.tracked and (call.beyond or any(t.requires_grad for t in tangents))
        return _like(call.out, call.pull(rows, u, tangents, graph, True))
    return product


def _tangents(primals: Any, tangents: Any, caller: str) -> list[Tensor]:
    """The tangents, checked against the primals."""
    found, expected = _leaves(tangents), _leaves(primals)
    if not isinstance(tangents, type(primals)) or [x.shape for x in found] != [x.shape for x in expected]:
        raise RuntimeError(f"{caller}: Expected primals and tangents to have the same structure and shapes, got "
                           f"{[list(x.shape) for x in expected]} and {[list(x.shape) for x in found]}")
    return found


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """func's value, and its Jacobian-vector product with the tangents."""
    caller = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{caller}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    given = _tangents(primals, tangents, caller)
    call = _Call(func, primals, {}, tuple(range(len(primals))), has_aux, caller)
    if strict and not all(y.requires_grad for y in _outputs(call.out, caller)):
        raise RuntimeError(f"{caller}: an output of f depends on no primal. This is not allowed in strict mode.")
    product = _pushing(call, caller)(given)
    return (call.release(call.out), call.release(product), *([call.release(call.aux)] if has_aux else []))


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """func's value, and its Jacobian-vector product as a function, for many tangents."""
    call = _Call(func, primals, {}, tuple(range(len(primals))), False, "linearize(f, *primals)")
    push = _pushing(call, "linearize(f, *primals)")

    def product(*tangents: Any) -> Any:
        return call.release(push(_tangents(primals, tangents, "jvp_fn")))
    return call.release(call.out), product


# --- matrices -------------------------------------------------------------------------------------------------------------

def _basis(x: Tensor) -> Tensor:
    """Tensors shaped like x that are 1 in one place, one for each place."""
    count = math.prod(x.shape)
    return result(np.eye(count, dtype=x.dtype).reshape(count, *x.shape))


def jacrev(func: Callable[Arguments, Any], argnums: Argnums = 0, *, has_aux: bool = False,
           chunk_size: int | None = None) -> Callable[Arguments, Any]:
    """A function that computes func's Jacobian with one backward pass per element of the output."""
    checked_chunks(chunk_size, "jacrev")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        caller = "jacrev(f)(*args)"
        call = _Call(func, args, kwargs, argnums, has_aux, caller)
        _outputs(call.out, caller)
        _demand_real(call, caller)

        def of(y: Tensor) -> Any:
            if not y.requires_grad or not math.prod(y.shape):
                return _like(call.tree, [result(np.zeros((*y.shape, *x.shape), x.dtype)) for x in call.inputs])

            def row(v: Tensor) -> list[Tensor]:
                return call.pull([y], call.inputs, [v], call.beyond, True)
            columns = vmap(row, chunk_size=chunk_size)(_basis(y))
            return _like(call.tree, [reshape(column, (*y.shape, *x.shape))
                                     for column, x in zip(columns, call.inputs, strict=True)])
        found = call.release(nested_map(of, call.out))
        return (found, call.release(call.aux)) if has_aux else found
    return wrapper


def jacfwd(func: Callable[Arguments, Any], argnums: Argnums = 0, has_aux: bool = False, *, chunk_size: int | None = None,
           randomness: str = "error") -> Callable[Arguments, Any]:
    """A function that computes func's Jacobian with one pass per element of the inputs."""
    checked_chunks(chunk_size, "jacfwd")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, args, kwargs, argnums, has_aux, "jacfwd(f)(*args)")
        _demand_real(call, "jacfwd(f)(*args)")
        inputs = list(call.inputs)
        push = _pushing(call, "jacfwd(f)(*args)")
        outputs = _leaves(call.out)
        columns: list[list[Tensor]] = []               # for each input and each of the outputs
        for number, x in enumerate(inputs):
            zeros = [zeros_like(other) for other in inputs]
            if not math.prod(x.shape):
                columns.append([result(np.zeros((*y.shape, *x.shape), y.dtype)) for y in outputs])
                continue

            def column(v: Tensor, number: int = number, zeros: list[Tensor] = zeros) -> list[Tensor]:
                return _leaves(push([*zeros[:number], v, *zeros[number + 1:]]))
            products = vmap(column, out_dims=-1, chunk_size=chunk_size)(_basis(x))
            columns.append([reshape(product, (*y.shape, *x.shape)) for product, y in zip(products, outputs, strict=True)])
        rows = iter(zip(*columns, strict=True))
        found = call.release(nested_map(lambda _: _like(call.tree, next(rows)), call.out))
        return (found, call.release(call.aux)) if has_aux else found
    return wrapper


def hessian(func: Callable[Arguments, Any], argnums: Argnums = 0) -> Callable[Arguments, Any]:
    """A function that computes func's Hessian: jacfwd(jacrev(func))."""
    return jacfwd(jacrev(func, argnums), argnums)


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Stack the parameters and buffers of several models, for vmap over functional_call."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(named: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
        found = {}
        for name, first in named[0].items():
            found[name] = stack([one[name].detach() for one in named])
            if first.requires_grad:
                found[name].requires_grad_()
        return found
    return (stacked([dict(model.named_parameters()) for model in models]),
            stacked([dict(model.named_buffers()) for model in models]))


_docstrings.complete(globals(), "transforms", "func.")
