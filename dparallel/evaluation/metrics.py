"""Metrics over all ranks: each rank updates its own totals, and compute() sums those of all ranks, in float64 and one
collective.

The result is that of one process with all rows, bitwise the same on every rank. Ranks may have different numbers of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..autograd import Tensor
from ..comm import CollectiveError, Communicator, communicator

Array = np.ndarray[Any, Any]
ArrayLike: TypeAlias = Tensor | Array | Sequence[Any] | float


class Metric:
    """Totals added over rows and ranks: a subclass has update(), and result() of the totals. compute() is collective;
    state_dict() has this rank's totals."""

    count = 2                                        # of totals

    def __init__(self, comm: Communicator | None = None) -> None:
        self.comm = comm
        self.reset()

    def reset(self) -> None:
        """Set the totals to 0."""
        self.totals: Array = np.zeros(self.count)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add some of this rank's rows to the totals."""
        raise NotImplementedError(f"{type(self).__name__} must define update()")

    def result(self, totals: Array) -> float:
        """The metric of the totals over all ranks: by default the first total over the second, nan if that is 0."""
        return float(totals[0] / totals[1]) if totals[1] else float("nan")

    def compute(self, comm: Communicator | None = None) -> float:
        """The metric over all rows of all ranks, on every rank. Collective."""
        comm = communicator(self.comm or comm)
        # on local devices this process has all rows
        return self.result(self.totals if comm.alone else comm.allreduce([self.totals])[0])

    def state_dict(self) -> dict[str, Any]:
        """This rank's totals, for a checkpoint."""
        return {"totals": self.totals.copy()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the totals."""
        self.totals = np.array(getattr(state["totals"], "array", state["totals"]), np.float64)


class Mean(Metric):
    """A mean over rows."""

    def update(self, value: ArrayLike, weight: ArrayLike = 1) -> None:
        """Add values with their weights, which broadcast. A value of weight 0 may be nan, as the mean of no rows is."""
        values, weights = np.broadcast_arrays(_as_float64(value), _as_float64(weight))
        if (weights < 0).any():
            raise ValueError(f"Mean.update: a weight of {weights.min()}; weights must be at least 0")
        self.totals += (np.where(weights == 0, 0.0, values) * weights).sum(), weights.sum()


class Sum(Metric):
    """A sum over rows of all ranks, for instance the number of tokens."""

    count = 1

    def update(self, value: ArrayLike) -> None:
        """Add all elements of a number, array or Tensor to the sum."""
        self.totals += _as_float64(value).sum()

    def result(self, totals: Array) -> float:
        """The sum over all ranks, a float."""
        return float(totals[0])


class Accuracy(Metric):
    """The fraction of rows whose class is among the top_k largest scores; targets equal to ignore_index are ignored."""

    def __init__(self, comm: Communicator | None = None, top_k: int = 1, ignore_index: int | None = None) -> None:
        super().__init__(comm)
        if top_k < 1:
            raise ValueError(f"top_k={top_k} must be at least 1")
        self.top_k: int = top_k
        self.ignore_index: int | None = ignore_index

    def update(self, output: ArrayLike, target: ArrayLike) -> None:
        """Compare scores (n, classes, ...), or predicted classes (n, ...), with the true classes (n, ...).

        Of equal scores the first counts as the largest, as in argmax.
        """
        scores, right = _as_array(output), _as_array(target)
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


def reduce_metrics(values: dict[str, ArrayLike], weight: float = 1.0, comm: Communicator | None = None) -> dict[str, float]:
    """Means over all ranks' rows of values that are means over this rank's `weight` rows, in one collective. Values with
    weight 0 are ignored; if all weights are 0, the means are nan."""
    if not isinstance(values, Mapping):
        raise TypeError(f"reduce_metrics(values={values!r}): pass a dict of numbers by name")
    comm = communicator(comm)
    items = sorted((name, float(_as_float64(value))) for name, value in values.items())
    gathered = comm.allgather_object([(items, float(weight))] * len(comm.held))
    first_names = [name for name, _ in gathered[0][0]]
    for rank, (rank_items, rank_weight) in enumerate(gathered):
        names = [name for name, _ in rank_items]
        if names != first_names:
            raise CollectiveError(f"reduce_metrics: rank {rank} has {names}, rank 0 {first_names}; all ranks pass the "
                                  "same names")
        if not rank_weight >= 0:
            raise ValueError(f"reduce_metrics: rank {rank} has weight {rank_weight}; weights must be at least 0")
    total = sum(rank_weight for _, rank_weight in gathered)
    if not total:
        return {name: float("nan") for name in values}
    means = {name: sum(rank_weight * rank_items[i][1] for rank_items, rank_weight in gathered if rank_weight) / total
             for i, (name, _) in enumerate(items)}
    return {name: means[name] for name in values}


def _as_array(x: ArrayLike) -> Array:
    return x.array if isinstance(x, Tensor) else np.asarray(x)


def _as_float64(x: ArrayLike) -> Array:
    return np.asarray(_as_array(x), np.float64)
