"""Forward mode through collectives: tangents against differences, on ranks without a tangent too; Hessian products."""

import numpy as np
import pytest

import autograd as ag
from autograd import forward_ad
from dparallel import (
    AllGather,
    AllReduce,
    AllToAll,
    Broadcast,
    Collective,
    CollectiveError,
    DataParallel,
    Gather,
    Reduce,
    ReduceScatter,
    Scatter,
)

FORMS = {"apply": lambda F, *xs, **settings: F.apply(*xs, **settings),
         "start": lambda F, *xs, **settings: F.start(*xs, **settings).wait()}
CASES = {"AllReduce": (AllReduce, {}), "mean": (AllReduce, {"op": "mean"}), "prod": (AllReduce, {"op": "prod"}),
         "max": (AllReduce, {"op": "max"}), "Reduce prod": (Reduce, {"op": "prod"}), "ReduceScatter min": (ReduceScatter, {"op": "min", "dim": -1}),
         "AllGather": (AllGather, {"dim": -1}), "AllToAll": (AllToAll, {"dim": 1}), "Gather": (Gather, {"dim": 1}),
         "Broadcast": (Broadcast, {}), "Scatter": (Scatter, {"dim": 1})}


def tuple_of(y):
    return y if isinstance(y, tuple) else (y,)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.devices
def test_tangents_are_those_of_differences(comm, name, form):
    F, settings = CASES[name]
    rng = np.random.default_rng([comm.rank, 5])
    ranks = comm.held[:1] if F in (Broadcast, Scatter) else comm.held
    X = [rng.standard_normal((2, 5)) for _ in ranks]
    V = [rng.standard_normal((2, 5)) * (rank % 2 == 0) for rank in ranks]         # odd ranks have no tangent

    def call(xs):
        return tuple_of(FORMS[form](F, *xs, comm=comm, **settings))

    with forward_ad.dual_level():
        ys = call([forward_ad.make_dual(ag.tensor(x), ag.tensor(v)) if v.any() else ag.tensor(x) for x, v in zip(X, V, strict=True)])
        tangents = [forward_ad.unpack_dual(y).tangent.numpy() for y in ys]
    assert not any(y.requires_grad for y in ys)
    up, down = (call([ag.tensor(x + e * v) for x, v in zip(X, V, strict=True)]) for e in (1e-6, -1e-6))
    for a, b, tangent in zip(up, down, tangents, strict=True):
        np.testing.assert_allclose((a.numpy() - b.numpy()) / 2e-6, tangent, atol=1e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", ["sum", "prod"])
def test_forward_over_reverse_is_reverse_over_reverse(comm, op, form):
    rng = np.random.default_rng([comm.rank, 6])
    x, v = rng.standard_normal((2, 4))

    def loss(x):
        y = FORMS[form](AllReduce, x.sin(), comm=comm, op=op)
        return (y ** 3).sum() * (comm.rank + 1)

    a = ag.tensor(x, requires_grad=True)
    (g,) = ag.grad(loss(a), a, create_graph=True)
    (wanted,) = ag.grad(g, a, ag.tensor(v))
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(ag.tensor(x, requires_grad=True), ag.tensor(v))
        (g,) = ag.grad(loss(dual), dual)
        got = forward_ad.unpack_dual(g).tangent
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-9, atol=1e-12)


def test_integers_have_no_tangents_and_a_level_on_some_ranks_is_an_error_on_all(comm):
    x = ag.ones(2, dtype=ag.float64)
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(AllReduce.apply(ag.tensor([1, 2]), comm=comm)).tangent is None
        dual = forward_ad.make_dual(x, x)
        assert forward_ad.unpack_dual(AllReduce.apply(dual if comm.rank == 0 else x, comm=comm)).tangent.tolist() == [1, 1]
        y = Broadcast.apply(dual if comm.rank else ag.tensor([1, 2]), comm=comm)
        assert forward_ad.unpack_dual(y).tangent is None and y.dtype == ag.int64
    if comm.size > 1:
        level = forward_ad.enter_dual_level() if comm.rank == 0 else None
        with pytest.raises(CollectiveError, match="outside a dual level"):
            AllReduce.apply(forward_ad.make_dual(x, x) if comm.rank == 0 else x, comm=comm)
        if level is not None:
            forward_ad.exit_dual_level(level=level)


@pytest.mark.devices
def test_a_users_collective_needs_no_jvp(comm):
    class Ring(Collective):
        @staticmethod
        def forward(ctx, *xs, comm, by=1):
            ctx.settings = {"comm": comm, "by": -by}
            rows = comm.allgather([x.array[None] for x in xs])
            out = tuple(ag.from_numpy(r[(rank - by) % comm.size]) for rank, r in zip(comm.held, rows, strict=True))
            return out if len(out) > 1 else out[0]

        @staticmethod
        def backward(ctx, *gs):
            return Ring.apply(*gs, **ctx.settings)

    with forward_ad.dual_level():
        xs = [ag.ones(2, dtype=ag.float64) * rank for rank in comm.held]
        xs = [forward_ad.make_dual(x, x + 10) if rank == 0 else x for x, rank in zip(xs, comm.held, strict=True)]
        ys = tuple_of(Ring.apply(*xs, comm=comm))
        for y, rank in zip(ys, comm.held, strict=True):
            before = (rank - 1) % comm.size
            assert forward_ad.unpack_dual(y).tangent.tolist() == [10.0 if before == 0 else 0.0] * 2 and y.tolist() == [before] * 2


def test_data_parallel_in_forward_mode(comm):
    model = DataParallel(ag.nn.Linear(3, 2), comm=comm)
    x = ag.ones(comm.rank + 1, 3)
    with forward_ad.dual_level():
        y = model(forward_ad.make_dual(x, x * 2))
        tangent = forward_ad.unpack_dual(y).tangent
        wanted = ag.nn.functional.linear(x * 2, model.module.weight)
        np.testing.assert_allclose(tangent.detach().numpy(), wanted.detach().numpy(), rtol=1e-6)
    y.sum().backward()
    assert model.module.weight.grad.tolist()
