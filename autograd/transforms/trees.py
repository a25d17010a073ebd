"""Nested tuples, lists and dicts of values: their leaves in order, and the same nest with other leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _items(tree: Any) -> list[Any] | None:
    """What a container holds; None for a leaf."""
    return list(tree.values()) if isinstance(tree, dict) else list(tree) if isinstance(tree, (tuple, list)) else None


def leaves(tree: Any) -> list[Any]:
    """Everything in the tree that is no tuple, list or dict, in order."""
    items = _items(tree)
    return [tree] if items is None else [leaf for item in items for leaf in leaves(item)]


def mapped(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The tree with function(leaf, its partners in the others) in the place of each leaf; the others are nested alike."""
    items = _items(tree)
    if items is None:
        return function(tree, *others)
    parts = [_items(other) or [] for other in others]
    if any(len(part) != len(items) for part in parts):
        raise ValueError(f"expected trees of the same structure, got {tree!r} and {others!r}")
    made = [mapped(function, *row) for row in zip(items, *parts, strict=True)]
    if isinstance(tree, dict):
        return type(tree)(zip(tree, made, strict=True))
    return type(tree)(*made) if hasattr(tree, "_fields") else type(tree)(made)


def spread(prefix: Any, tree: Any, what: str) -> list[Any]:
    """For each leaf of the tree what the prefix says of it: one value for all leaves under it, or a tree of values."""
    items = _items(tree)
    if items is None or _items(prefix) is None:
        if _items(prefix) is not None:
            raise ValueError(f"{what} {prefix!r} does not fit the structure of {type(tree).__name__}")
        return [prefix] * len(leaves(tree))
    given = [prefix[key] for key in tree] if isinstance(tree, dict) and isinstance(prefix, dict) else _items(prefix) or []
    if len(given) != len(items):
        raise ValueError(f"{what} {prefix!r} has {len(given)} parts where the structure has {len(items)}")
    return [value for one, item in zip(given, items, strict=True) for value in spread(one, item, what)]


__all__ = ["leaves", "mapped", "spread"]
