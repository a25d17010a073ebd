"""ShardedReducer: the Reducer of a module that is sharded in stage 1, 2 or 3.

Gradients are reduce-scattered, so that each rank gets the sum of its own elements only; weights, order and the end of
backward are the Reducer's. After an optimizer step values that stay on every rank are gathered again.
"""

from __future__ import annotations

import functools
import math
import warnings
import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.core.engine import current_pass, running
from autograd.nn import Module, Parameter
from autograd.optim import LBFGS

from ..autograd import Tensor, is_grad_enabled
from ..comm import Communicator
from ..consistency.checksum import ROOM, WeightCheck
from ..reduction.pass_state import PassKind
from ..reduction.reducer import Reducer
from ..reduction.shared_parameters import take_over
from ..reduction.transport import Transport
from ..reduction.unused import UnusedParameters
from ..reduction.weights import ForwardCall
from .gathering import ENTER_COLLECTIVE, Gathering
from .optimizer_state import check_elementwise, cut_state, full_state
from .transport import ReduceScatterTransport
from .unit import MSG_REPLACED, Unit, grouped, lay_out, refresh
from .wrapping import by_module

if TYPE_CHECKING:
    from .parameters import ParameterSlice

STAGES: dict[str | int | None, int] = {None: 0, "optimizer": 1, "gradients": 2, "parameters": 3, 1: 1, 2: 2, 3: 3}


def stage_of(shard: Any) -> int:
    """The stage for DataParallel(shard=...); 0 for none."""
    if not isinstance(shard, (str, int, type(None))) or isinstance(shard, bool) or shard not in STAGES:
        raise ValueError(f"shard={shard!r} is None, 'optimizer' or 1, 'gradients' or 2, 'parameters' or 3")
    return STAGES[shard]


