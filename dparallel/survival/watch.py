"""Checks that a training loop matches its run.keep() and run.step(): what trains is kept, and no change is made where a
death would undo or repeat it. Mistakes are found at the first step that shows them.
"""

from __future__ import annotations

import gc
import warnings
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from autograd.base.training import listeners
from autograd.nn import Module
from autograd.optim import Optimizer
from autograd.optim.lr_scheduler import LRScheduler
from autograd.optim.optimizer import register_optimizer_step_pre_hook
from autograd.utils.data import DataLoader
from autograd.utils.data.fetch import stateful
from autograd.utils.data.resume import chain

from ..autograd import Tensor
from ..checkpoint.parts import Loader, OptimizerState, Part, position
from ..comm import Communicator
from ..comm.watchdog.call_site import user_site
from ..model.data_parallel import DataParallel
from ..sharding import ParameterSlice

FUNCTIONS = (FunctionType, BuiltinFunctionType)
MANY, MOST = 64, 4000                # larger containers are not searched, nor anything after this many objects
LONG = 16                            # optimizer steps and batches without a run.step()
SAMPLE = 64                          # elements at each end of an array or list that are compared over ranks
HEAP_TYPE = 1 << 9                   # Py_TPFLAGS_HEAPTYPE
SIZES = ("num_replicas", "world_size", "num_ranks")          # attributes beside `rank`

MSG_MISSING = ("{who} {does}, and run.keep() did not get it: when a rank dies, {lost}. Pass {name}=, a list if there are "
               "several")
LOST = {"optimizer": ("takes steps on parameters of a kept model", "its state is lost"),
        "scheduler": ("sets the learning rate of a kept optimizer", "its count of steps begins again"),
        "scaler": ("scales losses", "its scale is lost"),
        "average": ("averages weights", "the average is lost")}
MSG_PARAMETERS = ("{who} trains a parameter of shape {shape} that is in no model, tensor or list that run.keep() got: when "
                  "a rank dies, its values are lost. Pass model=, a list if there are several")
MSG_LOADER = ("run.step() was called within a pass over a DataLoader of a {data} that run.keep() did not get: when a rank "
              "dies, the pass begins again, and samples are seen twice. Pass loader=, a list if there are several")
MSG_LATE = ("{who}.step() was called after run.step(): when a rank dies in the next step, that change is undone and not "
            "made again. Call run.step() last, after optimizer.step(), the schedule, the scaler and counters")
MSG_NO_STEP = ("{who} has taken {count} steps, and run.step() was not called: when a rank dies, training begins again with "
               "step {steps}. Call run.step() after each optimizer step")
MSG_STALE = ("{name} has the communicator of ranks of which one has died: make it in the function under survive(), where "
             "world() is that of the ranks that are left")
MSG_BEFORE = ("{name} was made before the function under survive(), for the {size} ranks of then: when a rank dies it would "
              "keep their shares, and samples would be left out. Make it in the function")
MSG_APART = ("{name}= has other samples, or another order, on each rank, and no sampler that counts the samples of all "
             "ranks: what a dead rank had left can't be divided, so {what}. Use a GlobalBatchSampler or DistributedSampler")
MSG_SHARE = ("{name} has the share of rank {rank} of {size}, and this is rank {now} of {ranks} since a rank has died: make "
             "it in the function under survive()")


def contents(thing: Any) -> Iterator[Any]:
    """The objects that an object holds and that may hold a communicator. Likely ones come last, and are searched first."""
    if isinstance(thing, DataParallel):             # everything else in it consists of these two
        yield from (thing.module, thing.comm)
    elif isinstance(thing, DataLoader):
        yield from (thing.collate_fn, thing.dataset, thing.sampler, thing.batch_sampler)
    elif isinstance(thing, Optimizer):               # not the parameters, which it does not hold
        yield from (value for name, value in vars(thing).items() if name not in ("param_groups", "state"))
    elif isinstance(thing, LRScheduler):             # whose optimizer is a separate part
        yield from (value for name, value in vars(thing).items() if name != "optimizer")
    elif isinstance(thing, dict):
        yield from thing.values() if len(thing) <= MANY else ()
    elif isinstance(thing, (list, tuple, set, frozenset)):
        yield from thing if len(thing) <= MANY else ()
    elif not isinstance(thing, (type, ModuleType, Tensor, np.ndarray, Communicator)):
        if callable(thing) and hasattr(thing, "__self__"):
            yield thing.__self__
        for held in vars(thing).values() if hasattr(thing, "__dict__") else ():
            yield from held.values() if isinstance(thing, Module) and isinstance(held, dict) else (held,)
        for cls in type(thing).__mro__:
            slots = cls.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                yield getattr(thing, name, None)


