"""ModuleTracker: the full names of the modules that this thread is in, in forward and in backward."""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakKeyDictionary

from ..base import docstrings as _docstrings
from ..core.backward import running
from ..core.graph import Node
from ..core.interceptors import Interceptor, Run, install, remove
from ..nn.module import Module
from ..nn.module_hooks import register_module_forward_hook, register_module_forward_pre_hook

GLOBAL = "Global"


class ModuleTracker(Interceptor):
    """Context manager whose `parents` are the names of the modules that this thread is in, and "Global".

    A module that is called first has its class's name, and those below it their place: "Net.layer1.0". In backward they are
    the modules in which the call that made the node was, exactly; PyTorch's hooks on inputs leave the first module late."""

    def __init__(self) -> None:
        self.parents: set[str] = {GLOBAL}
        self._names: WeakKeyDictionary[Module, str] = WeakKeyDictionary()
        self._named: WeakKeyDictionary[Module, bool] = WeakKeyDictionary()        # modules whose children have names
        self._made_in: WeakKeyDictionary[Node, frozenset[str]] = WeakKeyDictionary()
        self._around: list[set[str]] = []            # the parents of the surrounding blocks

    @property
    def is_here(self) -> bool:
        """Whether the calling thread is the one of the block."""
        return threading.get_ident() == self._thread

    @property
    def is_bw(self) -> bool:
        """Whether this thread is in a backward pass."""
        return bool(running.passes)

    def name_of(self, module: Module) -> str:
        """The name of a module, which is stored; modules below it get names by their position in it."""
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._named:
            self._named[module] = True
            for key, child in module.named_children():
                self._names[child] = f"{name}.{key}"
                self.name_of(child)
        return name

    def __enter__(self) -> ModuleTracker:
        self.parents, self._around, self._thread = {GLOBAL}, [], threading.get_ident()
        self._hooks = (register_module_forward_pre_hook(self._enter),
                       register_module_forward_hook(self._leave, always_call=True))
        install(self)
        return self

    def __exit__(self, *exception: object) -> None:
        remove(self)
        for hook in self._hooks:
            hook.remove()

    def _enter(self, module: Module, args: Any) -> None:
        if self.is_here:
            self._around.append(self.parents)
            self.parents = self.parents | {self.name_of(module)}

    def _leave(self, module: Module, args: Any, output: Any) -> None:
        if self.is_here and self._around:
            self.parents = self._around.pop()

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Record the module in which a node is created."""
        self._made_in[node] = frozenset(self.parents)

    def running(self, node: Node, g: Any, create: bool, run: Run) -> Any:
        """Called when a node runs, in the modules where it was created."""
        if not self.is_here:
            return run(node, g, create)
        around, self.parents = self.parents, set(self._made_in.get(node, (GLOBAL,)))
        try:
            return run(node, g, create)
        finally:
            self.parents = around


_docstrings.complete(globals(), "observe", "utils.module_tracker.")
