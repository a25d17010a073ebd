"""TorchScript's decorators, without effect: `script` returns its argument.

That is what PyTorch promises too, a scripted function computes what its Python does. Recording a run (`trace`) and files of
compiled models (`save`, `load`) are refused.

May import: base, nn. Read first: this page."""

import builtins
from collections.abc import Callable
from typing import Any, Final, NoReturn

from ..base import docstrings as _docstrings
from ..nn.module import Module
from . import annotations


class ScriptModule(Module):
    """For isinstance() and as a base class; script() never makes one."""


class ScriptFunction:
    """For isinstance(); script() never makes one."""


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
    """False: jit.trace() does not record a program here."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value; the annotation is for PyTorch's compiler."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's isinstance(), under the name that scripted code uses."""
    return builtins.isinstance(obj, target_type)


MSG_REFUSED = ("jit.{name}(): there is no compiler. compile(model) and jit.script(model) return the model itself; "
               "trace_step() records a step and replays it; save(model.state_dict(), file) writes a file")


def _refused(name: str) -> Callable[..., Any]:
    def refused(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(MSG_REFUSED.format(name=name))

    refused.__name__ = name
    refused.__doc__ = f"""Refused: there is no compiler.

    Raises:
        NotImplementedError: always.

    Example:
        >>> ag.jit.{name}(ag.nn.Linear(1, 1))
        Traceback (most recent call last):
            ...
        NotImplementedError: jit.{name}(): there is no compiler. compile(model) and jit.script(model) return ...
    """
    return refused


trace: Callable[..., NoReturn] = _refused("trace")
trace_module: Callable[..., NoReturn] = _refused("trace_module")
freeze: Callable[..., NoReturn] = _refused("freeze")
load: Callable[..., NoReturn] = _refused("load")
save: Callable[..., NoReturn] = _refused("save")
optimize_for_inference: Callable[..., NoReturn] = _refused("optimize_for_inference")

__all__ = ["Final", "ScriptFunction", "ScriptModule", "annotate", "annotations", "export", "freeze", "ignore", "interface",
           "is_scripting", "is_tracing", "isinstance", "load", "optimize_for_inference", "save", "script",
           "script_if_tracing", "script_method", "trace", "trace_module", "unused"]

_docstrings.complete(globals(), "compat", "jit.")
