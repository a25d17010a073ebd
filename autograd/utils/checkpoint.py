"""checkpoint(): a function runs without saving tensors for backward, which recomputes them by running it a second time.

With use_reentrant=False a placeholder is saved instead of each tensor (a pair of saved_tensors_hooks). The first
placeholder that a backward pass unpacks runs the function again and fills all of them. The reentrant variant is a Function
whose backward records the function and calls backward() on the result.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..amp.autocast_mode import autocast, get_autocast_dtype, is_autocast_cache_enabled, is_autocast_enabled
from ..base.arguments import whole_number
from ..core.backward import backward
from ..core.engine import is_checkpoint_valid
from ..core.function import Function
from ..core.modes import enable_grad, is_grad_enabled, no_grad
from ..core.tensor import Tensor
from ..core.types import Gradients
from ..modes.random import Generator, default_generator, using_generator
from .recompute import CheckpointError, Frame, Log, facts_of

MSG_PARAMETER = ("{name}: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended, but "
                 "if you need to preserve the current default behavior, you can pass use_reentrant=True.")
MSG_REENTRANT = ("When use_reentrant=True, checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
                 ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without "
                 "passing the `inputs` argument.")
MSG_SUPPRESSED = ("checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
                  "checkpointed forward. This is not supported because checkpoint cannot return a value for a failed "
                  "forward.")
CHECKS: dict[str, Callable[[Tensor], Any]] = {"default": facts_of, "none": lambda _: None}


class _Overrides:
    """What set_checkpoint_early_stop and set_checkpoint_debug_enabled ask for; None leaves it to the calls."""

    early_stop: bool | None = None
    debug: bool | None = None


_overrides = _Overrides()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Context manager: set early_stop of all checkpoint(use_reentrant=False) calls in the block.

    Args:
        enable (bool): If True, recomputation ends as soon as all saved tensors are there.

    Example:
        >>> runs = []
        >>> def f(x):
        ...     y = x.exp()
        ...     runs.append("after exp")             # nothing that backward needs follows
        ...     return y
        >>> x = ag.ones(2, requires_grad=True)
        >>> with ag.utils.checkpoint.set_checkpoint_early_stop(False):
        ...     y = ag.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
        >>> y.sum().backward()
        >>> len(runs)
        2
    """
    before, _overrides.early_stop = _overrides.early_stop, enable
    try:
        yield
    finally:
        _overrides.early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """In the block, this is the `debug` of all checkpoints; None leaves it to the calls.

    Args:
        enabled (bool): Whether errors tell which operations both runs recorded, and where they were called.

    Example:
        >>> runs = []
        >>> def unsteady(x):
        ...     runs.append(1)
        ...     return x.exp() if len(runs) == 1 else 2 * x
        >>> x = ag.ones(2, requires_grad=True)
        >>> with ag.utils.checkpoint.set_checkpoint_debug_enabled(True):
        ...     y = ag.utils.checkpoint.checkpoint(unsteady, x, use_reentrant=False)
        >>> try:
        ...     y.sum().backward()
        ... except ag.utils.checkpoint.CheckpointError as error:
        ...     print("Operations executed during the original forward" in str(error))
        True
    """
    before, _overrides.debug = _overrides.debug, enabled
    try:
        yield
    finally:
        _overrides.debug = before


