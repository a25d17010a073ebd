"""The collective Functions: backward is the adjoint, for all roots, unequal pieces, random adjoints, twice over."""

import numpy as np
import pytest

import autograd as ag
from dparallel import AllGather, AllReduce, AllToAll, Broadcast, Gather, Reduce, ReduceScatter, Scatter, check_adjoint

pytestmark = pytest.mark.quick


def rng_of(comm, root=0):
    return np.random.default_rng([comm.rank, root, comm.size])


def uneven(size):
    return [(2 * rank) % 3 for rank in range(size)]


ROOTED = {
    "Broadcast": lambda c, root, r: (lambda x: Broadcast.apply(x, comm=c, root=root), [r(3, 2) if root in c.held else np.empty(0)]),
    "Broadcast 0-d": lambda c, root, r: (lambda x: Broadcast.apply(x, comm=c, root=root), [r() if root in c.held else np.empty(0)]),
    "Reduce": lambda c, root, r: (lambda *xs: Reduce.apply(*xs, comm=c, root=root), [r(2, 3) for _ in c.held]),
    "Reduce 0-d": lambda c, root, r: (lambda *xs: Reduce.apply(*xs, comm=c, root=root), [r() for _ in c.held]),
    "Scatter": lambda c, root, r: (lambda x: Scatter.apply(x, comm=c, root=root), [r(7, 2) if root in c.held else np.empty(0)]),
    "Scatter uneven": lambda c, root, r: (lambda x: Scatter.apply(x, comm=c, root=root, sizes=uneven(c.size) if root in c.held else None),
                                          [r(sum(uneven(c.size)), 2) if root in c.held else np.empty(0)]),
    "Scatter dim 1": lambda c, root, r: (lambda x: Scatter.apply(x, comm=c, root=root, dim=1), [r(2, 7, 3) if root in c.held else np.empty(0)]),
    "Gather": lambda c, root, r: (lambda *xs: Gather.apply(*xs, comm=c, root=root), [r(n, 2) for n in range(len(uneven(c.size))) if n in c.held]),
    "Gather 0-d": lambda c, root, r: (lambda *xs: Gather.apply(*xs, comm=c, root=root), [r() for _ in c.held]),
    "Gather dim -1": lambda c, root, r: (lambda *xs: Gather.apply(*xs, comm=c, root=root, dim=-1), [r(2, rank) for rank in c.held]),
    "Gather part-less": lambda c, root, r: (lambda *xs: Gather.apply(*xs, comm=c, root=root), [r(2, 3) if p % 2 else np.empty(0) for p in c.held]),
}
ROOTLESS = {
    "AllReduce": lambda c, r: (lambda *xs: AllReduce.apply(*xs, comm=c), [r(3, 2) for _ in c.held]),
    "AllReduce 0-d": lambda c, r: (lambda *xs: AllReduce.apply(*xs, comm=c), [r() for _ in c.held]),
    "AllGather": lambda c, r: (lambda *xs: AllGather.apply(*xs, comm=c), [r(rank, 2) for rank in c.held]),
    "AllGather 0-d": lambda c, r: (lambda *xs: AllGather.apply(*xs, comm=c), [r() for _ in c.held]),
    "AllGather dim 1": lambda c, r: (lambda *xs: AllGather.apply(*xs, comm=c, dim=1), [r(2, rank + 1) for rank in c.held]),
    "ReduceScatter": lambda c, r: (lambda *xs: ReduceScatter.apply(*xs, comm=c), [r(7, 2) for _ in c.held]),
    "ReduceScatter uneven": lambda c, r: (lambda *xs: ReduceScatter.apply(*xs, comm=c, sizes=uneven(c.size)), [r(sum(uneven(c.size)), 2) for _ in c.held]),
    "ReduceScatter dim 1": lambda c, r: (lambda *xs: ReduceScatter.apply(*xs, comm=c, dim=1), [r(2, 5) for _ in c.held]),
    "AllToAll": lambda c, r: (lambda *xs: AllToAll.apply(*xs, comm=c), [r(rank + 4, 2) for rank in c.held]),
    "AllToAll uneven": lambda c, r: (lambda *xs: AllToAll.apply(*xs, comm=c, sizes=[[(p + q) % 3 for q in range(c.size)] for p in c.held]),
                                     [r(sum((p + q) % 3 for q in range(c.size)), 2) for p in c.held]),
    "AllToAll dim 1": lambda c, r: (lambda *xs: AllToAll.apply(*xs, comm=c, dim=1), [r(2, 5) for _ in c.held]),
}


@pytest.mark.parametrize("name", list(ROOTED))
@pytest.mark.devices
def test_rooted_backward_is_the_adjoint(comm, name):
    for root in range(comm.size):
        rng = rng_of(comm, root)
        call, xs = ROOTED[name](comm, root, lambda *s, rng=rng: rng.standard_normal(s))
        check_adjoint(call, xs, comm, rng)


@pytest.mark.parametrize("name", list(ROOTLESS))
@pytest.mark.devices
def test_backward_is_the_adjoint(comm, name):
    rng = rng_of(comm)
    call, xs = ROOTLESS[name](comm, lambda *s: rng.standard_normal(s))
    check_adjoint(call, xs, comm, rng)


