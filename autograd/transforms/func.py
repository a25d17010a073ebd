"""Functions of functions, as torch.func has them: grad, vjp, jvp, jacrev, jacfwd, hessian, linearize and vmap.

All derivatives are backward passes whose graph is kept, so they nest in each other and in vmap in any order. A result is
tracked where the derivative depends on a tensor from outside that requires a gradient (an argument, a closure), and only
there. vmap calls the function once for each sample: right for every function, and no quicker than the loop that it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..base.nested import nested_map, nested_values
from ..core.modes import enable_grad, is_grad_enabled
from ..core.random import get_rng_state, set_rng_state
from ..core.tensor import AccumulateGrad, Tensor, result
from ..ops.creation.fill import zeros_like
from ..ops.shape import movedim, reshape, stack, unbind
from .functional import dependent_gradients

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Argnums = int | tuple[int, ...]


def _leaves(nested: Any) -> list[Any]:
    return list(nested_values(nested))


# --- inputs, outputs, and what lies outside -------------------------------------------------------------------------------

def _inputs(tree: Any, caller: str) -> Any:
    """The tree of tensors to differentiate with respect to: views of tracked ones, still in their graph; else leaves."""
    def fresh(x: Any) -> Tensor:
        if not isinstance(x, Tensor):
            raise ValueError(f"{caller}: expected the inputs to differentiate to be Tensors, got {type(x)}; argnums says "
                             "which arguments they are")
        return reshape(x, x.shape) if x.requires_grad else x.detach().requires_grad_()
    return nested_map(fresh, tree)


def _outputs(out: Any, caller: str) -> list[Tensor]:
    """The tensors that a function returned."""
    found = _leaves(out)
    for one in found:
        if not isinstance(one, Tensor):
            raise RuntimeError(f"{caller}: Expected f(*args) to return only tensors, got unsupported type {type(one)}")
    return found


def _leaves_behind(tensors: Sequence[Any]) -> Iterator[int]:
    """id() of the tensors in whose .grad a backward pass from these would end."""
    waiting = [x.grad_fn for x in tensors if isinstance(x, Tensor) and x.grad_fn is not None]
    yield from [id(x) for x in tensors if isinstance(x, Tensor) and x.requires_grad and x.grad_fn is None]
    seen = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, AccumulateGrad):
            yield id(node.variable)
        waiting.extend([follower for follower, _ in node.next_functions if follower is not None])


def _released(tree: Any, inputs: Sequence[Tensor], tracked: bool) -> Any:
    """The tree, out of the graph unless it depends on more than the inputs; tracked: whether the caller records."""
    own = {id(x) for x in inputs}
    if tracked and any(leaf not in own for leaf in _leaves_behind(_leaves(tree))):
        return tree
    return nested_map(lambda x: x.detach() if isinstance(x, Tensor) else x, tree)


def _pulled(outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence[Any]) -> list[Tensor]:
    """v^T J for each input, with a graph; zeros where nothing depends on it."""
    with enable_grad():
        found = dependent_gradients(outputs, inputs, vectors, create_graph=True)
    return [zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


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
        numbers = _chosen(args, argnums, caller)
        chosen = _inputs(tuple([args[number] for number in numbers]), caller)
        self.tree: Any = chosen[0] if isinstance(argnums, int) else chosen
        self.inputs: list[Tensor] = _leaves(chosen)
        every = list(args)
        for number, one in zip(numbers, chosen, strict=True):
            every[number] = one
        with enable_grad():
            self.out, self.aux = _split(func(*every, **kwargs), has_aux, caller)

    def release(self, tree: Any) -> Any:
        """A result for the caller."""
        return _released(tree, self.inputs, self.tracked)


def _demand_real(call: _Call, caller: str) -> None:
    """RuntimeError for complex numbers, of which a Jacobian would hold the derivatives by real parts alone."""
    for what, tensors in (("inputs", call.inputs), ("outputs", _leaves(call.out))):
        for x in tensors:
            if isinstance(x, Tensor) and x.dtype.kind == "c":
                raise RuntimeError(f"{caller}: expected all {what} to be real, but one of shape {list(x.shape)} is "
                                   f"{x.dtype}; use view_as_real, or vjp and jvp")


# --- products -------------------------------------------------------------------------------------------------------------

def grad_and_value(func: Callable[Arguments, Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[Arguments, Any]:
    """A function that gives the gradient of func, and func's value.

    Args:
        func (Callable[..., Any]): Returns a tensor of one element and no dimension; with has_aux, and something else.
        argnums (int or tuple[int, ...]): Which arguments to differentiate: tensors, or tuples, lists and dicts of them.
            Default: 0.
        has_aux (bool): Whether func returns (value, something else). Default: False.

    Returns:
        Callable[..., Any]: A function of func's arguments -> (gradients, value), or (gradients, (value, something else)).

    Raises:
        RuntimeError: Expected f(*args) to return a scalar Tensor.

    Example:
        >>> ag.func.grad_and_value(lambda x: (x * x).sum())(ag.tensor([1.0, 2.0]))
        (tensor([2., 4.]), tensor(5.))
    """
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        caller = "grad_and_value(f)(*args)"
        call = _Call(func, args, kwargs, argnums, has_aux, caller)
        if not isinstance(call.out, Tensor):
            raise RuntimeError(f"{caller}: Expected f(*args) to return a Tensor, got {type(call.out)}")
        if call.out.dim():
            raise RuntimeError(f"{caller}: Expected f(*args) to return a scalar Tensor, got tensor with {call.out.dim()} "
                               "dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
        found = _like(call.tree, _pulled([call.out], call.inputs, [None]))
        value = (call.out, call.aux) if has_aux else call.out
        return call.release(found), call.release(value)
    return wrapper


def grad(func: Callable[Arguments, Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[Arguments, Any]:
    """A function that gives the gradient of func.

    Args:
        func (Callable[..., Any]): Returns a tensor of one element and no dimension; with has_aux, and something else.
        argnums (int or tuple[int, ...]): Which arguments to differentiate: tensors, or tuples, lists and dicts of them.
            Default: 0.
        has_aux (bool): Whether func returns (value, something else). Default: False.

    Returns:
        Callable[..., Any]: A function of func's arguments -> gradients, or (gradients, something else).

    Example:
        >>> ag.func.grad(ag.func.grad(lambda x: x ** 3))(ag.tensor(2.0))
        tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found
    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """func's value, and a function that multiplies vectors with its Jacobian from the left.

    Args:
        func (Callable[..., Any]): Takes the primals; returns tensors; with has_aux, and something else.
        primals: Tensors, or tuples, lists and dicts of them.
        has_aux (bool): Whether func returns (output, something else). Default: False.

    Returns:
        (output, product), or (output, product, something else). product takes vectors shaped like the output, and returns a
        tuple with a gradient for each primal.

    Raises:
        RuntimeError: Expected a tensor for each of the outputs of f.

    Example:
        >>> y, product = ag.func.vjp(lambda x: x * x, ag.tensor([1.0, 2.0]))
        >>> y, product(ag.tensor([1.0, 10.0]))
        (tensor([1., 4.]), (tensor([ 2., 40.]),))
    """
    call = _Call(func, primals, {}, tuple(range(len(primals))), has_aux, "vjp(f, *primals)")
    outputs = _outputs(call.out, "vjp(f, *primals)")

    def product(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        vectors = _leaves(cotangents)
        if len(vectors) != len(outputs):
            raise RuntimeError(f"vjp_fn: Expected a tensor for each of the {len(outputs)} outputs of f, got {len(vectors)}")
        found = _like(call.tree, _pulled(outputs, call.inputs, vectors))
        return _released(found, call.inputs, is_grad_enabled() if create_graph is None else create_graph)
    return (call.release(call.out), product, *([call.release(call.aux)] if has_aux else []))


def _pushing(call: _Call, caller: str) -> Callable[[Sequence[Tensor]], Any]:
    """tangents -> J tangents: the derivative, with respect to u, of u^T J, which is linear in u."""
    outputs = _outputs(call.out, caller)
    with enable_grad():
        u = [zeros_like(y).requires_grad_() for y in outputs]
    rows = _pulled(outputs, call.inputs, u)

    def product(tangents: Sequence[Tensor]) -> Any:
        return _like(call.out, _pulled(rows, u, tangents))
    call.inputs += u                                  # u is ours, too: a result that depends on it alone is not tracked
    return product


def _tangents(primals: Any, tangents: Any, caller: str) -> list[Tensor]:
    """The tangents, checked against the primals."""
    found, expected = _leaves(tangents), _leaves(primals)
    if not isinstance(tangents, type(primals)) or [x.shape for x in found] != [x.shape for x in expected]:
        raise RuntimeError(f"{caller}: Expected primals and tangents to have the same structure and shapes, got "
                           f"{[list(x.shape) for x in expected]} and {[list(x.shape) for x in found]}")
    return found


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """func's value, and its Jacobian times the tangents.

    Args:
        func (Callable[..., Any]): Takes the primals; returns tensors; with has_aux, and something else.
        primals (tuple): Tensors, or tuples, lists and dicts of them.
        tangents (tuple): As the primals.
        strict (bool): Whether an output that depends on no primal is an error, not zeros. Default: False.
        has_aux (bool): Whether func returns (output, something else). Default: False.

    Returns:
        (output, product), or (output, product, something else).

    Raises:
        RuntimeError: Expected primals and tangents to have the same structure and shapes.
        RuntimeError: The output depends on no primal, and strict is true.

    Example:
        >>> ag.func.jvp(lambda x: x * x, (ag.tensor([1.0, 2.0]),), (ag.tensor([1.0, 10.0]),))
        (tensor([1., 4.]), tensor([ 2., 40.]))
    """
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
    """func's value, and a function that multiplies its Jacobian with tangents, as often as it is called.

    Args:
        func (Callable[..., Any]): Takes the primals; returns tensors.
        primals: Tensors, or tuples, lists and dicts of them.

    Returns:
        (output, product); product takes tangents as func takes primals.

    Example:
        >>> y, product = ag.func.linearize(lambda x: x * x, ag.tensor([1.0, 2.0]))
        >>> product(ag.tensor([1.0, 10.0]))
        tensor([ 2., 40.])
    """
    call = _Call(func, primals, {}, tuple(range(len(primals))), False, "linearize(f, *primals)")
    push = _pushing(call, "linearize(f, *primals)")

    def product(*tangents: Any) -> Any:
        return call.release(push(_tangents(primals, tangents, "jvp_fn")))
    return call.release(call.out), product


# --- matrices -------------------------------------------------------------------------------------------------------------

def _basis(x: Tensor) -> Iterator[Tensor]:
    """Tensors shaped like x that are 1 in one place."""
    for place in np.ndindex(*x.shape):
        one = np.zeros(x.shape, x.dtype)
        one[place] = 1
        yield result(one)


def _checked_chunks(chunk_size: int | None, caller: str) -> None:
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"{caller}: `chunk_size` should be greater than 0.")


