"""Metrics summed over ranks."""

from .evaluation.metrics import Accuracy, Mean, Metric, Sum, reduce_metrics

__all__ = ["Accuracy", "Mean", "Metric", "Sum", "reduce_metrics"]
