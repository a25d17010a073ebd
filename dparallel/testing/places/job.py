"""The session's side of a job of MPI ranks that tests are sent to, one after the other.

Ranks are started once for all tests of a size: MPI, imports and collecting cost seconds, a test milliseconds. Tests are
isolated where it matters: they run at their turn and not before, and a job in which a test failed, crashed or took too
long is ended at once; the next test gets a new one.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import launch
from launch.job import dies_with_parent

from ...comm.environment import PLACES_JOB, environment

START = 120.0                        # seconds that ranks may take until the first test begins
PATIENCE = 1.0                       # seconds that other ranks get once one has failed
GRACE = 8.0                          # seconds for a job to end when it is told to; dprun itself uses force after 5
POLL = 0.005
# `python -m launch` would look in the user's folder first
DPRUN = (f"import sys; sys.path[0] = {str(Path(launch.__file__).parent.parent)!r}; "
         "from launch.cli import main; sys.exit(main())")


class Sending(NamedTuple):
    """A test as the ranks need to know it."""

    name: str                                        # its node id
    path: str                                        # of its file
    limit: float                                     # seconds


class Outcome(NamedTuple):
    """What came of a test: each rank's reports by phase, or why there are none."""

    reports: dict[int, dict[str, Any]]               # rank -> phase -> report
    when: dict[int, float]                           # rank -> time of its last report
    problem: str                                     # a crash, a time limit, a file that can't be imported


class RankJob:
    """`size` ranks that run the given tests, in their order, when asked for."""

    def __init__(self, size: int, tests: Sequence[Sending], config: pytest.Config) -> None:
        self.size, self.tests = size, list(tests)
        self.folder = Path(tempfile.mkdtemp(prefix="places-"))
        self.asked = -1                              # the last test asked for
        self.fit = True                              # whether the next test can be sent
        self.sound = False                           # whether a test has begun, and nothing is known that rules others out
        self.logs = [_Log(self.folder / f"{rank}.log") for rank in range(size)]
        self.records: list[list[dict[str, Any]]] = [[] for _ in range(size)]
        (self.folder / "requests").touch()
        (self.folder / "job.json").write_text(json.dumps({
            "names": [test.name for test in tests], "paths": list(dict.fromkeys(test.path for test in tests)),
            "limits": [test.limit for test in tests]}))
        self.output = open(self.folder / "output", "wb")             # noqa: SIM115  # the ranks', beside what pytest captures
        self.process = subprocess.Popen(
            [sys.executable, "-c", DPRUN, "-q", "-n", str(size), "--threads", "1", "-m", "pytest", *_arguments(config)],
            cwd=config.invocation_params.dir, env={**environment.without_pytest(), PLACES_JOB: str(self.folder)},
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True,
            preexec_fn=dies_with_parent())

    def number(self, name: str) -> int:
        """The number of a test that can be asked for next; -1 if it can't."""
        for number in range(self.asked + 1, len(self.tests)):
            if self.fit and self.tests[number].name == name:
                return number
        return -1

    def run(self, number: int, following: int) -> Outcome:
        """Ask for a test and wait for it; `following` is the one that will be asked for next, or -1."""
        self.asked = number
        with open(self.folder / "requests", "a", encoding="utf-8") as file:
            file.write(f"{number} {following}\n")
        problem = self.wait(self.tests[number])
        outcome = self.outcome(self.tests[number].name, problem)
        if problem or any(bad(report) for phases in outcome.reports.values() for report in phases.values()):
            self.end()
        return outcome

    def wait(self, test: Sending) -> str:
        """Until all ranks have done the test, or why that will not be."""
        late, failed_at, begun = time.monotonic() + START, float("inf"), False   # begun: this test
        while True:
            ended = self.process.poll() is not None              # asked before the look: what came before is then seen
            self.read()
            done = [any(record.get("done") == test.name for record in records) for records in self.records]
            stopped = [record["stopped"] for records in self.records for record in records if "stopped" in record]
            if all(done):
                self.sound = True
                return ""
            if stopped:
                self.sound = False
                rank = next(rank for rank, records in enumerate(self.records) if any("stopped" in r for r in records))
                return f"rank {rank} of {self.size}: {stopped[0]}"
            now = time.monotonic()
            if not begun and any(record.get("started") == test.name for records in self.records for record in records):
                self.sound, begun, late = True, True, now + test.limit
            if failed_at > now and self.failed(test.name):
                failed_at = now
            if ended:
                return "" if self.failed(test.name) else self.crash(test.name)
            if now > failed_at + PATIENCE:
                return "" if self.failed(test.name) else "the ranks disagree"
            if now > late + (PATIENCE if begun else 0):
                return self.too_late(test, begun, done)
            time.sleep(POLL)

    def read(self) -> None:
        """Take in what the ranks have written."""
        for log, records in zip(self.logs, self.records, strict=True):
            records.extend(log.read())

    def failed(self, name: str) -> bool:
        """Whether the test has failed on a rank (or was expected to, and did)."""
        return any(record.get("item") == name and bad(record["report"]) for records in self.records for record in records)

    def outcome(self, name: str, problem: str) -> Outcome:
        """All ranks' reports on a test."""
        found: dict[int, dict[str, Any]] = {}
        when: dict[int, float] = {}
        for rank, records in enumerate(self.records):
            for record in records:
                if record.get("item") == name:
                    found.setdefault(rank, {})[record["report"]["when"]] = record["report"]
                    if record["report"]["outcome"] == "failed":
                        when.setdefault(rank, record["time"])
            records.clear()
        return Outcome(found, when, problem)

    def crash(self, name: str) -> str:
        """What is known of a job that ended in the middle of a test."""
        self.output.flush()
        text = (self.folder / "output").read_text(errors="replace").strip()
        return f"the job of {self.size} ranks ended in {name}, with exit code {self.process.returncode}:\n{text}"

    def too_late(self, test: Sending, begun: bool, done: list[bool]) -> str:
        """Where the ranks are that are late."""
        if not begun:
            return (f"{self.size} MPI ranks did not begin within {START:g} s\n"
                    + (self.folder / "output").read_text(errors="replace"))
        text = f"{test.name} took longer than {test.limit:g} s on {self.size} ranks"
        where: dict[str, list[int]] = {}
        for rank in range(self.size):
            path = self.folder / f"{rank}.stack"
            stack = _own(path.read_text()) if path.exists() else ""
            where.setdefault("has done it" if done[rank] else f"is at (most recent call first):\n{stack}", []).append(rank)
        for words, ranks in where.items():
            text += f"\nrank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))} {words}"
        return text

    def end(self, patience: float = 0.0) -> None:
        """End the job and all of its processes; patience in seconds for it to end by itself."""
        self.fit = False
        with open(self.folder / "requests", "a", encoding="utf-8") as file:
            file.write("-1 -1\n")
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.terminate()                 # dprun ends its ranks
            try:
                self.process.wait(GRACE)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)      # mpirun dies with it
                self.process.wait()
        self.output.close()
        for log in self.logs:
            log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def bad(report: dict[str, Any]) -> bool:
    """Whether a test failed, also as was expected: other ranks may be waiting for this one."""
    return report["outcome"] == "failed" or (report["outcome"] == "skipped" and "wasxfail" in report)


