"""parallel_apply(): one module per device, each in its own thread. NumPy releases the GIL, so they run in parallel."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

from autograd.core.parallel import Lane, run_lanes
from autograd.modes.random import Generator, branches, using_generator

from ..comm import Communicator, Devices, RankFailure
from .sync_context import Replica, ReplicaGroup, set_context


class ReplicaError(RuntimeError):
    """A replica failed with an exception whose type can't be raised again with the device's name."""


def parallel_apply(modules: Sequence[Callable[..., Any]], inputs: Sequence[Any],
                   kwargs_tup: Sequence[dict[str, Any]] | None = None,
                   devices: Communicator | Sequence[int] | None = None) -> list[Any]:
    """Outputs of modules[i](*inputs[i], **kwargs_tup[i]), called in parallel in the caller's gradient modes."""
    kwargs = [{} for _ in modules] if kwargs_tup is None else list(kwargs_tup)
    local = devices if isinstance(devices, Devices) else None
    names = list(range(len(modules)) if devices is None else local.names if local else
                  devices.held if isinstance(devices, Communicator) else devices)
    for name, values in (("inputs", inputs), ("kwargs_tup", kwargs), ("devices", names)):
        if len(values) != len(modules):
            raise ValueError(f"The number of modules {len(modules)} is not equal to the number of {name} {len(values)}")

    def call(number: int) -> Any:
        args = inputs[number] if isinstance(inputs[number], tuple) else (inputs[number],)
        try:
            return modules[number](*args, **kwargs[number])
        except Exception as error:
            raise _with_device(error, number, names[number]) from error

    if len(modules) == 1:                            # in the caller's thread
        return [call(0)]
    group = ReplicaGroup(len(modules))
    cores = [None] * len(modules) if local is None or local.cores is None else local.cores
    lanes = [Lane.on(n, cores[n], functools.partial(_with_device, number=n, device=names[n])) for n in range(group.size)]
    try:
        with branches(group.size) as generators:
            return run_lanes([functools.partial(_run_replica, Replica(group, n), call, generators[n])
                              for n in range(group.size)], lanes)
    except RankFailure as error:                     # a replica that waited for a failed one: raise that one's error
        if group.failure is None or group.failure is error:
            raise
        raise group.failure from None


def _run_replica(replica: Replica, call: Callable[[int], Any], generator: Generator) -> Any:
    """One replica's call, with its own random numbers. Others are notified of its end: their layers may wait for
    statistics."""
    failure: BaseException | None = None
    try:
        with set_context(replica=replica), using_generator(generator):
            return call(replica.number)
    except BaseException as error:
        failure = error
        raise
    finally:
        replica.end(failure)


def _with_device(error: Exception, number: int, device: int) -> Exception:
    """An exception of the same type whose message names the device; the error itself if its message names one."""
    if getattr(error, "names_device", False):
        return error
    text = f"Caught {type(error).__name__} in replica {number} on device {device}: {error}"
    try:
        named = type(error)(text)
    except Exception:                                # its constructor has other arguments
        named = ReplicaError(text)
    with contextlib.suppress(Exception):             # a type with __slots__: its message may name two devices
        named.names_device = True                     # type: ignore[attr-defined]
    return named
