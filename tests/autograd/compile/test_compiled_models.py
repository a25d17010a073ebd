"""Steps of the usual kinds of models, small, as native programs: losses and gradients are those of eager steps."""

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.compile.native import available

pytestmark = pytest.mark.skipif(bool(available()), reason=available())
RNG = np.random.default_rng(0)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.bottom = self.block(1, 4), self.block(4, 8)
        self.up, self.join, self.out = nn.ConvTranspose2d(8, 4, 2, 2), self.block(8, 4), nn.Conv2d(4, 2, 1)

    def block(self, narrow, wide):
        return nn.Sequential(nn.Conv2d(narrow, wide, 3, 1, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU())

    def forward(self, x):
        first = self.down(x)
        return self.out(self.join(ag.cat([first, self.up(self.bottom(F.max_pool2d(first, 2)))], dim=1)))


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.head = nn.Conv2d(3, 8, 4, 4), nn.Linear(8, 5)
        self.first, self.places = nn.Parameter(ag.zeros(1, 1, 8)), nn.Parameter(ag.zeros(1, 5, 8))
        self.block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        return self.head(self.block(ag.cat([self.first.expand(x.shape[0], 1, 8), x], dim=1) + self.places)[:, 0])


class DLRM(nn.Module):
    def __init__(self):
        super().__init__()
        self.bottom, self.top = nn.Linear(5, 4), nn.Linear(7, 2)
        self.tables = nn.ModuleList([nn.EmbeddingBag(9, 4, mode=mode) for mode in ("sum", "mean")])
        left, right = np.tril_indices(3, -1)
        self.left, self.right = ag.from_numpy(left), ag.from_numpy(right)

    def forward(self, x, ids):
        x = F.relu(self.bottom(x))
        rows = ag.stack([x, *(table(ids[:, number]) for number, table in enumerate(self.tables))], dim=1)
        return self.top(ag.cat([x, ag.bmm(rows, rows.transpose(1, 2))[:, self.left, self.right]], dim=1))


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(11, 6), nn.Linear(6, 11)
        self.lstm = nn.LSTM(6, 6, num_layers=2, batch_first=True)

    def forward(self, x):
        return self.out(self.lstm(self.words(x))[0]).transpose(1, 2)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn1, self.bn2 = nn.Conv2d(3, 4, 3, 1, 1), nn.BatchNorm2d(4), nn.BatchNorm2d(8)
        self.wide, self.out = nn.Conv2d(4, 8, 3, 2, 1, bias=False), nn.Linear(8, 5)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv(x)))
        y = F.relu(self.bn2(self.wide(x)) + F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 2, 2)))
        return self.out(F.adaptive_avg_pool2d(y, 1).flatten(1))


def numbers(*shape):
    return ag.tensor(RNG.standard_normal(shape), dtype=ag.float32)


def integers(high, *shape):
    return ag.tensor(RNG.integers(0, high, shape))


MODELS = {UNet: [numbers(2, 1, 8, 8), integers(2, 2, 8, 8)], ViT: [numbers(3, 3, 8, 8), integers(5, 3)],
          DLRM: [numbers(6, 5), integers(9, 6, 2, 3), integers(2, 6)], Language: [integers(11, 2, 4), integers(11, 2, 4)],
          ResNet: [numbers(4, 3, 8, 8), integers(5, 4)]}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_models(model):
    *inputs, target = MODELS[model]
    found = []
    for wrap in (lambda f: f, lambda f: ag.compile(f, fullgraph=True)):
        ag.manual_seed(0)
        net = model()
        optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

        def step(*inputs, net=net, optimizer=optimizer):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(*inputs), target)
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = wrap(step)
        found.append([[run(*inputs).item(), *[p.grad.numpy().copy() for p in net.parameters()]] for _ in range(3)])
    assert run.program().startswith("# native"), run.program()
    for eager, compiled in zip(*found):
        for one, two in zip(eager, compiled):
            np.testing.assert_allclose(two, one, 1e-4, 1e-5)


@pytest.mark.parametrize("make", [lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1), lambda p: optim.AdamW(p, amsgrad=True),
                                  lambda p: optim.RMSprop(p, momentum=0.5), optim.Adagrad], ids=["SGD", "AdamW", "RMSprop", "Adagrad"])
def test_optimizers(make):
    """A step has the bits of an eager one, which another rank may make; it reads the .grad of each call, and a leaf without
    one stays as it is."""
    found = []
    for wrap in (lambda f: f, lambda f: ag.compile(f, fullgraph=True)):
        rng = np.random.default_rng(1)
        params = [nn.Parameter(ag.tensor(rng.standard_normal(shape), dtype=ag.float32)) for shape in ((33, 17), (7,))]
        run = wrap(make(params).step)
        for _ in range(4):
            for p in params:
                p.grad = ag.tensor(rng.standard_normal(tuple(p.shape)), dtype=ag.float32)
            run()
        params[0].grad = None
        run()
        found.append([p.detach().numpy() for p in params])
    assert run.program().startswith("# native")
    for one, two in zip(*found):
        np.testing.assert_array_equal(one, two)
