"""Memory per rank of sharded training beside the ZeRO paper's formula: dprun -n 4 tests/bench/sharding_memory.py [--threads N].

float32 and Adam: 4 bytes of parameters, 4 of gradients and 8 of state per parameter, divided by the number of ranks as the
stage says. Counted are the bytes of the arrays that a rank holds after a step (before zero_grad()); "at once" is the most
that was ever allocated during a step, activations and messages included (tracemalloc).
"""

from __future__ import annotations

import argparse
import gc
import tracemalloc

import numpy as np

import autograd as ag
from autograd import nn, optim
from dparallel import DataParallel, run_ranks, world

WIDTH, DEPTH = 512, 32
STAGES = [None, "optimizer", "gradients", "parameters"]


def formula(stage, size):
    """Bytes per parameter for parameters, gradients and state."""
    return 4 / (size if stage == "parameters" else 1), 4 / (size if stage in ("gradients", "parameters") else 1), \
        8 / (1 if stage is None else size)


def nbytes(arrays):
    """Of different memory: several views of one buffer count once."""
    spans = {}
    for a in arrays:
        start = a.__array_interface__["data"][0]
        if a.size:
            spans[start] = max(spans.get(start, 0), start + a.nbytes)
    total = end = 0
    for start, stop in sorted(spans.items()):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def held(model, optimizer):
    """Bytes of parameters, gradients and state that this rank holds."""
    slices = list(model.parameters())
    reducer = model._sum.reducer
    units = getattr(reducer, "units", None)
    params = [p.array for p in slices]
    grads = [p.grad.array for p in slices if p.grad is not None]
    if units is None:
        grads += [bucket.buffer for bucket in reducer.buckets] if reducer is not None else []
    else:
        params += [unit.flat for unit in units if unit.flat is not None]
        grads += [unit.grads for unit in units if unit.grads is not None]
    state = [t.array for of_one in optimizer.state.values() for t in of_one.values() if t.ndim]
    return nbytes(params), nbytes(grads), nbytes(state)


def measure(comm, stage):
    """(count of parameters, held bytes, most bytes at once, bytes of the two largest units) of one rank."""
    layers = [layer for _ in range(DEPTH) for layer in (nn.Linear(WIDTH, WIDTH), nn.Tanh())]
    net = nn.Sequential(*layers, nn.Linear(WIDTH, 10))
    count = sum(p.numel() for p in net.parameters())
    model = DataParallel(net, comm=comm, shard=stage, bucket_cap_mb=1)
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    x = ag.from_numpy(np.ones((2, WIDTH), np.float32))
    for step in range(3):
        if step == 2:
            gc.collect()
            tracemalloc.reset_peak()
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
    gathering = getattr(model._sum.reducer, "gathering", None)
    return count, held(model, optimizer), tracemalloc.get_traced_memory()[1], gathering.peak if gathering else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=0, help="ranks as threads of one process (no column `at once`)")
    threads = parser.parse_args().threads
    comm = None if threads else world()
    size = threads or comm.size
    tracemalloc.start()
    if threads or comm.rank == 0:
        print(f"{size} ranks, bytes per parameter of rank 0\n")
        print("| stage | parameters | gradients | state | sum | formula | largest deviation | gathered at once | in all at once |")
        print("|---|---|---|---|---|---|---|---|---|")
    for stage in STAGES:
        gc.collect()                                 # the model before
        before = tracemalloc.get_traced_memory()[0]
        ranks = run_ranks(threads, measure, stage) if threads else [measure(comm, stage)]
        count, bytes_held, most, gathered = ranks[0]
        per = [n / count for n in bytes_held]
        wanted = formula(stage, size)
        off = max(abs(a - b) for a, b in zip(per, wanted, strict=True))
        once = "" if threads else f"{(most - before) / count:.2f}"
        if threads or comm.rank == 0:
            print(f"| {stage} | {per[0]:.3f} | {per[1]:.3f} | {per[2]:.3f} | {sum(per):.3f} | {sum(wanted):.3f} | {off:.4f} | "
                  f"{gathered / count:.3f} | {once} |")


if __name__ == "__main__":
    main()
