"""A loss over all ranks' embeddings: values and gradients equal one process with the whole batch, whatever the shares."""

import sys
from pathlib import Path

import numpy as np
import pytest

import autograd as ag
from dparallel import AllGather, DataParallel, Devices
from dparallel.comm import run_ranks

for package in ("sklearn", "tqdm", "matplotlib"):
    pytest.importorskip(package)
sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))
import contrastive  # noqa: E402


def ntxent(a, b, temperature=0.2):
    """The loss of Chen et al. (2020), eq. 1, in NumPy, one pair at a time."""
    z = np.concatenate([a, b])
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    n, total = len(a), 0.0
    for i in range(2 * n):
        scores = z @ z[i] / temperature
        others = [k for k in range(2 * n) if k != i]
        total += np.log(np.exp(scores[others]).sum()) - scores[(i + n) % (2 * n)]
    return total / (2 * n)


def shares(size, kind):
    counts = {"even": [len(part) for part in np.array_split(np.arange(12), size)],
              "uneven": [12 - sum(range(size)), *range(1, size)], "none on the last": [12] if size == 1 else None}[kind]
    if counts is None:
        counts = [*(len(part) for part in np.array_split(np.arange(12), size - 1)), 0]
    starts = np.cumsum([0, *counts])
    return [np.arange(starts[p], starts[p + 1]) for p in range(size)]


def gradients(comm, rows, average="sum"):
    """This rank's loss and, after DataParallel has added up, the gradients."""
    net, rng = contrastive.encoder(np.float64), np.random.default_rng(1)     # ranks that are threads share ag's generator
    with ag.no_grad():
        for p in net.parameters():
            p.copy_(ag.tensor(rng.normal(0, 0.1, p.shape)))
    model = DataParallel(net, comm=comm, average=average, batch="own")
    x = contrastive.data(np.float64)[0]
    a, b = contrastive.views(x, rows, 0)
    z = model(ag.from_numpy(np.concatenate([a, b])))
    loss = contrastive.contrastive_loss(z[:len(rows)], z[len(rows):], comm)
    loss.backward()
    with ag.no_grad():
        embedded = [net(ag.from_numpy(part)).numpy() for part in contrastive.views(x, np.arange(12), 0)]
    return comm.total(loss.item()), embedded, [p.grad.numpy().copy() for p in net.parameters()]


def one_process():
    return gradients(Devices(1), np.arange(12))


@pytest.mark.parametrize("kind", ["even", "uneven", "none on the last"])
def test_gradients_equal_one_process(comm, kind):
    loss, embedded, grads = gradients(comm, shares(comm.size, kind)[comm.rank])
    np.testing.assert_allclose(loss, ntxent(*embedded), rtol=1e-12)
    wanted = one_process()[2] if comm.rank == 0 else None
    wanted = comm.broadcast_object(wanted)
    for mine, g in zip(grads, wanted, strict=True):
        np.testing.assert_allclose(mine, g, rtol=1e-9, atol=1e-13)


def test_the_mistakes_that_the_example_names_are_seen_by_this_test(monkeypatch):
    class OwnSlice(AllGather):
        @staticmethod
        def backward(ctx, g):
            first = sum(ctx.partner["sizes"][:ctx.partner["comm"].rank])
            return g[first:first + ctx.shapes[0][0]]

    def differs(size, average="sum", kind="even"):
        def check(comm):
            return gradients(comm, shares(comm.size, kind)[comm.rank], average)[2]
        wanted = one_process()[2]
        return not np.allclose(run_ranks(size, check)[0][0], wanted[0], rtol=1e-3)

    assert not differs(2)
    assert differs(2, "rows", "uneven")
    monkeypatch.setattr(contrastive, "AllGather", OwnSlice)
    assert differs(2)
