"""One set of tests for local devices, ranks as threads, and MPI ranks.

A test with an argument `comm` runs on each rank. Marked `devices`, it also runs once with all local devices; marked
`threads(n)`, it runs on n ranks as threads only. The fixtures `on_ranks` and `on_all_kinds` run one part of a test so. Run
`pytest` for everything that needs no MPI, and `dprun -n N -m pytest tests/dparallel` (or `mpirun -n N python -m mpi4py -m
pytest tests/dparallel`) for these tests, and those marked `mpi`, on real ranks. tests/run_all.py does both. dparallel's own
pytest plugin (testing/ranks) runs the bodies. With its marker, `pytest` would start MPI; here it does not.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import re
import time

import numpy as np
import pytest

from dparallel.comm import launched_size
from dparallel.testing.ranks.worlds import World

os.environ.setdefault("TORCH_DISABLE_ADDR2LINE", "1")    # else PyTorch reads its symbols (20 s) for its first C++ traceback
pytest_plugins = ["launch.pytest_plugin", "dparallel.testing.ranks.plugin"]

UNDER_MPI = launched_size() > 0       # also one rank under mpirun is the real thing
TIME_LIMIT = 300                     # seconds for one test: a hang ends pytest with every thread's traceback

WORLDS = [World("mpi", launched_size())] if UNDER_MPI else [World(kind, size) for kind in ("devices", "threads")
                                                            for size in (1, 2, 3, 5)]
OF_FIVE = {"comm", "functions", "reduction"}      # folders whose algorithms depend on the size; elsewhere 3 ranks show what 5 do


def pytest_generate_tests(metafunc):
    worlds = [w for w in WORLDS if w.size < 5 or UNDER_MPI or metafunc.definition.path.parent.name in OF_FIVE]
    ranks = [w for w in worlds if w.kind != "devices"]
    if "comm" in metafunc.fixturenames and not any(map(metafunc.definition.get_closest_marker, ("mpi", "ranks"))):
        devices, threads = map(metafunc.definition.get_closest_marker, ("devices", "threads"))
        metafunc.parametrize("comm", [World("threads", *threads.args)] if threads else worlds if devices else ranks, ids=str)
    for name, chosen in (("on_all_kinds", worlds), ("on_ranks", ranks)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, chosen, ids=str, indirect=True)


@pytest.fixture
def on_all_kinds(request):
    """on_all_kinds(check) calls check(comm) once with local devices, on every rank as threads, or on this MPI rank."""
    return lambda check: request.param.run(check, timeout=100)


@pytest.fixture
def on_ranks(request):
    """on_all_kinds without local devices: one rank per process (or thread)."""
    return lambda check: request.param.run(check, timeout=100)


@pytest.fixture(autouse=True)
def seeded():
    np.random.seed(0)


def pytest_ignore_collect(collection_path):
    """On ranks, do not import files without a test for ranks: some import scikit-learn or PyTorch, 5 s on each rank."""
    if UNDER_MPI and collection_path.suffix == ".py":
        for_ranks = r"\bdef test_\w+\([^)]*\bcomm\b|\bon_all_kinds\b|\bon_ranks\b|\bmark\.(ranks|mpi)\b"
        return not re.search(for_ranks, collection_path.read_text()) or None
    return None


def pytest_itemcollected(item):
    """Tests for ranks are what the plugin runs under MPI."""
    for_mpi = item.get_closest_marker("mpi")
    of_threads = UNDER_MPI and item.get_closest_marker("threads")
    if for_mpi or ({"comm", "on_all_kinds", "on_ranks"} & set(getattr(item, "fixturenames", ())) and not of_threads):
        item.add_marker(pytest.mark.ranks)
    if for_mpi and not UNDER_MPI:
        item.add_marker(pytest.mark.skip(reason="needs MPI ranks"))


@pytest.fixture(autouse=True, scope="module")
def frozen():
    """What is in memory before a file's tests stays: neither gc.collect() nor a forked worker, by counting references, need touch it."""
    gc.collect()
    gc.freeze()


def pytest_report_header(config):
    return "" if UNDER_MPI else "no MPI: local devices and ranks as threads"


class Limit:
    """Ends pytest when one test without MPI takes too long. Output is not captured yet when it is made."""

    def __init__(self):
        self.stderr, self.renew = os.dup(2), 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        if time.monotonic() > self.renew:              # not for each of many short tests: each starts a thread
            self.renew = time.monotonic() + TIME_LIMIT / 10
            faulthandler.dump_traceback_later(TIME_LIMIT, exit=True, file=self.stderr)
        return (yield)

    def pytest_sessionfinish(self):
        faulthandler.cancel_dump_traceback_later()


def pytest_configure(config):
    if not UNDER_MPI:
        config.pluginmanager.register(Limit())


@pytest.fixture
def only_what_is_new(monkeypatch):
    """Looks into memory find only what a test makes: what others have left is frozen. So they don't depend on that, and take a tenth."""
    from autograd.observe.profiler import inventory
    gc.collect()
    gc.freeze()
    monkeypatch.setattr(inventory, "tracked_objects", gc.get_objects)
