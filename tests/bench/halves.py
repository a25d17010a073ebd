"""What small numbers cost in float16 and bfloat16: `python tests/bench/halves.py [--reach 1.3] [NAMES]`. Exit status 1 if a ratio
is above --reach.

Each way converts 1.5 million numbers, or computes with them in float16: once near 1, and once near 1e-7, where float16 numbers
are subnormal and NumPy's own conversion takes 65 ns each. Processor time of one thread; both take turns, minimum of 7 rounds.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim

SIZE, ROUNDS = 1_500_000, 7
NORMAL = np.random.default_rng(0).standard_normal(SIZE).astype(np.float32)
SMALL = NORMAL * np.float32(1e-7)
MASK = ag.tensor(np.arange(SIZE) % 2 == 0)
HALF = ag.tensor(np.linspace(0.3, 0.9, SIZE)).half()


def weight(x, dtype):
    """A layer without bias whose weight is x."""
    layer = nn.Linear(1000, 1500, bias=False, dtype=dtype)
    with ag.no_grad():
        layer.weight.copy_(ag.tensor(x).view(1500, 1000))
    return layer


def step(optimizer, dtype, **settings):
    """A function of numbers that gives a step with them as parameter and as gradient."""
    def make(x):
        p = nn.Parameter(ag.tensor(x).to(dtype))
        p.grad = ag.tensor(x).to(dtype)
        return optimizer([p], **settings).step
    return make


def way(compute, *dtypes):
    """compute(the numbers in each dtype)."""
    def make(x):
        operands = [ag.tensor(x).to(dtype) for dtype in dtypes]
        return lambda: compute(*operands)
    return make


def gradient(compute):
    """The gradient of compute(halves, the same numbers as float32) by the halves, given those numbers as the result's."""
    def make(x):
        h, t = ag.tensor(x).half().requires_grad_(), ag.tensor(x)
        with ag.enable_grad():
            out = compute(h, t)
        g = t.to(out.dtype)
        return lambda: ag.grad(out, h, g, retain_graph=True)
    return make


def under_autocast(dtype):
    """A product of a small input with a large weight, which is cast."""
    def make(x):
        w, a = nn.Parameter(ag.tensor(x).view(3000, 500)), ag.ones(4, 500)

        def run():
            with ag.amp.autocast("cpu", dtype=dtype):
                F.linear(a, w)
        return run
    return make


def loading(saved, dtype):
    """load_state_dict() of a layer in `dtype` from one in `saved`."""
    def make(x):
        layer, state = weight(x, dtype), weight(x, saved).state_dict()
        return lambda: layer.load_state_dict(state)
    return make


def accumulated(h):
    """h added to a gradient like it."""
    p = nn.Parameter(h)
    p.grad = h.clone()
    p.accumulate_grad(h.array, False)


def unscaled(h):
    """float32 gradients of float16 ones, unscaled."""
    p = nn.Parameter(h.float())
    p.grad = h.float()
    scaler = ag.amp.GradScaler("cpu", init_scale=2.0)
    scaler.scale(ag.ones(()))
    scaler.unscale_(optim.SGD([p], lr=0.1))


f16, f32, f64, b16 = ag.float16, ag.float32, ag.float64, ag.bfloat16
WAYS = {
    "half()": way(lambda t: t.half(), f32), "half() of float64": way(lambda t: t.half(), f64), "half() of bfloat16": way(lambda t: t.half(), b16),
    "bfloat16()": way(lambda t: t.bfloat16(), f32), "float()": way(lambda h: h.float(), f16), "double()": way(lambda h: h.double(), f16),
    "float() of bfloat16": way(lambda b: b.float(), b16), "to complex64": way(lambda h: h.to(ag.complex64), f16),
    "copy_": way(lambda h, t: h.copy_(t), f16, f32), "copy_ of an array": way(lambda h, t: h.copy_(t.numpy()), f16, f32),
    "copy_ into float32": way(lambda h, t: t.copy_(h), f16, f32), "x[:] = y": way(lambda h, t: h.__setitem__(slice(None), t), f16, f32),
    "out=": way(lambda h, t: ag.add(t, t, out=h), f16, f32), "tensor(array, float16)": way(lambda t: ag.tensor(t.numpy(), dtype=f16), f32),
    "numpy.asarray(x, float16)": way(lambda t: np.asarray(t, np.float16), f32), "float16 + float32": way(lambda h, t: h + t, f16, f32),
    "float16 * float64": way(lambda h, t: h * t, f16, f64), "float16 + bfloat16": way(lambda h, b: h + b, f16, b16),
    "float16 < float32": way(lambda h, t: h < t, f16, f32), "add_": way(lambda h, t: h.add_(t), f16, f32), "cat": way(lambda h, t: ag.cat([h, t]), f16, f32),
    "where": way(lambda h, t: ag.where(MASK, h, t), f16, f32), "gradient of a mixed product": gradient(lambda h, t: h * t),
    "float16 + float16": way(lambda h: h + h, f16), "float16 * float16": way(lambda h: h * HALF, f16), "float16 * 0.7": way(lambda h: h * 0.7, f16),
    "float16 / 3": way(lambda h: h / 3, f16), "lerp": way(lambda h: h.lerp(HALF, 0.3), f16), "gelu": way(lambda h: F.gelu(h), f16),
    "silu": way(lambda h: F.silu(h), f16), "dropout": way(lambda h: F.dropout(h, 0.5), f16), "mse_loss": way(lambda h: F.mse_loss(h, HALF), f16),
    "layer_norm": way(lambda h: F.layer_norm(h.view(-1, 500), (500,)), f16), "gradient of a product": gradient(lambda h, t: h * HALF),
    "accumulated gradients": way(lambda h: accumulated(h), f16), "SGD": step(optim.SGD, f16, lr=0.7, momentum=0.9),
    "Adam": step(optim.Adam, f16, lr=1e-7), "Adam of bfloat16": step(optim.Adam, b16, lr=1e-7), "load_state_dict": loading(f32, f16),
    "load_state_dict into float32": loading(f16, f32), "Module.half()": way(lambda t: weight(t.numpy(), f32).half(), f32),
    "autocast": under_autocast(f16), "autocast, bfloat16": under_autocast(b16), "GradScaler": way(lambda h: unscaled(h), f16),
    "normal_": way(lambda h, t: h.normal_(0, float(t[:999].abs().mean())), f16, f32),
}


def seconds(run):
    start = time.process_time()
    run()
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--reach", type=float, default=1.3)
    options = parser.parse_args()
    ag.set_num_threads(1)
    bad = 0
    print("| way | ms, numbers near 1 | near 1e-7 | ratio |\n|---|---:|---:|---:|")
    with np.errstate(all="ignore"), ag.no_grad():
        for name, make in WAYS.items():
            if options.names and name not in options.names:
                continue
            runs = [make(x) for x in (NORMAL, SMALL)]
            times = np.array([[seconds(run) for run in runs] for _ in range(ROUNDS + 1)])[1:].min(0) * 1e3
            bad += times[1] > options.reach * times[0]
            print(f"| {name} | {times[0]:.2f} | {times[1]:.2f} | {times[1] / times[0]:.2f} |", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