class _Log:
    """A file of lines that is still being written."""

    def __init__(self, path: Path) -> None:
        self.path, self.rest = path, b""
        self.file: Any = None

    def read(self) -> list[dict[str, Any]]:
        """The records that have come since the last time."""
        if self.file is None:
            try:
                self.file = open(self.path, "rb")    # noqa: SIM115  # until close()
            except FileNotFoundError:
                return []
        *lines, self.rest = (self.rest + self.file.read()).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Close the file."""
        if self.file is not None:
            self.file.close()


def _arguments(config: pytest.Config) -> list[str]:
    """pytest's arguments for the ranks: the session's own, so that configuration and collection are the same."""
    arguments = [*map(str, config.invocation_params.args), "-p", f"{__package__}.plugin"]
    arguments += ["-n0"] if config.pluginmanager.hasplugin("xdist") and not hasattr(config, "workerinput") else []
    return arguments + (["--no-cov"] if config.pluginmanager.hasplugin("_cov") else [])


def _own(stack: str) -> str:
    """faulthandler's text: the main thread's frames, without the plugin's and pytest's around the test."""
    frames = stack.rpartition("Thread ")[2].split("\n")[1:] if "Thread " in stack else stack.split("\n")
    around = (str(Path(__file__).parent), "/_pytest/", "/pluggy/")
    outer = next((number for number, line in enumerate(frames) if any(path in line for path in around)), len(frames))
    return "\n".join(frames[:outer]).rstrip()
