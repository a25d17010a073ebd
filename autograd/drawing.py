"""draw(): the graph behind a tensor, as text or for Graphviz."""

from .observe.debug.drawing import draw

__all__ = ["draw"]
