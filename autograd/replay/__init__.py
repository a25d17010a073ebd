"""trace_step(): a training step recorded once, and replayed without a graph.

May import: base, core, kernels, modes, ops, spans. Read first: trace.py.
"""

from .errors import TraceError
from .trace import Traced, trace_step

__all__ = ["TraceError", "Traced", "trace_step"]