def noop_context_fn() -> tuple[Any, Any]:
    """The default of checkpoint's context_fn: no contexts for forward and for the recomputation.

    A context_fn of your own returns two context managers too, which are entered around the first run and the second.

    Returns:
        Two context managers that do nothing.

    Example:
        >>> forward, recompute = ag.utils.checkpoint.noop_context_fn()
        >>> with forward:
        ...     ag.ones(1)
        tensor([1.])
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


def _random_from(state: Tensor | None) -> Any:
    """In the block, this thread draws random numbers from the generator state; None changes nothing."""
    return contextlib.nullcontext() if state is None else using_generator(Generator().set_state(state))


def current_autocast() -> autocast:
    """A block with the autocast that this thread has now."""
    return autocast("cpu", get_autocast_dtype("cpu"), is_autocast_enabled("cpu"), is_autocast_cache_enabled())


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
               context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn, determinism_check: str = "default",
               debug: bool = False, early_stop: bool = True, **kwargs: Any) -> Any:
    """Run function(*args, **kwargs) without storing intermediate values, which backward recomputes.

    preserve_rng_state (default True) repeats the random numbers of the first run.

    Args:
        function (Callable[..., Any]): Function to run; its arguments follow.
        use_reentrant (bool): False for the implementation by hooks (recommended), True for the older one.
        context_fn (Callable[[], tuple[Any, Any]]): Returns context managers for the first run and for the recomputation.
        determinism_check (str): "default" compares number, shapes and dtypes of the saved tensors; "none" does not.
        debug (bool): If True, errors list the operations of both runs. Default: False.
        early_stop (bool): If True, the recomputation ends with the last value needed. Default: True.

    Returns:
        The function's result.

    Raises:
        ValueError: `determinism_check` or a keyword argument is unknown; `context_fn` or `debug` is given with
            use_reentrant=True; or both are given.
        RuntimeError: The forward context from `context_fn` suppressed an exception.

    Example:
        >>> x = ag.ones(2, requires_grad=True)
        >>> ag.utils.checkpoint.checkpoint(ag.exp, x, use_reentrant=False).sum().backward()
        >>> x.grad
        tensor([2.7183, 2.7183])
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant is None:
        warnings.warn(MSG_PARAMETER.format(name="checkpoint"), UserWarning, stacklevel=2)
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    log = None
    if debug if _overrides.debug is None else _overrides.debug:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        log = Log()
        context_fn = log.contexts
    if determinism_check not in CHECKS:
        raise ValueError(f"determinism_check should be one of {list(CHECKS)}, but got {determinism_check}")
    forward_context, recompute_context = context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    state = default_generator().get_state() if preserve else None
    casts = current_autocast()

    def recompute(*arguments: Any) -> None:
        with _random_from(state), casts, recompute_context:
            function(*arguments, **kwargs)

    stop = early_stop if _overrides.early_stop is None else _overrides.early_stop
    frame = Frame(recompute, args, stop, CHECKS[determinism_check], log)
    with frame.placeholders(), forward_context:
        out = function(*args, **kwargs)
        frame.complete = True
    if not frame.complete:
        raise RuntimeError(MSG_SUPPRESSED)
    return out


# --- the reentrant variant ---------------------------------------------------------------------------------------------

def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs as leaves, which require grad where the given ones do: what the reentrant checkpoint() runs its function on
    in backward.

    Args:
        inputs (tuple): Tensors of any shapes and dtypes; other values stay as they are.

    Returns:
        A tuple, its tensors on the memory of the given ones.

    Raises:
        RuntimeError: Only tuple of tensors is supported. Got Unsupported input type: {type}.

    Example:
        >>> x = ag.ones(2, requires_grad=True)
        >>> y, n = ag.utils.checkpoint.detach_variable((2 * x, 3))
        >>> y.is_leaf, y.requires_grad, n
        (True, True, 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple([x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs])


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if none of the inputs needs a gradient: nothing would get one.

    Args:
        inputs (Iterable[Any]): Arguments of a function; those that are no tensors are passed over.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as found:
        ...     warnings.simplefilter("always")
        ...     ag.utils.checkpoint.check_backward_validity([ag.ones(2), 3])
        >>> print(found[0].message)
        None of the inputs have requires_grad=True. Gradients will be None
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2)


