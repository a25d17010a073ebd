"""Forward mode: compute the tangents of a call's outputs from those of its inputs, by the node's backward.

backward computes J^T u, which is linear in u, so its derivative with respect to u in the direction t is J t. Every operation
with a backward rule can therefore be differentiated in forward mode without another rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .backward import run_backward
from .graph import Node, next_number
from .interceptors import Interceptor
from .modes import DUAL, GRAD, modes
from .tensor import AccumulateGrad, Tensor, edge_of, result


def tangent_of(value: Any) -> Any:
    """The tangent of a Tensor in the current dual level; None if it has none."""
    dual = value.dual if isinstance(value, Tensor) else None
    return None if dual is None or dual[0] != modes.level else dual[1]


def set_tangent(tensor: Tensor, tangent: Any) -> None:
    """Set a tensor's tangent in the current dual level, or remove it (None)."""
    tensor.dual = None if tangent is None else (modes.level, tangent)
    tensor.tracked = (tensor.tracked & GRAD) | (DUAL if tangent is not None else 0)


class ForwardMode(Interceptor):
    """Computes the tangents of each call's outputs; installed while the thread is in a dual level. Called last, because it
    runs the node, and removes nodes that were recorded only for their tangents."""

    last = True

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Compute the tangents of the outputs of a recorded call."""
        if modes.recording & DUAL:
            propagate_tangents(node, inputs, outputs)


forward_mode: ForwardMode = ForwardMode()


def propagate_tangents(node: Node, inputs: tuple[Any, ...], outs: tuple[Any, ...]) -> None:
    """Set the tangents of the outputs of a recorded call from those of its inputs.

    A call that was recorded only for its tangents is removed from the graph. In a collective all ranks do the same; inputs
    without tangents count as zeros.
    """
    tangents = [tangent_of(x) for x in inputs]
    agreed, recording = node.agreed, modes.recording & GRAD
    if agreed is not None:
        wanted, live, create = agreed & GRAD, agreed & DUAL, recording
        tangents = [zeros_like(x) if live and t is None else t for x, t in zip(inputs, tangents, strict=True)]
    else:
        wanted = recording and any(isinstance(x, Tensor) and x.tracked & GRAD for x in inputs)
        live = any(t is not None for t in tangents)
        create = wanted or (recording and any(t is not None and t.tracked & GRAD for t in tangents))
    edges = node.edges
    node.edges = tuple((AccumulateGrad(x), 0) if edge is None and t is not None else edge
                       for x, t, edge in zip(inputs, tangents, edges, strict=True))
    found = push(node, inputs, outs, tangents, bool(create)) if live else [None] * len(outs)
    node.edges = edges
    for out, tangent in zip(outs, found, strict=True):
        if not isinstance(out, Tensor):
            continue
        if not wanted:
            out.edge = None
        out.tracked = out.tracked & GRAD if wanted else 0
        set_tangent(out, tangent)
    if wanted:
        node.output_duals = tuple(out.dual if isinstance(out, Tensor) else None for out in outs)


def push(node: Node, inputs: tuple[Any, ...], outs: tuple[Any, ...], tangents: list[Any], create: bool) -> list[Any]:
    """J t for each output, t the inputs' tangents; None if the output is not differentiable. Recorded if `create`."""
    custom = node.custom_push(inputs, outs, tangents)
    if custom is not None:
        return list(custom)
    if node.always_runs and node.agreed is None:
        raise NotImplementedError(f"{node.name()}: forward mode through messages that not all ranks take part in is not "
                                  "implemented; give the Function a jvp, or use backward mode")
    before, modes.recording = modes.recording, GRAD
    try:
        since = next_number()
        seeds = [seed(out) for out in outs]
        gs = node.run(seeds if node.outputs > 1 else seeds[0], True)
        pairs = [(g, t) for g, t in zip(gs, tangents, strict=True)
                 if t is not None and isinstance(g, Tensor) and g.tracked]
        targets = [s for s in seeds if s is not None]
        found = iter(run_backward([edge_of(g) for g, _ in pairs], [t for _, t in pairs], True, create,  # type: ignore[misc]
                                  [edge_of(s) for s in targets], False, since))       # type: ignore[misc]
    finally:
        modes.recording = before
    return [None if s is None else zeros_for(next(found), s) for s in seeds]


def seed(out: Any) -> Tensor | None:
    """A leaf in place of the gradient of an output; None for an output without a derivative."""
    if not isinstance(out, Tensor) or out.array.dtype.kind not in "fcV":
        return None
    leaf = result(np.zeros_like(out.array))
    leaf.tracked = GRAD
    return leaf


def zeros_like(value: Any) -> Any:
    """The zero tangent of an input without one; None for an input without a derivative."""
    if not isinstance(value, Tensor) or value.array.dtype.kind not in "fcV":
        return None
    return result(np.zeros_like(value.array))


def zeros_for(tangent: Any, leaf: Tensor) -> Any:
    """The tangent, or zeros if backward does not depend on the output's gradient."""
    return result(np.zeros_like(leaf.array)) if tangent is None else tangent
