"""PyTorch's wrappers for several devices or processes: those of the plugin that provides them, see autograd/base/plugins.py;
without one, as they are in PyTorch where there is one device."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ..base.plugins import missing, provided
from .module import Module


class _DataParallel(Module):
    """The module itself, under the name `module`: without GPUs PyTorch's does no more."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        if device_ids:
            raise NotImplementedError(f"DataParallel(device_ids={device_ids!r}): there are no GPUs. "
                                      + missing("autograd.nn.DataParallel with devices"))
        self.module, self.dim = module, dim
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


class _DistributedDataParallel(Module):
    """Named for isinstance(): making one is an error, for there are no process groups here."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(missing("autograd.nn.parallel.DistributedDataParallel"))


def _data_parallel(module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
                   module_kwargs: Any = None) -> Any:
    """module(*inputs): there are no GPUs to share them."""
    if device_ids:
        raise NotImplementedError(f"data_parallel(device_ids={device_ids!r}): there are no GPUs. "
                                  + missing("autograd.nn.parallel.data_parallel with devices"))
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))


STUBS: dict[str, Any] = {"DataParallel": _DataParallel, "DistributedDataParallel": _DistributedDataParallel,
                         "data_parallel": _data_parallel}
for _name, _stub in STUBS.items():
    _stub.__name__ = _stub.__qualname__ = _name
NAMES = ("DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter",
         "scatter_kwargs")
__all__ = [*NAMES]
for _name in ("data_parallel", "distributed", "parallel_apply", "replicate", "scatter_gather"):      # PyTorch's files
    sys.modules[f"{__name__}.{_name}"] = sys.modules[__name__]




def _provided_module(full: str) -> ModuleType:
    """A module of PyTorch's that the plugin provides under the same name."""
    def names(name: str) -> Any:
        plugin = None if name.startswith("__") else provided(full)
        if plugin is None:
            raise AttributeError(name if name.startswith("__") else missing(f"{full}.{name}"))
        return getattr(plugin, name)

    module = ModuleType(full)
    vars(module)["__getattr__"] = names
    return module


PROVIDED = ("_functions", "comm")
for _name in PROVIDED:
    sys.modules[f"{__name__}.{_name}"] = _provided_module(f"{__name__}.{_name}")


def __getattr__(name: str) -> Any:
    """The plugin's function or class of this name, bound on first access."""
    if name in PROVIDED or name in ("distributed", "scatter_gather"):
        return sys.modules[f"{__name__}.{name}"]
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    plugin = provided(__name__)
    if plugin is None and name not in STUBS:
        raise AttributeError(missing(f"{__name__}.{name}"))
    value = globals()[name] = STUBS[name] if plugin is None else getattr(plugin, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *(NAMES if provided(__name__) is not None else STUBS)})
