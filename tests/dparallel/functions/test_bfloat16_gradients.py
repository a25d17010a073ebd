"""bfloat16 through the collective Functions and DataParallel: gradients to the second order and tangents, sums in float32."""

import numpy as np
import pytest

import autograd as ag
from autograd import forward_ad, nn
from dparallel import (
    AllGather,
    AllReduce,
    AllToAll,
    Broadcast,
    DataParallel,
    Gather,
    Hierarchical,
    Irecv,
    Isend,
    Permute,
    Recv,
    Reduce,
    ReduceScatter,
    Scan,
    Scatter,
    Send,
    SendRecv,
    Wait,
    assert_same_everywhere,
    broadcast_coalesced,
    check_adjoint,
    convert_sync_batchnorm,
    join,
)

pytest.importorskip("ml_dtypes")
BF = ag.bfloat16
OPS = ("sum", "mean", "prod", "max", "min")


def tuples(value):
    return value if isinstance(value, tuple) else (value,)


def numbers(ranks, shape, seed, dtype):
    """Of each rank its own, all of them bfloat16 numbers."""
    return [ag.tensor(np.random.default_rng([p, seed]).standard_normal(shape).astype("f4")).to(BF).to(dtype) for p in ranks]


def collectives(comm):
    """(name, function of this process's inputs, shape of one of them, how many a process gives)"""
    n, last = comm.size, comm.size - 1
    for op in OPS:
        yield f"AllReduce {op}", lambda *x, op=op: AllReduce.apply(*x, comm=comm, op=op), (3, 2)
        yield f"Reduce {op}", lambda *x, op=op: Reduce.apply(*x, comm=comm, op=op, root=last), (3, 2)
        yield f"ReduceScatter {op}", lambda *x, op=op: ReduceScatter.apply(*x, comm=comm, op=op), (n + 1, 2)
    yield "first", lambda *x: AllReduce.apply(*x, comm=comm, op="max", ties="first"), ()
    yield "AllGather", lambda *x: AllGather.apply(*x, comm=comm, dim=1), (3, 2)
    yield "Gather", lambda *x: Gather.apply(*x, comm=comm, root=last), (3, 2)
    yield "Scan", lambda *x: Scan.apply(*x, comm=comm), (3, 2)
    yield "AllToAll", lambda *x: AllToAll.apply(*x, comm=comm), (n, 2)
    yield "SendRecv", lambda *x: SendRecv.apply(*x, comm=comm), (3, 2)
    yield "Permute", lambda *x: Permute.apply(*x, comm=comm, pairs=[(i, (i + 1) % n) for i in range(n)]), (3, 2)
    yield "Broadcast", lambda *x: Broadcast.apply(x[0], comm=comm, root=0), (3, 2)
    yield "Scatter", lambda *x: Scatter.apply(x[0], comm=comm, root=0), (n + 1, 2)
    yield "start", lambda *x: AllReduce.start(*x, comm=comm).wait(), (3, 2)


def derivatives(f, comm, shape, dtype):
    """Outputs, gradients, gradients of those and tangents, in dtype."""
    xs = [x.requires_grad_() for x in numbers(comm.held, shape, 1, dtype)]
    ys = tuples(f(*xs))
    us = [ag.tensor(np.random.default_rng([p, 2]).standard_normal(y.shape)).to(BF).to(dtype).requires_grad_()
          for p, y in zip(comm.held, ys, strict=False)]
    gs = ag.autograd.grad(ys, xs, us, create_graph=True, allow_unused=True)
    vs = numbers(comm.held, shape, 3, dtype)
    found = [(g, v) for g, v in zip(gs, vs, strict=True) if g is not None]
    seconds = ag.autograd.grad([g for g, _ in found], us, [v for _, v in found], allow_unused=True)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x.detach(), v) for x, v in zip(xs, vs, strict=True)]
        tangents = [forward_ad.unpack_dual(y).tangent for y in tuples(f(*duals))]
    return [*ys, *gs, *seconds, *tangents]


