"""Functions of modules as values, under PyTorch's names."""

from __future__ import annotations

from typing import Any

from ...base import docstrings as _docstrings
from .stateless import call_with


def functional_call(module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
                    tie_weights: bool = True, strict: bool = False) -> Any:
    """module(*args, **kwargs) with other tensors in place of parameters and buffers, which stay as they are."""
    if not isinstance(parameter_and_buffer_dicts, dict):
        if not isinstance(parameter_and_buffer_dicts, (list, tuple)) or not all(
                isinstance(d, dict) for d in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [name for d in parameter_and_buffer_dicts for name in d]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(f"{sorted(repeated)} appeared in multiple dictionaries; behavior of functional call is "
                             "ambiguous")
        parameter_and_buffer_dicts = {name: x for d in parameter_and_buffer_dicts for name, x in d.items()}
    return call_with(module, parameter_and_buffer_dicts, args, kwargs, tie_weights, strict)


_docstrings.complete(globals(), "transforms", "func.")
