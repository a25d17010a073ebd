"""SlowTransport: the network of a DataParallel slowed down to one of known speed, the same in every run.

A bucket's sum ends at max(departure, end of the sum before) + latency + bytes / bandwidth, or later on a slower network.
Shaping traffic differs between runs: with `tc tbf` at 4 Gbit/s an allreduce of 1 MB took 7.9 ms in one job and 24.0 in the
next.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

from ..reduction.transport import AllReduceTransport, Transport

SPIN = 2e-4                          # seconds before the end in which it polls: sleep() returns up to a tick late


class SlowTransport(Transport):
    """`inner`, slowed down; see slow_network()."""

    def __init__(self, inner: Transport, latency: float, bandwidth: float) -> None:
        if not isinstance(inner, AllReduceTransport):
            raise NotImplementedError(f"a slow network for {type(inner).__name__}: only plain sums of whole buckets are "
                                      "slowed down, not those of comm hooks or of sharded models")
        if not 0 <= latency < math.inf or not 0 < bandwidth < math.inf:
            raise ValueError(f"latency={latency!r}, bandwidth={bandwidth!r}: seconds of at least 0, bytes a second above 0")
        self.inner: AllReduceTransport = inner
        self.latency: float = latency
        self.bandwidth: float = bandwidth
        self.blocks: bool = inner.blocks
        self.fixed_buckets: bool = inner.fixed_buckets
        self._ends = 0.0                             # time.perf_counter() when the last sum that has started ends

    def agree(self, factor: float, weight: float, buckets: Sequence[Any]) -> float:
        """The result of the inner transport."""
        return self.inner.agree(factor, weight, buckets)

    def next_factor(self, factor: float, weight: float) -> float:
        """The result of the inner transport."""
        return self.inner.next_factor(factor, weight)

    def start(self, bucket: Any, weight: float, index: int, last: bool) -> None:
        """Start the sum, and compute when it ends."""
        self._ends = max(time.perf_counter(), self._ends) + self.latency + bucket.nbytes / self.bandwidth
        self.inner.start(bucket, weight, index, last)

    def handles(self) -> Iterable[Any]:
        """The handles of the inner transport."""
        return self.inner.handles()

    def progress(self) -> bool:
        """Progress the sums; whether all of them have ended on the slow network, too."""
        return self.inner.progress() and time.perf_counter() >= self._ends

    def collect(self, buckets: Sequence[Any]) -> bool:
        """Wait for all sums, and for the slow network."""
        result = self.inner.collect(buckets)
        left = self._ends - time.perf_counter()
        if left > SPIN:
            time.sleep(left - SPIN)
        while time.perf_counter() < self._ends:
            pass
        return result

    def drop(self) -> None:
        """Wait for the sums, and drop their results."""
        self.inner.drop()


def slow_network(model: Any, latency: float, bandwidth: float) -> None:
    """Send a DataParallel's gradients over a simulated slow network. Called on all ranks, after construction."""
    reducer = getattr(getattr(model, "_sum", None), "reducer", None)
    if reducer is None:
        raise TypeError("slow_network() requires a DataParallel over several ranks, with buckets; this "
                        f"{type(model).__name__} has none")
    reducer.departure.transport = SlowTransport(reducer.transport, latency, bandwidth)
