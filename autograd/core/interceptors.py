"""Interceptors: the one way to be told of, or to change, what a thread does when it records a call or runs a node.

Anomaly mode, hooks on saved tensors, forward mode and checkpoint's log are Interceptors; a profiler would be one. There are
two events: a call has become a node (`recorded`), and a backward pass runs a node (`running`).

While none is installed, a call pays one comparison (`modes.recording > GRAD`: the bit WATCH is off), and a backward pass one
call of node_runner().
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from .graph import Node
from .modes import WATCH, everywhere, modes

Run = Callable[[Node, Any, bool], Any]
CALL_PATH = "autograd.core."                         # modules between the call of an operation and recorded()


class Interceptor:
    """Base of interceptors: override one of the events or both, then install() the object."""

    last = False                                     # whether recorded() is called after that of all others

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """A call has become `node`, which is complete; inputs and outputs are Tensors or whatever else the call took."""

    def running(self, node: Node, g: Any, create: bool, run: Run) -> Any:
        """A backward pass runs `node`: return run(node, g, create), which is node.run(g, create) or the next interceptor."""
        return run(node, g, create)


def install(interceptor: Interceptor, all_threads: bool = False) -> None:
    """Call the interceptor's events in this thread and in lanes that it starts, before those installed earlier.

    all_threads: in every thread; one that lives already calls only `running`, until it installs an interceptor itself.
    """
    if all_threads:
        everywhere.append(interceptor)
    elif interceptor.last:
        modes.interceptors = (*modes.interceptors, interceptor)
    else:
        modes.interceptors = (interceptor, *modes.interceptors)
    _set_watch()


def remove(interceptor: Interceptor, all_threads: bool = False) -> None:
    """Undo one install()."""
    if all_threads:
        everywhere.remove(interceptor)
    else:
        found = list(modes.interceptors)
        found.remove(interceptor)
        modes.interceptors = tuple(found)
    _set_watch()


def _set_watch() -> None:
    """Set this thread's WATCH bit if there is an interceptor to be told."""
    watched = everywhere or modes.interceptors
    modes.recording = (modes.recording | WATCH) if watched else modes.recording & ~WATCH


def notify_recorded(node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Call the `recorded` event of all interceptors; called for each node that is made while the WATCH bit is on."""
    for interceptor in (*everywhere, *modes.interceptors):
        interceptor.recorded(node, inputs, outputs)


def node_runner() -> Run | None:
    """What a backward pass that begins in this thread calls in place of node.run(); None if no interceptor has `running`."""
    run = None
    for interceptor in (*everywhere, *modes.interceptors):
        if type(interceptor).running is not Interceptor.running:
            run = functools.partial(interceptor.running, run=run or _run)
    return run


def _run(node: Node, g: Any, create: bool) -> Any:
    return node.run(g, create)


def calling_frame() -> FrameType:
    """The frame that called the operation that is being recorded; the core itself has no frames where it is compiled."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(CALL_PATH):
        frame = frame.f_back
    return frame


__all__ = ["Interceptor", "calling_frame", "install", "node_runner", "notify_recorded", "remove"]
