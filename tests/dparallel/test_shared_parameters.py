"""Two DataParallels that share a trunk, as with several tasks: in turns, in one backward pass, wrapped inside one another."""

import copy
import warnings

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn
from dparallel import DataParallel

X, Y = np.random.default_rng(0).standard_normal((2, 12, 3))


def loss(model, rows):
    return F.mse_loss(model(ag.from_numpy(X[rows])), ag.from_numpy(Y[rows]))


def tasks():
    trunk = nn.Linear(3, 3, dtype=ag.float64)
    return [nn.Sequential(trunk, nn.Tanh(), nn.Linear(3, 3, dtype=ag.float64)) for _ in range(2)]


@pytest.mark.parametrize("how", ["first", "in turns", "one pass", "unsummed"])
@pytest.mark.parametrize("cap", [1e-5, 25])
def test_two_tasks(on_ranks, how, cap):
    def check(comm):
        wrapped = tasks()
        models = [DataParallel(task, comm=comm, bucket_cap_mb=cap) for task in wrapped]
        alone = copy.deepcopy(wrapped)
        own = slice(comm.rank, None, comm.size)
        for _ in range(3):
            for task in wrapped + alone:
                task.zero_grad()
            with warnings.catch_warnings():
                warnings.simplefilter("error")       # nothing is unused
                if how == "one pass":
                    (loss(models[0], own) + loss(models[1], own)).backward()
                elif how == "unsummed":
                    with models[0].no_sync():
                        loss(models[0], own).backward()
                    loss(models[0], own).backward()
                else:
                    for model in models[:1 if how == "first" else 2]:
                        loss(model, own).backward()
            used = {"first": alone[:1], "unsummed": [alone[0], alone[0]]}.get(how, alone)
            for task in used:
                loss(task, slice(None)).backward()
            for p, q in zip(nn.ModuleList(wrapped).parameters(), nn.ModuleList(alone).parameters(), strict=True):
                np.testing.assert_allclose((p.grad if p.grad is not None else 0 * p).detach().numpy(),
                                           (q.grad if q.grad is not None else 0 * q).detach().numpy(), atol=1e-12)

    on_ranks(check)


def test_one_pass_that_counts_otherwise_in_both_is_an_error(on_ranks):
    def check(comm):
        if comm.size == 1:
            return                                   # nothing is summed
        first, second = [DataParallel(task, comm=comm) for task in tasks()]
        with pytest.raises(RuntimeError, match="share 0.bias.*do not count the same in both .3 and 4"):
            (loss(first, slice(4)) + loss(second, slice(3))).backward()

    on_ranks(check)


def test_wrapped_twice(on_ranks):
    """A DataParallel inside another, and one whose module was wrapped again: each can be trained."""
    def check(comm):
        net, own = tasks()[0], slice(comm.rank, None, comm.size)
        inner = DataParallel(net, comm=comm)
        alone = copy.deepcopy(net)
        loss(alone, slice(None)).backward()
        for model in (inner, DataParallel(nn.Sequential(inner), comm=comm), inner, DataParallel(net, comm=comm), inner):
            net.zero_grad()
            loss(model, own).backward()
            for p, q in zip(net.parameters(), alone.parameters(), strict=True):
                np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), atol=1e-12)

    on_ranks(check)
