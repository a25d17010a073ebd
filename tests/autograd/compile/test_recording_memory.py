"""Memory: a recording is freed as soon as its program is made, and what it needed goes back to the system."""

import ctypes
import gc

import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.base.refcounts import holders
from autograd.compile.native import available
from autograd.compile.recording.inline import Watched
from autograd.compile.recording.tracer import Tracer
from autograd.kernels.blocks import pool


@pytest.mark.skipif(bool(available()), reason=available())
def test_a_recording_is_freed_without_the_garbage_collector():
    """Its arrays are as large as those of the step, and no cycle may hold them."""
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
    optimizer = optim.AdamW(net.parameters(), lr=0.01)

    @ag.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def held():
        """Arrays of rules that are taken apart, and recordings that have not been cleared."""
        return {id(x) for x in gc.get_objects() if isinstance(x, Watched) or (isinstance(x, Tracer) and x.calls)}

    gc.collect()
    before = held()
    gc.disable()
    try:
        step(ag.ones(2, 3, 8, 8), ag.tensor([0, 2]))
        left = held() - before
    finally:
        gc.enable()
    assert not left and not step.eager_calls


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library can't give memory back")
def test_large_blocks_are_released_after_a_recording():
    """The eager first run and the recordings leave unused blocks, which a program does not need."""
    w = ag.ones(1 << 21, requires_grad=True)

    @ag.compile(backend="python")
    def step(x):
        w.grad = None
        loss = ((w * x).sigmoid() * x).sum()
        loss.backward()
        return loss.detach()

    step(ag.ones(1 << 21))
    assert not any(count == 0 for kept in pool.blocks.values() for count in holders(kept))
