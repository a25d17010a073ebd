"""measure_network(): the network between the ranks of a communicator, as tables of seconds by bytes.

Each collective is measured inside computation, as in a step: the cost is by how much the computation takes longer with it,
once waiting for it and once computing meanwhile (the overlap of the OSU and IMB-NBC benchmarks). In a loop without
computation calls take a tenth to a half of that: a broadcast of 64 bytes 11 us instead of 119. The exchange of a pair is
MPI's Sendrecv.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autograd.base.environment import usable_cores

from ...comm import Communicator, Handle
from ...comm.environment import host_identity
from .network import Network, Point
from .quiet import quietest, stolen

SMALLEST, LARGEST = 256, 32 << 20
ENOUGH = 0.12                        # seconds for each size
MOST, LEAST_TIMES, FEWEST_TIMES = 60, 12, 8      # measurements of each size; in a step, the fewest
PATIENCE = 0.5                       # seconds in which a size is measured again until enough repetitions were undisturbed
CHECKED = ("allgather", "reduce_scatter", "alltoall", "allreduce", "broadcast")
ROWS, WIDE, LONG = 16, 784, 512      # of the matrices that are multiplied: weights of 1.6 MB, about 0.2 ms
BEFORE, AFTER = 2, 4                 # such products before and after a collective
SWEEP = 1 << 20                      # float32 elements that empty the second-level cache

MSG_BUSY = ("{} of {} costs of collectives were measured while other processes had the cores: next to the least was taken, "
            "and it may be far too long; for other hosts `call` was. Predict on an idle machine")
MSG_HOSTS = ("the network between hosts: all ranks were on one host ({}); assumed are {:.3g} us and {:.3g} Gbit/s. Measure "
             "it with ranks on two hosts, or describe it: network=, --network")


def measure_network(comm: Communicator, largest: int = LARGEST, base: Network | None = None) -> Network:
    """The network between the ranks of `comm`, as tables of seconds by bytes. Collective; it takes one or two seconds."""
    described, base = base is not None, base or Network()
    identities = comm.allgather_object([host_identity()])
    hosts = len(set(identities))
    per_host = -(-comm.size // hosts)
    network = replace(base, cores_per_host=base.cores_per_host if described else usable_cores(), reduction=reduction_rate(),
                      copy=copy_rate())
    assumed = list(base.assumed)
    if hosts == 1 and not described:
        assumed.append(MSG_HOSTS.format(identities[0][0], base.latency * 1e6, base.bandwidth * 8e-9))
    if comm.size == 1:
        return replace(network, assumed=assumed)
    sizes = [SMALLEST << k for k in range(0, 40, 2) if SMALLEST << k < largest] + [largest]
    disturbed: list[bool] = []
    tables = collectives(comm, [*sizes[:-1:2], largest], disturbed)
    busy = sum(disturbed) > len(disturbed) / 3
    if busy:
        assumed.append(MSG_BUSY.format(sum(disturbed), len(disturbed)))
    if getattr(comm, "kind", "") == "mpi":
        network = network if described else replace(
            network, mpi="openmpi" if "Open MPI" in comm.library else "mpich")        # type: ignore[attr-defined]
        other = next((rank for rank, host in enumerate(identities) if host != identities[0]), 1)
        pairs = [(float(size), exchange(comm, other, size)) for size in [8, *sizes]]
        latency, bandwidth = pairs[0][1], pairs[-1][0] / max(pairs[-1][1] - pairs[0][1], 1e-9)
        network = (replace(network, local_latency=latency, local_bandwidth=bandwidth) if hosts == 1 else
                   replace(network, latency=latency, bandwidth=bandwidth, exchange=pairs))
    network = replace(network, ranks_per_host=per_host, assumed=assumed)
    network = replace(network, calls={} if busy else network.calls_of(tables, comm.size), measured={
        **base.measured, **{name: {**base.measured.get(name, {}), comm.size: points} for name, points in tables.items()}})
    if hosts > 1 or not described:
        return network
    network = replace(network, ranks_per_host=base.ranks_per_host)
    together = network.hosts(comm.size) == 1         # otherwise the description has other links than the measured ones
    return network if together else replace(network, measured=base.measured)


def collectives(comm: Communicator, sizes: list[int], disturbed: list[bool]) -> dict[str, list[Point]]:
    """The tables of the library's collectives (only of sums if ranks are threads). disturbed: see in_a_step()."""
    def meet() -> Handle:
        comm.total(1.0)
        return Handle(None)

    def checked(name: str, size: int) -> Point:
        x = np.ones(max(comm.size, size // 4), np.float32)
        mine = x[:len(x) // comm.size] if name == "allgather" else x
        root = mine if comm.held[0] == 0 else None
        start = ((lambda: comm.start_broadcast(root, 0)) if name == "broadcast" else
                 (lambda: getattr(comm, f"start_{name}")([mine])))
        found = in_a_step(comm, start, mine, size, disturbed)
        met = min(meeting.seconds, 0.5 * found.low)
        return found._replace(seconds=found.seconds - met, low=found.low - met, high=found.high - met)

    def summed(size: int) -> Point:
        vector = comm.persistent_sum(max(1, size // 4), np.float32)
        return in_a_step(comm, lambda: vector.start(len(vector.array)), vector.array, size,
                         disturbed)                  # divided, as gradients are

    meeting = in_a_step(comm, meet, np.ones(1, np.float32), 0, disturbed)
    found = {"meet": [meeting], "sum": rising([summed(size) for size in sizes])}
    few = [size for size in sizes if size in (sizes[0], sizes[-1]) or 1 << 16 <= size <= 1 << 20]
    if getattr(comm, "kind", "") == "mpi":
        found |= {name: rising([checked(name, size) for size in few]) for name in CHECKED}
    return found


def in_a_step(comm: Communicator, start: Callable[[], Handle], x: np.ndarray[Any, Any], nbytes: int,
              disturbed: list[bool]) -> Point:
    """By how much computation takes longer with a collective, waiting for it and not: the mean over ranks of the median over
    undisturbed repetitions, with quartiles. Whether too many were disturbed is appended to `disturbed`. Collective."""
    rng = np.random.default_rng(0)
    inputs, weights = (rng.standard_normal(shape, dtype=np.float32) for shape in ((ROWS, WIDE), (WIDE, LONG)))
    out = np.empty((ROWS, LONG), np.float32)

    def compute(times: int, handle: Handle | None = None) -> None:
        for _ in range(times):
            np.matmul(inputs, weights, out=out)
            if handle is not None and handle.done():
                handle = None

    def taken(mode: int, after: int) -> tuple[float, float, float]:
        """Seconds of the whole, of the collective if it is awaited, and of other processes on this core."""
        comm.barrier()
        before, begin, inside = stolen(), time.perf_counter(), 0.0
        compute(BEFORE)
        x[...] = 1.0
        if mode == 0:
            compute(after)
        else:
            started = time.perf_counter()
            handle = start()
            if mode == 1:
                handle.wait()
                inside = time.perf_counter() - started
            compute(after, handle if mode == 2 else None)
            handle.wait()
        return time.perf_counter() - begin, inside, (stolen() - before) / 1e9

    taken(1, AFTER)
    probed = np.array([[taken(mode, AFTER)[0] for mode in (0, 1)] for _ in range(3)]).min(0)
    plain, whole = comm.allreduce([probed], op="max")[0].tolist()
    after = int(min(50, max(AFTER, 2 * (whole - plain) / max(plain, 1e-9) * (BEFORE + AFTER))))
    times = int(min(MOST, max(FEWEST_TIMES, ENOUGH / max(3 * whole, 1e-7))))
    rows: list[Any] = []                             # times, modes and collective: the same on all ranks
    quiet, begin = False, time.perf_counter()
    while not quiet:
        own_rows = np.array([[taken(mode, after) for mode in range(3)] for _ in range(times)])
        means = comm.allreduce([own_rows[..., :2]], op="sum")[0] / comm.size
        rows += np.concatenate([means, comm.allreduce([own_rows[..., 2:]], op="max")[0]], 2).tolist()
        found = np.array(rows)
        seconds, inside, lost = found[..., 0], found[..., 1], found[..., 2].max(1)
        kept, quiet = quietest(seconds.sum(1), lost)
        if comm.broadcast_object(time.perf_counter() - begin > PATIENCE):
            break
    if not quiet:
        kept = np.argsort(seconds[:, 1])[:max(2, len(seconds) // 10)]
    bounds = [25, 50, 75] if quiet else [0, 10, 100]             # a disturbance only makes times longer
    own = np.percentile(inside[kept, 1], bounds)
    more = np.median(seconds[kept][:, 1:] - seconds[kept, :1], 0)                # of consecutive steps
    afterwards = min(max(0.0, float(more[0]) - own[1]), 2 * own[1])
    low, exposed, high = (float(value) + afterwards for value in own)
    disturbed.append(not quiet)
    return Point(float(nbytes), exposed, low, high, float(min(2.0, max(0.0, float(more[1])) / exposed)))


def rising(points: list[Point]) -> list[Point]:
    """The nearest rising sequence of times, by least squares (pool adjacent violators, Barlow et al. 1972)."""
    pools: list[list[Point]] = []
    for p in points:
        pools.append([p])
        while len(pools) > 1 and mean_seconds(pools[-2]) > mean_seconds(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    return [p._replace(seconds=mean_seconds(pool), low=min(p.low, mean_seconds(pool)), high=max(p.high, mean_seconds(pool)))
            for pool in pools for p in pool]


def mean_seconds(points: list[Point]) -> float:
    """The mean of the points' times."""
    return float(np.mean([p.seconds for p in points]))


def exchange(comm: Any, other: int, nbytes: int) -> float:
    """The median time in seconds in which rank 0 and another rank exchange nbytes; the others wait. Collective."""
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
    """The rate in bytes per second at which this processor adds vectors larger than its second-level cache."""
    x, y = np.zeros(SWEEP, np.float32), np.zeros(SWEEP, np.float32)
    best = min(_seconds(lambda: np.add(x, y, out=x)) for _ in range(5))
    return float(x.nbytes / best)


def copy_rate() -> float:
    """The rate in bytes per second at which this processor copies memory that was just allocated and written."""
    def copied() -> float:
        x, y = np.ones(SWEEP, np.float32), np.zeros(SWEEP, np.float32)
        np.add(y, 1.0, out=y)
        return _seconds(lambda: np.copyto(y, x))

    return float(4 * SWEEP / np.median([copied() for _ in range(5)]))


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
