"""How many threads work, and that they do: the number from the machine and its launcher, set_num_threads(), what uses it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd.base.environment import LOCAL_SIZES
from autograd.base.thread_pool import share
from autograd.kernels import matmul, openblas, settings, threads
from autograd.kernels.onednn import convolution as onednn_convolution
from autograd.kernels.onednn import onednn
from autograd.kernels.products import bound, product

needs_onednn = pytest.mark.skipif(onednn.library is None, reason="oneDNN is not installed or switched off")
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if name not in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", *LOCAL_SIZES)}


@pytest.fixture
def four():
    """Four threads, whatever the machine has."""
    before = ag.get_num_threads()
    ag.set_num_threads(4)
    yield
    ag.set_num_threads(before)


# --- the number --------------------------------------------------------------------------------------------------------

def groups(folder, membership, files):
    (folder / "self").write_text(membership)
    for name, text in files.items():
        path = folder / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return threads.quota(str(folder / "cgroup"), str(folder / "self"))


@pytest.mark.parametrize("membership, files, expected", [
    ("0::/a/b\n", {"cpu.max": "max 100000", "a/cpu.max": "250000 100000", "a/b/cpu.max": "max 100000"}, 2.5),
    ("0::/a/b\n", {"a/cpu.max": "300000 100000", "a/b/cpu.max": "50000 100000"}, 0.5),
    ("0::/docker/x\n", {"cpu.max": "150000 100000"}, 1.5),                       # a container sees its own group as the root
    ("0::/\n", {"cpu.max": "max 100000"}, np.inf), ("0::/\n", {}, np.inf), ("", {}, np.inf), ("0::/\n", {"cpu.max": "?"}, np.inf),
    ("4:cpu,cpuacct:/a\n1:name=systemd:/b\n", {"cpu,cpuacct/a/cpu.cfs_quota_us": "200000", "cpu,cpuacct/a/cpu.cfs_period_us": "100000"}, 2),
    ("4:cpu,cpuacct:/a\n", {"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "25000"}, 2),
    ("4:cpu:/a\n", {"cpu/a/cpu.cfs_quota_us": "-1", "cpu/a/cpu.cfs_period_us": "100000"}, np.inf),
    ("5:cpuset:/a\n", {"cpuset/a/cpu.max": "100000 100000"}, np.inf)])
def test_quotas_of_control_groups(tmp_path, membership, files, expected):
    assert groups(tmp_path, membership, files) == expected


@pytest.mark.parametrize("cores, quota, environment, expected", [
    (8, np.inf, {}, 8), (8, 2.5, {}, 3), (8, 0.2, {}, 1), (2, 16.0, {}, 2), (8, np.inf, {"OMP_NUM_THREADS": "5"}, 5),
    (8, 2.0, {"OMP_NUM_THREADS": "4,2"}, 4), (8, np.inf, {"OMP_NUM_THREADS": "many"}, 8),
    (8, np.inf, {"OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, 4), (8, 4.0, {"MPI_LOCALNRANKS": "3"}, 1), (2, np.inf, {"LOCAL_WORLD_SIZE": "4"}, 1),
    (8, np.inf, {"OMP_NUM_THREADS": "6", "LOCAL_WORLD_SIZE": "4"}, 6)])
def test_the_number_that_nobody_has_set(monkeypatch, cores, quota, environment, expected):
    for name in ("OMP_NUM_THREADS", *LOCAL_SIZES):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(threads.thread_settings, "cores", cores)
    monkeypatch.setattr(threads, "quota", lambda: quota)
    monkeypatch.setattr(threads.thread_settings, "number", 0)
    assert ag.get_num_threads() == expected
    assert ag.show_config()["threads"].startswith(f"{expected}, ")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux")
def test_the_affinity_mask_counts():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); import autograd as ag; print(ag.get_num_threads())"
    assert subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True).stdout == "1\n"


def test_what_cannot_be_set(monkeypatch):
    for name in ("set_num_threads", "set_num_interop_threads"):
        for value in (0, -1, 2.0, True, "2", None):
            with pytest.raises(RuntimeError, match=f"{name} expects"):
                getattr(ag, name)(value)
    monkeypatch.setattr(settings.settings, "interop", None)
    assert ag.get_num_interop_threads() == 1
    ag.set_num_interop_threads(np.int64(3))
    assert ag.get_num_interop_threads() == 3
    with pytest.raises(RuntimeError, match="set already, to 3"):
        ag.set_num_interop_threads(4)


# --- it acts -----------------------------------------------------------------------------------------------------------

LOADED = """
import ctypes, json, os, subprocess, sys
import autograd as ag
from autograd.kernels.onednn import onednn
from autograd.kernels.openblas import openblas
def tasks(): return len(os.listdir("/proc/self/task"))
x = ag.ones(700, 700)
found = {"number": ag.get_num_threads()}
before = tasks()
(ag.ones(100, 100) @ ag.ones(100, 100)).sum().item()
found["small"] = tasks() - before
(x @ x).sum().item()
found["large"] = tasks() - before
if len(sys.argv) > 1:
    ag.set_num_threads(int(sys.argv[1]))
    (x @ x).sum().item()
    found["set"] = tasks() - before
