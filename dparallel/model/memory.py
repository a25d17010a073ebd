"""MemoryUse: the memory functions of autograd, with what only DataParallel has: ranks and buckets."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.base.environment import environment

from .config import Config
from .gradient_sum import GradientSum

if TYPE_CHECKING:
    from autograd.observe.profiler import MemoryPrediction


class MemoryUse:
    """The memory of this rank: a table of what it is used for, and a prediction of what a step takes."""

    def __init__(self, config: Config[Any], summed: GradientSum) -> None:
        self.config: Config[Any] = config
        self.summed: GradientSum = summed

    def summary(self, abbreviated: bool) -> str:
        """The body of DataParallel.memory_summary()."""
        where = f"Rank {self.config.ranks.rank} of {self.config.ranks.size}"
        return f"{where}; {environment.ranks_here} on this host.\n{_profiler().memory_summary(abbreviated=abbreviated)}"

    def predict(self, batch: Any, loss_fn: Callable[..., Any] | None, optimizer: Any, *, batch_size: int,
                sizes: tuple[int, int] | None, train: bool, ranks_per_host: int | None) -> MemoryPrediction:
        """The body of DataParallel.predict_memory()."""
        config, reducer = self.config, self.summed.reducer
        if config.stage:
            raise NotImplementedError("predict_memory() of a sharded model: predict the module before it is wrapped, with "
                                      "held=dparallel.sharding.model_memory(parameters, optimizer, world_size=..., "
                                      "shard=...)")
        if config.local_only or (config.local is not None and config.local.size > 1):
            raise NotImplementedError("predict_memory() of a model on local devices: predict the module, with the rows of "
                                      "one device, before it is wrapped")
        ranks = environment.ranks_here if ranks_per_host is None else ranks_per_host
        held = None
        if train and reducer is not None:
            buffers, size = [bucket.buffer for bucket in reducer.buckets], config.ranks.size
            shared = sum(buffer.nbytes for buffer in buffers if is_mapped(buffer))
            held = {"gradients": 0, "gradient buckets": sum(buffer.nbytes for buffer in buffers),
                    "shared memory": shared * (size - 1) // size}      # a rank writes its part of all
        predicted: MemoryPrediction = _profiler().predict_memory(
            config.module, batch, loss_fn, optimizer, batch_size=batch_size, sizes=sizes, train=train, ranks_per_host=ranks,
            held=held)
        return predicted


def _profiler() -> Any:
    """autograd's profiler: 6 ms, which a model without predictions does not need."""
    return import_module("autograd.observe.profiler")


def is_mapped(array: Any) -> bool:
    """Whether an array's memory is not NumPy's but a map shared by ranks."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.base is not None
