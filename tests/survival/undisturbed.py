"""The weights of the same steps in one process, without ranks, deaths or sharding: what a surviving run has to equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from journal import History, Step
from tasks import TASKS, scheduled, start, state_of

import autograd as ag
import autograd.nn.functional as F

TOLERANCE = 1e-12


class Undisturbed:
    """The weights and the optimiser's state after these steps, and the buffers of each process, as of one process that takes
    the steps.

    Each step sums over the shares of the ranks the gradient of the share's mean loss times its part of the rows. Buffers are
    a rank's own after its forward, and rank 0's before the next one. Where an attempt begins they are those of any rank that
    took the step before: `begun` says of an attempt what rank 0's add up to, and a sum that no rank had is a problem.
    """

    def __init__(self, name: str, steps: Sequence[Step], begun: Mapping[int, float]) -> None:
        task = TASKS[name]
        net, inputs, targets = start(name)
        optimizer = task.optimizer(net.parameters(), **task.options)
        scheduler = scheduled(optimizer)
        self.buffers, self.problems = {-1: copies(net.named_buffers())}, []
        attempt = -1
        for step in steps:
            optimizer.zero_grad()
            if step.attempt == attempt:
                first = self.buffers[step.processes[0]]
            else:
                attempt, expected = step.attempt, begun[step.attempt]
                first = min(self.buffers.values(), key=lambda values: abs(total(values) - expected))
                if not abs(total(first) - expected) <= TOLERANCE * max(1, abs(expected)):
                    self.problems.append(f"attempt {attempt} began with buffers that no rank had")
            rows = sum(map(len, step.shares))
            self.buffers = {}
            for process, ids in zip(step.processes, step.shares, strict=True):
                for key, buffer in net.named_buffers():
                    buffer.numpy()[...] = first[key]
                (F.cross_entropy(net(ag.tensor(inputs[ids])), ag.tensor(targets[ids])) * (len(ids) / rows)).backward()
                self.buffers[process] = copies(net.named_buffers())
            optimizer.step()
            scheduler.step()
        self.weights, self.state = copies(net.named_parameters()), state_of(optimizer.state_dict())


def total(values: Mapping[str, np.ndarray]) -> float:
    """What distinguishes the buffers of ranks: their sum."""
    return float(sum(value.sum() for value in values.values()))


def copies(named: Iterable[tuple[str, ag.Tensor]]) -> dict[str, np.ndarray]:
    """The arrays of tensors."""
    return {key: value.detach().numpy().copy() for key, value in named}


def difference(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """The largest distance of two elements, relative to 1 or the size of the larger; inf if names or shapes differ, or it is nan."""
    if found.keys() != expected.keys() or any(found[name].shape != expected[name].shape for name in found):
        return np.inf
    apart = [np.abs(found[name] - expected[name]) / np.maximum(1, np.abs(expected[name])) for name in found]
    largest = float(np.max([one.max() for one in apart if one.size], initial=0.0))       # nan if one of them is
    return largest if np.isfinite(largest) else np.inf


def weights_problems(folder: Path, name: str, history: History) -> tuple[float, list[str]]:
    """How far the weights that the ranks ended with are from those of one process, and what is wrong with these, with rank 0's
    buffers and with its optimiser."""
    last = max(history.attempts("end"), default=-1)
    ended = {line["rank"]: line["process"] for line in history.of(last, "end")}
    if set(ended) != set(range(history.size.get(last, 1))):
        return np.inf, [f"of attempt {last} ranks {sorted(ended)} ended"]
    if missing := [process for process in ended.values() if not (folder / f"{process}.npz").exists()]:
        return np.inf, [f"processes {missing} left no weights"]
    begun = {attempt: next(line["buffers"] for line in history.of(attempt, "kept") if line["rank"] == 0) for attempt in history.first
             if any(line["rank"] == 0 for line in history.of(attempt, "kept"))}
    expected = Undisturbed(name, history.steps, begun)
    weights, buffers = expected.weights, expected.buffers
    first: dict[str, np.ndarray] = {}
    largest, problems = 0.0, expected.problems
    for rank, process in sorted(ended.items()):
        found = dict(np.load(folder / f"{process}.npz"))
        state = {key: found.pop(key) for key in list(found) if key.startswith("optimizer ")}
        mine = {key: found.pop(key) for key in list(found) if key not in weights}
        largest = max(largest, distance := difference(found, weights))
        first = first or found
        if not distance <= TOLERANCE:
            problems.append(f"rank {rank} ended with weights {distance:.1e} away from those of one process")
        if difference(found, first):
            problems.append(f"rank {rank} ended with weights {difference(found, first):.1e} away from rank 0's")
        if rank == 0 and not difference(state, expected.state) <= TOLERANCE:
            problems.append(f"rank 0 ended with an optimiser's state {difference(state, expected.state):.1e} away from that of one process")
        apart = min(difference(mine, one) for one in buffers.values())
        if rank == 0 and not apart <= TOLERANCE:
            problems.append(f"rank 0 ended with buffers {apart:.1e} away from those of one process")
    return largest, problems