found["blas"] = openblas().get() if openblas() else None
names = ["OMP_NUM_THREADS", "GOMP_SPINCOUNT"]
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
found["environment"] = [os.environ.get(name) for name in names] + [libc.getenv(name.encode()) for name in names]
found["environment"] = [v.decode() if isinstance(v, bytes) else v for v in found["environment"]]
found["child"] = subprocess.run(["printenv", *names], capture_output=True, text=True).stdout.split()
pid = os.fork()
if not pid:
    same = ag.get_num_threads() == 1 and abs((x @ x)[0, 0].item() - 700) < 1e-3
    os._exit(0 if same else 1)
found["forked"] = os.waitpid(pid, 0)[1]
print(json.dumps(found))
"""


def loaded(*arguments, **environment):
    done = subprocess.run([sys.executable, "-c", LOADED, *arguments], env={**ENVIRONMENT, **environment}, capture_output=True,
                          text=True, timeout=60)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@needs_onednn
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux")
@pytest.mark.parametrize("given, then, workers", [("1", None, 0), ("3", None, 2), ("1", 3, 2), ("2", 1, 1)])
def test_large_products_get_workers_and_small_ones_none(given, then, workers):
    found = loaded(*([] if then is None else [str(then)]), OMP_NUM_THREADS=given, OPENBLAS_NUM_THREADS="1")
    assert found["number"] == int(given) and found["small"] == 0
    assert found["large"] == (int(given) - 1 if onednn.library.avx512 else found["large"])
    if then is not None and onednn.library.avx512:
        assert found["set"] >= workers and found["blas"] in (then, None)
    assert found["environment"] == [given, None, given, None] and found["child"] == [given]        # as the user has it
    assert found["forked"] == 0


def test_the_users_waiting_policy_stays():
    assert loaded(GOMP_SPINCOUNT="77", OMP_NUM_THREADS="1")["environment"][1::2] == ["77", "77"]
    assert loaded()["environment"] == [None] * 4


@needs_onednn
def test_set_num_threads_acts_on_primitives(four):
    x, weight = ag.randn(8, 16, 40, 40), ag.randn(32, 16, 3, 3, requires_grad=True)
    small = ag.randn(1, 4, 6, 6)
    plans = [onednn_convolution.planned.__wrapped__]

    def widths():
        made = []
        original = onednn_convolution._planned

        def noted(*args):
            made.append(original(*args))
            return made[-1]

        onednn_convolution._planned = noted
        try:
            F.conv2d(x, weight).sum().backward()
            F.conv2d(small, weight[:, :4].detach())
        finally:
            onednn_convolution._planned = original
        return [p.primitive.threads for p in made]

    assert plans and widths() == [4, 4, 1]
    ag.set_num_threads(2)
    assert widths() == [2, 2, 1]
    assert widths() == []                                # made once for a number


@needs_onednn
@pytest.mark.parametrize("case", ["product", "conv", "norm", "pool", "reorder"])
def test_results_do_not_depend_on_the_number_beyond_rounding(case, four):
    rng = np.random.default_rng(0)
    run = {"product": lambda: product(a, b), "conv": lambda: F.conv2d(ag.tensor(images), ag.tensor(kernel)).numpy(),
           "norm": lambda: F.batch_norm(ag.tensor(images), None, None, training=True).numpy(),
           "pool": lambda: F.max_pool2d(ag.tensor(images), 2).numpy(),
           "reorder": lambda: ag.tensor(images).contiguous(memory_format=ag.channels_last).numpy()}[case]
    a, b = rng.standard_normal((2, 400, 400)).astype(np.float32)
    images = rng.standard_normal((16, 32, 50, 50)).astype(np.float32)
    kernel = rng.standard_normal((32, 32, 3, 3)).astype(np.float32)
    wide = run()
    assert (wide == run()).all()
    ag.set_num_threads(1)
    np.testing.assert_allclose(wide, run(), rtol=1e-4, atol=1e-4)


@needs_onednn
def test_a_bound_product_follows_the_number(four):
    x, y = np.random.default_rng(0).standard_normal((2, 400, 400)).astype(np.float32)
    call = bound(x, y)
    if call is not None:
        found = call()
        ag.set_num_threads(1)
        np.testing.assert_allclose(call(), found, rtol=1e-4, atol=1e-4)


@needs_onednn
def test_openmp_of_others_keeps_its_number(four):
    """PyTorch may have the same libgomp."""
    x = np.random.default_rng(0).standard_normal((400, 400)).astype(np.float32)
    before = onednn.library.get_threads()
    for y in (x, x[:, :40].copy()):
        product(x, y)
        F.conv2d(ag.tensor(x[None, None]), ag.ones(8, 1, 3, 3))
        ag.nn.LSTM(40, 40)(ag.tensor(x[:, None, :40].copy()))
        assert onednn.library.get_threads() == before


# --- OpenBLAS's products in pieces ---------------------------------------------------------------------------------------

SHAPES = [((400, 300), (300, 600)), ((2300, 200), (200, 150)), ((60, 600), (600, 2000)), ((1, 400, 300), (1, 300, 600)),    # just large
          ((10, 200, 100), (10, 100, 400)), ((150, 100), (9, 100, 500)), ((6, 200, 200), (200, 300)), ((2, 3, 150, 200), (3, 200, 400)),
          ((1, 150, 200), (7, 200, 350))]                # enough to be cut


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("left, right", SHAPES)
def test_pieces_make_the_whole(four, left, right, dtype):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(left).astype(dtype), rng.standard_normal(right).astype(dtype)
    assert matmul._parts(x, y) > 1
    found, expected = matmul.matmul(x, y), np.matmul(x, y)
    assert found.shape == expected.shape and found.dtype == expected.dtype and found.flags.c_contiguous
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    assert (found == matmul.matmul(x, y)).all()          # whoever took which piece
    out = np.empty_like(expected)
    assert matmul.matmul(x, y, out) is out and (out == found).all()


def test_other_products_are_numpys(four):
    rng = np.random.default_rng(0)
    for x, y in [(rng.integers(0, 9, (500, 500)), rng.integers(0, 9, (500, 500))), (rng.random((9000, 200)), rng.random(200)),
                 (rng.random(200), rng.random((200, 9000))), (rng.random((0, 5)), rng.random((5, 9000))),
                 (rng.random((300, 9000)).astype(np.float32), rng.random((9000, 40)))]:
        assert matmul._parts(x, y) == 1
        np.testing.assert_allclose(matmul.matmul(x, y), np.matmul(x, y), rtol=1e-6)


def test_pieces_heed_the_callers_handling_of_errors_and_raise(four):
    x = np.full((600, 600), 1e30, np.float32)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        share([lambda: np.multiply(x, x)] * 4, 4)
    with np.errstate(over="ignore"):
        share([lambda: np.multiply(x, x)] * 4, 4)
    with pytest.raises(ZeroDivisionError):
        share([lambda: None, lambda: 1 // 0], 4)


def test_openblas_has_one_thread_inside_and_its_own_number_outside(four):
    blas = openblas.openblas()
    if blas is None:
        pytest.skip("NumPy's products are not OpenBLAS's")
    with openblas.alone():
        with openblas.alone():
            assert blas.get() == 1
        assert blas.get() == 1
    assert blas.get() == 4
