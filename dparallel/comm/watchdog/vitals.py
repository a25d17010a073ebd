"""vitals: the training progress of this process, as `dprun --top` shows it.

Training counts steps (optim/optimizer.py), waiting (comm/waiting.py) and the loss (observe/logs/logger.py); the watchdog
reads them.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from typing import Any, NamedTuple

from autograd.base.system_memory import resident
from autograd.optim.optimizer import every_optimizer

from ..waiting import waited

WINDOW = 10.0                                        # seconds over which rates are computed, and at least one step


class Reading(NamedTuple):
    """The counters when a step was first seen."""

    time: float
    steps: int
    waited: float


class Vitals:
    """The figures of this process. loss: the last one passed to a Logger; None before."""

    def __init__(self) -> None:
        self.loss: float | None = None
        self._readings: deque[Reading] = deque()

    def measure(self, now: float, waiting_now: float) -> dict[str, Any]:
        """The figures now: optimizer steps; steps per second and the share of waiting, over WINDOW or the last step (None:
        unknown); loss; bytes of memory. waiting_now: seconds of the current wait."""
        readings, steps, so_far = self._readings, every_optimizer.steps, waited.ns / 1e9 + waiting_now
        if not readings or steps != readings[-1].steps:
            readings.append(Reading(now, steps, so_far))
            while len(readings) > 2 and (readings[1].time < now - WINDOW or not readings[0].steps):
                readings.popleft()
        first, last = readings[0], readings[-1]
        rate = (last.steps - first.steps) / (last.time - first.time) if last.time > first.time else None
        if rate and now - last.time > max(WINDOW, 2 / rate):         # no step for long: the rate is lower now
            rate = 1 / (now - last.time)
        waiting = min(1.0, max(0.0, (so_far - first.waited) / (now - first.time))) if now > first.time else None
        return {"host": socket.gethostname(), "process": os.getpid(), "steps": steps, "rate": rate, "loss": self.loss,
                "waiting": waiting, "memory": resident() or 0}


vitals: Vitals = Vitals()