def jacrev(func: Callable[Arguments, Any], argnums: Argnums = 0, *, has_aux: bool = False,
           chunk_size: int | None = None) -> Callable[Arguments, Any]:
    """A function that gives func's Jacobian, by a backward pass for each element of the output.

    Args:
        func (Callable[..., Any]): Returns tensors; with has_aux, and something else.
        argnums (int or tuple[int, ...]): Which arguments to differentiate: tensors, or tuples, lists and dicts of them.
            Default: 0.
        has_aux (bool): Whether func returns (output, something else). Default: False.
        chunk_size (int): Has no effect: rows are computed one by one. Default: None.

    Returns:
        Callable[..., Any]: A function of func's arguments -> for each output, for each input, a tensor of the shapes of the
        output and of the input, one after the other.

    Raises:
        ValueError: `chunk_size` should be greater than 0.

    Example:
        >>> ag.func.jacrev(lambda x: x * x)(ag.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    _checked_chunks(chunk_size, "jacrev")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        caller = "jacrev(f)(*args)"
        call = _Call(func, args, kwargs, argnums, has_aux, caller)
        _outputs(call.out, caller)
        _demand_real(call, caller)

        def of(y: Tensor) -> Any:
            rows = [_pulled([y], call.inputs, [one]) for one in _basis(y)]
            found = [reshape(stack(column), (*y.shape, *x.shape)) for column, x in
                     zip(zip(*rows, strict=True), call.inputs, strict=True)] if rows else [
                         result(np.zeros((*y.shape, *x.shape), x.dtype)) for x in call.inputs]
            return _like(call.tree, found)
        found = call.release(nested_map(of, call.out))
        return (found, call.release(call.aux)) if has_aux else found
    return wrapper


def jacfwd(func: Callable[Arguments, Any], argnums: Argnums = 0, has_aux: bool = False, *, chunk_size: int | None = None,
           randomness: str = "error") -> Callable[Arguments, Any]:
    """A function that gives func's Jacobian, by a pass for each element of the inputs.

    Args:
        func (Callable[..., Any]): Returns tensors; with has_aux, and something else.
        argnums (int or tuple[int, ...]): Which arguments to differentiate: tensors, or tuples, lists and dicts of them.
            Default: 0.
        has_aux (bool): Whether func returns (output, something else). Default: False.
        chunk_size (int): Has no effect: columns are computed one by one. Default: None.
        randomness (str): Has no effect: func is called once. Default: 'error'.

    Returns:
        Callable[..., Any]: As jacrev's.

    Raises:
        ValueError: `chunk_size` should be greater than 0.

    Example:
        >>> ag.func.jacfwd(lambda x: x * x)(ag.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    _checked_chunks(chunk_size, "jacfwd")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, args, kwargs, argnums, has_aux, "jacfwd(f)(*args)")
        _demand_real(call, "jacfwd(f)(*args)")
        inputs = list(call.inputs)
        push = _pushing(call, "jacfwd(f)(*args)")
        columns: list[list[Tensor]] = []               # for each input and each of the outputs
        for number, x in enumerate(inputs):
            products = [_leaves(push([one if n == number else zeros_like(other) for n, other in enumerate(inputs)]))
                        for one in _basis(x)]
            columns.append([reshape(stack(parts, -1), (*y.shape, *x.shape)) if parts else
                            result(np.zeros((*y.shape, *x.shape), y.dtype))
                            for y, parts in zip(_leaves(call.out), zip(*products, strict=True) if products else
                                                [()] * len(_leaves(call.out)), strict=True)])
        rows = iter(zip(*columns, strict=True))
        found = call.release(nested_map(lambda _: _like(call.tree, next(rows)), call.out))
        return (found, call.release(call.aux)) if has_aux else found
    return wrapper


