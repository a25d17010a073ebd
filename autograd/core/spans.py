# cython: annotation_typing=True
"""Spans: what this process records of when its threads began and ended something. The profiler reads them.

A Recorder has a Ring for each thread that records: eight numbers a span, written by that thread alone, without a lock.

    0 number    of the name and kind, see number_of()     4 sequence  of the node that an operation made or that runs, or -1
    1 start     nanoseconds of time.perf_counter_ns()     5 detail    place in Ring.details of shapes, stack or text, or -1
    2 end       0 while the span is open                  6 a         what the kind says: of messages and buckets their bytes
    3 parent    count of the span around it, or -1        7 b         and number; see also Recorder

The count of a span is its place in its thread's ring, from 0 on. A ring grows block by block; with a limit it goes on at its
beginning, and keeps the newest.

Who is to be seen asks `if spans.on` first, which costs 1 ns in compiled modules. Python modules ask `if recorders`. A span
that an exception left open is closed with the span around it: begin() and end() need no try where an outer span has one.
"""

from __future__ import annotations

import functools
import re
import threading
from array import array
from collections.abc import Callable
from typing import Any

from . import allocations, ticks
from .graph import Node

Whole = int                                          # a name, since a compiled core takes `int` for an object
OPERATION, FUNCTION, BACKWARD, MODULE, USER, LANE, MESSAGE, FLIGHT, PASS, MEMORY = range(10)     # kinds of spans
BLOCK = 1 << 14                                      # spans in a block: 1 MiB; the code below knows the 14

on = False                                           # whether there is a recorder; in a compiled core a variable of C
recording: Whole = 0                                   # how many recordings there were: the number of this one
held_bytes: Whole = 0                                # of arrays, since the recorder that counts them was started
rings: Whole = 0                                     # how many rings there were in all recordings
recorders: list[Recorder] = []                       # the recorder, if there is one: what Python modules ask
names: list[tuple[str, int]] = []                    # by number: the name and kind of a span
_numbers: dict[tuple[str, int], int] = {}
_of_nodes: dict[type, int] = {}                      # by class of node: see node_number()
_naming = threading.Lock()


