"""The hooks of the user's pytest session: each marked test becomes one test for each of its worlds."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
from collections.abc import Iterator
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ...comm import launched_size
from . import examples
from .job import Outcome, RankJob, TestRequest, is_failure
from .rank_hooks import hooks, prepare
from .time_limit import time_limit
from .worlds import World, requested_ranks

if TYPE_CHECKING:
    from launch.mpirun import LaunchError, find
else:                                                # dprun.py: ROS 2 has a package launch too
    from dprun.mpirun import LaunchError, find


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Parametrize a marked test by its worlds. Tests without `comm` in a marked class are not changed."""
    requested = requested_ranks(metafunc.definition, metafunc.config)
    if requested is None or "comm" not in metafunc.fixturenames:
        if any(marker.name == "ranks" for marker in metafunc.definition.own_markers):
            raise pytest.UsageError(f"{metafunc.definition.nodeid}: @pytest.mark.ranks is for tests with an argument "
                                    f"`comm`, this one has {metafunc.fixturenames or 'none'}")
        return
    worlds: list[Any] = list(requested.worlds())
    if not worlds:
        size = launched_size()
        reason = (f"made for {', '.join(requested.kinds)} of {', '.join(map(str, requested.sizes))}, "
                  f"and this is mpi of {size}")
        worlds = [pytest.param(World("mpi", size), marks=pytest.mark.skip(reason=reason))]
    metafunc.parametrize("comm", worlds, ids=[str(w) if isinstance(w, World) else str(w.values[0]) for w in worlds])


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Prepare a rank of a session's job."""
    prepare(config)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the hooks of a rank, or those of a session."""
    config.addinivalue_line("filterwarnings", "ignore:Using `assume` outside")       # in other threads and ranks
    config.pluginmanager.register(hooks(config) or Session(config), "dparallel-ranks")


def world_of(item: Any) -> World | None:
    """The world of a test; None for a test that is not marked."""
    world = getattr(item, "callspec", None) and item.callspec.params.get("comm")
    return world if isinstance(world, World) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Iterator[Any]:
    """Run a marked test on its world, the value of its parameter `comm`."""
    world, requested = world_of(pyfuncitem), requested_ranks(pyfuncitem, pyfuncitem.config)
    if world is None or requested is None:
        return (yield)
    function = pyfuncitem.obj
    if inspect.iscoroutinefunction(function):        # on_world would hide it from pytest
        pytest.fail(f"{pyfuncitem.nodeid} is `async def`, which no rank would run: call asyncio.run() in a plain test",
                    pytrace=False)
    limited = time_limit(requested.timeout, pyfuncitem.nodeid) if world.kind != "mpi" else contextlib.nullcontext()

    def on_world(**arguments: Any) -> None:
        world.run(lambda comm: function(**{**arguments, "comm": comm}), requested.timeout)

    with limited, examples.on_all_ranks(function, world, requested.timeout) as replacement:
        pyfuncitem.obj = replacement or on_world
        try:
            return (yield)
        finally:
            pyfuncitem.obj = function


class Session:
    """Sends the MPI variants of tests to jobs of ranks."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.tests: dict[int, list[RankItem]] = {}   # by number of ranks, in the session's order
        self.jobs: dict[int, RankJob] = {}
        self.missing: str | None = None              # why there are no MPI ranks; None: not checked
        self.broken: dict[int, str] = {}             # why the ranks of a size did not start

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Replace MPI variants by RankItems: they, and their fixtures, run on the ranks."""
        for number, item in enumerate(items):
            world = world_of(item)
            if world is not None and world.kind == "mpi":
                items[number] = RankItem.of(item, world, self)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Collect the MPI variants that remain after deselection and reordering, by size."""
        for item in session.items:
            if isinstance(item, RankItem):
                self.tests.setdefault(item.world.size, []).append(item)

    def why_no_ranks(self) -> str:
        """Why MPI ranks can't be started; "" if they can."""
        if self.missing is None:
            self.missing = ""
            if importlib.util.find_spec("mpi4py") is None:
                self.missing = "mpi4py is not installed; run: pip install 'dparallel[mpi]'"
            try:
                find()
            except LaunchError as error:
                self.missing = str(error)
        return self.missing

    def run(self, item: RankItem) -> Outcome:
        """Send a test to the job of its size. A new job is started if there is none that accepts it."""
        tests = self.tests[item.world.size]
        position = tests.index(item)
        following = tests[position + 1:position + 2] if not item.requested.isolated else []
        if (following and following[0].requested.isolated) or hasattr(self.config, "workerinput"):
            following = []                           # xdist: the next test is not known
        if item.world.size in self.broken:
            return Outcome({}, {}, self.broken[item.world.size])
        job = self.jobs.get(item.world.size)
        if job is None or job.number(item.nodeid) < 0 or item.requested.isolated:
            self.close(item.world.size)
            remaining = [item] if item.requested.isolated else [
                other for other in tests[position:] if not other.requested.isolated]
            job = self.jobs[item.world.size] = RankJob(item.world.size, [other.request for other in remaining], self.config)
        number = job.number(item.nodeid)
        outcome = job.run(number, job.number(following[0].nodeid) if following else -1)
        if item.requested.isolated:
            self.close(item.world.size)
        if not job.has_started:
            self.broken[item.world.size] = f"{item.world.size} MPI ranks could not begin, see {item.nodeid}"
        return outcome

    def close(self, size: int, patience: float = 0.0) -> None:
        """End the job of a size."""
        job = self.jobs.pop(size, None)
        if job is not None and job.accepts_tests:
            job.end(patience)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """End all jobs; at once if the session was interrupted."""
        for size in list(self.jobs):
            self.close(size, 30.0 if exitstatus in (0, 1) and not session.shouldstop and not session.shouldfail else 0.0)

    def pytest_unconfigure(self) -> None:
        """End all jobs of a session that did not finish."""
        for size in list(self.jobs):
            self.close(size)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Any:
        """Use the ranks' report of an MPI variant."""
        report = yield
        if isinstance(item, RankItem) and call.excinfo is None:
            return item.report(call.when) or report
        return report


