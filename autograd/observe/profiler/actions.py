"""The settings of a profiler: activities, the schedule of steps, and the destination of its traces."""

from __future__ import annotations

import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from ...base import docstrings as _docstrings


class ProfilerActivity(Enum):
    """What is profiled. There are processors only here; the other names are PyTorch's, and are ignored with a warning."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class DeviceType(Enum):
    """Where an event ran: always on the CPU."""

    CPU = 0
    CUDA = 1


class ProfilerAction(Enum):
    """What a profiler does in a step: nothing, get ready, record, or record and then hand the trace out. A schedule of
    profile() is a function from the number of a step to one of them."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """The activities that can be profiled."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Whether PyTorch's library of device traces is available: never."""
    return False


def check_activities(activities: Iterable[ProfilerActivity] | None) -> set[ProfilerActivity]:
    """The requested activities that can be profiled. AssertionError if there is none, ValueError if one is given twice."""
    if activities is None:
        return supported_activities()
    if not isinstance(activities, Iterable):
        raise TypeError(f"profile(activities={activities!r}): a list of ProfilerActivity is needed")
    found: set[ProfilerActivity] = set()
    for activity in activities:
        if isinstance(activity, dict):
            raise NotImplementedError(f"profile(activities={activities!r}): a dict selects parts of an activity, which the "
                                      "CPU has not; name the activity alone")
        if not isinstance(activity, ProfilerActivity):
            raise TypeError(f"Expected ProfilerActivity or dict, got {type(activity)}")
        if activity in found:
            raise ValueError(f"Activity {activity} specified more than once")
        found.add(activity)
    for activity in sorted(found - supported_activities(), key=lambda a: a.value):
        warnings.warn(f"{activity.name} is not available, disabling {activity.name} profiling", stacklevel=4)
    if not found & supported_activities():
        raise AssertionError(f"No valid profiler activities found: activities={[a.name for a in found]}, and only "
                             f"{[a.name for a in supported_activities()]} can be profiled here")
    return found & supported_activities()


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             skip_first_wait: int = 0) -> Callable[[int], ProfilerAction]:
    """A `schedule` of profile(): from step `skip_first` on, cycles of `wait` steps without recording, `warmup` steps, and
    `active` steps that are recorded, at the end of which on_trace_ready is called.

    Between steps the training loop calls step() of the profiler. Here warming up is free: it records nothing."""
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} "
                             f"(need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
                             f"skip_first={skip_first} (need >= 0).")
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    steps = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        place = step % steps
        if (repeat and step // steps >= repeat) or place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < steps - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None,
                              use_gzip: bool = False) -> Callable[[Any], None]:
    """An on_trace_ready of profile() that writes each trace to a file of its own in dir_name, as TensorBoard's plugin of
    profiles (and HolisticTraceAnalysis) find them."""
    def handler(profiler: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        profiler.export_chrome_trace(os.path.join(dir_name, name))

    return handler


_docstrings.complete(globals(), "observe", "profiler.")
