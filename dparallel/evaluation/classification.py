"""Metrics of classifiers and of regressions, exact over all ranks' rows, even if unequal in number.

A mean of the ranks' F1 scores is not the F1 score. So counts are summed over ranks, and for the area under a curve the
scores themselves are gathered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.base.arguments import whole_number

from ..autograd import Tensor
from ..comm import Communicator, communicator
from .metrics import Array, ArrayLike, Metric

AVERAGES = ("macro", "micro", "weighted", None)


def values_of(x: ArrayLike) -> Array:
    """An argument of update() as an array."""
    return x.detach().array if isinstance(x, Tensor) else np.asarray(x)


def classes_of(name: str, output: ArrayLike, target: ArrayLike, threshold: float = 0.5) -> tuple[Array, Array]:
    """Predicted and true classes, flat, from scores (n, classes, ...), probabilities of class 1 (n, ...), or classes."""
    scores, right = values_of(output), values_of(target)
    if scores.ndim == right.ndim + 1 and scores.shape[:1] + scores.shape[2:] == right.shape:
        scores = scores.argmax(1)
    elif scores.shape != right.shape:
        raise ValueError(f"{name}: outputs of shape {list(scores.shape)} for targets of shape {list(right.shape)}; "
                         "(n, classes, ...) or (n, ...) for (n, ...) are expected")
    elif scores.dtype.kind not in "iub":
        scores = scores > threshold
    return scores.ravel().astype(np.int64), right.ravel().astype(np.int64)


class ConfusionMatrix(Metric):
    """The number of rows of class i predicted as class j: compute() is an int array [i, j]."""

    def __init__(self, num_classes: int, comm: Communicator | None = None, *, ignore_index: int | None = None,
                 threshold: float = 0.5) -> None:
        if whole_number(f"{type(self).__name__}(num_classes", num_classes, None) < 2:
            raise ValueError(f"num_classes={num_classes} must be at least 2")
        self.num_classes, self.ignore_index, self.threshold = num_classes, ignore_index, threshold
        self.count = num_classes**2
        super().__init__(comm)

    def update(self, output: ArrayLike, target: ArrayLike) -> None:
        """Count a batch of rows."""
        found, right = classes_of(type(self).__name__, output, target, self.threshold)
        if self.ignore_index is not None:
            found, right = found[right != self.ignore_index], right[right != self.ignore_index]
        for what, values in (("target", right), ("output", found)):
            if values.size and not 0 <= values.min() <= values.max() < self.num_classes:
                wrong = values.min() if values.min() < 0 else values.max()
                raise ValueError(f"{type(self).__name__}: class {wrong} among the {what}s, of {self.num_classes} classes")
        self.totals += np.bincount(right * self.num_classes + found, minlength=self.count)

    def result(self, totals: Array) -> Any:
        """The counts as a matrix (num_classes, num_classes), int64."""
        return totals.reshape(self.num_classes, self.num_classes).astype(np.int64)


class _OfCounts(ConfusionMatrix):
    """A score of each class's true positives, false positives and false negatives."""

    def __init__(self, num_classes: int, comm: Communicator | None = None, *, average: str | None = "macro",
                 ignore_index: int | None = None, threshold: float = 0.5) -> None:
        if average not in AVERAGES:
            raise ValueError(f"average={average!r} must be one of {AVERAGES}")
        self.average = average
        super().__init__(num_classes, comm, ignore_index=ignore_index, threshold=threshold)

    def score(self, hits: Array, found: Array, right: Array) -> Array:
        """Each class's score, 0 where nothing counts; result() calls it."""
        raise NotImplementedError

    def result(self, totals: Array) -> Any:
        """The score: one number, or with average=None one for each class."""
        matrix = totals.reshape(self.num_classes, self.num_classes)
        hits, found, right = np.diag(matrix), matrix.sum(0), matrix.sum(1)
        if not matrix.sum():
            return float("nan") if self.average else np.full(self.num_classes, np.nan)
        if self.average == "micro":
            return float(self.score(hits.sum(), found.sum(), right.sum()))
        scores = self.score(hits, found, right)
        if self.average is None:
            return scores
        seen = (found + right) > 0                   # as scikit-learn: classes that occur
        return float(scores[seen].mean() if self.average == "macro" else (scores * right).sum() / right.sum())


