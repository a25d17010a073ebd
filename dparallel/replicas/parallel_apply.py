"""Runs one module per place, each in a thread of its own: NumPy releases the GIL, so they run at once."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

from autograd.core.parallel import Lane, run_lanes
from autograd.core.random import Generator, branches, using_generator

from ..comm import Communicator, Devices, RankFailure
from ..sync_context import Crew, Replicas, inside


class ReplicaError(RuntimeError):
    """A replica failed with an exception whose type can't be raised again with the place's name."""


def parallel_apply(modules: Sequence[Callable[..., Any]], inputs: Sequence[Any],
                   kwargs_tup: Sequence[dict[str, Any]] | None = None,
                   devices: Communicator | Sequence[int] | None = None) -> list[Any]:
    """Call modules[i](*inputs[i], **kwargs_tup[i]) in parallel; the outputs in order.

    devices: Devices, with the cores that threads are bound to, or the places' numbers for messages (default 0, 1, ...).
    Modes are the caller's. The first failure is raised with its own type and traceback, after a message that names the
    place; so is one in the backward pass. An input that is no tuple is a lone argument.
    """
    kwargs = [{} for _ in modules] if kwargs_tup is None else list(kwargs_tup)
    local = devices if isinstance(devices, Devices) else None
    named = range(len(modules)) if devices is None else local.names if local else \
        devices.held if isinstance(devices, Communicator) else devices
    places = list(named)
    for name, values in (("inputs", inputs), ("kwargs_tup", kwargs), ("devices", places)):
        if len(values) != len(modules):
            raise ValueError(f"The number of modules {len(modules)} is not equal to the number of {name} {len(values)}")

    def call(number: int) -> Any:
        given = inputs[number]
        try:
            return modules[number](*(given if isinstance(given, tuple) else (given,)), **kwargs[number])
        except Exception as error:
            raise _named(error, number, places[number]) from error

    if len(modules) == 1:                            # nothing to run beside: the caller's thread, and no lane
        return [call(0)]
    crew = Crew(len(modules))
    cores = [None] * len(modules) if local is None or local.cores is None else local.cores
    lanes = [Lane.on(n, cores[n], functools.partial(_named, number=n, place=places[n])) for n in range(crew.size)]
    try:
        with branches(crew.size) as streams:
            return run_lanes([functools.partial(_beside_others, Replicas(crew, n), call, streams[n])
                              for n in range(crew.size)], lanes)
    except RankFailure as error:                     # one that had waited for a replica that failed: raise that failure
        if crew.failure is None or crew.failure is error:
            raise
        raise crew.failure from None


def _beside_others(replica: Replicas, call: Callable[[int], Any], stream: Generator) -> Any:
    """One replica's call, with random numbers of its own, and word to the others that it has ended: layers may wait for each
    other's statistics."""
    failure: BaseException | None = None
    try:
        with inside(replicas=replica), using_generator(stream):
            return call(replica.number)
    except BaseException as error:
        failure = error
        raise
    finally:
        replica.leave(failure)


def _named(error: Exception, number: int, place: int) -> Exception:
    """An exception of the same type that names the place; itself if it names one."""
    if getattr(error, "names_place", False):
        return error
    text = f"Caught {type(error).__name__} in replica {number} on place {place}: {error}"
    try:
        named = type(error)(text)
    except Exception:                                # its constructor wants something else
        named = ReplicaError(text)
    with contextlib.suppress(Exception):             # a type with slots, say: named twice then
        named.names_place = True                     # type: ignore[attr-defined]
    return named
