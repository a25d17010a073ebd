"""The rows of the tables: what is divided by what, and the figure to reach. A new comparison is one more line here."""

from __future__ import annotations

from typing import NamedTuple

from models import LOCAL, MODELS
from runs import Run


class Row(NamedTuple):
    """The time of `first` as a ratio to that of `second`."""

    title: str
    group: str                           # "one process", "two ranks", "scaling"
    first: Run
    second: Run
    reach: float | None                  # None: told for comparison
    at_least: bool = False               # else: at most
    same: bool = True                    # both runs compute the same number
    memory: float | None = 0.4           # the ratio of resident memory to reach
    tuned: Run | None = None             # `second` as a careful user writes it


def beside_torch(title: str, group: str, case: str, reach: float, ranks: int = 1) -> Row:
    """Ours and PyTorch's; of models on one rank also PyTorch's with a fused optimiser and channels last."""
    memory = None if case in ("import", "bare import") else 0.4
    return Row(title, group, Run(case, "autograd", ranks), Run(case, "torch", ranks), reach, memory=memory,
               tuned=Run(case, "tuned") if ranks == 1 and case in MODELS else None)


def weak(case: str) -> Row:
    """One rank's time over two ranks', each with as many rows: 1 if the second rank costs nothing. Equally many steps."""
    return Row(f"{case}, 1 to 2 ranks", "scaling", Run(case, options=("--ranked",)), Run(case, ranks=2), 0.95, True, False, None)


def ceiling(case: str) -> Row:
    """The same where the two ranks train each for itself, and only meet at a barrier after each step: what this machine
    leaves of two ranks that share memory, caches and the scheduler."""
    return Row(f"{case}, 2 ranks without all-reduce", "scaling", Run(case, options=("--ranked",)),
               Run(case, ranks=2, options=("--alone",)), None, True, False, None)


def devices(case: str) -> Row:
    """One local device's time over two devices', with the same rows."""
    return Row(f"{case}, 1 to 2 devices", "scaling", Run(case, options=("--devices", "1")),
               Run(case, options=("--devices", "2")), 1.7, True, True, None)


ONE = {"mlp 64-128-64-10": 0.7, "mlp 784-512-512-10": 0.8, "cnn 28x28": 0.75, "resnet-20": 0.75, "gpt": 0.75, "lstm": 0.8}
TWO = {"mlp 64-128-64-10": 0.25, "mlp 784-512-512-10": 0.45, "cnn 28x28": 0.6, "resnet-20": 0.6, "gpt": 0.5, "lstm": 0.5}
TORCH = [
    beside_torch("import, NumPy already there", "one process", "import", 0.1),
    beside_torch("import in a bare interpreter", "one process", "bare import", 0.1),
    beside_torch("chain of 100 multiplications", "one process", "chain", 0.6),
    beside_torch("chain through a Function", "one process", "function chain", 0.35),
    beside_torch("linear algebra, 200 x 200", "one process", "linear algebra", 1.5),
    *(beside_torch(case, "one process", case, ONE[case]) for case in MODELS),
    *(beside_torch(f"{case}, 2 ranks", "two ranks", case, TWO[case], 2) for case in MODELS),
]
SCALING = [*(row(case) for case in MODELS for row in (weak, ceiling)), *(devices(case) for case in LOCAL)]
