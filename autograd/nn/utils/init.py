"""Modules without initial values."""

from __future__ import annotations

import inspect
from typing import Any

from ..module import Module


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """An instance whose parameters have no particular values. Here they have the usual ones: memory without values,
    PyTorch's device "meta", does not exist.

    Args:
        module_cls: Class of the module; its arguments follow.

    Returns:
        A module whose parameters are not initialised.

    Raises:
        RuntimeError: Expected a Module.
        RuntimeError: Module must support a 'device' arg to skip initialization.

    Example:
        >>> ag.nn.utils.skip_init(ag.nn.Linear, 2, 3)
        Linear(in_features=2, out_features=3, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    return module_cls(*args, **kwargs)


__all__ = ["skip_init"]
