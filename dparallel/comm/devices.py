"""Local devices: one process holds every rank, and a thread computes for each."""

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
    """A communicator of `size` local devices in this process. Devices(1) is world() of a script without an MPI launcher.

    A list of distinct numbers names the devices, for error messages and output_device.
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
            raise ValueError(f"Devices({size!r}): pass a number of devices, at least 1, or a list of distinct numbers")
        self.size: int = len(names)
        self.held: tuple[int, ...] = tuple(range(self.size))
        self.names: tuple[int, ...] = tuple(int(name) for name in names)
        self.cores = None if cores is None else [_cores(cores, device, self.size) for device in self.held]
        self._mailbox: dict[Any, Any] = {}              # ((dest, source, tag), number of the message) -> message
        self._message_counts: Counter[Any] = Counter()

    def __reduce__(self) -> Any:
        """As many local devices; those of a process that is a job of its own are the job that unpickles."""
        return super().__reduce__() if self is self._this_job.comm else (Devices, (list(self.names), self.cores))

    def first(self, count: int) -> Devices:
        """A communicator of the first `count` devices."""
        return self if count == self.size else self._subset(range(count))

    def _subset(self, ranks: Sequence[int]) -> Devices:
        return Devices([self.names[rank] for rank in ranks], self.cores and [self.cores[rank] for rank in ranks])

    def _exchange(self, calls: list[Call]) -> list[Call]:
        check(calls)
        return calls

    def _issue(self, calls: list[Call], xs: list[Array], blocking: bool) -> Handle:
        check(calls)
        values: Any = results(calls, xs, self.held)
        return Handle(None, value=values[calls[0].root] if calls[0].name in ROOT_RESULT else values)

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """Sum the vectors in rank order and copy the sum to all of them, at once; the Handle is complete."""
        first = vectors_of(arrays)[0]
        if is_half(first.dtype):
            first[...] = combined(arrays, "sum")
        else:
            for array in arrays[1:]:
                np.add(first, array, out=first)
        for array in arrays[1:]:
            array[...] = first
        return Handle(None)

    def _send_message(self, local_rank: int, peer: int, tag: int, call: Call, x: Array) -> Handle:
        counter = ("sent", peer, local_rank, tag)
        self._mailbox[counter[1:], self._message_counts[counter]] = call, x.copy()
        self._message_counts[counter] += 1
        return Handle(None)

    def _receive_message(self, local_rank: int, peer: int, tag: int, what: str) -> Handle:
        counter = ("received", local_rank, peer, tag)
        key = counter[1:], self._message_counts[counter]
        self._message_counts[counter] += 1

        def receive() -> Any:
            if key not in self._mailbox:
                raise CollectiveError(f"{what} on device {local_rank}: nothing has been sent. One process holds all "
                                      "devices, so send a message before receiving it")
            return self._mailbox.pop(key)

        return Handle(receive, lambda: key in self._mailbox)

    def _probe(self, local_rank: int, peer: int, tag: int) -> bool:
        return ((local_rank, peer, tag), self._message_counts["received", local_rank, peer, tag]) in self._mailbox

    def _poll_until(self, poll: Callable[[], bool], what: str) -> None:
        if not poll():
            raise CollectiveError(f"{what}: nothing has been sent. One process holds all devices, so send a message "
                                  "before receiving it")

    def _groups(self, groups: list[list[int]], group_numbers: list[int | None]) -> list[Any]:
        communicators = [self._subset(group) for group in groups]
        return [None if number is None else communicators[number] for number in group_numbers]

    def duplicate(self) -> Devices:
        """A communicator of as many devices with the same names."""
        return self._subset(self.held)

    def free(self) -> None:
        """Discard messages that were never received."""
        self._mailbox.clear()
        self.free_groups()

    def abort(self, message: str) -> None:
        """Raise SystemExit with the message."""
        sys.exit(message)


def _cores(cores: Sequence[int | Collection[int]], device: int, size: int) -> frozenset[int]:
    """The cores of one device; ValueError unless this process may use them."""
    if not hasattr(os, "sched_setaffinity"):
        raise NotImplementedError(f"cores={cores}: this operating system has no call that binds a thread to cores")
    if len(cores) != size:
        raise ValueError(f"cores={cores}: {len(cores)} entries for {size} devices; pass cores for each")
    entry = cores[device]
    requested = frozenset([entry] if isinstance(entry, int) else entry)
    allowed = os.sched_getaffinity(0)
    if not requested or not requested <= allowed:
        raise ValueError(f"cores={cores}: device {device} requests {sorted(requested)}, but this process may use "
                         f"{sorted(allowed)}")
    return requested


def root_of(comm: Communicator, output_device: int | None) -> int:
    """The rank on which outputs are gathered: the index of device output_device, 0 for None. ValueError if there is none."""
    if output_device is None:
        return 0
    names = comm.names if isinstance(comm, Devices) else tuple(range(comm.size))
    if output_device not in names:
        raise ValueError(f"output_device={output_device} is not one of the devices {list(names)}")
    return names.index(output_device)
