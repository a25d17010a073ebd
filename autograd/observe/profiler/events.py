"""FunctionEvent, a recorded call; FunctionEventAvg, the calls of one kind; EventList, the result of events() and
key_averages()."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from ...base import docstrings as _docstrings
from ...spans.spans import BACKWARD, FLIGHT, LANE, MEMORY, MESSAGE, MODULE, PASS, USER, names
from .actions import DeviceType
from .collect import END, NUMBER, PARENT, SEQUENCE, START, A, B, Thread, links
from .flops import flops_of
from .table import table

SCOPES = {BACKWARD: 1, USER: 7}                      # PyTorch's RecordScope: of an operation 0


class Interval:
    """When an event began and ended, in microseconds since the recording began."""

    def __init__(self, start: float, end: float) -> None:
        self.start: float = start
        self.end: float = end

    def elapsed_us(self) -> float:
        """The duration in microseconds."""
        return self.end - self.start


class Averaged:
    """Common properties of events and averages: times that follow from count and total, also as texts."""

    count: int
    cpu_time_total: float
    device_time: float
    self_device_time_total: float
    device_time_total: float
    device_time_total = self_device_time_total = device_time = 0.0       # there are no devices
    device_memory_usage = self_device_memory_usage = 0

    @property
    def cpu_time(self) -> float:
        """The mean over the calls."""
        return self.cpu_time_total / self.count if self.count else 0.0


class FunctionEvent(Averaged):
    """One call of an operation, a Function, a node, a module, or one block of record_function, as events() of a profiler
    lists them: its name, time_range and cpu_time_total in microseconds, thread, cpu_parent and cpu_children; input_shapes,
    stack, flops and cpu_memory_usage if the profiler recorded them."""

    device_type: DeviceType = DeviceType.CPU
    device_index: int = 0
    node_id: int = -1
    use_device: None = None
    is_remote = is_legacy = False
    overload_name = ""

    def __init__(self, id: int, name: str, thread: int, start_us: float, end_us: float, *, kind: int = 0,
                 sequence_nr: int = -1, a: int = 0, b: int = 0) -> None:
        self.id: int = id
        self.thread: int = thread
        self.kind: int = kind
        self.trace_name = name                       # as in traces, where steps are numbered
        self.name: str = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
        self.time_range: Interval = Interval(start_us, end_us)
        self.count = 1
        self.scope: int = SCOPES.get(kind, 0)
        self.sequence_nr = sequence_nr
        self.fwd_thread: int | None = None           # of a node that runs: the thread of the call that made it
        self.forward: FunctionEvent | None = None    # and that call
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.around: FunctionEvent | None = None     # the parent, including modules and lanes
        self.input_shapes: list[Any] = []            # of tensors; [] for a list of them, see structured_input_shapes
        self.structured_input_shapes: list[Any] = []
        self.input_dtypes: list[str] = []
        self.concrete_inputs: list[Any] = []
        self.kwinputs: dict[str, Any] = {}
        self.stack: list[str] = []                   # innermost first; in backward that of the forward call
        self.modules: list[str] = []                 # the modules around it, outermost first
        self.text: str | None = None                 # the `args` of record_function
        self.flops = 0
        self.a: int = a
        self.b: int = b
        self.is_async: bool = kind == FLIGHT
        self.is_user_annotation: bool = kind == USER
        self.is_python_function: bool = kind == MODULE
        self.is_frame: bool = kind in (MODULE, LANE)  # it contains operations, but is not one
        self.cpu_memory_usage = self.cpu_memory_peak = 0     # peak: the most held during it, above the start

    @property
    def key(self) -> str:
        """The key by which averages are grouped."""
        return self.name

    @property
    def cpu_time_total(self) -> float:               # type: ignore[override]
        """Its time, in microseconds."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        """Its time without the events inside."""
        return 0.0 if self.is_async else self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """The bytes that the event itself allocated, minus the bytes that it freed."""
        return 0 if self.is_async else self.cpu_memory_usage - sum(c.cpu_memory_usage for c in self.cpu_children)

    def __repr__(self) -> str:
        return (f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_total:.3f}us "
                f"start_us={self.time_range.start:.3f} end_us={self.time_range.end:.3f} thread={self.thread} "
                f"seq_nr={self.sequence_nr} input_shapes={self.input_shapes}>")


class FunctionEventAvg(Averaged):
    """The sums over all events of one key, as key_averages() of a profiler lists them: count, cpu_time_total and
    self_cpu_time_total (without the events inside) in microseconds, cpu_time (the mean), flops and memory."""

    device_type: DeviceType = DeviceType.CPU
    node_id: int = -1
    use_device: None = None
    is_remote = is_legacy = False
    overload_name = ""
    cpu_time_total: float
    self_cpu_time_total: float
    is_async: bool
    is_user_annotation: bool

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = self.cpu_memory_usage = self.self_cpu_memory_usage = self.flops = 0
        self.cpu_memory_peak: int = 0                # the largest of one call
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.input_shapes: Any = ""
        self.stack: list[str] = []
        self.scope: Any = 0
        self.is_async = self.is_user_annotation = False
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []

    def add(self, other: Any) -> FunctionEventAvg:
        """Add an event, or other averages of its key."""
        if self.key is None:
            self.key, self.input_shapes, self.stack, self.scope = other.key, other.input_shapes, other.stack, other.scope
            self.is_async, self.is_user_annotation = other.is_async, other.is_user_annotation
            self.cpu_parent, self.cpu_children = other.cpu_parent, other.cpu_children
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in ("count", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "flops"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.cpu_memory_peak = max(self.cpu_memory_peak, other.cpu_memory_peak)
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total:.3f}us "
                f"cpu_time={self.cpu_time:.3f}us count={self.count} input_shapes={self.input_shapes}>")


class EventList(list[Any]):
    """Events, or averages of them: a list with a table."""

    def __init__(self, events: Iterable[Any] = (), *, profile_memory: bool = False, with_flops: bool = False,
                 footer: Callable[[], str] | None = None) -> None:
        super().__init__(events)
        self._profile_memory, self._with_flops, self._footer = profile_memory, with_flops, footer

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events, each moment of a thread counted once."""
        return sum(event.self_cpu_time_total for event in self)

    def table(self, sort_by: str | None = None, row_limit: int | None = 100, max_src_column_width: int | None = 75,
              max_name_column_width: int | None = 55, max_shapes_column_width: int | None = 80, header: str | None = None,
              top_level_events_only: bool = False, time_unit: str | None = None) -> str:
        """The events as a table, PyTorch's."""
        return table(self, sort_by=sort_by, row_limit=row_limit, src_width=max_src_column_width,
                     name_width=max_name_column_width, shapes_width=max_shapes_column_width, header=header,
                     top_level_only=top_level_events_only, time_unit=time_unit, memory=self._profile_memory,
                     flops=self._with_flops, footer="" if self._footer is None else self._footer())

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """The sums over the calls of each operation, as FunctionEventAvg."""
        if group_by_overload_name:
            raise NotImplementedError("key_averages(group_by_overload_name=True): operations have no overloads here")
        if not isinstance(group_by_stack_n, int) or group_by_stack_n < 0:
            raise TypeError(f"key_averages(group_by_stack_n={group_by_stack_n!r}): a number of frames is needed, 0 or more")
        groups: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key = (event.key, event.is_user_annotation, str(event.input_shapes) if group_by_input_shapes else "",
                   *event.stack[:group_by_stack_n])
            if key not in groups:
                groups[key] = FunctionEventAvg()
            groups[key].add(event)
        for group in groups.values():
            group.stack = group.stack[:group_by_stack_n]
            if not group_by_input_shapes:
                group.input_shapes = ""
        return EventList(groups.values(), profile_memory=self._profile_memory, with_flops=self._with_flops,
                         footer=self._footer)

    def total_average(self) -> FunctionEventAvg:
        """The sums over all events, under the key "Total"."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
            total.key = None
        total.key = "Total"
        return total

    def supported_export_stacks_metrics(self) -> list[str]:
        """The metrics that export_stacks() supports."""
        return ["self_cpu_time_total"]

    def export_stacks(self, path: str, metric: str) -> None:
        """Write each stack on a line, outermost frame first, and its microseconds: flamegraph.pl and speedscope read it."""
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics()}, got {metric!r}")
        plain = str.maketrans(" ;\t\n", "____")
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                value = int(getattr(event, metric))
                if event.stack and value > 0:
                    file.write(";".join(entry.translate(plain) for entry in reversed(event.stack)) + f" {value}\n")


def events_of(threads: list[Thread], since: int, first: int, *, flops: bool, modules: bool) -> list[FunctionEvent]:
    """The events of all threads, with their parents and children, in the order in which they began.

    since: when the recording began. first: the number of the first thread. Without `modules`, modules and lanes are no
    event's parents or children: events inside them belong to the event around them."""
    found: list[list[FunctionEvent]] = []
    instances = Instances()
    for number, thread in enumerate(threads):
        events: list[FunctionEvent] = []
        thread_number = first + number
        for row, values in enumerate(thread.spans.tolist()):
            name, kind = names[values[NUMBER]]
            if kind == MODULE:
                name = instances.name_of(name, values[A])
            sequence = -1 if kind in (MODULE, USER, LANE, PASS, MESSAGE, FLIGHT, MEMORY) else values[SEQUENCE]
            event = FunctionEvent(0, name, thread_number, (values[START] - since) / 1000, (values[END] - since) / 1000,
                                  kind=kind, sequence_nr=sequence, a=values[A], b=values[B])
            add_details(event, thread, row)
            if values[PARENT] >= 0:
                around = event.around = events[values[PARENT]]
                event.modules = [*around.modules, around.name] if around.is_python_function else around.modules
                visible = around if modules or not around.is_frame else around.cpu_parent
                if not event.is_async and visible is not None:
                    event.cpu_parent = visible
                    if kind != MEMORY and (modules or not event.is_frame):
                        visible.cpu_children.append(event)
            if kind == MEMORY:
                holder: FunctionEvent | None = event
                while holder is not None:
                    holder.cpu_memory_usage += event.a
                    holder.cpu_memory_peak = max(holder.cpu_memory_peak, holder.cpu_memory_usage)
                    holder = holder.around
            if flops:
                event.flops = flops_of(event)
            events.append(event)
        found.append(events)
    for (thread_made, row_made), (thread_ran, row_ran) in links(threads):
        link(found[thread_made][row_made], found[thread_ran][row_ran])
    return sorted((event for events in found for event in events), key=attrgetter("time_range.start"))


