"""Modules without initial values."""

from __future__ import annotations

import inspect
from typing import Any

from ...base import docstrings as _docstrings
from ..module import Module


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """An instance whose parameters have no particular values. Here they have the usual ones: memory without values,
    PyTorch's device "meta", does not exist."""
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    return module_cls(*args, **kwargs)


__all__ = ["skip_init"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.")
