"""The rows of the tables: what is divided by what, and the figure to reach. A new comparison is one more line here."""

from __future__ import annotations

from typing import NamedTuple

from models import ALONE, LOCAL, MODELS, VARIATIONS
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


class Contest(NamedTuple):
    """The time of the best of OURS as a ratio to that of the best of OTHERS, all of them libraries of trainings.py."""

    title: str
    case: str
    others: tuple[str, ...] = ("tuned", "inductor", "jax")


OURS = {"autograd": "eager", "replayed": "trace_step", "compiled": "compiled"}
OTHERS = {"tuned": "PyTorch", "inductor": "torch.compile", "jax": "JAX"}


def beside_torch(title: str, group: str, case: str, reach: float, ranks: int = 1) -> Row:
    """Ours and PyTorch's."""
    return Row(title, group, Run(case, "autograd", ranks), Run(case, "torch", ranks), reach, memory=0.4 if group == "two ranks" else None)


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


TWO = {"mlp 64-128-64-10": 0.25, "mlp 784-512-512-10": 0.45, "cnn 28x28": 0.6, "resnet-20": 0.6, "gpt": 0.5, "lstm": 0.5}
ROWS = [
    Contest("chain of 100 multiplications", "chain"),
    Contest("chain through a Function", "function chain"),
    *(Contest(case, case) for case in [*ALONE, *VARIATIONS] if case != "pinn"),
    Contest("pinn", "pinn", ("tuned", "jax")),       # torch.compile has no second derivatives
    Contest("linear algebra, 200 x 200", "linear algebra", ("tuned", "inductor")),
    beside_torch("import, NumPy already there", "import", "import", 0.1),
    beside_torch("import in a bare interpreter", "import", "bare import", 0.1),
    *(beside_torch(f"{case}, 2 ranks", "two ranks", case, TWO[case], 2) for case in MODELS),
]
SCALING = [*(row(case) for case in MODELS for row in (weak, ceiling)), *(devices(case) for case in LOCAL)]
