"""Metrics over all ranks: each counts its own rows, and compute() adds up. Ranks may have other numbers of rows, or none.

Sums and counts are kept in float64 and added in one collective, so the result is that of one process that saw all rows, and
bitwise the same on every rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import Tensor

from ..comm import CollectiveError, Communicator, communicator

Array = np.ndarray[Any, Any]


class Metric:
    """Numbers that add up over rows and ranks; a subclass has update(), and result() of the totals.

    comm: default world(); evaluate() brings its own. compute() is collective. state_dict() holds this rank's totals.
    """

    count = 2

    def __init__(self, comm: Communicator | None = None) -> None:
        self.comm = comm
        self.reset()

    def reset(self) -> None:
        """Forget all rows."""
        self.totals = np.zeros(self.count)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Count some of this rank's rows."""
        raise NotImplementedError(f"{type(self).__name__} must say what it counts, in update()")

    def result(self, totals: Array) -> float:
        """The metric, from the totals over all ranks: here a sum over a weight; nan where that is 0."""
        return float(totals[0] / totals[1]) if totals[1] else float("nan")

    def compute(self, comm: Communicator | None = None) -> float:
        """The metric over all rows of all ranks (of comm, if this one was made without), on every rank."""
        comm = communicator(self.comm or comm)
        # on local devices this process has seen all rows
        return self.result(self.totals if comm.alone else comm.allreduce([self.totals])[0])

    def state_dict(self) -> dict[str, Any]:
        """This rank's totals."""
        return {"totals": self.totals.copy()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """What state_dict() gave."""
        self.totals = np.array(getattr(state["totals"], "array", state["totals"]), np.float64)


class Mean(Metric):
    """A mean over rows.

    >>> loss = Mean(comm)
    >>> loss.update(F.cross_entropy(model(x), t), weight=len(x))       # of a mean over len(x) rows
    >>> loss.update(F.cross_entropy(model(x), t, reduction="none"))    # of one value for each row: the same
    >>> loss.compute()
    """

    def update(self, value: Any, weight: Any = 1) -> None:
        """Values, and what each counts: numbers or arrays that broadcast. What counts 0 may be nan: a mean of no rows."""
        values, weights = np.broadcast_arrays(_array(value), _array(weight))
        if (weights < 0).any():
            raise ValueError(f"Mean.update: a weight of {weights.min()}; weights are 0 or more")
        self.totals += (np.where(weights == 0, 0.0, values) * weights).sum(), weights.sum()


class Sum(Metric):
    """A sum over rows of all ranks, for instance the number of tokens."""

    count = 1

    def update(self, value: Any) -> None:
        """Add all elements of a number, array or Tensor to the sum."""
        self.totals += _array(value).sum()

    def result(self, totals: Array) -> float:
        """The sum over all ranks, a float."""
        return float(totals[0])


class Accuracy(Metric):
    """The share of rows whose class is among the top_k of largest scores; targets equal to ignore_index don't count."""

    def __init__(self, comm: Communicator | None = None, top_k: int = 1, ignore_index: int | None = None) -> None:
        super().__init__(comm)
        if top_k < 1:
            raise ValueError(f"top_k={top_k}: at least one class")
        self.top_k, self.ignore_index = top_k, ignore_index

    def update(self, output: Any, target: Any) -> None:
        """Scores (n, classes, ...), or classes (n, ...) of integers, against the right classes (n, ...).

        Among equal scores the first class counts as larger, as in argmax.
        """
        scores, right = _raw(output), _raw(target)
        if scores.shape == right.shape and scores.dtype.kind in "iub":
            hits = scores == right
        elif scores.ndim == right.ndim + 1 and scores.shape[:1] + scores.shape[2:] == right.shape:
            best = np.argsort(-scores, axis=1, kind="stable")[:, :self.top_k]
            hits = (best == right[:, None]).any(1)
        else:
            raise ValueError(f"Accuracy: scores of shape {list(scores.shape)} ({scores.dtype}) for targets of shape "
                             f"{list(right.shape)}; (n, classes, ...) or integers (n, ...) for (n, ...) are expected")
        counts = np.ones(right.shape, bool) if self.ignore_index is None else right != self.ignore_index
        self.totals += (hits & counts).sum(), counts.sum()


def reduce_metrics(values: dict[str, Any], weight: float = 1.0, comm: Communicator | None = None) -> dict[str, float]:
    """Means over ranks of numbers that are each a mean over this rank's `weight` rows, in one collective.

    All ranks pass the same names, in any order; CollectiveError on every rank if not. A rank with weight 0 does not count,
    whatever its numbers are; if all have, the means are nan. ValueError on every rank for a negative weight.

    >>> reduce_metrics({"loss": loss.item(), "error": error}, weight=len(x))
    """
    comm = communicator(comm)
    mine = sorted((name, float(_array(value))) for name, value in values.items())
    everyone = comm.allgather_object([(mine, float(weight))] * len(comm.held))
    for rank, (theirs, counts) in enumerate(everyone):
        if [name for name, _ in theirs] != [name for name, _ in everyone[0][0]]:
            raise CollectiveError(f"reduce_metrics: rank {rank} has {[name for name, _ in theirs]}, rank 0 "
                                  f"{[name for name, _ in everyone[0][0]]}; all ranks pass the same names")
        if not counts >= 0:
            raise ValueError(f"reduce_metrics: rank {rank} has weight {counts}; weights are 0 or more")
    total = sum(counts for _, counts in everyone)
    if not total:
        return {name: float("nan") for name in values}
    means = {name: sum(counts * theirs[i][1] for theirs, counts in everyone if counts) / total
             for i, (name, _) in enumerate(mine)}
    return {name: means[name] for name in values}


def _raw(x: Any) -> Array:
    return x.array if isinstance(x, Tensor) else np.asarray(x)


def _array(x: Any) -> Array:
    return np.asarray(_raw(x), np.float64)


__all__ = ["Accuracy", "Mean", "Metric", "Sum", "reduce_metrics"]
