"""Local devices: one process holds every place, and a thread computes for each."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from .base import Array, Communicator, Handle, vectors_of
from .header import ROOT_RESULT, Call, CollectiveError, check
from .reference import combined, is_half, results

MOST = 1 << 16                       # local devices


class Devices(Communicator):
    """`size` places in this process; Devices(1) is what a script gets when it is not run under MPI.

    A list of distinct numbers instead of `size` names the places, for error messages and output_device. cores binds
    each place's thread to processor cores while it computes: for every place a core's number or several (Linux only).

    Args:
        size (int or ints): Number of places, 1 or more; or a list of distinct numbers.
        cores (Sequence[int or Collection[int]]): For each place a core's number or several.

    Raises:
        ValueError: size is no whole number from 1 to 65536, nor a list of distinct numbers of 0 or more.
        NotImplementedError: cores is given, and this operating system has no call that binds a thread to cores.
        ValueError: cores has not one entry for each place, or names cores that this process may not use.

    Example:
        >>> import dparallel
        >>> dparallel.Devices(2).size
        2
        >>> dparallel.Devices([3, 5, 7]).first(2).names
        (3, 5)
    """

    kind = "devices"
    cores: list[frozenset[int]] | None

    def __init__(self, size: int | Sequence[int], cores: Sequence[int | Collection[int]] | None = None) -> None:
        names: Any = size
        if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
            if size > MOST:
                raise ValueError(f"Devices({size}): local devices are threads of one process, at most {MOST:,} of them")
            names = list(range(size))
        valid = isinstance(names, (list, tuple, range)) and all(isinstance(n, (int, np.integer)) and n >= 0 for n in names)
        if not valid or not names or len(set(names)) < len(names):
            raise ValueError(f"Devices({size!r}): a whole number of places, at least one, or a list of different numbers")
        self.size: int = len(names)
        self.held: tuple[int, ...] = tuple(range(self.size))
        self.names: tuple[int, ...] = tuple(int(name) for name in names)
        self.cores = None if cores is None else [_cores(cores, place, self.size) for place in self.held]
        self._mailbox: dict[Any, Any] = {}              # ((dest, source, tag), number of the message) -> message
        self._message_counts: Counter[Any] = Counter()

    def __reduce__(self) -> Any:
        """As many local devices; those of a process that is a job of its own are the job that unpickles."""
        return super().__reduce__() if self is self._this_job.comm else (Devices, (list(self.names), self.cores))

    def first(self, count: int) -> Devices:
        """A communicator of the first `count` of these places.

        Args:
            count (int): How many, 1 to size.

        Raises:
            ValueError: count is 0.
            IndexError: count is above size.
        """
        return self if count == self.size else self._subset(range(count))

    def _subset(self, places: Sequence[int]) -> Devices:
        return Devices([self.names[p] for p in places], self.cores and [self.cores[p] for p in places])

    def _exchange(self, calls: list[Call]) -> list[Call]:
        check(calls)
        return calls

    def _issue(self, calls: list[Call], xs: list[Array], blocking: bool) -> Handle:
        check(calls)
        values: Any = results(calls, xs, self.held)
        return Handle(None, value=values[calls[0].root] if calls[0].name in ROOT_RESULT else values)

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """Sum the vectors in place order and copy the sum to all of them, at once; the Handle is complete.

        Args:
            arrays (list of array): One 1-d array for each place, all of one length and dtype.

        Returns:
            A Handle.
        """
        first = vectors_of(arrays)[0]
        if is_half(first.dtype):
            first[...] = combined(arrays, "sum")
        else:
            for array in arrays[1:]:
                np.add(first, array, out=first)
        for array in arrays[1:]:
            array[...] = first
        return Handle(None)

    def _send_message(self, local_place: int, peer: int, tag: int, call: Call, x: Array) -> Handle:
        counter = ("sent", peer, local_place, tag)
        self._mailbox[counter[1:], self._message_counts[counter]] = call, x.copy()
        self._message_counts[counter] += 1
        return Handle(None)

    def _receive_message(self, local_place: int, peer: int, tag: int, what: str) -> Handle:
        counter = ("received", local_place, peer, tag)
        key = counter[1:], self._message_counts[counter]
        self._message_counts[counter] += 1

        def receive() -> Any:
            if key not in self._mailbox:
                raise CollectiveError(f"{what} at place {local_place}: nothing has been sent. One process holds all places, "
                                      "so a message must be sent before it is received")
            return self._mailbox.pop(key)

        return Handle(receive, lambda: key in self._mailbox)

    def _probe(self, local_place: int, peer: int, tag: int) -> bool:
        return ((local_place, peer, tag), self._message_counts["received", local_place, peer, tag]) in self._mailbox

    def _poll_until(self, poll: Callable[[], bool], what: str) -> None:
        if not poll():
            raise CollectiveError(f"{what}: nothing has been sent. One process holds all places, so a message must be sent "
                                  "before it is received")

    def _groups(self, groups: list[list[int]], group_numbers: list[int | None]) -> list[Any]:
        communicators = [self._subset(group) for group in groups]
        return [None if number is None else communicators[number] for number in group_numbers]

    def duplicate(self) -> Devices:
        """A communicator of as many places under the same names."""
        return self._subset(self.held)

    def free(self) -> None:
        """Discard messages that were never received."""
        self._mailbox.clear()
        self.free_groups()

    def abort(self, message: str) -> None:
        """End this process by SystemExit with the message.

        Args:
            message (str): What the process says as it ends.

        Raises:
            SystemExit: always.
        """
        sys.exit(message)


def _cores(cores: Sequence[int | Collection[int]], place: int, size: int) -> frozenset[int]:
    """The cores of one place; ValueError unless this process may use them."""
    if not hasattr(os, "sched_setaffinity"):
        raise NotImplementedError(f"cores={cores}: this operating system has no call that binds a thread to cores")
    if len(cores) != size:
        raise ValueError(f"cores={cores}: {len(cores)} entries for {size} places; pass a core, or a list of them, for each")
    cores_of_place = cores[place]
    wanted = frozenset([cores_of_place] if isinstance(cores_of_place, int) else cores_of_place)
    allowed = os.sched_getaffinity(0)
    if not wanted or not wanted <= allowed:
        raise ValueError(f"cores={cores}: place {place} asks for {sorted(wanted)}, this process may use {sorted(allowed)}")
    return wanted


def root_of(comm: Communicator, output_device: int | None) -> int:
    """The place where outputs are gathered: the index of the place named output_device, 0 for None. ValueError if
    there is none.
    """
    if output_device is None:
        return 0
    names = comm.names if isinstance(comm, Devices) else tuple(range(comm.size))
    if output_device not in names:
        raise ValueError(f"output_device={output_device} is not one of the places {list(names)}")
    return names.index(output_device)
