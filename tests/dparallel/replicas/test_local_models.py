"""Whole models on local devices, against one device."""

import os

import numpy as np
import pytest
from raised import raises

import autograd as ag
import autograd.nn.functional as F
import dparallel
from autograd import nn, optim
from dparallel import DataParallel, data_parallel, gather, parallel_apply, replicate, scatter, scatter_kwargs

pytestmark = pytest.mark.local
LINUX = hasattr(os, "sched_setaffinity")


class Nested(nn.Module):
    """Nested inputs and outputs, a keyword, a number along with them, statistics in buffers."""

    def __init__(self):
        super().__init__()
        self.layer, self.norm = nn.Linear(3, 2, dtype=ag.float64), nn.BatchNorm1d(2, dtype=ag.float64)

    def forward(self, pair, scale=1, *, mask=None):
        x, more = pair
        y = self.norm(self.layer(x) * scale + more["shift"])
        return {"y": y if mask is None else y * mask, "parts": (y.sum(), [x * 2, None])}


def nested_inputs(rows=7):
    rng = np.random.default_rng(3)
    x, shift, mask = (ag.tensor(rng.standard_normal((rows, k))) for k in (3, 2, 2))
    return (x, {"shift": shift}), mask


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_nests_are_cut_and_joined(size):
    ag.manual_seed(0)
    net = Nested().eval()
    pair, mask = nested_inputs()
    expected = net(pair, 2.0, mask=mask)
    got = DataParallel(net, devices=size)(pair, 2.0, mask=mask)
    np.testing.assert_allclose(got["y"].tolist(), expected["y"].tolist(), rtol=1e-12)
    np.testing.assert_allclose(got["parts"][0].sum().item(), expected["parts"][0].item(), rtol=1e-12)
    assert got["parts"][0].shape == ((size,) if size > 1 else ()) and got["parts"][1][1] is None
    again = data_parallel(net, (pair, 2.0), size, module_kwargs={"mask": mask})
    assert (again["y"] == got["y"]).all()


@pytest.mark.parametrize("output", [None, 4, 9])
def test_outputs_come_to_the_chosen_device(output):
    net = nn.Linear(3, 2)
    x = ag.randn(5, 3)
    y = DataParallel(net, devices=[4, 9], output_device=output)(x)
    np.testing.assert_allclose(y.tolist(), net(x).tolist(), rtol=1e-6)
    with pytest.raises(ValueError, match=r"output_device=5 is not one of the devices \[4, 9\]"):
        DataParallel(net, devices=[4, 9], output_device=5)


@pytest.mark.parametrize("dim", [1, -1, -2])
def test_any_dimension_is_cut(dim):
    net = nn.ReLU()
    x = ag.randn(3, 4, 5)
    assert (DataParallel(net, devices=3, dim=dim)(x) == net(x)).all()


def test_fewer_rows_than_devices_leave_some_idle():
    class Picky(nn.Linear):
        def forward(self, x):
            assert len(x) > 0
            return super().forward(x)

    net = Picky(3, 2)
    x = ag.randn(2, 3)
    np.testing.assert_allclose(DataParallel(net, devices=5)(x).tolist(), net(x).tolist(), rtol=1e-6)


@pytest.mark.parametrize("dim, second, text", [
    (0, 4, r"\.args\[0\] has 6 rows along dim 0, \.kwargs\['y'\]\[0\] has 4"), (0, 1, "has 1; tensors of one batch"),
    (2, 6, r"dim 2 is out of range for \.args\[0\], of shape \(6, 3\)")])
def test_batches_that_can_not_be_cut_are_named(dim, second, text):
    """Also where one row would leave all devices but one idle."""
    class Both(nn.Module):
        def forward(self, x, y):
            return x

    x = ag.zeros(6, 3)
    for given in (x, x.clone().requires_grad_()):
        raises(ValueError, text, lambda: DataParallel(Both(), devices=3, dim=dim)(given, y=[ag.zeros(second, 3)]))


def test_the_first_devices_statistics_are_kept():
    net = Nested().train()
    pair, _ = nested_inputs(6)
    DataParallel(net, devices=2)(pair)
    alone = Nested()
    alone.load_state_dict({k: v for k, v in net.state_dict().items() if "norm" not in k or "weight" in k or "bias" in k},
                          strict=False)
    x, more = pair
    alone((x[:3], {"shift": more["shift"][:3]}))
    np.testing.assert_allclose(net.norm.running_mean.tolist(), alone.norm.running_mean.tolist(), rtol=1e-12)
    assert net.norm.num_batches_tracked.item() == 1


