"""Modules, optimisers and data, beside PyTorch's where it is installed."""

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.utils.data import BatchSampler, DataLoader, DistributedSampler, RandomSampler, SequentialSampler, TensorDataset

pytestmark = pytest.mark.quick

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch, the yardstick, is not installed")


class Net(nn.Module):
    def __init__(self, t=nn):
        super().__init__()
        self.body = t.Sequential(t.Conv2d(1, 4, 3, padding=1), t.ReLU(), t.MaxPool2d(2), t.Flatten())
        self.head = t.Linear(64, 10)
        self.register_buffer("scale", ag.tensor(2.0, dtype=ag.float64))
        self.register_buffer("scratch", ag.zeros(1), persistent=False)
        self.nothing = None

    def forward(self, x):
        return self.head(self.body(x)) * self.scale


def torch_net():
    class TorchNet(torch.nn.Module):
        def __init__(self):
            super().__init__()
            t = torch.nn
            self.body = t.Sequential(t.Conv2d(1, 4, 3, padding=1), t.ReLU(), t.MaxPool2d(2), t.Flatten())
            self.head = t.Linear(64, 10)
            self.register_buffer("scale", torch.tensor(2.0, dtype=torch.float64))
            self.register_buffer("scratch", torch.zeros(1), persistent=False)

        def forward(self, x):
            return self.head(self.body(x)) * self.scale

    return TorchNet().double()


def pair():
    ours, theirs = Net().double(), torch_net()
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    return ours, theirs


def test_names_and_walks():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["body.0.weight", "body.0.bias", "head.weight", "head.bias"]
    assert [n for n, _ in net.named_buffers()] == ["scale", "scratch"]
    assert list(net.state_dict()) == ["body.0.weight", "body.0.bias", "head.weight", "head.bias", "scale"] or \
        set(net.state_dict()) == {"body.0.weight", "body.0.bias", "head.weight", "head.bias", "scale"}
    assert [n for n, _ in net.named_modules()][:3] == ["", "body", "body.0"] and len(list(net.children())) == 2
    net.head2 = net.head                                # shared: counted once
    assert len(list(net.parameters())) == 4 and "head2.weight" in net.state_dict()
    net.head = None
    assert len(list(net.named_parameters())) == 4 and next(iter(dict(net.named_children()))) == "body"
    net.eval()
    assert not any(m.training for m in net.modules()) and net.train() is net
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    assert "(0): Conv2d(1, 4, kernel_size=(3, 3)" in repr(net)
    assert isinstance(net.body[0], nn.Conv2d) and len(net.body[:2]) == 2 and len(nn.ModuleList([nn.ReLU()])) == 1


@needs_torch
def test_state_dict_keys_and_repr_like_pytorch():
    ours, theirs = pair()
    assert set(ours.state_dict()) == set(theirs.state_dict())
    assert repr(ours.body) == repr(theirs.body)


def test_load_state_dict_refuses_and_changes_nothing():
    net = Net()
    before = net.head.weight.tolist()
    state = {k: v.numpy() * 0 for k, v in net.state_dict().items()}
    for change, words in ((lambda s: s.pop("head.bias"), "Missing key"), (lambda s: s.update(x=1), "Unexpected key"),
                          (lambda s: s.update({"head.bias": np.zeros(3)}), "size mismatch for head.bias")):
        bad = dict(state)
        change(bad)
        with pytest.raises(RuntimeError, match=words):
            net.load_state_dict(bad)
        assert net.head.weight.tolist() == before
    bad = dict(state)
    bad.pop("head.bias")
    assert net.load_state_dict(bad, strict=False).missing_keys == ["head.bias"]
    assert net.head.weight.sum().item() == 0


@needs_torch
@pytest.mark.parametrize("make", [
    lambda o, p: o.SGD(p, lr=0.1), lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, dampening=0.3, maximize=True), lambda o, p: o.AdamW(p, lr=0.01),
    lambda o, p: o.AdamW(p, lr=0.01, betas=(0.5, 0.9), weight_decay=0, amsgrad=True, maximize=True)])
def test_training_like_pytorch(make):
    rng = np.random.default_rng(0)
    ours, theirs = pair()
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


def test_flat_and_single_steps_are_identical_and_aliases_stay_true():
    def run(hold):
        ag.manual_seed(0)
        net = Net().double()
        held = [p.detach() for p in net.parameters()] if hold else []
        o = optim.AdamW(net.parameters(), lr=0.01)
        for step in range(4):
            o.zero_grad()
            F.cross_entropy(net(ag.ones(3, 1, 8, 8, dtype=ag.float64) * step), ag.tensor([1, 2, 3])).backward()
            o.step()
        assert len({id(p.array.base) for p in net.parameters()}) == 1      # None, or the one buffer
        assert (next(net.parameters()).array.base is None) == hold
        for alias, p in zip(held, net.parameters(), strict=False):
            assert alias.array is p.array
        return [p.tolist() for p in net.parameters()]

    assert run(True) == run(False)


