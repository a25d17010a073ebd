"""Comm hooks that are not the same on all ranks: one error on every rank, in the next backward pass that is summed."""

import contextlib

import numpy as np
import pytest

import autograd as ag
from autograd import nn
from dparallel import DataParallel, hooks

BOTH = {"plain": nn.Sequential, "half": lambda *parts: nn.Sequential(*parts).half(), "buffers": lambda *parts: nn.Sequential(
    *parts, nn.BatchNorm1d(1))}


def mine(state, bucket):
    return bucket.comm.start_allreduce([bucket.array / bucket.comm.size]).then(lambda handle: handle.value()[0])


def another(state, bucket):
    return bucket.array


def model_of(comm, kind="plain"):
    net = BOTH[kind](nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    return DataParallel(net, comm=comm, bucket_cap_mb=1e-4)          # a bucket for each parameter


def step(model, rank):
    x = ag.tensor(np.random.default_rng(rank).standard_normal((rank + 2, 4)).astype(model.module[0].weight.dtype))
    model.zero_grad()
    model(x).sum().backward()
    return [p.grad.array.copy() for p in model.parameters()]


def refused(model, rank, around=contextlib.nullcontext):
    with pytest.raises(RuntimeError, match="comm hook .* is registered here, but not on all ranks") as caught, around():
        step(model, rank)
    texts = model.comm.allgather_object([str(caught.value)])
    assert texts == texts[:1] * model.comm.size
    assert all(p.grad is None for p in model.parameters())
    return texts[0]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("before", [0, 2])
def test_a_hook_on_one_rank_only(comm, kind, before):
    if comm.size == 1:
        return
    model = model_of(comm, kind)
    for _ in range(before):
        step(model, comm.rank)
    odd = comm.size - 1
    if comm.rank == odd:
        model.register_comm_hook(None, mine)
    for _ in range(2):                           # again and again
        text = refused(model, comm.rank)
        assert text.startswith(f"rank {odd}: the comm hook mine is") and text.count("rank") == text.count("ranks") + 2
    if comm.rank != odd:                         # all is well when the others follow
        model.register_comm_hook(None, mine)
    found = [step(model, comm.rank) for _ in range(2)][-1]
    for g in comm.allgather_object([found]):
        for a, b in zip(g, found):
            np.testing.assert_array_equal(a, b)


def test_another_hook_or_state_on_one_rank(comm):
    if comm.size == 1:
        return
    model = model_of(comm)
    model.register_comm_hook(None, another if comm.rank == 0 else mine)
    text = refused(model, comm.rank)
    assert "rank 0: the comm hook another is" in text and f"rank {comm.size - 1}: the comm hook mine" in text
    model = model_of(comm)
    model.register_comm_hook(hooks.TopKState() if comm.rank else None, mine)
    refused(model, comm.rank)


def test_within_skipping_and_after_no_sync(comm):
    if comm.size == 1:
        return
    model = model_of(comm)
    with model.no_sync():                        # nothing is summed, nothing is found
        step(model, comm.rank)
    if comm.rank == 0:
        model.register_comm_hook(None, mine)
    refused(model, comm.rank, model.skipping)
    refused(model, comm.rank)


def test_with_a_hook_that_is_everywhere_gradients_are_the_mean_from_the_first_pass_on(comm):
    ag.manual_seed(0)
    plain, hooked = model_of(comm), model_of(comm)
    hooked.module.load_state_dict(plain.module.state_dict())
    hooked.register_comm_hook(None, mine)
    for _ in range(3):
        for a, b in zip(step(plain, comm.rank), step(hooked, comm.rank)):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_inside_join_ranks_that_have_run_out_tell_too(comm):
    if comm.size == 1:
        return
    model = model_of(comm)
    if comm.rank == 0:
        model.register_comm_hook(None, mine)
    with pytest.raises(RuntimeError, match="registered here, but not on all ranks"), model.join():
        for _ in range(int(comm.rank != comm.size - 1)):
            step(model, comm.rank)


@pytest.mark.parametrize("hook", [hooks.powerSGD_hook, hooks.batched_powerSGD_hook, hooks.topk_hook, hooks.quantization_hook,
                                  hooks.hierarchical_hook, hooks.post_localSGD_hook])
def test_a_hook_without_its_state_is_refused_when_it_is_registered(hook):
    with pytest.raises(TypeError, match=rf"{hook.__name__} requires a hooks\.\w+State as state, not None"):
        DataParallel(nn.Linear(2, 2)).register_comm_hook(None, hook)
