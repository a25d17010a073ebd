"""A simulated network: ranks as threads whose calls arrive late and whose handles complete out of order, by a seed.

On ranks as threads everything that can be complete is, so mistakes of order pass: asking handles for done() in the order of
start, going on with whichever is done first (the ranks then go on with different ones), changing an array that is being
sent, reading a sum before wait(). On a real network they fail now and then. Here they fail for almost every seed, and the
same way each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..comm import Handle
from ..comm.base import Array
from ..comm.header import Call
from ..comm.threads import ThreadComm

NOTHING = -777.25                    # exact in all floats, also after adding to it
PATIENCE = 1.0                       # real seconds that a handle whose time has come waits for the other ranks


class NetworkError(RuntimeError):
    """A rank touched an array between the start of a collective and wait()."""


class Network:
    """How late things are: `delay` seconds at most for each call, `reorder` looks at most at a handle before it is done.

    Both are drawn for each call on each rank from `seed`: another seed is another network, the same seed the same one.

    >>> for seed in range(20):
    ...     run_ranks(3, check, network=Network(seed))
    """

    def __init__(self, seed: int = 0, *, delay: float = 0.001, reorder: int = 8) -> None:
        if not delay >= 0 or not reorder >= 0:
            raise ValueError(f"Network(delay={delay!r}, reorder={reorder!r}): seconds and looks, not below 0")
        self.seed, self.delay, self.reorder = int(seed), float(delay), int(reorder)

    def joined(self, comm: ThreadComm) -> NetworkComm:
        """The rank of a plain communicator, on this network."""
        return NetworkComm.over(comm, Wire(comm, self))

    def __repr__(self) -> str:
        return f"Network({self.seed}, delay={self.delay:g}, reorder={self.reorder})"


class Wire:
    """What stands between one rank and the meeting: it holds back what the rank brings, and what it would see."""

    def __init__(self, comm: ThreadComm, network: Network) -> None:
        self.exchange: Any = comm._exchange_point
        self.network, self.rank = network, comm.rank
        self.rng = np.random.default_rng([network.seed % 2**63, comm.rank])
        self.held: list[tuple[int, Any, int, Any, int]] = []     # when it leaves, in calls from now; what bring() is given
        self.looks: dict[Any, int] = {}              # number -> looks until the handle may be done
        self.late = False                            # whether what is brought now may leave later

    def __getattr__(self, name: str) -> Any:
        return getattr(self.exchange, name)           # all else is the meeting's own

    def put(self, number: Any, rank: int, item: Any, expected: int) -> None:
        """Put down what this rank brings: now, after a pause, or a few calls later."""
        self.tick()
        wait, looks = int(self.rng.integers(0, 3)), int(self.rng.integers(0, self.network.reorder + 1))
        self.looks[number] = looks
        if self.late:
            self.held.append((wait, number, rank, item, expected))
            return
        self.flush()
        self.pause()
        self.exchange.put(number, rank, item, expected)

    def get(self, number: Any, rank: int, *rest: Any) -> Any:
        """Wait for all ranks': while this one waits, all that it has brought leaves."""
        self.flush()
        self.pause()
        self.looks.pop(number, None)
        return self.exchange.get(number, rank, *rest)

    def is_complete(self, number: Any, *rest: Any) -> bool:
        """Whether the handle is done: False for so many looks, then it comes true."""
        self.tick()
        left = self.looks.get(number, 0)
        if left > 0:
            self.looks[number] = left - 1
            return False
        self.flush()
        end = time.monotonic() + PATIENCE            # the answer must not depend on how fast the other threads are
        while not self.exchange.is_complete(number, *rest) and time.monotonic() < end:
            time.sleep(0.0005)
        return bool(self.exchange.is_complete(number, *rest))

    def pause(self) -> None:
        """Sleep for a random time of up to network.delay seconds."""
        if self.network.delay:
            time.sleep(float(self.rng.uniform(0, self.network.delay)))

    def tick(self) -> None:
        """A call has passed: what is due leaves, in whatever order."""
        self.held = [(wait - 1, *rest) for wait, *rest in self.held]         # type: ignore[misc]
        due = [entry for entry in self.held if entry[0] < 0]
        self.held = [entry for entry in self.held if entry[0] >= 0]
        self._leave(due)

    def flush(self) -> None:
        """All that was held back leaves."""
        due, self.held = self.held, []
        self._leave(due)

    def _leave(self, due: list[tuple[int, Any, int, Any, int]]) -> None:
        for index in self.rng.permutation(len(due)) if due else ():
            self.exchange.put(*due[index][1:])


class NetworkComm(ThreadComm):
    """A rank on a simulated network."""

    kind = "network"
    _wire: Wire

    @classmethod
    def over(cls, plain: ThreadComm, wire: Wire) -> NetworkComm:
        """The same rank, number of collectives and all, behind a wire."""
        comm = cls.__new__(cls)
        comm.__dict__.update(plain.__dict__)
        comm._wire = comm._exchange_point = wire            # type: ignore[assignment]
        return comm

    def settle(self) -> None:
        """Let all leave that is held back: the rank has ended."""
        self._wire.flush()

    def _later(self, start: Callable[[], Handle]) -> Handle:
        """Start something whose messages may leave later."""
        self._wire.late = True
        try:
            return start()
        finally:
            self._wire.late = False

    def _issue(self, calls: list[Call], xs: list[Array], blocking: bool) -> Handle:
        if blocking:
            return super()._issue(calls, xs, blocking)
        handle = self._later(lambda: ThreadComm._issue(self, calls, xs, blocking))
        return self._guarded(handle, xs[0], xs[0].copy(), f"{calls[0]}: the array was changed before wait()")

    def _send_message(self, *args: Any) -> Handle:
        """A message; the last of its arguments is the array."""
        handle = self._later(lambda: super(NetworkComm, self)._send_message(*args))       # type: ignore[misc]
        return self._guarded(handle, args[-1], args[-1].copy(), f"a message of {args[-1].dtype} {args[-1].shape}: the array "
                                                                "was changed before wait()")

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """The sum; until wait() the array holds what nobody expects: nan, which shows when it is read, and in every second
        place a number, which shows when it is written to (nan + 1 is nan)."""
        array = arrays[0]
        handle = self._later(lambda: ThreadComm.start_sum_in_place(self, arrays))
        array[...] = NOTHING if array.dtype.kind in "fcV" else ~array
        if array.dtype.kind in "fcV":
            array.reshape(-1)[::2] = np.nan
        return self._guarded(handle, array, array.copy(), f"sum_in_place of {array.dtype} {array.shape}: the array was "
                                                          "written to before wait()")

    def _guarded(self, handle: Handle, array: Array, before: Array, words: str) -> Handle:
        """The handle, whose wait() asks whether the array is as it was."""
        def finish() -> Any:
            if array.tobytes() != before.tobytes():
                raise NetworkError(f"rank {self.rank}: {words}")
            return handle.wait()

        return Handle(finish, handle.done)

    def duplicate(self) -> NetworkComm:
        """Another communicator on the same network."""
        return NetworkComm.over(super().duplicate(), self._wire)

    def _groups(self, *args: Any) -> list[Any]:
        found = super()._groups(*args)               # type: ignore[misc]
        return [None if plain is None else NetworkComm.over(plain, self._wire) for plain in found]
