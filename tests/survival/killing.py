"""One job of training.py whose ranks are killed: what is to be killed and when, and what came of it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from journal import History, Reader
from moments import claimed, page
from tasks import start
from undisturbed import weights_problems

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
STARTING, QUIET = 90.0, 15.0         # seconds without a line that are a hang: at the start, later
NOT_REACHED = 30.0                   # seconds in which a moment has to come
FROZEN_LIMIT = 2.0                   # seconds after which a frozen rank is to be taken for dead
AT_A_MOMENT = ("batch", "forward", "bucket in flight", "between buckets", "end of backward", "optimiser step", "end of the step",
               "in run.step()", "after the step", "evaluation", "end of the epoch")
SPARE = -1
JOB = 1000                           # as in training.py
IN_CHECKPOINTS = ("saving", "writing")
AGAIN = ("settling", "begin", "construction", "keep", "putting back")            # moments of a recovery: a second rank dies there


class Death(NamedTuple):
    """A process that was killed (or frozen), when, and in which moment."""

    process: int
    rank: int
    time: float
    moment: str


@dataclass
class Blow:
    """A group of deaths: one, or several within one recovery. `name` is what the report calls it."""

    name: str
    orders: list[dict[str, Any]] = field(default_factory=list)   # processes kill themselves at moments (moments.py)
    signals: list[tuple[float, int]] = field(default_factory=list)       # or are killed: seconds after the one before, rank;
                                                     # SPARE: a process that is none yet
    signal: str = "SIGKILL"

    @property
    def deaths(self) -> int:
        return len(self.orders) + len(self.signals)


@dataclass
class Plan:
    """A job: a task of tasks.py on so many ranks, and the blows in order. grow: a dead rank's place is filled again, by one of
    so many spares (None: as many as die), and when there is none, in a new job."""

    task: str
    shard: str = "none"
    size: int = 3
    grow: bool = False
    checkpoints: bool = False
    spares: int | None = None
    blows: list[Blow] = field(default_factory=list)
    seed: int = 0

    @property
    def name(self) -> str:
        return f"{self.task}, shard {self.shard}, {self.size} ranks" + ", grow" * self.grow + ", checkpoints" * self.checkpoints + (
            "" if self.spares is None else f", {self.spares} spare")

    @property
    def deaths(self) -> int:
        return sum(blow.deaths for blow in self.blows)

    @property
    def frozen(self) -> bool:
        return any(blow.signal == "SIGSTOP" for blow in self.blows)


@dataclass
class Recovery:
    """What came of a blow: seconds from its last death until all ranks were at work, and, if the job is to grow, until there were
    as many as before, which mostly is the same moment: newcomers are there at once."""

    name: str
    deaths: list[Death]
    seconds: float = np.inf
    grown: float = np.inf
    left: int = 0                                    # ranks that went on


@dataclass
class Outcome:
    """What came of a job. failed: "" or how it ended otherwise than it should have."""

    plan: Plan
    recoveries: list[Recovery] = field(default_factory=list)
    hang: str = ""
    failed: str = ""
    lost: int = 0
    doubled: int = 0
    redone: int = 0
    steps: int = 0
    distance: float = np.inf
    problems: list[str] = field(default_factory=list)
    folder: str = ""
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return not (self.hang or self.failed or self.problems or self.lost or self.doubled)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Hang(Exception):
    """Nothing has been written for too long."""


class Failure(Exception):
    """The job has ended, or does not come where it is to be hit."""


class Killer:
    """Runs the job of a plan, and kills. Its folder stays if something was wrong."""

    def __init__(self, plan: Plan, command: list[str] | None = None, quiet: float = QUIET) -> None:
        self.plan, self.quiet, self.command = plan, quiet, command
        self.random = random.Random(plan.seed)
        self.folder = Path(tempfile.mkdtemp(prefix="kills-"))
        self.reader, self.numbers = Reader(self.folder), 0
        self.ranks: dict[int, dict[int, int]] = {}           # attempt -> process -> rank
        self.sizes: dict[int, int] = {}
        self.at_work: dict[int, dict[int, float]] = {}       # attempt -> process -> since when
        self.first: dict[int, int] = {}                      # attempt -> its first step
        self.up: set[int] = set()                            # all processes that live
        self.last_line = time.monotonic()
        self.outcome = Outcome(plan, folder=str(self.folder))

    def run(self) -> Outcome:
        """The whole job."""
        begun = time.monotonic()
        self.order(first := [blow for blow in self.plan.blows[:1] if blow.name.startswith("first ")])
        with open(self.folder / "output", "w") as output:
            self.process = subprocess.Popen(self.command or self.dprun(), cwd=ROOT, env=environment(), stdout=output,
                                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            try:
                self.kill_one_after_another(first)
                code = self.wait_for_end()
                if code:
                    self.outcome.failed = f"exit code {code}"
            except Hang as error:
                self.outcome.hang = f"{error}\n{self.stacks()}"
            except Failure as error:
                self.outcome.failed = str(error)
            finally:
                self.end()
        self.judge()
        self.outcome.seconds = time.monotonic() - begun
        if self.outcome.good:
            shutil.rmtree(self.folder, ignore_errors=True)
        return self.outcome

    def dprun(self) -> list[str]:
        """The job's command."""
        plan = self.plan
        options = ["--survive", "--min-n", "1", "-q", "-n", str(plan.size), "--threads", "1"]
        options += ["--grow", "--spares", str(plan.spares or max(1, plan.deaths))] if plan.grow else []
        options += ["--frozen", str(FROZEN_LIMIT)] if plan.frozen else []
        script = [str(HERE / "training.py"), str(self.folder), plan.task, "--shard", plan.shard, *["--checkpoints"] * plan.checkpoints]
        return [sys.executable, "-m", "launch", *options, *script]

    # --- kill ---------------------------------------------------------------------------------------------------------------

    def kill_one_after_another(self, first: list[Blow]) -> None:
        """Each blow when the job has recovered from the one before, and has grown again if it is to."""
        if not first:
            self.until(lambda: self.complete(0, self.plan.size), STARTING)
        for blow in self.plan.blows:
            attempt = max(self.ranks, default=-1)
            if blow not in first:
                self.pause(self.random.uniform(0.02, 0.3))
                attempt = max(self.ranks)
                size, ranks = self.sizes[attempt], [rank for _, rank in blow.signals] + [order["rank"] for order in blow.orders]
                if self.stays_small() and (blow.deaths >= size or max(ranks) >= size - (blow.deaths > 1)):
                    continue                         # planned for more ranks than there are
                self.order([blow])
            deaths = self.signalled(blow, attempt) + self.ordered(blow)
            recovery = Recovery(blow.name, deaths)
            self.outcome.recoveries.append(recovery)
            gone = {death.process for death in deaths}
            self.up -= gone
            limit = STARTING if blow in first or self.plan.spares else self.quiet + FROZEN_LIMIT
            self.until(lambda gone=gone: self.recovered(gone), limit)
            if self.plan.grow:
                self.until(lambda: self.complete(max(self.ranks), self.plan.size) or self.stays_small(), limit)
                recovery.grown = np.nan if self.stays_small() else np.inf

    def order(self, blows: list[Blow]) -> None:
        """Write down the orders of these blows, with numbers."""
        for blow in blows:
            for order in blow.orders:
                order["number"], self.numbers = self.numbers, self.numbers + 1
                order["signal"] = blow.signal
            part = self.folder / "orders.part"
            part.write_text(json.dumps(blow.orders))
            part.replace(self.folder / "orders.json")

    def signalled(self, blow: Blow, attempt: int) -> list[Death]:
        """Kill what the blow says, by the ranks of this attempt."""
        deaths = []
        processes = {rank: process for process, rank in self.ranks.get(attempt, {}).items()}
        for wait, rank in blow.signals:
            self.pause(wait)
            process = processes[rank] if rank != SPARE else self.spare()
            now = time.monotonic()
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, getattr(signal, blow.signal))
            deaths.append(Death(process, rank, now, page(self.folder, process)))
        return deaths

    def spare(self) -> int:
        """A process that waits for its turn."""
        def waiting() -> set[int]:
            return self.up & set(self.known()) - {process for members in self.ranks.values() for process in members}

        self.until(waiting, self.quiet)
        return min(waiting())

    def ordered(self, blow: Blow) -> list[Death]:
        """Wait until the orders of the blow have been followed."""
        numbers = [order["number"] for order in blow.orders]
        if not self.until(lambda: all(claimed(self.folder, number) for number in numbers), NOT_REACHED, lines=False):
            missing = [order for order in blow.orders if not claimed(self.folder, order["number"])]
            raise Failure(f"not reached in {NOT_REACHED:g} s: {missing}")
        claims = [claimed(self.folder, number) or {} for number in numbers]
        return [Death(claim["process"], claim["rank"], claim["time"], claim["moment"]) for claim in claims]

    # --- watch --------------------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Read what is new."""
        for line in self.reader.more():
            self.last_line = time.monotonic()
            if line["what"] == "up":
                self.up.add(line["process"])
            elif line["what"] == "member":
                self.ranks.setdefault(line["attempt"], {})[line["process"]] = line["rank"]
                self.sizes[line["attempt"]] = line["size"]
            elif line["what"] == "kept":
                self.first[line["attempt"]] = line["first"]
            elif line["what"] in ("batch", "end"):
                self.at_work.setdefault(line["attempt"], {}).setdefault(line["process"], line["time"])

    def complete(self, attempt: int, size: int = 0) -> bool:
        """Whether all ranks of this attempt are at work, and (size) whether they are so many."""
        return len(self.at_work.get(attempt, ())) == self.sizes.get(attempt) and self.sizes[attempt] >= size

    def stays_small(self) -> bool:
        """Whether the job has fewer ranks than it is to have, and does not grow again: without spares another job follows only
        where this one has finished a step since it began."""
        attempt = max(self.ranks, default=-1)
        if attempt % JOB == 0 or not self.complete(attempt) or self.sizes[attempt] >= self.plan.size or self.plan.spares is None:
            return False
        begun = min((first for other, first in self.first.items() if other // JOB == attempt // JOB), default=-1)
        return self.first.get(attempt) == begun

    def recovered(self, gone: set[int]) -> bool:
        """Whether there is an attempt after all those of the dead processes, whose ranks are all at work."""
        was = max((attempt for attempt, members in self.ranks.items() if gone & set(members)), default=-1)
        return any(attempt > was and self.complete(attempt) for attempt in self.ranks)

    def until(self, condition: Any, limit: float, lines: bool = True) -> bool:
        """Wait until it holds. Hang if meanwhile nothing is written for `limit` seconds; (not lines) False if it does not come
        in that time. Failure if the job ends."""
        begun = self.last_line = time.monotonic()
        while not condition():
            self.look()
            if condition():
                break
            if (code := self.process.poll()) is not None:
                self.look()
                if condition():
                    break
                raise Failure(f"the job ended with exit code {code}")
            now = time.monotonic()
            if now > self.last_line + max(limit, self.quiet) or (lines and now > begun + 4 * limit):
                raise Hang(f"nothing for {now - self.last_line:.0f} s, {now - begun:.0f} s after what was waited from")
            if not lines and now > begun + limit:
                return False
            time.sleep(0.003)
        return True

    def pause(self, seconds: float) -> None:
        """Let the job run."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.01))
            self.look()

    def wait_for_end(self) -> int:
        """Let the ranks end with their epoch."""
        self.pause(self.random.uniform(0.02, 0.2))
        (self.folder / "enough").touch()
        begun = time.monotonic()
        while self.process.poll() is None:
            self.look()
            now = time.monotonic()
            if now > max(self.last_line, begun) + self.quiet:
                raise Hang(f"the job does not end; nothing for {now - self.last_line:.0f} s")
            time.sleep(0.01)
        return int(self.process.returncode)

    # --- end ----------------------------------------------------------------------------------------------------------------

    def known(self) -> list[int]:
        """The processes of the job that are still there."""
        here = []
        for path in self.folder.glob("*.lines"):
            with contextlib.suppress(OSError):
                if str(self.folder).encode() in Path(f"/proc/{path.stem}/cmdline").read_bytes():
                    here.append(int(path.stem))
        return here

    def stacks(self) -> str:
        """Where the processes are that hang."""
        for process in self.known():
            os.kill(process, signal.SIGUSR2)
        time.sleep(0.5)
        here = [(process, page(self.folder, process), (self.folder / f"{process}.stack").read_text()) for process in self.known()]
        return "\n".join(f"process {process}, after {moment!r}:\n{stack}" for process, moment, stack in here)

    def end(self) -> None:
        """End what is left."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(3)
            self.process.kill()
            self.process.wait()
        for process in self.known():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)

    def judge(self) -> None:
        """What the lines and the weights say."""
        outcome, plan = self.outcome, self.plan
        self.reader.more()
        history = History(self.reader.lines, len(start(plan.task)[1]))
        for recovery in outcome.recoveries:
            last = max(recovery.deaths, key=lambda death: death.time)
            if last.rank == SPARE:                   # there is nothing to recover from
                recovery.seconds, recovery.grown = 0.0, 0.0
                continue
            found = [history.recovery(death.process) for death in recovery.deaths]
            attempt, at = max(found)
            recovery.seconds, recovery.left = at - last.time, history.size.get(attempt, 0)
            if plan.grow and not np.isnan(recovery.grown):
                recovery.grown = history.growth(attempt, plan.size) - last.time
        if outcome.hang or outcome.failed:
            return
        outcome.lost, outcome.doubled, outcome.steps, outcome.redone = history.lost, history.doubled, len(history.steps), history.redone()
        outcome.problems = history.problems
        if outcome.redone > 1:
            outcome.problems.append(f"{outcome.redone} finished steps were done again")
        outcome.distance, wrong = weights_problems(self.folder, plan.task, history)
        outcome.problems += wrong


def environment() -> dict[str, str]:
    """Of dprun: the packages of this folder, and byte code kept."""
    own = {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))), "PYTHONDONTWRITEBYTECODE": ""}
    return {**os.environ, **own}
