"""What the heap of a process grows to, when arrays of these sizes come and go in this order: malloc and blocks, imitated.

Memory that is free lies between memory that is used, and a step takes more than its arrays have at any moment: 10 % more for
a transformer, 30 % for a CNN. glibc's malloc gives an array the smallest free stretch that is large enough, joins free
neighbours, and maps what is very large by itself (kernels/malloc.py sets from where on). kernels/blocks.py keeps the memory
of large arrays for others of the same size."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import NamedTuple

from ...kernels import blocks, malloc

ALIGN, HEADER = 16, 16
MAPPED = malloc.LARGE[0]


class Move(NamedTuple):
    """The array with this number is allocated with these bytes, or released (0 bytes)."""

    array: int
    size: int
    pooled: bool                                     # by blocks.empty()
    piece: int = 0                                   # of the program
    use: str = ""


class Heap:
    """Stretches of one line of addresses that grows at its end."""

    end: int
    mapped: int
    maps: int
    most: int

    def __init__(self) -> None:
        self.end = self.mapped = self.maps = self.most = 0
        self.sizes: dict[int, int] = {}              # of used stretches, by address
        self.free: list[tuple[int, int]] = []        # size and address, sorted
        self.free_at: dict[int, int] = {}            # size by address
        self.free_until: dict[int, int] = {}         # address by end

    def take(self, size: int) -> int:
        """The address of an allocation of this size; negative if it is mapped separately."""
        size = -(-(size + HEADER) // ALIGN) * ALIGN
        if size >= MAPPED and malloc.freed_memory_is_kept:
            self.mapped += size
            self.maps += 1
            address = -self.maps
            self.sizes[address] = size
        else:
            place = bisect_left(self.free, (size, 0))
            if place < len(self.free):
                found, address = self.free[place]
                self._remove(address, found)
                if found > size:
                    self._add(address + size, found - size)
            else:
                address = self.end
                self.end += size
            self.sizes[address] = size
        self.most = max(self.most, self.end + self.mapped)
        return address

    def give(self, address: int) -> None:
        """Release the allocation at an address."""
        size = self.sizes.pop(address)
        if address < 0:
            self.mapped -= size
            return
        before = self.free_until.get(address)
        if before is not None:
            length = self.free_at[before]
            self._remove(before, length)
            address, size = before, size + length
        after = self.free_at.get(address + size)
        if after is not None:
            self._remove(address + size, after)
            size += after
        self._add(address, size)                     # also at the end: a small object of the interpreter follows it

    def _add(self, address: int, size: int) -> None:
        insort(self.free, (size, address))
        self.free_at[address], self.free_until[address + size] = size, address

    def _remove(self, address: int, size: int) -> None:
        del self.free[bisect_left(self.free, (size, address))]
        del self.free_at[address], self.free_until[address + size]


class Pool:
    """blocks.Pool, of numbers."""

    def __init__(self, heap: Heap) -> None:
        self.heap = heap
        self.kept: dict[int, list[list[int]]] = {}   # by size: address, and whether it is used

    def take(self, size: int) -> list[int]:
        """A block of this size, marked as used: its address."""
        kept = self.kept.setdefault(size, [])
        for number, block in enumerate(kept):
            if not block[1]:
                kept.append(kept.pop(number))
                block[1] = 1
                return block
        idle = sum(each for each, of_size in self.kept.items() for block in of_size if not block[1])
        for each, of_size in self.kept.items():
            for number in reversed(range(len(of_size))):
                if idle > blocks.IDLE and not of_size[number][1]:
                    self.heap.give(of_size.pop(number)[0])
                    idle -= each
        kept.append([self.heap.take(size), 1])
        return kept[-1]


def heap_peak(moves: Sequence[Move]) -> int:
    """The largest size of the heap when these moves are made one after another."""
    heap = Heap()
    pool = Pool(heap)
    addresses: dict[int, int] = {}
    pooled: dict[int, list[int]] = {}
    for move in moves:
        if move.size:
            if move.pooled and move.size >= blocks.LARGE:
                pooled[move.array] = pool.take(move.size)
            else:
                addresses[move.array] = heap.take(move.size)
        elif move.array in pooled:
            pooled.pop(move.array)[1] = 0
        elif move.array in addresses:
            heap.give(addresses.pop(move.array))
    return heap.most
