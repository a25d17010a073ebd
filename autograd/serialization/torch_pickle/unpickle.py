"""Reads a pickle as data: containers, numbers, strings, and calls of a fixed list of functions. No code of the file runs.

The standard library's `pickletools.genops` takes the stream apart; what is done with each step is here, because
pickle.Unpickler, even with find_class() restricted, lets a file set attributes of whatever it has reached, and fills memory
as a damaged index says.

Time and memory are bounded by the pickle's length. A file can name the same list, text or tuple again and again, in three
bytes each: what calls and keys read is counted (Machine.spend), and may not exceed a few times the bytes read so far."""

from __future__ import annotations

import pickletools
import reprlib
from argparse import Namespace
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from pickle import UnpicklingError
from typing import Any

ARGUMENTS = frozenset("INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING UNICODE "
                      "BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8".split())
CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
FRESH: dict[str, Callable[[], Any]] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": set}
NOTHING = ("PROTO", "FRAME")
ALLOWED, EXTRA = 4, 1000                             # units of work for each byte of the pickle, and beyond
DEEPEST = 200                                        # tuples in tuples in a key: hash() recurses in C, unchecked
HASHING = ("builtins.set", "builtins.frozenset", "collections.OrderedDict", "collections.Counter")
SIZED = (tuple, list, dict, set, frozenset, str, bytes)


class Named:
    """A name in the file: a function to be called, or a class that is only mentioned (call is None)."""

    def __init__(self, name: str, call: Callable[..., Any] | None = None) -> None:
        self.name: str = name
        self.call: Callable[..., Any] | None = call


class Machine:
    """The pickle machine: a stack, the marks in it, and a memo."""

    length: int
    spent: int

    def __init__(self, names: Mapping[str, Any], persistent: Callable[[Any], Any]) -> None:
        self.names: Mapping[str, Any] = names
        self.persistent: Callable[[Any], Any] = persistent
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.length = self.spent = 0                 # bytes of the pickle so far, and the work that they caused

    def run(self, stream: Any) -> Any:
        """The object of the next pickle of the stream."""
        start = None
        for opcode, argument, position in pickletools.genops(stream):
            start = position if start is None else start
            self.length = (position or 0) - (start or 0)
            name = opcode.name
            if name in ARGUMENTS:
                self.stack.append(argument)
            elif name in CONSTANTS:
                self.stack.append(CONSTANTS[name])
            elif name in FRESH:
                self.stack.append(FRESH[name]())
            elif name in STEPS:
                STEPS[name](self, argument)
            elif name == "STOP":
                return self.stack.pop()
            elif name not in NOTHING:
                raise UnpicklingError(f"it has the pickle operation {name}, which builds objects of other classes")
        raise ValueError("its pickle has no end")

    def spend(self, work: int) -> None:
        """Count the work that the pickle requires: elements read or created. ValueError if it exceeds what its length
        allows."""
        self.spent += work
        if self.spent > ALLOWED * self.length + EXTRA:
            raise ValueError(f"its pickle requires more than {self.spent - work} steps in {self.length} bytes: "
                             "its objects are used repeatedly")

    def key(self, value: Any) -> Any:
        """A value to be hashed. Hashing and comparing a tuple take time proportional to its unfolded length, and are not
        cached."""
        if type(value) is str:
            return value
        waiting = [(value, 0)]
        while waiting:
            part, depth = waiting.pop()
            if isinstance(part, (tuple, frozenset)):
                self.spend(len(part) + 1)
                if depth > DEEPEST:
                    raise ValueError(f"its pickle has a key of tuples nested more than {DEEPEST} deep")
                waiting.extend([(inner, depth + 1) for inner in part])
        return value

    def popped(self, count: int) -> list[Any]:
        """Pop the last `count` values."""
        if count > len(self.stack) - (self.marks[-1] if self.marks else 0):
            raise ValueError("its pickle takes more from the stack than there is")
        values = self.stack[len(self.stack) - count:]
        del self.stack[len(self.stack) - count:]
        return values

    def marked(self) -> list[Any]:
        """Pop the values since the last mark, and the mark."""
        start = self.marks.pop()
        values = self.stack[start:]
        del self.stack[start:]
        return values

    def top(self, *classes: type) -> Any:
        """The last value, which must be of one of these classes, exactly."""
        if type(self.stack[-1]) not in classes:
            raise ValueError(f"its pickle fills a {type(self.stack[-1]).__name__} as if it were a {classes[0].__name__}")
        return self.stack[-1]

    def find(self, module: str, name: str) -> None:
        """Push the object that the file names module.name. UnpicklingError if it is not on the list."""
        full = f"{'builtins' if module == '__builtin__' else module}.{name}"
        if full not in self.names:
            raise UnpicklingError(f"it holds an object of {full}; only tensors, parameters, containers, numbers and strings "
                                  "are read. Where that class is known, load the file and save what the object is made of")
        self.stack.append(self.names[full])

    def call(self) -> None:
        """Call the function below its arguments."""
        function, arguments = self.popped(2)
        if not isinstance(function, Named) or function.call is None or type(arguments) is not tuple:
            raise UnpicklingError(f"it calls {getattr(function, 'name', type(function).__name__)}, "
                                  "which is not a function that creates tensors")
        self.spend(sum(_length(a) for a in arguments) + 1)
        if function.name in HASHING:
            for items in arguments:
                for item in items if isinstance(items, SIZED) and not isinstance(items, (str, bytes)) else ():
                    self.key(item)
        self.stack.append(function.call(*arguments))

    def fill(self, items: list[Any]) -> None:
        """Store keys and values, which alternate, in the dict on top of the stack."""
        target = self.top(dict, OrderedDict, Counter)
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[self.key(key)] = value

    def build(self) -> None:
        """Set a Namespace's options, or _metadata, the versions in a module's state: no other attribute may be set."""
        state, = self.popped(1)
        target = self.top(OrderedDict, Namespace)
        if type(target) is Namespace:
            if type(state) is not dict or not all(type(name) is str for name in state):
                raise UnpicklingError("it sets options of a Namespace whose names are not strings")
            vars(target).update(state)
            return
        if type(state) is not dict or not state.keys() <= {"_metadata"}:
            raise UnpicklingError("it sets attributes of an OrderedDict; only _metadata is read")
        for name, value in state.items():
            setattr(target, name, value)

    def get(self, key: int) -> None:
        """The memo's value for a number."""
        self.stack.append(self.memo[key])

    def put(self, key: int | None) -> None:
        """Store the top of the stack in the memo."""
        self.memo[len(self.memo) if key is None else key] = self.stack[-1]


