# cython: annotation_typing=True
"""Spans: what this process records of when its threads began and ended something. The profiler reads them.

A Recorder has a Ring for each thread that records: eight numbers a span, written by that thread alone, without a lock.

    0 number    of the name and kind, see number_of()     4 sequence  of the node that an operation made or that runs, or -1
    1 start     nanoseconds of time.perf_counter_ns()     5 detail    place in Ring.details of shapes, stack or text, or -1
    2 end       0 while the span is open                  6 a         what the kind says: of messages and buckets their bytes
    3 parent    count of the span around it, or -1        7 b         and number; see also Recorder

The count of a span is its place in its thread's ring, from 0 on. A ring grows block by block; with a limit it goes on at its
beginning, and keeps the newest.

There are two levels. FINE kinds (operations, nodes, modules, memory) are recorded by a profiler; who is to be seen asks `if
spans.fine` first, which costs 1 ns in compiled modules, and Python modules ask `if profilers`. All other kinds, some ten
spans a step, are recorded by a timeline too: they ask `if spans.active`, and `if recorders`. Operations ask `if spans.on`:
they pass themselves to call() while a profiler records, and while a thread is in vmap(), whose batched tensors take other
ways: see batching.py.

A span that an exception left open is closed with the span around it: begin() and end() need no try where an outer span has
one."""

from __future__ import annotations

import functools
import threading
from array import array
from collections.abc import Callable
from typing import Any

from . import allocations, ticks
from .operation_names import aten_name

Whole = int                                          # a name, since a compiled core takes `int` for an object
OPERATION, FUNCTION, BACKWARD, MODULE, USER, LANE, MESSAGE, FLIGHT, PASS, MEMORY, COUNTER = range(11)       # kinds of spans
FINE = frozenset((OPERATION, FUNCTION, BACKWARD, MODULE, MEMORY))
BLOCK = 1 << 14                                      # spans in a block: 1 MiB; the code below knows the 14
NEVER: Whole = (1 << 63) - 1                         # a time that does not come
HEAD = 8                                             # numbers in a ring's head: its count, and the most blocks it may have

on = False                                           # whether operations use call(); in a compiled core a variable of C
fine = False                                         # whether FINE kinds are recorded
active = False                                       # whether anything is
batching: Whole = 0                                  # how many vmap() calls threads are in
# while there are any, what call() passes a call to: (function, args, settings) -> its result, or NotImplemented where no
# argument is a batch
batch_call: Any = None
recording: Whole = 0                                   # how many recordings there were: the number of this one
held_bytes: Whole = 0                                # of arrays, since the recorder that counts them was started
rings: Whole = 0                                     # how many rings there were in all recordings
recorders: list[Recorder] = []                       # a timeline's, and a profiler's on it: the last one records
profilers: list[Recorder] = []                       # those of them that record FINE kinds
names: list[tuple[str, int]] = []                    # by number: the name and kind of a span
_numbers: dict[tuple[str, int], int] = {}
_of_nodes: dict[type, int] = {}                      # by class of node: see node_number()
_counting = threading.RLock()
_naming = threading.RLock()                          # a collector's callback may name a span, wherever it interrupts


