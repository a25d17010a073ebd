"""Compiled remainders are NumPy's, bit by bit."""

import numpy as np
import pytest

import autograd as ag
from autograd.kernels import remainders
from autograd.kernels.loops import loops


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    assert np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a) & (a == a), np.signbit(b) & (b == b))


@pytest.mark.parametrize("name", ["fmod", "remainder"])
@pytest.mark.parametrize("scale", [1.0, 1e-40, 1e8, 2.0 ** 27])
def test_like_numpy(name, scale):
    rng = np.random.default_rng(0)
    mine, numpys = getattr(remainders, name), getattr(np, name)
    with np.errstate(all="ignore"):
        for by in (0.7, -0.7, 1.0, 1e-3, 3.0, -np.pi, np.inf, 0.0, np.nan):
            x = (rng.standard_normal(3000) * scale).astype(np.float32)
            y = np.array(by, np.float32)
            x[:600] = (np.arange(600) - 300).astype(np.float32) * y          # whole quotients and their neighbours
            x[600:1200] = np.nextafter(x[:600], np.float32(np.inf))
            x[1200:1800] = np.nextafter(x[:600], np.float32(-np.inf))
            x[1800:1810] = 0.0, -0.0, 1e-45, -1e-45, 1e-38, 0.7, -0.7, 5, 6, 7
            same(mine(x, y), numpys(x, y))
            same(mine(x.reshape(3, 1000), y.reshape(1)), numpys(x.reshape(3, 1000), y))
            many = (rng.standard_normal(3000) * scale).astype(np.float32)
            same(mine(x, many), numpys(x, many))
            same(mine(x[::2], many[:1500]), numpys(x[::2], many[:1500]))
        x[5] = np.nan
        same(mine(x, many), numpys(x, many))


@pytest.mark.skipif(loops.library is None, reason="loops are not compiled here, or switched off")
def test_where_it_is_used():
    x = np.linspace(-5, 5, 2000, dtype=np.float32)
    for y, used in ((np.float32(0.7), True), (x[::-1].copy() + 9, True), (np.zeros(1, np.float32), False), (x[:1000], False)):
        assert (remainders._compiled(x, np.asarray(y), True) is not None) is used
    t = ag.tensor(x, requires_grad=True)
    ((t % 0.7) * 3 + t.fmod(2)).sum().backward()
    assert np.array_equal(t.grad.numpy(), np.full(2000, 4, np.float32))
