"""trace(): a training step recorded once, and replayed without a graph."""

from .trace import Traced, trace

__all__ = ["Traced", "trace"]
