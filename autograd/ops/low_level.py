"""What torch itself calls embedding, batch_norm and instance_norm: the functional ones with arguments in another order."""

from __future__ import annotations

from typing import Any

from . import embedding as tables
from . import normalization


def embedding(weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False,
              sparse: bool = False) -> Any:
    """The rows of weight that indices name; see nn.functional.embedding. No padding for a negative padding_idx."""
    return tables.embedding(indices, weight, None if padding_idx < 0 else padding_idx, None, 2.0, scale_grad_by_freq, sparse)


def batch_norm(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float,
               eps: float, cudnn_enabled: bool = False) -> Any:
    """Each channel standardized; see nn.functional.batch_norm."""
    return normalization.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: bool,
                  momentum: float, eps: float, cudnn_enabled: bool = False) -> Any:
    """Each channel of each sample standardized; see nn.functional.instance_norm."""
    return normalization.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


__all__ = ["batch_norm", "embedding", "instance_norm"]
