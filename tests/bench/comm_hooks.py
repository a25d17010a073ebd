"""Comm hooks on the digits: loss, accuracy, bytes that a rank sends, time of a step. The table of docs/comm_hooks.md.

    dprun -n 2 --threads 1 tests/bench/comm_hooks.py

With --small: the time of a step of 1.5 million parameters with each narrow hook, as a ratio to a step without a hook, where
gradients are near 1 and where they are near 1e-7, which are subnormal numbers in float16.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
from sklearn.datasets import load_digits

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import DataParallel, hooks, world
from dparallel.hooks.model_averaging import PeriodicModelAverager, PostLocalSGDOptimizer

EPOCHS, BATCH, WARM = 20, 64, 50
HOOKS = {
    "allreduce_hook": (lambda: None, hooks.allreduce_hook),
    "fp16_compress_hook": (lambda: None, hooks.fp16_compress_hook),
    "bf16_compress_hook": (lambda: None, hooks.bf16_compress_hook),
    "quantization_hook": (lambda: hooks.QuantizationState(), hooks.quantization_hook),
    "topk_hook, 5 %": (lambda: hooks.TopKState(0.05, start_iter=WARM), hooks.topk_hook),
    "powerSGD_hook, rank 1": (lambda: hooks.PowerSGDState(None, 1, WARM), hooks.powerSGD_hook),
    "powerSGD_hook, rank 4": (lambda: hooks.PowerSGDState(None, 4, WARM), hooks.powerSGD_hook),
    "fp16_compress_wrapper(powerSGD_hook), rank 4": (lambda: hooks.PowerSGDState(None, 4, WARM),
                                                     hooks.fp16_compress_wrapper(hooks.powerSGD_hook)),
    "batched_powerSGD_hook, rank 4": (lambda: hooks.PowerSGDState(None, 4, WARM), hooks.batched_powerSGD_hook),
    "post_localSGD_hook, every 8 steps": (lambda: hooks.PostLocalSGDState(None, None, WARM), hooks.post_localSGD_hook),
}


def data():
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    x, t = (images / 16).astype(np.float32)[order], labels[order]
    return x[:1437], t[:1437], x[1437:], t[1437:]


def run(comm, name):
    """Loss on the training rows, accuracy on the others, bytes that a step sends after the warm-up, seconds of a step."""
    make, hook = HOOKS[name]
    ag.manual_seed(0)
    model = DataParallel(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)), comm=comm)
    sent: list[int] = []

    def counted(state, bucket):
        returned = hook(state, bucket)

        def note(handle):
            sent.append(bucket.bytes_sent)
            return handle.value()

        return returned.then(note) if hasattr(returned, "then") else sent.append(bucket.bytes_sent) or returned

    model.register_comm_hook(make(), counted)
    step = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    if name.startswith("post"):
        step = PostLocalSGDOptimizer(step, PeriodicModelAverager(8, WARM, comm))
    x, t, x_test, t_test = data()
    start = time.perf_counter()
    steps = 0
    for epoch in range(EPOCHS):
        order = np.random.default_rng([1, epoch]).permutation(len(x))
        for first in range(0, len(x), BATCH):
            rows = comm.share(order[first:first + BATCH])
            step.zero_grad()
            F.cross_entropy(model(ag.from_numpy(x[rows])), ag.from_numpy(t[rows])).backward()
            step.step()
            steps += 1
    seconds = (time.perf_counter() - start) / steps
    if name.startswith("post"):
        PeriodicModelAverager(1, 0, comm).average_parameters(model.parameters())
        sent = [s + sum(p.array.nbytes for p in model.parameters()) / 8 for s in sent]
    with ag.no_grad():
        loss = F.cross_entropy(model.module(ag.from_numpy(x)), ag.from_numpy(t)).item()
        right = (model.module(ag.from_numpy(x_test)).argmax(1).numpy() == t_test).mean()
    return loss, right, sum(sent[WARM:]) / (steps - WARM), seconds


def small_gradients(comm):
    """The table of --small. Hooks take turns, so that a busy machine slows all of them."""
    names = ["allreduce_hook", "fp16_compress_hook", "bf16_compress_hook", "quantization_hook"]
    if comm.rank == 0:
        print("| hook | ms a step, gradients near 1 | of plain | near 1e-7 | of plain |\n|---|---:|---:|---:|---:|")
    found = {}
    for size in (1.0, 1e-7):
        models = {}
        for name in [None, *names]:
            ag.manual_seed(0)
            models[name] = DataParallel(nn.Sequential(nn.Linear(1000, 1000), nn.Linear(1000, 500)), comm=comm)
            if name is not None:
                models[name].register_comm_hook(HOOKS[name][0](), HOOKS[name][1])
        x = ag.tensor(np.full((8, 1000), size, np.float32))
        for _ in range(15):
            for name, model in models.items():
                model.zero_grad()
                comm.barrier()
                start = time.perf_counter()
                model(x).sum().backward()
                found.setdefault((name, size), []).append(time.perf_counter() - start)
    for name in names:
        cells = []
        for size in (1.0, 1e-7):
            own, plain = (statistics.median(found[key, size][5:]) for key in (name, None))
            cells += [f"{own * 1e3:.1f}", f"{own / plain:.2f}"]
        if comm.rank == 0:
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main():
    comm = world()
    if "--small" in sys.argv[1:]:
        small_gradients(comm)
        return
    if comm.rank == 0:
        print(f"{comm.size} ranks ({comm.kind}), {EPOCHS} epochs of batches of {BATCH}, SGD with momentum\n")
        print("| hook | bytes a step | of plain | training loss | held-out accuracy | ms a step |\n|---|---:|---:|---:|---:|---:|")
    plain = None
    for name in HOOKS:
        loss, right, size, seconds = run(comm, name)
        plain = plain or size
        if comm.rank == 0:
            print(f"| {name} | {size:,.0f} | {size / plain:.1%} | {loss:.4f} | {right:.1%} | {seconds * 1e3:.2f} |", flush=True)


if __name__ == "__main__":
    main()
