"""Collectives as schedules: rounds of messages, from which their cost on any network follows.

The algorithms are those of MPI libraries (Thakur, Rabenseifner and Gropp 2005, doi 10.1177/1094342005051521). Rounds, not
closed formulas, because rounds within a host differ from those that share its link (as in LogGOPSim, Hoefler et al. 2010).
On links of cost alpha + n * beta the sum over rounds is the published formula, which tests check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

SHORT_ALLREDUCE = 2048               # bytes up to which MPICH's allreduce is recursive doubling
SHORT_REDUCE_SCATTER = 512 << 10     # the limit of recursive halving in its reduce-scatter of commutative operations
SHORT_ALLGATHER = 512 << 10          # of the result: the limit below which its allgather is recursive doubling


IMPLEMENTATIONS = ("openmpi", "mpich", "nccl")


class Round(NamedTuple):
    """One exchange, in which each rank sends nbytes to the rank `distance` away and receives as many.

    xor: ranks exchange in pairs (rank xor distance). reduced: bytes each rank adds up afterwards. times: how many such
    rounds follow each other; at_once: how many messages are sent at the same time.
    """

    distance: int
    nbytes: float
    reduced: float = 0.0
    times: int = 1
    xor: bool = False
    at_once: int = 1


Schedule = list[Round]


def powers_below(ranks: int) -> list[int]:
    """The powers of two below the largest power of two that is at most `ranks`."""
    return [1 << k for k in range(ranks.bit_length() - 1)]


def folded(ranks: int, nbytes: float, inner: Schedule) -> Schedule:
    """A schedule for a power of two. Ranks beyond it first send to a neighbour, and get the result from it at the end."""
    if ranks & (ranks - 1) == 0:
        return inner
    return [Round(1, nbytes, nbytes), *inner, Round(1, nbytes)]


def recursive_doubling(ranks: int, nbytes: float) -> Schedule:
    """Allreduce: in each round pairs exchange and add their whole vectors."""
    return folded(ranks, nbytes, [Round(d, nbytes, nbytes, xor=True) for d in powers_below(ranks)])


def rabenseifner(ranks: int, nbytes: float) -> Schedule:
    """Allreduce: reduce-scatter by recursive halving, then allgather by doubling; the largest messages go to neighbors."""
    halving = [Round(d, nbytes / (2 * d), nbytes / (2 * d), xor=True) for d in powers_below(ranks)]
    return folded(ranks, nbytes, halving + [Round(r.distance, r.nbytes, xor=True) for r in reversed(halving)])


def ring(ranks: int, nbytes: float) -> Schedule:
    """Allreduce: a share of the vector goes round twice."""
    share = nbytes / ranks
    return [Round(1, share, share, times=ranks - 1), Round(1, share, times=ranks - 1)]


def recursive_halving(ranks: int, nbytes: float) -> Schedule:
    """Reduce-scatter of vectors of nbytes; ranks beyond a power of two are folded and get their share at the end."""
    inner = [Round(d, nbytes / (2 * d), nbytes / (2 * d), xor=True) for d in powers_below(ranks)]
    if ranks & (ranks - 1) == 0:
        return inner
    return [Round(1, nbytes, nbytes), *inner, Round(1, nbytes / ranks)]


def pairwise_reduce_scatter(ranks: int, nbytes: float) -> Schedule:
    """Reduce-scatter: each rank sends every other its share at once."""
    return [Round(d, nbytes / ranks, nbytes / ranks) for d in range(1, ranks)]


def tree_and_scatter(ranks: int, nbytes: float) -> Schedule:
    """Reduce-scatter of Open MPI's non-blocking collectives: a binomial tree to rank 0, which scatters the sum."""
    depth = (ranks - 1).bit_length()
    tree = [Round(1 << k, nbytes, nbytes) for k in range(depth)]
    return [*tree, Round(ranks // 2, nbytes / ranks, at_once=ranks - 1)]


def doubling_allgather(ranks: int, nbytes: float) -> Schedule:
    """Allgather of nbytes in all: in round k pairs exchange 2^k shares. MPICH's Bruck sends as many bytes and rounds."""
    share, sent, out, distance = nbytes / ranks, 1, [], 1
    while sent < ranks:
        now = min(sent, ranks - sent)
        out.append(Round(distance, now * share, xor=ranks & (ranks - 1) == 0))
        sent, distance = sent + now, distance * 2
    return out


def ring_allgather(ranks: int, nbytes: float) -> Schedule:
    """Allgather of nbytes in all: shares go round once."""
    return [Round(1, nbytes / ranks, times=ranks - 1)]


def pairwise_alltoall(ranks: int, nbytes: float) -> Schedule:
    """Alltoall: every rank cuts nbytes into a share for each; in round d it sends the one for rank + d."""
    return [Round(d, nbytes / ranks) for d in range(1, ranks)]


def linear(ranks: int, nbytes: float) -> Schedule:
    """Allgather or alltoall of Open MPI's non-blocking collectives: each rank sends all others their shares at once."""
    return [Round(ranks // 2, nbytes / ranks, at_once=ranks - 1)]


def binomial_broadcast(ranks: int, nbytes: float) -> Schedule:
    """Broadcast from one rank down a binomial tree."""
    return [Round(1 << k, nbytes) for k in reversed(range((ranks - 1).bit_length()))]


ALGORITHMS: dict[str, dict[str, Callable[[int, float], Schedule]]] = {
    "allreduce": {"recursive doubling": recursive_doubling, "rabenseifner": rabenseifner, "ring": ring},
    "reduce_scatter": {"recursive halving": recursive_halving, "pairwise": pairwise_reduce_scatter,
                       "tree and scatter": tree_and_scatter},
    "allgather": {"recursive doubling": doubling_allgather, "ring": ring_allgather, "linear": linear},
    "alltoall": {"pairwise": pairwise_alltoall, "linear": linear},
    "broadcast": {"binomial": binomial_broadcast}}


def chosen(collective: str, ranks: int, nbytes: float, mpi: str = "openmpi") -> str:
    """The algorithm that a library chooses for a collective as dparallel calls it.

    Open MPI: Iallreduce by reduce-scatter and allgather (set by comm/mpi/tuning.py), Ireduce_scatter by a tree and a
    scatter, linear Iallgatherv and Ialltoallv. MPICH: by Thakur et al.'s limits.
    """
    if mpi == "nccl":
        return {"reduce_scatter": "pairwise"}.get(collective, "ring" if "ring" in ALGORITHMS[collective] else
                                                  next(iter(ALGORITHMS[collective])))
    if collective == "allreduce":
        return "recursive doubling" if nbytes <= SHORT_ALLREDUCE or ranks > nbytes / 4 else "rabenseifner"
    if collective == "reduce_scatter":
        if mpi == "openmpi":
            return "tree and scatter"
        return "recursive halving" if nbytes <= SHORT_REDUCE_SCATTER else "pairwise"
    if collective == "allgather":
        return "recursive doubling" if nbytes <= SHORT_ALLGATHER else "linear" if mpi == "openmpi" else "ring"
    if collective == "alltoall" and mpi == "openmpi":
        return "linear"
    return next(iter(ALGORITHMS[collective]))


def schedule(collective: str, ranks: int, nbytes: float, algorithm: str) -> Schedule:
    """The rounds of a collective. ValueError for an unknown collective or algorithm."""
    if collective not in ALGORITHMS:
        raise ValueError(f"collective={collective!r} must be one of {', '.join(ALGORITHMS)}")
    if algorithm not in ALGORITHMS[collective]:
        raise ValueError(f"algorithm={algorithm!r} of {collective} must be one of {', '.join(ALGORITHMS[collective])}")
    return [] if ranks == 1 else ALGORITHMS[collective][algorithm](ranks, nbytes)
