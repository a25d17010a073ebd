"""Run: what all ranks recorded, read from the folder of parts or from the finished file, on one clock.

The finished file is a trace in Chrome's format, for Perfetto and chrome://tracing: a row group (process) per rank, a row per
thread, one of steps, and one per sum in flight. It holds all that the parts held, so the report is made from it alone.
"""

from __future__ import annotations

import contextlib
import gc
import gzip
import itertools
import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from autograd.spans.spans import BLOCK, COUNTER, FLIGHT, HEAD, MESSAGE

from ...comm.environment import host_identity
from .clocks import Clock, Offset

PAGE = 4096                          # bytes of the head of a ring's file; its blocks begin at multiples of it
NAME_AT = 8 * HEAD                   # offset of the thread's name in that head
CATEGORIES = ("cpu_op", "cpu_op", "cpu_op", "python_function", "user_annotation", "lane", "communication", "in flight",
              "pass", "memory", "counter")
TOGETHER = 1000                      # events written at once
LOW = (1 << 40) - 1                  # of the number of a collective: its position on its communicator


class Spans(NamedTuple):
    """The spans of a thread, by start, in ns of the first rank's clock.

    name: numbers into Run.names. b of a collective or message is its number, the same on all ranks (negative: unknown).
    """

    name: Any
    kind: Any
    start: Any
    end: Any
    sequence: Any
    a: Any
    b: Any

    def chosen(self, which: Any) -> Spans:
        """The spans selected by a mask or by a list of rows."""
        return Spans(*(column[which] for column in self))


class Thread(NamedTuple):
    """A thread of a rank: the system's number of it, its name, and whether it is the thread that trains."""

    number: int
    name: str
    main: bool
    spans: Spans


class Rank(NamedTuple):
    """One rank: its own description (recording.Part.write), and its threads."""

    rank: int
    info: dict[str, Any]
    threads: list[Thread]

    @property
    def main(self) -> Spans:
        """The spans of the thread that trains."""
        for thread in self.threads:
            if thread.main:
                return thread.spans
        return self.threads[0].spans if self.threads else EMPTY


EMPTY = Spans(*(np.empty(0, np.int64) for _ in Spans._fields))


class TimelineError(ValueError):
    """A file or folder that is not a timeline, or is damaged."""


class Run:
    """A recorded run.

    names: of spans. ranks: in order. missing: ranks without files, which recorded nothing or whose host's files are not
    here. bound: by how many ns the aligned clocks of two ranks may differ.
    """

    def __init__(self, names: list[str], ranks: list[Rank], size: int) -> None:
        self.names: list[str] = names
        self.ranks: list[Rank] = ranks
        self.size: int = size
        self.numbers: dict[str, int] = {name: number for number, name in enumerate(names)}
        self.missing: list[int] = sorted(set(range(size)) - {rank.rank for rank in ranks})
        self.bound: int = max((rank.info["bound"] for rank in ranks), default=0)

    @property
    def begin(self) -> int:
        """The time of the first thing that was recorded, in ns."""
        return min((rank.info["began"] for rank in self.ranks), default=0)


