"""A simulated network: ranks as threads whose calls arrive late and whose handles complete out of order, drawn from a seed.

On ranks as threads every operation completes at once, which hides bugs: expecting handles to be done() in the order of the
starts, continuing with the first one that is done, changing an array that is being sent, reading a sum before wait(). Here
these fail for almost every seed, reproducibly.
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

PLACEHOLDER = -777.25                    # exact in all floats, and so are sums with small integers
MAX_WAIT = 1.0                       # seconds that a handle that is due waits for the other ranks


class NetworkError(RuntimeError):
    """A rank touched an array between the start of a collective and wait()."""


class Network:
    """The delays of a simulated network, drawn for each call on each rank."""

    def __init__(self, seed: int = 0, *, delay: float = 0.001, reorder: int = 8) -> None:
        if not delay >= 0 or not reorder >= 0:
            raise ValueError(f"Network(delay={delay!r}, reorder={reorder!r}): both must be at least 0")
        self.seed: int = int(seed)
        self.delay: float = float(delay)
        self.reorder: int = int(reorder)

    def joined(self, comm: ThreadComm) -> NetworkComm:
        """The same rank as that of `comm`, on this network; run_ranks(network=...) calls it."""
        return NetworkComm.over(comm, DelayedExchange(comm, self))

    def __repr__(self) -> str:
        return f"Network({self.seed}, delay={self.delay:g}, reorder={self.reorder})"


class DelayedExchange:
    """The ThreadExchange of one rank, with delays: of the items that the rank puts, and of the completion of its handles."""

    def __init__(self, comm: ThreadComm, network: Network) -> None:
        self.exchange: Any = comm._exchange_point
        self.network: Network = network
        self.rank: int = comm.rank
        self.rng: np.random.Generator = np.random.default_rng([network.seed % 2**63, comm.rank])
        self.delayed_puts: list[tuple[int, Any, int, Any, int]] = []     # calls until the put, and its arguments
        self.tests_left: dict[Any, int] = {}              # number -> tests that return False
        self.delays_puts = False                            # whether put() may delay an item

    def __getattr__(self, name: str) -> Any:
        return getattr(self.exchange, name)           # everything else is not delayed

    def put(self, number: Any, rank: int, item: Any, expected: int) -> None:
        """Put this rank's item: after a pause, or some calls later."""
        self.count_call()
        wait, tests = int(self.rng.integers(0, 3)), int(self.rng.integers(0, self.network.reorder + 1))
        self.tests_left[number] = tests
        if self.delays_puts:
            self.delayed_puts.append((wait, number, rank, item, expected))
            return
        self.put_delayed()
        self.pause()
        self.exchange.put(number, rank, item, expected)

    def get(self, number: Any, rank: int, *rest: Any) -> Any:
        """Wait for the items of all ranks, after all delayed puts of this rank."""
        self.put_delayed()
        self.pause()
        self.tests_left.pop(number, None)
        return self.exchange.get(number, rank, *rest)

    def is_complete(self, number: Any, *rest: Any) -> bool:
        """Whether the handle is done: False for a random number of tests, then as without delays."""
        self.count_call()
        left = self.tests_left.get(number, 0)
        if left > 0:
            self.tests_left[number] = left - 1
            return False
        self.put_delayed()
        end = time.monotonic() + MAX_WAIT            # so that the result does not depend on the other threads' speed
        while not self.exchange.is_complete(number, *rest) and time.monotonic() < end:
            time.sleep(0.0005)
        return bool(self.exchange.is_complete(number, *rest))

    def pause(self) -> None:
        """Sleep for a random time of up to network.delay seconds."""
        if self.network.delay:
            time.sleep(float(self.rng.uniform(0, self.network.delay)))

    def count_call(self) -> None:
        """Count a call, and do the puts that are due, in random order."""
        self.delayed_puts = [(wait - 1, *rest) for wait, *rest in self.delayed_puts]         # type: ignore[misc]
        due = [entry for entry in self.delayed_puts if entry[0] < 0]
        self.delayed_puts = [entry for entry in self.delayed_puts if entry[0] >= 0]
        self._put_all(due)

    def put_delayed(self) -> None:
        """Do all delayed puts."""
        due, self.delayed_puts = self.delayed_puts, []
        self._put_all(due)

    def _put_all(self, due: list[tuple[int, Any, int, Any, int]]) -> None:
        for index in self.rng.permutation(len(due)) if due else ():
            self.exchange.put(*due[index][1:])


class NetworkComm(ThreadComm):
    """A rank on a simulated network."""

    kind = "network"
    _exchange_delayed: DelayedExchange

    @classmethod
    def over(cls, comm: ThreadComm, exchange: DelayedExchange) -> NetworkComm:
        """The same rank and communicator, with a delayed exchange."""
        delayed = cls.__new__(cls)
        delayed.__dict__.update(comm.__dict__)
        delayed._exchange_delayed = delayed._exchange_point = exchange       # type: ignore[assignment]
        return delayed

    def settle(self) -> None:
        """Do all delayed puts, when the rank has ended."""
        self._exchange_delayed.put_delayed()

    def _start_delayed(self, start: Callable[[], Handle]) -> Handle:
        """Call start() with delayed puts."""
        self._exchange_delayed.delays_puts = True
        try:
            return start()
        finally:
            self._exchange_delayed.delays_puts = False

    def _issue(self, calls: list[Call], xs: list[Array], blocking: bool) -> Handle:
        if blocking:
            return super()._issue(calls, xs, blocking)
        handle = self._start_delayed(lambda: ThreadComm._issue(self, calls, xs, blocking))
        return self._with_array_check(handle, xs[0], xs[0].copy(), f"{calls[0]}: the array was changed before wait()")

    def _send_message(self, *args: Any) -> Handle:
        """Send a message, delayed. The last argument is the array."""
        handle = self._start_delayed(lambda: super(NetworkComm, self)._send_message(*args))       # type: ignore[misc]
        array = args[-1]
        return self._with_array_check(handle, array, array.copy(), f"a message of {array.dtype} {array.shape}: the array "
                                                                   "was changed before wait()")

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """The sum. Until wait() half of the array is nan, which shows reads, and half PLACEHOLDER, which shows writes."""
        array = arrays[0]
        handle = self._start_delayed(lambda: ThreadComm.start_sum_in_place(self, arrays))
        array[...] = PLACEHOLDER if array.dtype.kind in "fcV" else ~array
        if array.dtype.kind in "fcV":
            array.reshape(-1)[::2] = np.nan
        return self._with_array_check(handle, array, array.copy(), f"sum_in_place of {array.dtype} {array.shape}: the array "
                                                                   "was written to before wait()")

    def _with_array_check(self, handle: Handle, array: Array, before: Array, words: str) -> Handle:
        """A handle whose wait() raises NetworkError unless the array is unchanged."""
        def finish() -> Any:
            if array.tobytes() != before.tobytes():
                raise NetworkError(f"rank {self.rank}: {words}")
            return handle.wait()

        return Handle(finish, handle.done)

    def duplicate(self) -> NetworkComm:
        """Another communicator on the same network."""
        return NetworkComm.over(super().duplicate(), self._exchange_delayed)

    def _groups(self, *args: Any) -> list[Any]:
        groups = super()._groups(*args)              # type: ignore[misc]
        return [None if group is None else NetworkComm.over(group, self._exchange_delayed) for group in groups]
