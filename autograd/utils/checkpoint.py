"""checkpoint(): a function runs without saving tensors for backward, which recomputes them by running it a second time.

With use_reentrant=False a placeholder is saved instead of each tensor (a pair of saved_tensors_hooks). The first placeholder
that a backward pass unpacks runs the function again and fills all of them. The reentrant variant is a Function whose
backward records the function and calls backward() on the result."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..amp.autocast_mode import autocast, get_autocast_dtype, is_autocast_cache_enabled, is_autocast_enabled
from ..base import docstrings as _docstrings
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
    """Context manager: set early_stop of all checkpoint(use_reentrant=False) calls in the block."""
    before, _overrides.early_stop = _overrides.early_stop, enable
    try:
        yield
    finally:
        _overrides.early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """In the block, this is the `debug` of all checkpoints; None leaves it to the calls."""
    before, _overrides.debug = _overrides.debug, enabled
    try:
        yield
    finally:
        _overrides.debug = before


def noop_context_fn() -> tuple[Any, Any]:
    """The default of checkpoint's context_fn: no contexts for forward and for the recomputation.

    A context_fn of your own returns two context managers too, which are entered around the first run and the second."""
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

    preserve_rng_state (default True) repeats the random numbers of the first run."""
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
    in backward."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple([x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs])


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if none of the inputs needs a gradient: nothing would get one."""
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2)


class CheckpointFunction(Function):
    """The function as one node, whose backward records it again and runs backward() on that: checkpoint(use_reentrant=True)
    applies it.

    Its arguments are the function, whether random numbers are those of the first run, and the function's arguments."""

    reenters = True

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without recording, and save its arguments."""
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
        """Run the function on leaves, recorded, and call backward() from its outputs."""
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

_docstrings.complete(globals(), "utils", "utils.checkpoint.")
