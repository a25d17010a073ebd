"""Metrics over all ranks: each rank updates its own totals, and compute() sums those of all ranks. Ranks may have different
numbers of rows, including none.

Totals are float64 and summed in one collective, so the result is that of one process with all rows, and bitwise the same on
every rank.
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
    """Totals that are added over rows and ranks. A subclass defines update(), and result() of the totals. compute() is
    collective; state_dict() has this rank's totals.

    Args:
        comm (Communicator): The ranks, by default those of evaluate(), or world().

    Example:
        >>> class Largest(dparallel.metrics.Metric):             # the mean of rows' largest outputs
        ...     def update(self, output, target):
        ...         self.totals += float(output.amax(1).sum()), len(output)
        ...     def result(self, totals):
        ...         return float(totals[0] / totals[1])
        >>> def run(comm):
        ...     metric = Largest(comm)
        ...     metric.update(ag.full((1 + comm.rank, 2), float(comm.rank)), None)
        ...     return metric.compute()
        >>> dparallel.run_ranks(3, run)
        [1.333..., 1.333..., 1.333...]
        >>> mean = dparallel.metrics.Mean()              # is a Metric, too
        >>> mean.update(4.0)
        >>> state = mean.state_dict()
        >>> mean.reset()
        >>> mean.load_state_dict(state)
        >>> mean.compute(), mean.result(mean.totals)
        (4.0, 4.0)
    """

    count = 2                                        # of totals

    def __init__(self, comm: Communicator | None = None) -> None:
        self.comm = comm
        self.reset()

    def reset(self) -> None:
        """Set the totals to 0."""
        self.totals: Array = np.zeros(self.count)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add some of this rank's rows to the totals.

        Args:
            *args, **kwargs: Those of the subclass.

        Raises:
            NotImplementedError: the subclass has no update().
        """
        raise NotImplementedError(f"{type(self).__name__} must define update()")

    def result(self, totals: Array) -> float:
        """The metric of the totals over all ranks: by default the first total over the second, nan if that is 0.

        Args:
            totals (array): The sum of all ranks' totals, float64.
        """
        return float(totals[0] / totals[1]) if totals[1] else float("nan")

    def compute(self, comm: Communicator | None = None) -> float:
        """The metric over all rows of all ranks, on every rank. Collective.

        Args:
            comm (Communicator): Used if the metric was created without one. Default: None: world().
        """
        comm = communicator(self.comm or comm)
        # on local devices this process has all rows
        return self.result(self.totals if comm.alone else comm.allreduce([self.totals])[0])

    def state_dict(self) -> dict[str, Any]:
        """This rank's totals, for a checkpoint."""
        return {"totals": self.totals.copy()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the totals.

        Args:
            state (dict): The result of state_dict().
        """
        self.totals = np.array(getattr(state["totals"], "array", state["totals"]), np.float64)


class Mean(Metric):
    """A mean over rows.

    Args:
        comm (Communicator): The ranks, by default those of evaluate(), or world().

    Example:
        >>> def run(comm):
        ...     loss = dparallel.metrics.Mean(comm)
        ...     loss.update(2.0 + comm.rank, weight=3)               # a mean over 3 rows
        ...     loss.update(ag.tensor([4.0, 6.0]))                   # a value for each row
        ...     return loss.compute()
        >>> dparallel.run_ranks(2, run)
        [3.5, 3.5]
    """

    def update(self, value: ArrayLike, weight: ArrayLike = 1) -> None:
        """Add values with their weights, which broadcast. A value of weight 0 may be nan, as the mean of no rows is.

        Args:
            value (Tensor, array or float): One or more values.
            weight (Tensor, array or float): How many rows each is a mean of. Default: 1.

        Raises:
            ValueError: a weight is negative.
        """
        values, weights = np.broadcast_arrays(_as_float64(value), _as_float64(weight))
        if (weights < 0).any():
            raise ValueError(f"Mean.update: a weight of {weights.min()}; weights must be at least 0")
        self.totals += (np.where(weights == 0, 0.0, values) * weights).sum(), weights.sum()


class Sum(Metric):
    """A sum over rows of all ranks, for instance the number of tokens.

    Args:
        comm (Communicator): The ranks, by default those of evaluate(), or world().

    Example:
        >>> def run(comm):
        ...     tokens = dparallel.metrics.Sum(comm)
        ...     tokens.update(10 * (1 + comm.rank))
        ...     return tokens.compute()
        >>> dparallel.run_ranks(2, run)
        [30.0, 30.0]
    """

    count = 1

    def update(self, value: ArrayLike) -> None:
        """Add all elements of a number, array or Tensor to the sum.

        Args:
            value (Tensor, array or float): One or more values.
        """
        self.totals += _as_float64(value).sum()

    def result(self, totals: Array) -> float:
        """The sum over all ranks, a float."""
        return float(totals[0])


class Accuracy(Metric):
    """The fraction of rows whose class is among the top_k largest scores; targets equal to ignore_index are ignored.

    Args:
        comm (Communicator): The ranks. Default: those of evaluate(), or world().
        top_k (int): The number of largest scores that may include the class. Default: 1.
        ignore_index (int): A target that is ignored.

    Raises:
        ValueError: top_k is below 1.

    Example:
        >>> accuracy = dparallel.metrics.Accuracy()
        >>> accuracy.update(ag.tensor([[2.0, 1.0], [0.0, 3.0], [1.0, 0.0], [0.0, 1.0]]), ag.tensor([0, 1, 1, 1]))
        >>> accuracy.compute()
        0.75
    """

    def __init__(self, comm: Communicator | None = None, top_k: int = 1, ignore_index: int | None = None) -> None:
        super().__init__(comm)
        if top_k < 1:
            raise ValueError(f"top_k={top_k} must be at least 1")
        self.top_k: int = top_k
        self.ignore_index: int | None = ignore_index

    def update(self, output: ArrayLike, target: ArrayLike) -> None:
        """Compare scores (n, classes, ...), or predicted classes (n, ...), with the true classes (n, ...).

        Of equal scores the first counts as the largest, as in argmax.

        Args:
            output (Tensor or array): Scores (n, classes, ...), or integer classes (n, ...).
            target (Tensor or array): The true classes (n, ...), integers.

        Raises:
            ValueError: the shapes do not match.
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
    """The means over all ranks' rows of values that are means over this rank's `weight` rows, in one collective. The
    values of a rank with weight 0 are ignored; if all weights are 0, the means are nan.

    Args:
        values (dict): Numbers, or tensors of one element, by name; all ranks pass the same names, in any order.
        weight (float): How many rows they are means of. Default: 1.0.
        comm (Communicator): The ranks, by default world().

    Returns:
        A dict of floats, by name.

    Raises:
        CollectiveError: ranks pass different names; on all ranks.
        ValueError: a weight is negative; on all ranks.

    Example:
        >>> def run(comm):
        ...     return dparallel.metrics.reduce_metrics({"loss": 1.0 + comm.rank}, weight=1 + 2 * comm.rank, comm=comm)
        >>> dparallel.run_ranks(2, run)
        [{'loss': 1.75}, {'loss': 1.75}]
    """
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


__all__ = ["Accuracy", "Mean", "Metric", "Sum", "reduce_metrics"]
