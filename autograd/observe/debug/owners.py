"""Owners: the module of a model to which each node of a graph belongs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.graph import Node
from ...core.interceptors import Interceptor, install, remove


class Owners:
    """The names of modules, by node; and the names that occur, in the order of their first node.

    made_in: where each node was made, if that was recorded. Else a node belongs to the module whose parameters it reads,
    itself or through nodes of one input such as a transposition; one that reads none belongs to no module. Leaves belong to
    the module that their names say; top is the name of the outermost one, "" if there is none."""

    def __init__(self, nodes: Sequence[Node], names: Mapping[int, str], top: str,
                 made_in: Mapping[Node, str] | None) -> None:
        self._names: dict[int, str] = {}
        through: dict[int, str] = {}                 # of leaves, and of nodes with one input that depend on one leaf
        for node in sorted(nodes, key=lambda node: (not node.is_leaf, node.seq)):          # inputs before results
            sources = [edge[0] for edge in node.edges if edge is not None]
            owner = next((through[id(source)] for source in sources if id(source) in through), "")
            if node.is_leaf:
                name = names.get(id(node.variable))          # type: ignore[attr-defined]
                owner = "" if name is None else name.rpartition(".")[0] or top
            elif made_in is not None:
                owner = made_in.get(node, "")
            if owner:
                self._names[id(node)] = owner
                if node.is_leaf or len(node.edges) == 1:
                    through[id(node)] = owner
        order = sorted((node for node in nodes if id(node) in self._names and not node.is_leaf), key=lambda node: node.seq)
        self.all: list[str] = list(dict.fromkeys([self._names[id(node)] for node in order] + list(self._names.values())))

    def of(self, node: Node) -> str:
        """The name of a node's module; "" for none."""
        return self._names.get(id(node), "")


class OwnerRecorder(Interceptor):
    """Records in which module of a model each node is created, on this thread, by hooks on the modules."""

    def __init__(self, model: Any) -> None:
        self.made_in: dict[Node, str] = {}
        self._names = {id(module): name or module._get_name() for name, module in model.named_modules()}
        self._inside: list[str] = []
        self._thread = threading.get_ident()         # replicas in other threads have these hooks too
        self._model, self._hooks = model, list[Any]()

    def __enter__(self) -> OwnerRecorder:
        for module in self._model.modules():
            self._hooks += [module.register_forward_pre_hook(self._enter),
                            module.register_forward_hook(self._leave, always_call=True)]
        install(self)
        return self

    def __exit__(self, *exception: object) -> None:
        remove(self)
        for hook in self._hooks:
            hook.remove()

    def _enter(self, module: Any, args: Any) -> None:
        if threading.get_ident() == self._thread:
            self._inside.append(self._names.get(id(module), ""))

    def _leave(self, module: Any, args: Any, output: Any) -> None:
        if threading.get_ident() == self._thread and self._inside:
            self._inside.pop()

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Called when a node is created."""
        if self._inside and threading.get_ident() == self._thread:
            self.made_in[node] = self._inside[-1]


def recorded_owners(function: Callable[[], Any], model: Any) -> tuple[Any, Mapping[Node, str]]:
    """The result of function(), and the module in which each node was created."""
    if not hasattr(model, "named_modules"):
        raise TypeError(f"draw(function, model): a Module tells where nodes are made, not {type(model).__name__}")
    with OwnerRecorder(model) as recorder:
        return function(), recorder.made_in
