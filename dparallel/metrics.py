"""Metrics over ranks: the public names of dparallel.evaluation's metrics and classification."""

from .evaluation.classification import (
    AUROC,
    ConfusionMatrix,
    F1Score,
    MeanAbsoluteError,
    MeanSquaredError,
    Precision,
    R2Score,
    Recall,
)
from .evaluation.metrics import Accuracy, Mean, Metric, Sum, reduce_metrics

__all__ = ["AUROC", "Accuracy", "ConfusionMatrix", "F1Score", "Mean", "MeanAbsoluteError", "MeanSquaredError", "Metric",
           "Precision", "R2Score", "Recall", "Sum", "reduce_metrics"]
