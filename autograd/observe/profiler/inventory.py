"""What is in this process's memory now, and why: each live array by its use, and the rest by its kind.

The collector of garbage knows all objects that can hold others. Of these, modules, optimizers, buckets and the like say what
their arrays are for, by a method `_held_arrays()`; nodes of the graph hold what they have saved; tensors hold their
gradients. An array is a stretch of addresses, and of stretches that overlap the one with the most telling use counts, so
that views, tied parameters and gradients inside buckets count once. The system reports how much of a range is in RAM."""

from __future__ import annotations

import ctypes
import gc
import heapq
import inspect
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import filterfalse
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ...base import system_memory as system
from ...base.refcounts import holders
from ...core.graph import Node
from ...core.recording import Output
from ...core.tensor import Tensor
from ...kernels.blocks import Block
from ...modes.saved_tensor_hooks import Packed
from ...spans.spans import MODULE, profilers
from .collect import PARENT, SEQUENCE, A, kinds, threads_of

# uses of arrays, the most specific one first
USES = {"parameters": "of modules and optimizers",
        "buffers": "of modules",
        "gradient buckets": "of DataParallel, with the gradients that are views of them",
        "gradients": "with memory of their own",
        "optimizer state": "moments, momentum and the like",
        "workspaces": "scratch memory and compiled code of kernels",
        "activations": "saved for backward by live graphs",
        "other tensors": "inputs, outputs, data",
        "other arrays": "in no tensor"}
# the other memory of a process
OTHERS = {"freed memory": "kept by malloc, kernels and Python for what comes next",
          "Python objects": "the interpreter's, estimated",
          "libraries": "the interpreter's files and other programs, mapped",
          "shared memory": "of other ranks' buckets, and of MPI"}
VIEW, TENSOR, OWNER, ARRAY = range(4)                # rounds in which memory is claimed; each claims the rest
CONTAINERS = (tuple, list, dict, set, Output, Packed)
LEAST_BLAS = 1 << 25                                 # OpenBLAS maps its buffers in multiples of this
UNTOUCHED = 1 << 20                                  # bytes from which arrays are checked for being in RAM
SMALL = 512                                          # larger objects are not in Python's own arenas


class Claim(NamedTuple):
    """A stretch of addresses with its holder. Claims are compared by rank: the lowest one counts."""

    start: int
    end: int
    rank: tuple[int, int]                            # the round, and the use's place
    use: str
    label: tuple[str, ...]                           # for activations module and operation; else the most specific


class Holding(NamedTuple):
    """Bytes of one use with one label."""

    use: str
    label: tuple[str, ...]
    resident: int
    allocated: int
    arrays: int


class Inventory(NamedTuple):
    """The result of take_inventory(). Bytes by use are those in RAM."""

    resident: int | None                             # as counted by the system; None if it does not report it
    proportional: int                                # the same, with pages that n processes share counted 1 / n
    by_use: dict[str, int]
    holdings: list[Holding]                          # the largest first
    stretches: list[tuple[int, int, Claim]]          # disjoint: start, end and holder

    @property
    def accounted(self) -> int:
        """The sum over all uses."""
        return sum(self.by_use.values())

    @property
    def arrays(self) -> int:
        """Bytes of all arrays, including untouched ones, which are not in RAM."""
        return sum(holding.allocated for holding in self.holdings if holding.use in USES)


