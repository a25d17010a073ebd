"""The parts of a run's state: how each is saved, which rank's state a rank restores, and how.

On as many ranks as saved each rank restores its own. On another number equal parts are everyone's; for others see each part.
"""

from __future__ import annotations

import copy
import itertools
from collections import OrderedDict
from typing import Any, Protocol

import numpy as np

from autograd.core.graph import shared_counter
from autograd.core.tensor import result
from autograd.kernels.halves import copy_into
from autograd.modes.random import Generator
from autograd.nn import Module
from autograd.optim import Optimizer
from autograd.utils.data import DataLoader
from autograd.utils.data.streams import KINDS, SharedStates, portable, restore, shared_streams, states

from ..autograd import Tensor
from ..model.data_parallel import DataParallel
from ..sharding import ParameterSlice, ZeroRedundancyOptimizer
from ..sharding.optimizer_state import is_slice, local_state
from .encoding import Leaf, Slice, read_leaves
from .errors import CheckpointError

COUNTERS = ("skipped_steps", "forwards")             # of a DataParallel
SCALARS = frozenset((int, float, bool, str, bytes, complex, type(None)))


class SavedStates(Protocol):
    """The states of `ranks` ranks: a checkpoint (reading.Saved), or what survivors of a loss have (survival.memory)."""

    title: str
    ranks: int

    def part(self, part: str, rank: int) -> Any:
        """The part of a rank's state, as a nested state whose arrays may be Leafs."""


class Part(Protocol):
    """One part of the state."""

    own: bool                                        # whether each rank saves its own, without a comparison

    def take(self) -> Any:
        """The state of this rank, as nested containers of numbers, strings, tensors and Slices; nothing is copied."""

    def choose(self, name: str, saved: SavedStates, rank: int, size: int) -> Any:
        """Read what this rank of `size` restores. Not collective."""

    def put(self, state: Any) -> None:
        """Restore what choose() returned. Not collective."""

    def finish(self) -> None:
        """Called after all parts were restored. Collective."""

    def small(self) -> Any:
        """A copy of all that may change without optimizer.step(): all but weights and an optimizer's arrays."""

    def whole(self, small: Any) -> Any:
        """The result of take() at the time of small(), if no optimizer has taken a step since."""


class Plain:
    """An object with state_dict() and load_state_dict(): a scheduler, a GradScaler, a user's object."""

    own = False

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def take(self) -> Any:
        """The state_dict() of the object."""
        return self.thing.state_dict()

    def choose(self, name: str, saved: SavedStates, rank: int, size: int) -> Any:
        """Of states that differed, rank r of another number of ranks takes that of rank r modulo the old number."""
        return read_leaves(saved.part(name, rank % saved.ranks))

    def put(self, state: Any) -> None:
        """Call its load_state_dict()."""
        self.thing.load_state_dict(state)

    def finish(self) -> None:
        """Nothing remains to be done."""

    def small(self) -> Any:
        """All of it."""
        return copied(self.take())

    def whole(self, small: Any) -> Any:
        """The copy that small() made."""
        return small


class Container(Plain):
    """A user's dict or list, whose contents are replaced in place."""

    def take(self) -> Any:
        """The container, not a copy."""
        return self.thing

    def put(self, state: Any) -> None:
        """Replace the contents; tensors and arrays that fit are overwritten in place."""
        if isinstance(self.thing, dict):
            new = {key: _in_place(self.thing.get(key), value) for key, value in state.items()}
            self.thing.clear()
            self.thing.update(new)
        else:
            self.thing[:] = [_in_place(old, new) for old, new in itertools.zip_longest(self.thing[:len(state)], state)]


