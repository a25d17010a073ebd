"""ONNX files, which are not written."""

from __future__ import annotations

from typing import Any

from ..base import docstrings as _docstrings


def export(model: Any, args: Any = (), f: Any = None, **options: Any) -> Any:
    """Refused: Python code is not captured as a graph."""
    raise NotImplementedError(f"onnx.export({type(model).__name__}): no graph is captured; save(model.state_dict(), f)")


def is_in_onnx_export() -> bool:
    """False: no model is exported."""
    return False

_docstrings.complete(globals(), "compat", "onnx.")
