"""start() and wait(): recorded as two nodes, with communication and other work at the same time in every pass."""

import numpy as np
import pytest

import autograd as ag
from dparallel import AllGather, AllReduce, AllToAll, Broadcast, Gather, Reduce, ReduceScatter, Scatter, check_adjoint

pytestmark = pytest.mark.devices

FUNCTIONS = {F.__name__: F for F in (AllReduce, Reduce, AllGather, Gather, ReduceScatter, AllToAll, Broadcast, Scatter)}


def tuple_of(y):
    return y if isinstance(y, tuple) else (y,)


def logged(comm, events):
    """The communicator, telling when collectives start and end."""
    start = comm.issue

    def telling(name, *args, **settings):
        handle = start(name, *args, **settings)
        events.append(f"start {name}")
        return handle.then(lambda h: (h.value(), events.append(f"end {name}"))[0])

    comm.issue = telling
    return comm


def work(events):
    class Work(ag.Function):
        @staticmethod
        def forward(ctx, x):
            events.append("work")
            return x * 2

        @staticmethod
        def backward(ctx, g):
            events.append("work back")
            return Work.apply(g)

    return Work.apply


@pytest.mark.parametrize("name", FUNCTIONS)
def test_work_between_start_and_wait_overlaps_in_forward_in_backward_and_in_its_backward(comm, name):
    partner = {"AllReduce": "allreduce", "Reduce": "broadcast", "AllGather": "reduce_scatter", "Gather": "scatter",
               "ReduceScatter": "allgather", "AllToAll": "alltoall", "Broadcast": "reduce", "Scatter": "gather"}[name]
    own = name.lower() if name != "ReduceScatter" else "reduce_scatter"
    events = []
    comm = logged(comm.duplicate(), events)
    try:
        other = work(events)
        count = 1 if name in ("Broadcast", "Scatter") else len(comm.held)
        xs = [ag.ones(comm.size, 2, dtype=ag.float64, requires_grad=True) for _ in range(count)]
        w = ag.ones(2, dtype=ag.float64, requires_grad=True)
        pending = FUNCTIONS[name].start(*xs, comm=comm)
        z = other(w)
        ys = tuple_of(pending.wait())
        assert events == [f"start {own}", "work", f"end {own}"]
        events.clear()
        loss = sum((y * y).sum() for y in ys) + (z * z).sum()
        gs = ag.grad(loss, [*xs, w], create_graph=True, allow_unused=True)
        assert events == [f"start {partner}", "work back", "work", f"end {partner}"]
        events.clear()
        sum((g * g).sum() for g in gs if g is not None).backward()
        first = events.index(f"start {own}")
        assert "work back" in events[first:events.index(f"end {own}")], events
        assert events.count(f"start {partner}") == (2 if own == partner else 1) and events[-1] == f"end {partner}"
    finally:
        del comm.issue


def test_the_same_gradients_as_apply_to_second_order(comm):
    def results(go):
        rng = np.random.default_rng([3, comm.rank])
        xs = [ag.tensor(rng.standard_normal((3, 2)), requires_grad=True) for _ in comm.held]
        ys = tuple_of(go([x.sin() for x in xs]))
        gs = ag.grad([(y ** 3).sum() * (p + 1) for y, p in zip(ys, comm.held, strict=True)], xs, create_graph=True)
        ag.backward([(g * g).sum() for g in gs])
        return [t.detach().numpy() for t in (*ys, *gs)] + [x.grad.numpy() for x in xs]

    for settings in ({}, {"op": "mean"}, {"op": "prod"}):
        a = results(lambda xs, s=settings: AllReduce.apply(*xs, comm=comm, **s))
        b = results(lambda xs, s=settings: AllReduce.start(*xs, comm=comm, **s).wait())
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14)


def test_two_under_way_at_once(comm):
    rng = np.random.default_rng([1, comm.rank])

    def crossed(*xs):
        a = AllReduce.start(*xs, comm=comm)
        b = AllGather.start(*[x * 2 for x in xs], comm=comm)
        ya = tuple_of(a.wait())
        yb = tuple_of(b.wait())
        return tuple(x for pair in zip(ya, yb, strict=True) for x in pair)

    check_adjoint(crossed, [rng.standard_normal((2, 3)) for _ in comm.held], comm, rng)


def test_wait_may_be_called_again_and_a_handle_may_be_forgotten(comm):
    xs = [ag.ones(2, dtype=ag.float64, requires_grad=True) for _ in comm.held]
    forgotten = AllReduce.start(*xs, comm=comm)
    pending = AllReduce.start(*xs, comm=comm)
    for first, second in zip(tuple_of(pending.wait()), tuple_of(pending.wait()), strict=True):
        assert first is second
    assert pending.done()
    ag.backward([(y + y).sum() for y in tuple_of(pending.wait())])
    assert [x.grad.tolist() for x in xs] == [[2 * comm.size] * 2] * len(xs)
    del forgotten, pending
    assert comm.total(1.0) == comm.size / len(comm.held)


def test_a_graph_kept_is_walked_twice_and_no_grad_records_nothing(comm):
    xs = [ag.ones(2, dtype=ag.float64, requires_grad=True) for _ in comm.held]
    ys = tuple_of(AllReduce.start(*xs, comm=comm).wait())
    loss = sum(y.sum() for y in ys)
    for _ in range(2):
        loss.backward(retain_graph=True)
    assert xs[0].grad.tolist() == [2 * comm.size] * 2
    with ag.no_grad():
        assert not tuple_of(AllReduce.start(*xs, comm=comm).wait())[0].requires_grad
    pending = AllReduce.start(*xs, comm=comm)
    with ag.no_grad():
        assert not tuple_of(pending.wait())[0].requires_grad
    assert tuple_of(pending.wait())[0].requires_grad
