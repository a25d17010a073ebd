"""One set of tests for local devices, ranks as threads, and MPI ranks.

Run as `pytest` for all that needs no MPI, and as `dprun -n N -m pytest tests/dparallel` (or `mpirun -n N python -m mpi4py
-m pytest tests/dparallel`) for the tests that use `on_places` or `on_ranks`, or are marked `mpi`; these then run on the
real ranks. tests/run_all.py does both.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import time

import numpy as np
import pytest

from dparallel.comm import Devices, launched_size, run_ranks, world

UNDER_MPI = launched_size() > 0       # also one rank under mpirun is the real thing
TIME_LIMIT = 120                     # seconds for one test: a hang ends the job with every thread's traceback
TURN = 0.5                           # seconds that a rank leaves to each lower one to report the same failure


def on_devices(size):
    return lambda check: [check(Devices(size))]


def on_threads(size):
    return lambda check: run_ranks(size, check, timeout=30)


if UNDER_MPI:
    WORLDS = {f"mpi-{launched_size()}": lambda check: [check(world())]}
else:
    WORLDS = {f"{kind}-{size}": make(size) for kind, make in (("devices", on_devices), ("threads", on_threads))
              for size in (1, 2, 3, 5)}


@pytest.fixture(params=list(WORLDS))
def on_places(request):
    """on_places(check) calls check(comm) once with local devices, on every rank as threads, or on this MPI rank."""
    return WORLDS[request.param]


@pytest.fixture(params=[name for name in WORLDS if not name.startswith("devices")])
def on_ranks(request):
    """on_places without local devices: one place per process (or thread)."""
    return WORLDS[request.param]


@pytest.fixture(autouse=True)
def seeded():
    np.random.seed(0)


# --- under MPI ------------------------------------------------------------------------------------------------------


def for_ranks(item):
    return bool({"on_places", "on_ranks"} & set(getattr(item, "fixturenames", ()))) or item.get_closest_marker("mpi")


def pytest_collection_modifyitems(config, items):
    """Under MPI only the tests that are made for ranks."""
    if UNDER_MPI:
        config.hook.pytest_deselected(items=[item for item in items if not for_ranks(item)])
        items[:] = [item for item in items if for_ranks(item)]
    else:
        for item in items:
            if item.get_closest_marker("mpi"):
                item.add_marker(pytest.mark.skip(reason="needs MPI ranks"))


def pytest_report_header(config):
    return f"rank {world().rank} of {world().size}" if UNDER_MPI else "no MPI: local devices and ranks as threads"


class Limit:
    """Ends the process, and with it the job, when one test takes too long. Output is not captured yet when it is made."""

    def __init__(self):
        self.stderr = os.dup(2)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        faulthandler.dump_traceback_later(TIME_LIMIT, exit=True, file=self.stderr)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "mpi: runs under MPI only, on every rank")
    config.pluginmanager.register(Limit())
    if UNDER_MPI and world().rank != 0:
        config.pluginmanager.unregister(config.pluginmanager.getplugin("terminalreporter"))


def end_job(title, text):
    """One rank's failure ends the job: the others may be waiting for it. Only the lowest rank that fails reports it."""
    rank = world().rank
    time.sleep(TURN * rank)
    sys.stdout.flush()
    world().abort(f"{title}\n{text}")


def pytest_runtest_logreport(report):
    if UNDER_MPI and report.failed:
        printed = "".join(f"\n--- {title} ---\n{text}" for title, text in report.sections)
        end_job(f"failed in {report.when}: {report.nodeid}", report.longreprtext + printed)


def pytest_collectreport(report):
    if UNDER_MPI and report.failed:
        end_job(f"can't collect {report.nodeid}", report.longreprtext)


def pytest_sessionfinish(session, exitstatus):
    if UNDER_MPI and exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        end_job("pytest stopped", str(exitstatus))
