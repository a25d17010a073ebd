"""Blocks of memory that large arrays share, one after another and never two at once."""

import gc
import threading

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn
from autograd.kernels import blocks
from autograd.kernels.memory_format import channels_last, empty_last

MANY = blocks.LARGE // 4                             # float32 elements from which an array lies in a block


@pytest.fixture(autouse=True)
def no_blocks(monkeypatch):
    monkeypatch.setattr(blocks.pool, "blocks", {})


def place(array):
    return array.__array_interface__["data"][0]


def large(rows=4, dtype=np.float32):
    return blocks.empty((rows, MANY), np.dtype(dtype))


def test_small_arrays_own_their_memory():
    assert blocks.empty((3, 4), np.dtype(np.float32)).base is None and empty_last((2, 3, 4, 4), np.float32).base is None
    assert not blocks.pool.blocks


def test_memory_is_used_again_when_nobody_looks_at_it():
    first = large()
    where = place(first)
    second = large()
    assert place(second) != where
    view, other = first[1:, ::2], first.reshape(-1).view(np.int32)
    del first
    assert place(large()) != where
    del view
    assert where not in {place(large()), place(large())}
    del other
    assert place(large()) == where and where % 64 == 0


@pytest.mark.parametrize("keep", [lambda t: t.numpy(), lambda t: t.detach()[0], lambda t: memoryview(t.numpy()),
                                  lambda t: np.from_dlpack(t.numpy())])
def test_what_users_hold_is_never_overwritten(keep):
    x = ag.ones(4, MANY)
    held = keep(x.relu())
    for _ in range(3):
        (2 * x).relu()
    gc.collect()
    assert np.asarray(held).min() == np.asarray(held).max() == 1


@pytest.mark.parametrize("layer", [lambda y: y, lambda y: F.max_pool2d(y, 2), nn.BatchNorm2d(64), ag.relu],
                         ids=["convolution", "pool", "norm", "relu"])
def test_view_of_a_large_result(layer):
    """It works as that of a small one, and writes through it are seen."""
    x, w = ag.randn(16, 3, 64, 64), ag.randn(64, 3, 3, 3, requires_grad=True)
    y = layer(F.conv2d(x, w, padding=1))
    expected = y.array.copy(order="C").reshape(16, -1)
    assert blocks.owns_memory(y.array) and not blocks.owns_memory(y.array[1:])
    flat = y.view(16, -1)
    np.testing.assert_array_equal(flat.detach().numpy(), expected)
    assert np.shares_memory(flat.array, y.array)
    flat.sum().backward()
    assert w.grad is not None
    with pytest.raises(RuntimeError, match="view size"):
        layer(F.conv2d(x, w, padding=1)).detach()[:, 1:].view(16, -1)


def test_memory_is_had_while_another_is_being_had(monkeypatch):
    """A finaliser that runs in the midst of empty() may call it: no waiting for itself, nothing handed out twice."""
    inner, holders = [], blocks.holders

    def interrupted(kept):
        found = holders(kept)
        if not inner:
            inner.append(None)
            inner[0] = large()
        return found

    large()
    monkeypatch.setattr(blocks, "holders", interrupted)
    outer = large()
    assert inner[0] is not None and not np.shares_memory(outer, inner[0])


def test_few_bytes_are_kept_for_nobody(monkeypatch):
    monkeypatch.setattr(blocks, "IDLE", 3 * blocks.LARGE)
    for rows in (1, 2, 3, 4, 5, 6):
        large(rows)
    idle = sum(size * len(kept) for size, kept in blocks.pool.blocks.items())
    assert idle <= 3 * blocks.LARGE + 6 * blocks.LARGE       # the last one was made after the others were looked at
    assert [len(kept) for kept in blocks.pool.blocks.values()][-1] == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_orders_of_memory(dtype):
    last = empty_last((2, 64, 64, 256), dtype)
    assert channels_last(last) and last.dtype == dtype and last.shape == (2, 64, 64, 256) and last.base is not None
    like = blocks.empty_like(last)
    assert like.strides == last.strides and like.dtype == dtype and place(like) != place(last)
    rows = blocks.empty_like(np.empty((8, MANY), dtype)[:, ::2])
    assert rows.flags.c_contiguous and rows.shape == (8, MANY // 2)


def test_a_network_of_large_arrays_gets_the_gradients_that_it_should():
    """Steps that use one another's memory give what the first one gave."""
    ag.manual_seed(0)
    model = ag.nn.Sequential(ag.nn.Conv2d(3, 32, 3), ag.nn.ReLU(), ag.nn.Conv2d(32, 32, 3), ag.nn.ReLU(), ag.nn.MaxPool2d(2),
                             ag.nn.Flatten(), ag.nn.Linear(32 * 14 * 14, 4))
    x = ag.randn(64, 3, 32, 32)
    seen = []
    for _ in range(3):
        model.zero_grad()
        model(x).square().mean().backward()
        seen.append([p.grad.numpy().tobytes() for p in model.parameters()])
    assert blocks.pool.blocks and seen[0] == seen[1] == seen[2]


def test_threads_get_memory_of_their_own():
    wrong = []

    def work(number):
        for _ in range(20):
            mine = large(1)
            mine[...] = number
            if (mine != number).any():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
