"""FlatBuffers: the parameters of one dtype, and their state, end to end in buffers, so that a step is a few passes over one
array. Elementwise optimizers use it.

A parameter or an array of its state is moved into a buffer only if there is no other reference to its array (an alias made
by detach() or NumPy would keep the old memory). What can't be moved is stepped by itself. The arithmetic is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate, chain, compress, pairwise, repeat
from operator import attrgetter, is_, not_
from typing import Any, NamedTuple

import numpy as np

from ..base.dtypes import default
from ..base.refcounts import holders
from ..base.types import Array
from ..core.graph import shared_counter
from ..core.tensor import Tensor, result
from ..kernels.halves import converted

BLOCK = 65536        # elements: AdamW on 670,000 float32 takes 0.9 ms in blocks of this size, 2.4 ms in one piece
array_of: Callable[[Any], Array] = attrgetter("array")
gradient_of: Callable[[Any], Any] = attrgetter("_grad")
dtype_of: Callable[[Any], np.dtype[Any]] = attrgetter("dtype")
Block = tuple[slice, list[tuple[int, slice | None]]]     # its slice, and the gradients in it: number, part (None: all)


class Run(NamedTuple):
    """Parameters that are stepped together: as vectors, their values and state. Gradients are brought together block by
    block, in scratch memory that the caches hold: as one vector they would take as much memory as the parameters."""

    params: list[Tensor]
    values: Array
    arrays: tuple[Array, ...]
    numbers: dict[str, Array]              # state of one number per parameter, equal in all of them
    fresh: bool                            # whether the arrays of the state were made just now
    scratch: Array                         # of at most BLOCK elements
    cut: list[Block]                       # empty if one block holds all

    def blocks(self, copies: bool) -> Iterable[list[Array]]:
        """The values, gradients (always copies, or where one gradient fills a block itself) and state of each block."""
        flat = [p._grad.array.ravel() for p in self.params]  # type: ignore[union-attr]
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

    def first_numbers(self) -> dict[str, float]:
        """The state of one number per parameter, which is equal in all."""
        return {name: vector[0].item() for name, vector in self.numbers.items()}

    def stepped(self, numbers: dict[str, float]) -> None:
        """Store the numbers of a step, and count its write to every parameter."""
        for name, vector in self.numbers.items():
            vector[...] = numbers[name]
        for p in self.params:
            counter = p.counter
            if counter is None:
                counter = shared_counter(p)
            counter.value += 1


class FlatBuffers:
    """The buffers of some parameters of one dtype, and the slice of each parameter in them."""

    values: Array
    views: list[Array]

    def __init__(self, params: list[Tensor]) -> None:
        self.params = params
        self.dtype: np.dtype[Any] = params[0].array.dtype
        ends = np.cumsum([p.array.size for p in params]).tolist()
        self.parts: list[slice] = [slice(end - p.array.size, end) for p, end in zip(params, ends, strict=True)]
        self.values, self.views = contiguous_span(params) or self._new_values(ends[-1])
        self.scratch: Array = np.empty(min(ends[-1], BLOCK), self.dtype)
        self.slots: dict[str, Array] = {}                  # by name, the state of all as one vector
        self.slot_views: dict[str, list[Array]] = {}
        # after a step in which all parameters were in the buffers: which had no gradient, the runs, and for comparison all
        # tensors in the buffers with their arrays
        self.without: list[bool] | None = None
        self.ranges: list[tuple[int, int]] = []
        self.last_runs: list[Run] = []
        self.tensors: list[Tensor] = []
        self.arrays: list[Array] = []

    def _new_values(self, size: int) -> tuple[Array, list[Array]]:
        values = np.empty(size, self.dtype)
        return values, self._views(values)

    def _views(self, buffer: Array) -> list[Array]:
        return [buffer[part].reshape(p.array.shape) for p, part in zip(self.params, self.parts, strict=True)]

    def prepare(self, names: dict[str, Any], numbers: dict[str, Any]) -> None:
        """Allocate buffers for the named state."""
        for name in numbers:
            if name not in self.slots:
                self.slots[name] = np.zeros(len(self.params), default.dtype)
                self.slot_views[name] = [self.slots[name][i:i + 1].reshape(()) for i in range(len(self.params))]
        for name in names:
            if name not in self.slots:
                self.slots[name] = np.zeros(self.values.size, self.dtype)
                self.slot_views[name] = self._views(self.slots[name])

    def _held_arrays(self) -> Iterator[tuple[str, str, Array]]:
        """What its arrays are for, for memory_summary()."""
        yield "parameters", "", self.values
        yield "workspaces", "gradients that an optimizer brings together", self.scratch
        yield from (("optimizer state", "", slot) for slot in self.slots.values())

    # --- the usual step: no tensor has moved -----------------------------------------------------------------------------

    def unchanged_runs(self, state: Mapping[Any, Any], names: dict[str, Any], numbers: dict[str, Any]) -> list[Run] | None:
        """The runs of the last step, if no tensor has moved since and all parameters have made the same number of steps."""
        without = list(map(is_, map(gradient_of, self.params), repeat(None)))
        if without != self.without:
            return None
        active, values = self._active_state(state, without)
        if (len(values) != len(active) * (len(names) + len(numbers))
                or len(values) + len(active) != len(self.tensors)
                or not all(map(is_, chain(active, values), self.tensors))
                or not all(map(is_, map(array_of, self.tensors), self.arrays))):
            return None
        for run in self.last_runs:
            for vector in run.numbers.values():
                if len(set(vector.tolist())) > 1:
                    return None
        return self.last_runs

    def _active_state(self, state: Mapping[Any, Any], without: list[bool]) -> tuple[list[Tensor], list[Any]]:
        """The parameters that have gradients, and all values of their states."""
        active = list(compress(self.params, map(not_, without))) if True in without else self.params
        return active, list(chain.from_iterable(map(dict.values, filter(None, map(state.get, active)))))

    def remember(self, state: Mapping[Any, Any], names: dict[str, Any], numbers: dict[str, Any]) -> None:
        """Note what unchanged_runs() compares with, if all parameters and their state are in the buffers."""
        without = [p._grad is None for p in self.params]
        for i, p in enumerate(self.params):
            if not without[i] and not self._in_buffers(i, state.get(p) or {}, names, numbers):
                self.without = None
                return
        active, values = self._active_state(state, without)
        if not all(isinstance(value, Tensor) for value in values):         # something of the user's own
            self.without = None
            return
        self.without, self.tensors = without, [*active, *values]
        self.arrays = [t.array for t in self.tensors]
        self.last_runs = [self._run(first, end, names, numbers, False) for first, end in self.ranges]

    # --- any other step: runs of neighbours -----------------------------------------------------------------------------

    def runs(self, state: Any, names: dict[str, Any], numbers: dict[str, Any]) -> Iterator[Run]:
        """The parameters that have gradients, as runs of neighbours in the buffers with equal state numbers, and single
        ones."""
        self.ranges = []
        first, before = 0, None                            # where the open run began, and what its members have alike
        for i, p in enumerate(self.params):
            common: Any = None
            if p._grad is not None:
                fresh = self._move_in(i, state, names, numbers)
                param_state = state.get(p) or {}
                values = tuple(param_state[name].array.item() for name in numbers)
                if self._in_buffers(i, param_state, names, numbers):
                    common = (values, fresh)
            if common != before or common is None:
                if before is not None:
                    self.ranges.append((first, i))
                    yield self._run(first, i, names, numbers, before[1])
                first, before = i, common
            if common is None and p._grad is not None:
                yield from single_run(p, state.get(p) or {}, names, numbers, fresh)
        if before is not None:
            self.ranges.append((first, len(self.params)))
            yield self._run(first, len(self.params), names, numbers, before[1])

    def _move_in(self, i: int, state: Any, names: dict[str, Any], numbers: dict[str, Any]) -> bool:
        """Move parameter i and its state into the buffers where possible, and make missing state; whether an array was
        missing."""
        p = self.params[i]
        move(p, self.views[i])
        fresh = False
        for name, start in chain(numbers.items(), names.items()):
            param_state, view = state[p], self.slot_views[name][i]
            if name in param_state:
                if not isinstance(param_state[name], Tensor):
                    param_state[name] = result(np.array(param_state[name], view.dtype))
                move(param_state[name], view)
                continue
            fresh = fresh or name in names
            if p.array is not self.views[i] and name in names:
                view = np.empty(p.array.shape, p.array.dtype)
            view[...] = start if view.dtype.kind != "c" else complex(start, start)
            param_state[name] = result(view)
        return fresh

    def _in_buffers(self, i: int, param_state: dict[str, Any], names: dict[str, Any], numbers: dict[str, Any]) -> bool:
        return self.params[i].array is self.views[i] and all(
            param_state[name].array is self.slot_views[name][i] for name in chain(numbers, names))

    def _run(self, first: int, end: int, names: dict[str, Any], numbers: dict[str, Any], fresh: bool) -> Run:
        part = slice(self.parts[first].start, self.parts[end - 1].stop)
        params = self.params[first:end]
        return Run(params, self.values[part], tuple(self.slots[name][part] for name in names),
                   {name: self.slots[name][first:end] for name in numbers}, fresh, self.scratch[:part.stop - part.start],
                   blocks_of([p.array.size for p in params]))


def blocks_of(sizes: list[int]) -> list[Block]:
    """Vectors of these sizes, end to end, cut into blocks of BLOCK elements; [] if one block holds all."""
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


def single_run(p: Tensor, param_state: dict[str, Any], names: dict[str, Any], numbers: dict[str, Any],
           fresh: bool) -> Iterator[Run]:
    """The run of a parameter outside of the buffers; one that is not contiguous is stepped as a copy and written back."""
    if p._grad.array.dtype != p.array.dtype:
        raise RuntimeError(f"gradient of dtype {p._grad.dtype} for a parameter of dtype {p.dtype}")
    for name in names:
        if param_state[name].array.dtype != p.array.dtype:      # the model was cast since
            param_state[name].array = converted(param_state[name].array, p.array.dtype)
    targets = [p.array, *(param_state[name].array for name in names)]
    vectors = [np.ascontiguousarray(a).reshape(-1) for a in targets]
    yield Run([p], vectors[0], tuple(vectors[1:]), {name: param_state[name].array.reshape(1) for name in numbers}, fresh,
              np.empty(min(p.array.size, BLOCK), p.array.dtype), blocks_of([p.array.size]))
    for target, vector in zip(targets, vectors, strict=True):
        if not target.flags.c_contiguous:
            target[...] = vector.reshape(target.shape)


def contiguous_span(params: list[Tensor]) -> tuple[Array, list[Array]] | None:
    """The span of a buffer that the parameters fill already, in order (another optimizer's buffer), and their arrays."""
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


def flat_buffers(params: list[Tensor]) -> list[FlatBuffers]:
    """FlatBuffers for parameters, by dtype, in order. Parameters that fill a span of a buffer already keep that buffer."""
    together: dict[Any, list[Tensor]] = {}
    for span in contiguous_groups(params):
        if span[0].array.base is not None and contiguous_span(span) is not None:
            together[id(span)] = span
        else:
            together.setdefault(span[0].array.dtype, []).extend(span)
    return [FlatBuffers(common) for common in together.values()]


def contiguous_groups(params: list[Tensor]) -> list[list[Tensor]]:
    """The parameters in order, grouped where they fill one span of a buffer."""
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


def move(tensor: Tensor, target: Array) -> None:
    """Make `target`, with the tensor's values, its array, if there is no other reference to the present one."""
    if tensor.array is not target and _movable(tensor, target):
        target[...] = tensor.array
        tensor.array = target


def _movable(tensor: Tensor, target: Array) -> bool:
    (array,) = arrays = [tensor.array]
    if array.base is not None or array.shape != target.shape or array.dtype != target.dtype:
        return False
    del array
    return holders(arrays) == [1]                    # the tensor itself
