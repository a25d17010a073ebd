"""Kernels compiled for float64 give NumPy's numbers, bit by bit."""

import numpy as np
import pytest

import autograd as ag
from autograd import optim
from autograd.kernels import optimizer_steps
from autograd.kernels.loops import FLOAT64, kernels_for, loops
from autograd.nn import functional as F

pytestmark = pytest.mark.skipif(loops.library is None, reason="loops are not compiled here, or switched off")
OPTIMIZERS = {
    "adam": lambda p: optim.Adam(p, 0.01), "adam decay": lambda p: optim.Adam(p, 0.01, weight_decay=0.1),
    "adamw": lambda p: optim.AdamW(p, 0.01, betas=(0.8, 0.95)), "adamw up": lambda p: optim.AdamW(p, 0.01, maximize=True),
    "amsgrad": lambda p: optim.Adam(p, 0.01, amsgrad=True), "sgd": lambda p: optim.SGD(p, 0.1),
    "sgd decay": lambda p: optim.SGD(p, 0.1, weight_decay=0.3, maximize=True), "momentum": lambda p: optim.SGD(p, 0.1, momentum=0.9),
    "dampened": lambda p: optim.SGD(p, 0.1, momentum=0.9, dampening=0.3, weight_decay=0.1),
    "nesterov": lambda p: optim.SGD(p, 0.1, momentum=0.7, nesterov=True, weight_decay=0.1)}


@pytest.fixture
def numpy_only(monkeypatch):
    return lambda: monkeypatch.setattr(loops, "library", None)


def trained(make):
    rng = np.random.default_rng(0)
    parameters = [ag.tensor(rng.standard_normal(n), requires_grad=True) for n in (1500, 33, 7001)]
    optimizer = make(parameters)
    for _ in range(5):
        for p in parameters:
            p.grad = ag.tensor(rng.standard_normal(p.shape))
        optimizer.step()
    return [p.detach().numpy().copy() for p in parameters]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name, numpy_only):
    quick = trained(OPTIMIZERS[name])
    numpy_only()
    for a, b in zip(quick, trained(OPTIMIZERS[name])):
        assert a.dtype == np.float64 and np.array_equal(a, b)


def test_mixed_dtypes_are_numpys():
    double, single = np.zeros(5000), np.zeros(5000, np.float32)
    assert optimizer_steps.loop("adam", double, single, double, double) is None and optimizer_steps.loop("sgd", single, double, None) is None
    assert optimizer_steps.loop("sgd", double, double, None) is not None


@pytest.mark.parametrize("function", [F.relu, lambda x: F.leaky_relu(x, 0.3), lambda x: F.leaky_relu(x, -0.3)])
@pytest.mark.parametrize("last", [False, True])
def test_activations(function, last, numpy_only):
    x = np.random.default_rng(1).standard_normal((3, 5, 40, 41))
    x[0, 0, :6, 0] = 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310
    x = np.moveaxis(x, 1, -1).copy() if last else x
    g = np.random.default_rng(2).standard_normal((3, 5, 40, 41))

    def both():
        leaf = ag.tensor(x, requires_grad=True)
        out = function((leaf.permute(0, 3, 1, 2) if last else leaf) * 1)
        return out.detach().numpy(), ag.grad(out, leaf, ag.tensor(g))[0].numpy()

    assert kernels_for(x, dtype=FLOAT64) is not None
    quick = both()
    numpy_only()
    for a, b in zip(quick, both()):
        assert a.dtype == np.float64 and np.array_equal(a, b, equal_nan=True)
