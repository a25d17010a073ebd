"""pytest as one rank of an MPI job that a test session started for its tests (see job.py), or that the user started.

In a job of the user (`mpirun -n 2 python -m pytest`) marked tests run on all ranks, and others are deselected. The first
rank that fails ends the job; the lowest rank that fails reports it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest

from ...comm import launched_size, world
from ...comm.environment import RANKS_JOB, environment
from .worlds import requested_ranks

REPORT_DELAY = 1.0                           # seconds that a rank waits for each lower rank to report the same failure
POLL_SECONDS = 0.005


class UserJobRank:
    """The hooks of a rank of a job that the user started."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.stderr: int = _stderr(config)
        if world().rank:
            silence_terminal(config)

    def pytest_report_header(self) -> str:
        """The rank and the size of the job."""
        return f"rank {world().rank} of {world().size}"

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[Any]) -> None:
        """Deselect the tests that are not marked."""
        others = [item for item in items if item.get_closest_marker("ranks") is None]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item.get_closest_marker("ranks") is not None]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Run the test with a time limit, after which all threads' tracebacks are printed and the job ends."""
        requested = requested_ranks(item, self.config)
        if requested is not None:
            faulthandler.dump_traceback_later(requested.timeout, exit=True, file=self.stderr)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """End the job after a failure."""
        if report.failed:
            printed = "".join(f"\n--- {title} ---\n{text}" for title, text in report.sections)
            self.end(f"failed in {report.when}: {report.nodeid}", report.longreprtext + printed)

    def pytest_collectreport(self, report: Any) -> None:
        """End the job if a file can't be collected."""
        if report.failed:
            self.end(f"can't collect {report.nodeid}", report.longreprtext)

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        """End the job if pytest stopped for another reason."""
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            self.end("pytest stopped", str(exitstatus))

    def end(self, title: str, text: str) -> None:
        """End the job on all ranks, with a text."""
        time.sleep(REPORT_DELAY * world().rank)
        sys.stdout.flush()
        world().abort(f"{title}\n{text}")


class JobRank:
    """The hooks of a rank of a session's job: run the tests that the session requests, one after another, and report.

    Files in the folder: `job.json`, the paths to collect and the tests' ids and time limits; `requests`, a line `number
    next` for each requested test and the next one (-1: none); `<rank>.log`, this rank's reports; `<rank>.stack`.
    """

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self.config: Any = config
        self.folder: Path = folder
        self.job: Any = json.loads((folder / "job.json").read_text())
        self.rank: int = world().rank
        self.log: TextIO = open(folder / f"{self.rank}.log", "w", encoding="utf-8")  # noqa: SIM115  # to the end
        self.stack: TextIO = open(folder / f"{self.rank}.stack", "w", encoding="utf-8")  # noqa: SIM115
        self.read: int = 0                           # the number of requests read
        silence_terminal(config)

    def write(self, **record: Any) -> None:
        """Write a record for the session."""
        self.log.write(json.dumps({"time": time.time(), **record}) + "\n")
        self.log.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[Any]) -> None:
        """Select the tests of job.json, in the session's order."""
        found = {item.nodeid: item for item in items}
        missing = [name for name in self.job["names"] if name not in found]
        if missing:
            self.write(stopped=f"{missing[0]} was not collected")
        items[:] = [found[name] for name in self.job["names"] if name in found]

    def pytest_collectreport(self, report: Any) -> None:
        """Report a file that this rank can't collect."""
        if report.failed:
            self.write(stopped=f"can't collect {report.nodeid}\n{report.longreprtext}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the requested tests until the session ends the job."""
        items = session.items if len(session.items) == len(self.job["names"]) else []
        expected = -1
        while items:
            number, following = self.request()
            if number < 0:
                break
            for late in range(expected, number) if expected >= 0 else ():
                self.run(items, late, late + 1)      # expected, but skipped by the session, and so here
            self.run(items, number, following)
            expected = following
        return True

    def request(self) -> tuple[int, int]:
        """The next request; (-1, -1) at the end, or if the session has ended."""
        while True:
            try:
                lines = (self.folder / "requests").read_text().split("\n")[:-1]
            except FileNotFoundError:
                return -1, -1
            if len(lines) > self.read:
                self.read += 1
                number, following = lines[self.read - 1].split()
                return int(number), int(following)
            time.sleep(POLL_SECONDS)

    def run(self, items: list[Any], number: int, following: int) -> None:
        """Run one test. After its time limit the stacks of all threads are written for the session."""
        item = items[number]
        self.write(started=item.nodeid)
        faulthandler.dump_traceback_later(self.job["limits"][number], file=self.stack)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=items[following] if following >= 0 else None)
        faulthandler.cancel_dump_traceback_later()
        self.write(done=item.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write each report for the session."""
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.write(item=report.nodeid, report=json.loads(json.dumps(data, default=str)))


def _stderr(config: pytest.Config) -> int:
    """A file descriptor of the standard error that pytest does not capture."""
    manager: Any = config.pluginmanager.getplugin("capturemanager")
    with manager.global_and_fixture_disabled() if manager is not None else contextlib.nullcontext():
        return os.dup(2)


def silence_terminal(config: pytest.Config) -> None:
    """Unregister pytest's terminal reporter."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        config.pluginmanager.unregister(reporter)


def prepare(config: pytest.Config) -> None:
    """On a rank of a session's job: collect the paths of job.json, and disable options that concern the session only."""
    job = environment.text(RANKS_JOB)
    if not job:
        return
    folder = Path(job)
    settings = {"usepdb": False, "xmlpath": None, "maxfail": 0, "lf": False, "failedfirst": False, "newfirst": False,
                "stepwise": False, "keyword": "", "markexpr": "", "deselect": None, "pyargs": False, "cacheclear": False,
                "durations": None, "collectonly": False, "basetemp": str(folder / f"tmp-{world().rank}")}
    for name, value in settings.items():
        setattr(config.option, name, value)
    config.args = json.loads((folder / "job.json").read_text())["paths"]


def hooks(config: pytest.Config) -> JobRank | UserJobRank | None:
    """The hooks of this rank; None outside an MPI job."""
    job = environment.text(RANKS_JOB)
    if job:
        return JobRank(config, Path(job))
    return UserJobRank(config) if launched_size() else None
