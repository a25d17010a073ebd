# cython: annotation_typing=True
"""Spans: the begin and end of activities in each thread of this process. The profiler and the timeline read them.

A Recorder has a Ring for each thread. A span is eight numbers, written only by its thread, without a lock:

    0 number    of the name and kind, see number_of()     4 sequence  of the node created by an operation or run, or -1
    1 start     nanoseconds of time.perf_counter_ns()     5 detail    index in Ring.details of shapes, stack or text, or -1
    2 end       0 while the span is open                  6 a         depends on the kind: for messages and buckets, bytes
    3 parent    count of the enclosing span, or -1        7 b         and number; see also Recorder

The count of a span is its index in its thread's ring. A ring grows in blocks; with a limit it wraps around and keeps the
newest spans.

There are two levels. Only a profiler records FINE kinds (operations, nodes, modules, memory). Code that emits them first
tests `spans.fine`, which costs 1 ns in compiled modules; Python modules test `profilers`. A timeline also records all other
kinds, some ten spans a step, after a test of `spans.active` or `recorders`. Operations test `spans.on`: they pass themselves
to call() while a profiler records, and while a thread is in vmap(): see core/batching.py.

A span left open by an exception ends with its enclosing span, so begin() and end() need no try block inside another span.
"""

from __future__ import annotations

import functools
import threading
from array import array
from collections.abc import Callable
from typing import Any

from . import allocations, ticks
from .operation_names import aten_name

Whole = int                                          # an alias: in the compiled core `int` would mean a Python object
OPERATION, FUNCTION, BACKWARD, MODULE, USER, LANE, MESSAGE, FLIGHT, PASS, MEMORY, COUNTER = range(11)       # kinds of spans
FINE = frozenset((OPERATION, FUNCTION, BACKWARD, MODULE, MEMORY))
BLOCK = 1 << 14                                      # spans in a block: 1 MiB; the code below knows the 14
NEVER: Whole = (1 << 63) - 1                         # a time that is never reached
HEAD = 8                                             # numbers in a ring's head: its count, and its maximal number of blocks

on = False                                           # whether operations use call(); a C variable in the compiled core
fine = False                                         # whether FINE kinds are recorded
active = False                                       # whether anything is recorded
batching: Whole = 0                                  # the number of vmap() calls running in all threads
# while there are any, call() passes calls to this: (function, args, settings) -> the result, or NotImplemented if no
# argument is a batch
batch_call: Any = None
recording: Whole = 0                                   # the number of recordings so far, which identifies the current one
held_bytes: Whole = 0                                # bytes allocated for arrays since the recorder was started
rings: Whole = 0                                     # the number of rings so far in all recordings
recorders: list[Recorder] = []                       # a timeline's, and a profiler's on top: the last one records
profilers: list[Recorder] = []                       # the recorders of FINE kinds
names: list[tuple[str, int]] = []                    # by number: the name and kind of a span
_numbers: dict[tuple[str, int], int] = {}
_of_nodes: dict[type, int] = {}                      # by class of node: see node_number()
_counting = threading.RLock()
_naming = threading.RLock()                          # the garbage collector's callback may name a span at any point


