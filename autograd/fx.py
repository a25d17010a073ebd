"""Graph capture, by the names of torch.fx."""

from .compat.fx import symbolic_trace, wrap

__all__ = ["symbolic_trace", "wrap"]
