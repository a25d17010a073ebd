"""RankJob: a job of MPI ranks to which the pytest session sends tests, one after another.

The ranks are started once for all tests of a size: MPI, imports and collection take seconds, a test milliseconds. A job in
which a test failed, crashed or took too long is ended at once; the next test gets a new one.
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
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import pytest

import dprun

from ...comm.environment import RANKS_JOB, environment

if TYPE_CHECKING:
    from launch.tie import popen
else:                                                # dprun.py: ROS 2 has a package launch too
    from dprun.tie import popen

START_SECONDS = 120.0                        # the limit in seconds until the first test begins
FAILURE_SECONDS = 1.0                       # seconds that other ranks get after one has failed
END_SECONDS = 8.0                          # seconds until a job is killed; dprun kills its ranks after 5
POLL_SECONDS = 0.005
# `python -m dprun` would look in the user's folder first
DPRUN = (f"import sys; sys.path[0] = {str(Path(dprun.__file__).parent)!r}; "
         "from dprun import main; sys.exit(main())")


class TestRequest(NamedTuple):
    """A test for the ranks to run."""

    name: str                                        # the node id
    path: str                                        # of the test's file
    limit: float                                     # in seconds


class Outcome(NamedTuple):
    """The outcome of a test: each rank's reports by phase, or a problem."""

    reports: dict[int, dict[str, Any]]               # rank -> phase -> report
    when: dict[int, float]                           # rank -> time of its last report
    problem: str                                     # the text of a crash, a time limit, an import error; ""


