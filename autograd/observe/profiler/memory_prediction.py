"""predict_memory(): will this batch fit? Two small steps are measured, and their allocations extended to more rows.

A step on two numbers of rows runs the same operations, each with arrays whose sizes are linear in the rows. So what is made
and released is noted operation by operation in both, each is extended on its own, and the sums are followed through the
step: the peak may come at another moment for a large batch (in the forward pass) than for a small one (in the optimizer's).
heap.py then says how much more than its arrays a process takes."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ...base import docstrings as _docstrings
from ...base import system_memory as system
from ...base.environment import environment
from ...base.pytree import nested_values
from ...core.modes import enable_grad, no_grad
from ...core.tensor import Tensor, result
from ...kernels.malloc import freed_memory_is_kept
from ...modes.random import fork_rng
from ...spans.spans import MEMORY, names
from .collect import NUMBER, SEQUENCE, START, A
from .heap import Move, heap_peak
from .inventory import OTHERS, USES, take_inventory
from .memory import ALLOCATION, CREATE, ON_THE_WAY, PREEXISTING, TEMPORARY, Places, Recorded, changes, in_mb
from .profile import profile

ALL = (*USES, *OTHERS, ON_THE_WAY, TEMPORARY)
PLACE = {use: place for place, use in enumerate(ALL)}
STEPS = 2                                            # measured steps: the second one has optimizer state
MARGIN = 0.1                                         # the error of a prediction: see docs/profiling.md
Array = np.ndarray[Any, Any]


class Course(NamedTuple):
    """The allocations and releases of some steps: a row for each piece of the program, a column for each use."""

    pieces: list[str]                                # its beginning: the name of an operation, a module, ...
    moments: list[str]                               # the same with its module and phase
    net: Array                                       # bytes that outlive it
    most: Array                                      # bytes at its peak
    moves: list[Move]                                # single allocations and releases


class MemoryPrediction(NamedTuple):
    """What predict_memory() has found; its text is the answer in words.

    nbytes are this process's bytes in RAM at the peak, by_use the same in parts, and moment says when that is: the
    operation, its module, the phase. resident is what the process has now; limits says how much more can be had, the
    tightest first; largest is the largest batch that fits (None: none does, or no limit is known). exact: whether both
    steps that were measured ran the same operations; if not, it is rougher."""

    batch_size: int
    nbytes: int                                      # in RAM at the peak, this process
    by_use: dict[str, int]                           # the same, in parts
    moment: str                                      # when: the operation, its module, the phase
    resident: int                                    # in RAM now
    limits: list[system.Limit]                       # the available memory, the tightest limit first
    ranks_per_host: int
    largest: int | None                              # the largest batch that fits; None: none fits, or no limit is known
    exact: bool                                      # whether both steps ran the same operations; if not, it is rougher

    @property
    def needed(self) -> int:
        """Bytes that this process needs beyond its present memory."""
        return max(self.nbytes - self.resident, 0)

    @property
    def host_bytes(self) -> int:
        """Bytes of all ranks of the host at the peak; shared memory counts once."""
        own = self.nbytes - self.by_use["shared memory"]
        return own * self.ranks_per_host

    @property
    def tightest(self) -> system.Limit | None:
        """The limit that is reached first."""
        return min(self.limits, key=lambda limit: limit.left / (self.ranks_per_host if limit.of_host else 1), default=None)

    @property
    def fits(self) -> bool:
        """Whether the batch fits within all limits, with 10 % to spare."""
        return all(fits(limit, self.nbytes, self.resident, self.ranks_per_host) for limit in self.limits)

    def summary(self) -> str:
        """The answer, in words."""
        lines = [f"A batch of {self.batch_size:,} rows takes {in_mb(self.nbytes)} in RAM at the peak ({self.moment})."]
        if self.ranks_per_host > 1:
            lines.append(f"{self.ranks_per_host} ranks on this host take {in_mb(self.host_bytes)}.")
        tightest = self.tightest
        if tightest is None:
            lines.append("This system does not tell how much there is.")
        else:
            lines.append(f"It {'fits' if self.fits else 'does NOT fit'}: {in_mb(self.needed)} more than now"
                         f"{' for each rank' if self.ranks_per_host > 1 else ''}, and {in_mb(tightest.left)} can be had by "
                         f"{tightest.what}.")
            lines.append("No batch fits." if self.largest is None else
                         f"The largest batch that fits has about {self.largest:,} rows.")
        if not self.exact:
            lines.append("The two steps that were measured ran different operations: this is rougher than usual. Give "
                         "sizes= that are closer to the batch.")
        lines += [f"  {use:<26} {in_mb(size):>14}" for use, size in self.by_use.items() if size]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


def fits(limit: system.Limit, nbytes: int, resident: int, ranks: int) -> bool:
    """Whether a peak of this size is within a limit, even if the prediction is 10 % too small."""
    return max(nbytes * (1 + MARGIN) - resident, 0) * (ranks if limit.of_host else 1) <= limit.left


def predict_memory(model: Any, batch: Any, loss_fn: Callable[..., Any] | None = None, optimizer: Any = None, *,
                   batch_size: int, sizes: tuple[int, int] | None = None, train: bool = True,
                   ranks_per_host: int | None = None, held: Mapping[str, int] | None = None) -> MemoryPrediction:
    """How much memory a step of `model` takes with `batch_size` rows, in what, at which moment, and whether that fits into
    what the host, control groups and ulimit leave. Print it.

    Model and optimizer are copied, the copy is trained, and they stay as they are, and so does the random generator; what
    your code does besides (files, counters) happens. It needs the compiled core. Measured errors: docs/profiling.md."""
    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size} is the number of rows, at least 1")
    ranks = environment.ranks_here if ranks_per_host is None else ranks_per_host
    if ranks < 1:
        raise ValueError(f"ranks_per_host={ranks_per_host} is the number of processes on this host, at least 1")
    if sizes is None:
        first = max(batch_size // 8, 2)
        sizes = first, max(batch_size // 4, first + 2)
    if len(sizes) != 2 or not 0 < sizes[0] < sizes[1]:
        raise ValueError(f"sizes={sizes!r} are two numbers of rows, the smaller one first")
    if held is not None and set(held) - set(ALL):
        raise ValueError(f"held={dict(held)!r}: the uses are {', '.join(USES)} and {', '.join(OTHERS)}")
    gc.collect()
    before = take_inventory()
    courses = [course_of(model, batch, loss_fn, optimizer, rows, train) for rows in sizes]
    gc.collect()
    after = take_inventory()
    exact = courses[0].pieces == courses[1].pieces
    if not exact:
        courses = [as_one(course) for course in courses]
    held = held or {}
    base = np.array([before.by_use[use] if use in USES else after.by_use.get(use, 0) for use in ALL], float)
    base[PLACE["freed memory"]] = 0
    kept = before.by_use["freed memory"] if freed_memory_is_kept else 0
    for use, size in held.items():
        base[PLACE[use]] = size
        for course in courses:
            course.net[:, PLACE[use]] = course.most[:, PLACE[use]] = 0
    unknown = 0 if after.resident is None else max(after.resident - after.accounted, 0)

    def at(rows: int) -> tuple[int, int, Array]:
        """The bytes at the peak, its piece, and the bytes by use."""
        part = (rows - sizes[0]) / (sizes[1] - sizes[0])
        net, most = (small + (large - small) * part for small, large in
                     zip(courses[0][2:4], courses[1][2:4], strict=True))
        held_before = np.cumsum(net, 0) - net
        moments = np.maximum(held_before + most + base, 0)
        top = int(moments.sum(1).argmax())
        parts = moments[top]
        heap = max(slack(courses, sizes, rows, held), kept)  # memory that is free now is reused, and stays in RAM
        parts[PLACE["freed memory"]] = max(heap - held_before[top].sum() - most[top].sum(), 0)
        return int(parts.sum()) + unknown, top, parts

    nbytes, top, by_use = at(batch_size)
    resident = after.resident or after.accounted
    limits = system.limits()

    def all_fit(rows: int) -> bool:
        taken = at(rows)[0]
        return all(fits(limit, taken, resident, ranks) for limit in limits)

    found = {use: int(size) for use, size in zip(ALL, by_use, strict=True)}
    found["not accounted for"] = unknown
    return MemoryPrediction(batch_size, nbytes, found, courses[1].moments[top], resident, limits, ranks,
                            largest(all_fit) if limits else None, exact)


def slack(courses: Sequence[Course], sizes: tuple[int, int], rows: int, held: Collection[str]) -> int:
    """The heap's size with more rows, without earlier contents. held: uses of arrays outside of it.

    The arrays that a piece of the program makes in both steps are the same ones if there are as many. If not, one whose size
    the smaller step has, too, keeps that, and others grow with the rows."""
    small, large = (made_in_pieces(course.moves) for course in courses)
    part = (rows - sizes[0]) / (sizes[1] - sizes[0])
    grown: dict[int, int] = {}
    for piece, made in large.items():
        others = small.get(piece, [])
        alike = len(made) == len(others)
        known = {move.size for move in others}
        for number, move in enumerate(made):
            before = others[number].size if alike else move.size if move.size in known else move.size * sizes[0] / sizes[1]
            grown[move.array] = max(int(before + (move.size - before) * part), 1)
    elsewhere = {move.array for move in courses[1].moves if move.use in held}
    moves = [move._replace(size=grown[move.array]) if move.size else move for move in courses[1].moves
             if move.array not in elsewhere]
    return heap_peak(moves) - sum(move.size for move in moves if move.array < 0)


def made_in_pieces(moves: Sequence[Move]) -> dict[int, list[Move]]:
    """The allocated arrays, by piece of the program."""
    made: dict[int, list[Move]] = {}
    for move in moves:
        if move.size:
            made.setdefault(move.piece, []).append(move)
    return made


def largest(suits: Callable[[int], bool]) -> int | None:
    """The largest number from 1 on that is valid if all below it are; None if 1 is not. At most 2^40."""
    if not suits(1):
        return None
    low, high = 1, 2
    while high < 1 << 40 and suits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if suits(middle) else (low, middle)
    return low


# --- one size -----------------------------------------------------------------------------------------------------------

def course_of(model: Any, batch: Any, loss_fn: Any, optimizer: Any, rows: int, train: bool) -> Course:
    """The allocations and releases of two steps with this number of rows."""
    given = [] if optimizer is None else list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]
    try:
        copied, optimizers = copy.deepcopy((model, [each for each in given if hasattr(each, "param_groups")]))
    except Exception as error:
        raise NotImplementedError(f"predict_memory(): the model and its optimizer can't be copied ({type(error).__name__}: "
                                  f"{error}); measure a smaller batch with profile(profile_memory=True) instead") from error
    optimizers += [each(copied.parameters()) for each in given if not hasattr(each, "param_groups")]
    with fork_rng(), profile(profile_memory=True) as prof:
        for _ in range(STEPS):
            step(copied, cut(batch, rows), loss_fn, optimizers, train)
    return course(prof.recorded_memory())


def step(model: Any, batch: Any, loss_fn: Any, optimizers: Sequence[Any], train: bool) -> None:
    """One step of training, or a forward pass."""
    if not train:
        with no_grad():
            loss_of(model, batch, loss_fn)
        return
    for optimizer in optimizers:
        optimizer.zero_grad()
    if not optimizers:
        model.zero_grad()
    with enable_grad():
        loss = loss_of(model, batch, loss_fn)
        if not loss.requires_grad:
            raise ValueError("predict_memory(): the loss depends on nothing that requires grad; pass train=False")
        loss.backward()
    for optimizer in optimizers:
        optimizer.step()


def loss_of(model: Any, batch: Any, loss_fn: Any) -> Any:
    """The loss of a batch."""
    if isinstance(batch, Mapping):
        out = model(**batch)
        return mean_of(out) if loss_fn is None else loss_fn(out)
    arguments = batch if isinstance(batch, (tuple, list)) else (batch,)
    if loss_fn is None:
        return mean_of(model(*arguments))
    if len(arguments) == 1:
        return loss_fn(model(*arguments))
    return loss_fn(model(*arguments[:-1]), arguments[-1])


def mean_of(out: Any) -> Any:
    """The sum of the means of all floating point tensors in a model's result. ValueError if there is none."""
    total = None
    for value in nested_values(out):
        if isinstance(value, Tensor) and value.array.dtype.kind in "fV":
            total = value.mean() if total is None else total + value.mean()
    if total is None:
        raise ValueError("predict_memory(): the model returned no floating point tensor; give a loss_fn")
    return total


