"""ONNX files, which are not written."""

from __future__ import annotations

from typing import Any


def export(model: Any, args: Any = (), f: Any = None, **options: Any) -> Any:
    """Refused: Python code is not captured as a graph.

    Args:
        model (Module): What the error names.
        args: Not used. Default: ().
        f: Not used. Default: None.
        options: Not used.

    Raises:
        NotImplementedError: always.

    Example:
        >>> ag.onnx.export(ag.nn.Linear(1, 1), ag.ones(1), 'model.onnx')
        Traceback (most recent call last):
            ...
        NotImplementedError: onnx.export(Linear): no graph is captured; save(model.state_dict(), f)
    """
    raise NotImplementedError(f"onnx.export({type(model).__name__}): no graph is captured; save(model.state_dict(), f)")


def is_in_onnx_export() -> bool:
    """False: no model is exported.

    Returns:
        bool: False.

    Example:
        >>> ag.onnx.is_in_onnx_export()
        False
    """
    return False