class Values(Plain):
    """A user's Tensor or array, overwritten in place."""

    def take(self) -> Any:
        """The values, under a name."""
        return {"values": self.thing}

    def put(self, state: Any) -> None:
        """Overwrite the values. ValueError if shapes or dtypes differ."""
        if _in_place(self.thing, state["values"]) is not self.thing:
            saved = state["values"]
            raise ValueError(f"it was saved as {saved.dtype} {list(saved.shape)}, and is {self.thing.dtype} "
                             f"{list(self.thing.shape)}")


def _in_place(old: Any, new: Any) -> Any:
    """`old` with the values of `new` if that is possible, else `new`."""
    here, there = (x.array if isinstance(x, Tensor) else x if isinstance(x, np.ndarray) else None for x in (old, new))
    if here is None or there is None or (here.shape, here.dtype) != (there.shape, there.dtype):
        return new
    np.copyto(here, there)
    if isinstance(old, Tensor):
        shared_counter(old).value += 1
    return old


class Stream(Plain):
    """A user's Generator, or one of NumPy or Python."""

    def take(self) -> Any:
        """The position of the stream."""
        return portable(states({"stream": self.thing}))

    def put(self, state: Any) -> None:
        """Continue from this position."""
        restore({"stream": self.thing}, state)


class SharedStreams:
    """Each rank's default random streams: autograd's, Python's, NumPy's.

    On another number of ranks all get the same if all had, or one was saved, since common decisions may be drawn from it.
    Otherwise saved ranks keep theirs, and others get a stream drawn from their number and rank 0's state.
    """

    own = True

    def __init__(self) -> None:
        self._states = SharedStates()

    def take(self) -> Any:
        """The positions of the streams."""
        return portable(states(shared_streams()))

    def choose(self, name: str, saved: SavedStates, rank: int, size: int) -> Any:
        """The streams of this rank, as the class describes."""
        if rank < saved.ranks:
            return read_leaves(saved.part(name, rank))
        everyone = [read_leaves(saved.part(name, other)) for other in range(saved.ranks)]
        first = everyone[0]
        if all(_same(first, other) for other in everyone[1:]):
            return first
        seed = np.random.SeedSequence([int.from_bytes(first["default"].array.tobytes(), "little"), rank])
        words = [int(word) for word in seed.generate_state(3, np.uint64)]
        new = {"default": Generator().manual_seed(words[0]), "random": type(_python_stream())(words[1]),
               "numpy": np.random.RandomState(words[2] % 2**32)}
        return portable(states(new))

    def put(self, state: Any) -> None:
        """Continue the streams from that state."""
        restore(shared_streams(), state)

    def finish(self) -> None:
        """Nothing remains to be done."""

    def small(self) -> Any:
        """The positions of the streams."""
        return self._states.read()

    def whole(self, small: Any) -> Any:
        """As take() returned them."""
        return portable(small)


def _python_stream() -> Any:
    return shared_streams()["random"].Random()