class RankItem(pytest.Item):
    """The MPI variant of a test in the session, which the ranks run."""

    world: World
    session_hooks: Session
    outcome: Outcome | None

    @classmethod
    def of(cls, item: Any, world: World, hooks: Session) -> RankItem:
        """The RankItem that replaces a test function."""
        new: RankItem = cls.from_parent(item.parent, name=item.name)
        new.world, new.session_hooks, new.outcome = world, hooks, None
        new.requested, new._where = requested_ranks(item, item.config), item.reportinfo()
        new.obj = FunctionType(_placeholder.__code__, item.function.__globals__, item.originalname)   # for marks
        new.function, new.fixturenames, new.originalname = item.function, [], item.originalname
        new.own_markers = list(item.own_markers)
        new.keywords.update(item.keywords)
        new.request = TestRequest(item.nodeid, str(item.path), new.requested.timeout)
        return new

    requested: Any
    request: TestRequest
    obj: Any
    function: Any
    fixturenames: list[str]
    originalname: str
    _where: Any

    def setup(self) -> None:
        """Run the test on the ranks, with setup and teardown. Their reports replace those of this process."""
        reason = self.session_hooks.why_no_ranks()
        if reason:
            pytest.skip(f"no MPI ranks: {reason}")
        self.outcome = self.session_hooks.run(self)

    def runtest(self) -> None:
        """Do nothing: setup() has run the test."""

    def reportinfo(self) -> Any:
        """The location of the test function."""
        return self._where

    def report(self, phase: str) -> pytest.TestReport | None:
        """The report of a phase: that of the rank that failed first, else that of the lowest rank that has one."""
        if self.outcome is None:
            return None
        found = {rank: phases[phase] for rank, phases in self.outcome.reports.items() if phase in phases}
        failed = {rank for rank, report in found.items() if report["outcome"] == "failed"}
        if failed:
            return self._rank_report(found, first_to_fail(failed, self.outcome.when))
        if self.outcome.problem and phase == "call":
            problem, self.outcome = self.outcome.problem, self.outcome._replace(problem="")
            failure: Any = TextFailure(problem)      # pytest's type of it is private
            return pytest.TestReport(self.nodeid, self.location, dict(self.keywords), "failed", failure, "call")
        if not found or (self.outcome.problem and phase == "setup"):
            return None
        expected = [rank for rank, report in found.items() if is_failure(report)]
        ran = [rank for rank, report in found.items() if report["outcome"] == "passed"]
        return self._rank_report(found, (expected or ran or sorted(found))[0])

    def _rank_report(self, found: dict[int, Any], rank: int) -> pytest.TestReport:
        """A rank's report as a TestReport, with the rank in its text."""
        report: Any = self.config.hook.pytest_report_from_serializable(config=self.config, data=found[rank])
        if isinstance(report.longrepr, list):        # of a skipped test; JSON has no tuples
            report.longrepr = tuple(report.longrepr)
        report.duration = max(other["duration"] for other in found.values())
        if report.outcome == "failed":
            also = sorted(other for other in found if other != rank and found[other]["outcome"] == "failed")
            title = f"rank {rank} of {self.world.size} failed" + (
                f"; so did rank{'s' * (len(also) > 1)} {', '.join(map(str, also))}" if also else "")
            if hasattr(report.longrepr, "addsection"):
                report.longrepr.addsection(title, "", "-")
            else:
                report.longrepr = TextFailure(report.longrepr, title)
            crash = getattr(report.longrepr, "reprcrash", None)
            if crash is not None:
                crash.message = f"rank {rank} of {self.world.size}: {crash.message}"
        return report  # type: ignore[no-any-return]


class TextFailure:
    """A failure as text, with a title. pytest's summary would repeat all lines of a string where the variable CI is set."""

    def __init__(self, text: str, title: str = "") -> None:
        self.text: str = f"{title}\n{text}" if title else text
        self.reprcrash: SimpleNamespace = SimpleNamespace(message=text.partition("\n")[0])

    def toterminal(self, tw: Any) -> None:
        """Write the whole text to the terminal."""
        tw.line(self.text)


def _placeholder() -> None:
    """The function of a RankItem, for other plugins (hypothesis), which look at an item's function."""


def first_to_fail(ranks: set[int], when: dict[int, float]) -> int:
    """The rank that failed first, as the others may have failed because of it; the lowest of those within 0.1 s."""
    earliest = min(when.get(rank, 0.0) for rank in ranks)
    return min(rank for rank in ranks if when.get(rank, 0.0) <= earliest + 0.1)