@pytest.mark.parametrize("in_place", [True, False])
def test_buffers_are_kept_as_the_first_replica_leaves_them(in_place):
    class Seen(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("rows", ag.zeros(1))

        def forward(self, x):
            if in_place:
                self.rows += len(x)
            else:
                self.rows = self.rows + len(x)
            return x + self.rows

    net = nn.Sequential(Seen(), nn.Identity())
    model = DataParallel(net, devices=2)
    assert model(ag.zeros(5)).tolist() == [3, 3, 3, 2, 2] and net[0].rows.item() == 3
    assert model(ag.zeros(4)).tolist() == [5, 5, 5, 5] and net.state_dict()["0.rows"].item() == 5


def test_pytorchs_argument_names():
    x = ag.arange(6.0).reshape(3, 2)
    parts = scatter(x, target_gpus=[0, 1])
    assert [len(p) for p in parts] == [2, 1] and gather(parts, target_device=1).tolist() == x.tolist()
    assert [len(args[0]) for args in scatter_kwargs((x,), None, target_gpus=2)[0]] == [2, 1]
    assert len(replicate(network=nn.Linear(2, 2), devices=[0, 1, 2])) == 3
    assert len(dparallel.broadcast(x, devices=2)) == len(dparallel.broadcast_coalesced([x], devices=[0, 1])) == 2
    assert dparallel.reduce_add([x, x], destination=1).tolist() == (2 * x).tolist()
    assert dparallel.reduce_add_coalesced([[x], [x]], destination=1)[0].tolist() == (2 * x).tolist()


def test_a_module_without_arguments_or_parameters_runs_once():
    class Counts(nn.Module):
        calls = 0

        def forward(self, n=3):
            Counts.calls += 1
            return ag.ones(n)

    assert DataParallel(Counts(), devices=3)().tolist() == [1, 1, 1] and Counts.calls == 1


def test_an_exception_keeps_its_traceback():
    class Breaks(nn.Linear):
        def forward(self, x):
            y = super().forward(x)
            if x[0, 0] == 7:
                raise KeyError("planted")
            return y

    x = ag.zeros(4, 3)
    x[2, 0] = 7
    with pytest.raises(KeyError, match="replica 1 on device 1.*planted") as caught:
        DataParallel(Breaks(3, 2), devices=2)(x)
    assert caught.value.__cause__.__traceback__.tb_next.tb_next is not None


def ranks_times_devices(comm):
    """Two local devices under each rank; batch of 11 rows in uneven shares; five steps of AdamW."""
    ag.manual_seed(1)
    nets = [nn.Sequential(nn.Linear(3, 8, dtype=ag.float64), nn.Tanh(), nn.Linear(8, 2, dtype=ag.float64)) for _ in "ab"]
    model = DataParallel(nets[0], comm=comm, devices=2)              # has rank 0's weights now
    nets[1].load_state_dict(nets[0].state_dict())
    rng = np.random.default_rng(0)
    optimizers = [optim.AdamW(net.parameters(), lr=0.1) for net in nets]
    for _ in range(5):
        x, y = ag.tensor(rng.standard_normal((11, 3))), ag.tensor(rng.standard_normal((11, 2)))
        for optimizer in optimizers:
            optimizer.zero_grad()
        start = comm.rank * 11 // comm.size
        mine = slice(start, (comm.rank + 1) * 11 // comm.size)
        F.mse_loss(model(x[mine]), y[mine]).backward()
        F.mse_loss(nets[1](x), y).backward()
        for optimizer in optimizers:
            optimizer.step()
    for p, q in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
        np.testing.assert_allclose(p.tolist(), q.tolist(), rtol=1e-12, atol=1e-13)


def test_ranks_times_devices_equal_one_process(on_ranks):
    on_ranks(ranks_times_devices)


def test_a_replica_may_start_a_stream_of_its_own():
    def draw(first):
        before = ag.rand(3) if first else None
        ag.manual_seed(3)
        return before, ag.rand(3), ag.initial_seed()

    ag.manual_seed(3)
    expected = ag.rand(3)
    for first in (False, True):
        for _, drawn, seed in parallel_apply([draw, draw], [(first,), (first,)]):
            assert (drawn == expected).all() and seed == 3


class Seen(nn.Module):
    """Keeps what it was given, and what it is made of, in each replica."""

    def __init__(self):
        super().__init__()
        self.inner, self.factor, self.calls = nn.Linear(3, 3), 1.0, []

    def forward(self, x):
        self.calls.append((x.array, self.factor, self.inner))
        return self.inner(x) * self.factor


def test_a_batch_without_gradients_is_looked_into_and_one_with_them_copied():
    net, x = Seen(), ag.randn(5, 3)
    model = DataParallel(net, devices=2)
    y = model(x)
    assert sorted(len(a) for a, *_ in net.calls) == [2, 3] and all(np.shares_memory(a, x.array) for a, *_ in net.calls)
    np.testing.assert_allclose(y.tolist(), net.inner(x).tolist(), rtol=1e-5)
    net.calls.clear()
    x.requires_grad_()
    model(x).sum().backward()
    assert not any(np.shares_memory(a, x.array) for a, *_ in net.calls)
    np.testing.assert_allclose(x.grad.tolist(), np.tile(net.inner.weight.array.sum(0), (5, 1)), rtol=1e-5)


def test_a_batch_that_is_overwritten_before_backward_is_noticed():
    x = ag.randn(4, 3)
    y = data_parallel(nn.Linear(3, 2), x, 2)
    x.zero_()
    raises(RuntimeError, "modified by an inplace operation", lambda: y.sum().backward())


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Parameter(ag.randn(3)), nn.Linear(3, 3)

    def forward(self, x, scale):
        scale.mul_(2)
        x.sub_(0.5)
        x += self.first * scale
        return self.second(x)


def test_replicas_may_write_to_their_inputs():
    """Each to its own piece: that is no write to what another has saved, and no piece's graph goes on in another."""
    net, other, x, scale = InPlace(), InPlace(), ag.randn(8, 3), ag.tensor(0.5)
    other.load_state_dict(net.state_dict())
    for _ in range(20):
        before = x.clone()
        DataParallel(net, devices=4)(x, scale).square().sum().backward()
        other(before, scale.clone()).square().sum().backward()
    assert not x.requires_grad and scale.item() == 0.5
    np.testing.assert_allclose(x.tolist(), before.tolist(), rtol=1e-6)       # it is the batch that is written to
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.tolist(), q.grad.tolist(), rtol=1e-4)


def test_what_replicas_write_to_was_written_to():
    w, x = ag.ones(3, requires_grad=True), ag.randn(8, 3)
    early = w * x
    y = data_parallel(InPlace(), (x, ag.tensor(0.5)), 2)
    y.sum().backward()
    raises(RuntimeError, "modified by an inplace operation", lambda: early.sum().backward())


def test_a_module_may_change_between_calls():
    """Replicas are made of what the module is now, though how it is made up is remembered."""
    net, x = Seen(), ag.randn(4, 3)
    model = DataParallel(net, devices=2)

    def check():
        np.testing.assert_allclose(model(x).tolist(), (net.inner(x) * net.factor).tolist(), rtol=1e-5)

    check()
    net.factor = 3.0                                 # an attribute
    check()
    net.inner.weight = nn.Parameter(ag.randn(3, 3))  # a parameter, here and in a new layer
    check()
    net.inner = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    check()
    net.inner[0].bias = None
    check()
    net.inner.append(nn.Linear(3, 3))
    check()
    net.inner.register_buffer("count", ag.zeros(1))
    check()
    model(x).sum().backward()
    assert all(p.grad is not None for p in net.parameters())


def test_what_was_no_part_of_a_module_may_become_one():
    """None, or a number, that a parameter, buffer or module takes the place of: replicas must not share them."""
    class Optional(nn.Module):
        def __init__(self):
            super().__init__()
            self.head, self.gain = None, 1.0
            self.register_buffer("count", None)

        def forward(self, x):
            if self.head is None:
                return x * self.gain
            self.count.add_(1)
            return self.head(x) * self.gain

    net, x = Optional(), ag.randn(4, 3)
    model = DataParallel(net, devices=2)
    model(x)
    net.head, net.count, net.gain = nn.BatchNorm1d(3), ag.zeros(1), nn.Parameter(ag.ones(1))
    model(x).sum().backward()
    assert net.count.item() == 1 and net.head.num_batches_tracked.item() == 1
    assert all(p.grad is not None for p in net.parameters())
