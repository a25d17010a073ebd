"""Batch normalisation, and the base class that it shares with instance normalisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base.arguments import whole_numbers
from ...base.plugins import missing, provided
from ...base.types import DeviceLike, DTypeLike
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import empty, ones, zeros
from .. import functional as F
from .. import init
from ..module import Module


class NormBase(Module):
    """Base of normalizations: weight and bias per channel (affine), running statistics (track_running_stats)."""

    _version = 2                                     # since there is num_batches_tracked

    weight: Parameter                       # None without it
    bias: Parameter                       # None without it
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: DeviceLike = None, dtype: DTypeLike = None, *,
                 bias: bool = True) -> None:
        super().__init__()
        whole_numbers(type(self).__name__, num_features=num_features)
        self.num_features: int = num_features
        self.eps: float = eps
        self.momentum: float | None = momentum
        self.affine: bool = affine
        self.track_running_stats: bool = track_running_stats

        def allocated(wanted: bool, make: Callable[..., Any]) -> Tensor | None:
            return make(num_features, device=device, dtype=dtype) if wanted else None

        self.register_parameter("weight", Parameter(allocated(True, empty)) if affine else None)
        self.register_parameter("bias", Parameter(allocated(True, empty)) if affine and bias else None)
        self.register_buffer("running_mean", allocated(track_running_stats, zeros))
        self.register_buffer("running_var", allocated(track_running_stats, ones))
        self.register_buffer("num_batches_tracked", _no_batches() if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Set the running mean to 0, the running variance to 1 and the batch counter to 0."""
        if self.track_running_stats:
            for value, first in ((self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0)):
                assert value is not None
                init.constant_(value, first)

    def reset_parameters(self) -> None:
        """Set the scale to 1, the shift to 0, and reset the running statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError(f"{type(self).__name__} must say which inputs it takes, in _check_input_dim")

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
                              missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str]) -> None:
        """States of before version 2 (PyTorch 0.4.1) have no num_batches_tracked: the module keeps its own."""
        version = local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats and self.num_batches_tracked is not None:
            state_dict.setdefault(prefix + "num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                                      error_msgs)


def _no_batches() -> Tensor:
    return zeros((), dtype="int64")


class _BatchNorm(NormBase):
    """(x - mean) / sqrt(variance + eps) * weight + bias, per channel over the batch and all positions. Ioffe & Szegedy 2015
    (arXiv:1502.03167).

    Training uses the batch's statistics and updates the running ones: running = (1 - momentum) * running + momentum * batch,
    or the average over all batches if momentum is None. Evaluation uses the running statistics."""

    def forward(self, input: Tensor) -> Tensor:
        """input (n, num_features, ...) -> the same shape and dtype. ValueError for a number of dimensions that the class
        does not take."""
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        tracking = self.training and self.track_running_stats
        if tracking and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        use_batch = self.training or (self.running_mean is None and self.running_var is None)
        keep = not self.training or self.track_running_stats
        return self.normalize(input, self.running_mean if keep else None, self.running_var if keep else None, use_batch,
                              factor)

    def normalize(self, input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, use_batch: bool,
                  factor: float) -> Tensor:
        """Normalise with the batch's statistics (use_batch) or the running ones; running statistics are updated with weight
        `factor`."""
        return F.batch_norm(input, running_mean, running_var, self.weight, self.bias, use_batch, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (n, c) or (n, c, length)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.ndim}D input)")


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (n, c, h, w)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 4:
            raise ValueError(f"expected 4D input (got {input.ndim}D input)")


class BatchNorm3d(_BatchNorm):
    """Batch normalization of (n, c, d, h, w)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 5:
            raise ValueError(f"expected 5D input (got {input.ndim}D input)")


class SyncBatchNorm(_BatchNorm):
    """Batch normalization of (n, c, ...) with statistics over the rows of all ranks.

    A plugin (dparallel) computes them, see autograd/base/plugins.py. Without one the constructor raises
    NotImplementedError, since the statistics of one rank alone would silently differ from PyTorch's.

    Outputs, running statistics and gradients of any order are those of one process with all rows. Ranks may have different
    numbers of rows, including none. In replicas on local devices the statistics are those of all replicas (and ranks). In
    evaluation, or on one rank, nothing is sent. An input that one rank can't normalize is a CollectiveError on every rank.
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, process_group: Any = None, device: DeviceLike = None,
                 dtype: DTypeLike = None, *, bias: bool = True) -> None:
        _plugin()                                    # an error here rather than in forward
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    @property
    def process_group(self) -> Any:
        """The Communicator, or None. Assigning an mpi4py communicator converts it, which is collective."""
        return self.__dict__.get("_group")

    @process_group.setter
    def process_group(self, group: Any) -> None:
        self.__dict__["_group"] = None if group is None else _plugin().communicator(group)

    def _check_input_dim(self, input: Tensor) -> None:
        """Do nothing: the plugin checks the input, and raises on all ranks."""

    def normalize(self, input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, use_batch: bool,
                  factor: float) -> Tensor:
        """Normalize with the statistics of all ranks in training mode, and as BatchNorm does otherwise."""
        normalized: Tensor | None = _plugin().normalized(self, input, running_mean, running_var, use_batch, factor)
        if normalized is None:                       # there is one rank
            return super().normalize(input, running_mean, running_var, use_batch, factor)
        return normalized

    def __getstate__(self) -> dict[str, Any]:
        """The state of a copy or pickle: all attributes but the context of the last call."""
        return {name: value for name, value in self.__dict__.items() if name != "_last_context"}

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Any:
        """Replace every batch normalisation in `module` by a SyncBatchNorm with the same parameters, buffers and hooks.

        The module is changed in place, unless it is itself a batch normalisation: use the returned module."""
        if not isinstance(module, Module):
            raise TypeError(f"convert_sync_batchnorm(module={module!r}): a Module is needed")
        _plugin()
        return _converted(cls, module, process_group, {})


def _plugin() -> Any:
    """The module that computes over several ranks: communicator(group) and normalized(layer, ...)."""
    found = provided("autograd.nn.SyncBatchNorm")
    if found is None:
        raise NotImplementedError(missing("autograd.nn.SyncBatchNorm"))
    return found


def _converted(cls: type[SyncBatchNorm], module: Any, process_group: Any, converted: dict[int, Any]) -> Any:
    """The module, or its replacement; one that occurs twice is converted once."""
    if id(module) in converted:
        return converted[id(module)]
    if isinstance(module, _BatchNorm):
        layer: Any = object.__new__(cls)
        Module.__setstate__(layer, module.__dict__)
        layer.process_group = process_group
        converted[id(module)] = layer
        return layer
    converted[id(module)] = module
    for name, child in list(module._modules.items()):
        if child is not None:
            module._modules[name] = _converted(cls, child, process_group, converted)
    return module


__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]