# --- from parts -----------------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def collector_off() -> Iterator[None]:
    """A block without garbage collection, which would take a third of the time of reading a run."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def read(path: str | os.PathLike[str]) -> Run:
    """The run in a finished file or in a folder of parts, which may still be written. TimelineError if it is neither."""
    path = Path(path)
    if path.is_dir():
        return read_parts(path)
    if not path.exists() and (folder := path.with_name(path.name + ".parts")).is_dir():
        return read_parts(folder)
    return read_trace(path)


def read_parts(folder: Path, until_now: bool = False) -> Run:
    """The run in a folder of parts. until_now: open spans last until now, as on ranks that still run."""
    infos = []
    for path in sorted(folder.glob("rank-*.json")):
        try:
            info = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue                                 # damaged: the report lacks this rank
        try:
            infos.append(checked(info, "version", ("rank", "size", "started", "stopped", "offsets", "main")))
        except (ValueError, TypeError) as error:
            raise TimelineError(f"{path}: not written by a rank of a timeline ({error})") from error
    if not infos:
        raise TimelineError(f"{folder}: no rank has recorded anything in it")
    infos.sort(key=lambda info: info["rank"])
    names: dict[str, int] = {}
    flights: dict[str, int] = {}
    latest = max((one[1] for info in infos for one in info.get("memberships", ())), default=0)
    for info in infos:
        members = info.setdefault("memberships", [])
        info["died"] = not info.get("finished") and bool(members) and members[-1][1] < latest
        runs = not info.get("finished") and not info["died"] and (until_now or lives(info["process"]))
        info["until"] = info["stopped"] or (time.perf_counter_ns() if runs and is_here(info) else 0)
    records = [(info, list(raw_threads(folder, info, names, flights))) for info in infos]
    system = {info["rank"]: system_clock(threads, names) for info, threads in records}
    ranks = []
    for info, threads in records:
        clock = Clock([Offset(**offset) for offset in info["offsets"]], system[info["rank"]], system[infos[0]["rank"]])
        aligned = clock.aligned(np.array([info["started"], info["until"], *(one[0] for one in info["memberships"])]))
        info["began"], info["drift"] = int(aligned[0]), clock.drift
        info["until"] = info["until"] and int(aligned[1])
        info["memberships"] = [[int(at), *one[1:]] for at, one in zip(aligned[2:], info["memberships"], strict=True)]
        info["drift_measured"] = clock.measured
        info["bound"] = clock.bound
        ranks.append(Rank(info["rank"], info, [thread._replace(spans=thread.spans._replace(
            start=clock.aligned(thread.spans.start), end=clock.aligned(thread.spans.end))) for thread in threads]))
    return Run(list(names), ranks, max(info["size"] for info in infos))


def raw_threads(folder: Path, info: dict[str, Any], names: dict[str, int], flights: dict[str, int]) -> Iterator[Thread]:
    """The threads of a rank, on its own clock. names, flights: the numbers of names and of collectives, for all ranks."""
    own: list[tuple[str, int]] = []
    path = folder / f"rank-{info['rank']}.names"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise TimelineError(f"{path}: the names of spans can't be read ({error})") from error
    for line in lines:
        try:
            name, kind = json.loads(line)
        except (ValueError, TypeError):
            break                                    # the last line, which is still being written
        own.append((name, kind))
    number = np.array([names.setdefault(name, len(names)) for name, _ in own] or [0], np.int64)
    kinds = np.array([kind for _, kind in own] or [0], np.int64)
    for path in sorted(folder.glob(f"rank-{info['rank']}.*.ring")):
        thread, name, rows = read_ring(path, info["until"])
        rows = rows[rows[:, 0] < len(own)]
        if not len(rows):
            continue
        rows = rows[np.argsort(rows[:, 1], kind="stable")]
        kind = kinds[rows[:, 0]]
        b = rows[:, 7].copy()
        crossing = np.isin(kind, (MESSAGE, FLIGHT))
        for flight in np.unique(b[crossing]):
            communicator = int(flight) >> 40
            if 0 < communicator < len(own):
                known = flights.setdefault(own[communicator][0], len(flights) + 1)
                b[crossing & (b == flight)] = known << 40 | (int(flight) & LOW)
        b[crossing & (b <= LOW)] = -1
        yield Thread(thread, name, thread == info["main"],
                     Spans(number[rows[:, 0]], kind, rows[:, 1], rows[:, 2], rows[:, 4], rows[:, 6], b))


def read_ring(path: Path, until: int) -> tuple[int, str, Any]:
    """(thread, name, rows) of a ring's file. An open span ends at `until`, or with the ring's last event if that is 0."""
    data = path.read_bytes()
    if len(data) < PAGE:
        return 0, "", np.empty((0, 8), np.int64)
    count, most, thread = np.frombuffer(data, np.int64, 3).tolist()
    name = data[NAME_AT:NAME_AT + 255].split(b"\0")[0].decode(errors="replace")
    present = np.frombuffer(data, np.int64, (len(data) - PAGE) // 64 * 8, PAGE).reshape(-1, 8)
    blocks = -(-count // BLOCK)
    most = most or blocks
    kept = [np.empty((0, 8), np.int64)]
    for number in range(max(0, blocks - most), blocks):
        place = number % most * BLOCK
        kept.append(present[place:place + min(BLOCK, count - number * BLOCK)])
    rows = np.concatenate(kept)
    rows = rows[(rows[:, 0] >= 0) & (rows[:, 1] > 0)]
    if len(rows):
        rows[rows[:, 2] == 0, 2] = until or max(rows[:, 1].max(), rows[:, 2].max())
        np.maximum(rows[:, 2], rows[:, 1], out=rows[:, 2])
    return thread, name, rows


def is_here(info: dict[str, Any]) -> bool:
    """Whether a rank ran on this host since the host's last start, and so has this process's clock."""
    return (info.get("host"), info.get("boot")) == host_identity()


def lives(process: int) -> bool:
    """Whether this host has a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:                                  # another user's process
        return True
    return True


