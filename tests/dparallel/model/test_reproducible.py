"""reproducible=V: bitwise the same weights on any number of ranks and devices."""

import functools

import numpy as np
import pytest
from raised import raises

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.kernels.loops import LEVELS, loops
from autograd.utils.data import DataLoader, TensorDataset
from dparallel import CollectiveError, DataParallel, Devices, GlobalBatchSampler, SyncBatchNorm, run_ranks, world
from dparallel.replicas.tree_reduce import tree_sum

FEATURES, CLASSES = 12, 5


class Net(nn.Module):
    """A convolution, batch norm, dropout: what shapes, statistics and random numbers can spoil."""

    def __init__(self, dtype):
        super().__init__()
        self.conv = nn.Conv1d(1, 3, 3, dtype=dtype)
        self.norm = nn.BatchNorm1d(3, dtype=dtype)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(3 * (FEATURES - 2), CLASSES, dtype=dtype)

    def forward(self, x):
        y = self.drop(self.norm(self.conv(x.unsqueeze(1))).tanh())
        return self.out(y.flatten(1))


def rows(dtype, count=67):
    rng = np.random.default_rng(5)
    return ag.tensor(rng.standard_normal((count, FEATURES)), dtype=dtype), ag.tensor(rng.integers(0, CLASSES, count))


def bits(net):
    return {name: value.numpy().tobytes() for name, value in net.state_dict().items()}


def train(comm, dtype=ag.float32, shards=4, style="mean", devices=None, count=67):
    """Two epochs; the weights' bits."""
    ag.manual_seed(3)
    net = Net(dtype)
    average = "sum" if style == "sum" else "rows"
    model = DataParallel(net, comm=comm, devices=devices, reproducible=shards, average=average)
    optimizer = optim.AdamW(net.parameters(), lr=0.01)
    data = TensorDataset(*rows(dtype, count))
    sampler = GlobalBatchSampler(data, 16, comm=comm, shards=shards, drop_last=style == "mean")
    for x, y in [batch for _ in range(2) for batch in DataLoader(data, batch_sampler=sampler)]:
        optimizer.zero_grad()
        if style == "each":
            for xs, ys in model.shards(x, y):
                F.cross_entropy(model(xs), ys).backward()
        else:
            F.cross_entropy(model(x), y, reduction=style).backward()
        optimizer.step()
    return bits(net)


@functools.cache
def alone(dtype, shards, style):
    return run_ranks(1, lambda comm: train(comm, dtype, shards, style))[0]


CASES = [(ag.float32, 4, "mean"), (ag.float32, 8, "each"), (ag.float64, 4, "sum"), (ag.float64, 2, "each")]


@pytest.mark.parametrize("dtype, shards, style", CASES)
@pytest.mark.parametrize("size", [2, 4, 8])
def test_ranks_give_the_same_bits(dtype, shards, style, size):
    if size > shards:
        pytest.skip("more ranks than shards")
    seeds = threads_have_their_own_stream
    found = run_ranks(size, lambda comm: seeds(comm, lambda: train(comm, dtype, shards, style)))
    for theirs in found:
        assert theirs == alone(dtype, shards, style)


def threads_have_their_own_stream(comm, work):
    """Ranks as threads share the default generator, processes do not."""
    with ag.random.using_generator(ag.Generator()):
        return work()


@pytest.mark.mpi
@pytest.mark.parametrize("dtype, shards, style", CASES)
def test_real_ranks_give_the_same_bits(dtype, shards, style):
    from dparallel import world

    if shards % world().size:
        raises(ValueError, "multiple of the number of ranks", lambda: train(world(), dtype, shards, style))
    else:
        assert train(world(), dtype, shards, style) == alone(dtype, shards, style)


@pytest.mark.parametrize("dtype, shards, style", CASES)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_local_devices_give_the_same_bits(dtype, shards, style, size):
    assert train(Devices(size), dtype, shards, style) == alone(dtype, shards, style)


def test_ranks_times_devices_give_the_same_bits():
    found = run_ranks(2, lambda comm: threads_have_their_own_stream(comm, lambda: train(comm, devices=2, style="each")))
    assert found[0] == found[1] == alone(ag.float32, 4, "each")


def test_the_gradient_is_the_mean_over_all_rows():
    """Uneven shards too, against one process without shards."""
    x, y = rows(ag.float64, 11)
    net = nn.Linear(FEATURES, CLASSES, dtype=ag.float64)
    F.cross_entropy(net(x), y).backward()
    expected = [p.grad.numpy().copy() for p in net.parameters()]

    def body(comm):
        mine = nn.Linear(FEATURES, CLASSES, dtype=ag.float64)
        mine.load_state_dict(net.state_dict())
        model = DataParallel(mine, comm=comm, reproducible=4)
        part = slice(0, 6) if comm.rank == 0 else slice(6, 11)
        for xs, ys in model.shards(x[part], y[part]):
            F.cross_entropy(model(xs), ys).backward()
        for p, g in zip(mine.parameters(), expected, strict=True):
            np.testing.assert_allclose(p.grad.numpy(), g, rtol=1e-12)

    run_ranks(2, body)


