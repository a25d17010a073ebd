"""Native code for recorded programs: loops that fuse their operations, compiled by LLVM.

normal.py brings operations into one form, fuse.py groups them into loops, memory.py places temporaries, emit.py writes
LLVM's text, and build.py compiles and loads it. Read first: normal.py.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from ...base.thread_pool import share
from ...base.types import Array
from ...kernels.addresses import address
from ...kernels.threads import number
from ..lowering.ir import Op, Ref, Storage
from .build import BuildError, Library, available
from .emit import Calls, Loops, Matrices, module
from .fuse import Group, grouped
from .libraries import guarded, libm
from .memory import LINE, places
from .normal import Bound, Call, Product, staged
from .normal import reason as unsupported

NAMED = 12                           # operations in the name of a loop


def run_pieces(calls: list[Callable[[], Any]]) -> None:
    """Make the calls on as many threads as may work now."""
    share(list(calls), number())


def title(kind: str, labels: list[str]) -> str:
    """A name of a loop or product: its operations."""
    names = [*dict.fromkeys(labels)]
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "") + f" ({kind})"


class Native:
    """A program in native code.

    fuse: many operations in one loop. contract: multiplications and additions may be rounded once together. threads: how
    many threads work on large loops. Operations of kind "call" run between the stretches of native code.
    """

    def __init__(self, ops: Iterable[Op], fuse: bool = True, contract: bool = True, threads: int = 1) -> None:
        ops = list(ops)
        items = grouped([work for op in ops for work in staged(op)], fuse)
        self._places, size = places(items)
        self._block = np.zeros(size + LINE, np.uint8)
        self._base = -(-self._block.ctypes.data // LINE) * LINE
        self._slots: dict[Any, int] = {"block": 0}   # of the table: storages, and names of libraries' functions
        self._addresses: list[int] = [self._base]
        self._arrays: dict[Storage, Array] = {}
        self._uses = 0
        self._threads = threads
        functions: dict[str, str] = {}
        stretches: list[list[str]] = []
        cuts: list[list[tuple[int, int]]] = []       # of each stretch: first and last row of the pieces for threads
        work: list[int] = []                         # of each stretch: multiplications of its largest product
        order: list[Any] = []
        self.kinds: list[tuple[str, list[str]]] = []     # loops and products, with the labels of their operations
        self._apart: list[tuple[str, Callable[[], Any]]] | None = None
        self._lengths: list[int] = []                # of the dimensions that loops index; for each whether an index left it
        self._outside = np.zeros(sum(len(w.ins) + 1 for x in items if isinstance(x, Group) for w in x.works), np.int64)
        self._flags, self._no_flags = self._outside.data, bytes(self._outside.nbytes)
        self._kernels: list[Any] = []                # Calls, and of others the function's name, pointers, cut and work
        for item in items:
            if isinstance(item, Call):
                order.append(item)
                self._kernels.append(item)
                continue
            cut = item.cuts(threads) if isinstance(item, Group) else []
            if not order or isinstance(order[-1], Call) or cut or cuts[-1]:
                order.append(len(stretches))
                stretches.append([])
                work.append(0)
                cuts.append(cut)
            lines, most = self._item(item, functions, contract, cut)
            stretches[-1] += lines
            work[-1] = max(work[-1], most)
        self.text: str = module(functions, stretches)
        self._table: Any = (ctypes.c_void_p * max(1, len(self._addresses)))(*self._addresses)
        primitives = [op.function for op in ops if op.kind == "primitive"]
        vars(self._table)["memory"] = self._block, self._arrays, primitives      # as long as a stretch can be called
        self._library = Library(self.text) if stretches else None
        self.parts: list[tuple[str, Callable[[], Any]]] = []
        for x in order:
            if isinstance(x, Call):
                self.parts.append((x.label, x.function))
            else:
                library: Any = self._library
                call: Callable[[], Any] = library.step(x, self._table)
                if cuts[x]:
                    call = partial(run_pieces, [library.step(x, self._table, piece) for piece in cuts[x]])
                self.parts.append((f"native {x}", guarded(call, work[x])))
        self.run: Callable[[], Any] = self.parts[0][1] if len(self.parts) == 1 and not self._lengths else self._run

    def _run(self) -> None:
        """The whole program. IndexError if an index that it has computed is outside of its dimension; it was clamped."""
        try:
            for _, part in self.parts:
                part()
        except BaseException:
            self._outside[:] = 0
            raise
        if self._flags.tobytes() != self._no_flags:
            found = int(self._outside.argmax())
            self._outside[:] = 0
            raise IndexError(f"index is out of bounds for a dimension of size {self._lengths[found]}; the compiled step has "
                             "run to its end, and what it wrote is of no use")

    def apart(self) -> list[tuple[str, Callable[[], Any]]]:
        """The parts with each loop and product by itself, for profilers, named by its operations."""
        if self._apart is None:
            self._apart = []
            kinds = iter(self.kinds)
            for kernel in self._kernels:
                if isinstance(kernel, Call):
                    self._apart.append((kernel.label, kernel.function))
                    continue
                name, places, cut, work = kernel
                library: Any = self._library
                call = partial(self._call, library.kernel(name, len(places), bool(cut)), places)
                made = partial(run_pieces, [partial(call, first, last - first) for first, last in cut]) if cut else call
                self._apart.append((title(*next(kinds)), guarded(made, work)))
        return self._apart

    def _call(self, function: Any, places: list[tuple[int, int]], *rows: int) -> None:
        function(*[(self._table[slot] or 0) + more for slot, more in places], *rows)

    # --- calls of functions -----------------------------------------------------------------------------------------------

    def _item(self, item: Any, functions: dict[str, str], contract: bool, cut: Any) -> tuple[list[str], int]:
        """The lines of a stretch that call the function of a group or product; a library's multiplications."""
        most = 0
        given: list[tuple[Any, int]]                 # storages and first elements; keys of other entries, and addresses
        if isinstance(item, Group):
            loops = Loops(item, self._places, contract, bool(cut))
            given = [*[(s, loops.start[s]) for s in loops.pointers], *[(name, libm(name)) for name in loops.functions]]
            if loops.outside:
                place = len(self._lengths)
                given.append((("outside", place), address(self._outside) + 8 * place))
                self._lengths += [x.length for x, _ in loops.outside]
            text = loops.text()
            self.kinds.append(("loop", [w.label for w in item.works]))
        elif isinstance(item, Bound):
            calls = Calls(item)
            given, text, most = [*calls.pointers], calls.text(), 1
            self.kinds.append(("primitive", [item.label]))
        else:
            assert isinstance(item, Product)
            matrices = Matrices(item, contract, self._threads)
            given = [(x.storage, x.offset) for x in (item.out, item.a, item.b)]
            if matrices.gemms is not None:
                given += matrices.gemms.pointers()
                most = matrices.gemms.work
            text = matrices.text()
            self.kinds.append(("product", [item.label]))
        name = functions.setdefault(text, f"k{len(functions)}")
        lines: list[str] = []
        places = [self._place(key, n) for key, n in given]
        self._kernels.append((name, places, cut, most))
        values = [f"ptr {self._pointer(*place, lines)}" for place in places] + (["i64 %first", "i64 %count"] if cut else [])
        return [*lines, f"  call void @{name}({', '.join(values)})"], most

    def _place(self, key: Any, n: int) -> tuple[int, int]:
        """The place in the table of a pointer to a storage, from its element n on, or of another address n; and the bytes to
        add to what is there."""
        if not isinstance(key, Storage):
            return self._slot(key, n), 0
        start = n * key.dtype.itemsize
        if key.array is None:
            return self._slots["block"], start + self._places[key]
        self._arrays[key] = key.array
        return self._slot(key, address(key.array)), start

    def _slot(self, key: Any, content: int) -> int:
        """The place of an entry in the table, a new one on first use."""
        if key not in self._slots:
            self._slots[key] = len(self._addresses)
            self._addresses.append(content)
        return self._slots[key]

    def _new(self, lines: list[str], text: str) -> str:
        self._uses += 1
        lines.append(f"  %u{self._uses} = {text}")
        return f"%u{self._uses}"

    def _pointer(self, slot: int, start: int, lines: list[str]) -> str:
        """A pointer of the table, `start` bytes on."""
        at = self._new(lines, f"getelementptr inbounds ptr, ptr %table, i64 {slot}")
        pointer = self._new(lines, f"load ptr, ptr {at}")
        return self._new(lines, f"getelementptr inbounds i8, ptr {pointer}, i64 {start}") if start else pointer

    # --- memory -----------------------------------------------------------------------------------------------------------

    def array(self, ref: Ref) -> Array:
        """A view of what the program has there: of a temporary, one that is kept; the array keeps the memory alive."""
        storage = ref.storage
        strides = tuple([s * ref.dtype.itemsize for s in ref.strides])
        if not storage.size:
            return np.empty(ref.shape, ref.dtype)
        if storage.array is not None:
            memory = self._arrays.get(storage, storage.array)
            flat = np.lib.stride_tricks.as_strided(memory, (storage.size,), (ref.dtype.itemsize,))
        else:
            if storage not in self._places:
                raise ValueError("Native.array: this temporary has no memory; set `keep` of its Storage before compiling")
            start = self._base - self._block.ctypes.data + self._places[storage]
            flat = self._block[start:start + storage.size * ref.dtype.itemsize].view(ref.dtype)
        return np.lib.stride_tricks.as_strided(flat[ref.offset:], ref.shape, strides)

    def bind(self, storage: Storage, array: Array) -> None:
        """From now on `array` is this outside storage's memory: of the same size and dtype, contiguous, and no other's."""
        flags = array.flags
        if array.dtype != storage.dtype or array.size != storage.size or not (flags.forc and flags.aligned):
            raise ValueError(f"Native.bind: {storage.size} contiguous, aligned elements of {storage.dtype} are required; "
                             f"the array has {array.size} of {array.dtype}")
        self._arrays[storage] = array
        slot = self._slots.get(storage)
        if slot is not None:
            self._table[slot] = address(array)


__all__ = ["BuildError", "Native", "available", "unsupported"]
