"""What a traced step does to gradients, learning rates and averages outside of recorded calls; and what must not change since."""

import itertools

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.compile import TraceError
from autograd.optim import lr_scheduler, swa_utils


def batch(seed):
    rng = np.random.default_rng(seed)
    return ag.tensor(rng.standard_normal((5, 4)).astype(np.float32)), ag.tensor(rng.integers(0, 3, 5))


def network(seed=0):
    ag.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))


def halve(p):
    p.grad.mul_(0.5)


def shorten(net):
    nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    return [p.grad.sum() for p in net.parameters()]


def by_hand(net):
    norm = ag.stack([p.grad.norm() for p in net.parameters()]).norm()
    for p in net.parameters():
        p.grad.mul_((0.1 / norm).clamp(max=1))
    return norm


def partly(net):
    for p in net.parameters():
        p.grad[0] = 0.0
        p.grad.view(-1)[:2].neg_()


def mixed(net):
    for p in net.parameters():
        halve(p)
    found = shorten(net)
    for p in net.parameters():
        p.grad += 0.1 * p.detach()
    return found


def by_hooks(net):
    pass


def values(net, given):
    return [np.array(t.detach().numpy()) for t in [*net.parameters(), *(p.grad for p in net.parameters()), *(given or ())]]


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("change", [shorten, by_hand, partly, mixed, by_hooks])
def test_gradients_written_to_in_the_step(change, zeros):
    """Where they are: the optimiser, which replays call, reads .grad; and recorded calls read what clipping has left."""
    logs = []
    for traced in (False, True):
        net = network()
        optimizer = optim.AdamW(net.parameters(), lr=0.01)
        if change is by_hooks:
            net[0].weight.register_post_accumulate_grad_hook(halve)

        def step(x, y, net=net, optimizer=optimizer):
            optimizer.zero_grad(set_to_none=not zeros)
            F.cross_entropy(net(x), y).backward()
            found = change(net)
            optimizer.step()
            return found if found is not None else ()

        run = ag.trace_step(step, batch(99)) if traced else step
        log = []
        for number in range(5):
            found = run(*batch(number))
            log += values(net, [found] if isinstance(found, ag.Tensor) else found)
        logs.append(log)
    assert all(np.array_equal(a, b) for a, b in zip(*logs, strict=True))


class Own(lr_scheduler.LRScheduler):
    def step(self, epoch=None):
        self.last_epoch += 1
        self.optimizer.param_groups[0]["lr"] = 0.1 / (1 + self.last_epoch)


SCHEDULERS = {
    "sequential": lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.ConstantLR(o, 0.1, 9),
                                                          lr_scheduler.ExponentialLR(o, 0.9)], [10]),
    "restarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 4, 2),
    "plateau": lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=1, factor=0.5),
    "own": Own,
}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_learning_rates_and_averages(name):
    logs = []
    for traced in (False, True):
        net = network()
        optimizer = optim.SGD(net.parameters(), lr=0.1)
        scheduler, average = SCHEDULERS[name](optimizer), swa_utils.AveragedModel(net)

        def step(x, y, net=net, optimizer=optimizer, scheduler=scheduler, average=average):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            scheduler.step(*[loss] * (name == "plateau"))
            average.update_parameters(net)
            return loss

        run = ag.trace_step(step, batch(99)) if traced else step
        log = []
        for number in range(15):
            run(*batch(number))
            log += [optimizer.param_groups[0]["lr"], *(np.array(p.detach().numpy()) for p in average.parameters())]
        logs.append(log)
    assert all(np.array_equal(a, b) for a, b in zip(*logs, strict=True))


CHANGES = {
    "a hook was added or removed": [
        lambda net: net[0].weight.register_hook(lambda g: g * 2), lambda net: net[1].register_forward_hook(print),
        lambda net: net[2].bias.register_post_accumulate_grad_hook(halve),
        lambda net: net.register_full_backward_hook(print)],
    "its 1 was replaced": [lambda net: net.__setitem__(1, nn.ReLU()), lambda net: net._modules.update({"1": nn.ReLU()}),
                           lambda net: setattr(net, "_modules", {**net._modules, "1": nn.ReLU()})],
    "its more was added": [lambda net: net.add_module("more", nn.ReLU()), lambda net: net._buffers.update(more=ag.ones(1))],
    "its bias was removed": [lambda net: delattr(net[0], "bias"), lambda net: net[0]._parameters.__delitem__("bias")],
    "its weight was replaced": [lambda net: setattr(net[0], "weight", nn.Parameter(ag.ones(6, 4)))],
}


@pytest.mark.parametrize(("said", "change"), [(said, c) for said, changes in CHANGES.items() for c in changes])
def test_hooks_and_parts_changed_since(said, change):
    """A replay would go on without them, and say nothing."""
    net = network()

    def step(x, y):
        net.zero_grad()
        F.cross_entropy(net(x), y).backward()

    fast = ag.trace_step(step, batch(0))
    handle = change(net)
    with pytest.raises(TraceError, match=said):
        fast(*batch(1))
    if handle is not None:
        handle.remove()
        fast(*batch(1))


def test_a_buffer_that_was_replaced_is_noticed():
    """The replay would go on with the old one."""
    net = nn.BatchNorm1d(4)
    x, _ = batch(0)
    step = ag.trace_step(lambda x: net(x).sum(), x)
    step(x)
    net.running_mean = ag.ones(4)
    with pytest.raises(TraceError, match="its running_mean was replaced"):
        step(x)


def test_check_compares_gradients():
    net, runs = network(), itertools.count()

    def step(x, y):
        net.zero_grad()
        F.cross_entropy(net(x), y).backward()
        if next(runs) == 3:                          # the fourth run is the one that a replay is compared with
            net[0].bias.grad.mul_(2)

    with pytest.raises(TraceError, match=r"the gradient of a tensor of shape \[6\] differs"):
        ag.trace_step(step, batch(0))


def test_a_variable_that_holds_another_tensor():
    scale = ag.tensor(2.0)
    fast = ag.trace_step(lambda x: x * scale, ag.ones(3))
    scale.fill_(3.0)                                 # the same tensor
    np.testing.assert_array_equal(fast(ag.ones(3)).numpy(), [3.0] * 3)
    scale = ag.tensor(5.0)
    with pytest.raises(TraceError, match="a variable of the step .*scale is another tensor"):
        fast(ag.ones(3))
