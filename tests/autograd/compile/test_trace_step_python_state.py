"""Traced steps that keep something in Python: variables, attributes, counters, rates; what is found, refused, put back."""

import functools
import gc
import linecache
import warnings
from collections import deque

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.compile import TraceError
from autograd.optim import lr_scheduler

X, Y = ag.tensor(np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)), ag.tensor([0, 2, 1, 0, 2])


def network():
    ag.manual_seed(0)
    return nn.Linear(4, 3)


def train(net, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    return loss


class Slots:
    __slots__ = ("mean", "net", "optimizer")

    def __init__(self, net):
        self.net, self.optimizer, self.mean = net, optim.Adam(net.parameters()), ag.zeros(())

    def step(self, x, y):
        loss = train(self.net, self.optimizer, x, y)
        return self.mean.mul_(0.9).add_(loss.detach()).clone()


def partial(net):
    return functools.partial(train, net, optim.Adam(net.parameters()))


@pytest.mark.parametrize("make", [lambda net: Slots(net).step, partial], ids=["slots", "partial"])
def test_what_a_step_holds_is_found_and_put_back(make):
    net, runs = network(), []
    before = net.weight.detach().clone()
    fast = ag.trace_step(make(net), (X, Y))
    assert ag.equal(net.weight, before)
    for run in (fast, make(network())):
        runs.append([run(X, Y).item() for _ in range(5)])
    assert runs[0] == runs[1]


def made_by_variable(net):
    mean = None

    def step(x, y):
        nonlocal mean
        if mean is None:
            mean = ag.zeros(3)
        out = net(x) + mean
        with ag.no_grad():
            mean.mul_(0.9).add_(out.mean(0))
        return F.cross_entropy(out, y)
    return step


class Lazy(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, y):
        if not hasattr(self, "mean"):
            self.mean = ag.zeros(3)
        out = self.net(x) + self.mean
        with ag.no_grad():
            self.mean.add_(out.mean(0))
        return F.cross_entropy(out, y)


def late_optimizer(net):
    optimizer = None

    def step(x, y):
        nonlocal optimizer
        if optimizer is None:
            optimizer = optim.Adam(net.parameters())
        return train(net, optimizer, x, y)
    return step


def own_rate(net):
    optimizer = optim.SGD(net.parameters(), lr=0.1)

    def step(x, y):
        loss = train(net, optimizer, x, y)
        optimizer.param_groups[0]["lr"] *= 0.9
        return loss
    return step


def sums_of_four(net):
    optimizer, count = optim.SGD(net.parameters(), lr=0.1), [0]

    def step(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        count[0] += 1
        if count[0] % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
        return loss
    return step


@pytest.mark.parametrize("make", [made_by_variable, Lazy, late_optimizer, own_rate, sums_of_four])
def test_what_replays_would_have_wrong_is_refused(make):
    """Each was recorded, and its replays differed from the step: at once, or from the second to the fourth on."""
    net = network()
    before = net.weight.detach().clone()
    with pytest.raises(TraceError, match="differs"):
        ag.trace_step(make(net), (X, Y))
    assert ag.equal(net.weight, before)


def test_a_returned_number_that_changes_is_refused():
    net = network()
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)

    def step(x, y):
        loss = train(net, optimizer, x, y)
        scheduler.step()
        return loss, scheduler.get_last_lr()[0]

    with pytest.raises(TraceError, match=r"returns a float of Python that changes"):
        ag.trace_step(step, (X, Y))


def test_counters_are_put_back_and_named_in_a_warning():
    net, last, losses = network(), deque(maxlen=2), []
    optimizer, count = optim.SGD(net.parameters(), lr=0.1), 0

    def step(x, y):
        nonlocal count
        count += 1
        loss = train(net, optimizer, x, y)
        last.append(count)
        losses.append(count)
        return loss

    with pytest.warns(UserWarning, match=r"the step changes count \(0, then 4\) in Python"):
        ag.trace_step(step, (X, Y))
    assert count == 0 and not last and not losses
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ag.trace_step(functools.partial(train, net, optimizer), (X, Y))


def test_lists_of_a_scheduler_are_put_back():
    net = network()
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    scheduler = lr_scheduler.SequentialLR(optimizer, [lr_scheduler.LinearLR(optimizer, total_iters=3),
                                                      lr_scheduler.CosineAnnealingLR(optimizer, 5)], [3])
    before = repr(scheduler.state_dict())

    def step(x, y):
        loss = train(net, optimizer, x, y)
        scheduler.step()
        return loss

    ag.trace_step(step, (X, Y))
    assert repr(scheduler.state_dict()) == before


def drawn(x):
    p = x.sigmoid()
    return (x * ag.bernoulli(p) + ag.normal(x, p) + ag.normal(0.0, p) + ag.poisson(p) + ag.normal(1.0, 2.0, (3,))).sum()


DRAWS = {"with parameters": drawn, "gumbel": lambda x: (nn.functional.gumbel_softmax(x, hard=True) * ag.arange(3)).sum(),
         "alpha dropout": lambda x: nn.functional.alpha_dropout(x, 0.4, training=True).square().sum(),
         "in place": lambda x: (x * ag.zeros(5, 3).bernoulli_(x.detach().sigmoid())).sum(),
         "gumbel, soft": lambda x: nn.functional.gumbel_softmax(x, tau=0.5, dim=0)[0].sum()}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_with_parameters_are_made_anew(name):
    losses = []
    for traced in (False, True):
        net = network()
        optimizer = optim.SGD(net.parameters(), lr=0.1)

        def step(x, net=net, optimizer=optimizer):
            optimizer.zero_grad()
            loss = DRAWS[name](net(x))
            loss.backward()
            optimizer.step()
            return loss

        ag.manual_seed(1)
        run = ag.trace_step(step, X) if traced else step
        losses.append([run(X * (1 + i)).item() for i in range(4)])
    assert losses[0] == losses[1] and len(set(losses[0])) == 4


def test_a_program_that_is_gone_leaves_no_text():
    before = len(linecache.cache)
    for _ in range(3):
        ag.trace_step(lambda x: x * 2, X)(X)
    gc.collect()
    assert len(linecache.cache) <= before + 1
