"""Parameters of one dtype, and their state, laid end to end in buffers, so that a step is a few passes over one array.

A parameter or a piece of its state moves into its place only while nobody else holds its array (an alias made by detach()
or NumPy would be left behind); what can't move is stepped on its own, where it is. The arithmetic is the same either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, chain, compress, pairwise, repeat
from operator import attrgetter, is_, not_
from typing import Any, NamedTuple

import numpy as np

from ..base.dtypes import default
from ..base.references import holders
from ..core.graph import shared_counter
from ..core.tensor import Tensor, result

Array = np.ndarray[Any, Any]
BLOCK = 65536        # elements: AdamW on 670,000 float32 takes 0.9 ms in blocks of this size, 2.4 ms in one piece
array_of, gradient_of, dtype_of = attrgetter("array"), attrgetter("_grad"), attrgetter("dtype")
Block = tuple[slice, list[tuple[int, slice | None]]]     # where it is, and which parts (None: all) of which gradients it is


class Run(NamedTuple):
    """Parameters that are stepped together: as vectors, their values and state. Gradients are brought together block by
    block, in scratch memory that the caches hold: as one vector they would take as much memory as the parameters."""

    params: list[Tensor]
    values: Array
    arrays: tuple[Array, ...]
    numbers: dict[str, Array]              # what is one number per parameter, alike in all of them
    fresh: bool                            # whether the arrays of the state were made just now
    scratch: Array                         # of at most BLOCK elements
    cut: list[Block]                       # empty if one block holds all

    def blocks(self, copies: bool) -> Iterable[list[Array]]:
        """The values, gradients (always copies, or where one gradient fills a block itself) and state of each block."""
        flat = [p._grad.array.reshape(-1) for p in self.params]  # type: ignore[union-attr]
        dtype = self.values.dtype
        if not all(map(is_, map(dtype_of, flat), repeat(dtype))) and any(g.dtype != dtype for g in flat):
            raise RuntimeError(f"gradients of {len(flat)} parameters are not all of their dtype, {dtype}")
        if not self.cut:
            return [[self.values, self._gradient(flat, self.values.size, copies), *self.arrays]]
        return ([self.values[where],
                 self._gradient([flat[i] if part is None else flat[i][part] for i, part in pieces],
                                where.stop - where.start, copies),
                 *[array[where] for array in self.arrays]] for where, pieces in self.cut)

    def _gradient(self, parts: list[Array], size: int, copies: bool) -> Array:
        if len(parts) == 1 and not copies:
            return parts[0]
        return np.concatenate(parts, out=self.scratch[:size])

    def stepped(self) -> None:
        """Count the write to every parameter."""
        for p in self.params:
            counter = p.counter
            if counter is None:
                counter = shared_counter(p)
            counter.value += 1


class Home:
    """The buffers of some parameters of one dtype, and where in them each has its place."""

    def __init__(self, params: list[Tensor]) -> None:
        self.params = params
        self.dtype = params[0].array.dtype
        ends = np.cumsum([p.array.size for p in params]).tolist()
        self.parts = [slice(end - p.array.size, end) for p, end in zip(params, ends, strict=True)]
        self.values, self.views = laid_out(params) or self._new_values(ends[-1])
        self.scratch: Array = np.empty(min(ends[-1], BLOCK), self.dtype)
        self.slots: dict[str, Array] = {}                  # by name, the state of all as one vector
        self.slot_views: dict[str, list[Array]] = {}
        # after a step of parameters that were all at home: which had no gradient, the runs, and for comparison everything
        # that was at home and the arrays that it had there
        self.without: list[bool] | None = None
        self.ranges: list[tuple[int, int]] = []
        self.kept: list[Run] = []
        self.tensors: list[Tensor] = []
        self.arrays: list[Array] = []

    def _new_values(self, size: int) -> tuple[Array, list[Array]]:
        values = np.empty(size, self.dtype)
        return values, self._views(values)

    def _views(self, buffer: Array) -> list[Array]:
        return [buffer[part].reshape(p.array.shape) for p, part in zip(self.params, self.parts, strict=True)]

    def prepare(self, names: dict[str, Any], numbers: dict[str, Any]) -> None:
        """Make places for the state named."""
        for name in numbers:
            if name not in self.slots:
                self.slots[name] = np.zeros(len(self.params), default.dtype)
                self.slot_views[name] = [self.slots[name][i:i + 1].reshape(()) for i in range(len(self.params))]
        for name in names:
            if name not in self.slots:
                self.slots[name] = np.zeros(self.values.size, self.dtype)
                self.slot_views[name] = self._views(self.slots[name])

    # --- the usual step: everything is where it was ---------------------------------------------------------------------

    def again(self, state: Mapping[Any, Any], names: dict[str, Any], numbers: dict[str, Any]) -> list[Run] | None:
        """The runs of the last step, if nothing has moved since and all are in step still."""
        without = list(map(is_, map(gradient_of, self.params), repeat(None)))
        if without != self.without:
            return None
        active, held = self._held(state, without)
        if (len(held) != len(active) * (len(names) + len(numbers))
                or len(held) + len(active) != len(self.tensors)
                or not all(map(is_, chain(active, held), self.tensors))
                or not all(map(is_, map(array_of, self.tensors), self.arrays))):
            return None
        for run in self.kept:
            for vector in run.numbers.values():
                if len(set(vector.tolist())) > 1:
                    return None
        return self.kept

    def _held(self, state: Mapping[Any, Any], without: list[bool]) -> tuple[list[Tensor], list[Any]]:
        """The parameters that have gradients, and all that their states hold."""
        active = list(compress(self.params, map(not_, without))) if True in without else self.params
        return active, list(chain.from_iterable(map(dict.values, filter(None, map(state.get, active)))))

    def remember(self, state: Mapping[Any, Any], names: dict[str, Any], numbers: dict[str, Any]) -> None:
        """What again() compares with, if all is at home now."""
        without = [p._grad is None for p in self.params]
        for i, p in enumerate(self.params):
            if not without[i] and not self._at_home(i, state.get(p) or {}, names, numbers):
                self.without = None
                return
        active, held = self._held(state, without)
        if not all(isinstance(value, Tensor) for value in held):         # something of the user's own
            self.without = None
            return
        self.without, self.tensors = without, [*active, *held]
        self.arrays = [t.array for t in self.tensors]
        self.kept = [self._run(first, end, names, numbers, False) for first, end in self.ranges]

    # --- any other step: neighbours that are alike ----------------------------------------------------------------------

    def runs(self, state: Any, names: dict[str, Any], numbers: dict[str, Any]) -> Iterator[Run]:
        """The parameters that have gradients, as runs of neighbours at home with the same numbers, and single ones."""
        self.ranges = []
        first, before = 0, None                            # where the open run began, and what its members have alike
        for i, p in enumerate(self.params):
            alike: Any = None
            if p._grad is not None:
                fresh = self._settle(i, state, names, numbers)
                of_one = state.get(p) or {}
                values = tuple(of_one[name].array.item() for name in numbers)
                if self._at_home(i, of_one, names, numbers):
                    alike = (values, fresh)
            if alike != before or alike is None:
                if before is not None:
                    self.ranges.append((first, i))
                    yield self._run(first, i, names, numbers, before[1])
                first, before = i, alike
            if alike is None and p._grad is not None:
                yield from single(p, state.get(p) or {}, names, numbers, fresh)
        if before is not None:
            self.ranges.append((first, len(self.params)))
            yield self._run(first, len(self.params), names, numbers, before[1])

    def _settle(self, i: int, state: Any, names: dict[str, Any], numbers: dict[str, Any]) -> bool:
        """Move parameter i and its state home, as far as that goes, and make missing state; whether some was missing."""
        p = self.params[i]
        move(p, self.views[i])
        fresh = False
        for name, start in chain(numbers.items(), names.items()):
            of_one, view = state[p], self.slot_views[name][i]
            if name in of_one:
                if not isinstance(of_one[name], Tensor):
                    of_one[name] = result(np.array(of_one[name], view.dtype))
                move(of_one[name], view)
                continue
            fresh = fresh or name in names
            if p.array is not self.views[i] and name in names:
                view = np.empty(p.array.shape, p.array.dtype)
            view[...] = start if view.dtype.kind != "c" else complex(start, start)
            of_one[name] = result(view)
        return fresh

    def _at_home(self, i: int, of_one: dict[str, Any], names: dict[str, Any], numbers: dict[str, Any]) -> bool:
        return self.params[i].array is self.views[i] and all(
            of_one[name].array is self.slot_views[name][i] for name in chain(numbers, names))

    def _run(self, first: int, end: int, names: dict[str, Any], numbers: dict[str, Any], fresh: bool) -> Run:
        part = slice(self.parts[first].start, self.parts[end - 1].stop)
        params = self.params[first:end]
        return Run(params, self.values[part], tuple(self.slots[name][part] for name in names),
                   {name: self.slots[name][first:end] for name in numbers}, fresh, self.scratch[:part.stop - part.start],
                   blocks_of([p.array.size for p in params]))


def blocks_of(sizes: list[int]) -> list[Block]:
    """Vectors of these sizes, end to end, in blocks; none if one block holds all."""
    cut: list[Block] = []
    ends = list(accumulate(sizes, initial=0))
    if ends[-1] <= BLOCK:
        return cut
    for start in range(0, ends[-1], BLOCK):
        stop = min(start + BLOCK, ends[-1])
        pieces = [(i, None if start <= first and last <= stop else slice(max(start - first, 0), min(stop, last) - first))
                  for i, (first, last) in enumerate(pairwise(ends)) if first < stop and start < last]
        cut.append((slice(start, stop), pieces))
    return cut


def single(p: Tensor, of_one: dict[str, Any], names: dict[str, Any], numbers: dict[str, Any],
           fresh: bool) -> Iterator[Run]:
    """A parameter where it is: memory that is not contiguous is stepped in a copy, and written back."""
    if p._grad.array.dtype != p.array.dtype:
        raise RuntimeError(f"gradient of dtype {p._grad.dtype} for a parameter of dtype {p.dtype}")
    for name in names:
        if of_one[name].array.dtype != p.array.dtype:      # the model was cast since
            of_one[name].array = of_one[name].array.astype(p.array.dtype)
    places = [p.array, *(of_one[name].array for name in names)]
    vectors = [np.ascontiguousarray(a).reshape(-1) for a in places]
    yield Run([p], vectors[0], tuple(vectors[1:]), {name: of_one[name].array.reshape(1) for name in numbers}, fresh,
              np.empty(min(p.array.size, BLOCK), p.array.dtype), blocks_of([p.array.size]))
    for place, vector in zip(places, vectors, strict=True):
        if not place.flags.c_contiguous:
            place[...] = vector.reshape(place.shape)


def laid_out(params: list[Tensor]) -> tuple[Array, list[Array]] | None:
    """The stretch of a buffer that the parameters fill already, in order (another optimiser's home), and their arrays."""
    arrays = [p.array for p in params]
    base, start = arrays[0].base, arrays[0].__array_interface__["data"][0]
    if not isinstance(base, np.ndarray) or base.ndim != 1 or base.dtype != arrays[0].dtype or not base.flags.c_contiguous:
        return None
    first = end = start
    for array in arrays:
        if (array.base is not base or not array.flags.c_contiguous or array.dtype != base.dtype
                or array.__array_interface__["data"][0] != end):
            return None
        end += array.nbytes
    offset = (first - base.__array_interface__["data"][0]) // base.itemsize
    return base[offset:offset + (end - first) // base.itemsize], arrays


def homes(params: list[Tensor]) -> list[Home]:
    """Homes for parameters, by dtype, in order; what somebody has laid end to end in a buffer already stays there."""
    together: dict[Any, list[Tensor]] = {}
    for stretch in stretches(params):
        if stretch[0].array.base is not None and laid_out(stretch) is not None:
            together[id(stretch)] = stretch
        else:
            together.setdefault(stretch[0].array.dtype, []).extend(stretch)
    return [Home(alike) for alike in together.values()]


def stretches(params: list[Tensor]) -> list[list[Tensor]]:
    """The parameters in order, those together that fill one stretch of a buffer."""
    found: list[list[Tensor]] = []
    base, end = None, 0
    for p in params:
        array = p.array
        start = array.__array_interface__["data"][0]
        if array.base is None or array.base is not base or start != end or array.dtype != found[-1][0].array.dtype:
            found.append([])
        base, end = array.base, start + array.nbytes
        found[-1].append(p)
    return found


def move(tensor: Tensor, place: Array) -> None:
    """Let the tensor's array be `place`, with its values, if nobody else would be left behind."""
    if tensor.array is not place and _movable(tensor, place):
        place[...] = tensor.array
        tensor.array = place


def _movable(tensor: Tensor, place: Array) -> bool:
    (array,) = arrays = [tensor.array]
    if array.base is not None or array.shape != place.shape or array.dtype != place.dtype:
        return False
    del array
    return holders(arrays) == [1]                    # the tensor itself
