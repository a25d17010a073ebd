"""Snapshot: the state that a step reaches (tensors, modules, optimizers, variables), saved before a trace and restored
after it."""

from __future__ import annotations

import contextlib
import dis
import functools
import sys
import types
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...base.plugins import plugin_packages
from ...core.tensor import Tensor
from ...modes.random import Generator, default_generator
from ..errors import TraceError

if TYPE_CHECKING:
    from ...base.types import Array

PLAIN = (bool, int, float, complex, str, bytes, type(None))
STOP = (type, types.ModuleType, types.CodeType, types.FrameType)
ABSENT = object()                    # the value of a variable or attribute that does not exist yet


def reachable(step: object) -> list[Any]:
    """All objects that a function reaches by its closure, its defaults, the globals that it names, and attributes."""
    seen: dict[int, Any] = {}
    stack = [step]
    while stack:
        obj = stack.pop()
        if id(obj) in seen or isinstance(obj, (*PLAIN, *STOP)):
            continue
        seen[id(obj)] = obj
        stack.extend(referents(obj))
    return list(seen.values())


def referents(obj: Any) -> Iterator[Any]:
    """The objects that one object refers to."""
    if isinstance(obj, types.FunctionType):
        for cell in obj.__closure__ or ():
            with contextlib.suppress(ValueError):    # not assigned yet
                yield cell.cell_contents
        yield from obj.__defaults__ or ()
        yield from (obj.__kwdefaults__ or {}).values()
        if is_user_code(obj.__module__):
            yield from (obj.__globals__[name] for name in globals_in(obj.__code__) if name in obj.__globals__)
    elif hasattr(type(obj), "eager_calls"):
        yield obj.function                           # of a Compiled, not its programs
    elif isinstance(obj, types.MethodType):
        yield obj.__self__
        yield obj.__func__
    elif isinstance(obj, dict):
        yield from obj.keys()
        yield from obj.values()
    elif isinstance(obj, (list, tuple, set, frozenset, deque)):
        yield from obj
    elif isinstance(obj, functools.partial):
        yield from (obj.func, obj.args, obj.keywords)
    elif isinstance(obj, Tensor):
        if obj._grad is not None:
            yield obj._grad
    elif is_plugin_code(type(obj).__module__) and not hasattr(obj, "param_groups"):
        # only training state, not state that ranks share
        held = getattr(obj, "__dict__", {})
        members = [v for kind in ("_parameters", "_buffers", "_modules") for v in held.get(kind, {}).values()]
        yield from (v for v in (*held.values(), *members)
                    if isinstance(v, (Tensor, Generator)) or hasattr(v, "_parameters") or hasattr(v, "param_groups"))
    else:
        yield from attributes(obj).values()
        yield from methods(type(obj))


def methods(cls: type) -> Iterator[types.FunctionType]:
    """The functions in a class's own code and in that of its bases, if they are the user's."""
    for base in cls.__mro__:
        if is_user_code(base.__module__) and base.__module__.partition(".")[0] not in sys.stdlib_module_names:
            yield from (f for f in vars(base).values() if isinstance(f, types.FunctionType))


def is_user_code(module: str | None) -> bool:
    """Whether a module is the user's: not of NumPy, of this package or of a plugin's."""
    return bool(module) and str(module).partition(".")[0] not in ("autograd", "numpy", *plugin_packages())


def is_plugin_code(module: str | None) -> bool:
    """Whether a module is of a package that provides names of this one."""
    return str(module).partition(".")[0] in plugin_packages()


def attributes(obj: object) -> dict[str, Any]:
    """The attributes of an object: those in its __dict__, and those in the __slots__ of a user's class."""
    found = dict(getattr(obj, "__dict__", {}))
    for cls in type(obj).__mro__:
        slots = vars(cls).get("__slots__", ()) if is_user_code(cls.__module__) else ()
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(obj, name):
                found[name] = getattr(obj, name)
    return found


def set_attribute(obj: object, name: str, value: object) -> None:
    """Set an attribute, or delete it if the value is ABSENT. Not by the class's __setattr__ where there is a __dict__."""
    attrs = getattr(obj, "__dict__", {})
    if value is ABSENT:
        delattr(obj, name) if name not in attrs else attrs.pop(name)
    elif name in attrs or not hasattr(type(obj), name):
        attrs[name] = value
    else:
        object.__setattr__(obj, name, value)         # of frozen dataclasses too


