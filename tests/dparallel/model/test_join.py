"""Uneven numbers of batches: ranks that have run out shadow the others, and end with the final weights."""

import numpy as np
import pytest
from filled_models import filled
from raised import raises

import autograd as ag
from autograd import nn, optim
from dparallel import CollectiveError, DataParallel, Join, Joinable, JoinHook

pytestmark = pytest.mark.quick
FEATURES = 4


def make():
    return filled(nn.Sequential(nn.Linear(FEATURES, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 2)).double()).eval()


def batch(rank, step):
    return ag.from_numpy(np.random.default_rng([rank, step]).standard_normal((rank % 3 + 1, FEATURES)))


def loss_of(net, x):
    return (net(x) ** 2).sum() / len(x)


def steps_of(rank, size, kind):
    return {"rising": rank + 1, "falling": size - rank, "first has none": 3 * (rank > 0), "even": 2}[kind]


def expected(size, kind, average, initial):
    one = make()
    optimizer = optim.SGD(one.parameters(), lr=0.05, momentum=0.9)
    for step in range(max(steps_of(r, size, kind) for r in range(size))):
        active = [r for r in range(size) if step < steps_of(r, size, kind)]
        rows = {r: len(batch(r, step)) for r in active}
        weights = {r: {"rows": rows[r] / sum(rows.values()), "sum": 1.0,
                       "ranks": 1 / (size if initial else len(active))}[average] for r in active}
        optimizer.zero_grad()
        sum(loss_of(one, batch(r, step)) * w for r, w in weights.items()).backward()
        optimizer.step()
    return one


def same(model, one):
    for p, q in zip(model.parameters(), one.parameters(), strict=True):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["rising", "falling", "first has none", "even"])
@pytest.mark.parametrize(("average", "initial"), [("rows", True), ("ranks", True), ("ranks", False), ("sum", True)])
def test_uneven_batches_equal_one_process(comm, kind, average, initial):
    model = DataParallel(make(), comm=comm, batch="own", average=average, bucket_cap_mb=0.0001)
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    with model.join(divide_by_initial_world_size=initial):
        for step in range(steps_of(comm.rank, comm.size, kind)):
            optimizer.zero_grad()
            loss_of(model, batch(comm.rank, step)).backward()
            optimizer.step()
    same(model, expected(comm.size, kind, average, initial))


def test_accumulation_weights_hooks_and_buffers_inside_join(comm):
    """no_sync sums nothing, so nothing is shadowed then; buffers come from a rank that still has a batch."""
    def hook(state, bucket):
        return comm.start_allreduce([bucket.array / comm.size]).then(lambda handle: handle.value()[0])

    model, one = DataParallel(make().train(), comm=comm, batch="own"), make().train()
    model.register_comm_hook(None, hook)
    with model.join():
        for step in range(comm.rank + 1):
            for number in range(2):
                with model.no_sync(number == 0), model.weighted(comm.rank + number):
                    loss_of(model, ag.cat([batch(comm.rank, step), batch(comm.rank, step + 7)])).backward()
            model.zero_grad()
    flat = [b.numpy().reshape(-1) for b in model.buffers()]
    for b in flat:
        np.testing.assert_array_equal(*[comm.allreduce([b.astype(np.float64)], op)[0] for op in ("max", "min")])
    assert model.module[1].num_batches_tracked.item() == 2 * comm.size
    same(model, one)


def test_throwing(on_ranks):
    def check(comm):
        model = DataParallel(make(), comm=comm, batch="own")
        steps = 0
        text = "Rank 0 exhausted all inputs" if comm.rank == 0 else "Detected at least one rank that exhausted inputs"

        def train():
            nonlocal steps
            with model.join(throw_on_early_termination=True):
                for step in range(1 if comm.rank == 0 else 3):
                    loss_of(model, batch(comm.rank, step)).backward()
                    steps += 1

        if comm.size == 1:
            return train()
        raises(RuntimeError, text, train)
        assert steps == 1
        loss_of(model, batch(comm.rank, 0)).backward()               # the block has ended everywhere
        return None

    on_ranks(check)


def test_disabled_and_nested(comm):
    model = DataParallel(make(), comm=comm, batch="own")
    with model.join(enable=False):
        loss_of(model, batch(comm.rank, 0)).backward()
    if comm.size > 1:
        with model.join(), pytest.raises(RuntimeError, match="inside join"), model.join():
            pass
    raises(ValueError, "at least one joinable", Join, [])
    with pytest.raises(ValueError, match="multiple process groups"):
        Join([model, DataParallel(make(), comm=comm.duplicate(), batch="own")])
    raises(TypeError, "not SGD: a rank that has run out", lambda: Join([model, optim.SGD(model.parameters(), lr=0.1)]))


def test_several_joinables(comm):
    """Only the first one tells of steps; the others' hooks run for each."""
    class Counter(Joinable):
        def __init__(self, comm):
            self.comm, self.steps, self.shadowed, self.last = comm, 0, 0, None

        def step(self):
            Join.notify_join_context(self)
            self.steps += int(self.comm.allreduce([np.ones(1)])[0].item())

        def join_hook(self, **kwargs):
            counter = self

            class Hook(JoinHook):
                def main_hook(self):
                    counter.shadowed += 1
                    counter.comm.allreduce([np.zeros(1)])

                def post_hook(self, is_last_joiner):
                    counter.last = is_last_joiner

            return Hook()

        join_device, join_process_group = "cpu", property(lambda self: self.comm)

    model, first, second = DataParallel(make(), comm=comm, batch="own"), Counter(comm), Counter(comm)
    with Join([first, second]):
        for _ in range(comm.rank + 1):
            first.step()
            second.step()
    assert first.steps == second.steps == sum(comm.size - step for step in range(comm.rank + 1))
    assert first.shadowed == second.shadowed == comm.size - comm.rank - 1 and first.last == (comm.rank == comm.size - 1)
    counter = Counter(comm)
    with Join([model, counter]):
        for step in range(comm.rank + 1):
            loss = loss_of(model, batch(comm.rank, step))
            counter.step()
            loss.backward()
    assert counter.shadowed == (comm.size - comm.rank - 1 if comm.size > 1 else 0)


def test_what_can_not_be_shadowed_is_an_error(comm):
    model = DataParallel(make(), comm=comm, batch="own")
    if comm.size == 1:
        return
    with pytest.raises(NotImplementedError, match="autograd.grad"), model.join():
        ag.grad(loss_of(model, batch(comm.rank, 0)), list(model.parameters()))
    with pytest.raises(NotImplementedError, match="create_graph"), model.join():
        loss_of(model, batch(comm.rank, 0)).backward(create_graph=True)
    with pytest.raises(NotImplementedError, match="skipping"), model.join(), model.skipping():
        pass


def test_ranks_at_different_points_of_a_step(comm):
    if comm.size == 1:
        return
    model = DataParallel(make(), comm=comm, batch="own")
    with pytest.raises(CollectiveError, match="different points of a step"), model.join():
        loss = loss_of(model, batch(comm.rank, 0))
        loss_of(model, batch(comm.rank, 0)) if comm.rank == 0 else loss.backward()
