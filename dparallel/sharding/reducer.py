"""ShardedReducer: what the Reducer is to plain DataParallel, for a module that is sharded in stage 1, 2 or 3.

Gradients leave by reduce-scatter, so that each rank gets the sum of its own elements only; weights, order and the end of
backward are the Reducer's. After a step of an optimiser the values that stay on every rank are made whole again.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograd import Tensor, is_grad_enabled
from autograd.engine import current_pass
from autograd.nn import Module, Parameter
from autograd.optim import LBFGS

from ..comm import Communicator
from ..reducer import Reducer
from .gathering import SEND, Gathering
from .optimizer_state import check_elementwise, cut_state, full_state
from .unit import Unit, grouped, lay_out, refresh
from .wrapping import by_module

STAGES = {None: 0, "optimizer": 1, "gradients": 2, "parameters": 3, 1: 1, 2: 2, 3: 3}
IN_FLIGHT = 2                        # sums under way: more would keep whole gradients in memory


def stage_of(shard: Any) -> int:
    """The stage that DataParallel(shard=...) asks for, 0 for none. ValueError for anything else."""
    if not isinstance(shard, (str, int, type(None))) or isinstance(shard, bool) or shard not in STAGES:
        raise ValueError(f"shard={shard!r} is None, 'optimizer' or 1, 'gradients' or 2, 'parameters' or 3")
    return STAGES[shard]


class ShardedReducer(Reducer):
    """The units of one module on one rank. `units`: see wrapping.by_module (stage 3 only)."""

    def __init__(self, module: Module, comm: Communicator, cap_mb: float, average: str, stage: int,
                 units: Any = None) -> None:
        self.comm, self.users_comm = comm.duplicate(), comm
        self.backwards = 0
        self.average, self.stage, self.module = average, stage, module
        self.enabled = True
        self.calls = set()
        self._pass: Any = None
        self._next = 0
        named = list(module.named_parameters())
        for name, p in named:
            if type(p) is not Parameter:
                raise NotImplementedError(f"shard: {name!r} is a {type(p).__name__}; only plain Parameters are sharded, and "
                                          "each by one DataParallel only")
        groups: Sequence[Any]
        if stage == 3:
            self.gathering: Gathering | None = Gathering(self.comm)
            groups = [g for group in by_module(module, cap_mb * 2**20, units) for g in grouped(group, float("inf"))]
        else:
            self.gathering = None
            if units is not None:
                raise ValueError("shard_units= says what is gathered together, with shard='parameters' only")
            groups = grouped(named, cap_mb * 2**20)
        self.units = lay_out(groups, self.comm, self, self.gathering)
        if self.gathering is not None:
            self.gathering.units = self.units
        self.slices = {id(p): s for unit in self.units for p, s in zip(unit.params, unit.slices, strict=True)}
        self.buckets: list[Any] = [unit for unit in reversed(self.units) if unit.params[0].requires_grad]
        self.optimizers: Any = weakref.WeakSet()
        self._stamp = self._writes()
        for unit in self.buckets:
            for number, p in enumerate(unit.params):
                p.register_post_accumulate_grad_hook(self._arrival(unit, number))

    @property
    def hook(self) -> None:
        """None: each rank gets the sum of its own elements, and a hook averages whole buckets."""
        return None

    @hook.setter
    def hook(self, value: Any) -> None:
        if value is not None:
            raise NotImplementedError("register_comm_hook: gradients of a sharded module leave by reduce-scatter; hooks "
                                      "need shard=None")

    # --- what DataParallel asks for ----------------------------------------------------------------------------------------

    def named_slices(self, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        """The slices by the names of their parameters."""
        for name, p in self.module.named_parameters(prefix, recurse, remove_duplicate):
            if id(p) not in self.slices:
                raise RuntimeError(f"parameter {name!r} was put into the module after DataParallel had sharded it; wrap the "
                                   "module when it is complete")
            yield name, self.slices[id(p)]

    @contextmanager
    def forward(self) -> Iterator[None]:
        """Around a call of the module."""
        self.look_for_changes()
        if self.gathering is None:
            yield
        else:
            with self.gathering.forward(is_grad_enabled()):
                yield

    @contextmanager
    def summon(self, writeback: bool) -> Iterator[None]:
        """Around code that looks at, or changes, whole parameters."""
        self.look_for_changes()
        if self.gathering is None:
            yield
        else:
            with self.gathering.summon(writeback):
                yield
            self._stamp = self._writes()

    def look_for_changes(self) -> None:
        """Make whole again what was written to slices by other means than an optimiser; refuse what was replaced."""
        if self.gathering is None:
            for unit in self.units:
                for name, p, view in zip(unit.names, unit.params, unit.views, strict=True):
                    if p.array is not view:
                        raise RuntimeError(f"the memory of parameter {name!r} was replaced (by .data = or a cast) after "
                                           "DataParallel had sharded it; change it in place, or before wrapping")
        if self._writes() != self._stamp:
            self.refresh(self.units)

    def _writes(self) -> int:
        return sum(s._version for s in self.slices.values())

    def refresh(self, units: Sequence[Unit]) -> None:
        """Slices have changed: the values that stay are gathered again."""
        self._stamp = self._writes()
        if self.gathering is not None:
            self.gathering.version += 1
            if not self.gathering.open:
                self.gathering.drop()
            return
        refresh(units)

    # --- backward ---------------------------------------------------------------------------------------------------------

    def begin(self, call: Any = None) -> bool:
        """Called as soon as a backward pass concerns the module: whether this pass is summed over ranks."""
        summed = super().begin(call)
        if self.gathering is not None:
            self.gathering.enter_backward(current_pass())
        return summed

    def _arrival(self, unit: Any, number: int) -> Callable[[Tensor], None]:
        def arrived(p: Tensor) -> None:
            if not self.begin():
                return
            unit.waiting -= 1
            if unit.waiting == 0:
                self._leave(final=False)

        return arrived

    def _leave(self, final: bool) -> None:
        """Start the sum of every unit that may go: full ones in order; at the end all."""
        while self._next < len(self.buckets):
            unit = self.buckets[self._next]
            if unit.waiting > 0 and not final:
                return
            weight = self._weight()
            if self.gathering is not None:
                self.gathering.agree(SEND, unit.number)
            unit.send(weight, self.stage == 1, self._bring_home)
            self._next += 1
            if self._next > IN_FLIGHT:
                self.buckets[self._next - 1 - IN_FLIGHT].arrive()

    def _finish(self) -> None:
        """The end of backward: what is left leaves, weights and flags are summed, slices get their gradients."""
        self._leave(final=True)
        self._pass = None
        self.calls.clear()
        self.backwards += 1
        if self.backwards == 2 and not self.optimizers and not self._stamp:
            warnings.warn("two backward passes of a sharded DataParallel, and no optimizer holds model.parameters(): its "
                          "own parameters are not trained", stacklevel=2)
        mine = np.concatenate([np.array([unit.weight for unit in self.buckets]), *[unit.used for unit in self.buckets]])
        sums = self.comm.allreduce([mine])[0]
        totals, flags = sums[:len(self.buckets)], sums[len(self.buckets):]
        for unit, total in zip(self.buckets, totals, strict=True):
            used, flags = flags[:len(unit.params)], flags[len(unit.params):]
            unit.deliver(1.0 if self.average == "sum" else float(total), used)
        if self.gathering is not None:               # the order in which the next backward will probably make gradients
            order = {number: place for place, number in enumerate(self.gathering.order)}
            self.buckets.sort(key=lambda unit: -order.get(unit.number, -1))

    # --- optimisers --------------------------------------------------------------------------------------------------------

    def joined(self, optimizer: Any) -> None:
        """An optimiser has taken slices: look after its steps and its state. NotImplementedError if it needs wholes."""
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
                if p._grad is not None:
                    raise RuntimeError(f"optimizer step while the gradient of {name!r} is not summed over ranks: the last "
                                       "backward pass was inside no_sync(), or ended in an exception (then call "
                                       "zero_grad())")

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        mine = {id(p) for group in optimizer.param_groups for p in group["params"]}
        self.refresh([unit for unit in self.units if any(id(s) in mine for s in unit.slices)])


__all__ = ["ShardedReducer", "stage_of"]
