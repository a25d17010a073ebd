"""Backward passes through parallel sections: one thread runs the nodes of each lane (parallel.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .engine import BackwardPass, running
from .graph import Node
from .modes import modes
from .parallel import run_lanes


class LanePass(BackwardPass):
    """The part of a pass that one lane runs in its own thread. Gradients that leave the lane wait for the merge."""

    def __init__(self, parent: BackwardPass, nodes: list[Node]) -> None:
        super().__init__(parent.create, parent.keep, {}, parent.runner)
        self.captures: dict[Node, dict[int, list[Any]]] = parent.captures
        self.accumulate: bool = parent.accumulate
        self.targets: set[Node] | None = parent.targets
        self.nodes: list[Node] = nodes
        self.parent: BackwardPass = parent
        self.replaced = parent.replaced
        self.passes: list[BackwardPass] = list(running.passes)
        for node in nodes:
            if node in parent.pending:
                self.pending[node] = parent.pending.pop(node)
                parent.owned.discard(node)

    def run_lane(self) -> None:
        """Run the lane's nodes in its own thread."""
        before, running.passes = running.passes, self.passes     # including the passes around the parent
        recording, modes.recording = modes.recording, self.parent.recording
        try:
            self.run(self.nodes)
        finally:
            modes.recording = recording
            running.passes = before

    def count_use(self, leaf: Node) -> None:
        """Count down from 0: the enclosing pass delivers the leaf."""
        self.uses[leaf] = self.uses.get(leaf, 0) - 1


def run_by_sections(whole: BackwardPass, order: Sequence[Node]) -> None:
    """Run the nodes of a pass in order; sections that lanes recorded run in parallel."""
    start = 0
    while start < len(order):
        lane = order[start].lane is not None
        end = start
        while end < len(order) and (order[end].lane is not None) == lane:
            end += 1
        if lane:
            _run_section(whole, order[start:end])
        else:
            whole.run(order[start:end])
        start = end


def _run_section(whole: BackwardPass, nodes: Sequence[Node]) -> None:
    """Run nodes that lanes recorded, one thread per lane; sequentially if there is one lane, or an edge between lanes."""
    by_lane: dict[int, list[Node]] = {}
    for node in nodes:
        by_lane.setdefault(node.lane, []).append(node)  # type: ignore[arg-type]
    if len(by_lane) == 1 or _lanes_touch(by_lane):
        modes.lane = -1                              # as if in a lane: inner passes run sequentially too
        try:
            whole.run(nodes)
        finally:
            modes.lane = None
        return
    lanes = sorted(by_lane, reverse=True)            # as if the lanes had recorded one after the other: nodes and
    parts = [LanePass(whole, by_lane[lane]) for lane in lanes]       # merges have a fixed order, so sums are reproducible
    run_lanes([part.run_lane for part in parts], lanes)
    for part in parts:
        _merge(whole, part)


def _merge(whole: BackwardPass, part: LanePass) -> None:
    """Merge the gradients that a lane sent out of its section."""
    for target, value in part.pending.items():
        if target.outputs == 1:
            whole.add(target, 0, value)
            continue
        for number, g in enumerate(value):
            if g is not None:
                whole.add(target, number, g)
    for leaf, count in part.uses.items():
        for _ in range(-count):
            whole.count_use(leaf)


def _lanes_touch(by_lane: dict[int, list[Node]]) -> bool:
    """Whether an edge connects two lanes of a section, which then can't run in parallel."""
    lane_of = {node: lane for lane, nodes in by_lane.items() for node in nodes}
    return any(edge is not None and lane_of.get(edge[0], lane) != lane
               for node, lane in lane_of.items() for edge in node.edges)
