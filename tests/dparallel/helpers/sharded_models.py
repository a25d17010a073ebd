"""Models, data and a training loop for the tests of sharding."""

import threading

import numpy as np

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import DataParallel

ROWS, FEATURES, CLASSES = 13, 6, 4
SEED = threading.Lock()              # ranks as threads share the default generator
STAGES = ["optimizer", "gradients", "parameters"]


class Block(nn.Module):
    """Attention reads out_proj's parameters without calling it: gathering must not hang on forward hooks."""

    def __init__(self):
        super().__init__()
        self.attention, self.norm, self.linear = nn.MultiheadAttention(8, 2, batch_first=True), nn.LayerNorm(8), nn.Linear(8, 8)

    def forward(self, x):
        y = self.attention(x, x, x)[0] + x
        return self.linear(self.norm(y)) + y


class Net(nn.Module):
    """Convolution, BatchNorm, transformer blocks; own parameters of 1 and 0 dimensions, frozen ones, unused ones, tied ones."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.inp = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Linear(24, 16)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.gain, self.scale = nn.Parameter(ag.ones(1)), nn.Parameter(ag.tensor(1.0))
        self.frozen, self.unused = nn.Linear(16, 16), nn.Linear(3, 3)
        self.frozen.requires_grad_(False)
        self.tied = nn.Linear(16, 16, bias=False)
        self.again = nn.Linear(16, 16)
        self.again.weight = self.tied.weight
        self.out = nn.Linear(16, CLASSES)

    def forward(self, x):
        y = self.bn(self.conv(x.reshape(-1, 1, 2, 3))).relu().flatten(1)
        y = self.inp(y).reshape(-1, 2, 8)
        for block in self.blocks:
            y = block(y)
        y = self.again(self.tied(self.frozen(y.flatten(1))).tanh()) * self.gain * self.scale
        return self.out(y)


def make_net():
    with SEED:
        ag.manual_seed(0)
        return Net().double()


def make_mlp(width=8, dtype=np.float64):
    with SEED:
        ag.manual_seed(3)
        return nn.Sequential(nn.Linear(FEATURES, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                             nn.Linear(width, CLASSES)).to(dtype)


def wrap(net, comm, shard, **options):
    return DataParallel(net, comm=comm, shard=shard, find_unused_parameters=True,
                        bucket_cap_mb=options.pop("bucket_cap_mb", 0.002), **options)


def batches(steps, seed=1):
    rng = np.random.default_rng(seed)
    return [(rng.standard_normal((ROWS, FEATURES)), rng.integers(0, CLASSES, ROWS)) for _ in range(steps)]


def share(comm, kind):
    """This rank's rows: even, uneven, or with a rank that has none."""
    if kind == "even" or comm.size == 1:
        return slice(comm.rank, None, comm.size)
    first = 0 if kind == "empty" else 1
    if comm.rank == 0:
        return slice(0, first)
    return slice(first + comm.rank - 1, None, comm.size - 1)


def train(model, optimizer, comm, steps=5, kind="uneven", seed=1, whole=False):
    for x, t in batches(steps, seed):
        rows = slice(None) if whole else share(comm, kind)
        optimizer.zero_grad()
        F.cross_entropy(model(ag.from_numpy(x[rows])), ag.from_numpy(t[rows])).backward()
        optimizer.step()


def values(state):
    return {name: t.numpy().copy() for name, t in state.items()}


def same(a, b, exact=False):
    assert list(a) == list(b)
    for name in a:
        if exact:
            np.testing.assert_array_equal(a[name], b[name], err_msg=str(name))
        else:
            np.testing.assert_allclose(a[name], b[name], rtol=1e-12, atol=1e-12, err_msg=str(name))


def same_state(a, b, exact=False):
    assert list(a["state"]) == list(b["state"])
    assert a["param_groups"] == b["param_groups"]
    for number in a["state"]:
        same(values(a["state"][number]), values(b["state"][number]), exact)


def sgd(params):
    return optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.01)


def adamw(params):
    return optim.AdamW(params, lr=0.02)