def system_clock(threads: Sequence[Thread], names: dict[str, int]) -> list[tuple[int, int]]:
    """Pairs of a rank's clock and the system's clock."""
    number = names.get("[system clock]", -1)
    return [(int(at), int(wall)) for thread in threads for at, wall, name in
            zip(thread.spans.start, thread.spans.a, thread.spans.name, strict=True) if name == number]


# --- the finished file ----------------------------------------------------------------------------------------------------

def row_number(rank: int, place: int) -> int:
    """The number (tid) of a rank's row: 0 is its steps, then threads. Never 0 or the pid, which readers treat specially."""
    return 100_000 * (rank + 1) + place


def events(run: Run) -> Iterator[str]:
    """The events of a run in Chrome's format, as JSON. Times are microseconds since its begin."""
    begin = run.begin
    for rank in run.ranks:
        info = rank.info
        about = f"rank {rank.rank} of {run.size}, {info['host']}, process {info['process']}"
        yield encoded({"ph": "M", "name": "process_name", "pid": rank.rank, "tid": 0, "args": {"name": about}})
        yield encoded({"ph": "M", "name": "process_sort_index", "pid": rank.rank, "tid": 0,
                       "args": {"sort_index": rank.rank}})
        for place, thread in enumerate(rank.threads):
            row = row_number(rank.rank, place + 1)
            yield encoded({"ph": "M", "name": "thread_name", "pid": rank.rank, "tid": row,
                           "args": {"name": thread.name + (" (trains)" if thread.main else ""), "thread": thread.number,
                                    "main": thread.main, "thread_name": thread.name}})
            yield from thread_events(run, rank.rank, row, thread.spans, begin)


def thread_events(run: Run, pid: int, tid: int, spans: Spans, begin: int) -> Iterator[str]:
    """The events of a thread, as text: json.dumps() would take three times as long for millions of events."""
    names = [encoded(name)[:-1] for name in run.names]               # without the closing quote
    for row, (name, kind, start, end, sequence, a, b) in enumerate(zip(*(column.tolist() for column in spans), strict=True)):
        head, tail = f'{{"name":{names[name]}', f'","cat":"{CATEGORIES[kind]}","pid":{pid},"tid":{tid},"ts":'
        base = f"{head}{tail}{(start - begin) / 1000}"
        args = f'"args":{{"kind":{kind},"sequence":{sequence},"a":{a},"b":{b}'
        if kind == FLIGHT:
            number = f"{pid}.{tid}.{row}"
            if sequence > 0:                         # a bucket that was full before its sum could start
                queued = f'"id":"{number}.queued","args":{{}}}}'
                yield f'{head} queued{tail}{(start - sequence - begin) / 1000},"ph":"b",{queued}'
                yield f'{head} queued{tail}{(start - begin) / 1000},"ph":"e",{queued}'
            yield f'{base},"ph":"b","id":"{number}",{args},"bytes":{a}}}}}'
            yield f'{head}{tail}{(end - begin) / 1000},"ph":"e","id":"{number}","args":{{}}}}'
        elif kind == COUNTER:
            yield f'{base},"ph":"i","s":"t",{args}}}}}'
        elif kind == MESSAGE:
            yield f'{base},"ph":"X","dur":{(end - start) / 1000},{args},"bytes":{a}}}}}'
        else:
            yield f'{base},"ph":"X","dur":{(end - start) / 1000},{args}}}}}'


