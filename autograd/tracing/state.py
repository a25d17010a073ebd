"""What a step reaches: tensors, modules, optimisers; kept before a trace and put back after it."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

from ..random import Generator, default_generator
from ..tensor import Tensor
from ..traced import TraceError

PLAIN = (bool, int, float, complex, str, bytes, type(None))
STOP = (type, types.ModuleType, types.CodeType, types.FrameType)


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
        if thing.__module__ and thing.__module__.partition(".")[0] not in ("autograd", "dparallel", "numpy"):
            yield from (thing.__globals__[name] for name in names_in(thing.__code__) if name in thing.__globals__)
    elif isinstance(thing, types.MethodType):
        yield thing.__self__
        yield thing.__func__
    elif isinstance(thing, dict):
        yield from thing.keys()
        yield from thing.values()
    elif isinstance(thing, (list, tuple, set, frozenset)):
        yield from thing
    elif isinstance(thing, Tensor):
        if thing._grad is not None:
            yield thing._grad
    elif type(thing).__module__.startswith("dparallel") and not hasattr(thing, "param_groups"):
        yield from (v for v in getattr(thing, "__dict__", {}).values()       # of ours what trains; not what ranks share
                    if isinstance(v, (Tensor, Generator)) or hasattr(v, "_parameters") or hasattr(v, "param_groups"))
    elif hasattr(thing, "__dict__"):
        yield from vars(thing).values()


def names_in(code: types.CodeType) -> Iterator[str]:
    """The global names in a function's code, and in functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)


class Snapshot:
    """Tensors' values and gradients, attributes of stateful objects, and random streams, as they are now."""

    def __init__(self, step: Any) -> None:
        things = reachable(step)
        for thing in things:
            reason = thing.unrecordable() if hasattr(type(thing), "unrecordable") else ""
            if reason:
                raise TraceError(f"trace: {reason} can't be recorded: call the step itself")
        self.tensors = [(t, t.array.copy(), t._grad, None if t._grad is None else t._grad.array.copy())
                        for t in things if isinstance(t, Tensor)]
        self.modules = [t for t in things if hasattr(t, "_parameters") and hasattr(t, "training")]
        self.objects = [(t, dict(vars(t))) for t in things if stateful(t)]
        self.dicts = [(d, dict(d)) for d in things if isinstance(d, dict)]
        self.lists = [(x, list(x)) for x in things if isinstance(x, list)]
        generators = {id(g): g for g in (default_generator(), *(t for t in things if isinstance(t, Generator)))}
        self.streams = [(g, g.get_state()) for g in generators.values()]

    def restore(self) -> None:
        """Put everything back; tensors stay in the memory that they have moved to."""
        for held, before in self.dicts:
            held.clear()
            held.update(before)
        for items, was in self.lists:
            items[:] = was
        for thing, attributes in self.objects:
            for name, value in attributes.items():
                if isinstance(value, PLAIN):
                    vars(thing)[name] = value
        for tensor, values, grad, g in self.tensors:
            tensor.array[...] = values
            if grad is not None:
                grad.array[...] = g
            tensor._grad = grad
        for generator, state in self.streams:
            generator.set_state(state)


def stateful(thing: Any) -> bool:
    """Whether an object may count steps in its attributes."""
    return (hasattr(thing, "__dict__") and not type(thing).__module__.startswith("dparallel")
            and not isinstance(thing, (Tensor, types.FunctionType, types.MethodType, Generator)))
