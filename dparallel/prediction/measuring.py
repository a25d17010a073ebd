"""measure_network(): the network of the ranks that are there, as tables of seconds by bytes.

Sums are measured as the reducer makes them, PersistentSum.start() and wait(), alone and while the rank computes: the share
of a sum that computation is longer for is what the processor does itself (the overlap of the OSU and IMB-NBC benchmarks).
A pair's exchange is MPI's Sendrecv; half of a round trip of 8 bytes is the latency.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..comm import Communicator
from .network import Network, Point
from .quiet import quietest, stolen

SMALLEST, LARGEST = 256, 32 << 20
ENOUGH = 0.12                        # seconds for each size
MOST, LEAST_TIMES = 60, 12           # measurements of each size
CHUNK = 4096                         # float32 elements that are multiplied between two looks at a sum, some us

MSG_HOSTS = ("the network between hosts: all ranks were on one host ({}); assumed are {:.3g} us and {:.3g} Gbit/s. Measure "
             "it with ranks on two hosts, or describe it: network=, --network")


def measure_network(comm: Communicator, largest: int = LARGEST, base: Network | None = None) -> Network:
    """What the ranks of `comm` have for a network: tables up to `largest` bytes. base: a description whose topology, and, on
    one host, whose links between hosts hold. Collective; a second or two."""
    described, base = base is not None, base or Network()
    names = comm.allgather_object([socket.gethostname()])
    hosts = len(set(names))
    per_host = -(-comm.size // hosts)
    network = replace(base, cores_per_host=base.cores_per_host if described else cores(), reduction=reduction_rate())
    assumed = list(base.assumed)
    if hosts == 1 and not described:
        assumed.append(MSG_HOSTS.format(names[0], base.latency * 1e6, base.bandwidth * 8e-9))
    if comm.size == 1:
        return replace(network, assumed=assumed)
    sizes = [SMALLEST << k for k in range(0, 40, 2) if SMALLEST << k < largest] + [largest]
    points = rising([measured_sum(comm, size) for size in sizes])
    call, *_ = repeated(comm, lambda: comm.allgather([np.zeros(1)]))
    network = replace(network, sums={**base.sums, comm.size: points}, call=call)
    if getattr(comm, "kind", "") != "mpi":
        return replace(network, assumed=assumed)
    other = next((rank for rank, name in enumerate(names) if name != names[0]), 1)
    pairs = [(float(size), exchange(comm, other, size)) for size in [8, *sizes]]
    latency, bandwidth = pairs[0][1], pairs[-1][0] / max(pairs[-1][1] - pairs[0][1], 1e-9)
    if hosts == 1:
        network = replace(network, local_latency=latency, local_bandwidth=bandwidth, assumed=assumed,
                          ranks_per_host=base.ranks_per_host if described else per_host)
        together = network.hosts(comm.size) == 1     # else what is described is not what was measured
        return network if together else replace(network, sums=base.sums)
    return replace(network, latency=latency, bandwidth=bandwidth, exchange=pairs, ranks_per_host=per_host)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def repeated(comm: Communicator, action: Callable[[], object]) -> tuple[float, float, float]:
    """The median and the quartiles of an action's seconds over its undisturbed runs, the mean over ranks; collective. Where
    few were undisturbed, next to the least: what other processes do only adds."""
    action()
    comm.barrier()
    start = time.perf_counter()
    action()
    once = comm.allreduce([np.array(time.perf_counter() - start)], op="max")[0].item()
    times = int(min(MOST, max(LEAST_TIMES, ENOUGH / max(once, 1e-7))))
    taken, lost = np.empty(times), np.empty(times)
    for number in range(times):
        before, start = stolen(), time.perf_counter()
        action()
        taken[number] = time.perf_counter() - start
        lost[number] = (stolen() - before) / 1e9
    taken = comm.allreduce([taken], op="sum")[0] / comm.size
    kept, quiet = quietest(taken, comm.allreduce([lost], op="max")[0])
    low, middle, high = np.percentile(taken[kept] if quiet else taken, [25, 50, 75] if quiet else [0, 2, 40])
    return float(middle), float(low), float(high)


def measured_sum(comm: Communicator, nbytes: int) -> Point:
    """The library's sum of float32 vectors of nbytes, and its share that computation is longer for."""
    vector = comm.persistent_sum(max(1, nbytes // 4), np.float32)
    a = np.ones(CHUNK, np.float32)

    def compute(chunks: int, handle: Any = None) -> None:
        for _ in range(chunks):
            np.multiply(a, a, out=a)
            if handle is not None and handle.done():
                handle = None

    seconds, low, high = repeated(comm, lambda: vector.start().wait())
    start = time.perf_counter()
    compute(200)
    chunk = comm.allreduce([np.array((time.perf_counter() - start) / 200)], op="max")[0].item()
    chunks = int(max(20, 1.5 * seconds / chunk))
    alone, *_ = repeated(comm, lambda: compute(chunks))

    def overlapped() -> None:
        handle = vector.start()
        compute(chunks, handle)
        handle.wait()

    together, *_ = repeated(comm, overlapped)
    return Point(float(nbytes), seconds, low, high, min(1.0, max(0.0, (together - alone) / seconds)))


def rising(points: list[Point]) -> list[Point]:
    """The points with no time above that of a longer vector, which only a disturbance makes."""
    out: list[Point] = []
    for p in reversed(points):
        after = out[-1] if out else p
        out.append(p._replace(seconds=min(p.seconds, after.seconds), low=min(p.low, after.low),
                              high=min(p.high, after.high)))
    return out[::-1]


def exchange(comm: Any, other: int, nbytes: int) -> float:
    """Seconds in which rank 0 and another one send each other nbytes: the median; other ranks wait. Collective."""
    raw, mine, theirs = comm.comm, np.zeros(nbytes, np.uint8), np.empty(nbytes, np.uint8)
    taken: list[float] = []
    if comm.rank in (0, other):
        peer = other if comm.rank == 0 else 0
        times = int(min(MOST, max(LEAST_TIMES, ENOUGH / 4 / (1e-6 + nbytes / 5e8))))
        for _ in range(times + 2):
            start = time.perf_counter()
            raw.Sendrecv(mine, peer, 0, theirs, peer, 0)
            taken.append(time.perf_counter() - start)
    found = float(np.median(taken[2:])) if comm.rank == 0 else 0.0
    return float(comm.broadcast_object(found))


def reduction_rate() -> float:
    """Bytes a second that this processor adds to others, in vectors beyond its second-level cache."""
    x, y = np.zeros(1 << 20, np.float32), np.zeros(1 << 20, np.float32)
    best = min(_seconds(lambda: np.add(x, y, out=x)) for _ in range(5))
    return float(x.nbytes / best)


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


__all__ = ["measure_network"]
