"""autocast and GradScaler under DataParallel: gradients arrive in the parameters' dtype, and all ranks step or skip alike."""

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import DataParallel, assert_same_everywhere, run_ranks

pytest.importorskip("ml_dtypes")
ROWS = np.random.default_rng(0).standard_normal((12, 6)).astype("f4")
TARGETS = np.arange(12) % 4


def make():
    net = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 4))
    rng = np.random.default_rng(1)
    for p in net.parameters():
        p.data = ag.tensor(rng.standard_normal(tuple(p.shape)).astype("f4") / 2)
    return net


def train(model, rows, dtype, steps=3):
    optimizer = optim.SGD(model.parameters(), 0.1, momentum=0.9)
    scaler = ag.GradScaler("cpu", init_scale=256.0, growth_interval=2)
    for _ in range(steps):
        optimizer.zero_grad()
        with ag.autocast("cpu", dtype):
            out = model(ag.from_numpy(ROWS[rows]))
            assert out.dtype == dtype
            loss = F.cross_entropy(out, ag.from_numpy(TARGETS[rows]))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        assert all(p.grad.dtype == ag.float32 for p in model.parameters() if p.grad is not None)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return scaler.get_scale()


@pytest.mark.parametrize("dtype", [ag.bfloat16, ag.float16], ids=str)
@pytest.mark.parametrize("shard", [None, "optimizer", "gradients", "parameters"])
def test_training(comm, shard, dtype):
    plain, net = make(), make()
    expected = train(plain, slice(None), dtype)
    model = DataParallel(net, comm=comm, batch="own", shard=shard)
    assert train(model, slice(comm.rank, None, comm.size), dtype) == expected == 512.0
    state = model.state_dict()
    for name, value in plain.state_dict().items():
        np.testing.assert_allclose(state[name].numpy(), value.numpy(), atol=2e-2, err_msg=name)
    assert_same_everywhere([state[name] for name in sorted(state)], comm=comm)


@pytest.mark.parametrize("shard", [None, "optimizer", "gradients", "parameters"])
def test_an_overflow_on_one_rank_is_one_for_all(comm, shard):
    """Where only one rank sees it: the one that has the element in a sharded model, or whose gradient was changed after the sum."""
    model = DataParallel(make(), comm=comm, batch="own", shard=shard)
    optimizer, scaler = optim.SGD(model.parameters(), 0.1), ag.GradScaler("cpu", init_scale=64.0)
    before = {name: value.numpy().copy() for name, value in model.state_dict().items()}
    for overflow in (True, False):
        optimizer.zero_grad()
        scaler.scale(F.cross_entropy(model(ag.from_numpy(ROWS)), ag.from_numpy(TARGETS))).backward()
        if overflow:                             # in the last element of the last parameter
            held = [p for p in model.parameters() if p.grad is not None and p.grad.numel()]
            if comm.rank == comm.size - 1:
                held[-1].grad.view(-1)[-1] = np.inf
        scaler.step(optimizer)
        scaler.update()
        same = [np.array_equal(value.numpy(), before[name]) for name, value in model.state_dict().items()]
        assert all(same) if overflow else not all(same)
        assert scaler.get_scale() == 32.0


@pytest.mark.parametrize("settings", [{}, {"reproducible": 4}, {"shard": "optimizer"}, {"shard": "gradients"}, {"shard": "parameters"}])
@pytest.mark.threads(2)
def test_scales_that_differ_are_an_error_on_all_ranks(comm, settings):
    """A scaler's state loaded on one rank alone: gradients of different scales were averaged."""
    model = DataParallel(make(), comm=comm, batch="own", average="sum", **settings)
    optimizer, scaler = optim.SGD(model.parameters(), 0.1), ag.GradScaler("cpu", init_scale=64.0 if comm.rank else 128.0)
    scaler.scale(F.cross_entropy(model(ag.from_numpy(ROWS)), ag.from_numpy(TARGETS))).backward()
    with pytest.raises(RuntimeError, match="64.0 to 128.0"):
        scaler.step(optimizer)


def test_a_rank_whose_gradients_are_none_agrees_with_the_others():
    def check(comm):
        model = DataParallel(make(), comm=comm, batch="own")
        optimizer, scaler = optim.SGD(model.parameters(), 0.1), ag.GradScaler("cpu", init_scale=64.0)
        scaler.scale(F.cross_entropy(model(ag.from_numpy(ROWS)), ag.from_numpy(TARGETS))).backward()
        for p in model.parameters():
            p.grad = None if comm.rank else ag.full_like(p, float("inf"))
        scaler.step(optimizer)
        scaler.update()
        return scaler.get_scale()

    assert run_ranks(2, check) == [32.0, 32.0]


@pytest.mark.threads(2)
def test_scalers_inside_of_join_decide_by_themselves(comm):
    model = DataParallel(make(), comm=comm, batch="own")
    optimizer, scaler = optim.SGD(model.parameters(), 0.1), ag.GradScaler("cpu", init_scale=64.0)
    with model.join():
        for _ in range(comm.rank + 1):
            scaler.scale(F.cross_entropy(model(ag.from_numpy(ROWS)), ag.from_numpy(TARGETS))).backward()
            scaler.step(optimizer)
            scaler.update()