def add_details(event: FunctionEvent, thread: Thread, row: int) -> None:
    """Set an event's inputs and stack from the recorded details."""
    detail = thread.detail(row)
    if detail.shapes is not None:
        event.structured_input_shapes = detail.shapes
        event.input_shapes = [[] if s and isinstance(s[0], list) else s for s in detail.shapes]
        event.input_dtypes, event.concrete_inputs = detail.dtypes or [], detail.values or []
        event.kwinputs = detail.settings or {}
    event.stack, event.text = detail.stack or [], detail.text


def link(made: FunctionEvent, ran: FunctionEvent) -> None:
    """Give a running node, and the events inside it, the stack and the modules of the call that created it."""
    for event in (ran, ran.cpu_parent):
        if event is not None and event.sequence_nr == made.sequence_nr:
            event.fwd_thread, event.forward = made.thread, made
    inside = [ran]
    while inside:
        event = inside.pop()
        event.stack, event.modules = made.stack, made.modules
        inside += event.cpu_children


class Instances:
    """Numbers the modules of each class in the order of their first calls: Linear_0, Linear_1."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int], str] = {}
        self._counts: dict[str, int] = {}

    def name_of(self, name: str, identity: int) -> str:
        """The name of one module, such as "nn.Module: Linear_0"."""
        key = name, identity
        if key not in self._names:
            self._names[key] = f"{name}_{self._counts.get(name, 0)}"
            self._counts[name] = self._counts.get(name, 0) + 1
        return self._names[key]


_docstrings.complete(globals(), "observe", "profiler.")
