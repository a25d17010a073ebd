"""Single operations beside PyTorch's on one thread, tiny and large: `python tests/bench/special.py [--reach 1.2] [NAMES]`. Exit
status 1 if a ratio of processor times is above --reach.

Both libraries alternate, 15 rounds of at least a millisecond each; the table has the ratio of medians. Results are compared
first, to 1e-5 of the largest. The tiny sizes time a call, the large ones the loop below it. "back" is forward and backward.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
import torch

import autograd as ag

ROUNDS, ENOUGH = 15, 1e-3
Case = tuple[str, tuple[int, ...], str, Callable[..., Any], bool]
ROWS = ((8, 10), (100, 10), (1000, 1000))
NUMBERS = ((100,), (1000,), (1_000_000,))


OF_ROWS: dict[str, Callable[..., Any]] = {
    "gather": lambda l, f, x, y: x.gather(1, y),
    "take_along_dim": lambda l, f, x, y: l.take_along_dim(x, y, 1),
    "scatter": lambda l, f, x, y: x.scatter(1, y, x),
    "scatter_add": lambda l, f, x, y: x.scatter_add(1, y, x),
    "multi_margin_loss": lambda l, f, x, y: f.multi_margin_loss(x, y[:, 0]),
    "nll_loss": lambda l, f, x, y: f.nll_loss(x, y[:, 0]),
    "cross_entropy": lambda l, f, x, y: f.cross_entropy(x, y[:, 0]),
    "multilabel_margin_loss": lambda l, f, x, y: f.multilabel_margin_loss(x, y),
    "smooth_l1_loss": lambda l, f, x, y: f.smooth_l1_loss(x, x.detach() * 3),
    "index_select": lambda l, f, x, y: x.index_select(0, y[:, 0]),
    "embedding": lambda l, f, x, y: f.embedding(y[:, 0], x),
    "topk": lambda l, f, x, y: x.topk(5)[0],
    "sort": lambda l, f, x, y: x.sort(1)[0],
    "kthvalue": lambda l, f, x, y: x.kthvalue(3, 1)[0],
    "median": lambda l, f, x, y: x.median(1)[0],
    "median of all": lambda l, f, x, y: x.median(),
    "nanmedian": lambda l, f, x, y: x.nanmedian(1)[0],
    "mode": lambda l, f, x, y: x.mode(1)[0],
    "max": lambda l, f, x, y: x.max(1)[0],
    "cummax": lambda l, f, x, y: x.cummax(1)[0],
    "cummax of columns": lambda l, f, x, y: x.cummax(0)[0],
    "cumsum": lambda l, f, x, y: x.cumsum(1),
    "cumprod": lambda l, f, x, y: x.cumprod(1),
    "logcumsumexp": lambda l, f, x, y: x.logcumsumexp(1),
}


WITH_GRADIENTS = ("gather", "scatter_add", "multi_margin_loss", "multilabel_margin_loss", "nll_loss", "cross_entropy",
                  "smooth_l1_loss", "embedding", "cumsum")


def cases() -> Iterator[Case]:
    """Name, shape, dtype, function of (library, functional, x, further), whether derivatives are timed as well."""
    for shape in ROWS:
        yield "softmax", shape, "float32", lambda l, f, x, y: f.softmax(x, -1), True
        yield "log_softmax", shape, "float32", lambda l, f, x, y: f.log_softmax(x, -1), True
        for dtype in ("float32", "float64"):
            yield "layer_norm", shape, dtype, lambda l, f, x, y: f.layer_norm(x, (x.shape[-1],)), True
        for dtype in ("float32", "float64"):
            for name, function in OF_ROWS.items():
                if name == "multilabel_margin_loss" and shape[-1] > 10:      # as many labels as classes: a billion pairs
                    continue
                yield name, shape, dtype, function, name in WITH_GRADIENTS
    for shape in NUMBERS:
        for dtype in ("float32", "float64"):
            for name in ("silu", "elu", "softplus", "mish", "hardswish", "hardsigmoid", "hardtanh", "gelu"):
                yield name, shape, dtype, lambda l, f, x, y, name=name: getattr(f, name)(x), True
            for name in ("lgamma", "digamma", "erf", "erfc", "sigmoid"):
                yield name, shape, dtype, lambda l, f, x, y, name=name: getattr(l, name)(x), False
            yield "erfinv", shape, dtype, lambda l, f, x, y: l.erfinv(x / 5), False


def timed(function: Callable[[], Any], repeats: int) -> float:
    """Processor seconds of a call."""
    start = time.process_time()
    for _ in range(repeats):
        function()
    return (time.process_time() - start) / repeats


def measured(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float, float]:
    """Both medians, and the median of the rounds' ratios."""
    once = max(min(timed(f, 3) for _ in range(2)) for f in (ours, theirs))
    repeats = max(1, int(ENOUGH / max(once, 1e-7)))
    pairs = [(timed(ours, repeats), timed(theirs, repeats)) for _ in range(ROUNDS)]
    a, b = (statistics.median(part) for part in zip(*pairs, strict=True))
    return a, b, statistics.median(x / y for x, y in pairs)


def runs(case: Case) -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """What is timed, in both libraries; results that differ are an error."""
    _, shape, dtype, function, both = case
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(shape).astype(dtype), rng.integers(0, min(shape), shape)
    g = rng.standard_normal(shape).astype(dtype)
    ours, theirs = (ag, ag.nn.functional), (torch, torch.nn.functional)
    a, b = ag.tensor(x), torch.tensor(x)
    places = ag.tensor(y), torch.tensor(y)
    forward = [lambda: function(*ours, a, places[0]), lambda: function(*theirs, b, places[1])]
    found, expected = forward[0]().numpy(), forward[1]().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * float(np.abs(expected).max()))
    yield "", forward[0], forward[1]
    if not both:
        return
    leaves = ag.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)

    def back(k: int) -> Any:
        library, leaf = (ours, theirs)[k], leaves[k]
        out = function(*library, leaf, places[k])
        leaf.grad = None
        out.backward((ag.tensor, torch.tensor)[k](np.ones((), dtype)) if out.ndim == 0 else weights[k])
        return leaf.grad

    weights = ag.tensor(g), torch.tensor(g)
    np.testing.assert_allclose(back(0).numpy(), back(1).numpy(), rtol=1e-4, atol=1e-5)
    yield " back", lambda: back(0), lambda: back(1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--reach", type=float, default=1.2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    bad = 0
    for case in cases():
        if options.names and case[0] not in options.names:
            continue
        for what, ours, theirs in runs(case):
            a, b, ratio = measured(ours, theirs)
            bad += ratio > options.reach
            print(f"{case[0] + what:24} {'x'.join(map(str, case[1])):10} {case[2]:8} {a * 1e6:10.1f} us {b * 1e6:10.1f}  {ratio:6.2f}"
                  f"{'  <<<' if ratio > options.reach else ''}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
