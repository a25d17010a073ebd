"""compile(): a step, function or model recorded once and run as a program of its own.

May import: base, core, kernels, modes, nn, ops, optim, spans. Read first: door.py.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .door import compile, reset

if TYPE_CHECKING:
    from .errors import TraceError
    from .trace import Traced, trace_step

HOMES = {"TraceError": "errors", "Traced": "trace", "trace_step": "trace"}


def __getattr__(name: str) -> Any:
    """Names that are imported on first use: `import autograd` needs compile() alone."""
    if name in HOMES:
        return getattr(import_module(f".{HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["TraceError", "Traced", "compile", "reset", "trace_step"]
