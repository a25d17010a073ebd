"""Triangles agree with NumPy's, and a step with one can be recorded."""

import numpy as np
import pytest

import autograd as ag
from autograd.kernels.triangles import triangle


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (150, 40), (40, 150), (2, 3, 130, 129), (64, 64), (65, 65), (0, 3), (3, 0), (0, 70, 70)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "b1"])
def test_like_numpy(shape, dtype):
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    if dtype == "f4" and x.size:
        x.reshape(-1)[:: 3] = np.nan
    for k in (-200, -64, -1, 0, 1, 7, 63, 64, 200):
        for a in (x, x.swapaxes(-1, -2)):
            for lower, want in ((True, np.tril(a, k)), (False, np.triu(a, k))):
                got = triangle(a, k, lower)
                assert got.flags.c_contiguous and got.dtype == want.dtype and np.array_equal(got, want, equal_nan=dtype[0] == "f")


@pytest.mark.parametrize("call", [lambda x: x.tril(-1), lambda x: x.triu(2), lambda x: ag.linalg.lu_factor(x)[0]])
def test_recorded(call):
    x = ag.tensor(np.random.default_rng(1).standard_normal((80, 80)).astype(np.float32))
    w = ag.ones(80, 80, requires_grad=True)

    def step(x):
        w.grad = None
        loss = (call(x * w) ** 2).sum()
        loss.backward()
        return loss

    want = step(x * 2).item()
    gradient = w.grad.numpy().copy()
    traced = ag.trace_step(step, (x,))
    assert traced(x * 2).item() == want and np.array_equal(w.grad.numpy(), gradient)
