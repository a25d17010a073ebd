"""Comm hooks: averaging by a user's function equals the built-in sum; the bucket's methods; mistakes end on all ranks."""

import numpy as np
import pytest
from filled_models import filled
from raised import raises

import autograd as ag
from autograd import nn
from dparallel import CollectiveError, DataParallel, GradBucket
from dparallel.comm import Handle

ROWS, FEATURES = 7, 4


def make():
    return filled(nn.Sequential(nn.Linear(FEATURES, 5), nn.Tanh(), nn.Linear(5, 2)).double())


def share(comm):
    """Uneven rows: rank r has r + 1, rank 0 none where there are others."""
    rng = np.random.default_rng(0)
    sizes = [0 if r == 0 and comm.size > 1 else r + 1 for r in range(comm.size)]
    x = rng.standard_normal((sum(sizes), FEATURES))
    start = sum(sizes[:comm.rank])
    return x, slice(start, start + sizes[comm.rank])


def loss_of(model, x):
    return (model(ag.from_numpy(x)) ** 2).sum() / max(len(x), 1)


def averaging(state, bucket: GradBucket):
    """As it would be written for PyTorch: divide, sum."""
    state.append((bucket.index(), bucket.is_last(), [tuple(g.shape) for g in bucket.gradients()], list(bucket.names)))
    mine = bucket.buffer().numpy() / bucket.comm.size
    return bucket.comm.start_allreduce([mine]).then(lambda handle: handle.value()[0])


def test_a_hook_that_averages_equals_one_process(comm):
    x, rows = share(comm)
    model, one, seen = DataParallel(make(), comm=comm, batch="own", bucket_cap_mb=0.0001), make(), []
    model.register_comm_hook(seen, averaging)
    for _ in range(2):
        model.zero_grad()
        loss_of(model, x[rows]).backward()
    loss_of(one, x).backward()
    for p, q in zip(model.parameters(), one.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-12, atol=1e-12)
    count = len(seen) // 2
    assert count > 1 and [s[0] for s in seen] == [*range(count)] * 2
    assert [s[1] for s in seen[:count]] == [False] * (count - 1) + [True]
    assert sorted(n for s in seen[:count] for n in s[3]) == sorted(n for n, _ in one.named_parameters())


@pytest.mark.parametrize("average", ["ranks", "sum"])
def test_hooks_and_other_averages(comm, average):
    models = [DataParallel(make(), comm=comm, batch="own", average=average) for _ in range(2)]
    models[1].register_comm_hook([], averaging)
    x, rows = share(comm)
    for model in models:
        loss_of(model, x[rows]).backward()
    for p, q in zip(models[0].parameters(), models[1].parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-12, atol=1e-12)


def test_what_a_bucket_shares_and_what_a_hook_may_return(comm):
    def shares(kind, bucket):
        flat = bucket.buffer()
        assert flat.ndim == 1 and flat.numpy() is bucket.array
        assert all(np.shares_memory(g.numpy(), bucket.array) for g in bucket.gradients())
        assert [g.shape for g in bucket.gradients()] == [p.shape for p in bucket.parameters()]
        bucket.set_buffer(ag.ones(flat.shape[0], dtype=ag.float32))
        assert bucket.gradients()[0].dtype == ag.float32
        bucket.bytes_sent = 0
        value = bucket.buffer()
        return {"tensor": value, "array": value.numpy(), "handle": Handle(None, value=value),
                "list": Handle(None, value=[value.numpy()])}[kind]

    for kind in ("tensor", "array", "handle", "list"):
        model = DataParallel(make(), comm=comm, batch="own")
        model.register_comm_hook(kind, shares)
        loss_of(model, np.ones((1, FEATURES))).backward()
        assert all((p.grad.numpy() == 1).all() and p.grad.dtype == ag.float64 for p in model.parameters())


def test_a_failing_hook_ends_backward_on_all_ranks(comm):
    def late(comm, bucket):
        handle = averaging([], bucket)
        return handle.then(lambda h: 1 / 0 if comm.rank == comm.size - 1 else h.value())

    def early(comm, bucket):
        return 1 / 0 if comm.rank == comm.size - 1 and bucket.index() == 1 else averaging([], bucket)

    def wrong(comm, bucket):
        return np.ones(1) if comm.rank == comm.size - 1 else averaging([], bucket)

    for hook, kind in ((late, ZeroDivisionError), (early, ZeroDivisionError), (wrong, ValueError)):
        own = comm.duplicate()                       # threads that failed have started different numbers of collectives
        model = DataParallel(make(), comm=own, batch="own", bucket_cap_mb=0.0001)
        model.register_comm_hook(comm, hook)
        with pytest.raises(kind if comm.rank == comm.size - 1 else CollectiveError,
                           match=None if comm.rank == comm.size - 1 else f"rank {comm.size - 1}.*{hook.__name__} failed"):
            loss_of(model, np.ones((1, FEATURES))).backward()


@pytest.mark.devices
def test_registering(comm):
    model = DataParallel(make(), comm=comm)
    if comm.size > 1 and len(comm.held) > 1:
        raises(NotImplementedError, "local devices", model.register_comm_hook, None, averaging)
        return
    raises(TypeError, "must be callable", model.register_comm_hook, None, 3)

    def annotated(state, bucket: int):
        return bucket

    annotated.__annotations__["bucket"] = int
    raises(ValueError, "annotation should be GradBucket", model.register_comm_hook, None, annotated)
    model.register_comm_hook([], averaging)
    raises(RuntimeError, "only be called once", model.register_comm_hook, [], averaging)
    loss_of(model, np.ones((2, FEATURES))).backward()


def test_flags_of_unused_parameters_with_a_hook(comm):
    net = make()
    net.extra, net.never = nn.Linear(2, 1).double(), nn.Linear(2, 1).double()
    net.forward = lambda x: net.extra(nn.Sequential.forward(part, x)) if comm.rank == 0 else nn.Sequential.forward(part, x)
    part = nn.Sequential(*[net[i] for i in range(3)])
    model = DataParallel(net, comm=comm, batch="own", average="ranks")
    model.register_comm_hook([], averaging)
    loss_of(model, np.ones((1, FEATURES))).backward()
    assert net.extra.weight.grad is not None and net.never.weight.grad is None


def test_handles_chain():
    base = Handle(None, value=3)
    assert base.then(lambda h: h.value() + 1).then(lambda h: h.value() * 2).wait() == 8
    assert base.then(lambda h: Handle(None, value=h.value())).wait() == 3
    calls = []
    once = base.then(calls.append)
    once.wait()
    once.wait()
    assert len(calls) == 1
    failing = base.then(lambda h: 1 / 0).then(lambda h: 5)
    for _ in range(2):
        raises(ZeroDivisionError, None, failing.wait)
