"""Interceptors: the one way to be told of, or to change, what a thread does when it calls an operation or runs a node.

Anomaly mode, hooks on saved tensors, forward mode and checkpoint's log are Interceptors, and so are what records a step for
replay and the profiler. There are two events of the graph: a call has become a node (`recorded`), and a backward pass runs a
node (`running`). An Interceptor that `sees_calls` is told of calls too, also of those that make no node: see primitive.py.
For one that has a `recorder`, the core notes when calls and nodes begin and end, without calling it: spans.py.

While none is installed, a call pays two comparisons (`modes.recording > GRAD`: the bit WATCH is off; `watchers` is empty),
and a backward pass two."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from .modes import WATCH, modes, process

if TYPE_CHECKING:
    from ..spans.spans import Recorder
    from .graph import Node

Run = Callable[["Node", Any, bool], Any]
CALL_PATH = ("autograd.core.", "autograd.modes.", "autograd.spans.")    # between the call of an operation and recorded()


class Interceptor:
    """Base of interceptors: override the events that matter, then install() the object."""

    last = False                                     # whether recorded() is called after that of all others
    sees_calls = False                               # whether it is told of calls too, by the events at the end
    recorder: Recorder | None = None                 # where all threads note when what they do begins and ends

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """A call has become `node`, which is complete; inputs and outputs are Tensors or whatever else the call took."""

    def running(self, node: Node, g: Any, create: bool, run: Run) -> Any:
        """A backward pass runs `node`: return run(node, g, create), which is node.run(g, create) or the next interceptor."""
        return run(node, g, create)

    # --- calls, told to one interceptor of a thread, and not in lanes that it starts -----------------------------------

    def primitive(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function declared `primitive` is called: return what it returns."""
        return function(*args, **kwargs)

    def shortcut(self, function: Callable[..., bool], args: tuple[Any, ...]) -> bool:
        """A function declared `shortcut` is asked: return its answer."""
        return function(*args)

    def computed(self, forward: Callable[..., Any], arrays: tuple[Any, ...], inputs: tuple[Any, ...], out: Any) -> None:
        """A declared operation has made the Tensor `out` of forward(*arrays): the arrays of `inputs`, maybe cast."""

    def operated(self, operation: Any, node: Any, args: tuple[Any, ...], arrays: list[Any], settings: dict[str, Any],
                 out: Any) -> None:
        """An Operation has made `out`, one Tensor or a tuple of them, of `args`, whose arrays are `arrays`."""

    backward_pass: Any = None                        # makes the object of a backward pass; None: BackwardPass does

    def refuse(self, reason: str) -> NoReturn:
        """Something is about to be done that an interceptor of calls cannot see."""
        raise RuntimeError(reason)

    def entered(self) -> bool:
        """Whether a Function that is applied now is part of the application of one that function() is busy with."""
        return False

    def function(self, function: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """A Function is applied: return what it returns."""
        return function.apply(*args, **settings)

    def value_read(self, what: str) -> None:
        """Python is about to read a tensor's values."""

    def value_written(self, array: Any, source: Any, index: Any) -> None:
        """source, an array or a number, is about to be written to array[index]."""

    def grad_assigned(self, leaf: Any, value: Any) -> None:
        """Somebody has assigned `value` to leaf.grad."""

    def drawn(self) -> None:
        """Random numbers are about to be drawn."""

    def side_effect(self, what: str) -> None:
        """Something begins that neither a tensor nor a call shows: a message, a setting of the reducer."""


class ThisThread(threading.local):
    """Who is told of this thread's calls: the last one installed that `sees_calls`, but in without_watcher blocks."""

    call_watcher: Interceptor | None = None
    call_watchers: tuple[Interceptor, ...] = ()      # all of this thread, the last one installed at the end


this_thread: ThisThread = ThisThread()


class without_watcher:
    """A block whose calls are not told: they are part of one that the interceptor has been told of as a whole."""

    def __enter__(self) -> None:
        self._watcher, this_thread.call_watcher = this_thread.call_watcher, None

    def __exit__(self, *exception: object) -> None:
        this_thread.call_watcher = self._watcher


def install(interceptor: Interceptor, all_threads: bool = False) -> None:
    """Call the interceptor's events in this thread and in lanes that it starts: `recorded` before those installed earlier,
    `running` inside those, next to the node.

    all_threads: in every thread; one that lives already calls only `running`, until it installs an interceptor itself. Of
    Interceptors that see calls, the last one installed in this thread alone is told of them; of nodes like any other, if it
    overrides these events."""
    if interceptor.recorder is not None:
        interceptor.recorder.start()
    if interceptor.sees_calls:
        process.call_watchers.append(interceptor)
        this_thread.call_watchers = (*this_thread.call_watchers, interceptor)
        this_thread.call_watcher = interceptor
    if not _sees_nodes(interceptor):
        return
    if all_threads:
        process.interceptors.append(interceptor)
    elif interceptor.last:
        modes.interceptors = (*modes.interceptors, interceptor)
    else:
        modes.interceptors = (interceptor, *modes.interceptors)
    _set_watch()


def remove(interceptor: Interceptor, all_threads: bool = False) -> None:
    """Undo one install()."""
    if interceptor.recorder is not None:
        interceptor.recorder.stop()
    if interceptor.sees_calls:
        process.call_watchers.remove(interceptor)
        this_thread.call_watchers = _without(this_thread.call_watchers, interceptor)
        this_thread.call_watcher = this_thread.call_watchers[-1] if this_thread.call_watchers else None
    if not _sees_nodes(interceptor):
        return
    if all_threads:
        process.interceptors.remove(interceptor)
    else:
        modes.interceptors = _without(modes.interceptors, interceptor)
    _set_watch()


def _without(interceptors: tuple[Interceptor, ...], one: Interceptor) -> tuple[Interceptor, ...]:
    """The interceptors but the first that is this one. ValueError if it is not installed."""
    position = interceptors.index(one)
    return (*interceptors[:position], *interceptors[position + 1:])


def _sees_nodes(interceptor: Interceptor) -> bool:
    """Whether an interceptor overrides an event of nodes; if not, it is one of calls, or has a recorder."""
    kind = type(interceptor)
    return kind.recorded is not Interceptor.recorded or kind.running is not Interceptor.running


def _set_watch() -> None:
    """Set this thread's WATCH bit if there is an interceptor to be told."""
    watched = process.interceptors or modes.interceptors
    modes.recording = (modes.recording | WATCH) if watched else modes.recording & ~WATCH


def notify_recorded(node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Call the `recorded` event of all interceptors; called for each node that is made while the WATCH bit is on."""
    for interceptor in (*process.interceptors, *modes.interceptors):
        interceptor.recorded(node, inputs, outputs)


def node_runner() -> Run | None:
    """What a backward pass that begins in this thread calls in place of node.run(); None if no interceptor has `running`."""
    run = None
    for interceptor in (*process.interceptors, *modes.interceptors):
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
