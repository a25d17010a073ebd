"""Interceptors: hooks on every operation call and every backward node of a thread.

Anomaly mode, hooks on saved tensors, forward mode, checkpoint's log, the recorder of replay and the profiler are
Interceptors. The graph has two events: a call was recorded as a node (`recorded`), and a backward pass runs a node
(`running`). An Interceptor with `sees_calls` also receives calls, including those that create no node: see primitive.py. For
an Interceptor with a `recorder`, the core records the begin and end of calls and nodes without calling it: see spans.py.

Without interceptors a call costs two comparisons more (`modes.recording > GRAD`: the bit WATCH is off; `watchers` is
empty), and so does a backward pass.
"""

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
    """Base class of interceptors: override events, then install() the object."""

    last = False                                     # whether its recorded() is called after all others
    sees_calls = False                               # whether it also receives calls, by the events at the end
    recorder: Recorder | None = None                 # in which all threads record when calls and nodes begin and end

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """A call was recorded as `node`, which is complete. inputs and outputs are Tensors or other values."""

    def running(self, node: Node, g: Any, create: bool, run: Run) -> Any:
        """A backward pass runs `node`: return run(node, g, create), which is node.run(g, create) or the next interceptor."""
        return run(node, g, create)

    # --- calls: received by one interceptor of a thread, and not in lanes that the thread starts -----------------------

    def primitive(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function declared `primitive` is called: return its result."""
        return function(*args, **kwargs)

    def shortcut(self, function: Callable[..., bool], args: tuple[Any, ...]) -> bool:
        """A function declared `shortcut` is called: return its result."""
        return function(*args)

    def computed(self, forward: Callable[..., Any], arrays: tuple[Any, ...], inputs: tuple[Any, ...], out: Any) -> None:
        """A declared operation computed the Tensor `out` by forward(*arrays), the arrays of `inputs`, possibly cast."""

    def operated(self, operation: Any, node: Any, args: tuple[Any, ...], arrays: list[Any], settings: dict[str, Any],
                 out: Any) -> None:
        """An Operation computed `out`, a Tensor or a tuple of them, from `args`, whose arrays are `arrays`."""

    backward_pass: Any = None                        # the class of backward passes; None: BackwardPass

    def refuse(self, reason: str) -> NoReturn:
        """Something is about to happen that call events do not show."""
        raise RuntimeError(reason)

    def entered(self) -> bool:
        """Whether the Function applied now is part of a Function's application that function() is handling."""
        return False

    def function(self, function: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """A Function is applied: return its result."""
        return function.apply(*args, **settings)

    def value_read(self, what: str) -> None:
        """Python is about to read a tensor's values."""

    def value_written(self, array: Any, source: Any, index: Any) -> None:
        """source, an array or a number, is about to be written to array[index]."""

    def grad_assigned(self, leaf: Any, value: Any) -> None:
        """`value` was assigned to leaf.grad."""

    def drawn(self) -> None:
        """Random numbers are about to be drawn."""

    def side_effect(self, what: str) -> None:
        """Something begins that neither a tensor nor a call shows, such as a message or a reducer's setting."""


class ThisThread(threading.local):
    """The receiver of this thread's calls: the last interceptor with `sees_calls`; none in without_watcher blocks."""

    call_watcher: Interceptor | None = None
    call_watchers: tuple[Interceptor, ...] = ()      # all of this thread, the last one installed at the end


this_thread: ThisThread = ThisThread()


class without_watcher:
    """A block whose calls are not reported: they are part of a call that was already reported as a whole."""

    def __enter__(self) -> None:
        self._watcher, this_thread.call_watcher = this_thread.call_watcher, None

    def __exit__(self, *exception: object) -> None:
        this_thread.call_watcher = self._watcher


def install(interceptor: Interceptor, all_threads: bool = False) -> None:
    """Install the interceptor in this thread and in lanes that it starts: its `recorded` is called before that of earlier
    ones, its `running` inside theirs, next to the node.

    all_threads: install it in all threads; existing threads call only `running` until they install an interceptor
    themselves. Calls go only to the last interceptor installed in this thread with `sees_calls`; node events go to all that
    override them.
    """
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
    """The interceptors without this one. ValueError if it is not installed."""
    position = interceptors.index(one)
    return (*interceptors[:position], *interceptors[position + 1:])


def _sees_nodes(interceptor: Interceptor) -> bool:
    """Whether an interceptor overrides a node event; otherwise it is for calls, or has a recorder."""
    kind = type(interceptor)
    return kind.recorded is not Interceptor.recorded or kind.running is not Interceptor.running


def _set_watch() -> None:
    """Set this thread's WATCH bit if an interceptor is to be called."""
    watched = process.interceptors or modes.interceptors
    modes.recording = (modes.recording | WATCH) if watched else modes.recording & ~WATCH


def notify_recorded(node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Call `recorded` of all interceptors; runs for each new node while the WATCH bit is on."""
    for interceptor in (*process.interceptors, *modes.interceptors):
        interceptor.recorded(node, inputs, outputs)


def node_runner() -> Run | None:
    """The function that a backward pass of this thread calls instead of node.run(); None if no interceptor has `running`."""
    run = None
    for interceptor in (*process.interceptors, *modes.interceptors):
        if type(interceptor).running is not Interceptor.running:
            run = functools.partial(interceptor.running, run=run or _run)
    return run


def _run(node: Node, g: Any, create: bool) -> Any:
    return node.run(g, create)


def calling_frame() -> FrameType:
    """The frame that called the operation being recorded. The compiled core has no frames."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(CALL_PATH):
        frame = frame.f_back
    return frame
