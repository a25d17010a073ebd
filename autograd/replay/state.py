"""What a step reaches: tensors, modules, optimisers; kept before a trace and put back after it."""

from __future__ import annotations

import contextlib
import functools
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

from ..core.random import Generator, default_generator
from ..core.tensor import Tensor
from .errors import TraceError

PLAIN = (bool, int, float, complex, str, bytes, type(None))
STOP = (type, types.ModuleType, types.CodeType, types.FrameType)
OURS = ("autograd", "dparallel", "numpy")
ABSENT = object()                    # no value yet: of a variable or attribute that the step makes


def reachable(step: Any) -> list[Any]:
    """The objects that a function can reach by its closure, its defaults, the globals it names, and attributes."""
    seen: dict[int, Any] = {}
    stack = [step]
    while stack:
        thing = stack.pop()
        if id(thing) in seen or isinstance(thing, (*PLAIN, *STOP)):
            continue
        seen[id(thing)] = thing
        stack.extend(held_by(thing))
    return list(seen.values())


def held_by(thing: Any) -> Iterator[Any]:
    """What one object holds."""
    if isinstance(thing, types.FunctionType):
        for cell in thing.__closure__ or ():
            with contextlib.suppress(ValueError):    # not assigned yet
                yield cell.cell_contents
        yield from thing.__defaults__ or ()
        yield from (thing.__kwdefaults__ or {}).values()
        if users(thing.__module__):
            yield from (thing.__globals__[name] for name in names_in(thing.__code__) if name in thing.__globals__)
    elif isinstance(thing, types.MethodType):
        yield thing.__self__
        yield thing.__func__
    elif isinstance(thing, dict):
        yield from thing.keys()
        yield from thing.values()
    elif isinstance(thing, (list, tuple, set, frozenset, deque)):
        yield from thing
    elif isinstance(thing, functools.partial):
        yield from (thing.func, thing.args, thing.keywords)
    elif isinstance(thing, Tensor):
        if thing._grad is not None:
            yield thing._grad
    elif type(thing).__module__.startswith("dparallel") and not hasattr(thing, "param_groups"):
        yield from (v for v in getattr(thing, "__dict__", {}).values()       # of ours what trains; not what ranks share
                    if isinstance(v, (Tensor, Generator)) or hasattr(v, "_parameters") or hasattr(v, "param_groups"))
    else:
        yield from attributes(thing).values()


def users(module: str | None) -> bool:
    """Whether a function or class of this module is the user's own."""
    return bool(module) and str(module).partition(".")[0] not in OURS


def attributes(thing: Any) -> dict[str, Any]:
    """An object's attributes: those in its __dict__, and those in a user's __slots__."""
    found = dict(getattr(thing, "__dict__", {}))
    for cls in type(thing).__mro__:
        slots = vars(cls).get("__slots__", ()) if users(cls.__module__) else ()
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(thing, name):
                found[name] = getattr(thing, name)
    return found


def put(thing: Any, name: str, value: Any) -> None:
    """Set an attribute, or delete it where the value is ABSENT, past the class's own __setattr__ where there is a dict."""
    held = getattr(thing, "__dict__", {})
    if value is ABSENT:
        delattr(thing, name) if name not in held else held.pop(name)
    elif name in held or not hasattr(type(thing), name):
        held[name] = value
    else:
        setattr(thing, name, value)


def names_in(code: types.CodeType) -> Iterator[str]:
    """The global names in a function's code, and in functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)


def variables(function: types.FunctionType) -> Iterator[tuple[str, Any, Any]]:
    """The variables outside of a user's function that it names: name, the cell or dict that holds it, value or ABSENT."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell, cell.cell_contents
        except ValueError:                           # not assigned yet
            yield name, cell, ABSENT
    for name in names_in(function.__code__):
        yield name, function.__globals__, function.__globals__.get(name, ABSENT)


def assign(holder: Any, name: str, value: Any) -> None:
    """Set a variable to what it was."""
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
    """Tensors' values and gradients, attributes of stateful objects, variables, and random streams, as they are now."""

    def __init__(self, step: Any) -> None:
        things = reachable(step)
        for thing in things:
            reason = thing.before_recording() if hasattr(type(thing), "before_recording") else ""
            if reason:
                raise TraceError(f"trace: {reason} can't be recorded: call the step itself")
        self.tensors = [(t, t.array.copy(), t._grad, None if t._grad is None else t._grad.array.copy())
                        for t in things if isinstance(t, Tensor)]
        self.modules = [t for t in things if hasattr(t, "_parameters") and hasattr(t, "training")]
        self.objects = [(t, attributes(t)) for t in things if stateful(t)]
        self.dicts = [(d, dict(d)) for d in things if isinstance(d, dict)]
        self.lists = [(x, list(x)) for x in things if isinstance(x, (list, deque))]
        functions = (t for t in things if isinstance(t, types.FunctionType) and users(t.__module__))
        self.variables = [variable for function in functions for variable in variables(function)]
        generators = {id(g): g for g in (default_generator(), *(t for t in things if isinstance(t, Generator)))}
        self.streams = [(g, g.get_state()) for g in generators.values()]

    def restore(self) -> None:
        """Put everything back; tensors stay in the memory that they have moved to."""
        for held, before in self.dicts:
            held.clear()
            held.update(before)
        for items, was in self.lists:
            items.clear()
            items.extend(was)
        for name, holder, value in self.variables:
            assign(holder, name, value)
        for thing, before in self.objects:
            own = users(type(thing).__module__)
            for name in attributes(thing).keys() - before.keys() if own else ():
                put(thing, name, ABSENT)
            for name, value in before.items():
                if own or isinstance(value, (*PLAIN, list, tuple, dict)):
                    put(thing, name, value)
        for tensor, values, grad, g in self.tensors:
            tensor.array[...] = values
            if grad is not None:
                grad.array[...] = g
            tensor._grad = grad
        for generator, state in self.streams:
            generator.set_state(state)

    def numbers(self) -> dict[tuple[int, Any], tuple[str, Any]]:
        """Python's own numbers: what they are called, and what they are."""
        found: dict[tuple[int, Any], tuple[str, Any]]
        found = {(id(holder), name): (name, value) for name, holder, value in self.variables}
        found.update({(id(d), key): (repr(key), value) for d, held in self.dicts for key, value in held.items()})
        found.update({(id(x), n): (f"item {n} of a list", value) for x, was in self.lists for n, value in enumerate(was)})
        found.update({(id(t), name): (f"{type(t).__name__}.{name}", value)
                      for t, held in self.objects for name, value in held.items()})
        return {key: pair for key, pair in found.items() if isinstance(pair[1], (bool, int, float, complex))}


def stateful(thing: Any) -> bool:
    """Whether an object may count steps in its attributes."""
    module = type(thing).__module__
    return (hasattr(thing, "__dict__") or users(module)) and not module.startswith("dparallel") and not isinstance(
        thing, (Tensor, types.FunctionType, types.MethodType, Generator, dict, list, tuple, set, frozenset, deque))
