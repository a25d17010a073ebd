"""Buckets: which gradients go together, and how they travel while others are computed."""

import itertools
import time

import numpy as np
import pytest

import autograd as ag
from autograd import Function, nn, optim
from autograd.core.engine import current_pass
from dparallel import DataParallel, world
from dparallel.comm.mpi.shared_sum import SharedSums
from dparallel.pytree.flat_arrays import group_until
from dparallel.reduction.buckets import default_capacity

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_closed_as_soon_as_they_are_full(seed):
    rng = np.random.default_rng(seed)
    items = [(kind, int(size), number) for number, (kind, size) in
             enumerate(zip(rng.choice(["a", "b"], 30), rng.integers(0, 50, 30), strict=True))]
    room, first = rng.integers(1, 120, 2).tolist()
    groups = group_until(items, lambda item: item[0], lambda item: item[1], room, first)
    assert sorted(sum(groups, []), key=lambda item: item[2]) == items
    numbers = [[item[2] for item in group] for group in groups]
    assert all(n == sorted(n) for n in numbers) and [n[0] for n in numbers] == sorted(n[0] for n in numbers)
    open_at_the_end = set()
    for k, group in enumerate(groups):
        limit = room if k else min(first, room)
        assert len({item[0] for item in group}) == 1
        assert sum(item[1] for item in group[:-1]) < limit
        if sum(item[1] for item in group) < limit:                   # the last one of its kind, not full
            assert group[0][0] not in open_at_the_end
            open_at_the_end.add(group[0][0])


def test_buckets_fit_the_model():
    assert [default_capacity(mb * 2**20) / 2**20 for mb in (0, 1, 4, 8, 80, 200, 4000)] == [0.5, 0.5, 0.5, 1, 10, 25, 25]


def test_what_is_frozen_does_not_count(comm):
    frozen = nn.Linear(2000, 2000)
    frozen.requires_grad_(False)
    model = DataParallel(nn.Sequential(frozen, nn.Linear(2000, 600)), comm=comm, batch="own")
    assert model.logging_data()["bucket_cap_bytes"] == int(default_capacity((2000 * 600 + 600) * 4)) < 1 << 20


class Large(nn.Module):
    """Its large weight's gradient comes first, those of a few small ones last, with work in between."""

    def __init__(self, between=lambda h: h):
        super().__init__()
        self.small, self.large, self.between = nn.Linear(8, 300), nn.Linear(300, 1000), between
        for p in self.parameters():
            p.data = ag.ones(*p.shape) / p.numel()

    def forward(self, x):
        return self.large(self.between(self.small(x)))


@pytest.mark.parametrize("make, rows, first, last", [
    pytest.param(Large, (3, 8), {"large.weight"}, {"small.weight", "small.bias"}, id="a large weight does not wait for small ones"),
    pytest.param(lambda: nn.Sequential(nn.Linear(1000, 300), nn.Linear(300, 500)), (3, 1000), {"1.weight"},
                 {"0.weight", "0.bias"}, id="a bias does not travel alone")])
def test_what_travels_together(comm, make, rows, first, last):
    model = DataParallel(make(), comm=comm, batch="own")
    if comm.size > 1:
        for _ in range(2):
            model(ag.ones(*rows)).sum().backward()
            one, other = model.logging_data()["bucket_parameters"]
            assert first <= set(one) and last <= set(other)


def test_parameters_are_in_one_bucket_after_a_first_step_that_was_skipped(comm):
    model = DataParallel(nn.Sequential(*[nn.Linear(8, 8) for _ in range(3)]), bucket_cap_mb=0.0001, comm=comm, batch="own")
    for step in range(3):
        with model.skipping() as done:
            model(ag.full((2, 8), float("nan") if step == 0 else 1.0)).sum().backward()
        assert done.skipped == (step == 0)
    names = [name for bucket in model._sum.reducer.buckets for name in bucket.names] if comm.size > 1 else []
    assert comm.size == 1 or sorted(names) == sorted(name for name, _ in model.module.named_parameters())


def waiting(node_seconds, nodes):
    """Nodes whose backward takes its time as long as messages are on their way."""
    class Slow(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if current_pass().meanwhile:
                time.sleep(node_seconds)
            return g

    def between(h):
        for _ in range(nodes):
            h = Slow.apply(h)
        return h

    return between


@pytest.mark.mpi
def test_sums_over_mpi_go_on_while_nodes_run(monkeypatch):
    """As between hosts. A message of 1 MB takes several calls of MPI on both sides."""
    monkeypatch.setattr(SharedSums, "vector", lambda *_: None)
    comm = world()
    model = DataParallel(Large(waiting(0.01, 1000)), comm=comm)
    seen, asked = [], []
    model.module.small.weight.register_hook(lambda g: seen.append(list(current_pass().meanwhile)))
    for step in range(3):
        model.zero_grad()
        model(ag.ones(2, 8)).sum().backward()
        if step == 0 and comm.size > 1:
            departure, go_on = model._sum.reducer.departure, model._sum.reducer.departure.progress
            departure.progress = lambda: (asked.append(step), go_on())
        assert step < 1 or seen[-1] == []            # the large ones are back (in the first pass, buckets follow registration)
        np.testing.assert_allclose(model.module.large.bias.grad.array, 2, rtol=1e-6)
    assert comm.size == 1 or {1, 2} == set(asked)


def test_sums_go_on_between_nodes_and_in_replays(comm):
    """One that is not back yet is asked after each node, and no more once it is."""
    model = DataParallel(Large(lambda h: (h * 1.0).exp() * 1.0), comm=comm, batch="own")
    if comm.size == 1:
        return
    step_of = optim.SGD(model.parameters(), lr=0.01)

    def step():
        step_of.zero_grad()
        loss = model(ag.ones(2, 8)).sum()
        loss.backward()
        step_of.step()
        return loss

    step(), step()
    transport, asked = model._sum.reducer.transport, []
    answers = itertools.cycle([False, False, True])

    def progress():
        asked.append(next(answers))
        return asked[-1]

    transport.progress = progress
    step()
    assert asked[:3] == [False, False, True] and len(asked) < 7
    replayed = ag.trace_step(step)
    replayed(), replayed()
    asked.clear()
    replayed()
    assert asked, "a replay asks after each gradient"
    del transport.progress


def test_functions_are_called_between_nodes_until_they_leave():
    calls = []

    def twice():
        calls.append("twice")
        if calls.count("twice") == 2:
            current_pass().meanwhile.remove(twice)

    def join(g):
        if not calls:
            current_pass().meanwhile += [twice, lambda: calls.append("always")]

    x = ag.ones(3, requires_grad=True)
    h = x
    for _ in range(4):
        h = h * 2
        h.register_hook(join)                        # first called before the last of the products has run backward
    h.sum().backward()
    assert calls == ["twice", "always"] * 2 + ["always"] * 2
    assert x.grad.tolist() == [16.0] * 3
