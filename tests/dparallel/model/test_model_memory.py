"""model_memory() beside what ranks really hold after a step, by stage of sharding."""

import numpy as np
import pytest
from raised import raises

import autograd as ag
from autograd import nn, optim
from autograd.optim.state_size import bytes_in, state_bytes
from dparallel import DataParallel, run_ranks
from dparallel.sharding.memory import model_memory

OPTIMIZERS = [(optim.SGD, {"lr": 0.1}), (optim.SGD, {"lr": 0.1, "momentum": 0.9}), (optim.Adam, {}), (optim.AdamW, {"amsgrad": True}),
              (optim.RMSprop, {"centered": True}), (optim.Adagrad, {}), (optim.Adafactor, {}), (optim.LAMB, {"lr": 0.1}),
              (optim.LARS, {"lr": 0.1}), (optim.Muon, {"lr": 0.1})]


def net():
    return nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 24))


@pytest.mark.parametrize(("kind", "options"), OPTIMIZERS, ids=[f"{k.__name__}-{'-'.join(o)}" for k, o in OPTIMIZERS])
def test_state_before_the_first_step_is_that_after_it(kind, options):
    model = net()
    params = [p for p in model.parameters() if p.ndim == 2] if kind is optim.Muon else model.parameters()
    optimizer = kind(params, **options)
    before = state_bytes(optimizer)
    model(ag.ones(2, 40)).sum().backward()
    optimizer.step()
    counted = sum(bytes_in(of_one) for of_one in optimizer.state.values())
    assert before == counted == state_bytes(optimizer)
    assert counted > 0 or not options.get("momentum") or kind is not optim.SGD


def test_state_of_lbfgs_and_of_frozen_parameters():
    model = net()
    weights = sum(p.numel() for p in model.parameters()) * 4
    assert state_bytes(optim.LBFGS(model.parameters(), history_size=3)) == 8 * weights
    model[0].requires_grad_(False)
    trained = sum(p.numel() for p in model[2].parameters()) * 4
    adam = optim.Adam(model.parameters())
    assert state_bytes(adam) == 2 * trained + 2 * 4
    assert model_memory(model.parameters(), adam) == {"parameters": weights, "gradients": trained,
                                                      "optimizer state": 2 * trained + 8}


@pytest.mark.parametrize("shard", [None, "optimizer", "gradients", "parameters"])
@pytest.mark.parametrize("size", [2, 3])
def test_ranks_hold_what_is_predicted(shard, size):
    def body(comm):
        model = DataParallel(net(), comm=comm, shard=shard)
        optimizer = optim.Adam(model.parameters())
        wanted = model_memory(model.parameters(), optimizer, world_size=size, shard=shard)
        unsharded = model_memory(net().parameters(), optim.Adam(net().parameters()), world_size=size, shard=shard)
        assert wanted == {use: pytest.approx(n, abs=16) for use, n in unsharded.items()}       # numbers of steps, per slice
        for _ in range(2):
            model(ag.ones(2, 40)).sum().backward()
            optimizer.step()
        slices = list(model.parameters())
        held = {"parameters": sum(p.array.nbytes for p in (slices if shard == "parameters" else model.module.parameters())),
                "gradient buckets": sum(p.grad.array.nbytes for p in slices) if shard != "optimizer" else None,
                "optimizer state": sum(bytes_in(s) for s in optimizer.state.values())}
        return wanted, held

    found = run_ranks(size, body)
    for use in found[0][0]:
        if found[0][1][use] is not None:
            assert max(held[use] for _, held in found) == pytest.approx(found[0][0][use], abs=64), use
    assert sum(found[0][0].values()) < 16.1 * sum(p.numel() for p in net().parameters())


def test_what_is_refused():
    raises(ValueError, "world_size=0", model_memory, [], world_size=0)
    raises(ValueError, "shard=4", model_memory, [], shard=4)
    assert model_memory([], world_size=2) == {"parameters": 0, "gradient buckets": 0, "optimizer state": 0}
    p = nn.Parameter(ag.tensor(np.zeros(10, np.float16)))
    assert model_memory([p, p], world_size=4, shard=3)["parameters"] == 5
