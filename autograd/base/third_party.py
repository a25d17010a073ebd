"""Registers Tensor with einops, matplotlib, pandas and tensorboardX when they are imported, before or after autograd.

Each of these packages accepts other array types through a class or a function, which a module of integrations/ defines once
the package is there: AFTER. A finder at the front of sys.meta_path runs that module after the import. `import autograd`
itself imports none of these packages."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object                                  # importlib.abc would take 15 ms

TOP = __name__.partition(".")[0]
# a module of another package: the module of ours to import after it
AFTER = {"einops._backends": f"{TOP}.integrations.einops", "matplotlib.cbook": f"{TOP}.integrations.matplotlib",
         "pandas.core.groupby.grouper": f"{TOP}.integrations.pandas",
         "tensorboardX.x2num": f"{TOP}.integrations.tensorboardx"}
# a module that another package leaves to each framework: ours
PROVIDED = {f"einops.layers.{TOP}": f"{TOP}.integrations.einops_layers"}


class Finder:
    """The finder of the names in AFTER and PROVIDED."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec that the other finders have for a name in AFTER, with our module behind it; ours for one in PROVIDED."""
        if name in PROVIDED:
            return ModuleSpec(name, Door())
        if name not in AFTER:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self and hasattr(finder, "find_spec") else None
            if spec is not None and spec.loader is not None:
                spec.loader = Followed(spec.loader)
                return spec
        return None


class Followed(Loader):
    """The loader of a package in AFTER: runs the package's own loader, then our module."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module by the package's loader."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the package's module, then ours."""
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        import_module(AFTER[module.__name__])


class Door(Loader):
    """The loader of a name in PROVIDED: an alias of our module."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the default module, which exec_module() replaces."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Import our module under this name."""
        sys.modules[module.__name__] = import_module(PROVIDED[module.__name__])


def register() -> None:
    """Install the finder, and register with packages that are already imported."""
    sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]
    for name, ours in AFTER.items():
        if name in sys.modules:
            import_module(ours)
