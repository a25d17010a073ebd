"""Groups: loops over rows with loops over columns inside, which make as many operations as fit.

An operation joins a group if its elements are the group's, or one per row, and if every value that the group writes is read
where it is written. A reduction of rows ends an inner loop; operations on its results follow, and another inner loop.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...kernels.loops.pieces import PASS, PIECE, pieces_of
from ..lowering.ir import Storage
from .normal import Call, Operand, Strides, Work

LARGEST = 256                        # operations of a group: LLVM's time grows faster than their number
AHEAD = 256                          # operations that may be passed over to find more for a group
SMALL = 2048                         # elements below which a group takes operations that share no memory with it
Place = tuple[int, tuple[tuple[int, int, int], ...], int]


def collapsed(shape: tuple[int, ...], strides: Strides) -> list[tuple[int, int]]:
    """(size, stride) of dimensions, adjacent ones joined where they can be."""
    out: list[tuple[int, int]] = []
    for n, s in zip(shape, strides, strict=True):
        if out and out[-1][1] == n * s:
            out[-1] = out[-1][0] * n, s
        else:
            out.append((n, s))
    return out


def place_of(x: Operand, shape: tuple[int, ...], rows: int, columns: int) -> Place | None:
    """Where an operand lies in a loop of rows and columns: (offset, ((q, n, stride), ...), column stride).

    Row i is at the sum of (i // q % n) * stride. None if its dimensions do not end where the columns begin.
    """
    dims, column = collapsed(shape, x.strides), 0
    if columns > 1:
        n, column = dims.pop()
        if n % columns:
            return None
        if n > columns:
            dims.append((n // columns, column * columns))
    terms, q = [], 1
    for n, s in reversed(dims):
        if s:
            terms.append((q, n, s))
        q *= n
    return x.offset, tuple(terms), column


class Group:
    """Operations in one loop over `rows`, with loops over `columns` inside."""

    def __init__(self, work: Work) -> None:
        self.works: list[Work] = []
        self.places: dict[Work, tuple[list[Place | None], Place]] = {}
        self.level: dict[Work, int] = {}             # 2: of elements, 1: of rows
        self.reads: set[Storage] = set()
        self.writes: set[Storage] = set()
        self.late: set[Storage] = set()              # complete only after the loop
        self._seen: dict[Storage, set[Any]] = {}
        self._steps: list[tuple[int, Work]] | None = None
        self.stage: int = work.stage
        self.rows, self.columns = natural(work)
        self._fit(work, self.rows, self.columns)

    def may_add(self, work: Work) -> bool:
        """Whether sizes and storages allow it."""
        return (prod(work.shape) in (self.rows * self.columns, self.rows) and len(self.works) < LARGEST
                and work.stage == self.stage and not (work.reads | work.writes) & self.late)

    def shares(self, work: Work) -> bool:
        """Whether it works on the group's memory, or so little that it does not matter."""
        return self.rows * self.columns <= SMALL or bool((work.reads | work.writes) & (self.reads | self.writes))

    def add(self, work: Work) -> bool:
        """Take the operation in if it fits: whether it did."""
        size = prod(work.shape)
        if not self.may_add(work):
            return False
        if self._fit(work, self.rows, self.columns):
            return True
        rows, columns = natural(work)
        if size != self.rows * self.columns or self.columns % columns or self.columns == columns:
            return False
        trial = Group.__new__(Group)                 # the same operations in shorter rows
        trial.__dict__.update(self.__dict__, rows=rows, columns=columns, works=[], places={}, level={}, reads=set(),
                              writes=set(), late=set(), _seen={})
        if all(trial._fit(w, rows, columns) for w in (*self.works, work)):
            self.__dict__.update(trial.__dict__)
            return True
        return False

    def _fit(self, work: Work, rows: int, columns: int) -> bool:
        size = prod(work.shape)
        if size == rows * columns:
            level = 2
        elif size == rows and work.how in ("map", "total"):
            level, columns = 1, 1
        else:
            return False
        places = [place_of(x, work.shape, rows, columns) if isinstance(x, Operand) else None for x in work.ins]
        out = place_of(work.out, work.shape, rows, columns)
        indices = [place_of(x.index, work.shape, rows, columns) for x in (*work.ins, work.out)
                   if isinstance(x, Operand) and x.index is not None]
        if out is None or None in indices or any(
                p is None and isinstance(x, Operand) for x, p in zip(work.ins, places, strict=True)):
            return False
        if (work.how == "row" and (work.inner != columns or out[2])) or (work.how == "columns" and not out[2]):
            return False
        seen: dict[Storage, set[Any]] = {}
        for x, p in [*zip(work.ins, places, strict=True), (work.out, out)]:
            if isinstance(x, Operand):
                seen.setdefault(x.storage, set()).add(p if x.index is None else (p, x.index))
                if x.index is not None:
                    seen.setdefault(x.index.storage, set()).add(place_of(x.index, work.shape, rows, columns))
        if self.works:
            for storage, here in seen.items():
                if storage in self.writes or storage in work.writes:
                    known = self._seen.get(storage, set()) | here
                    if len(known) > 1:
                        return False
        for storage, here in seen.items():
            self._seen.setdefault(storage, set()).update(here)
        self.reads |= work.reads
        self.writes |= work.writes
        if work.how in ("total", "columns", "scatter"):
            self.late |= work.writes
        self.places[work], self.level[work] = (places, out), level
        self.works.append(work)
        return True

    def steps(self) -> list[tuple[int, Work]]:
        """(position, operation): even positions are inner loops, odd ones code of the row after them."""
        if self._steps is None:
            ready: dict[Storage, int] = {}           # from which position a value can be read
            touched: dict[Storage, int] = {}         # the last position that reads or writes it
            self._steps = []
            for work in self.works:
                at = max([0, *[ready.get(s, 0) for s in work.reads], *[touched.get(s, 0) for s in work.writes]])
                at += (at % 2 == 0) != (self.level[work] == 2)
                for s in work.reads:
                    touched[s] = max(touched.get(s, 0), at)
                for s in work.writes:
                    ready[s] = touched[s] = at + (work.how == "row")
                self._steps.append((at, work))
        return self._steps

    def cuts(self, threads: int) -> list[tuple[int, int]]:
        """First and last of the rows, or of the columns of one row, that make a piece for threads; by sizes alone."""
        single = ("map",) if self.rows == 1 else ("map", "row")
        if threads == 1 or any(work.how not in single for work in self.works):
            return []
        items = self.rows if self.rows > 1 else self.columns
        piece = PIECE if len(self.works) > 4 else PASS
        count = pieces_of(self.rows * self.columns, items, 2 * threads, piece)
        return [(items * k // count, items * (k + 1) // count) for k in range(count)] if count > 1 else []

    def in_registers(self) -> set[Storage]:
        """Written storages whose values need no memory if nothing else reads them."""
        inner: dict[Storage, set[int]] = {}
        for at, work in self.steps():
            for s in work.reads | work.writes:
                inner.setdefault(s, set()).add(at)
        out = set()
        for work in self.works:
            s = work.out.storage
            rows = self.level[work] == 1 or work.how == "row"
            if s not in self.late and len(self._seen[s]) == 1 and (rows or len(inner[s]) == 1):
                out.add(s)
        first: set[Storage] = set()                  # what is read before it is written comes from memory
        for work in self.works:
            out -= work.reads - first
            first |= work.writes
        return out


def natural(work: Work) -> tuple[int, int]:
    """Rows and columns of one operation alone: the longest rows that all operands allow."""
    if not work.shape:
        return 1, 1
    size, columns = prod(work.shape), 0
    if work.how == "row":
        return size // work.inner, work.inner
    for x in (*work.ins, work.out):
        for operand in (x, x.index) if isinstance(x, Operand) else ():
            if operand is not None:
                n = collapsed(work.shape, operand.strides)[-1][0]
                columns = n if not columns else min(n, columns)
    columns = columns or size
    return size // columns, columns


def grouped(items: list[Any], fuse: bool = True) -> list[Any]:
    """The items in order, loops as Groups. An operation that does not fit waits for the next group."""
    out: list[Any] = []
    taken = [False] * len(items)
    for at, item in enumerate(items):
        if taken[at]:
            continue
        out.append(Group(item) if isinstance(item, Work) else item)
        if fuse and isinstance(item, Work):
            for n in Joining(out[-1], items, taken).run(at + 1):
                taken[n] = True
    return out


class Joining:
    """The search for operations that a group can take, past those that it can't."""

    def __init__(self, group: Group, items: list[Any], taken: list[bool]) -> None:
        self.group = group
        self.items = items
        self.taken = taken
        self.readers: dict[Storage, list[int]] = {}  # of the operations passed over
        self.writers: dict[Storage, list[int]] = {}
        self.free: dict[int, set[int]] = {}          # passed over as they share no memory with the group; what they need

    def run(self, start: int) -> list[int]:
        """Numbers of the operations that have joined."""
        joined: list[int] = []
        passed = 0
        for n in range(start, len(self.items)):
            if self.taken[n]:
                continue
            item = self.items[n]
            before = {k for s in item.reads | item.writes for k in self.writers.get(s, ())}
            before |= {k for s in item.writes for k in self.readers.get(s, ())}
            before -= set(joined)
            if isinstance(item, Work) and before <= self.free.keys() and self.group.may_add(item):
                if self.group.shares(item):
                    chain = sorted({n, *before, *[k for b in before for k in self.free[b]]} - set(joined))
                    for k in chain:                  # what it needs first
                        if not self.group.add(self.items[k]):
                            break
                        joined.append(k)
                    if joined and joined[-1] == n:
                        continue
                else:
                    self.free[n] = before.union(*[self.free[b] for b in before])
            for s in item.reads:
                self.readers.setdefault(s, []).append(n)
            for s in item.writes:
                self.writers.setdefault(s, []).append(n)
            passed += 1
            if passed > AHEAD:
                break
        return joined


__all__ = ["Call", "Group", "Place", "grouped"]
