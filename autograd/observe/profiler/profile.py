"""profile: the counterpart of PyTorch's torch.profiler.profile and torch.autograd.profiler.profile, in one class."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from ...base import docstrings as _docstrings
from ...base import system_memory
from ...base.environment import environment
from ...core.interceptors import Interceptor, install, remove
from ...kernels import blocks
from ...spans.spans import MEMORY, Recorder, profilers, record_function
from .actions import ProfilerAction, ProfilerActivity, check_activities
from .chrome import write_json, write_trace
from .collect import threads_of
from .details import Describer
from .events import EventList, FunctionEvent, FunctionEventAvg, events_of
from .hta import kernels
from .inventory import Inventory, module_names, take_inventory
from .memory import Peak, Recorded, export, in_mb, peak_of

RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class Recording(Interceptor):
    """The recorder that a profiler installs in the core."""

    recorder: Recorder
    before: Inventory                                # with profile_memory
    peak_before: int | None
    memory: Recorded                                 # with profile_memory, when it has ended

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.unix_time: int = time.time_ns() - time.perf_counter_ns()   # of the recorder's clock at 0


class profile:
    """Record what all threads of this process run in a `with` block, or between start() and stop(): operations, Functions,
    nodes in backward, modules, optimizers' steps, waits for a DataLoader, collectives, and blocks of record_function.

    A recording costs 0.2 us an event, shapes 1 us more and a stack 3 us. One profiler records at a time. Afterwards
    key_averages().table() shows where the time went, events() has each call, export_chrome_trace(path) writes a trace for
    Perfetto, and memory_peak() says when arrays held most."""

    def __init__(self, enabled: bool = True, *, activities: Iterable[ProfilerActivity] | None = None,
                 schedule: Callable[[int], ProfilerAction] | None = None, on_trace_ready: Callable[[Any], Any] | None = None,
                 record_shapes: bool = False, profile_memory: bool = False, with_stack: bool = False,
                 with_flops: bool = False, with_modules: bool = False, experimental_config: Any = None,
                 execution_trace_observer: Any = None, acc_events: bool = False, use_cuda: bool | None = None,
                 use_device: str | None = None, use_kineto: bool = False, use_cpu: bool = True,
                 custom_trace_id_callback: Callable[[], str] | None = None,
                 post_processing_timeout_s: float | None = None) -> None:
        refuse(experimental_config=experimental_config, execution_trace_observer=execution_trace_observer,
               post_processing_timeout_s=post_processing_timeout_s, custom_trace_id_callback=custom_trace_id_callback)
        if not use_cpu:
            raise NotImplementedError("profile(use_cpu=False): there is nothing to profile but the CPU")
        if use_cuda or use_device is not None:
            warnings.warn(f"The {use_device or 'cuda'} is not a valid device option: there are processors only, which are "
                          "profiled", stacklevel=2)
        self.enabled = enabled
        self.activities: set[ProfilerActivity] = check_activities(activities)
        self.record_shapes: bool = record_shapes or with_flops
        self.with_flops: bool = with_flops
        self.profile_memory: bool = profile_memory
        self.with_stack: bool = with_stack
        self.with_modules: bool = with_modules
        self.acc_events: bool = acc_events
        self.on_trace_ready: Callable[[Any], Any] | None = on_trace_ready
        if schedule is not None and not callable(schedule):
            raise TypeError(f"profile(schedule={schedule!r}): a function is needed, such as "
                            "autograd.profiler.schedule(wait=, warmup=, active=) makes")
        self.schedule = schedule
        self.step_num: int = 0
        self.current_action: ProfilerAction = self._action()
        self._recording: Recording | None = None     # while it records
        self._step_block: record_function | None = None
        self._recorded: list[Recording] = []
        self._events: list[FunctionEvent] | None = None
        self._metadata: dict[str, Any] = {}

    def _action(self) -> ProfilerAction:
        if self.schedule is None:
            return ProfilerAction.RECORD
        action = self.schedule(self.step_num)
        if not isinstance(action, ProfilerAction):
            raise TypeError(f"profile(schedule=...): schedule({self.step_num}) returned {action!r}, and not a "
                            "ProfilerAction; autograd.profiler.schedule(wait=, warmup=, active=) makes a schedule")
        return action

    # --- recording ----------------------------------------------------------------------------------------------------

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin the first step."""
        if self.enabled:
            self._change(ProfilerAction.NONE, self.current_action)
            self._begin_step()

    def stop(self) -> None:
        """End the last step, and the recording."""
        if self.enabled:
            self._end_step()
            self._change(self.current_action, None)

    def step(self) -> None:
        """End a step and begin the next one; the schedule defines what is recorded in it."""
        if not self.enabled:
            return
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self._action()
        self._change(before, self.current_action)
        self._begin_step()

    def _change(self, before: ProfilerAction, now: ProfilerAction | None) -> None:
        """Stop and start recording as two successive actions require; None: the end."""
        if before in RECORDING and now in RECORDING and before is not ProfilerAction.RECORD_AND_SAVE:
            return
        if before in RECORDING and self._recording is not None:
            self.stop_trace()
            if before is ProfilerAction.RECORD and now is not None:
                warnings.warn(f"Incorrect schedule: RECORD followed by {now.name}", stacklevel=3)
            elif self.on_trace_ready is not None:
                self.on_trace_ready(self)
        elif before is ProfilerAction.WARMUP and now is ProfilerAction.NONE:
            warnings.warn("Incorrect schedule: WARMUP followed by NONE", stacklevel=3)
        if now in RECORDING:
            self.start_trace()

    def start_trace(self) -> None:
        """Begin to record, regardless of the schedule."""
        describe = Describer(self.record_shapes, self.with_stack) if self.record_shapes or self.with_stack else None
        recording = Recording(Recorder(describe=describe, memory=self.profile_memory))
        if self.profile_memory and not profilers:    # otherwise install() raises the error
            blocks.watch(True)
            recording.before, recording.peak_before = take_inventory(), system_memory.peak()
        try:
            install(recording)
        except BaseException:
            if hasattr(recording, "before"):
                blocks.watch(False)
            raise
        self._recording = recording
        self._events = None
        self._recorded = [*(self._recorded if self.acc_events else ()), recording]

    def stop_trace(self) -> None:
        """Stop the recording that start_trace() began."""
        if self._recording is not None:
            recording, self._recording = self._recording, None
            remove(recording)
            if self.profile_memory:
                pooled = blocks.pool.seen
                blocks.watch(False)
                peak = system_memory.peak()
                recording.memory = Recorded(
                    threads_of(recording.recorder), recording.recorder.started, recording.recorder.stopped, recording.before,
                    take_inventory(whole=False), module_names(), peak if peak != recording.peak_before else None, pooled)

    def _begin_step(self) -> None:
        if self.schedule is not None:
            self._step_block = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self) -> None:
        if self._step_block is not None:
            self._step_block.__exit__()
            self._step_block = None

    # --- results ------------------------------------------------------------------------------------------------------

    def _all_events(self) -> list[FunctionEvent]:
        """All events, including modules and lanes; created on first use."""
        if not self._recorded:
            raise AssertionError("the profiler has not recorded anything: it was not started, or its schedule has not "
                                 "reached a step that is recorded")
        if self._recording is not None:
            raise RuntimeError("the profiler still records: its events are available in on_trace_ready and after stop()")
        if self._events is None:
            since = self._recorded[0].recorder.started
            self._events = []
            first = 1
            for recording in self._recorded:
                threads = threads_of(recording.recorder)
                self._events += events_of(threads, since, first, flops=self.with_flops, modules=self.with_modules)
                first += len(threads)
            for place, event in enumerate(self._events):
                event.id = place
        return self._events

    def events(self) -> EventList:
        """Each call, as a FunctionEvent, in the order in which they began."""
        shown = [e for e in self._all_events() if (self.with_modules or not e.is_frame)
                 and (e.kind != MEMORY or e.cpu_parent is None)]
        return EventList(shown, profile_memory=self.profile_memory, with_flops=self.with_flops,
                         footer=self._memory_line if self.profile_memory else None)

    @property
    def function_events(self) -> EventList:
        """The events, under the name in torch.autograd.profiler."""
        return self.events()

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """The sums over the calls of each operation, as FunctionEventAvg."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """The sums over all events."""
        return self.events().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events in microseconds, each moment of a thread counted once."""
        return self.events().self_cpu_time_total

    def table(self, *args: Any, **settings: Any) -> str:
        """The events as a table; see EventList.table."""
        return self.events().table(*args, **settings)

    def __str__(self) -> str:
        return str(self.events()) if self._recorded and self._recording is None else repr(self)

    # --- files --------------------------------------------------------------------------------------------------------

    def export_chrome_trace(self, path: str | os.PathLike[str], use_python_export: bool = False) -> None:
        """Write the trace as JSON for Perfetto, chrome://tracing or TensorBoard."""
        events = self._all_events()
        write_trace(os.fspath(path), events, self._threads(), self._head())

    def export_hta(self, directory: str | os.PathLike[str]) -> None:
        """Write this rank's file for HolisticTraceAnalysis, of which each rank writes one to the same directory: operations
        of each thread, and collectives and messages, as kernels on streams."""
        os.makedirs(directory, exist_ok=True)
        head = {"distributedInfo": {"rank": environment.rank}}       # first: it takes the first "rank": in the text
        write_json(os.path.join(directory, f"rank_{environment.rank}.json.gz"), head, kernels(self._all_events()))

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Write stacks with their times for a flame graph; needs with_stack=True."""
        if not self.with_stack:
            raise ValueError("export_stacks() needs stacks: profile(with_stack=True)")
        self.events().export_stacks(os.fspath(path), metric)

    def export_memory_timeline(self, path: str | os.PathLike[str], device: str | None = None) -> None:
        """Write the memory of arrays over time, by category. Needs profile_memory=True."""
        if not self.profile_memory:
            raise ValueError("profile_memory=True required for memory profiling.")
        if device not in (None, "cpu"):
            raise NotImplementedError(f"export_memory_timeline(device={device!r}): there is memory of the cpu only")
        self._all_events()                           # an error if nothing was recorded
        export(os.fspath(path), [recording.memory for recording in self._recorded])

    def memory_peak(self) -> Peak:
        """The moment at which arrays held most: when, in which step, phase, module and operation, and what they were for.
        Print it, or read its fields. Needs profile_memory=True."""
        self.recorded_memory()
        return max((peak_of(recording.memory) for recording in self._recorded), key=attrgetter("nbytes"))

    def recorded_memory(self) -> Recorded:
        """The memory data of the last recording. Needs profile_memory=True."""
        if not self.profile_memory:
            raise ValueError("profile_memory=True required for memory profiling.")
        if not self._recorded or self._recording is not None:
            self._all_events()                       # raises the error
        return self._recorded[-1].memory

    def _memory_line(self) -> str:
        peak = self.memory_peak()
        return f"Peak of array memory: {in_mb(peak.nbytes)}, {peak.moment}"

    def _threads(self) -> list[tuple[int, str]]:
        """The system's number and the name of each thread."""
        return [(ring.thread, ring.thread_name) for recording in self._recorded for ring in recording.recorder.rings]

    def _head(self) -> dict[str, Any]:
        """The description in a trace. The rank comes first, because HolisticTraceAnalysis uses the first "rank": in the
        text."""
        first = self._recorded[0]
        flags = ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules")
        return {"distributedInfo": {"rank": environment.rank}, **{name: 1 for name in flags if getattr(self, name)},
                "baseTimeNanoseconds": first.unix_time + first.recorder.started,
                "perf_counter_ns": first.recorder.started, **self._metadata}

    def add_metadata(self, key: str, value: str) -> None:
        """Have traces that are written from now on say a text."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Have traces that are written from now on say a value."""
        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json


def refuse(**arguments: Any) -> None:
    """NotImplementedError for an argument of PyTorch's that is given, and has no meaning here."""
    for name, value in arguments.items():
        if value is not None:
            raise NotImplementedError(f"profile({name}={value!r}) is not supported: leave it out")


_docstrings.complete(globals(), "observe", "profiler.")
