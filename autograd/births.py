"""Tells listeners of each node that is recorded, while there are listeners; nobody pays for it otherwise."""

from __future__ import annotations

from collections.abc import Callable

from .graph import Node
from .slots import Watch

_listeners: list[Callable[[Node], None]] = []


def _on_number(node: Node, number: int) -> int:
    """A node gets its number when it is made, before its inputs and outputs are known."""
    if not node.is_leaf:
        for listener in list(_listeners):
            listener(node)
    return number


_watch = Watch(Node, "seq", _on_number)


def listen(listener: Callable[[Node], None]) -> None:
    """Call listener(node) for each node that any thread records, until silence(listener)."""
    _listeners.append(listener)
    _watch.hold()


def silence(listener: Callable[[Node], None]) -> None:
    """End one listen()."""
    _listeners.remove(listener)
    _watch.release()


__all__ = ["listen", "silence"]
