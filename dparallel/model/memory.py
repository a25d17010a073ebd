"""MeasuredModel: the part of DataParallel that reports and predicts a rank's memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd.base.environment import environment
from autograd.observe.profiler import MemoryPrediction, memory_summary, predict_memory

from ..comm import Communicator, Devices


class MeasuredModel:
    """Calls the memory functions of autograd with what only DataParallel knows: ranks and buckets."""

    comm: Communicator
    devices: Any
    module: Any
    shard: int
    _reducer: Any

    def memory_summary(self, abbreviated: bool = False) -> str:
        """A table of this rank's memory by use; see autograd.cpu.memory_summary(). Not collective.

        Args:
            abbreviated (bool): As for autograd.cpu.memory_summary(). Default: False.

        Example:
            >>> model = dparallel.DataParallel(ag.nn.Linear(1, 1), comm=dparallel.Devices(1))
            >>> model.memory_summary().split(';')[0]
            'Rank 0 of 1'
        """
        where = f"Rank {self.comm.rank} of {self.comm.size}"
        return f"{where}; {environment.ranks_here} on this host.\n{memory_summary(abbreviated=abbreviated)}"

    def predict_memory(self, batch: Any, loss_fn: Callable[..., Any] | None = None, optimizer: Any = None, *,
                       batch_size: int, sizes: tuple[int, int] | None = None, train: bool = True,
                       ranks_per_host: int | None = None) -> MemoryPrediction:
        """Predict the memory of a step with batch_size rows per rank, and whether it fits; see
        autograd.cpu.predict_memory().

        Gradients are in buckets; each rank maps those of the other ranks on its host. Collective only if the module's
        forward is.

        Args:
            batch: A small batch for the module.
            loss_fn (callable): As for autograd.cpu.predict_memory(). Default: None.
            optimizer (Optimizer): As for autograd.cpu.predict_memory(). Default: None.
            batch_size (int): The rows of each rank to predict for.
            sizes (tuple of int): As for autograd.cpu.predict_memory(). Default: None.
            train (bool): The step has a backward pass; False: forward only. Default: True.
            ranks_per_host (int): The number of ranks that share this host's memory. Default: those that the launcher started
                here.

        Raises:
            NotImplementedError: the model is sharded or on local devices, or autograd's core is not compiled.
            ValueError: as for autograd.cpu.predict_memory().

        Example:
            >>> from autograd.base.extensions import in_use
            >>> def predict(comm):
            ...     model = dparallel.DataParallel(ag.nn.Linear(1, 1), comm=comm)
            ...     return model.predict_memory(ag.ones(2, 1), ag.sum, batch_size=64).batch_size
            >>> dparallel.run_ranks(1, predict) if in_use else [64]      # it requires the compiled core
            [64]
        """
        if self.shard:
            raise NotImplementedError("predict_memory() of a sharded model: predict the module before it is wrapped, with "
                                      "held=dparallel.sharding.model_memory(parameters, optimizer, world_size=..., "
                                      "shard=...)")
        if isinstance(self.comm, Devices) or (self.devices is not None and self.devices.size > 1):
            raise NotImplementedError("predict_memory() of a model on local devices: predict the module, with the rows of "
                                      "one device, before it is wrapped")
        ranks = environment.ranks_here if ranks_per_host is None else ranks_per_host
        held = None
        if train and self._reducer is not None:
            sizes_of = [bucket.buffer.nbytes for bucket in self._reducer.buckets]
            shared = sum(bucket.buffer.nbytes for bucket in self._reducer.buckets if is_mapped(bucket.buffer))
            held = {"gradients": 0, "gradient buckets": sum(sizes_of),
                    "shared memory": shared * (self.comm.size - 1) // self.comm.size}      # a rank writes its part of all
        return predict_memory(self.module, batch, loss_fn, optimizer, batch_size=batch_size, sizes=sizes, train=train,
                              ranks_per_host=ranks, held=held)


def is_mapped(array: Any) -> bool:
    """Whether an array's memory is not NumPy's but a map shared by ranks."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.base is not None


__all__ = ["MeasuredModel"]
