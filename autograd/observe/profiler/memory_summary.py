"""memory_summary() and related functions: the memory of this process now, under the names of torch.cuda.

What PyTorch calls allocated is here what arrays hold; what it calls reserved, what the process has in RAM: libraries, the
interpreter and freed memory that malloc keeps are in that too."""

from __future__ import annotations

import os
from typing import NoReturn

from ...base import docstrings as _docstrings
from ...base import system_memory as system
from ...base.environment import environment
from ...base.types import DeviceLike
from .inventory import OTHERS, USES, Inventory, take_inventory
from .memory import in_mb

WIDTH = 120


def memory_snapshot(device: DeviceLike = None) -> Inventory:
    """What is in this process's memory, and why: bytes in RAM by use (`by_use`), the same by what holds them (`holdings`),
    what the system counts (`resident`) and the sum of all that is known (`accounted`).

    It looks at all objects and takes 0.1 s for 50,000 of them. Nothing is counted before, and nothing after."""
    check(device)
    return take_inventory()


def memory_summary(device: DeviceLike = None, abbreviated: bool = False, inventory: Inventory | None = None) -> str:
    """memory_snapshot() as a text: parameters, gradients, buckets, optimizer state, activations by operation (and by module,
    while a profiler records), workspaces, the process's own, beside what the system counts."""
    check(device)
    found = take_inventory() if inventory is None else inventory
    whole = found.resident or found.accounted
    rank = f", rank {environment.rank}" if environment.rank else ""
    lines = ["=" * WIDTH, f" Memory in RAM, process {os.getpid()}{rank}", "=" * WIDTH,
             f" {'What':<26} | {'In RAM':>14} | {'Share':>6} | ", "-" * WIDTH]
    for use, text in {**USES, **OTHERS}.items():
        size = found.by_use.get(use, 0)
        lines.append(f" {use:<26} | {in_mb(size):>14} | {size / whole:>6.1%} | {text}")
        held = [h for h in found.holdings if h.use == use and h.label and h.resident >= whole // 2000]
        for holding in [] if abbreviated else held[:20]:
            name = holding.label[0] if len(holding.label) == 1 else " of ".join(filter(None, reversed(holding.label)))
            lines.append(f" {'':<26} | {in_mb(holding.resident):>14} | {holding.resident / whole:>6.1%} |   {name}")
    lines += ["-" * WIDTH, f" {'sum':<26} | {in_mb(found.accounted):>14} | {found.accounted / whole:>6.1%} | "]
    if found.resident is not None:
        rest = found.resident - found.accounted
        lines.append(f" {'not accounted for':<26} | {in_mb(rest):>14} | {rest / whole:>6.1%} | "
                     "C libraries' own allocations, errors of estimates")
        lines.append(f" {'by the system':<26} | {in_mb(found.resident):>14} | {'':>6} | of which "
                     f"{in_mb(found.proportional)} are its own, shared pages by their share")
        lines.append(f" {'at most, by the system':<26} | {in_mb(system.peak() or 0):>14} | {'':>6} | "
                     "since it began, or since reset_peak_memory_stats()")
    for limit in system.limits()[:1]:
        lines.append(f" {'could still be had':<26} | {in_mb(limit.left):>14} | {'':>6} | by {limit.what}")
    return "\n".join(f"|{line:<{WIDTH}}|" for line in [*lines, "=" * WIDTH]) + "\n"


def memory_stats(device: DeviceLike = None) -> dict[str, int]:
    """memory_snapshot() as a flat dict: allocated_bytes.parameters.current and so on by use, allocated_bytes.all.current for
    all arrays, reserved_bytes.all.current and .peak for the process."""
    found = memory_snapshot(device)
    stats = {f"allocated_bytes.{use.replace(' ', '_')}.current": found.by_use[use] for use in USES}
    stats["allocated_bytes.all.current"] = sum(stats.values())
    stats |= {f"reserved_bytes.{use.replace(' ', '_')}.current": found.by_use[use] for use in OTHERS}
    stats |= {"reserved_bytes.all.current": found.resident or 0, "reserved_bytes.all.peak": system.peak() or 0}
    return stats


def memory_allocated(device: DeviceLike = None) -> int:
    """Bytes that arrays hold, whether they have been written to or not."""
    check(device)
    return take_inventory(whole=False).arrays


def memory_reserved(device: DeviceLike = None) -> int:
    """Bytes of this process in RAM, as the system counts; 0 where it doesn't tell."""
    check(device)
    return system.resident() or 0


def max_memory_reserved(device: DeviceLike = None) -> int:
    """The most that memory_reserved() was, since the process began or since reset_peak_memory_stats(); 0 where the system
    doesn't tell."""
    check(device)
    return system.peak() or 0


def max_memory_allocated(device: DeviceLike = None) -> NoReturn:
    """Always an error: arrays are counted only while a profiler records, as the error explains."""
    raise NotImplementedError("max_memory_allocated(): arrays are counted only while a profiler records: `with "
                              "profile(profile_memory=True) as prof:`, then prof.memory_peak(). The process's maximum in "
                              "RAM is always known: max_memory_reserved()")


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Let max_memory_reserved() begin anew, at what the process has now. It writes to /proc/self/clear_refs."""
    check(device)
    if not system.reset_peak():
        raise RuntimeError("reset_peak_memory_stats(): this system does not let a process write to /proc/self/clear_refs")


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """Bytes that this process could still have, by the tightest limit (the host's memory, control groups, ulimit), and the
    bytes of the host."""
    check(device)
    limits, total = system.limits(), system.field("/proc/meminfo", "MemTotal")
    if not limits or total is None:
        raise RuntimeError("mem_get_info(): this system has no /proc/meminfo")
    return limits[0].left, total


def check(device: DeviceLike) -> None:
    """NotImplementedError for memory that is not the CPU's."""
    if device is not None and str(device) not in ("cpu", "cpu:0"):
        raise NotImplementedError(f"device={device!r}: there is memory of the cpu only")


_docstrings.complete(globals(), "observe", "profiler.")
