"""One set of tests for local devices, ranks as threads, and MPI ranks.

Run as `pytest` for all that needs no MPI, and as `mpirun -n N python -m pytest tests/dparallel` for the tests that use
`on_places`, which then run on the real ranks. tests/run_all.py does both.
"""

from __future__ import annotations

import faulthandler
import sys

import numpy as np
import pytest

from dparallel.comm import Devices, launched_size, run_ranks, world

UNDER_MPI = launched_size() > 1
TIME_LIMIT = 150                     # seconds for one test: a hang ends the job with every thread's traceback


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


RANK_WORLDS = [name for name in WORLDS if not name.startswith("devices")]


@pytest.fixture(params=RANK_WORLDS)
def on_ranks(request):
    """on_places without local devices: one place per process (or thread)."""
    return WORLDS[request.param]


@pytest.fixture(autouse=True)
def seeded():
    np.random.seed(0)
    faulthandler.dump_traceback_later(TIME_LIMIT, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def pytest_collection_modifyitems(config, items):
    """Under MPI only the tests that are made for ranks."""
    if UNDER_MPI:
        chosen = [item for item in items if {"on_places", "on_ranks"} & set(getattr(item, "fixturenames", ()))]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


def pytest_report_header(config):
    return f"rank {world().rank} of {world().size}" if UNDER_MPI else "no MPI: local devices and ranks as threads"


def pytest_configure(config):
    if UNDER_MPI and world().rank != 0:
        config.option.verbose = -2
        reporter = config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None:
            config.pluginmanager.unregister(reporter)


def pytest_runtest_logreport(report):
    """A failure on one rank ends the job: the others may be waiting for it in a collective."""
    if UNDER_MPI and report.failed:
        sys.__stderr__.write(f"\nrank {world().rank} failed {report.nodeid}\n{report.longreprtext}\n")
        sys.__stderr__.flush()
        world().abort(f"test failed: {report.nodeid}")
