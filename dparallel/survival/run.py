"""survive(): a training function that is run again, on the ranks that are left, when a rank has died."""

from __future__ import annotations

import contextlib
import functools
import mmap
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from autograd.optim import Optimizer

from ..checkpoint.checkpointer import Checkpointer, parts_of
from ..checkpoint.parts import Loader, OptimizerState, Part, for_rank
from ..comm import world
from ..comm.job import this_job
from ..comm.lost import RankLost, is_loss
from ..comm.mpi.shared_memory import shared_file
from ..comm.preemption import Preempted
from .memory import CopiedState, LiveState, State, Survived, lies_in_slices

T = TypeVar("T")


class Offer(NamedTuple):
    """What a rank can bring into a new membership. steps: finished ones, -1 if it has no state. whole: whether the weights
    are those after that step (else an optimiser has taken a step since); path: of the file of copies."""

    steps: int = -1
    whole: bool = False
    copies: bool = False
    path: str = ""
    ranks: int = 0


class Run:
    """What a function under survive() is given: it tells the run what its state is, and when a step is finished.

    steps     finished steps              attempt   how many memberships there were before this one
    """

    def __init__(self) -> None:
        self.steps = self.attempt = 0
        self._parts: Mapping[str, Part] = {}
        self._checkpoint: Checkpointer | None = None
        self._live: LiveState | None = None          # from keep() on, in a job that outlives its ranks
        self._copies: CopiedState | None = None
        self._copying = False                        # copies are made from the next step on
        self._left: State | None = None              # the state with which this rank left the last membership
        self._offer = Offer()
        self._in_step = self._stepped = False        # an optimiser is in a step, has taken one since the last finished step
        self._entered = 0                            # collectives, when it had
        self._hooks: list[Any] = []
        self._lost_at = 0.0

    # --- for the function -----------------------------------------------------------------------------------------------

    def keep(self, checkpoint: Checkpointer | None = None, **parts: Any) -> int:
        """Say what the state is: model, optimizer, scheduler, loader, scaler and what else there is, as for a Checkpointer; or
        a Checkpointer, whose parts they are. What survivors have of it is put back; else, what the Checkpointer finds on the
        disk. Returns the number of finished steps. Collective: once in a run of the function, before its loop.

        extra parts are alike on all ranks, but for random streams and the loader's place. Raises what Checkpointer raises for
        parts whose state can't be put back.
        """
        if checkpoint is not None and parts:
            raise TypeError(f"keep() takes a Checkpointer, which has its parts, or parts by name ({', '.join(parts)}); not both")
        self._checkpoint = checkpoint
        self._parts = checkpoint.parts if checkpoint is not None else parts_of(_in_order(parts))
        membership = this_job.membership
        offers = [Offer()] if membership is None else world().allgather_object([self._offer])
        if any(offer.steps >= 0 for offer in offers):
            self.steps = self._take_back(offers)
        else:
            self.steps = checkpoint.restore() if checkpoint is not None else 0
        if membership is not None:
            self._watch_optimizers()
            self._copying = self._copying or lies_in_slices(self._parts.values()) or any(offer.copies for offer in offers)
            live = LiveState(self._parts)
            copies = self._share_copies() if self._copying else None
            live.commit(self.steps)
            if copies is not None:
                copies.commit(self._parts, self.steps)
            if not membership.agreed():              # what is old may go where all have what is new
                raise RankLost("a rank died while the ranks put the state back")
            self._live, self._copies, self._left = live, copies, None
            self._in_step = self._stepped = False
            if self.attempt and self._lost_at:
                self._tell()
        return self.steps

    def step(self) -> int:
        """Say that a step is finished; returns how many are. After optimizer.step() and what changes the state with it
        (a schedule, a scaler, counters), once for each."""
        self.steps += 1
        if self._live is not None:
            if self._copies is not None:
                self._copies.commit(self._parts, self.steps)
            elif self._stepped and world().entered != self._entered:
                self._copying = True                 # see memory.py; from the next membership on, all ranks alike
            self._live.commit(self.steps)
            self._in_step = self._stepped = False
        return self.steps

    # --- for survive() --------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """A membership begins."""
        self.attempt = 0 if this_job.membership is None else this_job.membership.generation

    def leave(self) -> None:
        """A rank was lost: keep what the function leaves behind."""
        self._lost_at = time.perf_counter()
        if self._checkpoint is not None:
            self._checkpoint.give_up()
        live, copies, self._live = self._live, self._copies, None
        for handle in self._hooks:
            handle.remove()
        self._hooks = []
        if live is None:                             # keep() was not reached: the state is that of the membership before
            return
        if copies is not None:
            self._offer = Offer(live.steps, True, True, copies.path, copies.ranks)
        elif self._in_step:
            self._left, self._offer = None, Offer()
        elif self._stepped:
            self._left, self._offer = live.state_now(), Offer(live.steps + 1, False, self._copying)
        else:
            self._left, self._offer = live.state(), Offer(live.steps, True, self._copying)
        self._parts = {}

    # --- taking back ----------------------------------------------------------------------------------------------------

    def _take_back(self, offers: list[Offer]) -> int:
        """Put the newest state back that all can have; returns its number of steps."""
        comm = world()
        if any(offer.path for offer in offers):
            return self._from_copies(offers)
        whole = [offer.steps for offer in offers if offer.steps >= 0 and offer.whole]
        steps, exact = (max(whole), True) if whole else (max(offer.steps for offer in offers), False)
        have = [rank for rank, offer in enumerate(offers) if offer.steps == steps and offer.whole == exact]
        if not exact and comm.rank == have[0]:
            sys.stderr.write(f"dparallel: a rank was lost between the optimizer.step() of step {steps} and the end of that step, "
                             "on all ranks: what the script does there after it has communicated is left out\n")
        mine = self._left if comm.rank in have else None
        if len(have) < comm.size:
            brought = comm.broadcast_object(mine if comm.rank == have[0] else None, have[0])
            mine = brought if mine is None else mine
        assert mine is not None
        own = {name: part for name, part in self._parts.items() if part.own}
        everyone = comm.allgather_object([None if self._left is None else {name: self._left[name] for name in own}])
        known = [state for state in everyone if state is not None]
        survived = Survived([{**mine, **state} for state in known], [])
        places = {name: [everyone[rank][name] for rank in have] for name, part in own.items() if isinstance(part, Loader)}
        self._put(survived, places)
        return steps

    def _from_copies(self, offers: list[Offer]) -> int:
        """The same, of the copies that all ranks have made."""
        comm = world()
        source = next(rank for rank, offer in enumerate(offers) if offer.path)
        old = self._copies
        if old is None or not self._offer.path:
            file = os.open(offers[source].path, os.O_RDWR)
            old = CopiedState(file, mmap.mmap(file, os.fstat(file).st_size - TOKEN), offers[source].ranks, None)
        steps = max(set.intersection(*map(set, comm.allgather_object([sorted(old.steps())]))))
        everyone = [old.state(rank, steps) for rank in range(old.ranks)]
        survivors = comm.allgather_object([-1 if old.rank is None else old.rank])
        survived = Survived([everyone[rank] for rank in survivors if rank >= 0], everyone)
        all_of_them = Survived(list(everyone), everyone)
        places = {name: [all_of_them.part(name, rank) for rank in range(old.ranks)]
                  for name, part in self._parts.items() if isinstance(part, Loader)}
        self._put(survived, places)
        return steps

    def _put(self, survived: Survived, places: Mapping[str, list[Any]]) -> None:
        """Choose what belongs here, and put it back."""
        comm = world()
        states = {}
        for name, part in self._parts.items():
            states[name] = for_rank(places[name], comm.rank, comm.size, survived.title) if name in places else part.choose(
                name, survived, comm.rank, comm.size)              # type: ignore[arg-type]
        for name, part in self._parts.items():
            part.put(states.pop(name))
        for part in self._parts.values():
            part.finish()

    # --- keeping --------------------------------------------------------------------------------------------------------

    def _share_copies(self) -> CopiedState:
        comm: Any = world()
        found = shared_file(comm.comm, max(comm.allgather_object([CopiedState.bytes_for(self._parts, comm.size)])))
        if found is None:
            raise NotImplementedError("survive(): state that lies in slices is copied into memory that all ranks share, so "
                                      "they must be on one host; use shard=None, or a Checkpointer with dprun --restarts")
        return CopiedState(found[0], found[1], comm.size, comm.rank)

    def _watch_optimizers(self) -> None:
        for part in self._parts.values():
            if isinstance(part, OptimizerState):
                optimizer: Optimizer = part.optimizer
                self._hooks += [optimizer.register_step_pre_hook(self._before_step),
                                optimizer.register_step_post_hook(self._after_step)]

    def _before_step(self, *_: Any) -> None:
        self._in_step, self._entered = True, world().entered

    def _after_step(self, *_: Any) -> None:
        self._in_step, self._stepped = False, True

    def _tell(self) -> None:
        membership, comm = this_job.membership, world()
        seconds = time.perf_counter() - self._lost_at
        if comm.rank == 0:
            lost = membership.lost
            names = f"rank{'s' * (len(lost) > 1)} {', '.join(map(str, lost))}" if lost else "a rank"
            sys.stderr.write(f"dparallel: {names} died; {comm.size} rank{'s' * (comm.size > 1)} go{'es' * (comm.size == 1)} on "
                             f"after step {self.steps}, {seconds:.2f} s later\n")
            sys.stderr.flush()


