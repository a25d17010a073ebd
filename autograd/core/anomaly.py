"""Anomaly mode: finds the forward call whose backward fails or makes NaN."""

from __future__ import annotations

import sys
import threading
import warnings
from importlib import import_module
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from .graph import Node
from .modes import listen, silence

MSG_SLOW = ("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.")
MSG_NO_TRACE = ("Error detected in {name}. No forward pass information available. Enable detect anomaly during forward "
                "pass for more information.")
MSG_TRACE = "Error detected in {name}. Traceback of forward call that caused the error:\n"
MSG_PARENT = ("\n\nPrevious calculation was induced by {name}. Traceback of forward call that induced the previous "
              "calculation:\n")


RECORDERS = {f"autograd.{name}" for name in ("core.anomaly", "core.recorded", "core.operation", "core.function",
                                              "ops._declare")}


class _State:
    """What is on, in all threads."""

    enabled = False
    check_nan = True


state = _State()


class _Current(threading.local):
    """The node that this thread runs in backward."""

    node: Node | None = None


current = _Current()


def _caller() -> FrameType:
    """The frame that called the operation: the recording code itself has none where it is compiled."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") in RECORDERS:
        frame = frame.f_back
    return frame


def _on_birth(node: Node) -> None:
    """Write down where a node is made, and in which node's backward."""
    metadata = node.metadata
    metadata["traceback_"] = import_module("traceback").format_stack(_caller())
    if current.node is not None:
        metadata["parent_"] = current.node


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode for all threads; check_nan: a gradient that is NaN is an error."""
    if enabled and not state.enabled:
        listen(_on_birth)
    elif state.enabled and not enabled:
        silence(_on_birth)
    state.enabled, state.check_nan = bool(enabled), bool(check_nan)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return state.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return state.check_nan


class set_detect_anomaly:
    """Switch anomaly mode on or off, at once; as a `with` block back at its end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev, self.prev_check_nan = state.enabled, state.check_nan
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        """The switch was made by the constructor."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class detect_anomaly(set_detect_anomaly):
    """In the block, an error in backward warns with the traceback of the forward call, and NaN gradients are errors.

    >>> with detect_anomaly():
    ...     loss = model(x).log().sum()
    ...     loss.backward()            # Function 'LogBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.prev, self.prev_check_nan = state.enabled, state.check_nan
        self.check_nan = check_nan
        warnings.warn(MSG_SLOW, UserWarning, stacklevel=2)

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)


def run_watched(node: Node, g: Any, create: bool) -> Any:
    """node.run(g, create): an error warns of where the node was made, and NaN is an error."""
    before, current.node = current.node, node
    try:
        grads = node.run(g, create)
        if state.check_nan:
            _refuse_nan(node, grads)
    except Exception:
        report(node)
        raise
    finally:
        current.node = before
    return grads


def _refuse_nan(node: Node, grads: Any) -> None:
    """A RuntimeError if a gradient for an input holds NaN."""
    for number, grad in enumerate(grads):
        array = getattr(grad, "array", grad)
        if array is not None and node.edges[number] is not None and np.isnan(array).any():
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {number}th output.")


def report(node: Node) -> None:
    """Warn of where the node was made in forward, and the node in whose backward that was, if any."""
    stack = node.metadata.get("traceback_")
    warnings.warn(MSG_NO_TRACE.format(name=node.name()) if stack is None else
                  MSG_TRACE.format(name=node.name()) + "".join(stack), UserWarning, stacklevel=3)
    parent = node.metadata.get("parent_")
    while parent is not None:
        stack = parent.metadata.get("traceback_", ["No forward pass information available.\n"])
        warnings.warn(MSG_PARENT.format(name=parent.name()) + "".join(stack), UserWarning, stacklevel=3)
        parent = parent.metadata.get("parent_")


__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled",
           "set_detect_anomaly"]
