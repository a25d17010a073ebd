"""A training step under autocast, as ratios to the same step in float32: its time, and the memory that forward leaves for
backward. The table of docs/mixed_precision.md.

    python tests/bench/autocast.py
"""

from __future__ import annotations

import time
import tracemalloc

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim

ROUNDS = 40


def models():
    yield "MLP 256-512-512-10, 128 rows", nn.Sequential(
        nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)), (128, 256)
    yield "CNN of two convolutions, 32 x 16 x 16 x 16", nn.Sequential(
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)), (32, 16, 16, 16)
    layer = nn.TransformerEncoderLayer(128, 4, 512, 0.0, batch_first=True)
    yield "transformer layer of 128, 8 sequences of 64", nn.Sequential(layer, nn.Flatten(), nn.Linear(64 * 128, 10)), (8, 64, 128)


def main() -> None:
    print("| model | dtype | time | memory |\n|---|---|---|---|")
    for title, net, shape in models():
        x, y = ag.randn(*shape), ag.randint(0, 10, shape[:1])
        optimizer = optim.SGD(net.parameters(), 1e-3)

        def step(dtype):
            optimizer.zero_grad()
            with ag.autocast("cpu", dtype, enabled=dtype is not None):
                before = tracemalloc.get_traced_memory()[0]
                loss = F.cross_entropy(net(x), y)
                kept = tracemalloc.get_traced_memory()[0] - before
            loss.backward()
            optimizer.step()
            return kept

        for dtype in (ag.bfloat16, ag.float16):
            step(None), step(dtype)
            tracemalloc.start()
            memory = step(dtype) / step(None)
            tracemalloc.stop()
            best = {None: float("inf"), dtype: float("inf")}
            for _ in range(ROUNDS):
                for kind in best:
                    start = time.perf_counter()
                    step(kind)
                    best[kind] = min(best[kind], time.perf_counter() - start)
            print(f"| {title} | {dtype} | {best[dtype] / best[None]:.1f} | {memory:.2f} |")


if __name__ == "__main__":
    main()
