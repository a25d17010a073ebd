"""Putting a state back on the ranks of a new membership: which one, and from whom."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..checkpoint.parts import Loader, Part, for_rank
from ..comm import world
from .memory import CopiedState, State, Survived


class Offer(NamedTuple):
    """What a process tells of the state with which it left.

    steps     finished ones; -1: it has no state
    exact     whether the state is that after a finished step; else an optimiser has taken a step since
    copying   whether its membership copied its state after each step, or this one is to
    path      of the file with the copies; "" if there is none
    """

    steps: int = -1
    exact: bool = False
    copying: bool = False
    path: str = ""


class Left(NamedTuple):
    """With what a process left a membership: its own state, or the copies of all."""

    offer: Offer
    state: State | None = None
    copies: CopiedState | None = None

    @classmethod
    def in_memory(cls, state: State, steps: int, exact: bool, copying: bool) -> Left:
        """Its own state."""
        return cls(Offer(steps, exact, copying), state=state)

    @classmethod
    def copied(cls, copies: CopiedState, steps: int) -> Left:
        """The copies of all."""
        return cls(Offer(steps, True, True, copies.path), copies=copies)


NOTHING = Left(Offer())


def put_back(parts: Mapping[str, Part], left: Left, everyone: list[Offer]) -> int:
    """Put back the newest state that all ranks can have; returns the number of its steps. Collective.

    everyone: the offers of the ranks, at least one of which has a state.
    """
    with_copies = [offer for offer in everyone if offer.path]
    return _from_copies(parts, left, with_copies[0].path) if with_copies else _from_memory(parts, left, everyone)


def _from_memory(parts: Mapping[str, Part], left: Left, everyone: list[Offer]) -> int:
    """Those that have the newest state take their own; the first of them sends it to those that have an older one (they left
    before the sum of the step's gradients was complete), and to newcomers."""
    comm = world()
    exact = any(offer.steps >= 0 and offer.exact for offer in everyone)
    steps = max(offer.steps for offer in everyone if offer.exact == exact)
    have = [rank for rank, offer in enumerate(everyone) if (offer.steps, offer.exact) == (steps, exact)]
    if not exact and comm.rank == have[0]:
        sys.stderr.write(f"dparallel: all ranks were between optimizer.step() and the end of step {steps}: what the script "
                         "does there after it has communicated is left out once\n")
    mine = left.state if comm.rank in have else None
    if len(have) < comm.size:
        sent = comm.broadcast_object(mine if comm.rank == have[0] else None, have[0])
        mine = sent if mine is None else mine
    assert mine is not None
    own = [name for name, part in parts.items() if part.own]
    states = comm.allgather_object([None if left.state is None else {name: left.state[name] for name in own}])
    survived = Survived([{**mine, **state} for state in states if state is not None], [])
    _put(parts, survived, {name: [states[rank][name] for rank in have] for name in own if isinstance(parts[name], Loader)})
    return steps


def _from_copies(parts: Mapping[str, Part], left: Left, path: str) -> int:
    """All read what all have copied, the dead too; newcomers by the path."""
    comm = world()
    copies = left.copies or CopiedState.opened(path)
    steps = max(set.intersection(*map(set, comm.allgather_object([sorted(copies.steps())]))))
    everyone = [copies.state(rank, steps) for rank in range(copies.ranks)]
    old_ranks = comm.allgather_object([copies.rank])
    survived = Survived([everyone[rank] for rank in old_ranks if rank is not None], everyone)
    whole = Survived(everyone, everyone)
    _put(parts, survived, {name: [whole.part(name, rank) for rank in range(copies.ranks)]
                           for name, part in parts.items() if isinstance(part, Loader)})
    return steps


def _put(parts: Mapping[str, Part], survived: Survived, places: Mapping[str, list[Any]]) -> None:
    """Choose what belongs here of each part, then put it back. places: of loaders, where the ranks stood."""
    comm = world()
    states = {name: for_rank(places[name], comm.rank, comm.size, survived.title) if name in places
              else part.choose(name, survived, comm.rank, comm.size) for name, part in parts.items()}
    for name, part in parts.items():
        part.put(states.pop(name))
    for part in parts.values():
        part.finish()


__all__ = ["NOTHING", "Left", "Offer", "put_back"]
