"""Metrics summed over ranks: the public names of dparallel.evaluation.metrics."""

from .evaluation.metrics import Accuracy, Mean, Metric, Sum, reduce_metrics

__all__ = ["Accuracy", "Mean", "Metric", "Sum", "reduce_metrics"]
