"""Forward mode: the tangents of a call's outputs from those of its inputs, by the node's own backward.

backward computes J^T u, which is linear in u, so its derivative with respect to u in the direction t is J t. Every operation
that can be differentiated backward can therefore be differentiated forward, without a further rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from .backward import run_backward
from .graph import Node, next_number
from .interceptors import Interceptor
from .modes import DUAL, GRAD, modes
from .tensor import AccumulateGrad, Tensor, edge_of, result


def tangent_of(value: Any) -> Any:
    """The tangent that a Tensor has in the current dual level; None if it has none."""
    dual = value.dual if isinstance(value, Tensor) else None
    return None if dual is None or dual[0] != modes.level else dual[1]


def set_tangent(tensor: Tensor, tangent: Any) -> None:
    """Give a tensor its tangent in the current dual level, or take it away (None)."""
    tensor.dual = None if tangent is None else (modes.level, tangent)
    tensor.tracked = (tensor.tracked & GRAD) | (DUAL if tangent is not None else 0)


class ForwardMode(Interceptor):
    """Gives the outputs of each call their tangents; installed while the thread is in a dual level. It comes last: it runs
    the node, and takes those away that were recorded for their tangents alone."""

    last = True

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """A call has become a node."""
        if modes.recording & DUAL:
            propagate_tangents(node, inputs, outputs)


forward_mode: ForwardMode = ForwardMode()


def propagate_tangents(node: Node, inputs: tuple[Any, ...], outs: tuple[Any, ...]) -> None:
    """Give the outputs of a recorded call the tangents that follow from the inputs'.

    A call that was recorded for its tangents alone leaves no trace in the graph. In a collective all ranks do the same, and
    those whose inputs have no tangents have zeros."""
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
    """J t for each output (None where it is not differentiable), t the inputs' tangents; recorded if `create`."""
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
    """A leaf that stands for the gradient of an output; None for one that has no derivative."""
    if not isinstance(out, Tensor) or out.array.dtype.kind not in "fcV":
        return None
    leaf = result(np.zeros_like(out.array))
    leaf.tracked = GRAD
    return leaf


def zeros_like(value: Any) -> Any:
    """The tangent of an input that has none where others have some; None for what has no derivative."""
    if not isinstance(value, Tensor) or value.array.dtype.kind not in "fcV":
        return None
    return result(np.zeros_like(value.array))


def zeros_for(tangent: Any, leaf: Tensor) -> Any:
    """The tangent, or zeros where backward does not depend on the output's gradient."""
    return result(np.zeros_like(leaf.array)) if tangent is None else tangent
