"""TorchScript's names: `trace` records a function and shows its graph; `script` and the decorators return their argument.

That is what PyTorch promises too: a scripted function computes what its Python does. Files of compiled models (`save`,
`load`) are refused.

May import: base, compile, core, nn, spans. Read first: traced.py."""

import builtins
from collections.abc import Callable
from typing import Any, Final, NoReturn

from ..base import docstrings as _docstrings
from . import annotations
from .traced import ScriptFunction, ScriptModule, TopLevelTracedModule, trace, tracing


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """The function, class or module itself, uncompiled."""
    return obj


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Decorator, with parentheses or without, for what a compiler should leave out: the function itself."""
    return drop if callable(drop) else lambda function: function


def unused(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for what a compiler should leave out: the function itself."""
    return fn


interface: Callable[..., Any]
script_if_tracing: Callable[..., Any]
script_method: Callable[..., Any]
export = script_method = script_if_tracing = _script_if_tracing = _overload = _overload_method = interface = unused


def is_scripting() -> bool:
    """False: Python runs."""
    return False


def is_tracing() -> bool:
    """Whether this thread runs a function to trace it, or calls a traced one."""
    return tracing.depth > 0


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value; the annotation is for PyTorch's compiler."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's isinstance(), under the name that scripted code uses."""
    return builtins.isinstance(obj, target_type)


MSG_REFUSED = ("jit.{name}(): there are no files of programs, and one program for each function. compile(model) and "
               "jit.trace(model, inputs) record a model; save(model.state_dict(), file) writes a file")


def _refused(name: str) -> Callable[..., Any]:
    def refused(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(MSG_REFUSED.format(name=name))

    refused.__name__ = name
    refused.__doc__ = f"""Refused: there are no files of programs.

    Raises:
        NotImplementedError: always.

    Example:
        >>> ag.jit.{name}(ag.nn.Linear(1, 1))
        Traceback (most recent call last):
            ...
        NotImplementedError: jit.{name}(): there are no files of programs, and one program for each function. ...
    """
    return refused


trace_module: Callable[..., NoReturn] = _refused("trace_module")
freeze: Callable[..., NoReturn] = _refused("freeze")
load: Callable[..., NoReturn] = _refused("load")
save: Callable[..., NoReturn] = _refused("save")
optimize_for_inference: Callable[..., NoReturn] = _refused("optimize_for_inference")

__all__ = ["Final", "ScriptFunction", "ScriptModule", "TopLevelTracedModule", "annotate", "annotations", "export", "freeze",
           "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "load", "optimize_for_inference", "save",
           "script", "script_if_tracing", "script_method", "trace", "trace_module", "unused"]

_docstrings.complete(globals(), "compat", "jit.")
