"""Two DataParallels that share a trunk, as with several tasks: in turns, in one backward pass, wrapped inside one another."""

import contextlib
import copy
import pickle
import warnings

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import DataParallel, hooks

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


@pytest.mark.parametrize("average", ["rows", "sum"])
def test_one_pass_adds_to_what_was_there(on_ranks, average):
    """Where gradients are sums of ranks', what was summed before must not be summed again; after passes inside no_sync()."""
    def check(comm):
        wrapped, own = tasks(), slice(comm.rank, None, comm.size)
        first, second = [DataParallel(task, comm=comm, average=average) for task in wrapped]
        alone = copy.deepcopy(wrapped)

        def total(one, two, rows):
            return (loss(one, rows) + loss(two, rows)) * (len(X[rows]) if average == "sum" else 1)

        for step in range(4):
            with (first.no_sync() if step == 2 else contextlib.nullcontext(),
                  second.no_sync() if step == 2 else contextlib.nullcontext()):
                total(first, second, own).backward()
            total(*alone, slice(None)).backward()
            for p, q in zip(nn.ModuleList(wrapped).parameters(), nn.ModuleList(alone).parameters(), strict=True):
                assert step == 2 or ag.allclose(p.grad, q.grad, rtol=1e-10)

    on_ranks(check)


@pytest.mark.parametrize("average", ["rows", "sum"])
@pytest.mark.parametrize("then", ["second", "both"])
def test_gradients_that_wait_for_another_are_not_summed(on_ranks, average, then):
    def check(comm):
        if comm.size == 1:
            return                                   # nothing is summed
        first, second = [DataParallel(task, comm=comm, average=average) for task in tasks()]
        with first.no_sync():
            loss(first, slice(4)).backward()
        with pytest.raises(RuntimeError, match="gradients of 0.* wait to be summed with those of another DataParallel"):
            (loss(second, slice(4)) + (loss(first, slice(4)) if then == "both" else 0.0)).backward()
        for model in (first, second):
            model.zero_grad()
            loss(model, slice(4)).backward()
        expected = second.module[0].weight.grad.clone()
        with second.no_sync():
            loss(second, slice(4)).backward()
        for model in (first, second):
            model.zero_grad()                        # so nothing waits
        loss(first, slice(4)).backward()
        expected = expected + first.module[0].weight.grad
        loss(second, slice(4)).backward()
        np.testing.assert_allclose(first.module[0].weight.grad.numpy(), expected.numpy())

    on_ranks(check)


@pytest.mark.parametrize("outer", [True, False])
def test_wrapped_twice_with_passes_that_add_up(on_ranks, outer):
    def check(comm):
        net, own = tasks()[0], slice(comm.rank, None, comm.size)
        inner = DataParallel(net, comm=comm)
        model = DataParallel(nn.Sequential(inner), comm=comm) if outer else inner
        alone = copy.deepcopy(net)
        for _ in range(2):
            with model.no_sync():
                loss(model, own).backward()
            loss(model, own).backward()
            for _ in range(2):
                loss(alone, slice(None)).backward()
        for p, q in zip(net.parameters(), alone.parameters(), strict=True):
            np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-10)

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


@pytest.mark.parametrize("options", [{}, {"mixed_precision": "bfloat16"}, {"reproducible": 4}], ids=str)
def test_a_copy_is_an_average_and_can_be_trained(on_ranks, options):
    """As AveragedModel makes one, before and after backward; on one rank alone, and by pickle with a clear error."""
    def check(comm):
        if "reproducible" in options and 4 % comm.size:
            return
        model = DataParallel(tasks()[0], comm=comm, average="sum", **options)
        x = ag.ones(4 // comm.size if "reproducible" in options else 2, 3, dtype=ag.float64)
        model(x).sum().backward()
        averaged = optim.swa_utils.AveragedModel(model)
        averaged.update_parameters(model)
        if comm.rank == 0:
            with ag.no_grad():
                np.testing.assert_array_equal(averaged(x).numpy(), model(x).numpy())
        copied = copy.deepcopy(model)
        copied.zero_grad()
        copied(x).sum().backward()
        for p, q in zip(model.parameters(), copied.parameters(), strict=True):
            assert p is not q
            np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-12)
        with pytest.raises(TypeError, match="can't be pickled"):
            pickle.dumps(model)

    on_ranks(check)


@pytest.mark.parametrize("first", ["no_sync", "weighted", "register_comm_hook", "skipping", "join"])
def test_a_copy_begins_with_any_method(on_ranks, first):
    def check(comm):
        model = copy.deepcopy(DataParallel(tasks()[0], comm=comm, average="ranks"))
        arguments = {"weighted": (1,), "register_comm_hook": (None, hooks.allreduce_hook)}.get(first, ())
        with getattr(model, first)(*arguments) or contextlib.nullcontext():
            (model(ag.ones(1, 3, dtype=ag.float64)).sum() * (comm.rank + 1)).backward()
        mine = comm.rank + 1 if first == "no_sync" else (comm.size + 1) / 2
        np.testing.assert_allclose(model.module[2].bias.grad.numpy(), mine)

    on_ranks(check)