def cut(batch: Any, rows: int) -> Any:
    """A batch with this number of rows, from the rows of this one."""
    first = next((len(x) for x in nested_values(batch) if isinstance(x, (Tensor, np.ndarray)) and x.ndim and len(x)), 0)
    if not first:
        raise ValueError("predict_memory(): the example batch has no tensor with rows")
    chosen = np.arange(rows) % first

    def of(value: Any) -> Any:
        array = value.array if isinstance(value, Tensor) else value
        if isinstance(array, np.ndarray):
            if not array.ndim or len(array) != first:
                return value
            taken = np.take(array, chosen, 0)
            return result(taken) if isinstance(value, Tensor) else taken
        if isinstance(value, Mapping):
            return {key: of(each) for key, each in value.items()}
        if isinstance(value, (tuple, list)):
            return tuple(map(of, value))
        return value

    return of(batch)


def course(recorded: Recorded) -> Course:
    """The changes of a recording, piece by piece. A piece begins with each span of the thread that recorded most."""
    main = max(range(len(recorded.threads)), key=lambda number: len(recorded.threads[number].spans))
    spans = recorded.threads[main].spans
    rows = [row for row, number in enumerate(spans[:, NUMBER].tolist()) if names[number][1] != MEMORY]
    starts = spans[rows, START]
    places = Places(recorded.threads, recorded.modules)
    net = np.zeros((len(rows) + 1, len(ALL)))
    most, now = np.zeros_like(net), np.zeros_like(net)
    found = changes(recorded)
    for change in found:
        if change.action == PREEXISTING:
            continue
        piece = int(np.searchsorted(starts, change.time, "right"))
        now[piece, PLACE[change.use]] += change.size
        if now[piece].sum() > most[piece].sum():
            most[piece] = now[piece]
    net[...] = now
    pieces = ["the beginning", *(names[spans[row, NUMBER]][0] for row in rows)]
    moments = ["at the beginning", *(moment(places, main, row, name) for row, name in zip(rows, pieces[1:], strict=True))]
    uses = {change.place: change.use for change in found if change.action == CREATE}
    return Course(pieces, moments, net, most, moves_of(recorded, starts, uses))