TOKEN = 16
ORDER = ("model", "optimizer", "scheduler", "scaler")


def _in_order(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The parts in the order in which they are put back: the loader last."""
    first = {name: parts[name] for name in ORDER if name in parts}
    last = {name: thing for name, thing in parts.items() if name == "loader"}
    return {**first, **{name: thing for name, thing in parts.items() if name not in first and name not in last}, **last}


def survive(function: Callable[..., T]) -> Callable[..., T]:
    """A function that trains, as one that outlives its ranks under `dprun --survive`; elsewhere it is just called.

    function(run, ...) makes model, optimiser and loader, tells run.keep() of them, and calls run.step() after each step. When
    a rank has died, at any moment, the ranks that are left leave what they wait in, and the function is called again with
    the same arguments: world() is now of those that are left (with --grow a spare takes the place), and run.keep() puts back
    the state after the last finished step. So a death costs the step that it came in, and the samples of that step are
    those of the next one. Everything that communicates is made in the function. What it returns is returned on all ranks.

    >>> @survive
    ... def train(run):
    ...     model = DataParallel(Net())
    ...     optimizer = optim.AdamW(model.parameters())
    ...     loader = DataLoader(data, batch_sampler=GlobalBatchSampler(data, 60))
    ...     progress = {"epoch": 0}
    ...     run.keep(model=model, optimizer=optimizer, loader=loader, progress=progress)
    ...     while progress["epoch"] < 10:
    ...         for x, y in loader:
    ...             optimizer.zero_grad()
    ...             F.cross_entropy(model(x), y).backward()
    ...             optimizer.step()
    ...             run.step()
    ...         progress["epoch"] += 1
    """
    @functools.wraps(function)
    def call(*args: Any, **settings: Any) -> T:
        run = Run()
        world()                                      # where a spare waits until it is needed
        membership = this_job.membership
        while True:
            run.begin()
            try:
                result = function(run, *args, **settings)
                if membership is None or membership.finish():
                    return result
            except SystemExit as error:
                if membership is not None and (isinstance(error, Preempted) or not error.code):
                    membership.finish()
                raise
            except Exception as error:
                if membership is None or not is_loss(error):
                    raise
            run.leave()
            this_job.comm = membership.recover()

    return call


__all__ = ["Run", "survive"]
