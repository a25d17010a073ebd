"""The groups of parameters that are gathered together in stage 3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd.nn import Module, ModuleDict, ModuleList, Sequential

CONTAINERS = (Sequential, ModuleList, ModuleDict)


def by_module(module: Module, cap_bytes: float, units: Any = None) -> list[list[tuple[str, Any]]]:
    """Named parameters in groups, each parameter once.

    A group is the parameters of one module and all below it. The root, containers and modules larger than cap_bytes are
    divided: their own parameters are a group. `units`, classes of modules or a function of a module, defines the groups
    instead.
    """
    whole: Callable[[Module], bool] | None = None
    if isinstance(units, (tuple, list, set, frozenset)) and all(isinstance(kind, type) for kind in units):
        kinds = tuple(units)
        whole = lambda child: isinstance(child, kinds)                          # noqa: E731
    elif isinstance(units, type):
        whole = lambda child: isinstance(child, units)                          # noqa: E731
    elif callable(units):
        whole = units
    elif units is not None:
        raise ValueError(f"shard_units={units!r} must be a class or classes of modules, or a function of a module that "
                         "returns whether it is one unit")
    seen: set[int] = set()
    groups: list[list[tuple[str, Any]]] = []

    def take(named: Any) -> None:
        group = []
        for name, p in named:
            if id(p) not in seen:
                seen.add(id(p))
                group.append((name, p))
        if group:
            groups.append(group)

    def divide(parent: Module, prefix: str) -> None:
        take(parent.named_parameters(prefix, recurse=False))
        for name, child in parent.named_children():
            path = f"{prefix}.{name}" if prefix else name
            size = sum(p.array.nbytes for p in child.parameters())
            if whole(child) if whole is not None else (size <= cap_bytes and not isinstance(child, CONTAINERS)):
                take(child.named_parameters(path))
            else:
                divide(child, path)

    divide(module, "")
    return groups
