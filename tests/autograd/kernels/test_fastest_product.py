"""The choice of a library for products: right results, remembered, alike on all ranks."""

import ctypes
import pickle
from itertools import product

import numpy as np
import pytest

from autograd.kernels import choose, fastest_product
from autograd.kernels.addresses import address
from autograd.kernels.fastest_product import Gemm, adopt, candidates, fastest, table

SHAPES = [(m, n, k) for m, n, k in product((1, 5, 64), (1, 7, 48), (1, 3, 33))]


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(fastest_product, "_chosen", {})


@pytest.fixture
def two(monkeypatch):
    """Two libraries that only differ in name, the first one usual, and their costs in seconds."""
    costs = {"onednn": 1.0, "openblas": 1.0}
    now = [0.0]

    def cost(name):
        def call(*args):
            now[0] += costs[name] if args[2 + (name == "openblas")] else 0.0      # of m rows
        return call

    found = [Gemm(name, cost(name), "i64") for name in costs]
    monkeypatch.setattr(fastest_product, "candidates", lambda dtype: found)
    monkeypatch.setattr(fastest_product, "CLOCK", lambda: now[0])
    monkeypatch.setattr(fastest_product, "using", lambda library, count, call, *args: call(*args))
    return costs


@pytest.mark.parametrize(("dtype", "number"), [(dtype, number) for dtype in ("f4", "f8") for number in range(len(candidates(dtype)))])
def test_each_library_multiplies_each_layout(dtype, number):
    gemm, rng = candidates(dtype)[number], np.random.default_rng(0)
    for (m, n, k), left, right in product(SHAPES, (False, True), (False, True)):
        a, b, start = (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        x, y = (np.ascontiguousarray(z.T if turned else z) for z, turned in ((a, left), (b, right)))
        out = np.full((m, n), np.nan, dtype)
        gemm.bound(m, n, k, left, right, address(x), address(y), address(out))()
        np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-4)
        out[...] = start
        gemm.bound(m, n, k, left, right, address(x), address(y), address(out), beta=1.0)()
        np.testing.assert_allclose(out, start + a @ b, rtol=1e-4, atol=1e-4)


def test_native_code_can_call_the_address():
    gemm = fastest(8, 8, 8, False, False, np.float64)
    if gemm is None:
        pytest.skip("NumPy's products are not OpenBLAS's")
    size = ctypes.c_int64 if gemm.integer == "i64" else ctypes.c_int
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int] * 3, *[size] * 3, ctypes.c_double, ctypes.c_void_p, size, ctypes.c_void_p, size, ctypes.c_double,
                            ctypes.c_void_p, size)(gemm.address)
    x, out = np.random.default_rng(0).standard_normal((8, 8)), np.empty((8, 8))
    call(101, 111, 112, 8, 8, 8, 1.0, address(x), 8, address(x), 8, 0.0, address(out), 8)
    np.testing.assert_allclose(out, x @ x.T)


def test_the_shape_of_a_measurement_is_the_shape_asked_for():
    """Real libraries; whatever the choice is, it is one of them, and remembered."""
    found = candidates(np.float32)
    if len(found) < 2:
        pytest.skip("one library")
    gemm = fastest(20, 30, 40, True, False, np.float32)
    assert gemm in found and table() == {(20, 30, 40, True, False, "f"): gemm.name}


@pytest.mark.parametrize(("usual", "other", "name"), [(1.0, 0.9, "openblas"), (1.0, 0.97, "onednn"), (0.9, 1.0, "onednn")])
def test_another_library_must_be_clearly_faster(two, usual, other, name):
    two.update(onednn=usual, openblas=other)
    assert fastest(4, 4, 4, False, True, "f4").name == name


def test_a_shape_is_measured_once(two):
    for first, second in ((1.0, 0.5), (0.5, 1.0)):
        two.update(onednn=first, openblas=second)
        assert fastest(4, 4, 4, False, True, "f4").name == "openblas"
    assert fastest(4, 4, 4, True, True, "f4").name == "onednn"


def test_ranks_take_the_choices_of_one(two):
    two.update(openblas=0.1)
    adopt(pickle.loads(pickle.dumps({(4, 4, 4, False, False, "f"): "onednn"})))
    assert fastest(4, 4, 4, False, False, "f4").name == "onednn" and fastest(4, 4, 5, False, False, "f4").name == "openblas"
    assert table() == {(4, 4, 4, False, False, "f"): "onednn", (4, 4, 5, False, False, "f"): "openblas"}
    with pytest.raises(RuntimeError, match="another rank chose mkl, which this rank does not have"):
        adopt({(4, 4, 4, False, False, "f"): "mkl"})


def test_rows_alike_measures_nothing(two):
    two.update(openblas=0.1)
    with choose.rows_alike():
        assert fastest(4, 4, 4, False, False, "f4").name == "onednn"
    assert not table()
