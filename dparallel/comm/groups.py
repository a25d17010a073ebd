"""Groups: communicators of a part of the places."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from .header import CollectiveError

UNDEFINED = -32766                   # MPI.UNDEFINED in Open MPI, MPICH and MPI's standard ABI: no color


class Groups(ABC):
    """The part of a communicator that makes others. All methods are collective: every place calls them, in the same
    order.
    """

    size: int
    held: tuple[int, ...]

    def split(self, color: Any, key: Any = 0) -> Any:
        """A communicator of the places with this place's color, ordered by key, then by their number here
        (MPI_Comm_split).

        color is an integer, or None (or MPI.UNDEFINED) for a place that joins no group; it gets None. If this process
        holds several places (local devices), color may be a list with one entry for each held place (key too); the
        result is then a list of their groups, one object for all places of a color. Free the group by free();
        otherwise it lives as long as the process.

        Args:
            color: Places of one color stay together; None: this place belongs to none.
            key: Orders the places of one color; by rank if they are equal. Default: 0.

        Returns:
            A communicator.

        Raises:
            CollectiveError: split: the {name} of place {place} is {value}, not a whole number.

        Example:
            >>> import dparallel
            >>> dparallel.run_ranks(4, lambda comm: comm.split(comm.rank // 2).size)
            [2, 2, 2, 2]
        """
        several = isinstance(color, (list, tuple))
        colors = list(color) if several else [color] * len(self.held)
        keys = list(key) if isinstance(key, (list, tuple)) else [key] * len(colors)
        valid = len(colors) == len(keys)
        table = self.allgather_object(list(zip(colors, keys, strict=True)) if valid else [])
        members: dict[int, list[tuple[int, int]]] = {}
        for place, (group, order) in enumerate(table):
            number = UNDEFINED if group is None else _as_integer(group, "color", place)
            if number != UNDEFINED:
                members.setdefault(number, []).append((_as_integer(order, "key", place), place))
        groups = [[place for _, place in sorted(members[group])] for group in sorted(members)]
        group_numbers = [next((n for n, group in enumerate(groups) if place in group), None) for place in self.held]
        communicators = self._groups(groups, group_numbers)
        return communicators if several else communicators[0]

    def split_node(self) -> Any:
        """A communicator of the places on this host (that share memory), in their order here. Free it by free().

        Returns:
            A Communicator.

        Example:
            >>> import dparallel
            >>> def group(comm):
            ...     near = comm.split_node()
            ...     size = near.size
            ...     near.free()
            ...     return size
            >>> dparallel.run_ranks(2, group)
            [2, 2]
        """
        return self.split(0)

    def node(self) -> Any:
        """split_node(), created at the first call and freed with this communicator.

        Returns:
            A Communicator.

        Example:
            >>> import dparallel
            >>> def same_group(comm):
            ...     return comm.node().size, comm.node() is comm.node()
            >>> dparallel.run_ranks(2, same_group)
            [(2, True), (2, True)]
        """
        if self._node is None:
            self._node = self.split_node()
        return self._node

    def leaders(self) -> Any:
        """A communicator of the first place of every host, None on all other places; created at the first call, freed
        with this one.

        Returns:
            A Communicator, or None.

        Example:
            >>> import dparallel
            >>> def is_leader(comm):
            ...     return comm.leaders() is not None
            >>> dparallel.run_ranks(3, is_leader)             # three ranks on one host
            [True, False, False]
        """
        if self._leaders == ():
            if len(self.held) > 1:                   # local devices: one host
                self._leaders = self.split([0] + [None] * (len(self.held) - 1))[0]
            else:
                self._leaders = self.split(0 if self.node().rank == 0 else None)
        return self._leaders

    _node: Any = None
    _leaders: Any = ()                               # not created yet

    def free_groups(self) -> None:
        """Free the groups that node() and leaders() created and cached; the next call creates them again. Collective.

        Example:
            >>> import dparallel
            >>> def grouped(comm):
            ...     size = comm.node().size
            ...     comm.free_groups()
            ...     return size
            >>> dparallel.run_ranks(2, grouped)
            [2, 2]
        """
        cached, self._leaders, self._node = (self._leaders, self._node), (), None
        for group in cached:
            if isinstance(group, Groups):
                group.free()

    @abstractmethod
    def _groups(self, groups: list[list[int]], group_numbers: list[int | None]) -> list[Any]:
        """The communicator of each held place's group, groups[group_numbers[i]] (a list of places); None for number None."""

    @abstractmethod
    def allgather_object(self, objects: Sequence[Any]) -> list[Any]:
        """The picklable objects of all places, in place order, everywhere; see Communicator."""

    @abstractmethod
    def free(self) -> None:
        """Free the communicator's resources; see Communicator."""


class Freed:
    """The resources of a communicator that was freed: any use raises RuntimeError."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("this communicator was given back by free(), or with the one it was made from: it can't be used "
                           "any more")


def _as_integer(value: Any, name: str, place: int) -> int:
    """The value as an int; else the same error on all places, since all have the same table."""
    try:
        return operator.index(value)
    except TypeError:
        raise CollectiveError(f"split: the {name} of place {place} is {value!r}, not a whole number"
                              + (" or None" if name == "color" else "")) from None
