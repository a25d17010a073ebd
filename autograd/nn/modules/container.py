"""Modules that hold modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..container import ModuleList
from ..module import Module


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules: Any = None) -> None:
        for name, module in dict(modules or {}).items():
            self[name] = module

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]                    # type: ignore[no-any-return]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules


__all__ = ["ModuleDict", "ModuleList"]
