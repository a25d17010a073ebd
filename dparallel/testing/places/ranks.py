"""pytest as one rank of an MPI job: of one that a test session started for its tests (see job.py), or of the user's own.

In the user's own (`mpirun -n 2 python -m pytest`), tests that are marked run on all ranks, others are left out. The first
rank that fails ends the job, for the others may be waiting for it; the lowest one that fails reports it.
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
from typing import Any

import pytest

from ...comm import launched_size, world
from ...comm.environment import PLACES_JOB, environment
from .worlds import asked

TURN = 1.0                           # seconds that a rank leaves to each lower one to report the same failure
POLL = 0.005


class Ranks:
    """The hooks of a rank of the user's own job."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.stderr = _stderr(config)
        if world().rank:
            quiet(config)

    def pytest_report_header(self) -> str:
        """Which ranks these are."""
        return f"rank {world().rank} of {world().size}"

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[Any]) -> None:
        """Only the tests that are made for ranks."""
        others = [item for item in items if item.get_closest_marker("places") is None]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item.get_closest_marker("places") is not None]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """A time limit for the test. When it is over, all threads' tracebacks are printed and the job ends."""
        places = asked(item, self.config)
        if places is not None:
            faulthandler.dump_traceback_later(places.timeout, exit=True, file=self.stderr)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A failure ends the job."""
        if report.failed:
            printed = "".join(f"\n--- {title} ---\n{text}" for title, text in report.sections)
            self.end(f"failed in {report.when}: {report.nodeid}", report.longreprtext + printed)

    def pytest_collectreport(self, report: Any) -> None:
        """So does what can't be collected."""
        if report.failed:
            self.end(f"can't collect {report.nodeid}", report.longreprtext)

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        """And all else."""
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            self.end("pytest stopped", str(exitstatus))

    def end(self, title: str, text: str) -> None:
        """End the job on all ranks."""
        time.sleep(TURN * world().rank)
        sys.stdout.flush()
        world().abort(f"{title}\n{text}")


class Sent:
    """The hooks of a rank of a session's job: run what the session asks for, one test after the other, and report.

    In the folder: `job.json`, what to collect and the tests' ids and time limits; `requests`, a line `number next` for each
    test to be run, with the one that is then expected (-1: none); `<rank>.log`, this rank's reports; `<rank>.stack`.
    """

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self.config, self.folder = config, folder
        self.job = json.loads((folder / "job.json").read_text())
        self.rank = world().rank
        self.log = open(folder / f"{self.rank}.log", "w", encoding="utf-8")          # noqa: SIM115  # to the end
        self.stack = open(folder / f"{self.rank}.stack", "w", encoding="utf-8")      # noqa: SIM115
        self.read = 0                                # requests that were read
        quiet(config)

    def write(self, **record: Any) -> None:
        """Report something to the session."""
        self.log.write(json.dumps({"time": time.time(), **record}) + "\n")
        self.log.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[Any]) -> None:
        """The tests that were named, in the session's order."""
        found = {item.nodeid: item for item in items}
        missing = [name for name in self.job["names"] if name not in found]
        if missing:
            self.write(stopped=f"{missing[0]} was not collected")
        items[:] = [found[name] for name in self.job["names"] if name in found]

    def pytest_collectreport(self, report: Any) -> None:
        """The session can't know what this rank can't collect."""
        if report.failed:
            self.write(stopped=f"can't collect {report.nodeid}\n{report.longreprtext}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run what is asked for until nothing more is."""
        items = session.items if len(session.items) == len(self.job["names"]) else []
        expected = -1
        while items:
            number, following = self.request()
            if number < 0:
                break
            for late in range(expected, number) if expected >= 0 else ():
                self.run(items, late, late + 1)      # was expected and left out by the session: so it is skipped here
            self.run(items, number, following)
            expected = following
        return True

    def request(self) -> tuple[int, int]:
        """The next request; (-1, -1) at the end, also when the session is no more."""
        while True:
            try:
                lines = (self.folder / "requests").read_text().split("\n")[:-1]
            except FileNotFoundError:
                return -1, -1
            if len(lines) > self.read:
                self.read += 1
                number, following = lines[self.read - 1].split()
                return int(number), int(following)
            time.sleep(POLL)

    def run(self, items: list[Any], number: int, following: int) -> None:
        """One test, within its time limit: then the stacks of all threads are left for the session to find."""
        item = items[number]
        self.write(started=item.nodeid)
        faulthandler.dump_traceback_later(self.job["limits"][number], file=self.stack)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=items[following] if following >= 0 else None)
        faulthandler.cancel_dump_traceback_later()
        self.write(done=item.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Every report goes to the session."""
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.write(item=report.nodeid, report=json.loads(json.dumps(data, default=str)))


def _stderr(config: pytest.Config) -> int:
    """A file descriptor of what was standard error before pytest began to capture it."""
    manager: Any = config.pluginmanager.getplugin("capturemanager")
    with manager.global_and_fixture_disabled() if manager is not None else contextlib.nullcontext():
        return os.dup(2)


def quiet(config: pytest.Config) -> None:
    """Print nothing more."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        config.pluginmanager.unregister(reporter)


def prepare(config: pytest.Config) -> None:
    """On a rank of a session's job: collect what the job names, and leave to the session what is its business."""
    job = environment.text(PLACES_JOB)
    if not job:
        return
    folder = Path(job)
    settings = {"usepdb": False, "xmlpath": None, "maxfail": 0, "lf": False, "failedfirst": False, "newfirst": False,
                "stepwise": False, "keyword": "", "markexpr": "", "deselect": None, "pyargs": False, "cacheclear": False,
                "durations": None, "collectonly": False, "basetemp": str(folder / f"tmp-{world().rank}")}
    for name, value in settings.items():
        setattr(config.option, name, value)
    config.args = json.loads((folder / "job.json").read_text())["paths"]


def hooks(config: pytest.Config) -> Any:
    """What this rank registers; None where there is no MPI job."""
    job = environment.text(PLACES_JOB)
    if job:
        return Sent(config, Path(job))
    return Ranks(config) if launched_size() else None
