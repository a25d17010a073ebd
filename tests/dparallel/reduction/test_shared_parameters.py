"""Two DataParallels that share a trunk, as with several tasks: in turns, in one backward pass, wrapped inside one another."""

import contextlib
import copy
import functools
import io
import pickle
import warnings

import numpy as np
import pytest
from filled_models import filled
from raised import raises

import autograd as ag
import autograd.nn.functional as F
import dparallel.distributed as dist
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
def test_two_tasks(comm, how, cap):
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


def test_one_pass_that_counts_otherwise_in_both_is_an_error(comm):
    if comm.size == 1:
        return                                   # nothing is summed
    first, second = [DataParallel(task, comm=comm) for task in tasks()]
    with pytest.raises(RuntimeError, match="share 0.bias.*different weights in the two .3 and 4"):
        (loss(first, slice(4)) + loss(second, slice(3))).backward()


@pytest.mark.parametrize("average", ["rows", "sum"])
def test_one_pass_adds_to_what_was_there(comm, average):
    """Where gradients are sums of ranks', what was summed before must not be summed again; after passes inside no_sync()."""
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


@pytest.mark.parametrize("average", ["rows", "sum"])
@pytest.mark.parametrize("then", ["second", "both"])
def test_gradients_that_wait_for_another_are_not_summed(comm, average, then):
    if comm.size == 1:
        return                                   # nothing is summed
    first, second = [DataParallel(task, comm=comm, average=average) for task in tasks()]
    with first.no_sync():
        loss(first, slice(4)).backward()
    with pytest.raises(RuntimeError, match="gradients of 0.* of another DataParallel that shares it are not summed"):
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


@pytest.mark.parametrize("outer", [True, False])
def test_wrapped_twice_with_passes_that_add_up(comm, outer):
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


def test_wrapped_twice(comm):
    """A DataParallel inside another, and one whose module was wrapped again: each can be trained."""
    net, own = tasks()[0], slice(comm.rank, None, comm.size)
    inner = DataParallel(net, comm=comm)
    alone = copy.deepcopy(net)
    loss(alone, slice(None)).backward()
    for model in (inner, DataParallel(nn.Sequential(inner), comm=comm), inner, DataParallel(net, comm=comm), inner):
        net.zero_grad()
        loss(model, own).backward()
        for p, q in zip(net.parameters(), alone.parameters(), strict=True):
            np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"mixed_precision": "bfloat16"}, {"reproducible": 4}], ids=str)
def test_a_copy_is_an_average_and_can_be_trained(comm, options):
    """As AveragedModel makes one, before and after backward; on one rank alone."""
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


def ddp(net, comm, **options):
    return dist.DistributedDataParallel(net, **options)


PICKLED = {"rows": DataParallel, "nn": nn.DataParallel, "root": lambda net, comm: DataParallel(net, comm=comm, batch="root"),
           "ranks": lambda net, comm: DataParallel(net, comm=comm, average="ranks", bucket_cap_mb=1e-5, find_nan=True),
           "sum": lambda net, comm: nn.DataParallel(net, comm=comm, average="sum", devices=2, verify_every=1),
           "wire": lambda net, comm: DataParallel(net, comm=comm, mixed_precision="float32", evaluation_buffers="mean"),
           "reproducible": lambda net, comm: DataParallel(net, comm=comm, reproducible=4), "devices": lambda net, comm: DataParallel(net, devices=2),
           "twice": lambda net, comm: nn.Sequential(DataParallel(DataParallel(net, comm=comm), comm=comm)),
           "ddp": ddp, "ddp views": functools.partial(ddp, gradient_as_bucket_view=True, find_unused_parameters=True)}


@pytest.mark.parametrize("kind", PICKLED)
def test_a_pickle_works_on_the_ranks_that_load_it(comm, kind):
    """save() on rank 0 alone, as published scripts do; of ranks that no other job has, an error in words."""
    if kind == "reproducible" and 4 % comm.size:
        return
    dist.init_process_group(comm=comm)
    job = None if comm.kind == "mpi" else comm
    model = PICKLED[kind](filled(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 2)).double()), job)
    model.note, file = "mine", io.BytesIO()
    x = ag.from_numpy(X + comm.rank)

    def step(model):
        model.zero_grad()
        model(x).sin().sum().backward()
        return [p.grad.clone() for p in model.parameters() if p.grad is not None]

    step(model)
    if kind == "devices" or "ddp" in kind or comm.kind == "mpi":
        if comm.rank == 0:
            with pytest.warns(UserWarning, match="weights_only=False"):
                ag.save({"net": model, "epoch": 3}, file)
        data = comm.broadcast_object(file.getvalue())
        raises(pickle.UnpicklingError, "weights_only=False", lambda: ag.load(io.BytesIO(data)))
        loaded = ag.load(io.BytesIO(data), weights_only=False)["net"]
        assert type(loaded) is type(model) and loaded.note == "mine" and str(loaded) == str(model)
        for _ in range(2):
            for g, h in zip(step(loaded), step(model), strict=True):
                np.testing.assert_allclose(g.numpy(), h.numpy(), rtol=1e-6 if kind == "wire" else 1e-12)
        assert list(loaded.state_dict()) == list(model.state_dict())
    else:
        raises(TypeError, "can't be pickled: another job has no such ranks", ag.save, model, file)
    own = pickle.dumps(ddp(nn.Linear(1, 1), comm))
    group = dist.new_group([0])
    if comm.rank == 0:
        with pytest.raises(RuntimeError, match="have not passed process_group"):
            ag.save(ddp(nn.Linear(1, 1), comm, process_group=group), file)
    sharded = DataParallel(nn.Linear(4, 1), comm=job, shard="parameters")
    with pytest.raises(TypeError, match="shard='parameters' can't be pickled: each rank has its slices. Save model.state_dict"):
        ag.save(sharded, file)
    dist.destroy_process_group()
    raises(ValueError, "Default process group has not been initialized", pickle.loads, own)


@pytest.mark.parametrize("first", ["no_sync", "weighted", "register_comm_hook", "skipping", "join"])
def test_a_copy_begins_with_any_method(comm, first):
    model = copy.deepcopy(DataParallel(tasks()[0], comm=comm, average="ranks"))
    arguments = {"weighted": (1,), "register_comm_hook": (None, hooks.allreduce_hook)}.get(first, ())
    with getattr(model, first)(*arguments) or contextlib.nullcontext():
        (model(ag.ones(1, 3, dtype=ag.float64)).sum() * (comm.rank + 1)).backward()
    mine = comm.rank + 1 if first == "no_sync" else (comm.size + 1) / 2
    np.testing.assert_allclose(model.module[2].bias.grad.numpy(), mine)
