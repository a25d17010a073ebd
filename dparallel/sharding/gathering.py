"""Gathering: the values of stage 3's parameters are gathered shortly before use and dropped afterwards.

A module's forward pre-hook gathers its parameters' units. A parameter that another module reads (a tied output layer)
gathers its unit when its ShardedArray is used. Either drops the previous unit, and starts to gather the one that followed in
the last pass. Forward saves a parameter's location, not its values; backward gathers them again.

Ranks may use different parameters: before each collective all exchange what they will do next. If any rank requests a unit,
all gather it; any other operation continues when all request it. Gradients that are not complete on all ranks are sent
later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from autograd.core.engine import current_pass, queue_callback
from autograd.core.graph import RemovableHandle, shared_counter
from autograd.core.recording import recalled
from autograd.core.tensor import result
from autograd.modes.saved_tensor_hooks import saved_tensors_hooks
from autograd.nn import Module

from ..autograd import Tensor
from ..comm import CollectiveError, Communicator
from .parameters import ShardedArray
from .unit import Array, Unit

GATHER, SEND, COUNT, FORWARD, BACKWARD, SUMMON, ENTER_COLLECTIVE = range(7)  # what a rank begins next
OPERATIONS = ("gather {}", "sum the gradients of {}", "sum the weights of a backward pass", "end forward", "end backward",
          "end summon_full_params() or state_dict()", "call a collective of the module")


class SavedView(NamedTuple):
    """A saved tensor that is a view of a unit's values: its location in them."""

    unit: Unit
    offset: int                      # bytes
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # None: contiguous
    dtype: Any
    version: int                     # of all values, see Gathering.version


class SavedArray(NamedTuple):
    """Any other saved tensor: its array and version."""

    array: Array
    counter: Any
    version: Any                     # what Counter.saved() gave


class SavedValues(saved_tensors_hooks):
    """The saved-tensor hooks of forward; writes to saved tensors are detected, as without hooks."""

    checks_writes = True


class UnitOrder:
    """The order in which a kind of pass needs units, learned from the last one."""

    def __init__(self) -> None:
        self.expected: list[Unit] = []
        self.seen: list[Unit] = []

    def next(self, unit: Unit) -> Unit | None:
        """Record that a unit is needed now. Returns the one that will probably be needed after it."""
        position = len(self.seen)
        self.seen.append(unit)
        if position < len(self.expected) and self.expected[position] is unit:
            return self.expected[position + 1] if position + 1 < len(self.expected) else None
        return None

    def end(self) -> None:
        """End the pass."""
        if self.seen:
            self.expected, self.seen = self.seen, []


