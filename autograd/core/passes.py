# cython: annotation_typing=True
"""How a backward pass starts and ends: its nodes and what they are asked for, the gradients at the roots, callbacks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .engine import BackwardPass, count_uses, on_the_way, running, survey
from .graph import Edge, Node
from .hooks import as_value, observe
from .interceptors import node_runner
from .lane_pass import run_by_sections
from .modes import DUAL, GRAD, modes
from .parallel import on_fresh_stack
from .primitive import observers, thread


def run_backward(roots: list[Edge], seeds: list[Any], keep: bool, create: bool,
                 targets: list[Edge] | None, accumulate: bool, since: int = 0) -> list[Any]:
    """Send `seeds` (Tensors) back from `roots`. With targets and not `accumulate`: the gradients at the targets.

    Nodes numbered below `since` are left out: the targets are known not to be behind them.
    """
    if running.passes and _deep():
        return _deeper(lambda: run_backward(roots, seeds, keep, create, targets, accumulate, since))
    order, uses = survey(roots, since)
    if running.joining is not None and not running.passes and not since:
        joined = running.joining(order, targets, keep, accumulate)
        if joined:
            order, uses = survey([*roots, *joined])
    tensors = create or bool(modes.recording & DUAL)      # in a dual level gradients have tangents, which arrays have not
    kind: Any = BackwardPass if not observers or thread.observer is None else thread.observer.backward_pass
    current: BackwardPass = kind(tensors, keep, uses, node_runner())
    current.accumulate = accumulate
    places: list[list[Any]] = []
    if targets is not None:
        current.targets = {edge[0] for edge in targets}
        order = on_the_way(order, current.targets, accumulate)
        for node, number in targets:
            places.append([])
            if not accumulate:
                current.captures.setdefault(node, {}).setdefault(number, []).append(places[-1])
        current.uses = count_uses(order, roots)
    current.order = order
    recording = modes.recording
    current.recording = modes.recording = create | (recording & ~GRAD)
    running.passes.append(current)
    try:
        for (node, number), seed in zip(roots, seeds, strict=True):
            if not node.is_leaf:
                current.add(node, number, as_value(seed, tensors))
                continue
            if not tensors and node not in current.pending:
                current.owned.add(node)              # the copy, which .grad may keep
            current.add(node, 0, seed if tensors else seed.array.copy())
            current.count_use(node)
        if modes.lane is None and modes.multithreading and _has_lanes(order):
            if kind is not BackwardPass:
                thread.observer.refuse("lanes (parallel_apply, local devices) can't be recorded")
            run_by_sections(current, order)
        else:
            current.run(order)
        if targets is not None:
            _capture_ends(current)
        while current.callbacks:
            current.callbacks.pop(0)()
    finally:
        running.passes.pop()
        modes.recording = recording
    return [place[0] if place else None for place in places]


def _has_lanes(order: list[Node]) -> bool:
    """Whether a node was recorded in a parallel section."""
    node: Node
    for node in order:                               # noqa: SIM110 - a generator takes 5 times as long
        if node.lane is not None:
            return True
    return False


def _deep() -> bool:
    """Whether a pass inside a pass has used a third of Python's recursion limit."""
    frame, left = sys._getframe(), sys.getrecursionlimit() // 3
    while frame.f_back is not None:
        frame = frame.f_back
        left -= 1
        if left == 0:
            return True
    return False


def _deeper(run: Callable[[], Any]) -> Any:
    """Run a pass on a stack of its own, as the inner one of the passes that this thread is inside."""
    passes = list(running.passes)

    def there() -> Any:
        running.passes = passes
        return run()

    return on_fresh_stack(there)


def _capture_ends(current: BackwardPass) -> None:
    """Targets that did not run themselves: their gradient waits where they would have taken it."""
    node: Node
    for node in list(current.captures):
        if node in current.pending:
            observe(current, node, current.pending.pop(node))
