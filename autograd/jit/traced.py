"""jit.trace(): a function or module recorded by compile()'s recorder, with the graph of its operations."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..compile.checks.bindings import Bindings, is_module
from ..compile.checks.state import Snapshot
from ..compile.compiled import Compiled
from ..compile.errors import TraceError
from ..compile.optimized import Optimized, optimized
from ..compile.programs.engines import engines
from ..compile.recording.graph import Graph
from ..compile.recording.nests import Nest
from ..compile.settings import Settings
from ..core.tensor import Tensor
from ..nn.module import Module
from ..spans.spans import Recorder, profilers

MSG_STRICT = ("jit.trace: {name} returns a {kind}, whose structure is fixed by the recording: return a tuple, or pass "
              "strict=False")
MSG_DIFFERS = "jit.trace: result {number} of the traced {name} differs from the function's by up to {error:.3g}"
MSG_NOT_RECORDED = ("jit.trace: {name} was not recorded, since sys.setprofile(), anomaly mode, forward mode or another "
                    "recording is on: trace it outside")


class Tracing(threading.local):
    """Whether this thread calls a traced function, which may run its Python code to record it."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, kind: object, error: object, where: object) -> None:
        self.depth -= 1
        if isinstance(error, TraceError):
            text = str(error).replace("compile: ", "jit.trace: ", 1).replace("compiled as a whole", "traced", 1)
            raise TraceError(text) from None


tracing = Tracing()


