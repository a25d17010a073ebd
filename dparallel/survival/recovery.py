"""Restoring a state on the ranks of a new membership: which state, and from which rank.

Within a job a state travels in shared memory and in messages. Between jobs it is a checkpoint in the memory of the hosts
(checkpoint/host_copies.py), in a folder whose random name dprun gives to both jobs.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..checkpoint import files
from ..checkpoint.checkpointer import planned, take_back
from ..checkpoint.encoding import Taken
from ..checkpoint.errors import CheckpointError, Ranks
from ..checkpoint.host_copies import MemoryCopies
from ..checkpoint.parts import Loader, Part, SharedStreams, Stream, for_rank
from ..checkpoint.writing import Job
from ..comm import world
from ..comm.environment import environment, host_identity
from ..comm.lost import RankLost
from .last_state import CopiedState, LiveState, State, Survived


class Offer(NamedTuple):
    """A process's report of the state with which it left.

    steps     finished ones; -1: it has no state
    exact     whether the state is that after a finished step; else an optimizer has begun a step since
    clock     by how many collectives of all ranks that was finished: it orders the steps of ranks that count them
              differently, as under DataParallel.join()
    path      of the file with the copies; "" without one
    host      on which that is
    ranks     how many have copied their state
    """

    steps: int = -1
    exact: bool = False
    clock: int = -1
    path: str = ""
    host: tuple[str, str] = ("", "")
    ranks: int = 0


class Left(NamedTuple):
    """What a process had when it left a membership: its own state, or the copies of all ranks. streams: its random streams,
    if it is to continue with another rank's state."""

    offer: Offer
    state: State | None = None
    streams: State | None = None
    copies: CopiedState | None = None

    @classmethod
    def in_memory(cls, live: LiveState, exact: bool) -> Left:
        """Its own state: that after the last completed step, or, if not exact, within the next one."""
        before, now = live.state(), live.state_now()
        streams = {name: (now if exact else before)[name] for name, part in live.parts.items() if _is_stream(part)}
        return cls(Offer(live.steps + (not exact), exact, live.clock), before if exact else now, streams)

    @classmethod
    def copied(cls, copies: CopiedState, steps: int) -> Left:
        """The copies of all ranks."""
        return cls(Offer(steps, True, path=copies.path, host=host_identity(), ranks=copies.ranks), copies=copies)


NOTHING = Left(Offer())


def left_by_the_job_before(parts: Mapping[str, Part]) -> tuple[int, MemoryCopies] | None:
    """Restore the state that hand_over() stored in the previous job: its number of steps, and its location. Collective."""
    if not environment.text("DPARALLEL_SURVIVE_FROM"):
        return None
    ranks = Ranks(world())
    copies = MemoryCopies(environment.text("DPARALLEL_SURVIVE_FROM"), ranks)
    saved = copies.newest(None, None)
    if saved is None:
        return None
    take_back(parts, saved, ranks)
    return saved.step, copies


def check_parts(parts: Mapping[str, Part]) -> None:
    """CheckpointError, on all ranks, if the state cannot be passed to another job. Collective."""
    with Ranks(world()).together("run.keep(): under --grow another job may continue from the state, so it must be data"):
        taken = Taken()
        for name, part in parts.items():
            taken.part(name, part.take())


def hand_over(parts: Mapping[str, Part], steps: int) -> bool:
    """Store the state for the next job, in memory of the hosts; returns whether all ranks have. Collective."""
    ranks = Ranks(world())
    copies = None
    try:
        copies = MemoryCopies(environment.text("DPARALLEL_SURVIVE_STATE"), ranks)
        plan, arrays = planned(parts, ranks)
        mine = {name: arrays[name] for name in plan.mine}
        job = Job(files.head(1, steps, ranks.size, None), "", ranks.rank, mine, plan.listed())
        neighbours = copies.exchanged(job)
        with ranks.together("writing the state into memory"):
            copies.keep(job, neighbours)
    except CheckpointError as error:
        if copies is not None:
            copies.drop()
        if ranks.rank == 0:
            sys.stderr.write(f"dparallel: no other job continues it; {ranks.size} ranks continue: {error}\n")
        return False
    return True


