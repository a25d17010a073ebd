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
    "embedding_bag": lambda x, y: F.embedding_bag(y.reshape(2, 2), x).pow(2).sum(),
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