def names_in(code: types.CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function's code, and in the functions that it defines."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)


@functools.lru_cache(1024)
def globals_in(code: types.CodeType) -> tuple[str, ...]:
    """The global variables that a function's code, or the functions that it defines, reads or sets."""
    own = {i.argval for i in dis.get_instructions(code) if i.opname.endswith(("_GLOBAL", "_NAME"))}
    inner = [globals_in(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return tuple(sorted(own.union(*inner)))


def variables(function: types.FunctionType) -> Iterator[tuple[str, Any, Any]]:
    """The variables outside of a user's function that it names: name, the cell or dict that holds it, value or ABSENT."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell, cell.cell_contents
        except ValueError:                           # not assigned yet
            yield name, cell, ABSENT
    for name in globals_in(function.__code__):
        yield name, function.__globals__, function.__globals__.get(name, ABSENT)


def set_variable(holder: Any, name: str, value: Any) -> None:
    """Set a variable of a cell or dict to its former value, or delete it if that is ABSENT."""
    if isinstance(holder, types.CellType):
        if value is not ABSENT:
            holder.cell_contents = value
        else:
            with contextlib.suppress(ValueError):
                del holder.cell_contents
    elif value is not ABSENT:
        holder[name] = value
    else:
        holder.pop(name, None)


class Snapshot:
    """Copies of tensors' values and gradients, of attributes of stateful objects, of variables, and of random streams."""

    tensors: list[tuple[Tensor, Array, Tensor | None, Array | None]]

    def __init__(self, step: object, *, leaves: bool = True) -> None:
        """leaves: whether the values of tensors that require grad are copied too, not only their gradients."""
        objects = reachable(step)
        for obj in objects:
            reason = obj.before_recording() if hasattr(type(obj), "before_recording") else ""
            if reason:
                raise TraceError(f"trace: {reason} can't be recorded: call the step itself")
        copies = {t: t.array.copy() if leaves or not t.tracked else t.array for t in objects if isinstance(t, Tensor)}
        self.tensors = [(t, copy, t._grad, None if t._grad is None else copies[t._grad]) for t, copy in copies.items()]
        self.modules: list[Any] = [t for t in objects if hasattr(t, "_parameters") and hasattr(t, "training")]
        self.objects: list[tuple[Any, dict[str, Any]]] = [(t, attributes(t)) for t in objects if stateful(t)]
        self.dicts: list[tuple[dict[Any, Any], dict[Any, Any]]] = [(d, dict(d)) for d in objects if isinstance(d, dict)]
        self.lists: list[tuple[Any, list[Any]]] = [(x, list(x)) for x in objects if isinstance(x, (list, deque))]
        functions = (t for t in objects if isinstance(t, types.FunctionType) and is_user_code(t.__module__))
        self.variables: list[tuple[str, Any, Any]] = [variable for function in functions for variable in variables(function)]
        generators = {id(g): g for g in (default_generator(), *(t for t in objects if isinstance(t, Generator)))}
        self.streams: list[tuple[Generator, Tensor]] = [(g, g.get_state()) for g in generators.values()]

    def restore(self) -> None:
        """Restore all of it. A tensor keeps its present memory, which gets the old values."""
        for attrs, before in self.dicts:
            attrs.clear()
            attrs.update(before)
        for items, was in self.lists:
            items.clear()
            items.extend(was)
        for name, holder, value in self.variables:
            set_variable(holder, name, value)
        for obj, before in self.objects:
            own, present = is_user_code(type(obj).__module__), attributes(obj)
            for name in present.keys() - before.keys() if own else ():
                set_attribute(obj, name, ABSENT)
            for name, value in before.items():
                if present.get(name, ABSENT) is not value and (own or isinstance(value, (*PLAIN, list, tuple, dict))):
                    set_attribute(obj, name, value)
        for tensor, values, grad, g in self.tensors:
            tensor.array[...] = values
            if grad is not None:
                grad.array[...] = g
            tensor._grad = grad
        for generator, state in self.streams:
            generator.set_state(state)

    def numbers(self) -> dict[tuple[int, Any], tuple[str, Any]]:
        """All Python numbers in the snapshot, each with its name."""
        found: dict[tuple[int, Any], tuple[str, Any]]
        found = {(id(holder), name): (name, value) for name, holder, value in self.variables}
        found.update({(id(d), key): (repr(key), value) for d, attrs in self.dicts for key, value in attrs.items()})
        found.update({(id(x), n): (f"item {n} of a list", value) for x, was in self.lists for n, value in enumerate(was)})
        found.update({(id(t), name): (f"{type(t).__name__}.{name}", value)
                      for t, attrs in self.objects for name, value in attrs.items()})
        return {key: pair for key, pair in found.items() if isinstance(pair[1], (bool, int, float, complex))}


def stateful(obj: object) -> bool:
    """Whether an object's attributes are saved and restored."""
    module = type(obj).__module__
    return (hasattr(obj, "__dict__") or is_user_code(module)) and not is_plugin_code(module) and not isinstance(
        obj, (Tensor, types.FunctionType, types.MethodType, Generator, dict, list, tuple, set, frozenset, deque))
