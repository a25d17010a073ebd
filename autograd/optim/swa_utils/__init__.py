"""Averages of models over training: stochastic weight averaging (arXiv:1803.05407) and exponential moving averages."""

from ...base import docstrings as _docstrings
from .averaged_model import AveragedModel, update_bn
from .averages import get_ema_avg_fn, get_ema_multi_avg_fn, get_swa_avg_fn, get_swa_multi_avg_fn
from .swalr import SWALR

__all__ = ["SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
           "update_bn"]

_docstrings.complete(globals(), "optim", "optim.swa_utils.")