class ShardedReducer(Reducer):
    """The units of one module on one rank."""

    stashes_gradients = False                               # sums are in the slices
    slices: dict[int, ParameterSlice]

    def __init__(self, module: Module, comm: Communicator, cap_mb: float, average: str, stage: int, units: Any = None, *,
                 ignored: Collection[str] = (), unused: UnusedParameters | None = None, wire: str = "",
                 check: WeightCheck | None = None) -> None:
        self.stage: int = stage
        self.module: Module = module
        self._kinds, self._wire = units, wire
        self.gathering: Gathering | None = None
        if stage < 3 and units is not None:
            raise ValueError("shard_units= requires shard='parameters'")
        self._left = {id(p) for name, p in module.named_parameters() if name in ignored}
        self._sharded = [(name, p) for name, p in module.named_parameters() if name not in ignored]
        for name, p in self._sharded:
            if type(p) is not Parameter:
                raise NotImplementedError(f"shard: {name!r} is a {type(p).__name__}; only plain Parameters are sharded")
            if p.dtype.char == "e":
                raise NotImplementedError(f"shard with float16 parameters: {name!r} is one, and gradients times rows may "
                                          "overflow; train in float32 with autograd.amp")
        take_over((p for _, p in self._sharded), f"shard={stage}")
        self.optimizers: Any = weakref.WeakSet()
        super().__init__([(name, p) for name, p in self._sharded if p.requires_grad], comm, cap_mb, average, rebuild=False,
                         unused=unused, check=check if stage < 3 else None)
        self._stamp = self._writes()
        s: Any
        for s in self.slices.values():
            s.averaged_by = weakref.WeakMethod(self.largest_over_ranks)

    def _make_buckets(self) -> list[Any]:
        if self.stage == 3:
            self.gathering = Gathering(self.comm)
            taken = {id(p) for _, p in self._sharded}
            found = [[(name, p) for name, p in group if id(p) in taken]
                     for group in by_module(self.module, self.cap, self._kinds)]
            groups = [g for group in found for g in grouped(group, math.inf)]
        else:
            groups = grouped(self._sharded, self.cap)
        self.units: list[Unit] = lay_out(groups, self.comm, self, self.gathering)
        if self.gathering is not None:
            self.gathering.watch(self.module, self.units)
        self.slices = {id(p): s for unit in self.units for p, s in zip(unit.params, unit.slices, strict=True)}
        trained = [unit for unit in reversed(self.units) if unit.params[0].requires_grad]
        if self.check is not None:
            trained[-1].room = np.zeros(ROOM)
        return trained

    def _make_transport(self, buckets: list[Any]) -> Transport:
        transport = ReduceScatterTransport(self.comm, self.stage == 1, self.gathering, self._wire)
        transport.pass_runs = lambda: self.state.backward_pass is not None and self.state.backward_pass in running.passes
        return transport

    # --- what DataParallel asks for ----------------------------------------------------------------------------------------

    def named_slices(self, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        """The slices by the names of their parameters."""
        for name, p in self.module.named_parameters(prefix, recurse, remove_duplicate):
            if id(p) in self._left:
                yield name, p
                continue
            if id(p) not in self.slices:
                raise RuntimeError(f"parameter {name!r} was added to the module after DataParallel had sharded it; wrap the "
                                   "complete module")
            yield name, self.slices[id(p)]

    @property
    def before_collective(self) -> Any:
        """What a layer calls before it communicates: in stage 3 ranks gather for each other until all have called it."""
        return None if self.gathering is None else functools.partial(self.gathering.agree, ENTER_COLLECTIVE)

    @contextmanager
    def forward(self) -> Iterator[None]:
        """A block around a call of the module."""
        self.look_for_changes()
        if self.gathering is None:
            yield
        else:
            with self.gathering.forward(is_grad_enabled()):
                yield

    @contextmanager
    def summon(self, writeback: bool) -> Iterator[None]:
        """A block around code that reads or changes whole parameters."""
        self.look_for_changes()
        if self.gathering is None:
            yield
        else:
            with self.gathering.summon(writeback):
                yield
            self._stamp = self._writes()

    def look_for_changes(self) -> None:
        """Gather again slices that were written by other means than an optimizer; raise for replaced ones."""
        for unit in self.units:
            replaced = unit.replaced()
            if replaced is not None:
                raise RuntimeError(MSG_REPLACED.format(name=replaced))
        if self._writes() != self._stamp:
            self.refresh(self.units)

    def _writes(self) -> int:
        return sum(s._version for s in self.slices.values())

    def refresh(self, units: Sequence[Unit]) -> None:
        """Slices have changed: gather again the values that stay."""
        self._stamp = self._writes()
        if self.gathering is not None:
            self.gathering.version += 1
            if not self.gathering.open:
                self.gathering.start_over()          # what a failed pass has left
                self.gathering.drop()
            return
        refresh(units)

    # --- backward ---------------------------------------------------------------------------------------------------------

    def begin(self, call: ForwardCall | None = None, arrived: Tensor | None = None) -> PassKind:
        """Called as soon as a backward pass uses the module. Returns what the reducer does with the pass's gradients."""
        walk: Any = current_pass()
        if walk is not None and walk.targets is not None:
            self._look_for_slices(walk.targets)
        kind = super().begin(call, arrived)
        if walk is not None and self.gathering is not None:
            self.gathering.enter_backward(walk)
        return kind

    def gradient_arrived(self, p: Tensor) -> None:
        """Gradients are in the unit's memory also inside no_sync()."""
        super().gradient_arrived(p)
        unit = self.shared.bucket_of[p]
        if p.grad is not None and p.grad.edge is None and not unit.holds(p):
            unit.copy_in(p)

    def _look_for_slices(self, targets: Any) -> None:
        """Raise for autograd.grad() or backward(inputs=) with respect to slices, with which nothing was computed."""
        if any(s.accumulator is not None and s.accumulator() in targets for s in self.slices.values()):
            raise NotImplementedError("autograd.grad() or backward(inputs=) with respect to parameters with shard=: nothing "
                                      "was computed with slices. Use those of model.module (shard=1 or 2), or inputs")

    def _deliver(self) -> bool:
        """Give the slices their gradients. Returns whether all ranks used all parameters."""
        if self.stats.passes == 1 and not self.optimizers and not self._stamp:
            warnings.warn("two backward passes of a sharded DataParallel, but no optimizer has model.parameters(): its "
                          "own parameters are not trained", stacklevel=2)
        all_used = super()._deliver()
        if self.gathering is not None:               # probably the order of gradients in the next backward
            order = {number: position for position, number in enumerate(self.gathering.order)}
            self.departure.order_by(lambda unit: -order.get(unit.number, -1))
        return all_used

    def clear(self) -> None:
        """Discard all gradients and their weights."""
        super().clear()
        for unit in self.units:
            unit.drop()

    def refuse_unsummed(self, walk: Any) -> None:
        """Raise for replays, whose nodes have no graph, so that their gradients would not accumulate."""
        if walk.replayed:
            raise NotImplementedError("no_sync() around a replay of a trace, with shard=: call the step itself there")

    def refuse_graphs(self, what: str, in_grad: bool = True) -> None:
        """NotImplementedError: slices have no graph. Stages 1 and 2 average those of grad()."""
        if in_grad or self.stage == 3:
            raise NotImplementedError(f"{what} with shard={self.stage}: gradients in slices have no graph; use shard=None, "
                                      "or autograd.grad(), with respect to inputs or, with shard=1 or 2, to parameters of "
                                      "model.module")

    # --- optimizers --------------------------------------------------------------------------------------------------------

    def stepped_by(self, optimizer: Any) -> None:
        """Track the steps and state of an optimizer over slices. NotImplementedError if it requires whole parameters."""
        check_elementwise(optimizer, LBFGS)
        if optimizer in self.optimizers:
            return
        self.optimizers.add(optimizer)
        optimizer.register_step_pre_hook(self._before_step)
        optimizer.register_step_post_hook(self._after_step)
        optimizer.register_state_dict_post_hook(full_state)
        optimizer.register_load_state_dict_pre_hook(cut_state)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        for unit in self.buckets:
            for name, p in zip(unit.names, unit.params, strict=True):
                if p.grad is not None:
                    raise RuntimeError(f"optimizer step while the gradient of {name!r} is not summed over ranks: the last "
                                       "backward pass was inside no_sync(), or ended in an exception (then call "
                                       "zero_grad())")

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        mine = {id(p) for group in optimizer.param_groups for p in group["params"]}
        self.refresh([unit for unit in self.units if any(id(s) in mine for s in unit.slices)])
