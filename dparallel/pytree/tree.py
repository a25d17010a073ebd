"""Nested tuples, lists, dicts and dataclasses of tensors ("pytrees", as in torch.utils._pytree and JAX).

Every object that is not a container is a leaf: a Tensor, a number, a string, None. scatter(), gather(), DataParallel and the
checkers of dparallel.testing walk batches and outputs with these functions.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from ..autograd import Tensor

PyTree: TypeAlias = Any              # containers of containers of leaves; a leaf may be anything


def is_namedtuple(obj: object) -> bool:
    """Whether obj is an instance of a class made by collections.namedtuple or typing.NamedTuple."""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def is_dataclass(obj: object) -> bool:
    """Whether obj is an instance of a dataclass (not a dataclass itself)."""
    return dataclasses.is_dataclass(obj) and not isinstance(obj, type)


def tree_leaves_with_path(tree: PyTree, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of the tree with its path, such as "[0]['x'].mean", in the order of the containers."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from tree_leaves_with_path(value, f"{path}[{key!r}]")
    elif is_namedtuple(tree):
        for name, value in zip(tree._fields, tree, strict=True):
            yield from tree_leaves_with_path(value, f"{path}.{name}")
    elif isinstance(tree, (tuple, list)):
        for index, value in enumerate(tree):
            yield from tree_leaves_with_path(value, f"{path}[{index}]")
    elif is_dataclass(tree):
        for field in dataclasses.fields(tree):
            yield from tree_leaves_with_path(getattr(tree, field.name), f"{path}.{field.name}")
    else:
        yield path, tree


def tensor_leaves(tree: PyTree) -> list[Tensor]:
    """The leaves that are Tensors, in order."""
    return [leaf for _, leaf in tree_leaves_with_path(tree) if isinstance(leaf, Tensor)]


def tree_map(tree: PyTree, function: Callable[[Any], Any]) -> PyTree:
    """A tree of the same structure with function(leaf) for every leaf."""
    if isinstance(tree, Tensor):                     # most outputs of modules
        return function(tree)
    if isinstance(tree, dict):
        result = copy.copy(tree)                     # keeps a subclass's other attributes, such as defaultdict's factory
        for key, value in tree.items():
            result[key] = tree_map(value, function)
        return result
    if is_namedtuple(tree):
        return type(tree)._make(tree_map(value, function) for value in tree)
    if isinstance(tree, (tuple, list)):
        return type(tree)(tree_map(value, function) for value in tree)
    if is_dataclass(tree):
        result = copy.copy(tree)
        for field in dataclasses.fields(tree):       # also of frozen dataclasses, and fields that __init__ does not take
            object.__setattr__(result, field.name, tree_map(getattr(tree, field.name), function))
        return result
    return function(tree)


def trees_per_rank(trees: PyTree) -> Sequence[PyTree]:
    """A sequence of trees, one for each local rank; an argument that is no list, tuple or iterator is the only rank's."""
    return trees if isinstance(trees, (list, tuple)) else list(trees) if isinstance(trees, Iterator) else [trees]
