"""Unit: parameters of one dtype that are gathered together, and whose gradients are sent together.

Concatenated they are one vector, split evenly over the ranks: each rank has one segment. Parameters are views of the vector,
ParameterSlices views of the segment.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from autograd.core.grad_buffers import set_grad
from autograd.core.graph import shared_counter
from autograd.core.tensor import result

from ..autograd import Tensor
from ..comm import CollectiveError, Communicator, Handle, even_split
from ..pytree import flat_arrays
from ..reduction.buckets import GradientBucket
from .parameters import ParameterSlice, Shard, ShardedArray, StepListener, refuse_optimizer

Array = np.ndarray[Any, Any]

MSG_REPLACED = ("the memory of parameter {name!r} was replaced (by .data = or a cast) after DataParallel had sharded it; "
                "change it in place, or before wrapping")


class Gatherer(Protocol):
    """The interface that gathers the values of units: Gathering."""

    def gather(self, *units: Unit) -> None:
        """Gather the values of units on this rank."""


class Unit(GradientBucket):
    """The parameters `named` over the ranks of comm. `pieces`, if the whole values do not stay in `flat`: by rank, vectors
    for the elements of this rank, or of all ranks if they share memory."""

    def __init__(self, number: int, named: Sequence[tuple[str, Any]], comm: Communicator, owner: StepListener,
                 pieces: Mapping[int, Array] | None = None) -> None:
        super().__init__(named)
        self.number: int = number
        self.comm: Communicator = comm
        self.shapes: list[tuple[int, ...]] = [tuple(p.array.shape) for p in self.params]
        self.dtype: np.dtype[Any] = self.params[0].array.dtype
        ends = np.cumsum([p.array.size for p in self.params]).tolist()
        self.parts: list[slice] = [slice(end - p.array.size, end) for p, end in zip(self.params, ends, strict=True)]
        self.total: int = ends[-1]
        self.nbytes: int = self.total * self.dtype.itemsize
        self.sizes: list[int] = even_split(self.total, comm.size)
        self.first: int = sum(self.sizes[:comm.rank])
        self.last: int = self.first + self.sizes[comm.rank]
        self.flat: Array | None = np.concatenate([p.array.reshape(-1) for p in self.params])
        self.views: list[Array] = []
        self.sharded_arrays: list[Any] = []          # replace values that are not on this rank in the parameters
        self.arrays: list[Any] = []                  # the parameters' arrays: views, or sharded_arrays
        self.gatherer: Gatherer | None = None        # None: the values stay on this rank
        self.fetched: Array | None = None            # gathered values that are not in use yet
        self.pieces: list[Array] = list(pieces.values()) if pieces is not None and len(pieces) == comm.size else []
        self.local: Array = self.flat[self.first:self.last]
        if pieces is not None:
            pieces[comm.rank][...] = self.local
            self.local = pieces[comm.rank]
        self.slices: list[ParameterSlice] = [self._slice(i, owner) for i in range(len(self.params))]
        self.view(self.flat)
        # gradients
        self.grads: Array | None = None              # of all parameters on this rank, until they leave
        self.collecting: bool = False                # whether some of `grads` is of passes that have not left
        self.used: Array = np.zeros(len(self.params))
        self.room: Array = np.zeros(0)
        self.weight: float = 0.0
        self.handle: Any = None
        self.local_sum: Any = None                       # this rank's elements of the summed gradients

    def _slice(self, i: int, owner: StepListener) -> ParameterSlice:
        start, stop = (min(max(n, self.first), self.last) for n in (self.parts[i].start, self.parts[i].stop))
        offset = self.parts[i].start
        shard = Shard(self.names[i], self.shapes[i], start - offset, stop - offset, self.comm)
        if start == stop:                            # none of it: somewhere in it, no matter where
            shard = shard._replace(start=0, stop=0)
        return ParameterSlice(self.local[start - self.first:stop - self.first], shard, self.params[i], owner)

    def local_part(self, i: int) -> slice:
        """The location of parameter i's elements in this rank's segment."""
        start, stop = (min(max(n, self.first), self.last) for n in (self.parts[i].start, self.parts[i].stop))
        return slice(start - self.first, stop - self.first)

    def view(self, flat: Array | None) -> None:
        """Let `flat` be the values."""
        self.flat = flat
        self.views = [] if flat is None else [flat[part].reshape(shape)
                                              for part, shape in zip(self.parts, self.shapes, strict=True)]

    def set_arrays(self) -> None:
        """Set the parameters' arrays to the values, or, if these are not on this rank, to ShardedArrays."""
        self.arrays = self.views or self.sharded_arrays
        for p, array in zip(self.params, self.arrays, strict=True):
            p.array = array

    def replaced(self) -> str | None:
        """The name of a parameter whose array is no longer the unit's, if there is one."""
        return next((name for name, p, array in zip(self.names, self.params, self.arrays, strict=True)
                     if p.array is not array), None)

    def take_memory(self) -> None:
        """Set the parameters' memory to the unit's."""
        self.set_arrays()
        for p in self.params:
            shared_counter(p).value += 1

    def adopt(self, gatherer: Gatherer | None = None) -> None:
        """Copy the values of the parameters into the unit; with a gatherer they do not stay on this rank."""
        self.take_memory()
        for name, p in zip(self.names, self.params, strict=True):
            p.joins = functools.partial(refuse_optimizer, name)
        self.gatherer = gatherer
        if gatherer is not None:
            self.sharded_arrays = [ShardedArray(self, number) for number in range(len(self.params))]
            self.reshard()

    def unshard(self, flat: Array) -> None:
        """Stage 3: the values are on this rank, in `flat`. RuntimeError if a parameter got other memory since reshard()."""
        self._exchange(flat)

    def reshard(self) -> None:
        """Stage 3: the values are no longer on this rank. RuntimeError if a parameter got other memory since unshard()."""
        self._exchange(None)

    def _exchange(self, flat: Array | None) -> None:
        name = self.replaced()
        self.view(flat)
        self.set_arrays()
        if name is not None:
            raise RuntimeError(MSG_REPLACED.format(name=name))

    def value(self, number: int) -> Array:
        """The values of one parameter, gathered if necessary."""
        if self.flat is None:
            assert self.gatherer is not None
            self.gatherer.gather(self)
        return self.views[number]

    def _held_arrays(self) -> Iterator[tuple[str, str, Any]]:
        """The gathered values, this rank's, and the memory of pending gradients."""
        yield from (("parameters", "", array) for array in (self.flat, self.fetched, self.local) if array is not None)
        yield from (("gradient buckets", "", array) for array in (self.grads, self.local_sum) if array is not None)

    # --- values over ranks ----------------------------------------------------------------------------------------------

    def update_local(self) -> None:
        """Copy the values of slices that got other memory to this rank's segment."""
        here = self.local
        if any(s.array.base is not here.base and s.array.base is not here for s in self.slices):
            np.concatenate([s.array.reshape(-1) for s in self.slices], out=here)

    def start_gather(self) -> Any:
        """Start to gather all ranks' segments."""
        self.update_local()
        return self.comm.start_allgather([self.local])

    def start_known_gather(self) -> Handle[Array]:
        """Start to gather all ranks' segments. All ranks are known to gather this unit now, and have updated theirs."""
        if self.pieces:
            return Handle(lambda: np.concatenate(self.pieces))
        return self.comm.start_known("allgather", self.local, self.sizes)

    def gathered(self, handle: Any) -> Array:
        """The result of start_gather(): the values of all parameters."""
        flat: Array = handle.wait()[0]
        if flat.size != self.total:
            raise CollectiveError(f"{flat.size} values were gathered for parameters {', '.join(self.names)} of "
                                  f"{self.total}: the ranks use parameters in different orders")
        return flat

    def refresh(self, handle: Any) -> None:
        """Overwrite the values that stay with those of all ranks, and count the writes."""
        assert self.flat is not None
        np.copyto(self.flat, self.gathered(handle))
        for p in self.params:
            shared_counter(p).value += 1

    # --- gradients: see GradientBucket -------------------------------------------------------------------

    @property
    def gradients(self) -> Array:                    # type: ignore[override]
        """The gradients of all parameters on this rank; after the sum, this rank's elements of it."""
        found = self.grads if self.local_sum is None else self.local_sum
        assert found is not None
        return found

    def gradient(self, number: int) -> Array:
        """The memory of a parameter's gradient. Slices' gradients that are still there are moved first."""
        if self.grads is None:
            self.grads = np.empty(self.total, self.dtype)
        elif not self.collecting:
            for s in self.slices:
                if s._grad is not None and s._grad.array.base is self.grads:
                    set_grad(s, result(s._grad.array.copy()))
        self.collecting = True
        return self.grads[self.parts[number]].reshape(self.shapes[number])

    def holds(self, p: Tensor) -> bool:
        """Whether p.grad is a view of the unit's memory."""
        return p.grad is not None and self.grads is not None and p.grad.array.base is self.grads

    def fill(self, adding_up: bool, counted_elsewhere: Collection[Tensor]) -> None:
        """Set gradients of parameters unused on this rank to zeros."""
        for number, p in enumerate(self.params):
            if p.grad is None:
                self.gradient(number)[...] = 0
            else:
                self.used[number] = 1
                if not self.holds(p):
                    self.copy_in(p)

    def fill_with_zeros(self) -> None:
        """Set all gradients to zeros, and mark all parameters as unused."""
        self.start_pass(None)
        self.gradient(0)
        self.gradients[...] = 0
        self.left = 0

    def send(self, weight: float, keep: bool, start: Any) -> None:
        """Let start(gradients, sizes) start the sum of this rank's weighted gradients; drop them unless `keep`."""
        self.gradient(0)
        for p in self.params:
            set_grad(p, None)
        self.weight, self.collecting = weight, False
        self.handle = start(self.gradients, self.sizes)
        if not keep:
            self.grads = None

    def arrive(self) -> None:
        """Wait for this rank's part of the sum; then the memory of the whole is free."""
        if self.handle is not None:
            self.local_sum, self.handle = self.handle.wait(), None

    def deliver(self, ranks: int, in_bucket: bool) -> bool:
        """Put the sum into the .grad of the slices of parameters that some rank used. Returns whether all ranks used all."""
        piece, self.local_sum = self.gradients, None
        if self.grads is not None:
            kept = self.grads[self.first:self.last]
            np.copyto(kept, piece)
            piece = kept
        for i, s in enumerate(self.slices):
            if self.used[i]:
                view = piece[self.local_part(i)].reshape(s.array.shape)
                if s._grad is not None:
                    view += s._grad.array
                set_grad(s, result(view))
        return bool((self.used == ranks).all())

    def drop(self) -> None:
        """Drop all gradients. In stage 3 other ranks may not have started a pending sum: see the transport's settle()."""
        if self.gatherer is None:
            self.arrive()
        self.local_sum, self.collecting = None, False
        for s in self.slices:
            set_grad(s, None)                        # and that of the whole