class Traced:
    """The attributes that a traced function and a traced module share."""

    _compiled: Compiled
    _graph: Graph

    @property
    def graph(self) -> Graph:
        """The recorded operations. `print(traced.graph)` shows them, `draw(traced)` draws them."""
        return self._graph

    inlined_graph = graph

    @property
    def code(self) -> str:
        """The source of the programs that calls run."""
        return self._compiled.program()

    def save(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: save(model.state_dict(), file) writes a file.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("save() of a traced function: there is no file format for programs; "
                                  "save(model.state_dict(), file) writes parameters")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise NotImplementedError("a traced function can't be pickled or copied: trace it again")


class ScriptFunction(Traced):
    """A traced function, which jit.trace() returns."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self._compiled = Compiled(function, settings())
        self.name: str = self._compiled.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the recorded program. Arguments of other shapes or dtypes are recorded first."""
        with tracing:
            return self._compiled(*args, **kwargs)


class ScriptModule(Module):
    """A traced module, which jit.trace() returns, or a base class; script() never makes one."""


class TopLevelTracedModule(Traced, Optimized, ScriptModule):
    """Base of the classes of traced modules."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The recorded forward of the module."""
        with tracing:
            return super().forward(*args, **kwargs)


def settings() -> Settings:
    """Those of compile() for programs of the whole function, with its bits."""
    return Settings(fullgraph=True, engines=engines(bitwise=True))


def trace(func: Any, example_inputs: Any = None, optimize: Any = None, check_trace: bool = True,
          check_inputs: Sequence[Any] | None = None, check_tolerance: float = 1e-5, strict: bool = True,
          _force_outplace: bool = False, _module_class: Any = None, _compilation_unit: Any = None,
          example_kwarg_inputs: Mapping[str, Any] | None = None, _store_inputs: bool = True) -> Any:
    """Record a function or module: the result computes the same values and gradients, and shows its operations.

    The text of `traced.graph` has a line for each operation and Function, with the line of the user's code; `draw(traced)`
    draws it. The graph has inputs(), nodes() and outputs(); a node has kind(), inputs(), outputs() and sourceRange(), a
    value debugName(), type() and node().

    Calls run a program, as those of compile() do: results are bitwise the function's, gradients equal up to rounding. Other
    shapes, dtypes, modes and changed settings are recorded at their first call, at most 8 in all. The recording leaves
    parameters, buffers and random generators as they were."""
    for name, value in (("_force_outplace", _force_outplace), ("_module_class", _module_class),
                        ("_compilation_unit", _compilation_unit)):
        if value:
            raise NotImplementedError(f"jit.trace({name}={value!r}) is not supported: leave it out")
    if optimize is not None:
        warnings.warn("`optimize` is deprecated and has no effect", FutureWarning, stacklevel=2)
    if isinstance(func, Traced):
        warnings.warn("jit.trace: the function or module is traced already, and is returned as it is", stacklevel=2)
        return func
    if (example_inputs is None) == (example_kwarg_inputs is None):
        raise RuntimeError("jit.trace: give either example_inputs or example_kwarg_inputs")
    if getattr(func, "__name__", "") == "forward" and is_module(getattr(func, "__self__", None)):
        func = func.__self__
    traced = optimized(func, settings(), TopLevelTracedModule) if is_module(func) else ScriptFunction(func)
    compiled = traced._compiled
    calls = [call_of(inputs, example_kwarg_inputs is not None) for inputs in (
        example_inputs if example_kwarg_inputs is None else example_kwarg_inputs, *(check_inputs or ()))]
    args, kwargs = calls[0]
    roots = (func, *Nest((args, kwargs)).constants)
    before = Snapshot(roots)
    try:
        with NamedOperations():
            result = traced(*args, **kwargs)
        if not compiled.programs:
            raise RuntimeError(MSG_NOT_RECORDED.format(name=compiled.name))
        if strict and (kind := container_in(result)):
            raise RuntimeError(MSG_STRICT.format(name=compiled.name, kind=kind))
        if check_trace:
            for args, kwargs in calls[bool(check_inputs):]:
                before.restore()
                with tracing:
                    expected = func(*args, **kwargs)
                before.restore()
                compare(compiled.name, expected, traced(*args, **kwargs), check_tolerance)
    finally:
        before.restore()
    graph = next(iter(compiled.programs.values()))[-1].graph
    graph.give_names(input_names(compiled.function, *calls[0]), tensor_names(func))
    holder: Any = type(traced) if is_module(func) else traced        # a traced module shares the other's __dict__
    holder._graph = graph
    return traced


def call_of(inputs: Any, by_name: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of one call, from example_inputs or example_kwarg_inputs."""
    if by_name:
        if not isinstance(inputs, Mapping):
            raise RuntimeError("jit.trace: example_kwarg_inputs should be a dict")
        return (), dict(inputs)
    return ((inputs,) if isinstance(inputs, (Tensor, dict)) else tuple(inputs)), {}


class NamedOperations:
    """A block in which operations are named, as for a profiler."""

    def __enter__(self) -> None:
        self._recorder = None if profilers else Recorder(limit=1)
        if self._recorder is not None:
            self._recorder.start()

    def __exit__(self, *exception: object) -> None:
        if self._recorder is not None:
            self._recorder.stop()


def container_in(result: Any) -> str:
    """The type of a list or dict in a result; "" if there is none."""
    if isinstance(result, (list, dict)):
        return type(result).__name__
    return next(filter(None, map(container_in, result)), "") if isinstance(result, tuple) else ""


def compare(name: str, expected: Any, got: Any, tolerance: float) -> None:
    """Raise TraceError if results differ by more than the tolerance, relative."""
    for number, (one, two) in enumerate(zip(Nest(expected).tensors, Nest(got).tensors, strict=True)):
        if not np.allclose(one.array, two.array, rtol=tolerance, atol=1e-5, equal_nan=True):
            error = float(np.abs(np.subtract(one.array, two.array, dtype=np.float64)).max())
            raise TraceError(MSG_DIFFERS.format(number=number, name=name, error=error))


def input_names(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """The names of the tensors in the arguments: those of the parameters, with indices and keys of nested ones."""
    try:
        given = inspect.signature(function).bind(*args, **kwargs).args
        names = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        given, names = args, []
    found: list[str] = []

    def walk(x: Any, name: str) -> None:
        if isinstance(x, Tensor):
            found.append(name)
        elif isinstance(x, dict):
            for key, part in x.items():
                walk(part, f"{name}.{key}")
        elif isinstance(x, (tuple, list)):
            for number, part in enumerate(x):
                walk(part, f"{name}.{number}")

    for number, x in enumerate(args):
        walk(x, names[number] if number < len(names) and len(given) == len(args) else f"input.{number}")
    for name, x in kwargs.items():
        walk(x, name)
    return found


def tensor_names(func: Any) -> dict[int, str]:
    """The names of tensors that a module has, or that a function reaches by its variables, by id."""
    named = [("", func)] if is_module(func) else [(b.label, b.value) for b in Bindings((func,)).found.values()]
    names: dict[int, str] = {}
    for label, x in named:
        if isinstance(x, Tensor):
            names.setdefault(id(x), label)
        elif is_module(x):
            for name, tensor in (*x.named_parameters(), *x.named_buffers()):
                names.setdefault(id(tensor), f"{label}.{name}".lstrip("."))
    return names


__all__ = ["ScriptFunction", "ScriptModule", "TopLevelTracedModule", "trace"]
