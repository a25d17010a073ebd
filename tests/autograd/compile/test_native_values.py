"""Steps that write in place, read views, broadcast, and compute with nan, inf and no elements, compiled against eager."""

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd.compile.checks.state import Snapshot
from autograd.compile.native import available
from autograd.compile.programs.engines import NATIVE
from autograd.compile.recorded import Recorded
from autograd.compile.recording.nests import Nest
from autograd.profiler import profile

pytestmark = pytest.mark.skipif(bool(available()), reason=available())
SPECIAL = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e30, -1e-30, 88.0, 3.0, 0.5]


def in_place(w):
    y = w * 2
    y.add_(1).mul_(2)
    y[0] = w[1]
    y[1:, ::2] = w[1:, 1::2] * 3
    y[:, 1].sub_(w[:, 0])
    return y


def with_out(w):
    made = ag.zeros(3, 4)
    ag.exp(w.detach(), out=made)
    return made * w


def views(w):
    return w.t()[1:].reshape(-1)[1::2][:4] * w.view(2, 6)[:, 1:3].flatten() + w.diagonal().sum()


def broadcast(w):
    return w[:, None, :] * w[None, :, :1] + w.sum(0) + w[0, 0]


def places(w):
    index = ag.tensor([2, 0, 0, -1])
    return w[index] + w[:, index].sum() + w.gather(1, ag.tensor([[0, 3], [1, 1], [2, 0]])).sum() + w.cumsum(1).sum()


def without_elements(w):
    return w[:0].sum() + (w[3:] * 2).exp().sum() + w.sum()


def extremes(w):
    return ag.maximum(w, w.flip(0)) + ag.minimum(w, w * 0 + 1) + w.clamp(-1, 1) + ag.where(w > 0, w, w.exp()) + ag.relu(w) + w.amax(1, True)


def norms(w):
    return ag.stack([w.norm(), w.var(), w.std(1).sum(), ag.softmax(w, 1).sum(), ag.logsumexp(w, 0).sum()])


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("special", [False, True], ids=["plain", "special"])
@pytest.mark.parametrize("function", [in_place, with_out, views, broadcast, places, without_elements, extremes, norms])
def test_values(function, special, dtype):
    """Recorded with some values, run with others."""
    rng = np.random.default_rng(0)
    w = ag.tensor(rng.standard_normal((3, 4)), dtype=dtype, requires_grad=True)

    def step():
        w.grad = None
        y = function(w)
        y.sum().backward()
        return y.detach()

    with np.errstate(all="ignore"):
        step()
        recorded = Recorded(step, Nest(()), Snapshot([step]), [step], NATIVE).make()
        for _ in range(3):
            w.array[...] = rng.permutation(SPECIAL).reshape(3, 4) if special else rng.standard_normal((3, 4))
            wanted = step().array.copy(), w.grad.array.copy()
            w.grad = None
            got = recorded.program.run()[0], w.grad.array
            for a, b in zip(got, wanted):
                np.testing.assert_allclose(a, b, 1e-5 if dtype is ag.float32 else 1e-12, 1e-6, equal_nan=True)


INDEXED = {
    "rows": lambda w, i: w[i], "elements": lambda w, i: w[i, i % 4], "second": lambda w, i: w[i * 0, i], "take": lambda w, i: w.take(i),
    "gather": lambda w, i: w.gather(0, i[:, None]), "embedding": lambda w, i: F.embedding(i, w), "index_select": lambda w, i: w.index_select(1, i),
    "index_add": lambda w, i: w.index_add(0, i, w[:2]), "cross_entropy": lambda w, i: F.cross_entropy(w[:2], i),
}


@pytest.mark.parametrize("name", INDEXED)
def test_indices_out_of_bounds(name):
    """An index that the step computes raises as it does eagerly, and the next one that is right gives the right result."""
    w = ag.arange(12.0).reshape(3, 4).requires_grad_()

    def step(x):
        return INDEXED[name](w, (x * 2).long()).sum().detach()

    def outcome(run, x):
        try:
            return round(run(ag.tensor(x)).item(), 3)
        except (IndexError, RuntimeError) as error:
            return isinstance(error, IndexError) or str(error)

    run = ag.compile(step, fullgraph=True)
    for x in ([0.0, 1.0], [0.5, 0.0], [0.0, 30.0], [-0.5, 1.0], [0.0, -30.0], [1.0, 0.0]):
        assert outcome(run, x) == outcome(step, x), x
    assert "native" in run.program()


def test_a_profiler_names_loops_by_their_operations():
    w = ag.ones(3, 3, requires_grad=True)

    def step(x):
        w.grad = None
        loss = ((x @ w).exp() * 2).sum()
        loss.backward()
        return loss.detach()

    run = ag.compile(step, fullgraph=True)
    run(ag.ones(2, 3))
    plain = run(ag.ones(2, 3)).item()
    with profile() as profiled:
        assert run(ag.ones(2, 3)).item() == plain and w.grad is not None
    names = [event.key for event in profiled.key_averages()]
    assert "replay::product (product)" in names and any("exp, multiply" in name and "(loop)" in name for name in names), names
