"""Models for tests of memory: python memory_models.py KIND [ROUNDS] prints what a process that has trained one holds, as JSON.

Under dprun the model is a DataParallel, and each rank prints a line.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path

import autograd as ag
from autograd import nn, optim
from autograd.profiler import max_memory_reserved, memory_snapshot


class GPT(nn.Module):
    """A small transformer over tokens."""

    def __init__(self, vocabulary=2000, width=256, depth=4):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList([nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True) for _ in range(depth)])
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def mlp(rows=512, width=1000):
    """A model, and a batch for it."""
    layers = nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
    return nn.Sequential(*layers), ag.randn(rows, 784)


def wide(rows=64):
    """An MLP whose parameters are most of what there is."""
    return mlp(rows, 4000)


def cnn(rows=64):
    """A model, and a batch for it."""
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 256, 10)), ag.randn(rows, 3, 32, 32)


def gpt(rows=8):
    """A model, and a batch for it."""
    return GPT(), ag.randint(0, 2000, (rows, 128))


MODELS = {"mlp": mlp, "wide": wide, "cnn": cnn, "gpt": gpt}


def loss_of(model, x):
    """A loss of any of them."""
    return model(x).pow(2).mean()


def train(model, x, optimizer, steps):
    """A few steps."""
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model, x).backward()
        optimizer.step()


@functools.cache
def measured(kind, rows):
    """What a new process prints that has trained one. Several tests look at it."""
    return run(__file__, kind, str(rows))


def run(*args):
    """The JSON that a new Python prints last."""
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, cwd=Path(__file__).parents[3], timeout=200)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def main(kind, rows=None):
    model, x = MODELS[kind]() if rows is None else MODELS[kind](rows)
    found = []
    if "mpi4py" in sys.modules or "OMPI_COMM_WORLD_SIZE" in __import__("os").environ:
        from dparallel import DataParallel
        model = DataParallel(model)
    optimizer = optim.Adam(model.parameters())
    found.append(memory_snapshot())
    train(model, x, optimizer, 3)
    peak = max_memory_reserved()
    found.append(memory_snapshot())
    loss = loss_of(model, x)
    found.append(memory_snapshot())
    weights = sum(p.array.nbytes for p in model.parameters())
    print(json.dumps({"weights": weights, "peak": peak, "loss": loss.item(), "snapshots": [
        {"resident": one.resident, "proportional": one.proportional, "by_use": one.by_use,
         "activations": [[*h.label, h.resident] for h in one.holdings if h.use == "activations"]} for one in found]}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