def test_optimizer_state_round_trip():
    def train(net, o, steps):
        for step in range(steps):
            o.zero_grad()
            F.mse_loss(net(ag.ones(2, 3) * (step + 1)), ag.ones(2, 4)).backward()
            o.step()

    for make in (lambda p: optim.AdamW(p, lr=0.1), lambda p: optim.SGD(p, lr=0.1, momentum=0.9)):
        ag.manual_seed(1)
        a = nn.Linear(3, 4)
        oa = make(a.parameters())
        train(a, oa, 3)
        b = nn.Linear(3, 4)
        b.load_state_dict(a.state_dict())
        ob = make(b.parameters())
        state = oa.state_dict()
        assert state["param_groups"][0]["params"] == [0, 1] and set(state["state"]) == {0, 1}
        ob.load_state_dict(state)
        train(a, oa, 2)
        train(b, ob, 2)
        assert a.weight.tolist() == b.weight.tolist()
        state["state"][0] = {k: ag.zeros(7) for k in state["state"][0]}
        with pytest.raises((ValueError, TypeError)):
            ob.load_state_dict(state)


def test_optimizer_misuse_and_groups():
    w, b = nn.Parameter(ag.ones(2)), nn.Parameter(ag.ones(2))
    for bad in (lambda: optim.SGD([]), lambda: optim.SGD(w), lambda: optim.SGD([w * 1]), lambda: optim.SGD([{"params": [w]}, {"params": [w]}]),
                lambda: optim.SGD([w], lr=-1), lambda: optim.AdamW([w], betas=(1.0, 0.9)), lambda: optim.SGD([w], nesterov=True)):
        with pytest.raises((ValueError, TypeError)):
            bad()
    with pytest.raises(NotImplementedError, match="differentiable"):
        optim.LARS([w], differentiable=True)
    o = optim.SGD([{"params": [w]}, {"params": [b], "lr": 1.0}], lr=0.1)
    (w.sum() + b.sum()).backward()
    assert o.step(lambda: 5) == 5
    np.testing.assert_allclose([w.tolist(), b.tolist()], [[0.9, 0.9], [0, 0]], atol=1e-7)


@needs_torch
def test_initial_distributions_like_pytorch():
    ag.manual_seed(0), torch.manual_seed(0)
    for ours, theirs in ((nn.Linear(50, 400), torch.nn.Linear(50, 400)), (nn.Conv2d(8, 64, 5), torch.nn.Conv2d(8, 64, 5))):
        for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
            p, q = p.detach().numpy(), q.detach().numpy()
            assert p.shape == q.shape and p.std() == pytest.approx(q.std(), rel=0.15) and abs(p).max() <= abs(q).max() * 1.1


def test_samplers():
    data = list(range(10))
    assert list(SequentialSampler(data)) == data and sorted(RandomSampler(data)) == data
    assert list(BatchSampler(SequentialSampler(data), 4, False)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    for size in (1, 2, 3, 4, 7):
        uneven = [list(DistributedSampler(data, size, r, uneven=True)) for r in range(size)]
        assert sorted(sum(uneven, [])) == data
        padded = [list(DistributedSampler(data, size, r)) for r in range(size)]
        assert len({len(p) for p in padded}) == 1 and set(sum(padded, [])) == set(data)
        dropped = [list(DistributedSampler(data, size, r, drop_last=True)) for r in range(size)]
        assert len({len(d) for d in dropped}) == 1 and len(set(sum(dropped, []))) == size * (10 // size)
        assert [len(DistributedSampler(data, size, r, uneven=True)) for r in range(size)] == [len(u) for u in uneven]
    s = DistributedSampler(data, 2, 0)
    first = list(s)
    s.set_epoch(1)
    assert list(s) != first and list(DistributedSampler([], 3, 1)) == []
    with pytest.raises(ValueError, match="Invalid rank 3"):
        DistributedSampler(data, 3, 3)


@needs_torch
def test_distributed_sampler_shares_like_pytorch_without_shuffling():
    data = list(range(11))
    for drop_last in (False, True):
        for rank in range(3):
            theirs = torch.utils.data.DistributedSampler(data, 3, rank, shuffle=False, drop_last=drop_last)
            assert list(DistributedSampler(data, 3, rank, shuffle=False, drop_last=drop_last)) == list(theirs)


def test_loader():
    x, y = np.arange(20.0).reshape(10, 2), np.arange(10)
    batches = list(DataLoader(TensorDataset(x, y), batch_size=4))
    assert [b[0].shape for b in batches] == [(4, 2), (4, 2), (2, 2)] and len(DataLoader(TensorDataset(x), 4, drop_last=True)) == 2
    seen = sorted(v for _, b in DataLoader(TensorDataset(x, y), 3, shuffle=True) for v in b.tolist())
    assert seen == list(range(10))
    items = [{"a": 1.5, "b": (ag.ones(2), "s")}, {"a": 2.5, "b": (ag.zeros(2), "t")}]
    (batch,) = DataLoader(items, batch_size=2)
    assert batch["a"].tolist() == [1.5, 2.5] and batch["b"][0].shape == (2, 2) and batch["b"][1] == ("s", "t")
    with pytest.raises(ValueError, match="mutually exclusive"):
        DataLoader(items, shuffle=True, sampler=SequentialSampler(items))


def test_hooks_of_modules():
    layer = nn.Linear(2, 2)
    log = []
    layer.register_forward_pre_hook(lambda m, a: (a[0] * 2,))
    handle = layer.register_forward_hook(lambda m, a, y: log.append(a[0].tolist()) or y + 1)
    assert layer(ag.ones(2)).shape == (2,) and log == [[2, 2]]
    handle.remove()
    layer(ag.ones(2))
    assert len(log) == 1
