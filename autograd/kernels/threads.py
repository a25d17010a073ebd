"""The number of threads: at most so many work at a time for one thread of the user's.

It is what set_num_threads() was given, else OMP_NUM_THREADS, else what this process may use of the machine: the cores of its
affinity mask, at most the quota of its control groups, divided by the ranks that a launcher has started on this host. It
belongs to the process. Results depend on it and on sizes, never on how busy the cores are; those of compiled loops not even
on the number.

The threads are those of the pool (base/thread_pool.py), which run pieces of products (matmul.py) and of compiled loops
(loops/pieces.py), and oneDNN's (onednn/openmp.py). All of them sleep while they wait.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

from ..base.environment import environment, usable_cores

WIDE = 1 << 24                       # multiplications, 0.2 ms, from which several threads take part
WIDE_PASS = 1 << 20                  # elements of a pass over memory, likewise


class ThreadSettings:
    """How many threads this process uses, and what runs on them."""

    def __init__(self) -> None:
        # of the affinity mask, as autograd is imported: later a lane may have bound the thread that asks to a part of them
        self.cores: int = usable_cores()
        self.number = 0                              # 0: not asked for yet
        self.given = False                           # by set_num_threads()
        self.changed: list[Callable[[], Any]] = []   # what is called when another number is set


def number() -> int:
    """How many threads one operation may use."""
    return thread_settings.number or _first()


def _first() -> int:
    thread_settings.number = environment.threads or max(1, available() // environment.ranks_here)
    return thread_settings.number


def set_number(count: int) -> None:
    """From now on, in the whole process."""
    number()
    thread_settings.given = True
    if count != thread_settings.number:
        thread_settings.number = count
        for call in thread_settings.changed:
            call()


def available() -> int:
    """The cores that this process may use at a time."""
    return max(1, math.ceil(min(thread_settings.cores, quota())))


def quota(root: str = "/sys/fs/cgroup", membership: str = "/proc/self/cgroup") -> float:
    """How many cores' time the control groups (version 1 or 2) of this process get; infinity if they are not limited."""
    least = math.inf
    try:
        with open(membership) as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return least
    for _, controllers, path in lines:
        if controllers and "cpu" not in controllers.split(","):
            continue
        homes = [root] if not controllers else [os.path.join(root, name) for name in (controllers, "cpu")]
        parts = [part for part in path.split("/") if part]
        for home in homes:
            for depth in range(len(parts) + 1):      # those above limit it too; a container may see itself as the root
                least = min(least, _limit(os.path.join(home, *parts[:depth])))
    return least


def _limit(folder: str) -> float:
    try:
        with open(os.path.join(folder, "cpu.max")) as file:
            share, period = file.read().split()
    except (OSError, ValueError):
        try:
            with open(os.path.join(folder, "cpu.cfs_quota_us")) as file:
                share = file.read().strip()
            with open(os.path.join(folder, "cpu.cfs_period_us")) as file:
                period = file.read().strip()
        except OSError:
            return math.inf
    try:
        limit = float(share) / float(period)
    except (ValueError, ZeroDivisionError):          # "max"
        return math.inf
    return limit if limit > 0 else math.inf          # -1: none


def _after_fork() -> None:
    """No thread survives a fork, libgomp's neither: the child works with one."""
    thread_settings.number = 1
    for call in thread_settings.changed:
        call()


thread_settings: ThreadSettings = ThreadSettings()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