def _same(a: Any, b: Any) -> bool:
    """Whether two states of streams are equal."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Tensor):
        return a.array.tobytes() == b.array.tobytes()
    return bool(a == b)


class Model:
    """A Module or DataParallel: parameters, persistent buffers, extra state, a comm hook's state, counters.

    On another number of ranks or with other sharding, buffers that differed are rank 0's; parameters that differed
    (parameters_to_ignore, local SGD between two averages) are an error.
    """

    own = False

    def __init__(self, model: Module) -> None:
        self.model = model
        self.module: Any = model.module if isinstance(model, DataParallel) else model
        self._buffers: list[tuple[str, dict[str, Any], str]] | None = None     # name, whose, by which key; see small()

    def take(self) -> Any:
        """The module's state as stored on this rank."""
        held = self.model.local_state() if isinstance(self.model, DataParallel) else self.model.state_dict(keep_vars=True)
        state: Any = OrderedDict((name, _sliced(value)) for name, value in held.items())
        if hasattr(held, "_metadata"):
            state._metadata = held._metadata
        hook = self._hook
        return {"module": state, "hook": None if hook is None else hook.state_dict(), "counters": self._counters()}

    @property
    def _hook(self) -> Any:
        """The state of the comm hook, if it can be saved."""
        hook = self.model.comm_hook if isinstance(self.model, DataParallel) else None
        state = None if hook is None else hook.state
        return state if hasattr(state, "state_dict") and hasattr(state, "load_state_dict") else None

    def _counters(self) -> dict[str, int]:
        model = self.model
        return {name: getattr(model, name) for name in COUNTERS} if isinstance(model, DataParallel) else {}

    def choose(self, name: str, saved: SavedStates, rank: int, size: int) -> Any:
        """This rank's values: its slices of sharded parameters, and the whole of the others."""
        same = size == saved.ranks
        given = saved.part(name, rank if same else 0)
        slices = {} if not isinstance(self.model, DataParallel) else {
            key: value.shard for key, value in self.model.local_state().items() if isinstance(value, ParameterSlice)}
        parameters = {key for key, _ in self.module.named_parameters()}
        state: Any = OrderedDict()
        for key, value in given["module"].items():
            if isinstance(value, Leaf) and value.source.own and not same and key in parameters:
                raise CheckpointError(f"{saved.title}: the {saved.ranks} ranks saved different values of parameter {key!r}, "
                                      f"so {size} ranks cannot continue from it: average it before save(), or restore on "
                                      f"{saved.ranks} ranks")
            if isinstance(value, Leaf) and key in slices:
                shard = slices[key]
                if tuple(value.source.shape) != tuple(shard.shape):
                    raise CheckpointError(f"{saved.title}: {key!r} was saved in shape {list(value.source.shape)}, and the "
                                          f"model has {list(shard.shape)}")
                state[key] = result(value.source.elements(shard.start, shard.stop))
            elif isinstance(value, Tensor) and key in slices:      # in memory: one rank had the whole
                state[key] = result(value.array.reshape(-1)[slices[key].start:slices[key].stop])
            else:
                state[key] = read_leaves(value)
        if hasattr(given["module"], "_metadata"):
            state._metadata = given["module"]._metadata
        hook = given["hook"] if same else saved.part(name, rank % saved.ranks)["hook"]
        return {"module": state, "hook": read_leaves(hook), "counters": given["counters"]}

    def put(self, state: Any) -> None:
        """Overwrite the values in place. ValueError if the names differ."""
        given = state["module"]
        if isinstance(self.model, DataParallel):
            own = self.model.local_state()
            missing, unexpected = sorted(own.keys() - given.keys()), sorted(given.keys() - own.keys())
            if missing or unexpected:
                raise ValueError(f"the model's names differ from the saved ones: missing {missing}, unexpected "
                                 f"{unexpected}")
            for key in [key for key, value in own.items() if isinstance(value, ParameterSlice)]:
                piece, new = own[key], given.pop(key)
                copy_into(piece.array, new.array.reshape(piece.array.shape))
                shared_counter(piece).value += 1
            self.module.load_state_dict(given, strict=False)
        else:
            self.module.load_state_dict(given)
        if self._hook is not None and state["hook"] is not None:
            self._hook.load_state_dict(state["hook"])
        if isinstance(self.model, DataParallel) and state["counters"]:
            for name in COUNTERS:
                setattr(self.model, name, state["counters"][name])

    def finish(self) -> None:
        """Slices were written: gather again the values that stay on every rank."""
        if isinstance(self.model, DataParallel):
            self.model.slices_changed()

    def small(self) -> Any:
        """Buffers, the comm hook's state, and counters."""
        if self._buffers is None:
            self._buffers = [(f"{prefix}.{name}" if prefix else name, module._buffers, name) for prefix, module
                             in self.module.named_modules(remove_duplicate=False) for name in module._buffers]
        buffers = {name: held[key].array.copy() for name, held, key in self._buffers if held[key] is not None}
        hook = self._hook
        return buffers, None if hook is None else copied(hook.state_dict()), self._counters()

    def whole(self, small: Any) -> Any:
        """The present parameters, and the copy that small() made."""
        buffers, hook, counters = small
        state = self.take()
        for name in buffers.keys() & state["module"].keys():
            state["module"][name] = result(buffers[name])
        return {"module": state["module"], "hook": hook, "counters": counters}


