"""Join: training with different numbers of batches on different ranks. Ranks that have run out shadow the others'
collectives.

Before its collectives of a step, a rank inside notifies the others that it still has a batch: one small allgather. A rank
that has run out, at the end of the `with` block, answers these allgathers and calls its hooks, until no rank has a batch
left.

>>> with Join([model, optimizer]):
...     for x, y in loader:
...         loss_of(model(x), y).backward()
...         optimizer.step()
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from autograd.nn import Module, SyncBatchNorm

from ..comm import CollectiveError, Communicator, communicator
from .config import Config
from .gradient_sum import GradientSum
from .model_state import BufferSync, broadcast_state

OUT, STEP = 0, 1                     # codes of notify(): out of batches; a step begins. Larger numbers: see JoinHook.event
BACKWARD, BACKWARD_GIVEN = 2, 3      # a summed backward pass begins; with a user's weight


class JoinHook:
    """Called for a Joinable on a rank that has run out of batches."""

    def main_hook(self) -> None:
        """Called in each step of the other ranks: take part in the collectives of its forward pass."""

    def event(self, code: int) -> None:
        """Called when the other ranks notify, by Join.notify(code), of another event, such as a summed backward pass."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called once, when all ranks have run out."""


class Joinable(ABC):
    """An object for Join([...]), whose steps are collectives."""

    _join: Join | None = None

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """The JoinHook for one use of Join, with Join's keyword arguments."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """The device on which it computes."""

    @property
    @abstractmethod
    def join_process_group(self) -> Communicator:
        """The communicator of its collectives, the same for all Joinables of one Join."""


class Join:
    """A context in which ranks may have different numbers of steps.

    A rank that has run out takes part in the others' collectives until all have run out.
    """

    def __init__(self, joinables: list[Any], enable: bool = True, throw_on_early_termination: bool = False,
                 **kwargs: Any) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        for j in joinables:
            if not hasattr(j, "join_process_group"):
                raise TypeError(f"Join requires Joinables, such as DataParallel, not {type(j).__name__}: a rank that has "
                                "run out of batches could not take part in its steps")
        self.joinables: list[Joinable] = list(joinables)
        self.enable: bool = enable
        self.throw: bool = throw_on_early_termination
        comms = [communicator(j.join_process_group) for j in self.joinables]
        self.comm: Communicator = comms[0]
        if any(comm is not self.comm for comm in comms):
            raise ValueError("Using join context manager with multiple process groups: pass joinables of one group")
        self.hooks: list[JoinHook] = [j.join_hook(**kwargs) for j in self.joinables]
        self.active: list[int] = list(range(self.comm.size))  # the ranks that had a batch at the last notification

    def __enter__(self) -> Join:
        """From here on the other ranks are notified of steps."""
        if self.enable:
            for joinable in self.joinables:
                if joinable._join is not None:
                    raise RuntimeError("join() inside join()")
                joinable._join = self
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """This rank has run out: shadow the others until they have, too."""
        if not self.enable:
            return
        try:
            if error is None:
                self._shadow()
        finally:
            for joinable in self.joinables:
                joinable._join = None

    @staticmethod
    def notify_join_context(joinable: Any) -> None:
        """A Joinable calls this before the first collective of each step; only the first one of a Join notifies."""
        join = joinable._join
        if join is not None and join.joinables[0] is joinable:
            join.notify(STEP)

    def notify(self, code: int) -> None:
        """Notify the others of an event on this rank: one small allgather."""
        codes = self._exchange(code)
        self.active = [rank for rank, c in enumerate(codes) if c != OUT]
        if self.throw and len(self.active) < len(codes):
            out = [rank for rank, c in enumerate(codes) if c == OUT]
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks. Ranks without "
                               f"a batch: {out}")

    def _exchange(self, code: int) -> list[int]:
        codes: list[int] = self.comm.allgather([np.array([code], np.int64)])[0].tolist()
        if len({c for c in codes if c != OUT}) > 1:
            raise CollectiveError(f"join(): ranks are at different points of a step, {codes} (0: run out, {STEP}: forward, "
                                  "2 and more: backward)")
        return codes

    def _shadow(self) -> None:
        while True:
            codes = self._exchange(OUT)
            code = max(codes)
            if code == OUT:
                break
            if self.throw:
                raise RuntimeError(f"Rank {self.comm.rank} exhausted all inputs.")
            self.active = [rank for rank, c in enumerate(codes) if c != OUT]
            for hook in self.hooks:
                if code == STEP:
                    hook.main_hook()
                else:
                    hook.event(code)
        for hook in self.hooks:
            hook.post_hook(self.comm.rank in self.active)


class JoinedModel:
    """Notifies the other ranks of a model's passes while the model is inside a Join."""

    def __init__(self, model: Joinable, join: Join) -> None:
        self.model: Joinable = model
        self.join: Join = join

    def forward_begins(self) -> int:
        """Notify of a step. Returns the rank whose buffers are used."""
        Join.notify_join_context(self.model)
        return self.join.active[0]

    def backward_begins(self, given: bool) -> None:
        """Notify of a summed backward pass."""
        self.join.notify(BACKWARD_GIVEN if given else BACKWARD)


