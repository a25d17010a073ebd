"""The Python state that a step can read: its variables, items of containers, and attributes of the user's objects."""

from __future__ import annotations

import functools
import sys
import types
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from ...core.tensor import Tensor
from .state import ABSENT, PLAIN, STOP, attributes, is_plugin_code, is_user_code, methods, names_in, variables

LARGE = 1000                         # items: of larger containers only the length is compared


class Binding(NamedTuple):
    """A name of the user's that holds a value: holder[key] is value, or holder.key for a cell or an object."""

    label: str                                       # for messages: "count", "config['rate']", "self.steps"
    name: str                                        # the variable or attribute by which code reaches it
    holder: Any
    key: Any
    value: Any


class Bindings:
    """All bindings that a step reaches, without entering objects of this package, its plugins' or NumPy's."""

    def __init__(self, roots: Collection[object]) -> None:
        self.found: dict[tuple[int, Any], Binding] = {}
        self.names: set[str] = set()                 # global names and attributes in the code of the user's functions
        self.iterators: list[str] = []               # recording a step would advance these
        self._seen: dict[int, Any] = {}
        stack = [(root, "", "") for root in roots]
        while stack:
            obj, label, name = stack.pop()
            if id(obj) not in self._seen and not isinstance(obj, (*PLAIN, *STOP, Tensor)):
                self._seen[id(obj)] = obj
                stack.extend(self._enter(obj, label, name))

    def _enter(self, obj: Any, label: str, name: str) -> Iterator[tuple[Any, str, str]]:
        """Add the bindings of one object, and return the objects to enter next."""
        if isinstance(obj, types.FunctionType):
            user = is_user_code(obj.__module__) and str(obj.__module__).partition(".")[0] not in sys.stdlib_module_names
            self.names.update(names_in(obj.__code__) if user else ())
            for key, holder, value in variables(obj):
                if user:
                    self._add(key, key, holder, key, value)
                if user or isinstance(holder, types.CellType):       # a decorator's
                    yield value, key, key
            yield from ((value, label, name) for value in (*(obj.__defaults__ or ()), *(obj.__kwdefaults__ or {}).values()))
        elif isinstance(obj, types.MethodType):
            yield from ((obj.__self__, "self", "self"), (obj.__func__, label, name))
        elif hasattr(type(obj), "eager_calls"):
            yield obj.function, label, name
        elif isinstance(obj, functools.partial):
            yield from ((part, label, name) for part in (obj.func, *obj.args, *obj.keywords.values()))
        elif isinstance(obj, (dict, list, deque)):
            items = list(obj.items() if isinstance(obj, dict) else enumerate(obj))
            if len(items) > LARGE:
                self._add(f"len({label})", name, obj, ABSENT, len(items))
                return
            for key, value in items:
                self._add(f"{label}[{key!r:.40}]", name, obj, key, value)
                yield value, f"{label}[{key!r:.40}]", name
        elif isinstance(obj, (tuple, set, frozenset)):
            yield from ((value, label, name) for value in obj)
        elif hasattr(obj, "__next__") and not is_module(obj):
            self.iterators.append(label)
        else:
            yield from self._enter_object(obj, label)

    def _enter_object(self, obj: Any, label: str) -> Iterator[tuple[Any, str, str]]:
        home = type(obj).__module__
        if is_user_code(home) and home != "builtins":
            for key, value in attributes(obj).items():
                if not (is_module(obj) and isinstance(value, (dict, set))):          # parameters, modules and hooks
                    self._add(f"{label}.{key}", key, obj, key, value)
                    yield value, f"{label}.{key}", key
            yield from ((f, label, f.__name__) for f in methods(type(obj)))
        if is_module(obj):
            yield from ((module, f"{label}.{key}", key) for key, module in obj._modules.items())

    def _add(self, label: str, name: str, holder: Any, key: Any, value: Any) -> None:
        self.found[id(holder), key] = Binding(label, name, holder, key, value)

    def read(self) -> list[Binding]:
        """The bindings on which a program depends: variables, and what code names of objects other than modules."""
        return [b for b in self.found.values() if b.value is not ABSENT and not is_module(b.holder) and (
            isinstance(b.holder, types.CellType) or is_globals(b) or (len_of(b.holder) <= 64 and isinstance(
                b.value, (*PLAIN, Tensor)) and (isinstance(b.holder, (dict, list, deque)) or b.key in self.names)))]

    def changed_since(self, before: Bindings) -> list[Binding]:
        """The bindings that have another value than before, are new, or are gone."""
        gone = [b for key, b in before.found.items() if key not in self.found]
        return gone + [b for key, b in self.found.items() if not same(before.found.get(key, b._replace(value=ABSENT)).value,
                                                                      b.value)]


def same(one: object, two: object) -> bool:
    """Whether two values are one object, or equal plain values."""
    return one is two or (isinstance(one, PLAIN) and type(one) is type(two) and (one == two or (one != one and two != two)))


def is_module(obj: object) -> bool:
    """Whether an object is an nn.Module."""
    return hasattr(type(obj), "_call_hooked")


def is_globals(binding: Binding) -> bool:
    """Whether a binding is a global variable."""
    return isinstance(binding.holder, dict) and "__builtins__" in binding.holder


def len_of(holder: object) -> int:
    """The number of items of a container; 0 of an object."""
    return len(holder) if isinstance(holder, (dict, list, deque)) else 0


def module_settings(module: Any, names: Collection[str]) -> Mapping[str, Any]:
    """A module's attributes that its forward may read: numbers and strings; of a user's class all that its code names."""
    user = is_user_code(type(module).__module__)
    if is_plugin_code(type(module).__module__):
        return {}
    return {key: value for key, value in vars(module).items() if key != "training" and not isinstance(value, (dict, set))
            and (key in names if user else key[0] != "_" and isinstance(value, PLAIN))}


__all__ = ["Binding", "Bindings", "is_module", "module_settings", "same"]
