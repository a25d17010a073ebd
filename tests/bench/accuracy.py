"""Rounding errors of layers, reductions, losses and optimisers in float32, beside PyTorch's: the table of docs/accuracy.md.

    python tests/bench/accuracy.py            prints the table
    python tests/bench/accuracy.py --write    writes it into docs/accuracy.md

An error is the root mean square of the difference from PyTorch's result in float64, divided by the root mean square of that
result, over SEEDS samples. Inputs are the same float32 numbers in all three. tests/autograd/kernels/test_accuracy.py bounds each ratio.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from table import write_between

ROOT = Path(__file__).parent.parent.parent

SEEDS = 2
STEPS = 1000                         # of optimizers
FLOOR = 2.0 ** -24                   # half of float32's unit: below it a result is as good as correctly rounded
GRADIENT = "gradient"


class Case(NamedTuple):
    """compute(library, *tensors) gives a tensor; `bound` is on the ratio of errors."""

    title: str
    group: str
    compute: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]                 # of the inputs
    means: tuple[float, ...] = ()                       # of each input; 0 where there is none
    positive: bool = False                              # inputs between 0.1 and 1.1
    fixed: int = 0                                      # how many of the last inputs get no gradient
    scale: float = 1.0
    bound: float = 2.0


def inputs(case: Case, seed: int) -> list[np.ndarray]:
    """The numbers of one sample."""
    random = np.random.default_rng(seed)
    made = []
    for k, shape in enumerate(case.shapes):
        values = random.random(shape) + 0.1 if case.positive else random.standard_normal(shape) * case.scale
        made.append((values + (case.means[k] if k < len(case.means) else 0)).astype(np.float32))
    return made


def results(lib: Any, case: Case, seed: int, dtype: Any) -> dict[str, np.ndarray]:
    """The output and the gradients of the inputs, weighted by random numbers."""
    given = [lib.tensor(a).to(dtype) for a in inputs(case, seed)]
    wanted = given[:len(given) - case.fixed]
    for t in wanted:
        t.requires_grad_(True)
    out = case.compute(lib, *given)
    found = {"output": out.detach().numpy().astype(np.float64)}
    if wanted:
        weights = np.random.default_rng(seed + 1000).standard_normal(tuple(out.shape)).astype(np.float32)
        gradients = lib.autograd.grad((out * lib.tensor(weights).to(dtype)).sum(), wanted)
        found |= {GRADIENT if len(wanted) == 1 else f"{GRADIENT} {k + 1}": g.detach().numpy().astype(np.float64)
                  for k, g in enumerate(gradients)}
    return found


def errors(case: Case) -> dict[str, tuple[float, float]]:
    """For each result the relative errors of ours and of PyTorch's."""
    import torch

    import autograd
    threads = torch.get_num_threads()
    torch.set_num_threads(1)                         # arrays are small
    squares: dict[str, np.ndarray] = {}
    for seed in range(1 if case.group == "optimizers" else SEEDS):
        exact = results(torch, case, seed, torch.float64)
        ours, theirs = results(autograd, case, seed, autograd.float32), results(torch, case, seed, torch.float32)
        for name, value in exact.items():
            part = [np.square(ours[name] - value).mean(), np.square(theirs[name] - value).mean(), np.square(value).mean()]
            squares[name] = squares.get(name, np.zeros(3)) + np.array(part)
    torch.set_num_threads(threads)
    return {name: (math.sqrt(a / c), math.sqrt(b / c)) for name, (a, b, c) in squares.items()}


def ratio(ours: float, theirs: float) -> float:
    """Our error as a multiple of PyTorch's."""
    return max(ours, FLOOR) / max(theirs, FLOOR)


def loss(name: str, *shapes: tuple[int, ...], **changes: Any) -> Case:
    return Case(name, "losses", lambda lib, x, y: getattr(lib.nn.functional, name)(x, y), shapes, fixed=1, **changes)


def function(name: str, group: str, *shapes: tuple[int, ...], title: str = "", call: str = "", **changes: Any) -> Case:
    """A function of nn.functional or of the library itself, by its name."""
    def compute(lib: Any, *tensors: Any) -> Any:
        f = getattr(lib.nn.functional, name, None) or getattr(lib, name)
        return f(*tensors)
    return Case(title or name, group, compute, shapes, **changes)