def _sliced(value: Any) -> Any:
    """The Slice for a ParameterSlice; anything else unchanged."""
    return _slice(value.array, value) if isinstance(value, ParameterSlice) else value


def _slice(array: Any, p: ParameterSlice) -> Slice:
    """An array that belongs to a ParameterSlice, with its position."""
    return Slice(array.reshape(-1), p.shard.shape, p.shard.start, p.shard.stop)


class OptimizerState:
    """An optimizer. If its parameters are slices, its state is saved and read in slices too."""

    own = False

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        inner = optimizer.optim if isinstance(optimizer, ZeroRedundancyOptimizer) else optimizer
        self.inner: Any = inner

    def take(self) -> Any:
        """Its state as stored on this rank."""
        optimizer = self.optimizer
        packed = optimizer.local_state() if isinstance(optimizer, ZeroRedundancyOptimizer) else local_state(optimizer)
        owners = self._owners(packed)
        state = {}
        for number, of_one in packed["state"].items():
            p = owners.get(number)
            if p is not None:
                of_one = {key: _slice(value.array, p) if is_slice(value, p) else value for key, value in of_one.items()}
            state[number] = of_one
        return {**packed, "state": state}

    def _owners(self, packed: Any) -> dict[Any, ParameterSlice]:
        """The slices among the parameters, by number."""
        pairs = [pair for mine, theirs in zip(self.inner.param_groups, packed["param_groups"], strict=False)
                 for pair in zip(theirs["params"], mine["params"], strict=False)]
        return {number: p for number, p in pairs if isinstance(p, ParameterSlice)}

    def choose(self, name: str, saved: SavedStates, rank: int, size: int) -> Any:
        """This rank's slices of sharded state, and the whole of the rest. State that differed between ranks needs as many
        ranks."""
        same = size == saved.ranks
        given = saved.part(name, rank if same else 0)
        owners = self._owners(given)
        state: dict[Any, Any] = {}
        for number, of_one in given["state"].items():
            p = owners.get(number)
            if not isinstance(of_one, dict):
                state[number] = read_leaves(of_one)
                continue
            state[number] = {}
            for key, value in of_one.items():
                source = value.source if isinstance(value, Leaf) else None
                if source is not None and source.own and not same:
                    raise CheckpointError(f"{saved.title}: the {saved.ranks} ranks saved different states {key!r} of "
                                          f"parameter {number}, so {size} ranks cannot continue from it; restore on "
                                          f"{saved.ranks} ranks")
                if p is not None and source is not None and source.sliced and source.shape == tuple(p.shard.shape):
                    state[number][key] = result(source.elements(p.shard.start, p.shard.stop).reshape(p.array.shape))
                else:
                    state[number][key] = read_leaves(value)
        return {key: state if key == "state" else read_leaves(value) for key, value in given.items()}

    def put(self, state: Any) -> None:
        """Its load_state_dict(), which does not change slices."""
        self.optimizer.load_state_dict(state)

    def finish(self) -> None:
        """Nothing remains to be done."""

    def small(self) -> Any:
        """The options of the groups, which schedules change."""
        return [{key: value if type(value) in SCALARS else copied(value) for key, value in group.items()
                 if key not in ("params", "param_names")} for group in self.optimizer.param_groups]

    def whole(self, small: Any) -> Any:
        """The optimizer's present arrays, with the options that small() copied."""
        state = self.take()
        groups = [{**group, **options} for group, options in zip(state["param_groups"], small, strict=True)]
        return {**state, "param_groups": groups}


