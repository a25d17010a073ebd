"""What torch itself calls dropout, embedding, batch_norm, max_pool1d_with_indices, ...: functions of nn.functional with
arguments of other names, of another order, or fixed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...core.tensor import Tensor
from . import dropout as drop
from . import embedding as tables
from . import normalization
from . import pooling as pools

if TYPE_CHECKING:
    from ...core.types import Declared


def embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False,
              sparse: bool = False) -> Tensor:
    """The rows of weight that indices name; see nn.functional.embedding. No padding for a negative padding_idx."""
    return tables.embedding(indices, weight, None if padding_idx < 0 else padding_idx, None, 2.0, scale_grad_by_freq, sparse)


def batch_norm(input: Tensor, weight: Any, bias: Any, running_mean: Tensor, running_var: Tensor, training: bool,
               momentum: float, eps: float, cudnn_enabled: bool = False) -> Tensor:
    """Each channel standardized; see nn.functional.batch_norm."""
    return normalization.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: bool,
                  momentum: float, eps: float, cudnn_enabled: bool = False) -> Any:
    """Each channel of each sample standardized; see nn.functional.instance_norm."""
    return normalization.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-05,
               cudnn_enable: bool = True) -> Any:
    """The last dimensions standardized; see nn.functional.layer_norm."""
    return normalization.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-05,
               cudnn_enabled: bool = True) -> Any:
    """Groups of channels standardized; see nn.functional.group_norm."""
    return normalization.group_norm(input, num_groups, weight, bias, eps)


def _dropouts(name: str) -> tuple[Any, Any]:
    """The function `name` of (input, p, train), and its in-place form."""
    function = getattr(drop, name)

    def plain(input: Any, p: float, train: bool) -> Any:
        return function(input, p, train)

    def in_place(input: Any, p: float, train: bool) -> Any:
        return function(input, p, train, True)

    plain.__name__ = plain.__qualname__ = name
    in_place.__name__ = in_place.__qualname__ = name + "_"
    plain.__doc__, in_place.__doc__ = function.__doc__, f"{name}, in place."
    return plain, in_place


dropout_: Declared
dropout: Declared
dropout, dropout_ = _dropouts("dropout")
feature_dropout_: Declared
feature_dropout: Declared
feature_dropout, feature_dropout_ = _dropouts("feature_dropout")
alpha_dropout_: Declared
alpha_dropout: Declared
alpha_dropout, alpha_dropout_ = _dropouts("alpha_dropout")
feature_alpha_dropout_: Declared
feature_alpha_dropout: Declared
feature_alpha_dropout, feature_alpha_dropout_ = _dropouts("feature_alpha_dropout")


# --- pooling functions that always give the maxima and their places ---------------------------------------------------

def paired(function: Callable[..., Any]) -> Callable[..., Any]:
    """A pooling function with return_indices as if it were always True."""

    def with_indices(*args: Any, return_indices: bool = True, **kwargs: Any) -> Any:
        return function(*args, return_indices=True, **kwargs)

    with_indices.__name__ = with_indices.__qualname__ = f"{function.__name__}_with_indices"
    with_indices.__doc__ = f"{function.__name__} with the places of the maxima: (values, indices)."
    given = inspect.signature(function)
    with_indices.__signature__ = given.replace(                              # type: ignore[attr-defined]
        parameters=[p for p in given.parameters.values() if p.name != "return_indices"],
        return_annotation="tuple[Tensor, Tensor]")
    return with_indices


max_pool1d_with_indices: Declared = paired(pools.max_pool1d)
max_pool2d_with_indices: Declared = paired(pools.max_pool2d)
max_pool3d_with_indices: Declared = paired(pools.max_pool3d)
adaptive_max_pool1d_with_indices: Declared = paired(pools.adaptive_max_pool1d)
adaptive_max_pool2d_with_indices: Declared = paired(pools.adaptive_max_pool2d)
adaptive_max_pool3d_with_indices: Declared = paired(pools.adaptive_max_pool3d)
fractional_max_pool2d_with_indices: Declared = paired(pools.fractional_max_pool2d)
fractional_max_pool3d_with_indices: Declared = paired(pools.fractional_max_pool3d)


def adaptive_max_pool1d(input: Any, output_size: Any) -> tuple[Tensor, Tensor]:
    """(values, indices) of the maxima over output_size windows: torch.adaptive_max_pool1d, unlike nn.functional's."""
    return pools.adaptive_max_pool1d(input, output_size, True)


__all__ = ["adaptive_max_pool1d", "alpha_dropout", "alpha_dropout_", "batch_norm", "dropout", "dropout_", "embedding",
           "feature_alpha_dropout", "feature_alpha_dropout_", "feature_dropout", "feature_dropout_", "group_norm",
           "instance_norm", "layer_norm", "max_pool1d_with_indices"]