class Recorder:
    """One recording: the rings of all threads, and what a describer said about spans.

    limit: how many spans of each thread are kept, rounded up to whole blocks; None: all. describe: called with the name's
    number, the arguments and the settings of each operation; what it returns is kept in the ring's `details`. memory: each
    allocation and each release of array memory is a span without a duration: a is its bytes, b what is held then of what was
    allocated since the start, sequence the address. NotImplementedError without the compiled core. fine: whether FINE kinds
    are recorded.

    A profiler may start while a timeline records (fine=False). Until it stops everything goes into its rings; then each
    thread copies into its ring of the timeline what that would have recorded, when it next records something; for threads
    that do not, stop() of the timeline copies. A span may begin in one of the two and end in the other."""

    def __init__(self, limit: int | None = None, describe: Callable[..., Any] | None = None, memory: bool = False,
                 fine: bool = True) -> None:
        self.blocks = 0 if limit is None else max(2, -(-limit // BLOCK) + 1)
        self.describe, self.memory, self.fine = describe, memory, fine
        self.rings: list[Ring] = []
        self.under: Recorder | None = None           # the timeline that records when this one has stopped
        self.above: dict[int, list[Ring]] = {}       # by thread: rings of profilers that it has still to copy from
        self.started = self.stopped = 0              # nanoseconds

    def start(self) -> None:
        """Record from now on, in all threads. RuntimeError if there is a recording; a profiler may begin in a timeline."""
        global recording, held_bytes
        if recorders and (recorders[-1].fine or not self.fine):
            raise RuntimeError("a profiler records already, and there can be one at a time: stop that one first "
                               "(a profiler inside a profiler is not supported)" if recorders[-1].fine else
                               "a timeline is recorded already, and there can be one at a time: end that one first")
        if self.memory:
            allocations.watch(note_memory)
            held_bytes = 0
        recording += 1
        self.started = ticks.now()
        self.under = recorders[-1] if recorders else None
        recorders.append(self)
        count_recorders()

    def stop(self) -> None:
        """Record no more; spans that are open end now."""
        global recording
        self.stopped = ticks.now()
        if self.memory:
            allocations.unwatch()
        last = recorders[-1] is self
        recorders.remove(self)
        count_recorders()
        if last:
            recording += 1                           # threads look for other rings
            if recorders:
                this_ring()                          # takes over what this one has recorded of this thread
        while self.above:                            # of threads that recorded no more
            for above in self.above.popitem()[1]:
                ring = _ring_of(self, above.thread, above.thread_name)
                if ring is None and above.has_others():
                    ring = Ring(self, above.thread, above.thread_name)
                if ring is not None:
                    ring.take(above)
        self._leave_profilers()

    def forget(self) -> None:
        """In a process that was forked from the one that records: leave its rings alone."""
        if self in recorders:
            recorders.remove(self)
            count_recorders()
        self._leave_profilers()

    def _leave_profilers(self) -> None:
        """What profilers record from now on is not for this recording."""
        for recorder in recorders:
            if recorder.under is self:
                recorder.under = None
                for ring in recorder.rings:
                    ring.under = None

    def block(self, ring: Ring, number: int) -> Any:
        """The memory of a ring's block: 8 * BLOCK zeros of 64 bits. OSError if there is none."""
        return array("q", bytes(8 * 8 * BLOCK))

    def head(self, ring: Ring) -> Any:
        """The memory of a ring's head: HEAD zeros of 64 bits."""
        return array("q", bytes(8 * HEAD))

    def named(self) -> None:
        """Names have got numbers while this recorder records."""

    def sample(self, ring: Ring) -> None:
        """A span that is not FINE has begun or ended in a thread after its ring's `due`, which this sets anew."""
        ring.due = NEVER


def count_recorders() -> None:
    """Set what says who records."""
    global on, fine, active
    with _counting:
        profilers[:] = [recorder for recorder in recorders if recorder.fine]
        fine, active = bool(profilers), bool(recorders)
        on = fine or batching > 0


def count_batching(change: int, dispatch: Any) -> None:
    """A thread enters (1) or leaves (-1) vmap(); dispatch: see batch_call."""
    global batching, batch_call
    with _counting:
        batching, batch_call = batching + change, dispatch
        count_recorders()


class Ring:
    """The spans of one thread in one recording."""

    def __init__(self, recorder: Recorder, thread: int, thread_name: str) -> None:
        global rings
        rings += 1
        self.recorder = recorder
        self.describe = recorder.describe
        self.thread, self.thread_name = thread, thread_name
        self.blocks: list[Any] = []
        self.details: list[Any] = []
        self.most = recorder.blocks
        self.first = rings << 40                     # a span's token is this and its count: no other ring's
        self.count = 0
        self.open = -1                               # the count of the innermost open span
        self.time = 0                                # when a span last began or ended
        self.due = NEVER                             # from when on Recorder.sample() is called
        self.entering = False                        # call() is about to call what asks entered()
        self.under: Ring | None = None               # this thread's ring in the recording under this one
        self.moved: dict[int, int] = {}              # by token in a profiler's ring: that of the copy, which is open
        self.head_memory = recorder.head(self)
        self.head = ticks.memory(self.head_memory)
        self.head[1] = self.most
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
        self.head[0] = count + 1
        self.time = block[place + 1] = ticks.now()
        return self.first + count

    def end(self, token: Whole) -> None:
        """End a span, and those inside it that are open."""
        self.time = ended = ticks.now()
        count = token - self.first
        if count < 0 or count >= self.count:         # begun in another recording
            if token not in self.moved:
                if self.under is not None:
                    self.under.end(token)
                return
            count = self.moved.pop(token) - self.first
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
        if count < 0 or count >= self.count:         # begun in another recording
            if token not in self.moved:
                if self.under is not None:
                    self.under.set(token, field, value)
                return
            count = self.moved[token] - self.first
        if self.kept(count):
            block = self.block if count >> 14 == (self.count - 1) >> 14 else self.block_of(count)
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
        try:
            self.blocks.append(self.recorder.block(self, number))
        except (OSError, MemoryError):               # no more memory, or a full disk: go on with what there is
            if not number:
                self.blocks.append(array("q", bytes(8 * 8 * BLOCK)))
            self.most = self.head[1] = max(number, 1)
        self.block = ticks.memory(self.blocks[number % len(self.blocks)])

    def block_of(self, count: Whole) -> Any:
        """The block that has a span that is kept."""
        number = count >> 14
        return ticks.memory(self.blocks[number % self.most if self.most else number])

    def has_others(self) -> bool:
        """Whether not all that it keeps is of FINE kinds."""
        for count in range(self.count):
            if self.kept(count) and names[self.block_of(count)[(count & 16383) * 8]][1] not in FINE:
                return True
        return False

    def take(self, above: Ring) -> None:
        """Copy what another ring of this thread has recorded in this one's stead, but for FINE kinds."""
        counts: dict[int, int] = {}                  # of the copies
        first = 0 if above.most == 0 else max(0, (((above.count - 1) >> 14) - above.most + 1) << 14)
        outer = inner = self.open
        for count in range(first, above.count):
            source = above.block_of(count)
            place = (count & 16383) * 8
            if names[source[place]][1] in FINE:
                continue
            token = self.begin(source[place])
            counts[count] = token - self.first
            parent = source[place + 3]
            while parent >= first and parent not in counts:
                parent = above.block_of(parent)[(parent & 16383) * 8 + 3]
            ended = source[place + 2] or self.recorder.stopped
            self.set(token, 1, source[place + 1])
            self.set(token, 2, ended)
            self.set(token, 3, counts.get(parent, outer))
            self.set(token, 4, source[place + 4])
            self.set(token, 6, source[place + 6])
            self.set(token, 7, source[place + 7])
            if ended == 0:
                self.moved[above.first + count] = token
                inner = token - self.first
            self.open = inner


# --- names ------------------------------------------------------------------------------------------------------------

def number_of(name: str, kind: int) -> int:
    """The number under which spans of this name and kind are recorded."""
    key = name, kind
    if key not in _numbers:
        with _naming:
            if key not in _numbers:
                names.append(key)
                _numbers[key] = _place_of(key)
                for recorder in recorders:
                    recorder.named()
    return _numbers[key]


def _place_of(key: tuple[str, int]) -> int:
    """The place of what has just been appended to names; the collector's callback may have appended something behind it."""
    place = len(names) - 1
    while names[place] is not key:
        place -= 1
    return place


def operation_number(name: str) -> int:
    """The number of an operation whose nodes are called `<Name>Backward0`; in PyTorch it is aten::<name>."""
    return number_of(f"aten::{aten_name(name)}", OPERATION)


def node_number(node: Any) -> Whole:
    """The number of a node's evaluation by the engine; that of its run() is the next one."""
    kind = type(node)
    if kind in _of_nodes:
        return _of_nodes[kind]
    name = "torch::autograd::AccumulateGrad" if node.is_leaf else node.name()
    with _naming:
        if kind not in _of_nodes:
            evaluation = f"autograd::engine::evaluate_function: {name}"
            pair = (evaluation, OPERATION), (name, BACKWARD)
            names.extend(pair)
            _of_nodes[kind] = _place_of(pair[0])
            for recorder in recorders:
                recorder.named()
    return _of_nodes[kind]


# --- recording --------------------------------------------------------------------------------------------------------

def this_ring() -> Ring:
    """This thread's ring in the recording that goes on."""
    ring = ticks.held(recording)
    return _new_ring() if ring is None else ring


def _new_ring() -> Ring:
    """This thread's ring in a recording that it has not recorded in, or that goes on after another one."""
    number, recorder = recording, recorders[-1] if recorders else NOBODY         # another thread may just have stopped it
    ring = _ring_in(recorder, threading.get_native_id(), threading.current_thread().name)
    ticks.hold(ring, number)
    return ring


def _ring_in(recorder: Recorder, thread: int, name: str) -> Ring:
    """The ring that this thread has in a recording, made if need be, with what profilers have recorded in its stead."""
    ring, under = _ring_of(recorder, thread, name), recorder.under
    if ring is None:
        ring = Ring(recorder, thread, name)
        if under is not None:
            ring.under = _ring_in(under, thread, name) if thread in under.above else _ring_of(under, thread, name)
            under.above.setdefault(thread, []).append(ring)
    for above in recorder.above.pop(thread, ()):
        ring.take(above)
    return ring


def _ring_of(recorder: Recorder, thread: int, name: str) -> Ring | None:
    """The ring that a thread has in a recording."""
    return next((ring for ring in recorder.rings if (ring.thread, ring.thread_name) == (thread, name)), None)


def begin(number: Whole, a: Whole = 0, b: Whole = 0) -> Whole:
    """Begin a span in this thread; its token, 0 where nobody records. a, b: see the top of this file."""
    ring: Ring
    if not active:
        return 0
    ring = this_ring()
    token = ring.begin(number)
    if a or b:
        ring.set(token, 6, a)
        ring.set(token, 7, b)
    if ring.time >= ring.due:
        ring.recorder.sample(ring)
    return token


def end(token: Whole) -> None:
    """End a span, and those inside it that are open."""
    ring: Ring
    if token and active:
        ring = this_ring()
        ring.end(token)
        if ring.time >= ring.due:
            ring.recorder.sample(ring)


def link(sequence: Whole) -> None:
    """The innermost open span of this thread has made, or runs, the node with this number."""
    ring: Ring
    if fine:
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
    """Call an operation as a span, or where it has batched tensors, in their way. It asks entered() first of all, and so
    knows that it has been here."""
    ring: Ring
    ring = this_ring()
    if batching > 0:
        made = batch_call(function, args, settings)
        if made is not NotImplemented:
            return made
    if not fine:
        ring.entering = True
        return function(*args) if settings is None else function(*args, **settings)
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


def evaluate(node: Any) -> Whole:
    """Begin the engine's evaluation of a node; its token."""
    ring: Ring
    if not fine:
        return 0
    ring = this_ring()
    token = ring.begin(node_number(node))
    if not node.is_leaf:
        ring.link(node.seq)
    return token


def run(node: Any, g: Any) -> Whole:
    """Begin the run of a node on gradients g, inside its evaluation; its token."""
    ring: Ring
    if not fine:
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
    if fine:
        ring = this_ring()
        held_bytes += size
        ring.add(ALLOCATION, size, held_bytes, address)


def end_message(token: Whole, a: Whole, b: Whole) -> None:
    """End a span, and say what it was: see a and b at the top of this file."""
    ring: Ring
    if token and active:
        ring = this_ring()
        ring.set(token, 6, a)
        ring.set(token, 7, b)
        ring.end(token)
        if ring.time >= ring.due:
            ring.recorder.sample(ring)


def complete(name: str, kind: int, start: int, ended: int, a: int = 0, b: int = 0, sequence: int = -1) -> None:
    """Record a span that has ended, of times that the caller took: what is in flight while a thread does other things."""
    ring: Ring
    if not active:
        return
    number = number_of(name, kind)
    ring = this_ring()
    ring.add(number, a, b, sequence)
    place = ((ring.count - 1) & 16383) * 8
    ring.block[place + 1] = start
    ring.block[place + 2] = ended


class record_function:
    """Context manager and decorator: a span of this name in what a profiler records; 0.1 us where none does.

    Args:
        name (str): What tables and traces show.
        args (str): A text that traces show with the span.
        kind (int): For the library's own spans, see the top of this file.
        a, b (int): What the kind says, of the library's own spans.

    Example:
        >>> with ag.profiler.profile() as prof:
        ...     with ag.profiler.record_function("tokenise"):      # or @record_function: a span of each call
        ...         lengths = [len(word) for word in "three short words".split()]
        >>> [event.name for event in prof.events()]
        ['tokenise']
    """

    def __init__(self, name: str, args: str | None = None, kind: int = USER, a: int = 0, b: int = 0) -> None:
        self.name, self.args, self.kind = name, args, kind
        self.a, self.b = a, b
        self.token = 0
        self.outer: Any = None                       # of an object that is entered again: its outer's `outer`, and token

    def __enter__(self) -> record_function:
        ring: Ring
        if self.token:
            self.outer, self.token = (self.outer, self.token), 0
        if active:
            number = number_of(self.name, self.kind)
            self.token = begin(number, self.a, self.b)
            ring = this_ring()
            if ring.describe is not None:
                describe(self.token, number, () if self.args is None else (self.args,), None)
            elif self.args is not None:
                keep(ring, self.token, self.args)
        return self

    def __exit__(self, *exception: object) -> None:
        token = self.token
        if self.outer:
            self.outer, self.token = self.outer
        else:
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
NOBODY = Recorder(0)                                 # has the rings of threads that were late
