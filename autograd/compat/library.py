"""torch.library: operators that packages define in Python, by name, with their derivatives; torch.ops finds them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..base import docstrings as _docstrings
from ..core.function import Function
from ..torch_names import operator

OPERATORS: dict[str, Operator] = {}


class Operator:
    """A function under a name "namespace::operator". Without a backward it is differentiated through its own operations."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function = name, function
        self.recorded: type[Function] | None = None
        self.signature = inspect.signature(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.recorded is None:
            return self.function(*args, **kwargs)
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self.recorded.apply(*bound.args, **bound.kwargs)

    default = property(lambda self: self)            # PyTorch's first overload

    def register_autograd(self, backward: Callable[..., Any], /, *,
                          setup_context: Callable[..., None] | None = None) -> None:
        """Give the operator a backward(ctx, *grads), which reads what setup_context(ctx, inputs, output) saved."""
        function = self.function

        class Recorded(Function):
            @staticmethod
            def forward(ctx: Any, *args: Any) -> Any:
                output = function(*args)
                if setup_context is not None:
                    setup_context(ctx, args, output)
                return output

        Recorded.__name__ = Recorded.__qualname__ = self.name
        Recorded.backward = staticmethod(backward)  # type: ignore[assignment,method-assign]
        self.recorded = Recorded

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Accepted: PyTorch's compilers use it to learn shapes without computing. None is here."""
        return fn

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """Set what the operator computes on the CPU; functions for other devices are accepted and never called."""
        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            if device_types is None or "cpu" in ([device_types] if isinstance(device_types, str) else device_types):
                self.function = function
            return function

        return register if fn is None else register(fn)


def custom_op(name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: Any = (), device_types: Any = None,
              schema: str | None = None, tags: Any = None) -> Any:
    """Define an operator of a function, which torch.ops.namespace.operator finds; a decorator without `fn`."""
    if name.count("::") != 1:
        raise ValueError(f"custom_op({name!r}): a name is 'namespace::operator'")

    def define(function: Callable[..., Any]) -> Operator:
        OPERATORS[name] = Operator(name, function)
        return OPERATORS[name]

    return define if fn is None else define(fn)


def _operator(op: Any) -> Operator:
    """An operator, or the one of a name."""
    if isinstance(op, Operator):
        return op
    if op not in OPERATORS:
        raise RuntimeError(f"there is no operator {op!r}: custom_op() defines one")
    return OPERATORS[op]


def register_autograd(op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., None] | None = None,
                      lib: Any = None) -> None:
    """Give an operator a backward(ctx, *grads), which reads what setup_context(ctx, inputs, output) saved."""
    _operator(op).register_autograd(backward, setup_context=setup_context)


def register_fake(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None, _stacklevel: int = 1,
                  allow_override: bool = False) -> Any:
    """Accepted, as a call or a decorator: PyTorch's compilers use it to learn shapes without computing. None is here."""
    return (lambda function: function) if func is None else func


impl_abstract = register_fake


class Namespace:
    """The operators of one namespace: torch.ops.namespace.operator."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Operator:
        found = OPERATORS.get(f"{self.name}::{name}")
        if found is None:
            raise AttributeError(f"there is no operator '{self.name}::{name}': torch.ops has those of custom_op()")
        return found


class Operators:
    """torch.ops: the operators of packages. PyTorch's own (torch.ops.aten) are called by their names in torch."""

    def __getattr__(self, name: str) -> Any:
        if name in ("aten", "prims"):
            return operator(f"torch.ops.{name}")
        if not any(known.startswith(f"{name}::") for known in OPERATORS):
            raise AttributeError(f"there are no operators {name!r}: torch.ops has those of custom_op()")
        return Namespace(name)

    def load_library(self, path: Any) -> None:
        """Refused: a library of PyTorch's operators needs PyTorch."""
        raise OSError(f"{path} needs PyTorch itself: its operators cannot be loaded here")


ops = Operators()


_docstrings.complete(globals(), "compat", "library.")
