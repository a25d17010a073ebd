"""Groups: communicators of a subset of the ranks."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from .header import CollectiveError

UNDEFINED = -32766                   # MPI.UNDEFINED in Open MPI, MPICH and MPI's standard ABI: no color


class Groups(ABC):
    """The part of a communicator that creates others. All methods are collective: all ranks call them in the same order."""

    size: int
    held: tuple[int, ...]

    def split(self, color: Any, key: Any = 0) -> Any:
        """Create a communicator of the ranks with this rank's color, ordered by key, then by rank (MPI_Comm_split).

        With several local ranks, color and key may be lists of one entry for each; split() then returns a list, with one
        object for all ranks of a color. Free the group with free(); otherwise it exists as long as the process.
        """
        several = isinstance(color, (list, tuple))
        colors = list(color) if several else [color] * len(self.held)
        keys = list(key) if isinstance(key, (list, tuple)) else [key] * len(colors)
        valid = len(colors) == len(keys)
        table = self.allgather_object(list(zip(colors, keys, strict=True)) if valid else [])
        members: dict[int, list[tuple[int, int]]] = {}
        for rank, (group, order) in enumerate(table):
            number = UNDEFINED if group is None else _as_integer(group, "color", rank)
            if number != UNDEFINED:
                members.setdefault(number, []).append((_as_integer(order, "key", rank), rank))
        groups = [[rank for _, rank in sorted(members[group])] for group in sorted(members)]
        group_numbers = [next((n for n, group in enumerate(groups) if rank in group), None) for rank in self.held]
        communicators = self._groups(groups, group_numbers)
        return communicators if several else communicators[0]

    def split_node(self) -> Any:
        """Create a communicator of the ranks on this host, which share memory, in rank order. Free it with free()."""
        return self.split(0)

    def node(self) -> Any:
        """split_node(), created at the first call and freed with this communicator."""
        if self._node is None:
            self._node = self.split_node()
        return self._node

    def leaders(self) -> Any:
        """A communicator of each host's first rank, None on all others; created at the first call, freed with this one."""
        if self._leaders == ():
            if len(self.held) > 1:                   # local devices: one host
                self._leaders = self.split([0] + [None] * (len(self.held) - 1))[0]
            else:
                self._leaders = self.split(0 if self.node().rank == 0 else None)
        return self._leaders

    _node: Any = None
    _leaders: Any = ()                               # not created yet

    def free_groups(self) -> None:
        """Free the groups cached by node() and leaders(); their next call creates them again. Collective."""
        cached, self._leaders, self._node = (self._leaders, self._node), (), None
        for group in cached:
            if isinstance(group, Groups):
                group.free()

    @abstractmethod
    def _groups(self, groups: list[list[int]], group_numbers: list[int | None]) -> list[Any]:
        """The communicator of each local rank's group, groups[group_numbers[i]] (a list of ranks); None for number None."""

    @abstractmethod
    def allgather_object(self, objects: Sequence[Any]) -> list[Any]:
        """The objects of all ranks, in rank order, on every rank; see Communicator."""

    @abstractmethod
    def free(self) -> None:
        """Free the communicator's resources; see Communicator."""


class Freed:
    """The resources of a freed communicator: any use raises RuntimeError."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("this communicator, or the one it was created from, was freed with free(): create a new one")


def _as_integer(value: Any, name: str, rank: int) -> int:
    """The value as an int; else the same error on all ranks, since all have the same table."""
    try:
        return operator.index(value)
    except TypeError:
        raise CollectiveError(f"split: the {name} of rank {rank} is {value!r}, not an integer"
                              + (" or None" if name == "color" else "")) from None
