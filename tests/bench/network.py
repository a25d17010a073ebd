"""Allreduces and gradient sums against a bare MPI Allreduce, and what a synchronised step costs: a JSON line.

    dprun -n 2 --threads 1 tests/bench/network.py [--seconds 1] [--allreduce]

Allreduce: one array through Communicator.allreduce(), whose calls are compared, and through AllReduce, against MPI's Allreduce
into an array that exists, and into a new one, which ours return. Medians and quartiles; the results are compared.
Bandwidth: all buckets of a model as DataParallel starts and collects them, against one blocking Allreduce of the same bytes,
in place. Latency: a whole step of the smallest model (forward and backward) wrapped in DataParallel, less the same step of
the bare module, less a bare Allreduce of its gradients. The contestants take turns, so that noise meets both.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from models import MODELS, seeded
from mpi4py import MPI

import autograd
from dparallel import AllReduce, DataParallel, world

ALLREDUCED = (1 << 10, 1 << 16, 8 << 20)     # bytes


def alternating(comm: Any, actions: Sequence[Callable[[], Any]], seconds: float, percent: Any) -> list[Any]:
    """Seconds of each action (this percentile, or these) over rounds in which every one has its turn, on the slowest rank."""
    times: list[list[float]] = [[] for _ in actions]
    for action in actions:
        action()
    start = time.perf_counter()
    for action in actions:
        action()
    rounds = int(comm.bcast(min(2000, max(10, seconds / (time.perf_counter() - start)))))
    for _ in range(rounds):
        for action, own in zip(actions, times, strict=True):
            comm.Barrier()
            begin = time.perf_counter()
            action()
            own.append(time.perf_counter() - begin)
    found = np.percentile(times, percent, axis=1)
    comm.Allreduce(MPI.IN_PLACE, found, MPI.MAX)
    return found.tolist()


def wrapped(case: str, rank: int, size: int) -> tuple[Any, DataParallel, Callable[[Any], Any]]:
    """A case's module twice, bare and data-parallel, and what makes a gradient of one."""
    def make() -> Any:
        return MODELS[case](autograd, rank, size)

    module, (x, y), loss_of, _ = make()
    bare = seeded(autograd, module)
    model = DataParallel(seeded(autograd, make()[0]), comm=world())

    def step(net: Any) -> None:
        net.zero_grad()
        loss_of(net, x, y).backward()

    for _ in range(3):                               # buckets are rebuilt after the first pass
        step(model)
    return bare, model, step


def bandwidth(comm: Any, case: str, seconds: float, percent: float) -> dict[str, Any]:
    """Of a model's gradients."""
    _, model, _ = wrapped(case, comm.rank, comm.size)
    reducer: Any = model._sum.reducer
    buckets, transport = reducer.buckets, reducer.transport
    for bucket in buckets:
        bucket.buffer[...] = 0                       # sums stay 0, however often
    whole = np.zeros(sum(b.buffer.size for b in buckets), buckets[0].buffer.dtype)

    def ours() -> None:
        for number, bucket in enumerate(buckets):
            transport.start(bucket, 0.0, number, number == len(buckets) - 1)
        transport.collect(buckets)

    own, bare = alternating(comm, [ours, lambda: comm.Allreduce(MPI.IN_PLACE, whole)], seconds, percent)
    return {"case": case, "bytes": whole.nbytes, "buckets": len(buckets), "ours_us": own * 1e6, "bare_us": bare * 1e6,
            "share": bare / own}


def allreduce(comm: Any, nbytes: int, seconds: float, percent: float) -> dict[str, Any]:
    """Of one array."""
    x = np.random.default_rng(comm.rank).standard_normal(nbytes // 4, np.float32)
    tensor, out = autograd.tensor(x), np.empty_like(x)

    def bare(out: Any) -> Any:
        comm.Allreduce([x, MPI.FLOAT], [out, MPI.FLOAT])
        return out

    def function() -> Any:
        with autograd.no_grad():
            return AllReduce.apply(tensor, comm=world())

    actions = {"ours": lambda: world().allreduce([x])[0], "function": function, "bare": lambda: bare(out),
               "bare_new": lambda: bare(np.empty_like(x))}
    for action in actions.values():
        np.testing.assert_allclose(np.asarray(action()), bare(out), rtol=1e-6)
    found = alternating(comm, [*actions.values()], seconds, (25.0, percent, 75.0))
    return {"bytes": nbytes, **{name: [1e6 * line[k] for line in found] for k, name in enumerate(actions)}}


def latency(comm: Any, case: str, seconds: float, percent: float) -> dict[str, Any]:
    """Of a model's smallest step."""
    bare, model, step = wrapped(case, comm.rank, comm.size)
    whole = np.zeros(sum(b.buffer.size for b in model._sum.reducer.buckets), np.float32)        # type: ignore[union-attr]
    own, alone, reduced = alternating(comm, [lambda: step(model), lambda: step(bare),
                                             lambda: comm.Allreduce(MPI.IN_PLACE, whole)], seconds, percent)
    return {"case": case, "wrapped_us": own * 1e6, "bare_us": alone * 1e6, "allreduce_us": reduced * 1e6,
            "beyond_us": (own - alone - reduced) * 1e6, "exchange_us": exchange(comm, model, step, percent)}


def exchange(comm: Any, model: DataParallel, step: Callable[[Any], Any], percent: float) -> float:
    """us from the moment the first bucket leaves to that when the sums are in .grad, on the slower rank."""
    model._set_ddp_runtime_logging_sample_rate(1)
    times = []
    for _ in range(500):
        comm.Barrier()
        step(model)
        times.append(model.logging_data()["backward_comm_time"])
    return float(comm.allreduce(np.percentile(times, percent), MPI.MAX)) / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--allreduce", action="store_true", help="nothing but allreduces")
    parser.add_argument("--fastest", action="store_true", help="of the fastest tenth, for a busy machine")
    options = parser.parse_args()
    comm, percent = MPI.COMM_WORLD, 5.0 if options.fastest else 50.0
    found: dict[str, Any] = {"ranks": comm.size, "allreduce_us": [allreduce(comm, n, options.seconds, percent) for n in ALLREDUCED]}
    if not options.allreduce:
        found |= {"bandwidth": [bandwidth(comm, case, options.seconds, percent) for case in MODELS],
                  "latency": latency(comm, next(iter(MODELS)), 2 * options.seconds, percent)}
    if comm.rank == 0:
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