def moves_of(recorded: Recorded, starts: Array, uses: Mapping[tuple[int, int], str]) -> list[Move]:
    """Allocations and releases of arrays, first those that existed before. starts: the beginnings of the pieces. uses: by
    thread and row of the allocation."""
    told = [(int(spans[row, START]), int(spans[row, A]), int(spans[row, SEQUENCE]), (number, int(row)))
            for number, thread in enumerate(recorded.threads) for spans in [thread.spans]
            for row in np.flatnonzero(spans[:, NUMBER] == ALLOCATION)]
    told += [(time, 0, address, (-1, -1)) for time, address in recorded.pooled]
    before: list[Move] = []
    moves: list[Move] = []
    made: dict[int, int] = {}                        # by address: the index in moves of the array there
    for time, size, address, place in sorted(told, key=itemgetter(0)):
        if size > 0:
            made[address] = len(moves)
            piece = int(np.searchsorted(starts, time, "right"))
            moves.append(Move(len(moves), size, False, piece, uses.get(place, "")))
        elif size == 0 and address in made:
            moves[made[address]] = moves[made[address]]._replace(pooled=True)
        elif size < 0 and address in made:
            moves.append(Move(made.pop(address), 0, False))
        elif size < 0:
            before.append(Move(-1 - len(before), -size, False, -1))
            moves.append(Move(before[-1].array, 0, False))
    return before + moves


def moment(places: Places, thread: int, row: int, name: str) -> str:
    """The position of a row, in words."""
    module, operation = places.label(thread, row)
    phase = places.phase(thread, row)
    return " ".join(filter(None, (f"in {phase}," if phase else "", operation or name, f"of {module}" if module else "")))


def as_one(whole: Course) -> Course:
    """The course as a single piece, of which only the peak remains."""
    held = np.cumsum(whole.net, 0) - whole.net + whole.most
    top = int(held.sum(1).argmax())
    return Course([""], [whole.moments[top]], whole.net.sum(0, keepdims=True), held[top:top + 1],
                  [move._replace(piece=min(move.piece, 0)) for move in whole.moves])


_docstrings.complete(globals(), "observe", "profiler.")