def grouped(named: Sequence[tuple[str, Any]], cap_bytes: float) -> list[list[tuple[str, Any]]]:
    """Parameters in order, in groups of one dtype and requires_grad, of at most cap_bytes (or of one parameter)."""
    return flat_arrays.group_within(named, lambda item: (item[1].array.dtype, item[1].requires_grad),
                           lambda item: item[1].array.nbytes, cap_bytes)


def lay_out(groups: Sequence[Sequence[tuple[str, Any]]], comm: Communicator, owner: StepListener,
            gatherer: Gatherer | None = None) -> list[Unit]:
    """A unit per group with the values of its parameters. With a gatherer only this rank's elements stay, contiguous by
    dtype."""
    sizes = [even_split(sum(p.array.size for _, p in group), comm.size) for group in groups]
    dtypes = [group[0][1].array.dtype for group in groups]
    vectors = {} if gatherer is None else {dtype: _vectors(dtype, np.sum([
        n for n, other in zip(sizes, dtypes, strict=True) if other == dtype], axis=0).tolist(), comm)
        for dtype in dict.fromkeys(dtypes)}
    units = []
    for number, (group, size, dtype) in enumerate(zip(groups, sizes, dtypes, strict=True)):
        pieces = None
        if gatherer is not None:
            pieces = {rank: vector[:size[rank]] for rank, vector in vectors[dtype].items()}
            vectors[dtype] = {rank: vector[size[rank]:] for rank, vector in vectors[dtype].items()}
        units.append(Unit(number, group, comm, owner, pieces))
        units[-1].adopt(gatherer)
    return units


def _vectors(dtype: np.dtype[Any], sizes: Sequence[int], comm: Communicator) -> dict[int, Array]:
    """By rank, a vector of sizes[rank] elements: of all ranks, if they share memory, else of this rank. Collective."""
    memory = comm.shared_memory(max(1, max(sizes) * dtype.itemsize))
    if memory is None:
        return {comm.rank: np.empty(sizes[comm.rank], dtype)}
    return {rank: np.ndarray(n, dtype, part) for rank, (n, part) in enumerate(zip(sizes, memory, strict=True))}


def refresh(units: Sequence[Unit]) -> None:
    """Update the values that stay from all ranks' slices: the next unit is gathered while one is copied."""
    handle = units[0].start_gather() if units else None
    for number, unit in enumerate(units):
        following = units[number + 1].start_gather() if number + 1 < len(units) else None
        unit.refresh(handle)
        handle = following