def norm_layer(name: str, mean: float, shape: tuple[int, ...]) -> Case:
    """A normalization with weight and bias, of inputs around this mean."""
    channels = shape[1]

    def compute(lib: Any, x: Any, w: Any, b: Any) -> Any:
        f = lib.nn.functional
        return {"batch_norm": lambda: f.batch_norm(x, None, None, w, b, True),
                "instance_norm": lambda: f.instance_norm(x, None, None, w, b),
                "group_norm": lambda: f.group_norm(x, 4, w, b),
                "layer_norm": lambda: f.layer_norm(x, x.shape[-1:], w, b),
                "rms_norm": lambda: f.rms_norm(x, x.shape[-1:], w)}[name]()

    wide = shape[-1] if name in ("layer_norm", "rms_norm") else channels
    shapes = (shape, (wide,), (wide,))
    if name == "rms_norm":
        return Case(f"{name}, mean {mean:g}", "normalization", lambda lib, x, w: compute(lib, x, w, None), shapes[:2], (mean, 1.))
    bound = 1.5 if name == "batch_norm" else 2.0
    return Case(f"{name}, mean {mean:g}", "normalization", compute, shapes, (mean, 1.), bound=bound)


def by_running(mean: float, shape: tuple[int, ...], layout: str) -> Case:
    """batch_norm by statistics from before, which are near those of the batch; `layout`: how the input lies in memory."""
    c = shape[1]
    statistics = [(about + np.linspace(-0.1, 0.1, c)).astype(np.float32) for about in (mean, 1.0)]

    def compute(lib: Any, x: Any, w: Any, b: Any) -> Any:
        return lib.nn.functional.batch_norm(laid(lib, x, layout), *[lib.tensor(v).to(x.dtype) for v in statistics], w, b)

    return Case(f"batch_norm by running statistics, {layout}, mean {mean:g}", "normalization", compute, (shape, (c,), (c,)),
                (mean, 1.), bound=1.5)


def laid(lib: Any, x: Any, layout: str) -> Any:
    """The same numbers in another order of memory."""
    if layout == "channels last":
        return x.contiguous(memory_format=lib.channels_last)
    return x.transpose(0, -1).contiguous().transpose(0, -1) if layout == "transposed" else x


def classes(lib: Any, n: int, count: int) -> Any:
    """Class numbers."""
    return lib.tensor(np.arange(n) * 7 % count)


def reduction(title: str, compute: Callable[..., Any], shape: tuple[int, ...] = (64, 4096), **changes: Any) -> Case:
    return Case(title, "reductions", lambda lib, x: compute(lib, x), (shape,), **changes)


def layer(title: str, compute: Callable[..., Any], *shapes: tuple[int, ...], **changes: Any) -> Case:
    return Case(title, "layers", compute, shapes, **changes)


def trained(name: str, **options: Any) -> Case:
    """The weights of a regression after STEPS steps of an optimiser."""
    def compute(lib: Any, w: Any, x: Any, y: Any) -> Any:
        w = w.detach().clone().requires_grad_(True)
        optimizer = getattr(lib.optim, name)([w], **options)
        for _ in range(STEPS):
            optimizer.zero_grad()
            ((x @ w - y) ** 2).mean().backward()
            optimizer.step()
        return w.detach()
    return Case(f"{name}, {STEPS:,} steps", "optimizers", compute, ((16, 4), (32, 16), (32, 4)), fixed=3)


def attention(lib: Any, q: Any, k: Any, v: Any) -> Any:
    return lib.nn.functional.scaled_dot_product_attention(q, k, v)


def recurrent(kind: str, title: str = "", scale: float = 0.3) -> Case:
    def compute(lib: Any, x: Any, *weights: Any) -> Any:
        module = getattr(lib.nn, kind)(32, 32).to(x.dtype)
        names = [name for name, _ in module.named_parameters()]
        return lib.func.functional_call(module, dict(zip(names, weights, strict=True)), (x,))[0]
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind] * 32
    return Case(kind + title, "layers", compute, ((24, 8, 32), (gates, 32), (gates, 32), (gates,), (gates,)), scale=scale)