def ratio(a: Array, b: Array) -> Array:
    """a / b, 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(np.asarray(a, np.float64)), where=np.asarray(b) != 0)


class Precision(_OfCounts):
    """The fraction of the predictions of a class that are correct."""

    def score(self, hits: Array, found: Array, right: Array) -> Array:
        """Right predictions of all predictions."""
        return ratio(hits, found)


class Recall(_OfCounts):
    """The fraction of the rows of a class that are predicted as that class. Arguments: see Precision()."""

    def score(self, hits: Array, found: Array, right: Array) -> Array:
        """Right predictions of all rows."""
        return ratio(hits, right)


class F1Score(_OfCounts):
    """The harmonic mean of precision and recall, 2 hits / (predictions + rows). Arguments: see Precision()."""

    def score(self, hits: Array, found: Array, right: Array) -> Array:
        """Of each class."""
        return ratio(2 * hits, found + right)


class AUROC(Metric):
    """The area under the receiver operating characteristic: the probability that a row of the class scores higher than
    another row.

    Exact: all scores are gathered, 8 bytes per row and class; ties count half. compute() is nan if a class has no rows, or
    no others.
    """

    count = 0

    def __init__(self, comm: Communicator | None = None, *, average: str | None = "macro",
                 ignore_index: int | None = None) -> None:
        if average not in ("macro", "weighted", None):
            raise ValueError(f"average={average!r} must be one of 'macro', 'weighted', None")
        self.average, self.ignore_index = average, ignore_index
        super().__init__(comm)

    def reset(self) -> None:
        """Discard all rows."""
        super().reset()
        self.scores: list[Array] = []
        self.targets: list[Array] = []

    def update(self, output: ArrayLike, target: ArrayLike) -> None:
        """Add a batch of rows."""
        scores, right = np.asarray(values_of(output), np.float64), values_of(target).astype(np.int64)
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]
        if right.ndim == 2 and right.shape[1] == 1:
            right = right[:, 0]
        if right.ndim != 1 or scores.ndim > 2 or len(scores) != len(right):
            raise ValueError(f"AUROC: scores of shape {list(scores.shape)} for targets of shape {list(right.shape)}; (n,) "
                             "or (n, classes) for (n,) are expected")
        keep = np.ones(len(right), bool) if self.ignore_index is None else right != self.ignore_index
        if (right[keep] < 0).any() or (right[keep] >= (2 if scores.ndim == 1 else scores.shape[1])).any():
            raise ValueError(f"AUROC: a target that is none of the {2 if scores.ndim == 1 else scores.shape[1]} classes")
        self.scores.append(scores[keep])
        self.targets.append(right[keep])

    def compute(self, comm: Communicator | None = None) -> Any:
        """The area over all rows of all ranks, on every rank. Collective."""
        comm = communicator(self.comm or comm)
        widths = {part.shape[1:] for part in self.scores} if comm.alone else {
            shape for shapes in comm.allgather_object([[part.shape[1:] for part in self.scores]]) for shape in shapes}
        if len(widths) > 1:
            raise ValueError(f"AUROC: scores of different numbers of classes: {sorted(widths)}")
        shape = (0, *(next(iter(widths)) if widths else ()))
        scores = np.concatenate([np.zeros(shape), *self.scores])
        targets = np.concatenate([np.zeros(0, np.int64), *self.targets])
        if not comm.alone:
            scores, targets = comm.allgather([scores])[0], comm.allgather([targets])[0]
        if scores.ndim == 1:
            return area(scores, targets == 1)
        areas = np.array([area(scores[:, k], targets == k) for k in range(scores.shape[1])])
        if self.average is None:
            return areas
        weights = np.bincount(targets, minlength=scores.shape[1]) if self.average == "weighted" else np.ones(len(areas))
        return float((areas * weights)[weights > 0].sum() / weights.sum()) if weights.sum() else float("nan")

    def state_dict(self) -> dict[str, Any]:
        """This rank's scores and targets."""
        return {"scores": list(self.scores), "targets": list(self.targets)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the scores and targets."""
        self.scores = [np.array(getattr(x, "array", x), np.float64) for x in state["scores"]]
        self.targets = [np.array(getattr(x, "array", x), np.int64) for x in state["targets"]]


def area(scores: Array, positive: Array) -> float:
    """The area of one class: the Mann-Whitney statistic by ranks, equal scores at their mean rank."""
    n = int(positive.sum())
    if not 0 < n < len(scores) or np.isnan(scores).any():
        return float("nan")
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return float((ranks[place][positive].sum() - n * (n + 1) / 2) / (n * (len(scores) - n)))


class MeanSquaredError(Metric):
    """The mean of the squared differences, over all elements."""

    def __init__(self, comm: Communicator | None = None, *, squared: bool = True) -> None:
        self.squared = squared
        super().__init__(comm)

    def update(self, output: ArrayLike, target: ArrayLike) -> None:
        """Add rows; both of one shape."""
        difference = _difference(type(self).__name__, output, target)
        self.totals += (difference**2).sum(), difference.size

    def result(self, totals: Array) -> float:
        """The mean, or its root; nan of no rows."""
        mean = super().result(totals)
        return mean if self.squared else float(np.sqrt(mean))


class MeanAbsoluteError(Metric):
    """The mean of the absolute differences, over all elements."""

    def update(self, output: ArrayLike, target: ArrayLike) -> None:
        """Add rows: see MeanSquaredError.update(). ValueError if the shapes differ."""
        difference = _difference(type(self).__name__, output, target)
        self.totals += np.abs(difference).sum(), difference.size


class R2Score(Metric):
    """The coefficient of determination, 1 - sum (y - output)^2 / sum (y - mean of y)^2, of each column over all ranks' rows.

    For equal targets it is 1 if they are predicted exactly and else 0, as in scikit-learn; for less than two rows nan.
    Ranks' means and squared deviations are combined as in Chan, Golub and LeVeque 1983: no cancellation.
    """

    def __init__(self, comm: Communicator | None = None, *, multioutput: str = "uniform_average") -> None:
        if multioutput not in ("uniform_average", "variance_weighted", "raw_values"):
            raise ValueError(f"multioutput={multioutput!r} must be 'uniform_average', 'variance_weighted' or 'raw_values'")
        self.multioutput = multioutput
        super().__init__(comm)

    def reset(self) -> None:
        """Discard all rows."""
        self.totals = np.zeros((0, 4))               # of each column: rows, mean, squared deviations from it, squared errors

    def update(self, output: ArrayLike, target: ArrayLike) -> None:
        """Add rows; both of one shape."""
        difference, right = _difference("R2Score", output, target), np.asarray(values_of(target), np.float64)
        if right.size:
            difference, right = (x.reshape(len(x) if x.ndim else 1, -1) for x in (difference, right))
            if len(self.totals) not in (0, right.shape[1]):
                raise ValueError(f"R2Score: targets of {right.shape[1]} columns, before of {len(self.totals)}")
            mean = right.mean(0)
            squares = ((right - mean)**2).sum(0), (difference**2).sum(0)
            self.totals = combined(self.totals, np.stack([np.full_like(mean, len(right)), mean, *squares], 1))

    def compute(self, comm: Communicator | None = None) -> Any:
        """The score over all rows of all ranks, on every rank. Collective."""
        comm = communicator(self.comm or comm)
        parts = [self.totals] if comm.alone else comm.allgather_object([self.totals])
        totals = np.zeros((0, 4))
        for part in parts:
            if len(part) and len(totals) not in (0, len(part)):
                raise ValueError(f"R2Score: targets of {len(totals)} columns on some ranks, of {len(part)} on others")
            totals = combined(totals, part)
        return self.result(totals)

    def result(self, totals: Array) -> Any:
        """The score of the totals of all ranks."""
        if not len(totals) or totals[0, 0] < 2:
            return np.full(len(totals), np.nan) if self.multioutput == "raw_values" else float("nan")
        squares, errors = totals[:, 2], totals[:, 3]
        scores = np.where(squares > 0, 1 - errors / np.where(squares > 0, squares, 1), np.where(errors > 0, 0.0, 1.0))
        if self.multioutput == "raw_values":
            return scores
        weighted = self.multioutput == "variance_weighted" and squares.any()
        return float(np.average(scores, weights=squares if weighted else None))


def combined(a: Array, b: Array) -> Array:
    """Two of R2Score's totals as one."""
    if not len(a) or not len(b):
        return a if len(a) else b
    (na, mean_a, square_a, error_a), (nb, mean_b, square_b, error_b) = a.T, b.T
    n, gap = na + nb, mean_b - mean_a
    return np.stack([n, mean_a + gap * nb / n, square_a + square_b + gap**2 * na * nb / n, error_a + error_b], 1)


def _difference(name: str, output: ArrayLike, target: ArrayLike) -> Array:
    """output - target in float64. ValueError if shapes differ by more than a last dimension of size 1."""
    found, right = np.asarray(values_of(output), np.float64), np.asarray(values_of(target), np.float64)
    if found.shape == (*right.shape, 1):
        found = found[..., 0]
    if found.shape != right.shape:
        raise ValueError(f"{name}: outputs of shape {list(found.shape)} for targets of shape {list(right.shape)}")
    return found - right
