"""The large examples with the word torch in the place of autograd: the same losses from the same weights."""

import re
import types
from pathlib import Path

import numpy as np
import pytest

import autograd as ag
from dparallel import run_ranks

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn.datasets")
EXAMPLES = Path(__file__).parent.parent / "examples"


def module(name, of_torch):
    """The example as a module."""
    source = (EXAMPLES / f"{name}.py").read_text()
    found = types.ModuleType(name)
    exec(re.sub(r"(?<![\w.])autograd\b", "torch", source) if of_torch else source, found.__dict__)
    return found


def pieces(example):
    """Batches of char_gpt."""
    text, comm = example.Text(EXAMPLES / "char_gpt.py"), run_ranks(1, lambda comm: comm)[0]
    return [text.batch(step, 8, 16, comm) for step in range(4)]


def items(example, data, **options):
    """Batches of a Dataset."""
    return list(example.DataLoader(data, batch_size=16, **options))


def images(example):
    """Batches of cifar_resnet; of one set of bytes, which the last bit of interpolate() decides."""
    (x, y), _ = module("cifar_resnet", False).digits_on_photographs()
    return items(example, example.Images(x[:64], y[:64], augment=True))


def graphs(example):
    """Batches of graph_net."""
    from sklearn.datasets import load_digits
    x, y = load_digits(return_X_y=True)
    return items(example, example.Pixels(x[:64].reshape(-1, 8, 8), y[:64]), collate_fn=example.one_graph)


def doubled(x):
    """float64 in the place of float32, here and in tuples."""
    if isinstance(x, tuple):
        return tuple(map(doubled, x))
    return x.double() if x.is_floating_point() else x


def adam(optim, model):
    return optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.99))


def sgd(optim, model):
    return optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)


CASES = {"char_gpt": (lambda example: example.GPT(128, 32, 4, 2, 16, 0.0), pieces, adam),
         "cifar_resnet": (lambda example: example.ResNet(8, 8), images, sgd),
         "graph_net": (lambda example: example.Readout(3, 16, 10), graphs, adam)}


@pytest.mark.parametrize("name", CASES)
def test_the_same_losses(name):
    make, batches, optimizer = CASES[name]
    ours, theirs = module(name, False), module(name, True)
    ag.manual_seed(0)
    models = make(ours).double(), make(theirs).double()
    models[1].load_state_dict({key: torch.from_numpy(np.array(value.detach().numpy())) for key, value in models[0].state_dict().items()})
    curves = []
    for example, model in zip((ours, theirs), models):
        steps, curve = optimizer(example.optim, model), []
        schedule = example.optim.lr_scheduler.CosineAnnealingLR(steps, 4)
        for x, y in batches(example):
            loss = example.F.cross_entropy(model(doubled(x)).flatten(0, -2), y.flatten())
            steps.zero_grad()
            loss.backward()
            example.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            steps.step()
            schedule.step()
            curve.append(loss.item())
        curves.append(curve)
    assert len(curves[0]) == 4 and np.ptp(curves[0]) > 0.01
    np.testing.assert_allclose(curves[0], curves[1], rtol=1e-9)
