"""A module that is wrapped again, inside another wrapper or with others in turns: right gradients, or an error that says why."""

import copy
import gc
import re

import numpy as np
import pytest

import autograd as ag
from autograd import nn
from dparallel import DataParallel, Devices

WAYS = {"ranks": {"average": "ranks"}, "rows": {}, "root": {"batch": "root"}, "devices": {"comm": Devices(2)},
        "both": {"devices": 2}, "reproducible": {},
        **{stage: {"shard": stage} for stage in ("optimizer", "gradients", "parameters")}}
SIZES = {"threads": (1, 3), "mpi": (2,)}     # each pair of ways is wrapped alike by messages and by threads
SAYS = re.compile(r"wrapped again|is already sharded|pass its \.module|in slices")


def make():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)).double()
    for n, p in enumerate(net.parameters()):
        with ag.no_grad():
            p.copy_(ag.from_numpy(np.random.default_rng(n).standard_normal(tuple(p.shape))))
    return net


def rows(rank):
    return ag.from_numpy(np.random.default_rng(rank).standard_normal((4, 2)))


def wrap(way, module, comm):
    settings = {"comm": comm, **WAYS[way]}
    if way == "reproducible" and not comm.size & (comm.size - 1):
        settings["reproducible"] = 4 * comm.size
    return DataParallel(module, **settings)


def refused(action):
    """What it returns; None if it raises what SAYS."""
    try:
        return action()
    except (NotImplementedError, RuntimeError, ValueError) as error:
        if not SAYS.search(str(error)):
            raise
        return None


def step(way, model, comm):
    """A step has right gradients, or raises what SAYS."""
    model.zero_grad()
    x, ranks = rows(comm.rank), [comm.rank] if way == "devices" else range(comm.size)
    if way == "root":
        x = ag.cat([rows(r) for r in ranks]) if comm.rank == 0 else rows(0)[:0]

    def run():
        y = model(x)
        ((y ** 2).mean() if y.numel() else y.sum()).backward()
        return True

    if not refused(run):
        return False
    one = make()
    (one(ag.cat([rows(r) for r in ranks])) ** 2).mean().backward()
    for p, q in zip(model.parameters(), one.parameters(), strict=True):
        if hasattr(p, "shard"):
            expected = q.grad.numpy().reshape(-1)[p.shard.start:p.shard.stop].reshape(p.shape)
            np.testing.assert_allclose(p.grad.numpy() if p.grad is not None else 0 * expected, expected, atol=1e-12)
        elif way != "root" or comm.rank == 0:
            np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), atol=1e-12)
    return True


@pytest.mark.parametrize("second", WAYS)
@pytest.mark.parametrize("first", WAYS)
def test_wrapped_again(comm, first, second):
    if comm.size not in SIZES[comm.kind]:
        return
    for used, kept in ((False, False), (True, True)):
        net = make()
        model = wrap(first, net, comm)
        if used:
            assert step(first, model, comm)
        if not kept:
            del model
            gc.collect()
        again = refused(lambda net=net: wrap(second, net, comm))
        if again is not None:
            fine = step(second, again, comm)
            assert fine or first in ("optimizer", "gradients", "parameters")
        if kept:
            step(first, model, comm)
            if again is not None:
                step(second, again, comm)


@pytest.mark.parametrize("outer", WAYS)
@pytest.mark.parametrize("inner", WAYS)
def test_wrapped_inside(comm, inner, outer):
    """A wrapper, or a module with a wrapped layer, is wrapped; a layer of a wrapped module is; a copy is."""
    if comm.size not in SIZES[comm.kind]:
        return
    model = refused(lambda: wrap(outer, wrap(inner, make(), comm), comm))
    assert step(outer, model, comm) if model is not None else {inner, outer} != {"ranks"}
    net = make()
    net[0] = wrap(inner, net[0], comm)
    model = refused(lambda: wrap(outer, net, comm))
    assert model is None or (step(outer, model, comm) and step(outer, model, comm))
    net = make()
    model = wrap(inner, net, comm)
    part = refused(lambda: wrap(outer, net[0], comm))
    assert step(inner, model, comm) or part is not None
    model = wrap(inner, make(), comm)
    assert step(inner, model, comm)
    if inner != "parameters":
        other = wrap(outer, copy.deepcopy(model.module), comm)
        assert step(outer, other, comm) and step(inner, model, comm) and step(outer, other, comm)
    if inner not in ("optimizer", "gradients", "parameters"):
        other = copy.deepcopy(model)
        assert step(inner, other, comm) and step(inner, model, comm) and step(inner, other, comm)
