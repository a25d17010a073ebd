"""PyTorch's wrappers for several devices, as they are where there is none. The package dparallel does the work."""

from __future__ import annotations

from typing import Any

from .module import Module


class DataParallel(Module):
    """The module itself, under the name `module`: without GPUs PyTorch's does no more. See dparallel.DataParallel."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        if device_ids:
            raise NotImplementedError(f"DataParallel(device_ids={device_ids!r}): there are no GPUs; see dparallel")
        self.module, self.dim = module, dim
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's."""
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(Module):
    """Named for isinstance(): making one is an error, for there are no process groups here."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("DistributedDataParallel needs a process group; use dparallel.DataParallel under dprun")


def data_parallel(module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
                  module_kwargs: Any = None) -> Any:
    """module(*inputs): there are no GPUs to share them."""
    if device_ids:
        raise NotImplementedError(f"data_parallel(device_ids={device_ids!r}): there are no GPUs; see the package dparallel")
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))


__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]