SHAPE = (64, 4096)
CASES = [
    *[norm_layer(name, mean, shape) for name, shape in (
        ("batch_norm", (16, 32, 14, 14)), ("batch_norm", (256, 32)), ("instance_norm", (4, 16, 24, 24)), ("group_norm", (8, 16, 24, 24)),
        ("layer_norm", (64, 16, 256)), ("rms_norm", (64, 16, 256))) for mean in (0.0, 3.0, 30.0, 300.0)],
    *[reduction(f"{name}, {what}{about}", lambda lib, x, name=name, dim=dim: getattr(lib, name)(x, dim), shape, means=(mean,))
      for name in ("sum", "mean", "var", "std", "logsumexp")
      for what, dim, shape in (("rows", -1, SHAPE), ("columns", 0, (4096, 64)), ("all", (0, 1), (512, 512)), ("middle", 1, (8, 1024, 24)),
        ("outer", (0, 2), (32, 16, 196)))
      for about, mean in (("", 0.0), (", mean 30", 30.0))],
    *[reduction(f"norm {p}, {what}", lambda lib, x, p=p, dim=dim: lib.linalg.vector_norm(x, p, dim), shape)
      for p in (1, 2, 3) for what, dim, shape in (("rows", -1, SHAPE), ("columns", 0, (4096, 64)), ("all", (0, 1), (512, 512)))],
    *[reduction(f"{name}, {what}", lambda lib, x, name=name, dim=dim: getattr(lib, name)(x, dim), shape, scale=scale)
      for name, scale in (("cumsum", 1.0), ("logcumsumexp", 1.0)) for what, dim, shape in (("rows", -1, SHAPE), ("columns", 0, (4096, 64)))],
    *[by_running(mean, (16, 32, 14, 14), layout) for layout in ("contiguous", "channels last", "transposed") for mean in (0.0, 3.0, 30.0, 300.0)],
    *[reduction(f"{name}, transposed{about}", lambda lib, x, name=name: getattr(lib, name)(laid(lib, x, "transposed"), -1), means=(mean,))
      for name in ("sum", "mean", "var", "std", "logsumexp", "softmax", "log_softmax") for about, mean in (("", 0.0), (", mean 30", 30.0))],
    *[reduction(f"layer_norm, transposed, mean {mean:g}", lambda lib, x: lib.nn.functional.layer_norm(laid(lib, x, "transposed"), x.shape[-1:]),
                (64, 16, 256), means=(mean,)) for mean in (0.0, 3.0, 30.0, 300.0)],
    reduction("logcumsumexp, long rows", lambda lib, x: lib.logcumsumexp(x, -1), (4, 50000)),
    Case("mse_loss of 120,000", "losses", lambda lib, x, y: lib.nn.functional.mse_loss(x, y), ((4, 30000), (4, 30000)), fixed=1),
    reduction("prod, rows", lambda lib, x: (1 + x / 8).prod(-1), (64, 64)),
    reduction("cumprod, rows", lambda lib, x: (1 + x / 8).cumprod(-1), (64, 64)),
    reduction("trace", lambda lib, x: lib.trace(x), (512, 512)),
    reduction("nansum", lambda lib, x: lib.nansum(x), (512, 512)),
    *[reduction(f"{name}, {what}", lambda lib, x, name=name, dim=dim: getattr(lib.nn.functional, name)(x, dim), shape, scale=scale)
      for name in ("softmax", "log_softmax", "normalize") for what, dim, shape, scale in (
          ("rows", -1, (256, 1000), 1.0), ("columns", 0, (1000, 64), 1.0), ("rows, large", -1, (256, 1000), 20.0)) if name != "normalize"],
    reduction("normalize, rows", lambda lib, x: lib.nn.functional.normalize(x, dim=-1), (256, 1000)),
    reduction("cosine_similarity", lambda lib, x: lib.nn.functional.cosine_similarity(x[:128], x[128:], dim=-1), (256, 1000)),
    reduction("pairwise_distance", lambda lib, x: lib.nn.functional.pairwise_distance(x[:128], x[128:]), (256, 1000)),
    reduction("cdist", lambda lib, x: lib.cdist(x[:128], x[128:]), (256, 64)),
    reduction("cov", lambda lib, x: lib.cov(x), (16, 2000), means=(3.0,)),
    reduction("corrcoef", lambda lib, x: lib.corrcoef(x), (16, 2000), means=(3.0,)),
    *[loss(name, (256, 100), (256, 100)) for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")],
    Case("cross_entropy", "losses", lambda lib, x: lib.nn.functional.cross_entropy(x, classes(lib, 2048, 100)), ((2048, 100),)),
    Case("cross_entropy, smoothed", "losses", lambda lib, x: lib.nn.functional.cross_entropy(x, classes(lib, 2048, 100), label_smoothing=0.1), ((2048, 100),)),
    Case("nll_loss", "losses", lambda lib, x: lib.nn.functional.nll_loss(x.log_softmax(1), classes(lib, 2048, 100)), ((2048, 100),)),
    Case("cross_entropy of probabilities", "losses", lambda lib, x, y: lib.nn.functional.cross_entropy(x, y.softmax(1)), ((512, 100),) * 2, fixed=1),
    Case("kl_div", "losses", lambda lib, x, y: lib.nn.functional.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"), ((512, 100),) * 2, fixed=1),
    Case("binary_cross_entropy", "losses", lambda lib, x, y: lib.nn.functional.binary_cross_entropy(x.sigmoid(), y.sigmoid()), ((256, 100),) * 2, fixed=1),
    Case("binary_cross_entropy_with_logits", "losses", lambda lib, x, y: lib.nn.functional.binary_cross_entropy_with_logits(x, y.sigmoid()), ((256, 100),) * 2, fixed=1),
    Case("poisson_nll_loss", "losses", lambda lib, x, y: lib.nn.functional.poisson_nll_loss(x, y), ((256, 100),) * 2, fixed=1),
    Case("gaussian_nll_loss", "losses", lambda lib, x, y, v: lib.nn.functional.gaussian_nll_loss(x, y, v), ((256, 100),) * 3, positive=True, fixed=1),
    Case("soft_margin_loss", "losses", lambda lib, x, y: lib.nn.functional.soft_margin_loss(x, y.sign()), ((256, 100),) * 2, fixed=1),
    Case("cosine_embedding_loss", "losses", lambda lib, x, y: lib.nn.functional.cosine_embedding_loss(x, y, lib.ones(256)), ((256, 100),) * 2),
    Case("triplet_margin_loss", "losses", lambda lib, x, y, z: lib.nn.functional.triplet_margin_loss(x, y, z), ((256, 100),) * 3),
    Case("ctc_loss", "losses", lambda lib, x: lib.nn.functional.ctc_loss(
        x.log_softmax(2), lib.tensor(np.arange(8 * 12).reshape(8, 12) % 19 + 1), lib.full((8,), 50), lib.full((8,), 12)), ((50, 8, 20),)),
    layer("matmul", lambda lib, x, y: x @ y, (128, 512), (512, 96)),
    layer("matmul of stacks", lambda lib, x, y: x @ y, (8, 64, 128), (8, 128, 64)),
    layer("matrix and vector", lambda lib, x, y: x @ y, (256, 2048), (2048,)),
    layer("dot", lambda lib, x, y: x @ y, (65536,), (65536,)),
    layer("linear", lambda lib, x, w, b: lib.nn.functional.linear(x, w, b), (256, 784), (128, 784), (128,)),
    layer("bilinear", lambda lib, x, y, w, b: lib.nn.functional.bilinear(x, y, w, b), (64, 32), (64, 24), (16, 32, 24), (16,)),
    layer("einsum", lambda lib, x, y: lib.einsum("bij,bjk->bik", x, y), (8, 64, 128), (8, 128, 64)),
    layer("conv1d", lambda lib, x, w, b: lib.nn.functional.conv1d(x, w, b, padding=2), (8, 16, 100), (32, 16, 5), (32,)),
    layer("conv2d", lambda lib, x, w, b: lib.nn.functional.conv2d(x, w, b, padding=1), (8, 16, 28, 28), (32, 16, 3, 3), (32,)),
    layer("conv2d, grouped", lambda lib, x, w, b: lib.nn.functional.conv2d(x, w, b, padding=1, groups=16), (8, 16, 28, 28), (16, 1, 3, 3), (16,)),
    layer("conv3d", lambda lib, x, w, b: lib.nn.functional.conv3d(x, w, b), (2, 8, 10, 10, 10), (8, 8, 3, 3, 3), (8,)),
    layer("conv_transpose2d", lambda lib, x, w, b: lib.nn.functional.conv_transpose2d(x, w, b, stride=2), (8, 16, 14, 14), (16, 32, 3, 3), (32,)),
    layer("avg_pool2d", lambda lib, x: lib.nn.functional.avg_pool2d(x, 7), (8, 16, 28, 28), means=(3.0,)),
    layer("adaptive_avg_pool2d", lambda lib, x: lib.nn.functional.adaptive_avg_pool2d(x, 1), (8, 16, 28, 28), means=(3.0,)),
    layer("lp_pool2d", lambda lib, x: lib.nn.functional.lp_pool2d(x, 3, 4), (8, 16, 28, 28), means=(3.0,)),
    layer("interpolate, bilinear", lambda lib, x: lib.nn.functional.interpolate(x, scale_factor=2.5, mode="bilinear"), (4, 8, 20, 20)),
    layer("local_response_norm", lambda lib, x: lib.nn.functional.local_response_norm(x, 5), (8, 16, 14, 14)),
    layer("embedding", lambda lib, w: lib.nn.functional.embedding(classes(lib, 20000, 50), w), (50, 32)),
    layer("embedding_bag, mean", lambda lib, w: lib.nn.functional.embedding_bag(classes(lib, 20000, 50).reshape(200, 100), w), (50, 32)),
    layer("attention", attention, (4, 8, 128, 32), (4, 8, 128, 32), (4, 8, 128, 32)),
    layer("attention, causal", lambda lib, q, k, v: lib.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True), *[(4, 8, 128, 32)] * 3),
    *map(recurrent, ("RNN", "GRU", "LSTM")),
    *[recurrent(kind, ", gates near 0 and 1", 0.8) for kind in ("GRU", "LSTM")],
    *[layer(name, lambda lib, x, name=name: getattr(lib.nn.functional, name)(x), (64, 1000), scale=3.0)
      for name in ("gelu", "silu", "mish", "elu", "selu", "softplus", "logsigmoid", "tanh", "sigmoid", "hardswish", "softsign", "celu", "tanhshrink")],
    *[layer(name, lambda lib, x, name=name: getattr(lib, name)(x), (64, 1000), scale=3.0)
      for name in ("exp", "expm1", "sin", "cos", "erf", "erfc", "atan", "sinh", "cosh", "asinh")],
    *[layer(name, lambda lib, x, name=name: getattr(lib, name)(x), (64, 1000), positive=True)
      for name in ("log", "log1p", "log2", "sqrt", "rsqrt", "lgamma", "digamma", "reciprocal")],
    layer("pow", lambda lib, x, y: x ** y, (64, 1000), (64, 1000), positive=True),
    layer("index_add", lambda lib, x, y: x.index_add(0, classes(lib, 20000, 50), y), (50, 8), (20000, 8)),
    layer("scatter_add", lambda lib, x, y: x.scatter_add(0, classes(lib, 20000, 50)[:, None].expand(20000, 8), y), (50, 8), (20000, 8)),
    *[trained(name, **options) for name, options in (
        ("SGD", {"lr": 0.05}), ("Adam", {"lr": 0.01}), ("AdamW", {"lr": 0.01}), ("RMSprop", {"lr": 0.001}), ("Adagrad", {"lr": 0.05}),
        ("Adamax", {"lr": 0.01}), ("NAdam", {"lr": 0.01}), ("RAdam", {"lr": 0.01}), ("Adadelta", {"lr": 1.0}), ("ASGD", {"lr": 0.05}))],
    trained("SGD", lr=0.02, momentum=0.9, nesterov=True)._replace(title=f"SGD with momentum, {STEPS:,} steps"),
]



def figures() -> list[tuple[Case, str, float, float]]:
    """Each result of each case, with the errors of ours and of PyTorch's."""
    return [(case, name, *pair) for case in CASES for name, pair in errors(case).items()]


def table(rows: list[tuple[Case, str, float, float]]) -> str:
    """As Markdown."""
    lines = ["| | result | error | PyTorch's | ratio |", "|---|---|---:|---:|---:|"]
    group = ""
    for case, name, ours, theirs in rows:
        if case.group != group:
            group = case.group
            lines.append(f"| **{group}** | | | | |")
        lines.append(f"| {case.title} | {name} | {ours:.1e} | {theirs:.1e} | {ratio(ours, theirs):.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into docs/accuracy.md")
    options = parser.parse_args()
    text = table(figures())
    print(text)
    if options.write:
        write_between(ROOT / "docs" / "accuracy.md", "accuracy", text)


if __name__ == "__main__":
    main()