def hessian(func: Callable[Arguments, Any], argnums: Argnums = 0) -> Callable[Arguments, Any]:
    """A function that gives func's second derivatives: jacfwd(jacrev(func)).

    Args:
        func (Callable[..., Any]): Returns tensors.
        argnums (int or tuple[int, ...]): Which arguments to differentiate: tensors, or tuples, lists and dicts of them.
            Default: 0.

    Returns:
        Callable[..., Any]: A function of func's arguments.

    Example:
        >>> ag.func.hessian(lambda x: (x ** 3).sum())(ag.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


# --- one call for each sample ---------------------------------------------------------------------------------------------

def vmap(func: Callable[Arguments, Result], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
         chunk_size: int | None = None) -> Callable[Arguments, Result]:
    """A function that calls func for each sample along a dimension of its arguments, and stacks what comes out.

    It is a loop: PyTorch's vmap gives operations whole batches and is quicker, but knows rules for some functions only. Here
    func may do anything: branch on values, call item(), call any Function.

    Args:
        func (Callable[..., Any]): Takes samples; returns a Tensor, or tuples, lists and dicts of them.
        in_dims (int or nested structure): Along which dimension each argument has the samples; None for what each call is
            given whole. Default: 0.
        out_dims (int or tuple[int, ...]): Where the new dimension of each output is. Default: 0.
        randomness (str): "different": random numbers are those of the calls, one after the other; "same": of the first one;
            "error": none may be drawn. Default: 'error'.
        chunk_size (int): Has no effect: samples are computed one by one. Default: None.

    Returns:
        Callable[..., Any]: A function of batches of func's arguments; what is given by keyword goes to each call whole.

    Raises:
        RuntimeError: Only allowed values for randomness are 'error', 'different', or 'same'.
        ValueError: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs.
        ValueError: `chunk_size` should be greater than 0.

    Example:
        >>> ag.func.vmap(ag.dot)(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), ag.ones(2, 2))
        tensor([3., 7.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    _checked_chunks(chunk_size, "vmap")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not isinstance(in_dims, (int, tuple, list)):
            raise ValueError("vmap: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
                             f"inputs, got: {type(in_dims)}.")
        dims = _spread(in_dims if isinstance(in_dims, int) else tuple(in_dims), args, "in_dims")
        samples = _samples(_leaves(args), dims)
        outs = []
        before = get_rng_state() if randomness != "different" else None
        for sample in zip(*samples, strict=True):
            if before is not None and randomness == "same":
                set_rng_state(before)
            outs.append(func(*_like(args, sample), **kwargs))
            if before is not None and randomness == "error" and not np.array_equal(before.array, get_rng_state().array):
                raise RuntimeError("vmap: called random operation while in randomness error mode. Please either use the "
                                   "'same' or 'different' randomness flags on vmap or perform the randomness operation "
                                   "out of vmap")
        return _stacked(outs, out_dims)
    return wrapper


def _spread(prefix: Any, tree: Any, what: str) -> list[Any]:
    """For each leaf of the tree what the prefix says of it: one value for all leaves under it, or a tree of values."""
    if not isinstance(prefix, (tuple, list, dict)):
        return [prefix] * len(_leaves(tree))
    if not isinstance(tree, dict if isinstance(prefix, dict) else (tuple, list)) or len(prefix) != len(tree):
        raise ValueError(f"vmap: {what} {prefix!r} does not fit the structure of {type(tree).__name__} it is for")
    pairs = [(prefix[key], tree[key]) for key in tree] if isinstance(prefix, dict) else zip(prefix, tree, strict=True)
    return [value for one, item in pairs for value in _spread(one, item, what)]


def _samples(given: Sequence[Any], dims: Sequence[Any]) -> list[Sequence[Any]]:
    """For each leaf of the arguments what each call gets of it."""
    sizes = []
    for x, dim in zip(given, dims, strict=True):
        if dim is None:
            continue
        if not isinstance(x, Tensor):
            raise ValueError(f"vmap: Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot vmap over "
                             "non-Tensor arguments, please use None as the respective in_dim")
        if not -x.dim() <= dim < x.dim():
            raise ValueError(f"vmap: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                             f"{x.dim()} so expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}.")
        sizes.append(x.shape[dim])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over: every in_dim is None")
    if len(set(sizes)) > 1:
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                         f"{sizes} for the mapped dimension")
    if not sizes[0]:
        raise NotImplementedError("vmap: 0 samples: the shapes of what f returns are found by calling it with a sample")
    return [[x] * sizes[0] if dim is None else unbind(x, dim) for x, dim in zip(given, dims, strict=True)]


def _stacked(outs: Sequence[Any], out_dims: Any) -> Any:
    """What the calls returned, as batches."""
    for one in _leaves(outs):
        if not isinstance(one, Tensor):
            raise ValueError(f"vmap: `f` must only return Tensors, got type {type(one)}")
    columns = [list(column) for column in zip(*[_leaves(out) for out in outs], strict=True)]
    dims = _spread(out_dims if isinstance(out_dims, int) or out_dims is None else tuple(out_dims),
                  outs[0] if isinstance(out_dims, int) or isinstance(outs[0], tuple) else (outs[0],), "out_dims")
    return _like(outs[0], [column[0] if dim is None else movedim(stack(column), 0, dim)
                           for column, dim in zip(columns, dims, strict=True)])


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and buffers of several models of one kind, stacked, for vmap over functional_call.

    Args:
        models (list[Module]): Of the same class and shapes, all in training mode or none.

    Returns:
        (dict[str, Tensor], dict[str, Tensor]): Parameters, leaves that require gradients as the models' do; and buffers.

    Raises:
        RuntimeError: stack_module_state: Expected at least one model, got 0.
        RuntimeError: stack_module_state: Expected all models to have the same training/eval mode.
        RuntimeError: stack_module_state: Expected all models to be of the same class.

    Example:
        >>> parameters, buffers = ag.func.stack_module_state([ag.nn.Linear(2, 1) for _ in range(3)])
        >>> parameters["weight"].shape
        Size([3, 1, 2])
    """
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


__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "stack_module_state", "vjp", "vmap"]
