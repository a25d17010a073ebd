"""survive(): a training function that is called again, on the surviving ranks, when a rank has died."""

from __future__ import annotations

import functools
import gc
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from autograd.spans.spans import MESSAGE, record_function

from ..checkpoint.checkpointer import Checkpointer, parts_of
from ..checkpoint.parts import OptimizerState, Part
from ..comm import world
from ..comm.environment import environment, leave_mark
from ..comm.job import this_job
from ..comm.lost import RankLost, is_loss, is_stale
from ..comm.preemption import Preempted
from .last_state import CopiedState, LiveState, lies_in_slices
from .recovery import NOTHING, Left, Offer, check_parts, hand_over, left_by_the_job_before, put_back
from .watch import MSG_APART, Earlier, Watch, misplaced, shares, untrained, warn

T = TypeVar("T")
RENEWED = 76                                         # the exit code with which dprun starts another job
ORDER = ("model", "optimizer", "scheduler", "scaler")           # restored first; then others, the loader last


class Renewed(Preempted):
    """Ends the script on all ranks of a job that another job continues."""


class Run:
    """The first argument of a function under survive(), which declares its state and the end of each step."""

    steps: int
    attempt: int

    def __init__(self) -> None:
        self.steps = self.attempt = 0
        self._parts: Mapping[str, Part] = {}
        self._checkpoint: Checkpointer | None = None
        self._kept = False                           # keep() was called in this membership
        self._live: LiveState | None = None          # from keep() on, in a job that outlives its ranks
        self._copies: CopiedState | None = None      # where the state is copied after each step, if it is sliced
        self._left = NOTHING                         # the state with which this process left the previous membership
        self._stepping = False                       # an optimizer has begun a step since the last completed step
        self._entered = 0                            # number of collectives when it began
        self._window = False                         # ranks communicate between that and the end of a step
        self._hooks: list[Any] = []
        self._lost_at = 0.0
        self._lost: set[int] = set()                 # dead ranks not reported yet
        self._begun_at: int | None = None            # steps when this process joined the job
        self._earlier: Earlier | None = None         # objects from before the first call, until keep() has checked
        self._rank_and_size: tuple[int, int] | None = None   # in the first membership, or the newest that keep() saw
        self._apart: list[str] = []                  # loaders in which the ranks of the newest membership have other samples
        self._watch: Watch | None = None             # from keep() on, in a job that outlives its ranks

    # --- called by the function ------------------------------------------------------------------------------------------

    def keep(self, checkpoint: Checkpointer | None = None, **parts: Any) -> int:
        """Define the state, before the loop; returns the number of finished steps. Collective.

        The survivors' state is restored, else what the Checkpointer finds on disk.
        """
        if checkpoint is not None and parts:
            raise TypeError(f"keep() takes a Checkpointer, which defines the parts, or parts ({', '.join(parts)}), not both")
        self._checkpoint = checkpoint
        self._parts = checkpoint.parts if checkpoint is not None else parts_of(_in_order(parts))
        if self._kept:
            raise RuntimeError("keep() is called once, with the whole state; two trainings, one after the other, are "
                               "two functions under survive()")
        self._kept = True
        membership = this_job.membership
        everyone = [NOTHING.offer] if membership is None else self._exchanged()
        before = None                                # of the previous job
        if any(offer.steps >= 0 for offer in everyone):
            self.steps = put_back(self._parts, self._left, everyone)
        elif membership is not None and (before := left_by_the_job_before(self._parts)) is not None:
            self.steps = before[0]
        else:
            self.steps = checkpoint.restore() if checkpoint is not None else 0
        if membership is not None:
            self._begin_to_remember()
        if before is not None:
            before[1].drop()
        return self.steps

    def step(self) -> int:
        """End a step, after optimizer.step() and what changes with it (schedule, scaler, counters); returns the number of
        steps."""
        if self._watch is not None:
            self._watch.finish_step()
        self.steps += 1
        if self._live is not None:
            if self._copies is not None:
                self._copies.commit(self._parts, self.steps)
            elif self._stepping:
                self._window = self._window or this_job.membership.entered() != self._entered
                self._live.whole = self._window
            self._live.commit(self.steps, this_job.membership.clock())
            self._stepping = False
        return self.steps

    # --- called by survive() ---------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a membership; survive() calls it."""
        self.steps, self._kept = 0, False
        if this_job.membership is not None:
            if self._rank_and_size is None:
                self._earlier, self._rank_and_size = Earlier(), (world().rank, world().size)
            self.attempt = this_job.membership.generation
            self._lost.update(this_job.membership.lost)

    def leave(self) -> None:
        """A rank was lost: record the state that the function leaves behind; survive() calls it."""
        self._lost_at = time.perf_counter()
        if self._checkpoint is not None:
            self._checkpoint.give_up()
        self.end()
        for handle in self._hooks:
            handle.remove()
        live, self._live, self._hooks = self._live, None, []
        if live is None:                             # keep() has not ended: the previous membership's state is valid
            return
        if self._copies is not None:
            self._left = Left.copied(self._copies, live.steps)
        elif self._stepping and not live.is_whole:
            self._left, self._window = Left.in_memory(live, exact=False), True
        else:
            self._left = Left.in_memory(live, exact=True)
        self._parts, self._copies = {}, None

    def end(self, returned: bool = False) -> None:
        """Stop watching the function, which has ended; survive() calls this."""
        watch, self._watch = self._watch, None
        if watch is not None:
            (watch.finish if returned else watch.end)()

    def _exchanged(self) -> list[Offer]:
        """The offers of all ranks, if none has found a mistake in the arguments of keep(). Collective."""
        comm = world()
        problem = misplaced(self._parts, self._earlier, comm, self._rank_and_size) or untrained(self._parts)
        apart = [name for name in self._apart if name in self._parts]
        if apart:                                    # found when all ranks are here
            problem = problem or MSG_APART.format(name=apart[0], what="training can't continue")
        found = comm.allgather_object([(self._left.offer, problem, shares(self._parts))])
        texts: dict[str, list[int]] = {}
        for rank, (_, text, _) in enumerate(found):
            if text:
                texts.setdefault(text, []).append(rank)
        if texts:
            raise RuntimeError("survive(): " + "; ".join(
                text if len(ranks) == comm.size else f"on rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}, {text}"
                for text, ranks in texts.items()))
        self._earlier, self._rank_and_size = None, (comm.rank, comm.size)
        self._apart = [name for name in found[0][2] if len({theirs.get(name) for _, _, theirs in found}) > 1]
        for name in self._apart:
            warn(MSG_APART.format(name=name, what="the first death will be an error"))
        return [offer for offer, _, _ in found]

    def _begin_to_remember(self) -> None:
        """Record the state from here on. Collective."""
        membership = this_job.membership
        if environment.text("DPARALLEL_SURVIVE_STATE"):
            check_parts(self._parts)
        in_slices = lies_in_slices(self._parts.values())
        copies = CopiedState.shared(self._parts, world()) if in_slices else None
        if copies is not None:
            copies.commit(self._parts, self.steps)
        elif in_slices:
            raise RuntimeError("survive(): state that lies in slices is copied into memory that the ranks of a host share, "
                               "and these can't share any (see ulimit -n, ulimit -v): use shard=None, or a Checkpointer "
                               "and dprun --restarts")
        live = LiveState(self._parts, whole=copies is None)      # until a step has shown whether that is needed
        live.commit(self.steps, membership.clock())
        if not membership.agreed():                  # the old state may be dropped once all have the new one
            if copies is not None:
                copies.close()
            raise RankLost("a rank died while the ranks restored their state")
        if self._left.copies is not None:
            self._left.copies.close()
        self._live, self._copies, self._left = live, copies, NOTHING
        for function in this_job.when_settled:
            function(self.attempt, self.steps)
        self._stepping = False
        self._watch = Watch(self._parts, self.steps)
        for part in self._parts.values():
            if isinstance(part, OptimizerState):
                self._hooks.append(part.optimizer.register_step_pre_hook(self._before_step))
        if self._lost and world().rank == 0:
            self._tell(sorted(self._lost))
        self._lost.clear()
        self._begun_at = self.steps if self._begun_at is None else self._begun_at
        if world().size < membership.size and not membership.spares and environment.text("DPARALLEL_SURVIVE_STATE"):
            self._ask_for_another_job()

    def _ask_for_another_job(self) -> None:
        """Pass the state to another job of full strength, and exit, if this job has completed a step."""
        if world().broadcast_object(self.steps > (self._begun_at or 0)) and hand_over(self._parts, self.steps):
            world().barrier()
            leave_mark("stopped", str(RENEWED))
            raise Renewed(RENEWED)

    def _before_step(self, *_: Any) -> None:
        if not self._stepping:                       # otherwise it is not the first optimizer of the step
            self._stepping, self._entered = True, this_job.membership.entered()

    def _tell(self, lost: list[int]) -> None:
        count, seconds = world().size, time.perf_counter() - self._lost_at
        later = f", {seconds:.2f} s later" if self._lost_at else ""
        sys.stderr.write(f"dparallel: rank{'s' * (len(lost) > 1)} {', '.join(map(str, lost))} died; {count} "
                         f"rank{'s continue' if count > 1 else ' continues'} after step {self.steps}{later}\n")
        sys.stderr.flush()


