"""Skip, on all ranks, a step that one rank could not finish.

There is a barrier when a forward pass begins, when a summed backward pass begins and ends, and when the block ends. A failed
rank refuses the next barrier with the reason, so that the others fail there, or in the collective of the model's
communicator that they are in. If it failed inside backward, it first starts the remaining sums that the others wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from autograd.core.overwrites import overwrite

from ..comm import CollectiveError
from ..reduction.reducer import StepSkipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograd.base.types import Array

    from ..autograd import Tensor
    from ..comm import Communicator
    from ..reduction.reducer import Reducer

MARK = "this rank skips its step"


class Step:
    """The outcome of a step."""

    def __init__(self) -> None:
        self.skipped = False
        self.reason = ""

    def __repr__(self) -> str:
        return f"<step skipped: {self.reason}>" if self.skipped else "<step not skipped>"


class Recording:
    """A model's part in a block in which compile() records steps: if one rank fails there, all do.

    It is the StepGuard of the reducer, whose barriers raise CollectiveError where a failed rank refuses them.
    """

    def __init__(self, reducer: Reducer) -> None:
        self.reducer: Reducer = reducer
        self.level: bool = False                     # whether it failed in a barrier

    def __enter__(self) -> Recording:
        """Store what the recorded passes change."""
        reducer, weights = self.reducer, self.reducer.weights
        self.guarded: bool = reducer.skipping is not None
        if not self.guarded:
            reducer.skipping = self
        self.waiting: tuple[Any, ...] = [*weights.passes], weights.given, weights.scale, weights.waiting_problem
        return self

    def barrier(self) -> None:
        """A barrier of all ranks, which all have started the same sums."""
        self.level = True
        self.reducer.users_comm.barrier()
        self.level = False

    def check(self, gradients: list[Any], same: bool) -> None:
        """Gradients need not be finite."""

    def start_missing_sums(self) -> None:
        """After a failure, before this rank refuses the others' barrier: start the sums that they may wait for."""
        if not self.level:
            self.reducer.match_others()

    def drop(self) -> None:
        """After a failure on any rank: wait for the pending sums, and drop them and all gradients."""
        if self.reducer.enabled:
            self.reducer.drop()

    def __exit__(self, *exception: object) -> None:
        """Let as many passes wait for their sum as before."""
        if not self.guarded:
            self.reducer.skipping = None
        weights = self.reducer.weights
        weights.passes[:], weights.given, weights.scale, weights.waiting_problem = self.waiting


class Skippable(Protocol):
    """The interface of a DataParallel for its skipping() blocks."""

    module: Any                                      # a Module
    comm: Communicator
    skipped_steps: int

    def parameters(self) -> Iterator[Any]:
        """The parameters whose gradients a skipped step drops."""


class Skipping:
    """with Skipping(model, reducer, on, nonfinite) as step: ...; see DataParallel.skipping."""

    def __init__(self, model: Skippable, reducer: Reducer | None, on: tuple[type[BaseException], ...],
                 nonfinite: bool) -> None:
        self.model: Skippable = model
        self.on: tuple[type[BaseException], ...] = on
        self.nonfinite: bool = nonfinite
        self.comm: Communicator = model.comm
        self.reducer: Reducer | None = reducer
        self.alone: bool = self.reducer is None or self.comm.size == 1

    def __enter__(self) -> Step:
        """Store what a skipped step must restore."""
        if self.reducer is not None:
            if self.reducer.skipping is not None or self.reducer.joined is not None:
                raise NotImplementedError("skipping() inside skipping() or join() is not implemented")
            self.reducer.skipping = self
        self.step: Step = Step()
        self.buffers: list[tuple[Tensor, Array]] = [(b, b.array.copy()) for b in self.model.module.buffers()]
        return self.step

    # --- called by the reducer and by forward -------------------------------------------------------------------------

    def barrier(self) -> None:
        """A barrier of all ranks. StepSkipped if one of them has failed."""
        if self.alone:
            return
        try:
            self.comm.barrier()
        except CollectiveError as error:
            if MARK in str(error):
                raise StepSkipped(reason_of(error)) from None
            raise

    def check(self, gradients: list[Any], same: bool) -> None:
        """StepSkipped, on all ranks, if summed gradients are not finite. same: they are the same on all ranks."""
        if not self.nonfinite:
            return
        bad = not all(all_finite(g) for g in gradients)
        if bad if same or self.alone else self.comm.any(bad):
            raise StepSkipped("the gradient over all ranks has values that are not finite")

    # --- the end of the block -----------------------------------------------------------------------------------------

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        """Agree whether the step is skipped."""
        if self.reducer is not None:
            self.reducer.skipping = None
        if error is None:
            error = self._end_without_error()
        if isinstance(error, StepSkipped):
            reason = str(error)
        elif isinstance(error, CollectiveError) and MARK in str(error):
            reason = reason_of(error)
            self._start_missing_sums()
        elif isinstance(error, self.on):
            text = f"{type(error).__name__}: {error}"
            self._start_missing_sums()
            reason = self._refuse(f"{MARK}: {text}") or f"rank {self.comm.rank}: {text}"
        else:
            if isinstance(error, Exception) and not isinstance(error, CollectiveError):
                self._refuse(f"{type(error).__name__}: {error}")
            return False
        self._skip(reason)
        return True

    def _end_without_error(self) -> StepSkipped | None:
        """No error on this rank: StepSkipped if there was one on another."""
        try:
            self.barrier()
            if self.reducer is None:
                self.check([p._grad.array for p in self.model.parameters() if p._grad is not None], True)
        except StepSkipped as skipped:
            return skipped
        return None

    def _start_missing_sums(self) -> None:
        """Start the sums that other ranks may wait for, if this rank stopped inside a summed backward pass."""
        if self.reducer is not None:
            self.reducer.match_others()

    def _refuse(self, text: str) -> str:
        """Refuse the next barrier. Returns the reason as the other ranks see it, which names all failed ranks."""
        if not self.alone:
            try:
                self.comm.refuse(text)
            except CollectiveError as error:
                return reason_of(error)
        return ""

    def _skip(self, reason: str) -> None:
        """Restore the state before the step, without gradients."""
        self.step.skipped, self.step.reason = True, reason
        self.model.skipped_steps += 1
        if self.reducer is not None:
            self.reducer.drop()
            self.reducer.stats.skipped += 1
        for p in self.model.parameters():
            p.grad = None
        overwrite([buffer for buffer, _ in self.buffers], [before for _, before in self.buffers])


def all_finite(x: Any) -> bool:
    """Whether all values are finite; without a temporary array."""
    return x.size == 0 or bool(np.isfinite(x.min()) and np.isfinite(x.max()))


def reason_of(error: BaseException) -> str:
    """The lines of the failed ranks in a rejected collective's error."""
    lines = [line.strip() for line in str(error).splitlines() if MARK in line]
    return "; ".join(line.replace("barrier(): ", "").replace(f"{MARK}: ", "") for line in lines)