class CheckpointFunction(Function):
    """The function as one node, whose backward records it again and runs backward() on that: checkpoint(use_reentrant=True)
    applies it.

    Its arguments are the function, whether random numbers are those of the first run, and the function's arguments.

    Example:
        >>> x = ag.ones(2, requires_grad=True)
        >>> y = ag.utils.checkpoint.CheckpointFunction.apply(ag.exp, True, x)        # runs CheckpointFunction.forward
        >>> type(y.grad_fn).__name__
        'CheckpointFunctionBackward'
        >>> y.sum().backward()                                                       # runs CheckpointFunction.backward
        >>> x.grad
        tensor([2.7183, 2.7183])
    """

    reenters = True

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without recording, and save its arguments.

        Args:
            ctx (FunctionCtx): What backward gets.
            run_function (Callable[..., Any]): The function; its arguments follow.
            preserve_rng_state (bool): Whether backward draws the random numbers of this run again.
        """
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.state = default_generator().get_state() if preserve_rng_state else None
        ctx.casts = current_autocast()
        ctx.constants = [None if isinstance(x, Tensor) else x for x in args]
        ctx.positions = [number for number, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*[args[number] for number in ctx.positions])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Gradients:
        """Run the function on leaves, recorded, and call backward() from its outputs.

        Args:
            ctx (FunctionCtx): What forward has left. The gradients of the outputs follow.

        Raises:
            RuntimeError: the pass was asked for the gradients of `inputs`, or no output requires a gradient.
        """
        if not is_checkpoint_valid():
            raise RuntimeError(MSG_REENTRANT)
        inputs = list(ctx.constants)
        for number, x in zip(ctx.positions, ctx.saved_tensors, strict=True):
            inputs[number] = x
        leaves = detach_variable(tuple(inputs))
        with _random_from(ctx.state), ctx.casts, enable_grad():
            outputs = ctx.run_function(*leaves)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        tracked = [(out, g) for out, g in zip(outputs, grads, strict=True)
                   if isinstance(out, Tensor) and out.requires_grad]
        if not tracked:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([out for out, _ in tracked], [g for _, g in tracked])
        return (None, None, *[x.grad if isinstance(x, Tensor) else None for x in leaves])


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None,
                          **kwargs: Any) -> Tensor:
    """Run a sequence of functions in segments, all but the last checkpointed: only their inputs are stored.

    Args:
        functions (Sequential or list): Functions of one argument.
        segments (int): Number of segments, from 1 to the number of functions.
        input (Tensor): Input of the first function.
        use_reentrant (bool): As for checkpoint(); None is True, with a warning.
        preserve_rng_state (bool): If True, repeats the random numbers of the first run. Default: True.

    Returns:
        The last function's result.

    Raises:
        ValueError: A keyword argument is unknown, or `segments` is out of range.

    Example:
        >>> model = ag.nn.Sequential(ag.nn.Linear(3, 8), ag.nn.Tanh(), ag.nn.Linear(8, 1))
        >>> x = ag.randn(5, 3)
        >>> y = ag.utils.checkpoint.checkpoint_sequential(model, 2, x, use_reentrant=False)
        >>> y.shape, ag.equal(y, model(x))
        (Size([5, 1]), True)
    """
    if use_reentrant is None:
        warnings.warn(MSG_PARAMETER.format(name="checkpoint_sequential"), UserWarning, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    segments = whole_number("checkpoint_sequential(segments", segments, 1)
    if segments > len(steps):
        raise ValueError(f"checkpoint_sequential(segments={segments}): there are {len(steps)} functions, and each "
                         "segment has at least one")

    def piece(start: int, end: int) -> Callable[[Any], Any]:
        def run(x: Tensor) -> Tensor:
            for step in steps[start:end]:
                x = step(x)
            return x
        return run

    size = len(steps) // segments
    for number in range(segments - 1):
        input = checkpoint(piece(number * size, (number + 1) * size), input, use_reentrant=use_reentrant,
                           preserve_rng_state=preserve)
    return piece(size * (segments - 1), len(steps))(input)


__all__ = ["CheckpointError", "CheckpointFunction", "check_backward_validity", "checkpoint", "checkpoint_sequential",
           "detach_variable", "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop"]
