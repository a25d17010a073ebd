"""A small network is trained step by step as PyTorch trains it."""

import numpy as np
import pytest
from both import needs_torch, torch

import autograd as ag
import autograd.nn.functional as F
from autograd import optim

pytestmark = pytest.mark.quick


def network(t):
    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = t.nn.Sequential(t.nn.Conv2d(1, 4, 3, padding=1), t.nn.ReLU(), t.nn.MaxPool2d(2), t.nn.Flatten())
            self.head = t.nn.Linear(64, 10)
            self.register_buffer("scale", t.tensor(2.0, dtype=t.float64))
            self.register_buffer("scratch", t.zeros(1), persistent=False)
            self.nothing = None

        def forward(self, x):
            return self.head(self.body(x)) * self.scale

    return Net().double()


@needs_torch
@pytest.mark.parametrize("make", [
    lambda o, p: o.SGD(p, lr=0.1), lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, dampening=0.3, maximize=True), lambda o, p: o.AdamW(p, lr=0.01),
    lambda o, p: o.AdamW(p, lr=0.01, betas=(0.5, 0.9), weight_decay=0, amsgrad=True, maximize=True)])
def test_training_like_pytorch(make):
    rng = np.random.default_rng(0)
    ours, theirs = network(ag), network(torch)
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    o, q = make(optim, ours.parameters()), make(torch.optim, theirs.parameters())
    for step in range(6):
        x, t = rng.standard_normal((7, 1, 8, 8)), rng.integers(0, 10, 7)
        frozen = step in (2, 3)                          # some parameters without a gradient for a while
        for net, opt, lib, fn in ((ours, o, ag, F), (theirs, q, torch, torch.nn.functional if torch else None)):
            opt.zero_grad()
            loss = fn.cross_entropy(net(lib.from_numpy(x)), lib.from_numpy(t))
            loss.backward()
            if frozen:
                net.head.bias.grad = None
            opt.step()
    for p, r in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(p.detach().numpy(), r.detach().numpy(), rtol=1e-10, atol=1e-12)
