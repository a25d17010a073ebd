"""A recording as a Chrome trace, for Perfetto, chrome://tracing, TensorBoard and HolisticTraceAnalysis.

The format is the Trace Event Format; categories and the names of arguments are those of PyTorch's traces. Times are in
microseconds with three digits, exact to the nanosecond, since the recording began."""

from __future__ import annotations

import gzip
import json
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import IO, Any

from ...spans.spans import FLIGHT, FUNCTION, LANE, MEMORY, MESSAGE, MODULE, PASS, USER
from .events import FunctionEvent

CATEGORIES = {MODULE: "python_function", USER: "user_annotation", LANE: "lane", MESSAGE: "communication",
              FLIGHT: "communication", PASS: "cpu_op", FUNCTION: "cpu_op"}      # by kind; of all others cpu_op


def write_trace(path: str, events: list[FunctionEvent], threads: list[tuple[int, str]], metadata: Mapping[str, Any]) -> None:
    """Write a trace to a file; gzip packs it if the path ends in .gz.

    threads: number and name of each thread, in the order of FunctionEvent.thread."""
    head = {"schemaVersion": 1, "host_name": socket.gethostname(), "displayTimeUnit": "ms", "traceName": path}
    write_json(path, {**metadata, **head}, chain(process_names(threads), trace_events(events, threads)))


def write_json(path: str, head: Mapping[str, Any], events: Iterable[dict[str, Any]]) -> None:
    """Write a file of the format: its description, and events that are generated one by one."""
    with open_text(path) as file:
        file.write(json.dumps(head)[:-1] + ', "traceEvents": [\n')
        separator = ""
        for event in events:
            file.write(separator + json.dumps(event))
            separator = ",\n"
        file.write("\n]}\n")


def open_text(path: str) -> IO[str]:
    """A text file for writing, compressed if its name ends in .gz."""
    if path.endswith(".gz"):
        return gzip.open(path, "wt", encoding="utf-8", compresslevel=4)
    return open(path, "w", encoding="utf-8")


def process_names(threads: list[tuple[int, str]]) -> Iterator[dict[str, Any]]:
    """The names that viewers show for this process and its threads."""
    pid = os.getpid()
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "python"}}
    for place, (number, name) in enumerate(threads):
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": number, "args": {"name": f"thread {number} ({name})"}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": number, "args": {"sort_index": place}}


def trace_events(events: list[FunctionEvent], threads: list[tuple[int, str]]) -> Iterator[dict[str, Any]]:
    """The events, and an arrow from each call to each run of its node in backward."""
    pid = os.getpid()
    flows = 0
    for event in events:
        tid = threads[event.thread - 1][0]
        start, end = event.time_range.start, event.time_range.end
        category = CATEGORIES.get(event.kind, "cpu_op")
        if event.kind == MEMORY:
            what = {"name": "[memory]", "pid": pid, "ts": start}
            yield {"ph": "i", "cat": "cpu_instant_event", "s": "t", **what, "tid": tid, "args": {
                "Bytes": event.a, "Total Allocated": event.b, "Total Reserved": 0, "Device Id": -1, "Device Type": 0}}
            yield {"ph": "C", **what, "name": "array memory", "args": {"bytes": event.b}}
            continue
        args = arguments(event, threads)
        if event.is_async:                           # it overlaps others of its thread, so it gets a separate row
            both = {"cat": category, "name": event.trace_name, "pid": pid, "tid": tid, "id": event.id}
            yield {"ph": "b", **both, "ts": start, "args": args}
            yield {"ph": "e", **both, "ts": end}
            continue
        yield {"ph": "X", "cat": category, "name": event.trace_name, "pid": pid, "tid": tid, "ts": start,
               "dur": round(end - start, 3), "args": args}
        if event.forward is not None and event.scope == 1:
            flows += 1
            arrow = {"id": flows, "cat": "fwdbwd", "name": "fwdbwd", "pid": pid}
            made = event.forward
            yield {"ph": "s", **arrow, "tid": threads[made.thread - 1][0], "ts": made.time_range.start}
            yield {"ph": "f", **arrow, "tid": tid, "ts": start, "bp": "e"}


def arguments(event: FunctionEvent, threads: list[tuple[int, str]]) -> dict[str, Any]:
    """The details that a viewer shows when an event is selected."""
    args: dict[str, Any] = {"External id": event.id + 1, "Ev Idx": event.id}
    if event.sequence_nr >= 0:
        args["Sequence number"] = event.sequence_nr
    if event.fwd_thread is not None:
        args["Fwd thread id"] = event.fwd_thread
    if event.structured_input_shapes:
        args |= {"Input Dims": event.structured_input_shapes, "Input type": event.input_dtypes,
                 "Concrete Inputs": [str(v) for v in event.concrete_inputs]}
    if event.stack:
        args["Call stack"] = ";".join(event.stack)
    if event.modules:
        args["Module Hierarchy"] = ".".join(name.removeprefix("nn.Module: ") for name in event.modules)
    if event.flops:
        args["flops"] = event.flops
    if event.cpu_memory_usage:
        args["Bytes"] = event.cpu_memory_usage
    if event.kind in (MESSAGE, FLIGHT):
        args |= {"bytes": event.a, "number": event.b}
    if event.text is not None:
        args["args"] = event.text
    return args
