"""dprun --top: the progress of a running job's ranks, in a terminal.

dprun describes the job in its folder, and each rank's watchdog writes a file there once a second (comm/watchdog/vitals.py).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median_high
from typing import Any, NamedTuple

from . import private
from .mpirun import LaunchError
from .report import is_alive

DESCRIPTION = "job"                                  # the file that describes the job of a folder
WATCHED = "watched"                                  # touched while --top runs: then hosts exchange their files
PERIOD = 1.0                                         # seconds between two looks
SILENT = 5.0                                         # seconds after which a rank's file is old
PATIENCE = 3.0                                       # seconds in which other hosts respond
SHOWN = 5                                            # ranks that wait least, and most, where not all ranks have a line
HEADINGS = ("rank", "host", "steps", "steps/s", "loss", "waiting", "memory", "doing")


class Job(NamedTuple):
    """A running dprun: its process and when the system started it, its folder, active ranks, spares, the script's arguments,
    when the job began, and whether ranks may be on other hosts."""

    process: int
    started: int
    folder: str
    ranks: int
    spares: int
    words: list[str]
    began: float
    spread: bool


@dataclass
class Row:
    """The figures of a rank, and whether it runs; None for an unknown figure."""

    rank: int
    runs: bool
    doing: str
    host: str = ""
    steps: int | None = None
    rate: float | None = None
    loss: float | None = None
    waiting: float | None = None
    memory: int | None = None


def describe(folder: str, ranks: int, spares: int, words: Sequence[str], spread: bool) -> None:
    """Write the description of a job into its folder."""
    with contextlib.suppress(OSError), open(os.path.join(folder, DESCRIPTION), "w", encoding="utf-8") as file:
        json.dump([os.getpid(), started(os.getpid()), folder, ranks, spares, list(words), time.time(), spread], file)


def top(arguments: Sequence[str]) -> int:
    """Show a job until it ends, or once; list the jobs if there are several. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="dprun --top", description="Show the progress of a running job's ranks.")
    parser.add_argument("job", nargs="?", metavar="JOB",
                        help="the process number of its dprun, or its folder (default: the only job, or a list)")
    parser.add_argument("--once", action="store_true", help="show it once (the default if the output is not a terminal)")
    options = parser.parse_args(arguments)
    found = jobs(options.job)
    if options.job is None and len(found) > 1:
        print(f"{'JOB':>8} {'RANKS':>6} {'RUNS FOR':>9}  SCRIPT")
        for job in found:
            since = duration(time.time() - job.began)
            print(f"{job.process:>8} {job.ranks:>6} {since:>9}  {printable(shlex.join(job.words))}")
        return 0
    if not found:
        which = "no job of yours runs" if options.job is None else f"no job {options.job!r} runs"
        raise LaunchError(f"{which} on this machine, with its files in {tempfile.gettempdir()}; pass the process number "
                          "of a dprun, or the folder dprun-... that it created")
    if options.once or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        with contextlib.suppress(BrokenPipeError):
            print(*once(found[0]), sep="\n", flush=True)
        return 0
    live(found[0])
    return 0


# --- which jobs there are -----------------------------------------------------------------------------------------------


def jobs(asked: str | None = None) -> list[Job]:
    """The running jobs of this user, or one of them, oldest first; without folders of killed ones, or open to others."""
    if asked is not None and not asked.isdigit():
        folders = [os.path.abspath(asked)]
    else:
        temporary = {tempfile.gettempdir(), temporary_of(int(asked))} if asked else {tempfile.gettempdir()}
        folders = [entry.path for place in sorted(temporary) for entry in entries(place) if entry.name.startswith("dprun-")]
    found = []
    for folder in folders:
        with contextlib.suppress(OSError, ValueError, TypeError):        # one that another user has planted: PermissionError
            path = os.path.join(private.folder(folder, make=False), DESCRIPTION)
            with open(private.regular(path), encoding="utf-8") as file:
                job = Job(*json.load(file))._replace(folder=folder)
            if runs(job) and (asked is None or not asked.isdigit() or int(asked) == job.process):
                found.append(job)
    return sorted(found, key=lambda job: job.began)


def runs(job: Job) -> bool:
    """Whether the dprun of a job still runs. Another process that has its number now was started at another time."""
    return is_alive(job.process) and started(job.process) == job.started


def started(process: int) -> int:
    """When a process was started, in the system's ticks; -1 if not known."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/stat", encoding="utf-8") as file:
        return int(file.read().rpartition(")")[2].split()[19])
    return -1


def temporary_of(process: int) -> str:
    """The folder for temporary files of another process of this user."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/environ", "rb") as file:
        for variable in file.read().split(b"\0"):
            if variable.startswith(b"TMPDIR="):
                return os.fsdecode(variable[len(b"TMPDIR="):])
    return tempfile.gettempdir()