def test_gradients_by_grad_and_twice():
    x, _ = rows(ag.float64, 8)
    net = nn.Linear(FEATURES, CLASSES, dtype=ag.float64)

    def penalty(model, x, weights):
        (g,) = ag.grad((model(x) ** 2).sum(1).mean(), weights, create_graph=True)
        return (g ** 2).sum()

    (expected,) = ag.grad(penalty(net, x, net.weight), net.weight)

    def body(comm):
        mine = nn.Linear(FEATURES, CLASSES, dtype=ag.float64)
        mine.load_state_dict(net.state_dict())
        model = DataParallel(mine, comm=comm, reproducible=4)
        (found,) = ag.grad(penalty(model, x[comm.rank * 4:comm.rank * 4 + 4], mine.weight), mine.weight)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10)

    run_ranks(2, body)


@pytest.mark.parametrize("shards", [0, 3, 6, -4, 2.0, True])
def test_the_number_of_shards_is_a_power_of_two(shards):
    if shards is True:
        pytest.skip("True is 1")
    raises(ValueError, "power of two", lambda: DataParallel(nn.Linear(2, 2), comm=Devices(1), reproducible=shards))


@pytest.mark.threads(2)
def test_uneven_rows_with_a_mean_are_refused_on_every_rank(comm):
    model = DataParallel(nn.Linear(FEATURES, 2), comm=comm, reproducible=4)
    raises(CollectiveError, "4 equal shards", lambda: model(ag.ones(4 if comm.rank else 6, FEATURES)))


def test_leftover_gradients_are_refused():
    model = DataParallel(nn.Linear(FEATURES, 2), comm=Devices(1), reproducible=2)
    model(ag.ones(4, FEATURES)).sum().backward()
    raises(RuntimeError, "zero_grad", lambda: model(ag.ones(4, FEATURES)).sum().backward())
    with pytest.raises(NotImplementedError, match="no_sync"), model.no_sync():
        pass


def test_layers_that_look_at_other_ranks_are_refused():
    with pytest.raises(NotImplementedError, match="norm is a SyncBatchNorm"):
        DataParallel(SyncBatchNorm.convert_sync_batchnorm(Net(ag.float32)), comm=Devices(1), reproducible=2)


def test_the_tree_is_the_tree():
    big = [np.float32(x) for x in (1e8, 1, -1e8, 1)]
    assert tree_sum(big) == (big[0] + big[1]) + (big[2] + big[3])
    assert tree_sum([None, 2.0, None, None]) == 2.0 and tree_sum([None, None]) is None


@pytest.mark.parametrize("count, size, shards", [(67, 16, 4), (64, 16, 8), (65, 16, 4), (9, 16, 4)])
def test_global_batches_are_the_same_for_all_sizes(count, size, shards):
    whole = list(GlobalBatchSampler(range(count), size, comm=Devices(1), shards=shards))
    assert sorted(i for batch in whole for i in batch) == list(range(count))
    for ranks in (2, 4):
        parts = run_ranks(ranks, lambda comm: list(GlobalBatchSampler(range(count), size, comm=comm, shards=shards)))
        assert [sum((part[i] for part in parts), []) for i in range(len(whole))] == whole


def test_the_sampler_resumes_and_changes_its_order():
    sampler = GlobalBatchSampler(range(20), 4, comm=Devices(1))
    first, second = list(sampler), list(sampler)
    assert first != second and len(first) == len(sampler) == 5
    again = GlobalBatchSampler(range(20), 4, comm=Devices(1))
    again.load_state_dict({"seed": 0, "epoch": 1, "batch": 2})
    assert list(again) == second[2:]
    again.set_epoch(0)
    assert list(again) == first
    for wrong in ({"batch_size": 0}, {"batch_size": 4, "shards": 8}):
        raises(ValueError, None, lambda: GlobalBatchSampler(range(20), comm=Devices(1), **wrong))


def test_evaluation_without_gradients_is_of_each_ranks_own_rows(comm):
    """It was rank 0's batch, scattered over the ranks, whatever the others had passed."""
    if 4 % comm.size:
        return
    net = nn.Linear(2, 3)
    model = DataParallel(net, comm=comm, reproducible=4)
    x = ag.full((2 + comm.rank, 2), 1.0 + comm.rank)
    with ag.no_grad():
        np.testing.assert_array_equal(model(x).numpy(), net(x).numpy())


@pytest.mark.mpi
@pytest.mark.skipif(loops.level() < 1, reason="one level of compiled loops")
def test_ranks_on_unlike_processors_use_the_lowest_level(monkeypatch):
    """Rank 1 acts as a processor without AVX2."""
    comm = world()
    monkeypatch.setattr(loops, "library", loops.module(LEVELS[0 if comm.rank == 1 else loops.level()]))
    DataParallel(nn.Linear(2, 2), comm=comm)                      # without reproducible= nothing changes
    assert (loops.level() == 0) == (comm.rank == 1)
    if comm.size == 2:
        DataParallel(nn.Linear(2, 2), comm=comm, reproducible=2)
        assert loops.level() == 0 and loops.state().startswith("in use, baseline")
