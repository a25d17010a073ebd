"""SameModules: a second name for all modules of the package autograd. Read first: this page."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object                                  # importlib.abc would take 15 ms


class SameModules(Loader):
    """Finds the modules of `autograd` by another package's name: PACKAGE.X is autograd.X."""

    def __init__(self, package: str) -> None:
        self.prefix = f"{package}."

    def ours(self, fullname: str) -> str:
        """The name of the module under PACKAGE.X; "" for other packages."""
        return f"autograd.{fullname[len(self.prefix):]}" if fullname.startswith(self.prefix) else ""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """A spec, if there is autograd.X."""
        name = self.ours(fullname)
        found = importlib.util.find_spec(name) if name else None
        return found and ModuleSpec(fullname, self, is_package=found.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """That module: no thread sees another one under this name."""
        module = import_module(self.ours(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing else: it ran under its own name, which Python has just replaced."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state

    def get_code(self, fullname: str) -> Any:
        """For `python -m dparallel.autograd.X`."""
        name = self.ours(fullname)
        loader: Any = getattr(importlib.util.find_spec(name), "loader", None)
        return loader.get_code(name)


__all__ = ["SameModules"]