def put_back(parts: Mapping[str, Part], left: Left, everyone: list[Offer]) -> int:
    """Restore the newest state that all ranks can have; returns its number of steps. Collective. everyone: the ranks'
    offers."""
    return (_from_copies if any(offer.path for offer in everyone) else _from_memory)(parts, left, everyone)


def _from_memory(parts: Mapping[str, Part], left: Left, everyone: list[Offer]) -> int:
    """Ranks with the newest state keep it. The first of them sends it to older ones and newcomers, without random
    streams."""
    comm = world()
    exact, clock = max((offer.exact, offer.clock) for offer in everyone if offer.steps >= 0)
    have = [rank for rank, offer in enumerate(everyone) if (offer.exact, offer.clock) == (exact, clock)]
    steps = everyone[have[0]].steps
    if not exact and comm.rank == have[0]:
        sys.stderr.write(f"dparallel: all ranks had communicated in step {steps} after optimizer.step() had begun, for the "
                         "first time: what the script does from there to the end of the step is left out\n")
    mine = left.state if comm.rank in have else None
    if len(have) < comm.size:
        sent = comm.broadcast_object(mine if comm.rank == have[0] else None, have[0])
        mine = sent if mine is None else mine
    assert mine is not None
    own = [name for name, part in parts.items() if part.own or _is_stream(part)]
    streams = {} if comm.rank in have else left.streams or {}
    states = comm.allgather_object([None if left.state is None else {name: left.state[name] for name in own} | streams])
    survived = Survived([{**mine, **state} for state in states if state is not None], [])
    _put(parts, survived, {name: [states[rank][name] for rank in have] for name in own if isinstance(parts[name], Loader)})
    return steps


def _is_stream(part: Part) -> bool:
    return isinstance(part, (SharedStreams, Stream))


def _from_copies(parts: Mapping[str, Part], left: Left, everyone: list[Offer]) -> int:
    """Every rank reads the newest state that all have copied, dead ones included: from its host's memory, else from a
    message."""
    comm, copies = world(), left.copies
    paths = [offer.path for offer in everyone if offer.path and offer.host == host_identity()]
    if copies is None and paths:
        copies = _opened(paths)
    count = max(offer.ranks for offer in everyone)
    there = comm.allgather_object([{} if copies is None else copies.steps()])
    known = [set().union(*(of_one.get(rank, ()) for of_one in there)) for rank in range(count)]
    common = set.intersection(*known)
    if not common:
        raise RuntimeError(f"survive(): no state common to all {count} ranks is left: rank(s) "
                           f"{[rank for rank in range(count) if not known[rank]]} died with their host")
    steps = max(common)
    states = []
    for rank in range(count):
        holders = [holder for holder, of_one in enumerate(there) if steps in of_one.get(rank, ())]
        packed = copies.packed(rank, steps) if copies is not None and comm.rank in holders else None
        if len(holders) < comm.size:
            mine = np.frombuffer(packed, np.uint8) if packed is not None and comm.rank == holders[0] else None
            sent = comm.broadcast(mine, holders[0])[0]
            packed = sent.data if packed is None else packed
        assert packed is not None
        states.append(CopiedState.unpacked(packed))
    old_ranks = comm.allgather_object([None if left.copies is None else left.copies.rank])
    whole = Survived(states, states)
    survivors = [states[rank] for rank in old_ranks if rank is not None]
    survived = Survived(survivors, states) if survivors else whole       # none: newcomers only
    _put(parts, survived, {name: [whole.part(name, rank) for rank in range(count)]
                           for name, part in parts.items() if isinstance(part, Loader)})
    return steps


def _opened(paths: list[str]) -> CopiedState:
    """The memory of others on this host; RankLost if all that had it have died since."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            return CopiedState.opened(path)
    raise RankLost("the ranks that had the state died while it was read")


def _put(parts: Mapping[str, Part], survived: Survived, places: Mapping[str, list[Any]]) -> None:
    """Choose this rank's share of each part, then restore it. places: the positions of loaders on all ranks."""
    comm = world()
    states = {name: for_rank(places[name], comm.rank, comm.size, survived.title) if name in places
              else part.choose(name, survived, comm.rank, comm.size) for name, part in parts.items()}
    for name, part in parts.items():
        part.put(states.pop(name))
    for part in parts.values():
        part.finish()
