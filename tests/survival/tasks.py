"""What is trained: three small models in float64, with data, loss and optimiser, the same for ranks and for one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim

CLASSES, KINDS, CONTEXT = 5, 11, 8


class Task(NamedTuple):
    """net() makes the module, data() the inputs and targets. inner: the layer whose beginning and gradient are moments.
    eps is large enough for gradients that are 0 but for rounding (a key's bias, one before batch norm) to change nothing."""

    net: Callable[[], nn.Module]
    data: Callable[[np.random.Generator], tuple[Any, Any]]
    inner: str
    optimizer: type[optim.Optimizer]
    options: dict[str, Any]
    batch: int = 60


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 24), nn.Tanh(), nn.Linear(24, CLASSES))


def cnn() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.Tanh(), nn.Conv2d(6, 8, 3), nn.Tanh(), nn.Flatten(),
                         nn.Linear(8 * 4 * 4, CLASSES))


class Block(nn.Module):
    """Attention and a layer of its own, both beside an identity."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(wide), nn.MultiheadAttention(wide, 2, batch_first=True)
        self.norm2, self.up, self.down = nn.LayerNorm(wide), nn.Linear(wide, 2 * wide), nn.Linear(2 * wide, wide)

    def forward(self, x: ag.Tensor) -> ag.Tensor:
        y = self.norm(x)
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=ag.float64)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """Two blocks; the loss is over rows and places."""

    def __init__(self, wide: int = 16) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(KINDS, wide), nn.Embedding(CONTEXT, wide)
        self.blocks, self.norm = nn.Sequential(Block(wide), Block(wide)), nn.LayerNorm(wide)
        self.head = nn.Linear(wide, KINDS, bias=False)

    def forward(self, ids: ag.Tensor) -> ag.Tensor:
        x = self.tokens(ids) + self.places(ag.arange(ids.shape[1]))
        return self.head(self.norm(self.blocks(x))).transpose(1, 2)


def rows(*shape: int) -> Callable[[np.random.Generator], tuple[Any, Any]]:
    """So many rows of features, and their classes."""
    return lambda rng: (rng.standard_normal(shape), rng.integers(0, CLASSES, shape[0]))


def sequences(rng: np.random.Generator) -> tuple[Any, Any]:
    """Sequences, and the same one place further."""
    ids = rng.integers(0, KINDS, (131, CONTEXT + 1))
    return ids[:, :-1], ids[:, 1:]


TASKS = {
    "mlp": Task(mlp, rows(251, 12), "2", optim.AdamW, {"lr": 3e-3, "eps": 1e-6}),
    "cnn": Task(cnn, rows(187, 1, 8, 8), "3", optim.SGD, {"lr": 0.01, "momentum": 0.9}),
    "gpt": Task(GPT, sequences, "blocks.1", optim.AdamW, {"lr": 1e-3, "eps": 1e-4}, batch=30)}


def start(name: str) -> tuple[nn.Module, np.ndarray, np.ndarray]:
    """The module with its first weights, inputs and targets: always the same."""
    ag.manual_seed(0)
    return TASKS[name].net().double(), *TASKS[name].data(np.random.default_rng(5))


def scheduled(optimizer: optim.Optimizer) -> optim.lr_scheduler.LRScheduler:
    """The schedule of the learning rate, which computes each rate from the one before."""
    return optim.lr_scheduler.CosineAnnealingLR(optimizer, 40, eta_min=3e-4)


def state_of(state: dict[str, Any]) -> dict[str, np.ndarray]:
    """The arrays and rates in an optimiser's state_dict(), by name."""
    found = {f"optimizer {number} {key}": value for number, of_one in state["state"].items() for key, value in of_one.items()}
    rates = {f"optimizer lr {number}": group["lr"] for number, group in enumerate(state["param_groups"])}
    return {name: np.array(value.numpy() if isinstance(value, ag.Tensor) else value, dtype=float) for name, value in {**found, **rates}.items()
            if value is not None}
