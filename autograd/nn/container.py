"""Modules that hold modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .module import Module


class Sequential(Module):
    """Modules applied one after the other; given as arguments, or as one dict of names."""

    def __init__(self, *modules: Any) -> None:
        named = modules[0].items() if len(modules) == 1 and isinstance(modules[0], dict) else enumerate(modules)
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, x: Any) -> Any:
        """One after the other."""
        for module in self:
            x = module(x)
        return x

    def __getitem__(self, index: int | slice) -> Any:
        items = list(self.held_modules())
        return Sequential(dict(items[index])) if isinstance(index, slice) else items[index][1]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Module]:
        return (module for _, module in self.held_modules())

    def append(self, module: Module) -> Sequential:
        """Add a module at the end. Returns self."""
        self.add_module(str(len(self)), module)
        return self


class ModuleList(Module):
    """A list of modules that a Module finds."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self.extend(modules)

    def append(self, module: Module) -> ModuleList:
        """Add a module at the end. Returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end. Returns self."""
        for module in modules:
            self.append(module)
        return self

    def __getitem__(self, index: int | slice) -> Any:
        items = list(self.children())
        return ModuleList(items[index]) if isinstance(index, slice) else items[index]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Module]:
        return (module for _, module in self.held_modules())