class Gathering:
    """The values of all units of a module on one rank. `open`: the number of open forwards and summon_full_params()
    blocks."""

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm
        self.units: list[Unit] = []
        self.open: int = 0
        self.pinned: bool = False
        self.version: int = 0                        # grows when slices change
        self.owners: dict[int, Unit] = {}            # id of the memory -> whose values it is
        self.forward_order: UnitOrder = UnitOrder()
        self.backward_order: UnitOrder = UnitOrder()
        self.order: list[int] = []                   # of units in the last forward: the same on all ranks
        self._gathered: list[int] = []               # by number, since the last end of a forward or backward
        self._gathered_for_others: list[Any] = []                 # handles of units gathered for other ranks only
        self.peak: int = 0                           # the largest size of gathered values, in bytes
        self._readers: dict[Module, tuple[Unit, ...]] = {}           # modules, and the units of parameters that they hold
        self._hooks: list[RemovableHandle] = []
        self._walk: Any = None                       # the backward pass at whose end all values are dropped

    def watch(self, module: Module, units: list[Unit]) -> None:
        """Set the units of `module`: calls of it, and of its submodules, will gather the units that they hold."""
        self.units = units
        unit_of = {id(p): unit for unit in units for p in unit.params}
        for child in module.modules():
            held = dict.fromkeys(unit_of[id(p)] for p in child._parameters.values() if id(p) in unit_of)
            if held:
                self._readers[child] = tuple(held)
        self._register_hooks()

    def _register_hooks(self) -> None:
        self._hooks = [child.register_forward_pre_hook(self._before_forward, prepend=True) for child in self._readers]

    def _before_forward(self, module: Module, args: Any) -> None:
        self.gather(*self._readers[module])

    def gather(self, *units: Unit) -> None:
        """Gather the values of units; those of others are dropped."""
        missing = [unit for unit in units if unit.flat is None]
        if not missing:
            return
        walk = current_pass()
        if not self.open and walk is None:
            raise RuntimeError(f"the values of {missing[0].names[0]!r} are in slices over {self.comm.size} ranks; they are "
                               "gathered only during forward and backward of the DataParallel. Use model.state_dict(), or "
                               "`with model.summon_full_params():`, on all ranks together")
        if walk is not None:
            self.enter_backward(walk)
        order = self.forward_order if walk is None else self.backward_order
        if not self.pinned:
            self.drop(units)
        for unit in missing:
            if unit.gathering is None:
                self.agree(GATHER, unit.number)
            flat = unit.gathered(unit.gathering)
            unit.gathering = None
            unit.unshard(flat)
            self.owners[id(flat if flat.base is None else flat.base)] = unit
            following = order.next(unit)
            if following is not None and following.flat is None and following.gathering is None:
                self.agree(GATHER, following.number)
        self._measure()

    def agree(self, operation: int, number: int = 0, optional: bool = False) -> bool:
        """Start to gather a unit on all ranks, or gather for others until all request the operation; an optional one is
        skipped if another rank requests something else. Returns whether all do.

        CollectiveError, on all ranks, if their requests stay different.
        """
        while True:
            announced = self.comm.allgather([np.array([[operation, number, optional]])])[0].tolist()
            wanted = sorted({n for kind, n, _ in announced if kind == GATHER})
            for n in wanted:
                self._gather_for_all(self.units[n])
            if operation == GATHER:
                return True
            same = all([operation, number] == other[:2] for other in announced)
            if not wanted and (same or optional or not any(other[2] for other in announced)):
                break
        if not same and not optional:
            words = "; ".join(f"rank {rank} is about to {OPERATIONS[kind].format(self.units[n].names[0])}"
                              for rank, (kind, n, _) in enumerate(announced))
            raise CollectiveError(f"the ranks of a DataParallel with shard='parameters' diverge: {words}")
        return same

    def _gather_for_all(self, unit: Unit) -> None:
        self._gathered.append(unit.number)
        if unit.flat is None and unit.gathering is None:
            unit.gathering = unit.start_gather()
        else:
            self._gathered_for_others.append(unit.start_gather())

    def drop(self, but: Sequence[Unit] = ()) -> None:
        """Drop the values of all units but some; a pending allgather for another one is completed."""
        for unit in self.units:
            if not any(unit is other for other in but):
                if unit.flat is not None:
                    unit.reshard()
                if unit.gathering is not None:
                    unit.gathering.wait()
                    unit.gathering = None
        for handle in self._gathered_for_others:
            handle.wait()
        self._gathered_for_others.clear()
        self.owners = {memory: unit for memory, unit in self.owners.items() if unit.flat is not None}

    def _measure(self) -> None:
        here = sum(unit.total * unit.dtype.itemsize for unit in self.units
                   if unit.flat is not None or unit.gathering is not None)
        self.peak = max(self.peak, here)

    def enter_backward(self, walk: Any) -> None:
        """A backward pass that uses the module has begun, if `walk` is a new one; drop all at its end."""
        if walk is self._walk:
            return
        self._walk = walk
        self.backward_order.seen = []
        if not self.backward_order.expected:
            self.backward_order.expected = self.forward_order.expected[::-1]
        queue_callback(self._backward_ends)

    def _backward_ends(self) -> None:
        self._walk = None
        self.agree(BACKWARD)
        self._gathered.clear()
        self.backward_order.end()
        if not self.pinned and not self.open:
            self.drop()

    # --- forward --------------------------------------------------------------------------------------------------------

    @contextmanager
    def forward(self, recorded: bool) -> Iterator[None]:
        """A block around a call of the module."""
        if not self.forward_order.expected:
            self.forward_order.expected = list(self.units)
        self.open += 1
        try:
            with SavedValues(self.pack, self.unpack) if recorded else nullcontext():
                yield
            self.agree(FORWARD)
            self.order = list(dict.fromkeys(self._gathered))
        finally:
            self.open -= 1
            self._gathered.clear()
            if not self.open:
                self.forward_order.end()
                self.drop()

    @contextmanager
    def summon(self, writeback: bool) -> Iterator[None]:
        """A block around code that reads whole parameters, or, with writeback, changes them."""
        if self.pinned:
            yield
            return
        self.open += 1
        self.pinned = True
        for hook in self._hooks:                     # so that copies and pickles of the module have none
            hook.remove()
        try:
            for unit in self.units:
                if unit.flat is None:
                    self.gather(unit)
            self.agree(SUMMON)
            yield
        finally:
            self.open -= 1
            self.pinned = False
            self.forward_order.seen = []
            self._gathered.clear()
            if writeback:
                self._write_back()
            self._register_hooks()
            if not self.open:
                self.drop()

    def _write_back(self) -> None:
        """Copy this rank's elements of the changed values into its slices."""
        for unit in self.units:
            if unit.flat is not None:
                for i, s in enumerate(unit.slices):
                    s.array[...] = unit.flat[unit.first:unit.last][unit.local_part(i)].reshape(s.array.shape)
        self.version += 1

    # --- what forward saves ---------------------------------------------------------------------------------------------

    def pack(self, tensor: Tensor) -> Any:
        """The saved form of a tensor: its location if it is in a unit's values, else its array."""
        array = tensor.array
        if isinstance(array, ShardedArray) and array.unit in self.units:
            offset = array.unit.parts[array.number].start * array.itemsize
            return SavedView(array.unit, offset, array.shape, None, array.dtype, self.version)
        unit = self.owners.get(id(array if array.base is None else array.base))
        if unit is None or unit.flat is None:
            counter = shared_counter(tensor)
            return SavedArray(array, counter, counter.saved())
        offset = array.__array_interface__["data"][0] - unit.flat.__array_interface__["data"][0]
        return SavedView(unit, offset, array.shape, array.strides, array.dtype, self.version)

    def unpack(self, saved: Any) -> Tensor:
        """The saved tensor; its values are gathered if they are not on this rank."""
        if isinstance(saved, SavedArray):
            counter: Any = saved.counter
            if counter.saved() != saved.version:
                return result(recalled("a sharded module", counter, saved.array, saved.version, "a tensor"))
            tensor = result(saved.array)
            tensor.counter = counter
            return tensor
        if saved.version != self.version:
            raise RuntimeError(f"parameters ({', '.join(saved.unit.names)}) have been modified by an optimizer step or "
                               "load_state_dict() since the forward pass whose backward runs now")
        if saved.unit.flat is None:
            self.gather(saved.unit)
        assert saved.unit.flat is not None
        return result(np.ndarray(saved.shape, saved.dtype, saved.unit.flat, saved.offset, saved.strides))