class Recorder:
    """One recording: the rings of all threads, and what a describer said about spans.

    limit: how many spans of each thread are kept, rounded up to whole blocks; None: all. describe: called with the name's
    number, the arguments and the settings of each operation; what it returns is kept in the ring's `details`. memory: each
    allocation and each release of array memory is a span without a duration: a is its bytes, b what is held then of what was
    allocated since the start, sequence the address. NotImplementedError without the compiled core.
    """

    def __init__(self, limit: int | None = None, describe: Callable[..., Any] | None = None, memory: bool = False) -> None:
        self.blocks = 0 if limit is None else max(2, -(-limit // BLOCK) + 1)
        self.describe, self.memory = describe, memory
        self.rings: list[Ring] = []
        self.started = self.stopped = 0              # nanoseconds

    def start(self) -> None:
        """Record from now on, in all threads. RuntimeError if there is a recording."""
        global on, recording, held_bytes
        if recorders:
            raise RuntimeError("a profiler records already, and there can be one at a time: stop that one first "
                               "(a profiler inside a profiler is not supported)")
        if self.memory:
            allocations.watch(note_memory)
            held_bytes = 0
        recording += 1
        self.started = ticks.now()
        recorders.append(self)
        on = True

    def stop(self) -> None:
        """Record no more; spans that are open end now."""
        global on, recording
        on = False
        if self.memory:
            allocations.unwatch()
        recorders.remove(self)
        recording += 1                               # threads forget their rings
        self.stopped = ticks.now()


class Ring:
    """The spans of one thread in one recording."""

    def __init__(self, recorder: Recorder) -> None:
        global rings
        rings += 1
        self.recorder = recorder
        self.describe = recorder.describe
        self.thread, self.thread_name = threading.get_native_id(), threading.current_thread().name
        self.blocks: list[array[int]] = []
        self.details: list[Any] = []
        self.most = recorder.blocks
        self.first = rings << 40                     # a span's token is this and its count: no other ring's
        self.count = 0
        self.open = -1                               # the count of the innermost open span
        self.entering = False                        # call() is about to call what asks entered()
        recorder.rings.append(self)

    def begin(self, number: Whole) -> Whole:
        """Begin a span inside the innermost open one; its token."""
        count = self.count
        if not count & 16383:
            self.turn()
        place = (count & 16383) * 8
        block = self.block
        block[place] = number
        block[place + 2] = 0
        block[place + 3] = self.open
        block[place + 4] = block[place + 5] = -1
        block[place + 6] = block[place + 7] = 0
        self.open = count
        self.count = count + 1
        block[place + 1] = ticks.now()
        return self.first + count

    def end(self, token: Whole) -> None:
        """End a span, and those inside it that are open."""
        ended = ticks.now()
        count = token - self.first
        if count < 0 or count >= self.count:
            return                                   # begun before this recording
        while self.open >= count:
            if not self.kept(self.open):
                self.open = -1
                return
            place = (self.open & 16383) * 8
            block = self.block if self.open >> 14 == (self.count - 1) >> 14 else self.block_of(self.open)
            block[place + 2] = ended
            self.open = block[place + 3]

    def set(self, token: Whole, field: Whole, value: Whole) -> None:
        """Set a field of a span, if it is still kept."""
        count = token - self.first
        if 0 <= count < self.count and self.kept(count):
            block = self.block_of(count)
            block[(count & 16383) * 8 + field] = value

    def add(self, number: Whole, a: Whole, b: Whole, sequence: Whole) -> None:
        """Record that something happens now, inside the innermost open span."""
        self.begin(number)
        place = ((self.count - 1) & 16383) * 8
        block = self.block
        self.open = block[place + 3]
        block[place + 2] = block[place + 1]
        block[place + 4] = sequence
        block[place + 6] = a
        block[place + 7] = b

    def link(self, sequence: Whole) -> None:
        """The innermost open span has made, or runs, the node with this number; the first node counts."""
        if self.open >= 0 and self.kept(self.open):
            block = self.block_of(self.open)
            place = (self.open & 16383) * 8 + 4
            if block[place] < 0:
                block[place] = sequence

    def kept(self, count: Whole) -> bool:
        """Whether the ring has not gone over this span's place again."""
        return self.most == 0 or (count >> 14) > ((self.count - 1) >> 14) - self.most

    def turn(self) -> None:
        """Go on in a new block, or in the oldest."""
        number = self.count >> 14
        if self.most and number >= self.most:
            self.block = ticks.memory(self.blocks[number % self.most])
            return
        self.blocks.append(array("q", bytes(8 * 8 * BLOCK)))
        self.block = ticks.memory(self.blocks[number])

    def block_of(self, count: Whole) -> Any:
        """The block that has a span that is kept."""
        number = count >> 14
        return ticks.memory(self.blocks[number % self.most if self.most else number])


# --- names ------------------------------------------------------------------------------------------------------------

def number_of(name: str, kind: int) -> int:
    """The number under which spans of this name and kind are recorded."""
    key = name, kind
    if key not in _numbers:
        with _naming:
            if key not in _numbers:
                names.append(key)
                _numbers[key] = len(names) - 1
    return _numbers[key]


def snake_case(name: str) -> str:
    """max_pool2d_with_indices of MaxPool2DWithIndices."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def operation_number(name: str) -> int:
    """The number of an operation whose nodes are called `<Name>Backward0`; in PyTorch it is aten::<name>."""
    return number_of(f"aten::{snake_case(name)}", OPERATION)


def node_number(node: Node) -> Whole:
    """The number of a node's evaluation by the engine; that of its run() is the next one."""
    kind = type(node)
    if kind in _of_nodes:
        return _of_nodes[kind]
    name = "torch::autograd::AccumulateGrad" if node.is_leaf else node.name()
    with _naming:
        if kind not in _of_nodes:
            evaluation = f"autograd::engine::evaluate_function: {name}"
            _of_nodes[kind] = len(names)
            names.extend([(evaluation, OPERATION), (name, BACKWARD)])
    return _of_nodes[kind]


# --- recording --------------------------------------------------------------------------------------------------------

def this_ring() -> Ring:
    """This thread's ring; there must be a recorder."""
    ring = ticks.held(recording)
    if ring is None:
        ring = Ring(recorders[0])
        ticks.hold(ring, recording)
    return ring


def begin(number: Whole) -> Whole:
    """Begin a span in this thread; its token, 0 where nobody records."""
    ring: Ring
    if not on:
        return 0
    ring = this_ring()
    return ring.begin(number)


def end(token: Whole) -> None:
    """End a span, and those inside it that are open."""
    ring: Ring
    if token and on:
        ring = this_ring()
        ring.end(token)


def link(sequence: Whole) -> None:
    """The innermost open span of this thread has made, or runs, the node with this number."""
    ring: Ring
    if on:
        ring = this_ring()
        ring.link(sequence)


def describe(token: Whole, number: Whole, args: tuple[Any, ...], settings: Any) -> None:
    """Keep with a span what the recorder wants to know of its arguments."""
    ring: Ring
    ring = this_ring()
    if ring.describe is not None:
        keep(ring, token, ring.describe(number, args, settings))


def keep(ring: Ring, token: Whole, detail: Any) -> None:
    """Keep an object with a span of this thread."""
    if detail is not None:
        ring.details.append(detail)
        ring.set(token, 5, len(ring.details) - 1)


def call(function: Any, number: Whole, args: tuple[Any, ...], settings: Any) -> Any:
    """Call an operation as a span. It asks entered() first of all, and so knows that it has one."""
    ring: Ring
    ring = this_ring()
    token = ring.begin(number)
    if ring.describe is not None:
        describe(token, number, args, settings)
    ring.entering = True
    try:
        return function(*args) if settings is None else function(*args, **settings)
    finally:
        ring.end(token)


def entered() -> bool:
    """Whether call() has just called the operation that asks, which then goes on; if not, it lets call() call it."""
    ring: Ring
    ring = this_ring()
    if ring.entering:
        ring.entering = False
        return True
    return False


def evaluate(node: Node) -> Whole:
    """Begin the engine's evaluation of a node; its token."""
    ring: Ring
    if not on:
        return 0
    ring = this_ring()
    token = ring.begin(node_number(node))
    if not node.is_leaf:
        ring.link(node.seq)
    return token


def run(node: Node, g: Any) -> Whole:
    """Begin the run of a node on gradients g, inside its evaluation; its token."""
    ring: Ring
    if not on:
        return 0
    ring = this_ring()
    number = node_number(node) + 1
    token = ring.begin(number)
    if not node.is_leaf:
        ring.link(node.seq)
    if ring.describe is not None:
        describe(token, number, tuple(g) if type(g) is list else (g,), None)
    return token


def note_memory(size: Whole, address: Whole) -> None:
    """Record that array memory was allocated, or with a negative size is released."""
    global held_bytes
    ring: Ring
    if on:
        ring = this_ring()
        held_bytes += size
        ring.add(ALLOCATION, size, held_bytes, address)


def complete(name: str, kind: int, start: int, ended: int, a: int = 0, b: int = 0) -> None:
    """Record a span that has ended, of times that the caller took: what is in flight while a thread does other things."""
    ring: Ring
    if not on:
        return
    ring = this_ring()
    token = ring.begin(number_of(name, kind))
    ring.open = ring.block[((token - ring.first) & 16383) * 8 + 3]
    ring.set(token, 1, start)
    ring.set(token, 2, ended)
    ring.set(token, 6, a)
    ring.set(token, 7, b)


class record_function:
    """Context manager and decorator: a span of this name in what a profiler records; 0.1 us where none does.

    args: a text that is shown with the span. kind, a, b: for the library's own spans, see the top of this file.

    >>> with record_function("tokenise"):
    ...     batch = tokenise(text)
    """

    def __init__(self, name: str, args: str | None = None, kind: int = USER, a: int = 0, b: int = 0) -> None:
        self.name, self.args, self.kind = name, args, kind
        self.a, self.b = a, b
        self.token = 0

    def __enter__(self) -> record_function:
        ring: Ring
        if on:
            ring = this_ring()
            number = number_of(self.name, self.kind)
            self.token = ring.begin(number)
            if self.a or self.b:
                ring.set(self.token, 6, self.a)
                ring.set(self.token, 7, self.b)
            if ring.describe is not None:
                describe(self.token, number, () if self.args is None else (self.args,), None)
            elif self.args is not None:
                keep(ring, self.token, self.args)
        return self

    def __exit__(self, *exception: object) -> None:
        token = self.token
        self.token = 0
        end(token)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Each call of the decorated function is a span."""
        name, args, kind, a, b = self.name, self.args, self.kind, self.a, self.b

        @functools.wraps(function)
        def wrapped(*positional: Any, **settings: Any) -> Any:
            with record_function(name, args, kind, a, b):
                return function(*positional, **settings)

        return wrapped


ALLOCATION: Whole = number_of("[memory]", MEMORY)

__all__ = ["BACKWARD", "FLIGHT", "FUNCTION", "LANE", "MEMORY", "MESSAGE", "MODULE", "OPERATION", "PASS", "USER", "Recorder",
           "Ring", "begin", "call", "complete", "describe", "end", "entered", "evaluate", "keep", "link", "names",
           "number_of", "operation_number", "record_function", "recorders", "run"]