def take_inventory(whole: bool = True) -> Inventory:
    """Inspect all objects and mappings; 0.1 s for 50,000 objects. whole=False: only arrays."""
    mapped = system.mappings() if whole else []
    resident = system.resident() if whole else None
    blocks, python = sys.getallocatedblocks(), system.python_info() if whole else None
    malloc = system.malloc_info() if whole else None
    found = Found()
    small, large = found.search(whole)
    stretches = list(disjoint(found.claims))
    in_ram = system.in_ram([(start, end) for start, end, _ in stretches]) if whole else [e - s for s, e, _ in stretches]
    sums: dict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(lambda: [0, 0])
    for (start, end, claim), size in zip(stretches, in_ram, strict=True):
        row = sums[claim.use, claim.label]
        row[0] += size
        row[1] += end - start
    if whole:
        process(sums, mapped, stretches, in_ram, malloc)
        used = python.used if python is not None else max(small[1], blocks * small[1] // max(small[0], 1))
        sums["Python objects", ()][0] = large + used
        if python is not None:
            sums["freed memory", ("by Python, for small objects",)][0] += python.free
    holdings = [Holding(use, label, row[0], row[1], found.counts[use, label]) for (use, label), row in sums.items()]
    holdings.sort(key=lambda holding: -holding.resident)
    by_use = dict.fromkeys((*USES, *OTHERS) if whole else USES, 0)
    for holding in holdings:
        if holding.use in by_use:                    # freed blocks are found without `whole`, too
            by_use[holding.use] += holding.resident
    return Inventory(resident, sum(m.pss for m in mapped), by_use, holdings, stretches)


def process(sums: dict[Any, list[int]], mapped: list[system.Mapping], stretches: list[tuple[int, int, Claim]],
            in_ram: list[int], malloc: Any) -> None:
    """Add memory that is not in arrays, by mapping."""
    inside: Counter[int] = Counter()                 # bytes of arrays in RAM, by the start of the mapping
    untouched: Counter[int] = Counter()
    place = 0
    for (start, end, claim), size in zip(stretches, in_ram, strict=True):
        while place < len(mapped) and mapped[place].end <= start:
            place += 1
        if place < len(mapped):
            inside[mapped[place].start] += size
            untouched[mapped[place].start] += end - start - size
            if mapped[place].is_shared and claim.use == "other arrays" and not claim.label:  # views of another rank's
                for use, sign in (("other arrays", -1), ("shared memory", 1)):
                    sums[use, ()][0] += sign * size
                    sums[use, ()][1] += sign * (end - start)
    away = 0                                         # bytes of malloc's heap that are neither in RAM nor in arrays
    has_blas = any("openblas" in mapping.name for mapping in mapped)
    for mapping in mapped:
        rest = max(mapping.rss - inside[mapping.start], 0)
        size = mapping.end - mapping.start
        if mapping.is_shared:
            sums["shared memory", ()][0] += rest
        elif mapping.is_file:
            sums["libraries", ()][0] += rest
        elif not mapping.name and "x" in mapping.permissions:
            sums["workspaces", ("code compiled for this processor",)][0] += rest
        elif has_blas and not mapping.name and size % LEAST_BLAS == 0 and not inside[mapping.start]:
            sums["workspaces", ("OpenBLAS's buffers",)][0] += rest
        elif mapping.name == "[heap]":               # several, if some of its pages are of another kind
            away += size - mapping.rss - untouched[mapping.start]
    if malloc is not None:
        sums["freed memory", ("by malloc",)][0] += max(malloc.fordblks - max(away, 0), 0)


class Found:
    """All arrays that can be found from the objects that the collector of garbage knows."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        self.counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self._seen: set[tuple[int, int, int]] = set()
        self._owners: list[tuple[Any, Claim]] = []

    def search(self, whole: bool) -> tuple[tuple[int, int], int]:
        """Claim all memory. With `whole` returns the number and bytes of small Python objects, and the bytes of large
        ones."""
        local = arrays_of_frames()                   # first: the list of all objects also holds those of frames
        objects = tracked_objects()                  # and no list that would find itself
        objects.append(local)
        tensors, nodes, holders = self._sorted(objects)
        for holder in holders:
            for use, label, tensor in told(holder):
                self._claim(array_of(tensor), use, (label,) if label else ())
        for tensor in tensors:
            grad = getattr(tensor, "_grad", None)
            if grad is not None:
                self._claim(array_of(grad), "gradients", ())
        of_node = makers()
        for node in sorted(nodes, key=lambda node: getattr(node, "seq", None) or 0):  # shared: of the first
            made_by = (of_node(node), node.name())
            for array in saved_arrays(node):
                self._claim(array, "activations", made_by)
        for tensor in tensors:
            self._claim(array_of(tensor), "other tensors", (), TENSOR)
        for array, claim in self._owners:
            self._add(array, claim.use, claim.label, OWNER)
        return self._search_rest(objects, whole)

    def _sorted(self, objects: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Tensors, nodes, and objects that report what they hold."""
        kind_of: dict[type, list[Any] | None] = {}
        tensors: list[Any] = []
        nodes: list[Any] = []
        holders: list[Any] = []
        for each in objects:
            kind = type(each)
            if kind not in kind_of:
                kind_of[kind] = (tensors if issubclass(kind, Tensor) else nodes if issubclass(kind, Node) else
                                 holders if tells(kind) else None)
            where = kind_of[kind]
            if where is not None:
                where.append(each)
        return tensors, nodes, holders

    def _search_rest(self, objects: list[Any], whole: bool) -> tuple[tuple[int, int], int]:
        """Claim arrays that belong to no tensor, and add up the sizes of Python objects."""
        held: dict[int, Any] = {}                    # untracked objects, by id
        for part in parts_of(objects):
            untracked = list(filterfalse(gc.is_tracked, gc.get_referents(*part)))
            held.update(zip(map(id, untracked), untracked, strict=True))
        are_arrays: dict[type, bool] = {}
        left_out: set[type] = set()
        small = bytes_small = large = 0
        for part in parts_of([*objects, *held.values()]):
            kinds = set(map(type, part))             # not isinstance(), which reads __class__ of some objects
            for kind in kinds - are_arrays.keys():
                are_arrays[kind] = issubclass(kind, (np.ndarray, ctypes.Array))
                if tells_size(kind):
                    left_out.add(kind)
            if kinds & left_out:
                part = [each for each in part if type(each) not in left_out]
            if any(map(are_arrays.__getitem__, kinds)):
                for each in part:
                    if are_arrays[type(each)]:
                        self._rest(each)
                part = [each for each in part if not are_arrays[type(each)]]
            if whole:
                sizes = sizes_of(part)
                for place in np.flatnonzero(sizes > UNTOUCHED).tolist():
                    if type(part[place]) in (bytes, str):            # bytes(10**9) has never been written to
                        start = id(part[place])
                        sizes[place] = system.in_ram([(start, start + int(sizes[place]))])[0]
                of_large = sizes[sizes > SMALL]
                large += int(of_large.sum())
                small += len(sizes) - len(of_large)
                bytes_small += int(sizes.sum() - of_large.sum())
        return (small, bytes_small), large

    def _rest(self, array: Any) -> None:
        if not issubclass(type(array), np.ndarray):
            self._stretch(ctypes.addressof(array), ctypes.sizeof(array), "workspaces", ("scratch memory of oneDNN",), ARRAY)
            return
        label: tuple[str, ...] = ("of files that are mapped",) if isinstance(array, np.memmap) else ()
        array = owner_of(array)
        if type(array) is Block:
            self._add(array, "freed memory", ("by kernels, for arrays of its size",), ARRAY)
        else:
            self._add(array, "other arrays", label, ARRAY)

    def _claim(self, array: Any, use: str, label: tuple[str, ...], turn: int = VIEW) -> None:
        """Claim an array, and later the rest of the array of which it is a view."""
        if not isinstance(array, np.ndarray):
            return
        claim = self._add(array, use, label, turn)
        owner = owner_of(array)
        if claim is not None and owner is not array:
            self._owners.append((owner, claim))

    def _add(self, array: Any, use: str, label: tuple[str, ...], turn: int) -> Claim | None:
        start, end = bounds(array)
        return self._stretch(start, end - start, use, label, turn)

    def _stretch(self, start: int, size: int, use: str, label: tuple[str, ...], turn: int) -> Claim | None:
        if size <= 0:
            return None
        rank = (turn, ORDER[use])
        claim = Claim(start, start + size, rank, use, label)
        key = (start, size, turn * len(ORDER) + ORDER[use])
        if key not in self._seen:
            self._seen.add(key)
            self.claims.append(claim)
            if turn != OWNER:
                self.counts[use, label] += 1
        return claim


def owner_of(array: Any) -> Any:
    """The array, or the block, that owns the memory of an array. A block starts at a cache line of a larger one."""
    while isinstance(array.base, np.ndarray) and type(array) is not Block:
        array = array.base
    return array


def arrays_of_frames() -> list[Any]:
    """The arrays in local variables of running functions, in all threads; the collector does not search those."""
    found: list[Any] = []
    around: Any
    for around in sys._current_frames().values():
        while around is not None and around.f_globals is globals():
            around = around.f_back                   # these would contain themselves
        while around is not None:
            variables = around.f_locals
            found += [value for value in list(variables.values()) if issubclass(type(value), np.ndarray)]
            # up to Python 3.12 the frame keeps this dict, and so the arrays, unless it is emptied. A dict that is also
            # referenced elsewhere, after a call of locals(), is left alone
            if type(variables) is dict and around.f_code.co_flags & inspect.CO_OPTIMIZED and holders([variables])[0] <= 2:
                variables.clear()
            around = around.f_back
        variables = None                             # it may hold another thread's frame, which holds this one
    return found


def parts_of(objects: list[Any]) -> Iterator[list[Any]]:
    """A list in parts, each for loops in C over all of its objects: there are millions of them in a large process."""
    return (objects[place:place + 4096] for place in range(0, len(objects), 4096))


def sizes_of(objects: list[Any]) -> np.ndarray[Any, Any]:
    """sys.getsizeof() of each; 0 for objects of users' classes that raise."""
    try:
        return np.fromiter(map(sys.getsizeof, objects), np.int64, len(objects))
    except Exception:
        half = len(objects) // 2
        return np.concatenate([sizes_of(objects[:half]), sizes_of(objects[half:])]) if half else np.zeros(1, np.int64)


def tracked_objects() -> list[Any]:
    """All objects that the garbage collector tracks, and those hidden by gc.freeze() that are reachable from modules and
    running code."""
    objects = gc.get_objects()
    if not gc.get_freeze_count():
        return objects
    objects.append(sys.modules)
    for running in sys._current_frames().values():
        frame = running.f_back                       # not this function's own
        while frame is not None:
            objects.append(list(frame.f_locals.values()))
            frame = frame.f_back
    seen = set(map(id, objects))
    left = objects
    while left:
        found: dict[int, Any] = {}
        for part in parts_of(left):
            tracked = list(filter(gc.is_tracked, gc.get_referents(*part)))
            found.update(zip(map(id, tracked), tracked, strict=True))
        fresh = found.keys() - seen
        seen |= fresh
        left = list(map(found.__getitem__, fresh))
        objects += left
    return objects


ORDER = {use: place for place, use in enumerate((*USES, *OTHERS))}


def tells(kind: type) -> bool:
    """Whether objects of a class report the uses of their arrays."""
    return any("_held_arrays" in base.__dict__ for base in kind.__mro__)


def tells_size(kind: type) -> bool:
    """Whether a class computes its size in Python. It then includes its contents (pandas), which are counted separately."""
    return any(type(base.__dict__.get("__sizeof__")) is FunctionType for base in kind.__mro__)


def told(holder: Any) -> list[tuple[str, str, Any]]:
    """An object's report of its arrays; nothing if another thread keeps changing it, or if it is incomplete."""
    for _ in range(3):
        try:
            return list(holder._held_arrays())
        except (RuntimeError, AttributeError):
            continue
    return []


def array_of(value: Any) -> Any:
    """The array of a tensor; an array itself; else None or the placeholder in a tensor whose values are elsewhere."""
    return value if isinstance(value, np.ndarray) else getattr(value, "array", None)


def bounds(array: Any) -> tuple[int, int]:
    """The addresses from the first to behind the last byte of an array."""
    array = np.asarray(array)                        # subclasses, such as a replay's, may refuse
    start = array.__array_interface__["data"][0]
    if not array.size:
        return start, start
    if array.flags.c_contiguous:
        return start, start + array.nbytes
    reach = [(size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True)]
    return start + sum(r for r in reach if r < 0), start + sum(r for r in reach if r > 0) + array.itemsize


def saved_arrays(node: Any) -> Iterator[Any]:
    """The arrays saved by a node for backward, also as attributes of a Function's ctx."""
    left: list[Any] = [node.saved, getattr(node, "to_save", None), *vars(node).values()]
    seen: set[int] = set()
    while left:
        value = left.pop()
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, Tensor):
            yield value.array
        elif isinstance(value, CONTAINERS) and id(value) not in seen:
            seen.add(id(value))
            left += (value.values() if isinstance(value, dict) else (value.array,) if isinstance(value, Output) else
                     (value.payload,) if isinstance(value, Packed) else value)