@pytest.mark.devices
def test_every_collective(comm):
    """Beside float32 of the same numbers."""
    for name, f, shape in collectives(comm):
        narrow, wide = (derivatives(f, comm, shape, dtype) for dtype in (BF, ag.float32))
        for a, b in zip(narrow, wide, strict=True):
            assert (a is None) == (b is None), name
            if a is not None:
                assert a.dtype == BF and a.shape == b.shape, name
                exact = b.detach().numpy()
                atol = 2 ** -6 * np.abs(exact).max(initial=1)
                np.testing.assert_allclose(a.detach().float().numpy(), exact, rtol=2 ** -6, atol=atol, err_msg=name)


@pytest.mark.devices
def test_sums_are_rounded_once(comm):
    """1 + 2^-8 + 2^-8 is 1 if each sum is rounded."""
    if comm.size < 3:
        return
    xs = [ag.tensor([1.0 if p == 0 else 2.0 ** -8 if p < 3 else 0.0], dtype=BF, requires_grad=True) for p in comm.held]
    for y in tuples(AllReduce.apply(*xs, comm=comm)):
        assert y.item() == 1 + 2.0 ** -7
    w = ag.tensor([1.0], dtype=BF, requires_grad=True)
    copies = tuples(Broadcast.apply(w, comm=comm))
    sum(c * x.detach() for c, x in zip(copies, xs, strict=True)).sum().backward()
    assert 0 not in comm.held or w.grad.item() == 1 + 2.0 ** -7


def test_messages(comm):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    x = ag.tensor([1.5, float(comm.rank)], dtype=BF, requires_grad=True)
    handle = Isend.apply(x, comm=comm, dest=right)
    y = join(Wait.apply(Irecv.apply(comm=comm, source=left)), Wait.apply(handle))
    token = Send.apply(x, comm=comm, dest=right)
    z = join(Recv.apply(comm=comm, source=left), token)
    assert y.dtype == z.dtype == BF and y.tolist() == z.tolist() == [1.5, float(left)]
    (y * y + z).sum().backward()
    assert x.grad.dtype == BF and x.grad.tolist() == [4.0, 2.0 * comm.rank + 1]


@pytest.mark.devices
def test_check_adjoint_and_coalesced(comm):
    for make in (np.ones, ag.ones):
        xs = [make(3, dtype=BF) for _ in comm.held]
        check_adjoint(lambda *x: AllReduce.apply(*x, comm=comm), xs, comm)
        if len(comm.held) == 1:                  # a rank without a part, beside one whose part is bfloat16
            check_adjoint(lambda x: Gather.apply(x, comm=comm), xs if comm.rank == 0 else [None], comm)
    w = ag.ones(3, dtype=BF, requires_grad=True)
    sent = broadcast_coalesced([w, w.float()], comm)
    assert [t.dtype for t in sent[0]] == [BF, ag.float32]
    sum(t.sum() for copy in sent for t in copy).backward()
    assert 0 not in comm.held or w.grad.tolist() == [2.0 * comm.size] * 3


def test_hierarchical(comm):
    levels = Hierarchical(comm, comm.split(comm.rank // 2))
    x = ag.tensor([1.0 if comm.rank == 0 else 2.0 ** -8], dtype=BF, requires_grad=True)
    y = AllReduce.apply(x, comm=levels)
    y.backward(ag.tensor([comm.rank + 1.0], dtype=BF))
    assert y.dtype == x.grad.dtype == BF and x.grad.item() == comm.size * (comm.size + 1) / 2
    assert y.item() == ag.tensor(1 + (comm.size - 1) * 2.0 ** -8).to(BF).item()


# --- DataParallel ----------------------------------------------------------------------------------------------------------

ROWS = (2, 5, 1, 8, 3, 4, 6, 7)                       # of each rank


def data(ranks):
    rng = np.random.default_rng(5)
    parts = [rng.standard_normal((ROWS[rank], 6)).astype("f4") for rank in range(max(ranks) + 1)]
    return ag.tensor(np.concatenate([parts[rank] for rank in ranks])).to(BF)


def make(norm=False):
    """The same on all ranks, threads among them, which share a stream of random numbers."""
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8) if norm else nn.Tanh(), nn.Linear(8, 1))
    rng = np.random.default_rng(6)
    with ag.no_grad():
        for p in model.parameters():
            p.copy_(ag.tensor(rng.uniform(-0.5, 0.5, p.shape)))
    return model.to(BF)


