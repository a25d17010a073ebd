"""Accelerated kernels agree with NumPy, and their absence is no error."""

import os
import subprocess
import sys

import numpy as np
import pytest

import autograd as ag
from autograd.kernels.accelerators import Accelerator, wanted
from autograd.kernels.onednn import onednn
from autograd.kernels.products import column_sums, product

needs_onednn = pytest.mark.skipif(onednn.library() is None, reason="oneDNN is not installed or switched off")


def matrices(rng, rows, columns, layout):
    x = rng.standard_normal((2 * rows, 2 * columns)).astype(np.float32)
    return {"rows": np.ascontiguousarray(x[:rows, :columns]), "columns": np.asfortranarray(x[:rows, :columns]),
            "part": x[:rows, :columns], "every second": x[::2, ::2], "upside down": x[:rows, :columns][::-1],
            "repeated": np.broadcast_to(x[:1, :columns], (rows, columns))}[layout]


@pytest.mark.parametrize("left", ["rows", "columns", "part", "every second", "upside down", "repeated"])
@pytest.mark.parametrize("right", ["rows", "columns", "part", "repeated"])
@pytest.mark.parametrize("rows, inner, columns", [(64, 128, 96), (1, 1024, 1024), (1024, 1, 1024), (700, 800, 1)])
@pytest.mark.parametrize("avx512", [True, False])
def test_products_agree_with_numpy(left, right, rows, inner, columns, avx512, monkeypatch):
    if onednn.library() is not None:
        monkeypatch.setattr(onednn.library(), "avx512", avx512)
    rng = np.random.default_rng(0)
    x, y = matrices(rng, rows, inner, left), matrices(rng, inner, columns, right)
    expected = x.astype(np.float64) @ y.astype(np.float64)
    bound = 1e-6 * inner ** 0.5 * np.abs(x).max() * np.abs(y).max() * 4 + 1e-5 * np.abs(expected)
    assert (np.abs(product(x, y) - expected) <= bound).all()
    out = np.full((rows, columns), np.nan, np.float32)
    assert product(x, y, out) is out and (np.abs(out - expected) <= bound).all()


@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.int64, np.float16])
def test_other_dtypes_are_numpys(dtype):
    x = np.arange(100 * 90).reshape(100, 90).astype(dtype)
    assert (product(x, x.T) == x @ x.T).all()


def test_stacks_of_matrices():
    x, y = np.random.default_rng(0).standard_normal((2, 3, 80, 80)).astype(np.float32)
    np.testing.assert_allclose(product(x, y), x @ y, rtol=1e-4, atol=1e-4)


@needs_onednn
def test_nans_and_infinities_pass():
    x = np.ones((128, 128), np.float32)
    x[3, 4], x[5, 6] = np.nan, np.inf
    found = product(x, np.ones((128, 128), np.float32))
    assert np.isnan(found[3]).all() and np.isinf(found[5]).all() and np.isfinite(found[7]).all()


def test_a_broken_accelerator_is_said_so_once(caplog, monkeypatch):
    monkeypatch.setenv("AUTOGRAD_ACCELERATORS", "all")

    def broken():
        raise OSError("no such library")

    accelerator = Accelerator("onednn", broken, "NumPy is used instead.")
    assert accelerator.state() == "not loaded yet"
    assert accelerator.library() is None and accelerator.library() is None
    assert caplog.text.count("no such library") == 1 and accelerator.state() == "not used (OSError: no such library)"


@pytest.mark.parametrize("value, expected", [("all", True), ("off", False), ("numba", False), ("onednn", True),
                                             ("numba, onednn", True), ("", False), ("0", False)])
def test_the_switch(monkeypatch, value, expected):
    monkeypatch.setenv("AUTOGRAD_ACCELERATORS", value)
    assert wanted("onednn") is expected


def test_a_wrong_switch_is_an_error(monkeypatch):
    monkeypatch.setenv("AUTOGRAD_ACCELERATORS", "mkl")
    with pytest.raises(ValueError, match="'mkl' is not one of numba, onednn"):
        wanted("numba")


def test_switched_off_for_a_process():
    script = ("import autograd as ag; x = ag.ones(200, 200); print((x @ x)[0, 0].item());"
              "from autograd.kernels.onednn import onednn; print(onednn.state())")
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, "AUTOGRAD_ACCELERATORS": "off"}, text=True,
                          capture_output=True, check=True)
    assert done.stdout.split("\n")[:2] == ["200.0", "not used (switched off by AUTOGRAD_ACCELERATORS)"] and done.stderr.count("switched off") == 1


def test_what_is_in_use_is_shown():
    shown = ag.show_config()
    assert shown["numpy"] == np.__version__ and {"autograd", "python", "blas", "threads", "numba", "onednn"} <= set(shown)
    assert f"numpy: {np.__version__}" in str(shown).splitlines()


KEPT = "from autograd.kernels.memory import freed_memory_is_kept as kept; print(kept)"


@pytest.mark.parametrize("name, value", [("MALLOC_ARENA_MAX", "2"), ("GLIBC_TUNABLES", "glibc.malloc.check=0")])
def test_the_users_own_allocator_settings_win(name, value):
    done = subprocess.run([sys.executable, "-c", KEPT], env={**os.environ, name: value}, text=True, capture_output=True)
    assert done.stdout == "False\n", done.stderr


FLAT = """
import resource, sys
sys.path.insert(0, "tests/bench")
import cases, autograd
step = cases.training(autograd, sys.argv[1], 1)
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
for _ in range(int(sys.argv[2]) // 4):
    step()
before = resident()
for _ in range(int(sys.argv[2])):
    step()
print(resident() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="Linux")
@pytest.mark.parametrize("case, steps", [("mlp 64-128-64-10", 1000), ("lstm", 200), ("gpt", 20)])
def test_memory_stays_flat(case, steps):
    """In one of three runs: the system may back memory by huge pages meanwhile, 2 MB each, and a leak shows every time."""
    grown = []
    while len(grown) < 3 and (not grown or grown[-1] >= 2):
        done = subprocess.run([sys.executable, "-c", FLAT, case, str(steps)], text=True, capture_output=True, check=True,
                              cwd=os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
        grown.append(float(done.stdout))
    assert grown[-1] < 2, grown


def test_column_sums_of_halves_do_not_lose_rows():
    x = np.full((5000, 3), 0.1, np.float16)
    assert (column_sums(x) == np.float16(5000 * np.float32(np.float16(0.1)))).all() and column_sums(x).dtype == np.float16
    assert (column_sums(np.ones((7, 2), np.int64)) == 7).all()