def tuple_of(y):
    return y if isinstance(y, tuple) else (y,)


@pytest.mark.devices
def test_partners_and_shapes(comm):
    """Every backward is its partner's node, recorded on every rank under create_graph."""
    def check(comm):
        x = ag.ones(6, 2, dtype=ag.float64, requires_grad=True) if 0 in comm.held else None
        pieces = tuple_of(Scatter.apply(x, comm=comm))
        assert all(type(p.grad_fn).__name__ == "ScatterBackward" for p in pieces)
        y = Gather.apply(*[p * p for p in pieces], comm=comm)
        assert type(y.grad_fn).__name__ == "GatherBackward" and y.shape == ((6, 2) if 0 in comm.held else (0,))
        u = ag.ones(y.shape, dtype=ag.float64, requires_grad=True)
        if x is not None:
            (g,) = ag.grad(y, x, u, create_graph=True)
            assert type(g.grad_fn).__name__ in ("GatherBackward", "ViewBackward0")
            (gg,) = ag.grad(g, x, ag.ones(g.shape, dtype=ag.float64), allow_unused=True)
            assert gg.tolist() == [[2, 2]] * 6
        else:
            (g,) = ag.grad(y, pieces[0], u, create_graph=True)
            ag.backward(g.sum() * 0 if False else [g], [ag.ones(g.shape, dtype=ag.float64)], inputs=[u])

    if len(comm.held) == comm.size:
        check(comm)


@pytest.mark.devices
def test_scatter_work_gather_equals_one_rank_to_second_order(comm):
    data = np.random.default_rng(0).standard_normal((7, 3))

    def penalty(x, work):
        y = work(x)
        loss = (y ** 3).sum()
        return y, loss

    one = ag.tensor(data, requires_grad=True)
    (g,) = ag.grad(penalty(one, lambda x: x.exp())[1], one, create_graph=True)
    (expected,) = ag.grad((g ** 2).sum(), one)
    held = 0 in comm.held
    x = ag.tensor(data, requires_grad=True) if held else ag.tensor(np.empty(0), requires_grad=True)
    y = Gather.apply(*[p.exp() for p in tuple_of(Scatter.apply(x, comm=comm))], comm=comm)
    (g,) = ag.grad((y ** 3).sum(), x, create_graph=True)
    (g * g).sum().backward()
    if held:
        np.testing.assert_allclose(x.grad.numpy(), expected.numpy(), rtol=1e-10)


def test_a_rank_that_needs_no_gradient_takes_part(comm):
    x = ag.ones(2, dtype=ag.float64, requires_grad=comm.rank == comm.size - 1)
    y = AllReduce.apply(x, comm=comm)
    assert y.requires_grad                            # recorded on every rank, for one needs it
    (y * (comm.rank + 1)).sum().backward()
    if x.requires_grad:
        assert x.grad.tolist() == [comm.size * (comm.size + 1) / 2] * 2
    z = AllReduce.apply(ag.ones(1), comm=comm)
    assert not z.requires_grad                        # no rank needs it: recorded on none
    with ag.no_grad():
        assert not AllReduce.apply(x, comm=comm).requires_grad


def test_losses_that_differ_between_ranks_and_come_in_another_order(comm):
    """Order of losses must not pair up the wrong collectives: newest first on every rank."""
    a = ag.tensor([1.0], dtype=ag.float64, requires_grad=True)
    b = ag.tensor([1.0], dtype=ag.float64, requires_grad=True)
    ya, yb = AllReduce.apply(a, comm=comm), AllReduce.apply(b, comm=comm)
    la, lb = (ya * 2).sum(), (yb * 3).sum()
    (la + lb if comm.rank % 2 else lb + la).backward()
    assert a.grad.item() == 2 * comm.size and b.grad.item() == 3 * comm.size


def test_an_output_whose_gradient_is_missing_counts_as_zero(comm):
    x = ag.ones(3, dtype=ag.float64, requires_grad=True)
    y = AllGather.apply(x, comm=comm)
    part = y[3 * comm.rank:3 * comm.rank + 3] if comm.rank == 0 else y[:0]
    part.sum().backward()
    assert x.grad.tolist() == ([1, 1, 1] if comm.rank == 0 else [0, 0, 0])


def test_restricted_inputs_still_meet(comm):
    x = ag.ones(2, dtype=ag.float64, requires_grad=comm.rank == 0)
    w = ag.ones(2, dtype=ag.float64, requires_grad=True)
    y = (AllReduce.apply(x, comm=comm) * w).sum()
    (g,) = ag.grad(y, [w])                            # on no rank is x asked for, yet all run the collective
    assert g.tolist() == [comm.size] * 2


@pytest.mark.devices
def test_float32_and_integers_pass(comm):
    xs = [ag.ones(2, dtype=ag.float32, requires_grad=True) for _ in comm.held]
    ys = tuple_of(AllReduce.apply(*xs, comm=comm))
    ag.backward([y.sum() for y in ys])
    assert ys[0].dtype == ag.float32 and xs[0].grad.dtype == ag.float32 and xs[0].grad.tolist() == [comm.size] * 2
    assert tuple_of(AllGather.apply(*[ag.tensor([1, 2]) for _ in comm.held], comm=comm))[0].dtype == ag.int64
