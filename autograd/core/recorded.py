"""What else happens to a call once it is recorded, while a mode beyond plain backward is on.

The ordinary path pays one comparison for all of it: `modes.recording > GRAD`.
"""

from __future__ import annotations

from typing import Any

from .forward_mode import carry
from .graph import Node
from .modes import DUAL, WATCH, listeners, modes
from .saved_tensors import taken


def finish(node: Node, inputs: tuple[Any, ...], outs: tuple[Any, ...]) -> None:
    """Tell listeners of the node, hand what it saved to the pack hooks, give the outputs their tangents."""
    state = modes.recording
    if state & WATCH:
        for listener in list(listeners):
            listener(node)
        if modes.saving and node.saved is not None and modes.level is None:
            node.saved = tuple([taken(node, value) for value in node.saved])
    if state & DUAL:
        carry(node, inputs, outs)


__all__ = ["finish"]