def disjoint(claims: list[Claim]) -> Iterator[tuple[int, int, Claim]]:
    """Disjoint stretches in order of address, each with the claim that applies."""
    claims = sorted(claims)
    waiting: list[tuple[tuple[int, int], int, Claim]] = []
    place = position = 0
    while place < len(claims) or waiting:
        if not waiting:
            position = max(position, claims[place].start)
        while place < len(claims) and claims[place].start <= position:
            heapq.heappush(waiting, (claims[place].rank, place, claims[place]))
            place += 1
        claim = waiting[0][2]
        if claim.end <= position:
            heapq.heappop(waiting)
            continue
        end = claim.end if place == len(claims) else min(claim.end, claims[place].start)
        yield position, end, claim
        position = end


def makers() -> Callable[[Any], str]:
    """A function that returns the full name of the module in which a node was created, while a profiler records, else
    ""."""
    if not profilers:
        return lambda node: ""
    names = module_names()
    made: dict[int, str] = {}
    for thread in threads_of(profilers[0]):
        spans = thread.spans
        kind = kinds(spans)
        for row in np.flatnonzero(spans[:, SEQUENCE] >= 0).tolist():
            sequence, around = int(spans[row, SEQUENCE]), int(spans[row, PARENT])
            while around >= 0 and kind[around] != MODULE:
                around = int(spans[around, PARENT])
            if around >= 0:
                made.setdefault(sequence, names.get(int(spans[around, A]), ""))
    return lambda node: made.get(node.seq, "")


def module_names() -> dict[int, str]:
    """The full name of each module by its id, as in spans: Net.layer1.0."""
    objects = tracked_objects()
    kinds = {kind for kind in set(map(type, objects)) if tells(kind) and hasattr(kind, "named_modules")}
    modules = [each for each in objects if type(each) in kinds]
    inner = {id(child) for module in modules for child in module._modules.values() if child is not None}
    names: dict[int, str] = {}

    def visit(module: Any, name: str) -> None:
        if names.setdefault(id(module), name) == name:
            for key, child in module._modules.items():
                if child is not None:
                    visit(child, f"{name}.{key}")

    for module in modules:
        if id(module) not in inner:
            visit(module, type(module).__name__)
    return names


def activations(holdings: Iterable[Holding]) -> list[Holding]:
    """The arrays saved for backward."""
    return [holding for holding in holdings if holding.use == "activations"]