class Recorder:
    """One recording: the rings of all threads, with descriptions of spans.

    limit: the number of spans kept per thread, rounded up to whole blocks; None: all. describe: called with the name's
    number, the arguments and the settings of each operation; its result is stored in the ring's `details`. memory: record
    each allocation and release of array memory as a span without duration: a is its bytes, b the bytes held of those
    allocated since the start, sequence the address. NotImplementedError without the compiled core. fine: record FINE kinds.

    A profiler may start while a timeline records (fine=False). Until it stops, its rings receive all spans. Afterwards each
    thread copies the spans that belong to the timeline when it next records one; for other threads the timeline's stop()
    copies them. A span may begin in one of the two recordings and end in the other.
    """

    def __init__(self, limit: int | None = None, describe: Callable[..., Any] | None = None, memory: bool = False,
                 fine: bool = True) -> None:
        self.blocks = 0 if limit is None else max(2, -(-limit // BLOCK) + 1)
        self.describe, self.memory, self.fine = describe, memory, fine
        self.rings: list[Ring] = []
        self.under: Recorder | None = None           # the timeline that records when this one has stopped
        self.above: dict[int, list[Ring]] = {}       # by thread: rings of profilers to copy from
        self.started = self.stopped = 0              # nanoseconds

    def start(self) -> None:
        """Start recording in all threads. RuntimeError if there is a recording; a profiler may start inside a timeline."""
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
        """Stop recording; open spans end now."""
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
                this_ring()                          # copies what this recorder has recorded in this thread
        while self.above:                            # threads that have recorded nothing since
            for above in self.above.popitem()[1]:
                ring = _ring_of(self, above.thread, above.thread_name)
                if ring is None and above.has_others():
                    ring = Ring(self, above.thread, above.thread_name)
                if ring is not None:
                    ring.take(above)
        self._leave_profilers()

    def forget(self) -> None:
        """Forget the recording without touching its rings, in a process forked from the recording one."""
        if self in recorders:
            recorders.remove(self)
            count_recorders()
        self._leave_profilers()

    def _leave_profilers(self) -> None:
        """Exclude from this recording what profilers record from now on."""
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
        """Called when names were numbered during this recording."""

    def sample(self, ring: Ring) -> None:
        """Called when a coarse span begins or ends after its ring's `due`; sets `due` again."""
        ring.due = NEVER


def count_recorders() -> None:
    """Update the variables that say what is recorded."""
    global on, fine, active
    with _counting:
        profilers[:] = [recorder for recorder in recorders if recorder.fine]
        fine, active = bool(profilers), bool(recorders)
        on = fine or batching > 0


def count_batching(change: int, dispatch: Any) -> None:
    """Count a thread that enters (1) or leaves (-1) vmap(); dispatch: see batch_call."""
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
        self.first = rings << 40                     # a span's token is this plus its count, so tokens are unique
        self.count = 0
        self.open = -1                               # the count of the innermost open span
        self.time = 0                                # when a span last began or ended
        self.due = NEVER                             # when Recorder.sample() is called next
        self.entering = False                        # call() is calling a function that tests entered()
        self.under: Ring | None = None               # this thread's ring in the recording under this one
        self.moved: dict[int, int] = {}              # token in a profiler's ring -> token of the copy, which is open
        self.head_memory = recorder.head(self)
        self.head = ticks.memory(self.head_memory)
        self.head[1] = self.most
        recorder.rings.append(self)

    def begin(self, number: Whole) -> Whole:
        """Begin a span inside the innermost open one. Returns its token."""
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
        """End a span and open spans inside it."""
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
        """Record an event at this moment, inside the innermost open span."""
        self.begin(number)
        place = ((self.count - 1) & 16383) * 8
        block = self.block
        self.open = block[place + 3]
        block[place + 2] = block[place + 1]
        block[place + 4] = sequence
        block[place + 6] = a
        block[place + 7] = b

    def link(self, sequence: Whole) -> None:
        """Link the innermost open span to the node with this number, unless it has a node."""
        if self.open >= 0 and self.kept(self.open):
            block = self.block_of(self.open)
            place = (self.open & 16383) * 8 + 4
            if block[place] < 0:
                block[place] = sequence

    def kept(self, count: Whole) -> bool:
        """Whether the ring has not overwritten this span."""
        return self.most == 0 or (count >> 14) > ((self.count - 1) >> 14) - self.most

    def turn(self) -> None:
        """Continue in a new block, or in the oldest."""
        number = self.count >> 14
        if self.most and number >= self.most:
            self.block = ticks.memory(self.blocks[number % self.most])
            return
        try:
            self.blocks.append(self.recorder.block(self, number))
        except (OSError, MemoryError):               # out of memory or disk: reuse the existing blocks
            if not number:
                self.blocks.append(array("q", bytes(8 * 8 * BLOCK)))
            self.most = self.head[1] = max(number, 1)
        self.block = ticks.memory(self.blocks[number % len(self.blocks)])

    def block_of(self, count: Whole) -> Any:
        """The block that contains a kept span."""
        number = count >> 14
        return ticks.memory(self.blocks[number % self.most if self.most else number])

    def has_others(self) -> bool:
        """Whether the ring contains a coarse span."""
        for count in range(self.count):
            if self.kept(count) and names[self.block_of(count)[(count & 16383) * 8]][1] not in FINE:
                return True
        return False

    def take(self, above: Ring) -> None:
        """Copy the coarse spans that another ring of this thread has recorded instead of this one."""
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
    """The number of spans with this name and kind."""
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
    """The index of the key just appended to names; the garbage collector's callback may have appended others after it."""
    place = len(names) - 1
    while names[place] is not key:
        place -= 1
    return place


def operation_number(name: str) -> int:
    """The number of an operation whose nodes are named `<Name>Backward0`; PyTorch's name is aten::<name>."""
    return number_of(f"aten::{aten_name(name)}", OPERATION)


def node_number(node: Any) -> Whole:
    """The number of a node's evaluation by the engine; the next number is that of its run()."""
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
    """This thread's ring in the current recording."""
    ring = ticks.held(recording)
    return _new_ring() if ring is None else ring


def _new_ring() -> Ring:
    """This thread's ring in a recording that is new for it, or that continues after another one."""
    number, recorder = recording, recorders[-1] if recorders else NOBODY         # another thread may have just stopped it
    ring = _ring_in(recorder, threading.get_native_id(), threading.current_thread().name)
    ticks.hold(ring, number)
    return ring


def _ring_in(recorder: Recorder, thread: int, name: str) -> Ring:
    """This thread's ring in a recording, created if necessary, including what profilers have recorded meanwhile."""
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
    """A thread's ring in a recording."""
    return next((ring for ring in recorder.rings if (ring.thread, ring.thread_name) == (thread, name)), None)


def begin(number: Whole, a: Whole = 0, b: Whole = 0) -> Whole:
    """Begin a span in this thread. Returns its token, or 0 if nothing is recorded. a, b: see the top of this file."""
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
    """Link this thread's innermost open span to the node with this number."""
    ring: Ring
    if fine:
        ring = this_ring()
        ring.link(sequence)


def describe(token: Whole, number: Whole, args: tuple[Any, ...], settings: Any) -> None:
    """Store the recorder's description of a span's arguments."""
    ring: Ring
    ring = this_ring()
    if ring.describe is not None:
        keep(ring, token, ring.describe(number, args, settings))


def keep(ring: Ring, token: Whole, detail: Any) -> None:
    """Store an object with a span of this thread."""
    if detail is not None:
        ring.details.append(detail)
        ring.set(token, 5, len(ring.details) - 1)


def call(function: Any, number: Whole, args: tuple[Any, ...], settings: Any) -> Any:
    """Call an operation inside a span, or by its vmap() rule if an argument is a batch. The operation first tests entered()
    to see whether this function called it."""
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
    """Whether call() has just called the current operation; if not, the operation passes itself to call()."""
    ring: Ring
    ring = this_ring()
    if ring.entering:
        ring.entering = False
        return True
    return False


def evaluate(node: Any) -> Whole:
    """Begin the engine's evaluation of a node. Returns the span's token."""
    ring: Ring
    if not fine:
        return 0
    ring = this_ring()
    token = ring.begin(node_number(node))
    if not node.is_leaf:
        ring.link(node.seq)
    return token


def run(node: Any, g: Any) -> Whole:
    """Begin the run of a node on gradients g, inside its evaluation. Returns the span's token."""
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
    """Record an allocation of array memory, or, with a negative size, a release."""
    global held_bytes
    ring: Ring
    if fine:
        ring = this_ring()
        held_bytes += size
        ring.add(ALLOCATION, size, held_bytes, address)


def end_message(token: Whole, a: Whole, b: Whole) -> None:
    """End a span and set its a and b: see the top of this file."""
    ring: Ring
    if token and active:
        ring = this_ring()
        ring.set(token, 6, a)
        ring.set(token, 7, b)
        ring.end(token)
        if ring.time >= ring.due:
            ring.recorder.sample(ring)


def complete(name: str, kind: int, start: int, ended: int, a: int = 0, b: int = 0, sequence: int = -1) -> None:
    """Record a span with the caller's times, such as a message in flight while the thread does other things."""
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
NOBODY = Recorder(0)                                 # holds the rings of threads that record after the end
