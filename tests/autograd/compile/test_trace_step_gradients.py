"""What .grad holds when a replay begins: what passes before have left, or nothing, whatever it was when the step was recorded."""

import numpy as np
import pytest

import autograd as ag
from autograd import nn, optim


def stepping(body):
    """A layer, and a step whose gradients and update are `body`'s."""
    ag.manual_seed(0)
    net = nn.Linear(4, 2)
    optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.5)

    def step(x):
        loss = net(x).square().sum()
        more = body(net, optimizer, loss)
        return loss, more

    return net, step


def backward_first(net, optimizer, loss):
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def by_the_user(net, optimizer, loss):
    loss.backward()
    optimizer.step()
    for p in net.parameters():
        p.grad = None


def norm_of_them(net, optimizer, loss):
    loss.backward()
    norm = sum(p.grad.square().sum() for p in net.parameters())
    optimizer.step()
    net.zero_grad()
    return norm


def halved(net, optimizer, loss):
    loss.backward()
    net.weight.grad = net.weight.grad * 0.5
    optimizer.step()
    optimizer.zero_grad()


def cleared_twice(net, optimizer, loss):
    for p in net.parameters():
        p.grad = None
    backward_first(net, optimizer, loss)


def filled_with_zeros(net, optimizer, loss):
    for p in net.parameters():
        if p.grad is not None:
            p.grad.zero_()
    loss.backward()
    optimizer.step()


def assigned(net, optimizer, loss):
    for p, g in zip(net.parameters(), ag.grad(loss, list(net.parameters())), strict=True):
        p.grad = g
    optimizer.step()


def collected(net, optimizer, loss):
    loss.backward()


BODIES = [backward_first, by_the_user, norm_of_them, halved, cleared_twice, filled_with_zeros, assigned, collected]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
@pytest.mark.parametrize("before", [(), (0,), (0, 3, 4)], ids=["none", "at first", "often"])
def test_gradients_that_are_there(body, before):
    xs = [ag.tensor(np.random.default_rng(seed).standard_normal((6, 4)).astype(np.float32)) for seed in range(6)]
    outs = []
    for traced in (False, True):
        net, step = stepping(body)
        run = ag.trace_step(step, xs[0]) if traced else step
        out = []
        for number, x in enumerate(xs):
            if number in before:
                net(x).sum().backward()
            loss, more = run(x)
            out += [t.detach().numpy() for t in (loss, more) if t is not None]
            out += [np.array(p.grad.numpy()) for p in net.parameters() if p.grad is not None]
        outs.append([*out, *[p.detach().numpy() for p in net.parameters()]])
    for one, two in zip(*outs, strict=True):
        np.testing.assert_array_equal(one, two, strict=True)


def test_a_step_that_collects_and_one_that_ends():
    outs = []
    for traced in (False, True):
        net, last = stepping(backward_first)
        more = lambda x, net=net: net(x).square().sum().backward()
        x = ag.ones(6, 4)
        runs = [ag.trace_step(f, x) if traced else f for f in (more, last)]
        for number in range(9):
            runs[number % 3 == 2](x * number)
        outs.append([p.detach().numpy() for p in net.parameters()])
    for one, two in zip(*outs, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_leaf_that_the_step_makes_begins_without():
    def step(x):
        leaf = ag.zeros(3, requires_grad=True)
        (leaf * x).sum().backward()
        return leaf.grad

    fast = ag.trace_step(step, ag.ones(3))
    for number in range(3):
        np.testing.assert_array_equal(fast(ag.full((3,), float(number))).numpy(), [number] * 3)