encoded = json.JSONEncoder(separators=(",", ":")).encode


def write_trace(run: Run, path: Path, extra: Iterable[dict[str, Any]] = ()) -> None:
    """Write a run into a file, completely or not at all; a name that ends in .gz is compressed. extra: further events."""
    about = {"format": 1, "size": run.size, "begin": run.begin, "names": run.names,
             "ranks": [rank.info for rank in run.ranks]}
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with gzip.open(new, "wt", 3, encoding="utf-8") if path.suffix == ".gz" else open(new, "w", encoding="utf-8") as file:
            file.write('{"dparallel":' + encoded(about) + ',"displayTimeUnit":"ms","traceEvents":[\n')
            left, between = itertools.chain(events(run), map(encoded, extra)), ""
            while part := list(itertools.islice(left, TOGETHER)):
                file.write(between + ",\n".join(part))
                between = ",\n"
            file.write("\n]}\n")
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def read_trace(path: Path) -> Run:
    """The run in a finished file."""
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"     # gzip, whatever the file's name
        with (gzip.open(path, "rt", encoding="utf-8") if packed else open(path, encoding="utf-8")) as file:
            return run_of(json.load(file))
    except FileNotFoundError:
        raise TimelineError(f"{path}: there is no such file") from None
    except (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise TimelineError(f"{path}: not a timeline that dprun --timeline or dparallel.timeline() has written, or not all "
                            f"of one ({type(error).__name__}: {error})") from error


def checked(about: dict[str, Any], version: str, keys: Iterable[str]) -> dict[str, Any]:
    """The description in a file. ValueError unless it has these keys and a known version."""
    lacking = [key for key in (version, *keys) if key not in about]
    if lacking:
        raise ValueError(f"without {', '.join(lacking)}")
    if about[version] != 1:
        raise ValueError(f"{version} {about[version]!r}, and this version of dparallel reads 1")
    return about


def run_of(data: dict[str, Any]) -> Run:
    """The run described by a finished file's data."""
    about = checked(data["dparallel"], "format", ("size", "begin", "names", "ranks"))
    names, begin = about["names"], about["begin"]
    numbers = {name: number for number, name in enumerate(names)}
    rows: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    threads: dict[tuple[int, int], dict[str, Any]] = {}
    open_flights: dict[str, tuple[tuple[int, int], list[int]]] = {}
    for event in data["traceEvents"]:
        key = event["pid"], event["tid"]
        if event["ph"] == "M" and event["name"] == "thread_name" and "thread" in event["args"]:
            threads[key] = event["args"]
        elif event["ph"] in "Xbi" and key in threads and "kind" in event.get("args", ()):
            args, start = event["args"], begin + round(event["ts"] * 1000)
            row = [numbers[event["name"]], args["kind"], start, start + round(event.get("dur", 0) * 1000), args["sequence"],
                   args["a"], args["b"]]
            rows.setdefault(key, []).append(row)     # type: ignore[arg-type]
            if event["ph"] == "b":
                open_flights[event["id"]] = key, row
        elif event["ph"] == "e" and event["id"] in open_flights:
            open_flights.pop(event["id"])[1][3] = begin + round(event["ts"] * 1000)
    ranks = []
    for info in about["ranks"]:
        own = [(key, args) for key, args in threads.items() if key[0] == info["rank"]]
        ranks.append(Rank(info["rank"], info, [
            Thread(args["thread"], args["thread_name"], args["main"], Spans(*np.array(rows.get(key, []), np.int64)
                                                                            .reshape(-1, 7).T)) for key, args in own]))
    return Run(names, ranks, about["size"])
