"""A step that one rank can't finish is skipped by all, wherever it failed, without a hang."""

import numpy as np
import pytest
from filled_models import filled

import autograd as ag
from autograd import nn, optim
from dparallel import AllReduce, CollectiveError, DataParallel

FEATURES = 4


class Fails(ag.Function):
    """Identity whose backward raises where it is told to."""

    @staticmethod
    def forward(ctx, x, *, error):
        ctx.error = error
        return x

    @staticmethod
    def backward(ctx, g):
        if ctx.error:
            raise ctx.error
        return g


class Net(nn.Module):
    def __init__(self):
        self.one, self.norm, self.two = nn.Linear(FEATURES, 5), nn.BatchNorm1d(5), nn.Linear(5, 1)
        self.double()
        self.comm, self.forward_error, self.backward_error, self.early = None, None, None, None
        filled(self)

    def forward(self, x):
        if self.forward_error and self.early:
            raise self.forward_error
        y = self.one(x)
        if self.comm is not None:
            y = AllReduce.apply(y, comm=self.comm)
        if self.forward_error:
            raise self.forward_error
        y = self.norm(y)
        return self.two(Fails.apply(y, error=self.backward_error))


def step_of(model, optimizer, x, **settings):
    with model.skipping(**settings) as step:
        optimizer.zero_grad()
        (model(x) ** 2).mean().backward()
    if not step.skipped:
        optimizer.step()
    return step


@pytest.mark.parametrize("collective", [False, True], ids=["", "collective in the graph"])
@pytest.mark.parametrize("where", ["before", "forward", "late forward", "backward", "after", "nan"])
def test_all_ranks_skip(comm, where, collective):
    net = Net()
    model = DataParallel(net, comm=comm, batch="own", bucket_cap_mb=0.0001)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    net.comm = comm if collective else None
    x = ag.from_numpy(np.random.default_rng(comm.rank).standard_normal((6, FEATURES)))
    assert not step_of(model, optimizer, x).skipped
    before = {name: value.numpy().copy() for name, value in model.state_dict().items()}
    bad = comm.rank == comm.size - 1
    error = MemoryError("planted")
    net.forward_error = error if bad and "forward" in where else None
    net.early = where == "forward"
    net.backward_error = error if bad and where == "backward" else None
    with model.skipping() as step:
        if bad and where == "before":
            raise error
        loss = (model(x * (float("nan") if bad and where == "nan" else 1.0)) ** 2).mean()
        loss.backward()
        if bad and where == "after":
            raise error
    assert step.skipped and model.skipped_steps == 1, step
    assert ("not finite" if where == "nan" else f"rank {comm.size - 1}: MemoryError: planted") in step.reason
    assert len(set(comm.allgather_object([step.reason]))) == 1
    assert all(p.grad is None for p in model.parameters())
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])
    net.forward_error = net.backward_error = None
    assert not step_of(model, optimizer, x).skipped                  # and on they go
    assert model.skipped_steps == 1
    flat = np.concatenate([p.detach().numpy().reshape(-1) for p in model.parameters()])
    np.testing.assert_array_equal(*[comm.allreduce([flat], op)[0] for op in ("max", "min")])
    assert np.isfinite(flat).all()


def test_other_exceptions_end_all_ranks(comm):
    model = DataParallel(Net(), comm=comm, batch="own")
    bad = comm.rank == comm.size - 1
    with pytest.raises(KeyError if bad else CollectiveError, match="planted"), model.skipping(on=MemoryError):
        if bad:
            raise KeyError("planted")
        (model(ag.ones(3, FEATURES, dtype=ag.float64)) ** 2).mean().backward()


def test_finite_or_not_is_the_users_choice(comm):
    model = DataParallel(Net(), comm=comm, batch="own")
    with model.skipping(nonfinite=False) as step:
        (model(ag.ones(3, FEATURES, dtype=ag.float64) * float("inf")) ** 2).mean().backward()
    assert not step.skipped and not np.isfinite(model.module.two.weight.grad.numpy()).all()


def test_skipping_micro_batches(comm):
    """A failure in a pass that is not summed yet."""
    net = Net()
    model = DataParallel(net, comm=comm, batch="own")
    x = ag.from_numpy(np.random.default_rng(comm.rank).standard_normal((6, FEATURES)))
    with model.skipping(on=ZeroDivisionError) as step:
        for number in range(3):
            with model.no_sync(number < 2):
                net.backward_error = ZeroDivisionError("planted") if comm.rank == 0 and number == 1 else None
                (model(x) ** 2).mean().backward()
    assert step.skipped and "rank 0: ZeroDivisionError" in step.reason
    assert all(p.grad is None for p in model.parameters())
    net.backward_error = None
    (model(x) ** 2).mean().backward()


@pytest.mark.devices
def test_local_devices(comm):
    if len(comm.held) != comm.size:
        return
    model = DataParallel(Net(), comm=comm)
    x = ag.ones(2 * comm.size, FEATURES, dtype=ag.float64)
    with model.skipping() as step:
        raise MemoryError
    assert step.skipped
    with model.skipping() as step:
        (model(x * float("nan")) ** 2).mean().backward()
    assert step.skipped and model.module.two.weight.grad is None and model.skipped_steps == 2
    with model.skipping() as step:
        (model(x) ** 2).mean().backward()
    assert not step.skipped and model.module.two.weight.grad is not None
