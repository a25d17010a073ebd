"""HookProgram: what a comm hook does with a bucket: the collectives it starts, their bytes, its waits and its computation.

The hook is timed on one rank, where collectives take no time, with an empty cache as in backward. It then runs on two and on
four ranks that are threads, which shows which messages shrink as ranks are added.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import hooks
from ...comm import Devices, Handle, run_ranks
from ...hooks.bucket_hook import CommHook, GradBucket
from ...pytree.flat_arrays import unflatten
from .steps import ParameterTrace, Task

if TYPE_CHECKING:
    from autograd.base.types import Array

COLLECTIVES = ("allreduce", "allgather", "alltoall", "reduce_scatter", "broadcast")
WARMUP, REPEATS = 3, 5               # powerSGD_hook's first steps are plain means
LARGE = 8 << 20                      # bytes: on larger buckets a hook is timed once
SWEEP = 1 << 20                      # float32 elements that empty the second-level cache
MOST_ROWS = 48                       # largest dimension of parameters where ranks are threads


class Event(NamedTuple):
    """An action of a hook: "start" or "wait" for its number-th collective, or "returned"; and the seconds of computation
    before it."""

    kind: str
    computed: float
    number: int = -1
    collective: str = ""
    nbytes: int = 0                  # passed by this rank


class FakeBucket:
    """A bucket for GradBucket: names, parameters without values, gradients."""

    def __init__(self, group: Sequence[ParameterTrace]) -> None:
        named = [p.named() for p in group]
        self.names: list[str] = [name for name, _ in named]
        self.params: list[Any] = [p for _, p in named]
        self.gradients: Array = np.zeros(sum(math.prod(p.shape) for p in group), group[0].dtype)
        self.views: list[Array] = unflatten(self.gradients, [p.shape for p in group])


class LoggedComm:
    """A communicator that records which collectives are started and awaited, and passes all calls to another one."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self.events: list[Event] = list[Event]()
        self._last, self._count = time.perf_counter(), 0

    def __getattr__(self, name: str) -> Any:
        plain = name.removeprefix("start_")
        if plain not in COLLECTIVES:
            return getattr(self._comm, name)

        def call(xs: Any, *args: Any, **settings: Any) -> Any:
            number, self._count = self._count, self._count + 1
            x = xs[0] if isinstance(xs, (list, tuple)) else xs
            self.note("start", number, plain, int(getattr(x, "nbytes", 0) or np.asarray(getattr(x, "array", x)).nbytes))
            handle = getattr(self._comm, f"start_{plain}")(xs, *args, **settings)
            self._last = time.perf_counter()         # the collective's own time is not the hook's

            def finish() -> Any:
                self.note("wait", number)
                value = handle.wait()
                self._last = time.perf_counter()
                return value

            logged = Handle(finish, handle.done)
            return logged if name != plain else logged.wait()

        return call

    def note(self, kind: str, number: int = -1, collective: str = "", nbytes: int = 0) -> None:
        """Append an event."""
        now = time.perf_counter()
        self.events.append(Event(kind, now - self._last, number, collective, nbytes))
        self._last = now


def events_of(comm: Any, hook: CommHook, group: Sequence[ParameterTrace], repeats: int) -> list[Event]:
    """The actions of the hook for a bucket of these parameters; each event is the median over several repetitions."""
    rng, bucket, others = np.random.default_rng(0), FakeBucket(group), np.zeros(SWEEP, np.float32)
    found: list[list[Event]] = []
    for _ in range(WARMUP + repeats):
        bucket.gradients[...] = rng.standard_normal(bucket.gradients.size)
        np.add(others, 1.0, out=others)
        logged = LoggedComm(comm)
        grad_bucket = GradBucket(bucket, 0, True, logged)            # type: ignore[arg-type]
        logged._last = time.perf_counter()
        returned = hook.start(grad_bucket)
        logged.note("returned")
        np.add(others, 1.0, out=others)
        logged._last = time.perf_counter()
        hook.finish(grad_bucket, returned, bucket.gradients)
        logged.note("finished")
        found.append(logged.events)
    alike = [events for events in found[WARMUP:] if [e.kind for e in events] == [e.kind for e in found[-1]]]
    return [event._replace(computed=median(events[i].computed for events in alike)) for i, event in enumerate(found[-1])]


class HookProgram:
    """The actions of a comm hook for a bucket, for predict(hooks={name: HookProgram})."""

    def __init__(self, hook: Callable[..., Any], make_state: Callable[[], Any] | None = None) -> None:
        self.hook: Callable[..., Any] = hook
        self.make_state: Callable[[], Any] = make_state or (lambda: None)
        self._known: dict[Any, tuple[list[Event], list[int]]] = {}

    def _new(self) -> CommHook:
        return CommHook(self.make_state(), self.hook)

    def _events(self, group: Sequence[ParameterTrace]) -> tuple[list[Event], list[int]]:
        """The hook's actions on one rank, and for each event the power of the number of ranks by which its bytes shrink."""
        key = tuple((p.shape, p.dtype) for p in group)       # as of equal blocks of a transformer
        if key not in self._known:
            alone = events_of(Devices(1), self._new(), group, REPEATS if sum(p.nbytes for p in group) < LARGE else 1)
            small = [p.smaller(MOST_ROWS) for p in group]
            two, four = (run_ranks(size, lambda comm: events_of(comm, self._new(), small, 1))[0] for size in (2, 4))
            if not len(alone) == len(two) == len(four):
                two, four = (run_ranks(size, lambda comm: events_of(comm, self._new(), group, 1))[0] for size in (2, 4))
            if not [e.collective for e in alone] == [e.collective for e in two] == [e.collective for e in four]:
                raise NotImplementedError(f"the comm hook {self._new().name} behaves differently on other numbers of ranks: "
                                          "its time can't be predicted from calls on one, two and four")
            powers = [round(math.log2(b.nbytes / c.nbytes)) if b.nbytes and c.nbytes else 0
                      for b, c in zip(two, four, strict=True)]
            self._known[key] = alone, powers
        return self._known[key]

    def tasks(self, group: Sequence[ParameterTrace], ranks: int, label: str) -> tuple[list[Task], list[Task]]:
        """Two lists of Task for a bucket: those at its launch, and those at the wait for it."""
        parts: tuple[list[Task], list[Task]] = ([], [])
        part = 0
        for event, power in zip(*self._events(group), strict=True):
            tasks = parts[part]
            tasks.append(Task("compute", f"{label}: hook", event.computed))
            name = f"{label}, {event.number}"
            if event.kind == "start":
                own = event.nbytes / ranks ** power
                whole = own * ranks if event.collective == "allgather" else own
                tasks += [Task("call", f"{name}: header", 0.0, "meet"), Task("start", name, 0.0, event.collective, whole)]
            elif event.kind == "wait":
                tasks.append(Task("wait", name))
            elif event.kind == "returned":
                part = 1
        return parts


def builtin_programs() -> dict[str, HookProgram]:
    """The library's hooks by name, including those that are compared by default."""
    return {"fp16": HookProgram(hooks.fp16_compress_hook), "bf16": HookProgram(hooks.bf16_compress_hook),
            "powerSGD": HookProgram(hooks.powerSGD_hook, lambda: hooks.PowerSGDState(start_powerSGD_iter=2)),
            "quantization": HookProgram(hooks.quantization_hook, hooks.QuantizationState),
            "topk": HookProgram(hooks.topk_hook, hooks.TopKState)}
