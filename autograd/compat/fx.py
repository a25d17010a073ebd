"""Graph capture, which is not here; its decorator `wrap` is, for model code marks functions with it."""

from __future__ import annotations

from typing import Any

from ..base import docstrings as _docstrings


def wrap(fn_or_name: Any) -> Any:
    """The function itself (or its name): it would be left whole by a tracer."""
    return fn_or_name


def symbolic_trace(root: Any, concrete_args: Any = None) -> Any:
    """Refused: Python code is not captured as a graph."""
    raise NotImplementedError("fx.symbolic_trace(): the graph here is that of a run; see Tensor.grad_fn")


_docstrings.complete(globals(), "compat", "fx.")
