"""Averages of a model's weights over training: swa_utils."""

import math

import numpy as np
import pytest
from both import needs_torch, torch
from optimizers import ours, theirs, values

import autograd as ag
from autograd import nn, optim
from autograd.optim.swa_utils import (
    SWALR,
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
    update_bn,
)

# --- groups -----------------------------------------------------------------------------------------------------------


def average(lib, utils, **options):
    net = lib.nn.Sequential(lib.nn.Linear(3, 2), lib.nn.Tanh(), lib.nn.Linear(2, 1))
    with lib.no_grad():
        for p, v in zip(net.parameters(), values([(2, 3), (2,), (1, 2), (1,)], dtype=np.float32), strict=True):
            p.copy_(lib.tensor(v))
        net.register_buffer("seen", lib.tensor([1.0, 2.0]))
        net.register_buffer("count", lib.tensor(0))
    averaged = utils.AveragedModel(net, **options)
    o = lib.optim.SGD(net.parameters(), lr=0.1)
    for step in range(5):
        give = values([(2, 3), (2,), (1, 2), (1,)], 50 + step, np.float32)
        for p, g in zip(net.parameters(), give, strict=True):
            p.grad = lib.tensor(g)
        o.step()
        net.seen.mul_(1.5)
        net.count.add_(1)
        averaged.update_parameters(net)
    x = lib.tensor(values([(4, 3)], 9, np.float32)[0])
    return averaged, averaged(x).detach().numpy()


@needs_torch
@pytest.mark.parametrize("use_buffers", [False, True])
@pytest.mark.parametrize("kind", ["plain", "swa", "ema", "swa-many", "ema-many", "own"])
def test_averaged_models_like_pytorch(kind, use_buffers):
    if use_buffers and "many" in kind:
        use_buffers = False                                  # PyTorch's own lerp refuses an integer next to floats of one list
    results = []
    for lib, utils in ((ag, optim.swa_utils), (torch, torch.optim.swa_utils if torch else None)):
        options = {"plain": {}, "swa": {"avg_fn": utils.get_swa_avg_fn()}, "ema": {"avg_fn": utils.get_ema_avg_fn(0.7)},
                   "swa-many": {"multi_avg_fn": utils.get_swa_multi_avg_fn()}, "ema-many": {"multi_avg_fn": utils.get_ema_multi_avg_fn(0.7)},
                   "own": {"avg_fn": lambda a, b, n: 0.25 * a + 0.75 * b}}[kind]
        results.append(average(lib, utils, use_buffers=use_buffers, **options))
    (a, out), (b, other) = results
    mine, theirs_ = a.state_dict(), b.state_dict()
    assert set(mine) == set(theirs_) and mine["n_averaged"].item() == 5 and mine["n_averaged"].dtype == np.int64
    for key, value in mine.items():
        np.testing.assert_allclose(value.numpy(), theirs_[key].numpy(), rtol=2e-6, atol=1e-7, err_msg=key)
    np.testing.assert_allclose(out, other, rtol=1e-5, atol=1e-6)
    fresh = AveragedModel(nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)))
    assert "n_averaged" in fresh.state_dict() and not {id(p) for p in fresh.parameters()} & {id(p) for p in a.parameters()}


def test_average_functions():
    for decay in (-0.1, 1.5):
        for make in (get_ema_avg_fn, get_ema_multi_avg_fn):
            with pytest.raises(ValueError, match="Invalid decay"):
                make(decay)
    assert get_swa_avg_fn()(ag.tensor(2.0), ag.tensor(5.0), 2).item() == 3
    a = [ag.tensor([2.0]), ag.tensor([4.0])]
    get_swa_multi_avg_fn()(a, [ag.tensor([5.0]), ag.tensor([4.0])], ag.tensor(2))
    assert [x.item() for x in a] == [3, 4]
    with pytest.raises(AssertionError, match="Only one"):
        AveragedModel(nn.Linear(1, 1), avg_fn=get_swa_avg_fn(), multi_avg_fn=get_swa_multi_avg_fn())


@needs_torch
@pytest.mark.parametrize("options", [{}, {"anneal_epochs": 4, "anneal_strategy": "linear"}, {"anneal_epochs": 0}, {"anneal_epochs": 7}])
def test_swalr(options):
    runs = []
    for lib in (ag, torch):
        _, o = (ours if lib is ag else theirs)("SGD", [(2,), (3,), (1,)], 2, lr=0.5)
        first = lib.optim.lr_scheduler.ExponentialLR(o, 0.9)
        swa, rates = None, []
        for epoch in range(20):
            o.step()
            if epoch < 5:
                first.step()
            else:
                swa = swa or lib.optim.swa_utils.SWALR(o, swa_lr=[0.05, 0.01], **options)
                swa.step()
            if epoch == 10:
                state, swa = swa.state_dict(), lib.optim.swa_utils.SWALR(o, swa_lr=[0.05, 0.01])
                swa.load_state_dict(state)
                for group, lr in zip(o.param_groups, swa._last_lr, strict=True):
                    group["lr"] = lr
            rates += [group["lr"] for group in o.param_groups]
        runs.append(rates)
    assert runs[0] == pytest.approx(runs[1], rel=1e-12)
    for bad in ({"anneal_strategy": "x"}, {"anneal_epochs": -1}, {"swa_lr": [1.0]}):
        with pytest.raises(ValueError):
            SWALR(ours("SGD", [(2,), (3,), (1,)], 2)[1], **{"swa_lr": 0.1, **bad})


class BatchNormOfMeans(nn.Module):
    """As much of batch normalisation as update_bn needs."""

    def __init__(self):
        super().__init__()
        self.momentum = 0.1
        self.register_buffer("running_mean", ag.zeros(2))
        self.seen = 0

    def reset_running_stats(self):
        self.running_mean.zero_()
        self.seen = 0

    def forward(self, x):
        if self.training:
            self.seen += 1
            weight = 1 / self.seen if self.momentum is None else self.momentum
            self.running_mean.copy_(self.running_mean + weight * (x.mean(0) - self.running_mean))
        return x - self.running_mean


def test_update_bn():
    net = nn.Sequential(BatchNormOfMeans(), nn.Linear(2, 1)).eval()
    batches = [ag.ones(4, 2) * k for k in (1, 2, 6)]
    update_bn([(x, None) for x in batches], net)
    assert net[0].running_mean.tolist() == [3, 3] and net[0].momentum == 0.1 and not net.training
    update_bn(batches, net)
    assert net[0].running_mean.tolist() == [3, 3]
    update_bn(batches, nn.Linear(2, 1))
    assert math.isfinite(net(batches[0]).sum().item())
