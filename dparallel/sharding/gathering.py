"""Gathering: the values of stage 3's parameters are gathered shortly before use and dropped afterwards.

A module's forward pre-hook gathers its parameters' units. A parameter that another module reads (a tied output layer)
gathers its unit when its ShardedArray is used. Either drops the previous unit, and starts to gather the one that followed in
the last pass. Forward saves a parameter's location, not its values; backward gathers them again.

All ranks gather the same units in the same order, although they may use different ones. At the start and the end of a pass
they exchange what they do next, and wait for each other. A request to gather names the next AHEAD units of the last pass. If
all ranks request the same ones, they gather these without further messages; else the first unit of each. With the last of
these units they send their next requests, and read the others' when they need another unit. A rank that needs a unit out of
order first gathers those that are agreed on. So the order depends on requests only, never on time; a wrong expectation
costs AHEAD gathers at most, and ranks that diverge meet in an exchange, which raises.

Ranks of one host copy each other's slices from shared memory. Such a gather sends nothing and takes no time before its
values are needed, but keeps the same order, so that the exchanges ensure that slices do not change while others read them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import dropwhile, takewhile
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

GATHER, COUNT, FORWARD, BACKWARD, SUMMON, ENTER_COLLECTIVE, START_OVER = range(7)  # what a rank begins next
OPERATIONS = ("gather parameters", "sum the weights of a backward pass", "end forward", "end backward",
              "end summon_full_params() or state_dict()", "call a collective of the module",
              "start a backward pass after one that has failed")

AHEAD = 4                            # units on which ranks agree at once: few, as no rank is further ahead of another one


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
    """The order in which a kind of pass needs units, learned from the last one. None: ranks wait for each other there."""

    def __init__(self) -> None:
        self.expected: list[Unit | None] = []
        self.seen: list[Unit | None] = []
        self._at = 0                                 # the position in `expected` after the last needed unit

    def begin(self) -> None:
        """Begin a pass."""
        self.seen, self._at = [], 0

    def need(self, unit: Unit | None) -> None:
        """Record that a unit is needed now. Units before it in the expected order were not needed."""
        self.seen.append(unit)
        if unit in self.expected[self._at:]:
            self._at = self.expected.index(unit, self._at) + 1

    def next(self) -> Unit | None:
        """The unit that will probably be needed next."""
        return next((unit for unit in self.expected[self._at:] if unit is not None), None)

    def after(self, unit: Unit) -> Unit | None:
        """The unit that will probably be needed after `unit`, which is gathered now; None if ranks wait before that."""
        ahead = self.expected[self._at:self._at + 2]
        if ahead and ahead[0] is unit:
            del ahead[0]
        return ahead[0] if ahead else None

    def plan(self, first: Unit) -> list[Unit]:
        """`first`, needed now or later, and the units that will probably be needed after it, until ranks wait."""
        ahead = self.expected[self._at:]
        if first is not self.seen[-1] and first in ahead:
            if None in ahead[:ahead.index(first)]:
                return [first]
            ahead = ahead[ahead.index(first) + 1:]
        return [first, *takewhile(bool, ahead[:AHEAD - 1])]      # type: ignore[list-item]

    def end(self) -> None:
        """End the pass."""
        if any(self.seen):
            self.expected = self.seen
        self.begin()


class Gathering:
    """The values of all units of a module on one rank. `open`: the number of open forwards and summon_full_params()
    blocks."""

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm
        self.units: list[Unit] = []
        self.shared: bool = False                    # whether ranks read each other's slices in shared memory
        self.open: int = 0
        self.pinned: bool = False
        self.version: int = 0                        # grows when slices change
        self.owners: dict[int, Unit] = {}            # id of the memory -> whose values it is
        self.forward_order: UnitOrder = UnitOrder()
        self.backward_order: UnitOrder = UnitOrder()
        self.summon_order: UnitOrder = UnitOrder()
        self.order: list[int] = []                   # of units in the last forward: the same on all ranks
        self.peak: int = 0                           # the largest size of gathered values, in bytes
        # how many sums over ranks a failed backward pass has left, and what to do if some rank has any (the transport's)
        self.left_sums: Callable[[], int] = lambda: 0
        self.settle: Callable[[bool], None] = lambda same: None
        self._agreed: deque[Unit] = deque()          # all ranks gather these next
        self._flights: deque[tuple[Unit, Any]] = deque()             # units that are being gathered, and handles
        self._announced: Any = None                  # the handle of what all ranks begin after the last flight
        self._plan: Sequence[Unit] = ()              # what this rank has requested with it
        self._failed: bool = False                   # whether a forward has ended in an exception
        self._gathered: list[int] = []               # by number, since the last end of a forward or backward
        self._readers: dict[Module, tuple[Unit, ...]] = {}           # modules, and the units of parameters that they hold
        self._hooks: list[RemovableHandle] = []
        self._walk: Any = None                       # the backward pass at whose end all values are dropped
        self.counted: Any = None                     # the pass at whose end all ranks have been, to sum its weights

    def watch(self, module: Module, units: list[Unit]) -> None:
        """Set the units of `module`: calls of it, and of its submodules, will gather the units that they hold."""
        self.units, self.shared = units, all(unit.pieces for unit in units)
        self.forward_order.expected, self.summon_order.expected = [*units], [*units]
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

    @property
    def _order(self) -> UnitOrder:
        """The order of the pass that runs now."""
        return (self.summon_order if self.pinned else self.forward_order if current_pass() is None else self.backward_order)

    def gather(self, *units: Unit) -> None:
        """Gather the values of units; those of others are dropped."""
        missing = [unit for unit in units if unit.flat is None]
        if not missing:
            self.progress()
            return
        walk = current_pass()
        if not self.open and walk is None:
            raise RuntimeError(f"the values of {missing[0].names[0]!r} are in slices over {self.comm.size} ranks; they are "
                               "gathered only during forward and backward of the DataParallel. Use model.state_dict(), or "
                               "`with model.summon_full_params():`, on all ranks together")
        if walk is not None:
            self.enter_backward(walk)
        order = self._order
        for unit in missing:
            order.need(unit)
            following = order.next()
            if not self.pinned:
                self.drop(units, (*units, following))
            while unit.fetched is None:
                if not self._flights:
                    self._start_next(unit, order)
                self._land((unit, following))
            flat, unit.fetched = unit.fetched, None
            unit.unshard(flat)
            self.owners[id(flat if flat.base is None else flat.base)] = unit
            if following is not None and following.flat is None and following.fetched is None and not self._flights:
                self._start_next(following, order)
        here = [unit for unit in self.units if unit.flat is not None or unit.fetched is not None]
        self.peak = max(self.peak, sum(unit.nbytes for unit in here)
                        + sum(unit.nbytes for unit, _ in self._flights if not unit.pieces))

    def _start_next(self, unit: Unit, order: UnitOrder) -> None:
        """Start to gather what all ranks gather next: `unit`, unless they have agreed on others before it was requested."""
        while not self._agreed:
            self._agree(GATHER, order.plan(unit))
        if len(self._agreed) > 1:
            self._start()
            return
        following = order.after(unit) if self._agreed[0] is unit else unit
        self._start([] if following is None else order.plan(following))

    def _start(self, following: Sequence[Unit] = ()) -> None:
        """Start to gather the next unit. With the last one that is agreed on, request the following ones."""
        unit = self._agreed.popleft()
        self._flights.append((unit, unit.start_known_gather()))
        self._gathered.append(unit.number)
        if not self._agreed:
            self._announce(GATHER if following else COUNT, following)

    def _announce(self, operation: int, plan: Sequence[Unit]) -> None:
        """Start to send all ranks what this one begins next, and the units that it then needs."""
        left = self.left_sums() if operation in (FORWARD, START_OVER) else 0
        row = operation, plan[0].number if plan else 0, hash(tuple([unit.number for unit in plan])), left
        self._plan, self._announced = plan, self.comm.start_known("allgather", np.array(row), [len(row)] * self.comm.size)

    def _agree(self, operation: int, plan: Sequence[Unit] = ()) -> list[list[int]] | None:
        """Let all ranks gather next what they have requested: their plan, if it is the same, else the first unit of each.
        Without requests, wait until all ranks begin something. Returns what, if none requests a unit."""
        waits = self._announced is None
        if self._announced is None:
            for unit in self.units:
                unit.update_local()
            self._announce(operation, plan)
        rows = self._announced.wait().reshape(self.comm.size, -1).tolist()
        plan, self._announced = self._plan, None
        requested = sorted({number for kind, number, *_ in rows if kind == GATHER})
        same = all(row[:3] == rows[0][:3] for row in rows)
        self._agreed.extend(plan if same else (self.units[number] for number in requested))
        return rows if waits and not requested else None

    def agree(self, operation: int, recorded: bool = False) -> None:
        """Gather for other ranks until all begin this operation. CollectiveError, on all ranks, if they begin different
        ones. recorded: backward will probably follow the forward that ends."""
        order = self._order
        order.need(None)
        plan: list[Unit] = []
        if recorded:                                 # backward begins with the units that forward leaves
            ahead = dropwhile(lambda unit: unit is None or unit.flat is not None, self.backward_order.expected)
            plan = list(takewhile(bool, ahead))[:AHEAD]          # type: ignore[assignment]
        announced = None
        while announced is None:
            self._run_down((order.next(),))          # before other ranks may change their slices
            announced = self._agree(operation, plan)
        if any(kind != operation for kind, *_ in announced):
            words = "; ".join(f"rank {rank} is about to {OPERATIONS[kind]}" for rank, (kind, *_) in enumerate(announced))
            raise CollectiveError(f"the ranks of a DataParallel with shard='parameters' diverge: {words}")
        if operation != ENTER_COLLECTIVE:
            self.order = list(dict.fromkeys(self._gathered)) if operation == FORWARD else self.order
            self._gathered = []
        left = {row[3] for row in announced}
        if left != {0}:
            self.settle(len(left) == 1)

    def _run_down(self, keep: Collection[Unit | None] = ()) -> None:
        """Gather all units that are agreed on, and keep the values of some."""
        while self._agreed or self._flights:
            if not self._flights:
                self._start()
            self._land(keep)

    def _land(self, keep: Collection[Unit | None]) -> None:
        """Wait for the values of the unit whose gathering has begun first, and keep those of some units."""
        unit, handle = self._flights.popleft()
        wanted = unit.flat is None and unit in keep
        flat = handle.wait() if wanted or not unit.pieces else None
        if wanted:
            unit.fetched = flat

    def progress(self) -> None:
        """Progress the gathering of the next unit: MPI transfers data only while it is called."""
        if self._flights and not self.shared:
            self._flights[-1][1].done()

    def start_over(self) -> None:
        """Complete and discard what a failed pass has left: its values may be older than an optimizer step."""
        self._failed = False
        self._run_down()
        while self._announced is not None:
            self._agree(COUNT)
            self._run_down()

    def drop(self, but: Collection[Unit | None] = (), fetched: Collection[Unit | None] = ()) -> None:
        """Drop the values of all units but some, and of some that are not in use yet."""
        for unit in self.units:
            if unit.flat is not None and unit not in but:
                unit.reshard()
            if unit.fetched is not None and unit not in fetched:
                unit.fetched = None
        self.owners = {memory: unit for memory, unit in self.owners.items() if unit.flat is not None}

    def enter_backward(self, walk: Any) -> None:
        """A backward pass that uses the module has begun, if `walk` is a new one; drop all at its end."""
        if walk is self._walk:
            return
        if (self._failed and not self.open) or self._walk is not None:
            self.start_over()
        self._walk = walk
        self.backward_order.begin()
        if not self.backward_order.expected:
            self.backward_order.expected = self.forward_order.expected[::-1]
        if not self.shared:
            walk.meanwhile.append(self.progress)
        queue_callback(self._backward_ends)

    def _backward_ends(self) -> None:
        if self.counted is not self._walk:
            self.agree(BACKWARD)
        self._walk = self.counted = None
        self.backward_order.end()
        if not self.pinned and not self.open:
            self.drop()

    # --- forward --------------------------------------------------------------------------------------------------------

    @contextmanager
    def forward(self, recorded: bool) -> Iterator[None]:
        """A block around a call of the module."""
        if not self.open and current_pass() is None:
            self.start_over()
            self.drop()
            self.forward_order.begin()
        last: list[Unit] = []
        self.open += 1
        self._failed = True
        try:
            with SavedValues(self.pack, self.unpack) if recorded else nullcontext():
                yield
            self.agree(FORWARD, recorded)
            self._failed = False
            if not self.open - 1:
                self.forward_order.end()
                last = [unit for unit in self.units if unit.flat is not None and recorded]
        finally:
            self.open -= 1
            if not self.open:
                kept = [unit.flat for unit in last]
                self.drop()
                for unit, flat in zip(last, kept, strict=True):
                    unit.fetched = flat              # backward begins with it

    @contextmanager
    def summon(self, writeback: bool) -> Iterator[None]:
        """A block around code that reads whole parameters, or, with writeback, changes them."""
        if self.pinned:
            yield
            return
        if not self.open and current_pass() is None:
            self.start_over()
        self.open += 1
        self.pinned = True
        self.summon_order.begin()
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