def _in_order(parts: Mapping[str, Any]) -> dict[str, Any]:
    others = [name for name in parts if name not in (*ORDER, "loader")]
    names = [*ORDER, *others, "loader"]
    return {name: parts[name] for name in names if name in parts}


def survive(function: Callable[..., T]) -> Callable[..., T]:
    """Make a training function outlive its ranks under `dprun --survive`; elsewhere it is just called.

    function(run, ...) makes model, optimizer and loader, passes them to run.keep(), and calls run.step() after each step.
    When a rank dies, the others abort pending communication, and the function is called again with the same arguments.
    world() is then of the ranks that are left (with --grow a spare joins), and run.keep() restores the state after the last
    finished step. So at most one step is lost, and its samples are in the next one. Create what communicates in the
    function; its result is returned on all ranks.
    """
    @functools.wraps(function)
    def call(*args: Any, **settings: Any) -> T:
        world()                                      # a spare waits here until it is needed
        run = Run()                                  # later, because a spare must not search for the state restored by then
        membership = this_job.membership
        while True:
            run.begin()
            try:
                result = function(run, *args, **settings)
                run.end(returned=True)
                if membership is None or membership.finish():
                    return result
            except SystemExit as error:
                run.end()
                if membership is not None and (isinstance(error, Preempted) or not error.code):
                    membership.finish()
                raise
            except Exception as error:
                if membership is None or not is_loss(error) or is_stale(error):
                    run.end()
                    raise
            run.leave()
            gc.collect()                             # otherwise the old model still exists when the next one is created
            with record_function("dparallel::recover", None, MESSAGE):
                this_job.comm = membership.recover()

    return call
