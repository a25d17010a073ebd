"""Optional features of a Function: vjp, gradients as one list, saved tensors that are cleared on access."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .graph import FREED

MSG_BOTH = ("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of "
            "them.")


class GradientTypeError(TypeError, RuntimeError):
    """A backward returned something that is not a gradient. A TypeError, and a RuntimeError as in PyTorch."""


class NeedsInputGrad:
    """`ctx.needs_input_grad`: whether each argument requires a gradient, unless the user has set it."""

    def __get__(self, node: Any, owner: Any = None) -> Any:
        return self if node is None else tuple([edge is not None for edge in node.edges])


class Backward:
    """Replaces the Function in its nodes if their backward is not simply the Function's `backward`."""

    def __init__(self, function: Any, own: bool, vjp: bool) -> None:
        self._function, self._both, self._vjp = function, own and vjp, vjp

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def backward(self, ctx: Any, *grads: Any) -> Any:
        """The user's backward or vjp, on gradients or on one list of them."""
        if self._both:
            raise RuntimeError(MSG_BOTH)
        call = self._function.vjp if self._vjp else self._function.backward
        return call(ctx, list(grads)) if self._function.boxed_grads_call else call(ctx, *grads)


def variants(function: Any, base: Any, node: type) -> dict[str, Any]:
    """The attributes of the node class of `function` that depend on its options; `base` is Function."""
    vjp = function.vjp is not base.vjp
    extra: dict[str, Any] = {"function": function, "_forward_cls": function}     # PyTorch's name
    if vjp or function.boxed_grads_call:
        extra["function"] = Backward(function, function.backward is not base.backward, vjp)
    if function.clear_saved_tensors_on_access:
        extra["saved_tensors"] = property(lambda ctx: _given_away(ctx, node))
    return extra


def _given_away(ctx: Any, node: Any) -> Any:
    """Return the saved tensors and remove them from the node."""
    values = node.saved_tensors.__get__(ctx)
    if ctx.saved is not None:
        ctx.saved = FREED
    return values


# --- arguments: keywords and defaults ----------------------------------------------------------------------------------

def bind(cls: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Move keywords that name positional arguments of forward to their position; the others remain settings."""
    names = positional_names(cls.forward)[0 if cls._takes_context else 1:]
    placed = list(args)
    settings = dict(settings)
    known = defaults(cls.forward) if cls._binds else {}
    for name in names[len(args):]:
        if name not in settings and name not in known:
            break
        placed.append(settings.pop(name) if name in settings else known[name][0])
    return tuple(placed), settings


def in_two_steps(cls: Any, node: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """Run a forward without ctx, then setup_context. Returns the arguments, completed by defaults, and the output."""
    if cls._binds:
        known = defaults(cls.forward)
        missing = [known[name][0] for name in positional_names(cls.forward)[len(args):] if name in known]
        node.edges += (None,) * len(missing)
        args = (*args, *missing)
    output = cls.forward(*args, **settings)
    cls.setup_context(node, args, output)
    return args, output


@functools.cache
def defaults(function: Callable[..., Any]) -> dict[str, tuple[Any]]:
    """The defaults of a function's positional parameters, each in a tuple."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: (p.default,) for p in parameters
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is not p.empty}


@functools.cache
def positional_names(function: Callable[..., Any]) -> list[str]:
    """The names of the positional parameters of a function."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