def gradients(model, x):
    """Of a loss whose sum over rows is the same however they are cut."""
    ((model(x) - x[:, :1]) ** 2).mean().backward()
    for p in model.parameters():
        assert p.dtype == p.grad.dtype == BF
    return [p.grad.float().numpy() for p in model.parameters()]


def alike(mine, exact):
    largest = max(np.abs(b).max() for b in exact)
    for a, b in zip(mine, exact, strict=True):
        np.testing.assert_allclose(a, b, rtol=2 ** -5, atol=2 ** -6 * largest)


@pytest.mark.parametrize("settings", [{}, {"bucket_cap_mb": 1e-4}, {"mixed_precision": "bfloat16"},
                                      {"mixed_precision": "float32"}], ids=str)
def test_data_parallel(comm, settings):
    exact = gradients(make(), data(range(comm.size)))
    model = DataParallel(make(), comm=comm, **settings)
    alike(gradients(model, data([comm.rank])), exact)
    assert_same_everywhere([p.grad for p in model.parameters()], comm)
    optimizer = ag.optim.SGD(model.parameters(), lr=0.1)
    optimizer.step()
    assert_same_everywhere(model, comm)


def test_weights_of_ranks_are_not_rounded(comm):
    """257 rows are no bfloat16 number, nor are 258: in a bfloat16 bucket they would become 256 and 258, or 260."""
    model = DataParallel(nn.Linear(1, 1, bias=False).to(BF), comm=comm)
    first = comm.rank == 0
    for _ in range(2):                           # the second pass counts in other units
        model.zero_grad()
        model(ag.full((257 if first else 1, 1), float(first), dtype=BF)).mean().backward()
        exact = 257 / (256 + comm.size)
        assert abs(next(model.parameters()).grad.item() / exact - 1) <= 2 ** -9


@pytest.mark.parametrize("stage", ["optimizer", "gradients", "parameters"])
def test_sharded(comm, stage):
    models = DataParallel(make(), comm=comm), DataParallel(make(), comm=comm, shard=stage)
    for model in models:
        optimizer = ag.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            x = data([comm.rank])
            ((model(x) - x[:, :1]) ** 2).mean().backward()
            optimizer.step()
    plain, sharded = (model.state_dict() for model in models)
    assert list(plain) == list(sharded) and all(v.dtype == BF for v in sharded.values())
    alike([v.float().numpy() for v in sharded.values()], [v.float().numpy() for v in plain.values()])


def test_synchronised_norm(comm):
    exact = gradients(make(norm=True), data(range(comm.size)))
    model = DataParallel(convert_sync_batchnorm(make(norm=True)), comm=comm)
    alike(gradients(model, data([comm.rank])), exact)


def test_local_devices():
    exact = gradients(make(), data(range(4)))
    for settings in ({}, {"reproducible": 4}):
        model = DataParallel(make(), devices=2, **settings)
        x = data(range(4))
        assert len(x) == 16
        ((model(x) - x[:, :1]) ** 2).mean().backward()
        alike([p.grad.float().numpy() for p in model.parameters()], exact)


def test_trees_are_rounded_once(comm):
    if comm.size > 2:
        return
    model = DataParallel(nn.Linear(1, 1, bias=False).to(BF), comm=comm, reproducible=4, average="sum")
    rows = ag.tensor([[1.0], [2.0 ** -8], [2.0 ** -8], [0.0]], dtype=BF).chunk(comm.size)[comm.rank]
    model(rows).sum().backward()
    (p,) = model.parameters()
    assert p.grad.dtype == BF and p.grad.item() == 1 + 2.0 ** -7
    model.zero_grad()
    for x in model.shards(rows):
        model(x).sum().backward()
    assert p.grad.dtype == BF and p.grad.item() == 1 + 2.0 ** -7