class RankJob:
    """`size` ranks that run the given tests, in their order, each at a request."""

    def __init__(self, size: int, tests: Sequence[TestRequest], config: pytest.Config) -> None:
        self.size: int = size
        self.tests: list[TestRequest] = list(tests)
        self.folder: Path = Path(tempfile.mkdtemp(prefix="pytest-ranks-"))
        self.last_requested: int = -1                         # the number of the last requested test
        self.accepts_tests: bool = True                        # False after end()
        self.has_started: bool = False                     # whether a test has started, and no rank has stopped
        self.logs: list[_Log] = [_Log(self.folder / f"{rank}.log") for rank in range(size)]
        self.records: list[list[dict[str, Any]]] = [[] for _ in range(size)]
        (self.folder / "requests").touch()
        (self.folder / "job.json").write_text(json.dumps({
            "names": [test.name for test in tests], "paths": list(dict.fromkeys(test.path for test in tests)),
            "limits": [test.limit for test in tests]}))
        self.output: BinaryIO = open(self.folder / "output", "wb")   # noqa: SIM115  # of the ranks, uncaptured
        self.process: subprocess.Popen[bytes] = popen(
            [sys.executable, "-c", DPRUN, "-q", "-n", str(size), "--threads", "1", "-m", "pytest", *_arguments(config)],
            cwd=config.invocation_params.dir, env={**environment.without_pytest(), RANKS_JOB: str(self.folder)},
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True)

    def number(self, name: str) -> int:
        """The number of a test that can be requested next; -1 if it can't."""
        for number in range(self.last_requested + 1, len(self.tests)):
            if self.accepts_tests and self.tests[number].name == name:
                return number
        return -1

    def run(self, number: int, following: int) -> Outcome:
        """Request a test and wait for its outcome. following: the number of the next request, or -1."""
        self.last_requested = number
        with open(self.folder / "requests", "a", encoding="utf-8") as file:
            file.write(f"{number} {following}\n")
        problem = self.wait(self.tests[number])
        outcome = self.outcome(self.tests[number].name, problem)
        if problem or any(is_failure(report) for phases in outcome.reports.values() for report in phases.values()):
            self.end()
        return outcome

    def wait(self, test: TestRequest) -> str:
        """Wait until all ranks have finished the test. Returns "", or the text of the problem."""
        deadline, failed_at, begun = time.monotonic() + START_SECONDS, float("inf"), False        # begun: this test
        while True:
            ended = self.process.poll() is not None              # polled before reading, so that all records are read
            self.read()
            done = [any(record.get("done") == test.name for record in records) for records in self.records]
            stopped = [record["stopped"] for records in self.records for record in records if "stopped" in record]
            if all(done):
                self.has_started = True
                return ""
            if stopped:
                self.has_started = False
                rank = next(rank for rank, records in enumerate(self.records) if any("stopped" in r for r in records))
                return f"rank {rank} of {self.size}: {stopped[0]}"
            now = time.monotonic()
            if not begun and any(record.get("started") == test.name for records in self.records for record in records):
                self.has_started, begun, deadline = True, True, now + test.limit
            if failed_at > now and self.failed(test.name):
                failed_at = now
            if ended:
                return "" if self.failed(test.name) else self.crash_text(test.name)
            if now > failed_at + FAILURE_SECONDS:
                return "" if self.failed(test.name) else "the ranks disagree"
            if now > deadline + (FAILURE_SECONDS if begun else 0):
                return self.timeout_text(test, begun, done)
            time.sleep(POLL_SECONDS)

    def read(self) -> None:
        """Read the records that the ranks have written."""
        for log, records in zip(self.logs, self.records, strict=True):
            records.extend(log.read())

    def failed(self, name: str) -> bool:
        """Whether the test has failed on a rank, as expected or not."""
        return any(record.get("item") == name and is_failure(record["report"])
                   for records in self.records for record in records)

    def outcome(self, name: str, problem: str) -> Outcome:
        """All ranks' reports on a test."""
        reports: dict[int, dict[str, Any]] = {}
        when: dict[int, float] = {}
        for rank, records in enumerate(self.records):
            for record in records:
                if record.get("item") == name:
                    reports.setdefault(rank, {})[record["report"]["when"]] = record["report"]
                    if record["report"]["outcome"] == "failed":
                        when.setdefault(rank, record["time"])
            records.clear()
        return Outcome(reports, when, problem)

    def crash_text(self, name: str) -> str:
        """The problem of a job that ended during a test: its exit code and output."""
        self.output.flush()
        text = (self.folder / "output").read_text(errors="replace").strip()
        return f"the job of {self.size} ranks ended in {name}, with exit code {self.process.returncode}:\n{text}"

    def timeout_text(self, test: TestRequest, begun: bool, done: list[bool]) -> str:
        """The problem of a test that took too long: the stack of each rank."""
        if not begun:
            return (f"{self.size} MPI ranks did not begin within {START_SECONDS:g} s\n"
                    + (self.folder / "output").read_text(errors="replace"))
        text = f"{test.name} took longer than {test.limit:g} s on {self.size} ranks"
        where: dict[str, list[int]] = {}
        for rank in range(self.size):
            path = self.folder / f"{rank}.stack"
            stack = _test_frames(path.read_text()) if path.exists() else ""
            where.setdefault("has done it" if done[rank] else f"is at (most recent call first):\n{stack}", []).append(rank)
        for words, ranks in where.items():
            text += f"\nrank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))} {words}"
        return text

    def end(self, patience: float = 0.0) -> None:
        """End the job and all its processes, after `patience` seconds in which it may end by itself."""
        self.accepts_tests = False
        with open(self.folder / "requests", "a", encoding="utf-8") as file:
            file.write("-1 -1\n")
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.terminate()                 # dprun ends its ranks
            try:
                self.process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)      # mpirun dies with it
                self.process.wait()
        self.output.close()
        for log in self.logs:
            log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def is_failure(report: dict[str, Any]) -> bool:
    """Whether a report is of a failure, also an expected one: other ranks may wait for this rank."""
    return report["outcome"] == "failed" or (report["outcome"] == "skipped" and "wasxfail" in report)


class _Log:
    """A file of JSON lines that a rank is still writing."""

    def __init__(self, path: Path) -> None:
        self.path, self.rest = path, b""
        self.file: BinaryIO | None = None

    def read(self) -> list[dict[str, Any]]:
        """The records that were written since the last call."""
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
    """The arguments of pytest on the ranks: those of the session, so that configuration and collection are the same."""
    arguments = [*map(str, config.invocation_params.args), "-p", f"{__package__}.plugin"]
    arguments += ["-n0"] if config.pluginmanager.hasplugin("xdist") and not hasattr(config, "workerinput") else []
    return arguments + (["--no-cov"] if config.pluginmanager.hasplugin("_cov") else [])


def _test_frames(stack: str) -> str:
    """The main thread's frames of a text of faulthandler, without those of the plugin and pytest."""
    frames = stack.rpartition("Thread ")[2].split("\n")[1:] if "Thread " in stack else stack.split("\n")
    outer_paths = (str(Path(__file__).parent), "/_pytest/", "/pluggy/")
    outer = next((number for number, line in enumerate(frames) if any(path in line for path in outer_paths)), len(frames))
    return "\n".join(frames[:outer]).rstrip()
