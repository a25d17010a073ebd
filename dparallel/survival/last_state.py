"""The state after the last finished step, as a rank that dies leaves it behind.

Copying all weights after every step would cost a small model a third of its time, so there are two ways:

- LiveState: weights and the optimizer's arrays are not copied: between two steps they are equal on every rank. The rest
  (buffers, options, schedule, position in the data, random streams, the script's own) is copied. If ranks communicate during
  optimizer.step() (a closure, two optimizers in turn), weights may have changed when one is lost: each copies them.
- CopiedState: everything is copied to memory that outlives a host's ranks, for state in slices, of which a dead rank had
  one. Each rank has two slots: of two successive states one is always complete on all ranks.
"""

from __future__ import annotations

import copy
import mmap
import os
import pickle
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd.core.tensor import result

from ..autograd import Tensor
from ..checkpoint.encoding import Leaf, Slice
from ..checkpoint.errors import Ranks
from ..checkpoint.host_copies import hosts_of
from ..checkpoint.parts import OptimizerState, Part, copied
from ..comm.mpi.shared_memory import opened
from ..sharding import ParameterSlice, ZeroRedundancyOptimizer

State = dict[str, Any]                               # of one rank: a tree for each part's name
HEAD = struct.Struct("=qqq")                         # of a slot: 1 + steps, 0 while it is written; bytes of the tree; arrays
RANKS = struct.Struct("=q")                          # at the beginning of the file
ALIGN = 64
TAG = 2**20 - 2                                      # of messages to another host
ROOM, SPARE = 20, 64 * 2**20                         # bytes of a slot: a multiple of the weights', plus a constant. Pages
                                                     # that are not written use no memory


def lies_in_slices(parts: Iterable[Part]) -> bool:
    """Whether some state is sliced over ranks."""
    return any(isinstance(part, OptimizerState) and (isinstance(part.optimizer, ZeroRedundancyOptimizer) or any(
        isinstance(p, ParameterSlice) for group in part.optimizer.param_groups for p in group["params"])) for part in parts)


class LiveState:
    """The small parts of a state, copied; the rest is current, or also copied while `whole` is set."""

    steps: int
    clock: int

    def __init__(self, parts: Mapping[str, Part], whole: bool) -> None:
        self.parts: Mapping[str, Part] = parts
        self.whole: bool = whole
        self.steps = self.clock = -1                 # completed steps; by how many collectives of all ranks
        self._small: dict[str, Any] = {}
        self._copy: State | None = None              # of the whole state

    def commit(self, steps: int, clock: int) -> None:
        """Record the state: a step is complete."""
        self.steps, self.clock = steps, clock
        self._copy = _copied_into(self._copy, self.state_now()) if self.whole else None
        self._small = {} if self.whole else {name: part.small() for name, part in self.parts.items()}

    @property
    def is_whole(self) -> bool:
        """Whether the last commit() copied everything."""
        return self._copy is not None

    def state(self) -> State:
        """The state after the last completed step. If it was not copied as a whole, this is valid only until an optimizer
        steps."""
        return self._copy or {name: part.whole(self._small[name]) for name, part in self.parts.items()}

    def state_now(self) -> State:
        """The current state."""
        return {name: part.take() for name, part in self.parts.items()}


def _copied_into(old: Any, new: Any) -> Any:
    """A copy of a nested state that shares nothing mutable, in the memory of an older one where that fits."""
    if isinstance(new, Tensor):
        if isinstance(old, Tensor) and (old.shape, old.dtype) == (new.shape, new.dtype):
            np.copyto(old.array, new.array)
            return old
        return result(new.array.copy())
    if isinstance(new, dict):
        known = old if isinstance(old, dict) else {}
        made = copy.copy(new)                        # of its class, with its attributes
        made.update({key: _copied_into(known.get(key), value) for key, value in new.items()})
        return made
    return copied(new)