class Loader(Plain):
    """The position of a DataLoader or sampler. On another number of ranks it must count all ranks' samples, or be equal."""

    own = True

    def choose(self, name: str, saved: SavedStates, rank: int, size: int) -> Any:
        """The state from which this rank continues."""
        if size == saved.ranks:
            return read_leaves(saved.part(name, rank))
        everyone = [read_leaves(saved.part(name, other)) for other in range(saved.ranks)]
        return for_rank(everyone, rank, size, saved.title)

    def small(self) -> Any:
        """All of it. A DataLoader's state is created anew at each call, and so is that of our samplers."""
        return self.take() if isinstance(self.thing, DataLoader) else copied(self.take())


def for_rank(everyone: list[dict[str, Any]], rank: int, size: int, title: str) -> dict[str, Any]:
    """The state of a loader or sampler for a rank of `size`, from those of all ranks that saved."""
    under_way = [state for state in everyone if not state.get("finished")]
    mine = dict(everyone[rank % len(everyone)])
    if under_way and mine.get("finished"):           # a shorter share has ended
        mine = dict(under_way[0])
    places = [position(state) for state in everyone]
    if all(place is not None for place in places):
        # the first ranks may have had one sample more than the others: all together are as far as the furthest one
        furthest = max(filter(None, places), key=lambda place: (place["epoch"], place["sample"]))
        if "place" not in mine:
            return {**mine, **furthest}
        mine["place"] = {**mine["place"], "sampler": {**mine["place"]["sampler"], **furthest}}
    elif not all(_same(everyone[0], other) for other in everyone[1:]):
        raise CheckpointError(f"{title}: the loaders were at different positions on the {len(everyone)} ranks, each in its "
                              f"own order, so {size} ranks cannot redistribute the remaining samples; use a "
                              f"GlobalBatchSampler or DistributedSampler, or restore on {len(everyone)} ranks")
    if rank >= len(everyone) and "base_seed" in mine:                      # separate random numbers for its workers
        mine["workers"] = None
        mine["base_seed"] = None if mine["base_seed"] is None else (mine["base_seed"] + rank) % 2**63
    return mine


def position(state: dict[str, Any]) -> dict[str, int] | None:
    """{"epoch", "sample", ...} of a loader or sampler that counts the samples of all ranks; None for others."""
    place = state.get("place") if "place" in state else {"sampler": state}
    sampler = place.get("sampler") if isinstance(place, dict) else None
    return sampler if isinstance(sampler, dict) and {"epoch", "sample"} <= sampler.keys() else None


def copied(value: Any) -> Any:
    """A copy of a nested state that shares nothing mutable."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, Tensor):
        return result(value.array.copy())
    if type(value) is np.ndarray:
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(one if type(one) in SCALARS else copied(one) for one in value)
    if isinstance(value, (dict, OrderedDict)):
        new = copy.copy(value)                       # of its class, with its attributes
        for key, one in value.items():
            if type(one) not in SCALARS:
                new[key] = copied(one)
        return new
    return copy.deepcopy(value)


def part_of(name: str, thing: Any) -> Part:
    """The part of the state for an object given to a Checkpointer. TypeError if it cannot be restored."""
    if isinstance(thing, Module):
        return Model(thing)
    if isinstance(thing, Optimizer):
        return OptimizerState(thing)
    if isinstance(thing, DataLoader) or name.split(".")[0] == "loader":
        return Loader(thing)
    if isinstance(thing, KINDS):
        return Stream(thing)
    if callable(getattr(thing, "state_dict", None)) and callable(getattr(thing, "load_state_dict", None)):
        return Plain(thing)
    if type(thing) in (dict, list):
        return Container(thing)
    if isinstance(thing, (Tensor, np.ndarray)):
        return Values(thing)
    raise TypeError(f"Checkpointer: {name} is a {type(thing).__name__}, which restore() could not change: pass a dict or "
                    "list that holds it, a Tensor or array, a generator, or an object with state_dict() and "
                    "load_state_dict()")
