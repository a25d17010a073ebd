"""checkpoint() inside and around modules on local devices: gradients are those without it, random numbers repeat themselves."""

import numpy as np
import pytest

import autograd as ag
from autograd import nn
from autograd.utils.checkpoint import checkpoint
from dparallel import DataParallel


class Inside(nn.Module):
    def __init__(self, net, reentrant):
        super().__init__()
        self.net, self.reentrant = net, reentrant

    def forward(self, x):
        return checkpoint(self.net, x, use_reentrant=self.reentrant)


def net_of(drop):
    ag.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 40), nn.Tanh(), nn.Dropout(drop), nn.Linear(40, 40), nn.Tanh(), nn.Dropout(drop), nn.Linear(40, 2))


def gradients(net, call, seed):
    net.zero_grad()
    ag.manual_seed(seed)
    x = ag.tensor(np.random.default_rng(0).standard_normal((11, 3)).astype(np.float32), requires_grad=True)
    (call(x) ** 2).sum().backward()
    return [x.grad.numpy(), *[p.grad.numpy().copy() for p in net.parameters()]], ag.rand(1).item()


@pytest.mark.parametrize("drop", [0.0, 0.5])
@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("where", ["inside", "around"])
@pytest.mark.parametrize("devices", [1, 2, 3])
def test_gradients_and_draws_are_those_without_a_checkpoint(devices, where, reentrant, drop):
    net = net_of(drop)
    model = DataParallel(Inside(net, reentrant) if where == "inside" else net, devices=devices)
    plain = DataParallel(net, devices=devices)
    call = model if where == "inside" else lambda x: checkpoint(model, x, use_reentrant=reentrant)
    for seed in range(8):
        expected, after = gradients(net, plain, seed)
        found, same = gradients(net, call, seed)
        assert after == same or not drop             # looking at a stream is using it
        for a, b in zip(found, expected):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_replicas_draw_numbers_of_their_own_the_same_each_time():
    class Noise(nn.Module):
        def forward(self, x):
            return x + ag.rand(x.shape[0], 5)

    model = DataParallel(Noise(), devices=3)
    found = []
    for _ in range(3):
        ag.manual_seed(5)
        found.append(ag.cat([model(ag.zeros(6, 5)) for _ in range(2)]).numpy())
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert len(np.unique(found[0])) == found[0].size          # replicas and calls differ


def test_a_module_that_draws_nothing_leaves_the_stream_alone():
    ag.manual_seed(5)
    DataParallel(nn.Linear(2, 2), devices=2)(ag.zeros(4, 2))
    first = ag.rand(1).item()
    ag.manual_seed(5)
    nn.Linear(2, 2)
    assert ag.rand(1).item() == first