def _length(argument: Any) -> int:
    """The elements of an argument, and the nested arguments to be counted."""
    if not isinstance(argument, SIZED):
        return 1
    inner = sum(len(part) for part in argument if isinstance(part, SIZED)) if type(argument) is tuple else 0
    return len(argument) + inner


def _dict(machine: Machine, items: list[Any]) -> dict[Any, Any]:
    return {machine.key(key): value for key, value in zip(items[::2], items[1::2], strict=True)}


def short_repr(value: Any) -> str:
    """The beginning of repr(value), which may be far longer than the file if parts are used repeatedly."""
    return reprlib.repr(value)[:100]


def _one(stack: Machine) -> Any:
    return stack.popped(1)[0]


STEPS: dict[str, Callable[[Machine, Any], Any]] = {
    "MARK": lambda m, _: m.marks.append(len(m.stack)),
    "POP": lambda m, _: m.popped(1),
    "POP_MARK": lambda m, _: m.marked(),
    "DUP": lambda m, _: m.stack.append(m.stack[-1]),
    "TUPLE": lambda m, _: m.stack.append(tuple(m.marked())),
    "LIST": lambda m, _: m.stack.append(m.marked()),
    "DICT": lambda m, _: m.stack.append(_dict(m, m.marked())),
    "FROZENSET": lambda m, _: m.stack.append(frozenset(map(m.key, m.marked()))),
    "APPEND": lambda m, _: (lambda item: m.top(list).append(item))(_one(m)),
    "APPENDS": lambda m, _: (lambda items: m.top(list).extend(items))(m.marked()),
    "ADDITEMS": lambda m, _: (lambda items: m.top(set).update(map(m.key, items)))(m.marked()),
    "SETITEM": lambda m, _: m.fill(m.popped(2)),
    "SETITEMS": lambda m, _: m.fill(m.marked()),
    "GLOBAL": lambda m, argument: m.find(*argument.split(" ", 1)),
    "STACK_GLOBAL": lambda m, _: m.find(*m.popped(2)),
    "REDUCE": lambda m, _: m.call(),
    "NEWOBJ": lambda m, _: m.call(),
    "BUILD": lambda m, _: m.build(),
    "BINPERSID": lambda m, _: m.stack.append(m.persistent(_one(m))),
    "BINGET": Machine.get, "LONG_BINGET": Machine.get, "GET": Machine.get,
    "BINPUT": Machine.put, "LONG_BINPUT": Machine.put, "PUT": Machine.put, "MEMOIZE": Machine.put,
    "TUPLE1": lambda m, _: m.stack.append(tuple(m.popped(1))),
    "TUPLE2": lambda m, _: m.stack.append(tuple(m.popped(2))),
    "TUPLE3": lambda m, _: m.stack.append(tuple(m.popped(3))),
}


def contents(value: Any) -> Iterator[Any]:
    """A value and everything in it, each container once."""
    seen, waiting = set(), [value]
    while waiting:
        value = waiting.pop()
        yield value
        value = vars(value) if isinstance(value, Namespace) else value
        if isinstance(value, (dict, list, tuple, set, frozenset)) and id(value) not in seen:
            seen.add(id(value))
            waiting.extend(value)
            if isinstance(value, dict):
                waiting.extend(value.values())