class ModelHook(JoinHook):
    """The hook of a DataParallel. initial: a rank without batches still counts in a mean with equal weights."""

    def __init__(self, model: Any, joining: Joining, initial: bool) -> None:
        self.model: Module = model
        self.joining: Joining = joining
        self.initial: bool = initial

    def main_hook(self) -> None:
        """Take part in the broadcast of buffers in forward."""
        if self.model.training:
            self.joining.buffers.broadcast(self.joining.active[0])

    def event(self, code: int) -> None:
        """Take part in the sums of a backward pass."""
        counts = self.initial and self.joining.config.average == "ranks" and code == BACKWARD
        reducer = self.joining.summed.reducer
        assert reducer is not None                   # the model was completed when the block began
        reducer.shadow(1.0 if counts else 0.0)

    def post_hook(self, is_last_joiner: bool) -> None:
        """Receive the final weights from a rank that ran longest."""
        config, reducer, active = self.joining.config, self.joining.summed.reducer, self.joining.active
        if len(active) < config.ranks.size:
            if reducer is not None and reducer.check is not None:
                reducer.check.uneven = True
            broadcast_state(config.module, config.ranks, active[0], config.ignored)
            self.joining.buffers.changed = False


class Joining:
    """The part of a DataParallel that takes part in join() blocks."""

    def __init__(self, config: Config[Any], summed: GradientSum, buffers: BufferSync) -> None:
        self.config: Config[Any] = config
        self.summed: GradientSum = summed
        self.buffers: BufferSync = buffers
        self.block: Join | None = None               # the block that the model is inside

    @property
    def active(self) -> list[int]:
        """The ranks that had a batch at the last notification."""
        assert self.block is not None
        return self.block.active

    def enter(self, model: Joinable, block: Join | None) -> None:
        """The model enters a block; None: it leaves the one that it is in."""
        self.block = block
        self.summed.complete()
        if self.summed.reducer is not None and self.config.ranks.size > 1:
            self.summed.reducer.joined = None if block is None else JoinedModel(model, block)

    def join(self, model: Joinable, initial: bool, enable: bool, throw: bool) -> Join:
        """The body of DataParallel.join()."""
        config = self.config
        several = enable and config.ranks.size > 1
        if several and (config.stage or config.verify_every):
            raise NotImplementedError(f"join() with {'shard=' if config.stage else 'verify_every='}: a rank that has run "
                                      "out of batches does not take part in the others' steps")
        if several and not throw and any(isinstance(m, SyncBatchNorm) for m in config.module.modules()):
            raise NotImplementedError("join(): SyncBatchNorm requires the forward passes of all ranks, but a rank that has "
                                      "run out of batches has none; pass throw_on_early_termination=True")
        return Join([model], enable, throw, divide_by_initial_world_size=initial)