def entries(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder; none if it can't be read."""
    try:
        return list(os.scandir(folder))
    except OSError:
        return []


# --- what its ranks do --------------------------------------------------------------------------------------------------


def rows_of(job: Job, now: float) -> list[Row]:
    """A row for each rank, from the files in the job's folder."""
    names = {entry.name for entry in entries(job.folder)}
    return [row_of(job, rank, names, now) for rank in range(job.ranks + job.spares)]


def row_of(job: Job, rank: int, names: set[str], now: float) -> Row:
    """The row of one rank, from its file."""
    def text(kind: str) -> str:
        if f"{rank}.{kind}" not in names:
            return ""
        with contextlib.suppress(OSError), open(os.path.join(job.folder, f"{rank}.{kind}"), encoding="utf-8",
                                                errors="replace") as file:
            return file.read()
        return ""

    told: dict[str, Any] = {}
    with contextlib.suppress(ValueError):
        found = json.loads(text("top") or "{}")
        told = found if isinstance(found, dict) else {}
    process = int(text("running") or 0) if text("running").isdigit() else 0
    silent = now - told.get("time", -math.inf)
    row = Row(rank, True, str(told.get("doing", "")), str(told.get("host", "")),
              *(told.get(name) for name in ("steps", "rate", "loss", "waiting", "memory")))
    if f"{rank}.json" in names or text("crash"):
        row.runs, row.doing = False, "failed" if f"{rank}.json" in names else "crashed"
    elif f"{rank}.ended" in names or (told and f"{rank}.mpi" in names and f"{rank}.running" not in names):
        row.runs, row.doing = False, "has ended"
    elif process and not is_alive(process):
        row.runs, row.doing = False, "died"
    elif text("world"):
        row.runs, row.doing = rank < job.ranks, "a spare, waits" if rank >= job.ranks else "waits in " + text("world")
    elif told and silent > SILENT:
        row.runs, row.doing = False, f"not heard from for {duration(silent)}"
    elif not told:
        row.runs = bool(process)
        row.doing = "running; not in dparallel.world() yet" if process else \
            "on another host, and not heard from" if job.spread else "has not started"
    if process and row.memory is None and row.runs:
        row.memory = memory_of(process)
    if not row.runs:
        row.rate = row.waiting = row.memory = None
    return row


def memory_of(process: int) -> int | None:
    """The bytes of memory of a process of this machine."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None


# --- as text ------------------------------------------------------------------------------------------------------------


def screen(job: Job, rows: Sequence[Row], now: float, width: int, height: int) -> list[str]:
    """At most `height` lines of at most `width` characters: each rank, or, if there are too many, their distribution."""
    running = [row for row in rows if row.runs]
    spares = f" and {job.spares} spare{'s' * (job.spares > 1)}" if job.spares else ""
    title = (f"dprun {job.process}: {job.ranks} rank{'s' * (job.ranks > 1)}{spares}, {duration(now - job.began)}: "
             f"{shlex.join(job.words)}")
    lines = [title, totals(running), ""]
    if len(rows) + 4 <= height:
        lines += table(rows, len({row.host for row in rows if row.host}) > 1)
    else:
        lines += summary(rows, running)
    return [cut(printable(line), max(1, width)) for line in lines[:max(1, height)]]


def totals(rows: Sequence[Row]) -> str:
    """The line of the whole job."""
    parts = [f"{len(rows)} running"]
    figures: list[tuple[str, str, Callable[[Any], str], Callable[[Any], Any]]] = [
        ("steps", "step", str, max), ("rate", "steps/s", figure, median_high), ("loss", "loss", figure, fmean),
        ("waiting", "waiting", percent, fmean), ("memory", "memory in all", size, sum)]
    for name, label, show, combine in figures:
        values = [getattr(row, name) for row in rows if getattr(row, name) is not None]
        if values:
            parts.append(f"{label} {show(combine(values))}")
    return ", ".join(parts)


def table(rows: Sequence[Row], with_hosts: bool) -> list[str]:
    """A heading, and a line for each rank."""
    shown = [HEADINGS, *[cells(row) for row in rows]]
    columns = [number for number in range(len(HEADINGS)) if number != 1 or with_hosts]
    widths = [max(len(row[number]) for row in shown) for number in columns]
    return ["  ".join(row[number].ljust(width) if number in (1, len(HEADINGS) - 1) else row[number].rjust(width)
                      for number, width in zip(columns, widths, strict=True)).rstrip() for row in shown]


def cells(row: Row) -> tuple[str, ...]:
    """The texts of a row."""
    def or_dash(value: Any, show: Callable[[Any], str]) -> str:
        return "-" if value is None else show(value)

    return (str(row.rank), row.host, or_dash(row.steps, str), or_dash(row.rate, figure), or_dash(row.loss, figure),
            or_dash(row.waiting, percent), or_dash(row.memory, size), row.doing)


def summary(rows: Sequence[Row], running: Sequence[Row]) -> list[str]:
    """For many ranks: quartiles of each figure, the ranks that wait least and most, and those that do not run."""
    lines = [f"{'':10}{'least':>12}{'a quarter':>12}{'half':>12}{'3 quarters':>12}{'most':>12}"]
    for name, show in (("steps", str), ("rate", figure), ("loss", figure), ("waiting", percent), ("memory", size)):
        values = sorted(value for row in running if (value := getattr(row, name)) is not None and value == value)
        if values:
            marks = [values[round(part * (len(values) - 1) / 4)] for part in range(5)]
            lines.append(f"{'steps/s' if name == 'rate' else name:10}" + "".join(f"{show(mark):>12}" for mark in marks))
    waits = sorted((row for row in running if row.waiting is not None), key=lambda row: row.waiting or 0.0)
    for title, chosen in (("wait least (the others wait for them)", waits[:SHOWN]), ("wait most", waits[::-1][:SHOWN])):
        if len(waits) > 1:
            lines += ["", title, *table(chosen, any(row.host for row in chosen))[1:]]
    others: dict[str, list[int]] = {}
    for row in rows:
        if not row.runs:
            others.setdefault(row.doing.partition(" for ")[0], []).append(row.rank)
    for doing, ranks in others.items():
        some = ", ".join(map(str, ranks[:16])) + ", ..." * (len(ranks) > 16)
        lines += ["", f"{len(ranks)} rank{'s' * (len(ranks) > 1)} {doing}: {some}"]
    return lines


def figure(value: float) -> str:
    """A number with four digits."""
    return f"{value:.4g}"


def percent(value: float) -> str:
    """A share in percent."""
    return f"{100 * value:.0f} %"


def size(value: float) -> str:
    """Bytes with a unit."""
    return f"{value / 2**30:.1f} GiB" if value >= 2**30 else f"{value / 2**20:.0f} MiB"


def duration(seconds: float) -> str:
    """A time as 12 s, 3:05, 1:00:00 or 2 d 1:00:00."""
    whole = max(0, int(seconds)) if math.isfinite(seconds) else 0
    days, rest = divmod(whole, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    clock = f"{hours}:{minutes:02}:{left:02}" if hours or days else f"{minutes}:{left:02}" if minutes else f"{left} s"
    return f"{days} d {clock}" if days else clock


def cut(text: str, width: int) -> str:
    """The beginning of a text that fits into `width` columns. East Asian letters take two columns."""
    if text.isascii():
        return text[:width]
    for at, letter in enumerate(text):
        width -= 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if width < 0:
            return text[:at]
    return text


def printable(text: str) -> str:
    """The text without characters that a terminal interprets as commands."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


# --- in the terminal ----------------------------------------------------------------------------------------------------


def look(job: Job) -> list[Row]:
    """The current rows. It also requests hosts to exchange their files, which the next look finds."""
    if job.spread:
        with contextlib.suppress(OSError), open(os.path.join(job.folder, WATCHED), "w"):
            pass
    return rows_of(job, time.time())


def once(job: Job) -> list[str]:
    """All lines, printed once; across several hosts PATIENCE later, when the other hosts have responded."""
    until = time.monotonic() + PATIENCE
    while True:
        rows = look(job)
        unheard = any("not heard from" in row.doing for row in rows)
        if not (job.spread and unheard) or time.monotonic() > until:
            return screen(job, rows, time.time(), sys.maxsize, sys.maxsize)
        time.sleep(0.2)


def live(job: Job) -> None:
    """Draw the screen each second until the job has ended, or Ctrl-C."""
    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before, last = signal.signal(signal.SIGTERM, stop), "the job has ended"
    sys.stdout.write("\x1b[?25l\x1b[2J")             # hide the cursor, clear the screen
    try:
        while True:
            width, height = shutil.get_terminal_size()
            if os.path.isdir(job.folder):
                lines = screen(job, look(job), time.time(), width, height - 1)
            else:                                    # --restarts: another one may follow
                following = [other for other in jobs(str(job.process)) if other.process == job.process]
                if not following and not runs(job):
                    break
                job = following[0] if following else job
                lines = [f"dprun {job.process}: the job has ended; dprun still runs"[:width]]
            sys.stdout.write("\x1b[H" + "".join(f"\x1b[2K{line}\r\n" for line in lines) + "\x1b[J")
            sys.stdout.flush()
            time.sleep(PERIOD)
    except KeyboardInterrupt:
        last = ""
    finally:
        sys.stdout.write("\x1b[?25h" + (f"{last}\n" if last else ""))
        sys.stdout.flush()
        signal.signal(signal.SIGTERM, before)