class CopiedState:
    """The last two states of `comm`'s ranks in memory shared by a host's ranks: a file with two slots for each rank of the
    job. A rank alone on its host sends its state to one on the next host, too.

    rank: this process's in `comm`; None for a newcomer, which only reads.
    """

    def __init__(self, file: int, memory: mmap.mmap, ranks: int, comm: Any = None) -> None:
        self.file: int = file
        self.ranks: int = ranks
        self.comm: Any = comm
        self.rank: int | None = None if comm is None else comm.rank
        self._memory = memoryview(memory)
        self._room = (len(memory) - ALIGN) // (2 * ranks)
        self._to: int | None = None                  # the rank that gets a copy of this rank's state
        self._of: list[int] = []                     # ranks whose state this rank keeps a copy of

    @classmethod
    def shared(cls, parts: Mapping[str, Part], comm: Any) -> CopiedState | None:
        """Memory for the states of an MpiComm's ranks; None if those of a host cannot share any. Collective."""
        held = [pickle.PickleBuffer(b"")]
        pickle.dumps({name: _arrays(part.take()) for name, part in parts.items()}, protocol=5, buffer_callback=held.append)
        room = max(comm.allgather_object([ROOM * sum(len(buffer.raw()) for buffer in held) // ALIGN * ALIGN + SPARE]))
        found = comm.node().shared_file(ALIGN + 2 * comm.size * room)
        hosts = hosts_of(Ranks(comm))
        if not all(comm.allgather_object([found is not None])) or found is None:
            return None
        RANKS.pack_into(found[1], 0, comm.size)
        made = cls(found[0], found[1], comm.size, comm)
        keepers = keepers_of(hosts)
        made._to = keepers.get(comm.rank)
        made._of = [rank for rank, keeper in keepers.items() if keeper == comm.rank]
        return made

    @classmethod
    def opened(cls, path: str) -> CopiedState:
        """The memory of others on this host, by the path of one of them that is alive."""
        file = opened(path)
        memory = mmap.mmap(file, os.fstat(file).st_size // ALIGN * ALIGN)    # without shared_file()'s token
        return cls(file, memory, RANKS.unpack_from(memory)[0])

    def close(self) -> None:
        """Release the file; data read from it may not be used any more."""
        os.close(self.file)

    @property
    def path(self) -> str:
        """The path by which other processes of the host open the file, while this one is alive."""
        return f"/proc/{os.getpid()}/fd/{self.file}"

    def commit(self, parts: Mapping[str, Part], steps: int) -> None:
        """Write this rank's state into the older of its slots. MemoryError if it has become too large."""
        assert self.rank is not None
        buffers: list[pickle.PickleBuffer] = []
        state = {name: _arrays(part.take()) for name, part in parts.items()}
        tree = pickle.dumps(state, protocol=5, buffer_callback=buffers.append)
        views = [buffer.raw() for buffer in buffers]
        sizes = np.array([len(view) for view in views], np.int64)
        slot = self._slot(self.rank, steps)
        starts, end = self._layout(len(tree), sizes)
        if end > len(slot):
            raise MemoryError(f"a rank's state has {end} bytes, and {len(slot)} were reserved: it has grown since keep()")
        HEAD.pack_into(slot, 0, 0, len(tree), len(views))
        slot[HEAD.size:HEAD.size + sizes.nbytes] = sizes.tobytes()
        first = HEAD.size + sizes.nbytes
        slot[first:first + len(tree)] = tree
        for view, start in zip(views, starts, strict=True):
            slot[start:start + len(view)] = view
        HEAD.pack_into(slot, 0, steps + 1, len(tree), len(views))
        if self._to is not None:
            self.comm.send(np.frombuffer(slot[:end], np.uint8), self._to, TAG)
        for rank in self._of:
            self._write(rank, steps, self.comm.recv(rank, TAG))

    def steps(self) -> dict[int, set[int]]:
        """For each rank, the numbers of completed steps whose state is here, complete."""
        return {rank: {number - 1 for which in (0, 1) if (number := HEAD.unpack_from(self._slot(rank, which))[0])}
                for rank in range(self.ranks)}

    def packed(self, rank: int, steps: int) -> memoryview:
        """The state of a rank after a number of steps, for unpacked()."""
        slot = self._slot(rank, steps)
        _, length, count = HEAD.unpack_from(slot)
        return slot[:self._layout(length, np.frombuffer(slot, np.int64, count, HEAD.size))[1]]

    @classmethod
    def unpacked(cls, slot: memoryview) -> State:
        """The state in the result of packed(). Its arrays are views of that memory."""
        _, length, count = HEAD.unpack_from(slot)
        sizes = np.frombuffer(slot, np.int64, count, HEAD.size)
        first = HEAD.size + sizes.nbytes
        starts, _ = cls._layout(length, sizes)
        buffers = [slot[start:start + size] for start, size in zip(starts, sizes.tolist(), strict=True)]
        state: State = pickle.loads(slot[first:first + length], buffers=buffers)
        return state

    def _write(self, rank: int, steps: int, data: np.ndarray[Any, Any]) -> None:
        """Write another rank's state; the slot's number is written last."""
        slot, given = self._slot(rank, steps), data.data
        HEAD.pack_into(slot, 0, 0, 0, 0)
        slot[HEAD.size:len(given)] = given[HEAD.size:]
        slot[:HEAD.size] = given[:HEAD.size]

    def _slot(self, rank: int, steps: int) -> memoryview:
        start = ALIGN + (2 * rank + steps % 2) * self._room
        return self._memory[start:start + self._room]

    @staticmethod
    def _layout(tree: int, sizes: np.ndarray[Any, Any]) -> tuple[list[int], int]:
        """The start of each buffer in a slot, and the end of the last one."""
        padded = -(-sizes // ALIGN) * ALIGN
        first = -(-(HEAD.size + sizes.nbytes + tree) // ALIGN) * ALIGN
        ends = first + np.cumsum(padded)
        return (ends - padded).tolist(), int(ends[-1]) if len(ends) else first


def _arrays(value: Any) -> Any:
    """A state with arrays for tensors, which are pickled without copies."""
    if isinstance(value, Tensor):
        return TensorArray(np.asarray(value.array, order="C"))
    if type(value) is Slice:
        return value._replace(array=np.asarray(value.array, order="C"))
    if type(value) in (list, tuple):
        return type(value)(_arrays(one) for one in value)
    if isinstance(value, dict):
        new = value.copy()
        new.update({key: _arrays(one) for key, one in value.items()})
        if hasattr(value, "_metadata"):
            new._metadata = value._metadata          # type: ignore[attr-defined]
        return new
    return value


def keepers_of(hosts: Sequence[int]) -> dict[int, int]:
    """For each rank that is alone on its host, the first rank of the next host. hosts: of each rank, by any number."""
    order = sorted(set(hosts))
    if len(order) == 1:
        return {}
    return {rank: hosts.index(order[(order.index(host) + 1) % len(order)]) for rank, host in enumerate(hosts)
            if hosts.count(host) == 1}


class TensorArray(NamedTuple):
    """The array of a tensor."""

    array: np.ndarray[Any, Any]


class Pieces:
    """An array sliced over ranks, as the source of a Leaf."""

    own: bool = False
    sliced: bool = True

    def __init__(self, slices: list[Slice]) -> None:
        self.slices: list[Slice] = sorted(slices, key=lambda one: one.start)
        self.shape: tuple[int, ...] = tuple(slices[0].shape)
        self.dtype: np.dtype[Any] = slices[0].array.dtype
        self.size: int = int(np.prod(self.shape, dtype=int))

    def elements(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        """Elements start to stop, as a vector."""
        out = np.empty(stop - start, self.dtype)
        for one in self.slices:
            low, high = max(one.start, start), min(one.stop, stop)
            if low < high:
                out[low - start:high - start] = one.array.reshape(-1)[low - one.start:high - one.start]
        return out

    def read(self) -> np.ndarray[Any, Any]:
        """The whole array."""
        return self.elements(0, self.size).reshape(self.shape)


class Survived:
    """The states of the `ranks` ranks that continue, in a checkpoint's form (checkpoint/reading.py).

    states: by rank in the present membership. everyone: also those of dead ranks, whose slices are needed.
    """

    def __init__(self, states: list[State], everyone: list[State]) -> None:
        self.states: list[State] = states
        self.everyone: list[State] = everyone
        self.ranks: int = len(states)
        self.title = "the state in memory"

    def part(self, part: str, rank: int) -> Any:
        """A rank's state of a part, with Leafs for sliced arrays."""
        return self._read(self.states[rank][part], (part,))

    def _read(self, value: Any, path: tuple[Any, ...]) -> Any:
        if type(value) is TensorArray:
            return result(value.array.copy())        # others read the same memory
        if type(value) is np.ndarray:
            return value.copy()
        if type(value) is Slice:
            return Leaf(Pieces([_at(state, path) for state in self.everyone]), "tensor", False)
        if type(value) in (list, tuple):
            return type(value)(self._read(one, (*path, i)) for i, one in enumerate(value))
        if isinstance(value, dict):
            new = value.copy()
            new.update({key: self._read(one, (*path, key)) for key, one in value.items()})
            if hasattr(value, "_metadata"):
                new._metadata = value._metadata      # type: ignore[attr-defined]
            return new
        return value


def _at(state: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        state = state[key]
    return state
