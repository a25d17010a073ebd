"""Other packages that take Tensors once they are told of them: told when they are imported, in whatever order.

Such a package stays as it is published. It asks for a class, or a function, that a module of ours defines after it is
there, see AFTER. A finder in front of sys.meta_path sees the import and runs that module when it is done; a package
that was imported before is told at once. So `import autograd` imports none of them, and the user does nothing.
"""

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


class Neighbours:
    """The finder. It answers for the names in AFTER and PROVIDED, and passes on every other."""

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
    """Another package's loader, whose module is followed by ours. What else a loader can do it does itself."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the package's own loader."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the package's module, then ours, which finds it in sys.modules."""
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        import_module(AFTER[module.__name__])


class Door(Loader):
    """The loader of a name in PROVIDED: it stands for our module."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """A module as any; exec_module() puts ours in its place."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Let the name stand for our module."""
        sys.modules[module.__name__] = import_module(PROVIDED[module.__name__])


def tell() -> None:
    """Begin: tell the packages that are imported already, and wait for the others."""
    sys.meta_path.insert(0, Neighbours())  # type: ignore[arg-type]
    for name, ours in AFTER.items():
        if name in sys.modules:
            import_module(ours)