def reachable(things: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """These objects and all that they hold, each once, with its holder; a communicator with each of its holders."""
    seen: set[int] = set()
    waiting = [(thing, None) for thing in things][::-1]
    while waiting and len(seen) < MOST:
        thing, holder = waiting.pop()
        if isinstance(thing, Communicator):
            yield thing, holder
            continue
        if id(thing) in seen or isinstance(thing, (str, bytes, int, float, complex, type(None), *FUNCTIONS)):
            continue
        seen.add(id(thing))
        yield thing, holder
        waiting.extend((one, thing) for one in contents(thing))


def share_of(thing: Any) -> tuple[int, int] | None:
    """The (rank, size) for which a sampler or dataset was made; None for anything else."""
    if not (hasattr(type(thing), "__iter__") or hasattr(type(thing), "__getitem__")):
        return None
    found = getattr(thing, "__dict__", {})
    sizes = [found[name] for name in SIZES if isinstance(found.get(name), int)]
    rank = found.get("rank")
    return (rank, sizes[0]) if sizes and isinstance(rank, int) else None


def communicator_in(thing: Any) -> Any:
    """The communicator that an object is, or represents."""
    found = getattr(thing, "__dict__", {}).get("communicator")
    return thing if isinstance(thing, Communicator) else found if isinstance(found, Communicator) else None


class Earlier:
    """All objects of classes written in Python, or created at run time, that exist now, kept alive: the garbage collector
    lists them (50 ms)."""

    def __init__(self) -> None:
        self._there: dict[int, Any] = {id(thing): thing for thing in gc.get_objects() if type(thing).__flags__ & HEAP_TYPE}

    def has(self, thing: Any) -> bool:
        """Whether it existed then."""
        return self._there.get(id(thing)) is thing


def things_of(parts: Mapping[str, Part]) -> dict[str, Any]:
    """The objects of parts."""
    return {name: getattr(part, field) for name, part in parts.items() for field in ("model", "optimizer", "thing")
            if hasattr(part, field)}


def misplaced(parts: Mapping[str, Part], earlier: Earlier | None, comm: Communicator, before: tuple[int, int] | None) -> str:
    """What is wrong with the ranks for which the parts were created; "" if nothing. earlier: the objects before the
    function's first call (None: no part is among them); before: this process's rank and size then."""
    def was_there(thing: Any) -> bool:
        return earlier is not None and comm.size > 1 and earlier.has(thing)

    now = comm.rank, comm.size
    for name, part in things_of(parts).items():
        for thing, holder in reachable([part]):
            found, share = communicator_in(thing), share_of(thing)
            if found is not None:
                shown = f"the {type(thing if holder is None else holder).__name__} in {name}="
                if getattr(found, "abandoned", False):
                    return MSG_STALE.format(name=shown)
                if was_there(holder):
                    return MSG_BEFORE.format(name=shown, size=found.size)
            elif share is not None and comm.size > 1:
                shown = f"the {type(thing).__name__} in {name}="
                if share == now and was_there(thing):
                    return MSG_BEFORE.format(name=shown, size=share[1])
                if share == before != now:
                    return MSG_SHARE.format(name=shown, rank=share[0], size=share[1], now=comm.rank, ranks=comm.size)
    return ""


def shares(parts: Mapping[str, Part]) -> dict[str, int]:
    """A checksum of each kept loader's samples and order, without loaders that count all ranks' samples."""
    found = {}
    for name, part in parts.items():
        if isinstance(part, Loader) and not counts_all(part.thing):
            numbers = [held for thing, _ in reachable([part.thing]) if (held := numbers_in(thing))]
            found[name] = zlib.crc32(repr(numbers).encode())
    return found


def counts_all(loader: Any) -> bool:
    """Whether the state of a loader or sampler contains the number of samples of all ranks together."""
    loaders = [thing for thing, _ in reachable([loader]) if isinstance(thing, DataLoader)]
    chains = [chain(one._index_sampler) for one in loaders] or [[loader]]
    return all(any(stateful(one) and position(one.state_dict()) is not None for one in samplers) for samplers in chains)


def numbers_in(thing: Any) -> Any:
    """Some of the numbers that an object holds itself: attributes except seeds, or elements at both ends."""
    if isinstance(thing, (Communicator, DataLoader)):
        return None
    array = thing.array if isinstance(thing, Tensor) else thing
    if isinstance(array, np.ndarray):
        return array.shape, array.flat[:SAMPLE].tolist(), array.flat[-SAMPLE:].tolist()
    if isinstance(thing, (list, tuple, range)):
        return len(thing), [one for one in (*thing[:SAMPLE], *thing[-SAMPLE:]) if type(one) is int]
    return [(name, value) for name, value in getattr(thing, "__dict__", {}).items()
            if type(value) is int and "seed" not in name]


def untrained(parts: Mapping[str, Part]) -> str:
    """An optimizer whose parameters are not kept; "" if there is none."""
    things = list(things_of(parts).values())
    kept = {id(p) for p in _tensors([*(thing for thing, _ in reachable(things)), *_items(things)])}
    optimizers = [part.optimizer for part in parts.values() if isinstance(part, OptimizerState)]
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            for p in group["params"]:
                if id(p) not in kept and not (isinstance(p, ParameterSlice) and id(p.whole) in kept):
                    return MSG_PARAMETERS.format(who=type(optimizer).__name__, shape=list(p.shape))
    return ""


class Watch:
    """Follows the steps of a run from run.keep() on. run.step() calls finish_step(), which raises the recorded errors."""

    def __init__(self, parts: Mapping[str, Part], steps: int) -> None:
        things = list(things_of(parts).values())
        self.optimizers: list[Any] = [part.optimizer for part in parts.values() if isinstance(part, OptimizerState)]
        self.loaders: list[Any] = [thing for thing in things if isinstance(thing, DataLoader)]
        self._held = {id(thing): thing for thing, _ in reachable(things)}        # kept objects, and the objects in them
        self._params = {id(p) for p in _tensors([*self._held.values(), *_items(things)])}
        self.steps: int = steps                      # completed ones
        self._first = steps
        self._taken: dict[int, int] = {}             # by the kept optimizers since the last completed step
        self._batches = 0                            # of kept loaders, since then
        self._passes: dict[int, Any] = {}            # over kept loaders, of their newest batches
        self._new_pass = False                       # one has begun since the last completed step
        self._late: Any = None                       # a schedule that has stepped since the last completed step, too early
        self._was_late = False                       # likewise in the previous step
        self._leads = False                          # it begins each step, including the first
        self._foreign: dict[int, tuple[Any, int]] = {}       # passes over other loaders, and the step of their newest batch
        self._strangers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()   # other optimizers, and when
        self._problem = ""
        self._warned: set[str] = set()
        self._handle = register_optimizer_step_pre_hook(self._optimizer_steps)
        listeners.append(self._hear)

    def end(self) -> None:
        """Stop following the run."""
        self._handle.remove()
        if self._hear in listeners:
            listeners.remove(self._hear)

    def finish_step(self) -> None:
        """Called by run.step(). RuntimeError for the recorded errors."""
        if self._late is not None and self._batches and not self._new_pass:
            self._problem = self._problem or MSG_LATE.format(who=type(self._late).__name__)
        elif self._late is not None and self._was_late and not self.loaders and not self._leads:  # each step may be a pass
            self._warn(MSG_LATE.format(who=type(self._late).__name__))
        if self._problem:
            self.end()
            raise RuntimeError("survive(): " + self._problem)
        self._leads = self._leads or (self._late is not None and self.steps == self._first)
        self._was_late, self._late = self._late is not None, None
        self.steps += 1
        self._taken.clear()
        self._batches, self._new_pass = 0, False

    def finish(self) -> None:
        """Called when the function has returned."""
        self.end()
        if self._taken:
            self._warn_of_no_step()

    # --- events ---------------------------------------------------------------------------------------------------------

    def _optimizer_steps(self, optimizer: Any, *_: Any) -> None:
        if id(optimizer) in self._held:
            if any(optimizer is one for one in self.optimizers):
                self._taken[id(optimizer)] = self._taken.get(id(optimizer), 0) + 1
                if len(self._taken) == len(self.optimizers) and min(self._batches, *self._taken.values()) >= LONG:
                    self._warn_of_no_step()
        elif not any(one._stepping for one in self.optimizers):              # otherwise it is inside a kept one
            if any(id(p) in self._params for group in optimizer.param_groups for p in group["params"]):
                self._missing("optimizer", optimizer)
                return
            if self._strangers.setdefault(optimizer, self.steps) < self.steps:       # not one of a single step
                self._warn(MSG_PARAMETERS.format(who=type(optimizer).__name__,
                                                 shape=list(optimizer.param_groups[0]["params"][0].shape)))

    def _hear(self, what: str, thing: Any) -> None:
        if what == "batch":
            self._batch(thing)
        elif id(thing) in self._held:
            if what == "scheduler" and not self._taken and not self._batches:
                self._late = thing
        elif what != "scheduler" or (not thing._is_initial and any(thing.optimizer is one for one in self.optimizers)):
            self._missing(what, thing)

    def _batch(self, iterator: Any) -> None:
        progress = iterator.progress
        for loader in self.loaders:
            if loader._progress is progress:
                before, self._passes[id(loader)] = self._passes.get(id(loader)), progress
                if before is not progress:
                    self._new_pass = True
                    if before is not None and before.finished and self._taken:
                        self._warn_of_no_step()
                self._batches += 1
                return
        _, step = self._foreign.get(id(progress), (progress, self.steps))
        samplers = iterator.sampler, getattr(iterator.sampler, "sampler", None)
        if step == self.steps - 1 and not any(id(sampler) in self._held for sampler in samplers if sampler is not None):
            self._warn(MSG_LOADER.format(data=type(iterator.dataset).__name__))
        self._foreign = {id(progress): (progress, self.steps)} | {
            key: entry for key, entry in self._foreign.items() if entry[1] >= self.steps - 1 and key != id(progress)}

    def _missing(self, what: str, thing: Any) -> None:
        does, lost = LOST[what]
        text = MSG_MISSING.format(who=type(thing).__name__, does=does, lost=lost, name=what)
        if what == "average":                        # which may be created only for an evaluation
            self._warn(text)
        else:
            self._problem = self._problem or text

    def _warn_of_no_step(self) -> None:
        if self.steps > self._first:                 # what one calls a step is the script's decision
            return
        who = type(self.optimizers[0]).__name__ if self.optimizers else "an optimizer"
        self._warn(MSG_NO_STEP.format(who=who, count=max(self._taken.values()), steps=self.steps), once="no step")

    def _warn(self, text: str, once: str = "") -> None:
        if (once or text) not in self._warned:
            self._warned.add(once or text)
            warn(text)


def _items(things: Iterable[Any]) -> Iterator[Any]:
    """The items of containers, however many."""
    for thing in things:
        if isinstance(thing, (list, dict)):
            yield from thing.values() if isinstance(thing, dict) else thing


def _tensors(things: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among these objects, and the parameters of the modules among them."""
    for thing in things:
        if isinstance(thing, Tensor):
            yield thing
        elif isinstance(thing, Module):
            yield from thing.parameters()


def warn(text: str) -> None:
    """Warn at the line of the user's call."""
    site = user_site()
    file, line = ("survive()", 1) if site is None else (site.file, site.line)
    warnings.warn_explicit("survive(): " + text, UserWarning, file, line)
