"""Anomaly mode: find the forward call whose backward fails or produces NaN."""

from __future__ import annotations

import warnings
from importlib import import_module
from types import TracebackType
from typing import Any

import numpy as np

from ..core.graph import Node
from ..core.interceptors import Interceptor, Run, calling_frame, install, remove
from ..core.modes import modes
from ..core.versions import name_lines

MSG_SLOW = ("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.")
MSG_NO_TRACE = ("Error detected in {name}. No forward pass information available. Enable detect anomaly during forward "
                "pass for more information.")
MSG_TRACE = "Error detected in {name}. Traceback of forward call that caused the error:\n"
MSG_PARENT = ("\n\nPrevious calculation was induced by {name}. Traceback of forward call that induced the previous "
              "calculation:\n")


class AnomalyMode(Interceptor):
    """Stores the traceback of each node's creation; an error or NaN in its backward shows it in a warning."""

    enabled = False
    check_nan = True

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Store the traceback of the call with its node, and the node in whose backward it was created."""
        metadata = node.metadata
        metadata["traceback_"] = import_module("traceback").format_stack(calling_frame())
        if modes.running_node is not None:
            metadata["parent_"] = modes.running_node

    def running(self, node: Node, g: Any, create: bool, run: Run) -> Any:
        """Run the node. An error warns where the node was created; NaN is an error."""
        before, modes.running_node = modes.running_node, node
        try:
            grads = run(node, g, create)
            if self.check_nan:
                _refuse_nan(node, grads)
        except Exception:
            report(node)
            raise
        finally:
            modes.running_node = before
        return grads


anomaly: AnomalyMode = AnomalyMode()


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode for all threads; check_nan: a gradient that is NaN is an error."""
    if enabled and not anomaly.enabled:
        install(anomaly, all_threads=True)
    elif anomaly.enabled and not enabled:
        remove(anomaly, all_threads=True)
    anomaly.enabled, anomaly.check_nan = bool(enabled), bool(check_nan)
    name_lines(anomaly.enabled)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return anomaly.check_nan


class set_detect_anomaly:
    """Switch anomaly mode on or off immediately; as a context manager, restore the previous state on exit."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev: bool = anomaly.enabled
        self.prev_check_nan: bool = anomaly.check_nan
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        """The switch was made by the constructor."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class detect_anomaly(set_detect_anomaly):
    """A context manager in which an error in backward shows the forward call's traceback, and NaN gradients are errors."""

    def __init__(self, check_nan: bool = True) -> None:
        self.prev: bool = anomaly.enabled
        self.prev_check_nan: bool = anomaly.check_nan
        self.check_nan = check_nan
        warnings.warn(MSG_SLOW, UserWarning, stacklevel=2)

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)


def _refuse_nan(node: Node, grads: Any) -> None:
    """Raise RuntimeError if a gradient of an input contains NaN."""
    for number, grad in enumerate(grads):
        array = getattr(grad, "array", grad)
        if array is not None and node.edges[number] is not None and np.isnan(array).any():
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {number}th output.")


def report(node: Node) -> None:
    """Warn with the traceback of the node's creation, and of the node in whose backward that was, if any."""
    stack = node.metadata.get("traceback_")
    warnings.warn(MSG_NO_TRACE.format(name=node.name()) if stack is None else
                  MSG_TRACE.format(name=node.name()) + "".join(stack), UserWarning, stacklevel=3)
    parent = node.metadata.get("parent_")
    while parent is not None:
        stack = parent.metadata.get("traceback_", ["No forward pass information available.\n"])
        warnings.warn(MSG_PARENT.format(name=parent.name()) + "".join(stack), UserWarning, stacklevel=3)
        parent = parent.metadata.get("parent_")
