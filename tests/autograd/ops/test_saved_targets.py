"""Targets and indices that are written to between forward and backward: noticed, as PyTorch does, or of no effect."""

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F

NOTICED = {
    "cross_entropy": F.cross_entropy,
    "cross_entropy, none": lambda x, y: F.cross_entropy(x, y, reduction="none").sum(),
    "cross_entropy of places": lambda x, y: F.cross_entropy(x.t().reshape(1, 5, 2, 2), y.reshape(1, 2, 2), label_smoothing=0.1),
    "nll_loss": F.nll_loss,
    "embedding": lambda x, y: F.embedding(y, x).pow(2).sum(),
    "max_unpool1d": lambda x, y: F.max_unpool1d(x[:, :1], y.reshape(4, 1), 3).sum(),
    "max_unpool2d": lambda x, y: F.max_unpool2d(x[:1, :4].reshape(1, 1, 2, 2), y.reshape(1, 1, 2, 2), 2).sum(),
    "embedding_bag": lambda x, y: F.embedding_bag(y.reshape(2, 2), x).pow(2).sum(),
}
GIVEN = {                             # values and indices
    "max": lambda x: x.max(1), "topk": lambda x: x.topk(2), "sort": lambda x: x.sort(), "kthvalue": lambda x: x.kthvalue(2),
    "median": lambda x: x.median(0), "mode": lambda x: x.mode(0), "cummax": lambda x: x.cummax(0),
    "aminmax": lambda x: (x.aminmax(dim=1)[0], x.argmin(1)),
    "max_pool1d": lambda x: F.max_pool1d(x, 2, return_indices=True), "max_pool2d": lambda x: F.max_pool2d(x[None], 2, return_indices=True),
    "max_pool3d": lambda x: F.max_pool3d(x[None, None], (1, 2, 2), return_indices=True),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x[None, None], 2, return_indices=True),
    "fractional_max_pool2d": lambda x: F.fractional_max_pool2d(x[None, None], 2, 2, return_indices=True),
}
COPIED = {
    "cross_entropy, ignored": lambda x, y: F.cross_entropy(x, y, ignore_index=0),
    "multi_margin_loss": F.multi_margin_loss,
}


def made(call):
    x, y = ag.tensor(np.random.default_rng(0).standard_normal((4, 5)), requires_grad=True), ag.tensor([0, 2, 1, 0])
    return x, y, call(x, y)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", NOTICED)
def test_a_write_is_noticed(name, create_graph):
    _, y, loss = made(NOTICED[name])
    y.copy_(ag.tensor([1, 1, 0, 3]))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward(create_graph=create_graph)


@pytest.mark.parametrize("name", COPIED)
def test_a_write_to_what_was_copied_changes_nothing(name):
    x, _, loss = made(COPIED[name])
    loss.backward()
    again, y, loss = made(COPIED[name])
    y.copy_(ag.tensor([1, 1, 0, 3]))
    loss.backward()
    np.testing.assert_array_equal(x.grad.numpy(), again.grad.numpy())


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", GIVEN)
def test_a_write_to_given_indices_is_noticed_or_changes_nothing(name, create_graph):
    grads = []
    for write in (False, True):
        x, _, _ = made(lambda x, y: 0)
        values, indices = GIVEN[name](x)
        if write:
            indices.zero_()
        try:
            values.sum().backward(create_graph=create_graph)
        except RuntimeError as error:
            assert write and "modified by an inplace operation" in str(error)
            return
        grads.append(x.grad.detach().numpy())
    assert "pool" not in name                        # PyTorch notices these
    np.testing.assert_array_equal(*grads)
