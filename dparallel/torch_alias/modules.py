"""The modules of `torch`: those of autograd, the same objects, with the absent names of autograd/torch_names.py."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from autograd.base import version as autograd_version
from autograd.compat.library import ops
from autograd.torch_names import absent, find, modules, named, unguarded

from .. import autograd
from ..same_modules import SameModules
from . import version

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object                                  # as in same_modules.py

TOP = "torch"
# modules that are not those of autograd
OTHERS = {f"{TOP}.version": version.__name__, f"{TOP}.torch_version": autograd_version.__name__}
# modules where PyTorch defines names of `torch` itself
BEHIND = {f"{TOP}.{name}" for name in ("_C", "_VF", "_tensor", "functional")}


class TorchModules(SameModules):
    """Finds torch.X, which is autograd.X, or a module of absent names."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """A spec, unless the name is absent and code checks for it."""
        if not fullname.startswith(f"{TOP}."):
            return None
        try:
            found = super().find_spec(fullname)
        except ModuleNotFoundError:                  # autograd has no such parent
            found = None
        return found or (ModuleSpec(fullname, AbsentModules(), is_package=True) if fullname in modules() | BEHIND or
                         unguarded(importer(), "IMPORT_NAME") else None)

    def ours(self, fullname: str) -> str:
        """As there, but for OTHERS."""
        return OTHERS.get(fullname) or super().ours(fullname)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """That module, and its submodules that are imported already: a name of theirs may be a function by now."""
        module, stem = super().create_module(spec), self.ours(spec.name)
        for name, other in [*sys.modules.items()]:
            if name.startswith(f"{stem}."):
                alias = spec.name + name[len(stem):]
                sys.modules.setdefault(alias, other)
                add_absent(other, alias)
        add_absent(module, spec.name)
        return module


class AbsentModules(Loader):
    """The loader of modules that are not here: all their names are absent."""

    def create_module(self, spec: ModuleSpec) -> None:
        """A module as any."""

    def exec_module(self, module: ModuleType) -> None:
        """Give it its names."""
        def names(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            full = f"{module.__name__}.{name}"
            if module.__name__ in BEHIND and hasattr(autograd, name):
                return getattr(autograd, name)
            return import_module(full) if full in modules() else named().get(full) or absent(full)

        vars(module)["__getattr__"] = names


def importer() -> Any:
    """The frame whose import statement, or call, Python's import system works for."""
    frame = sys._getframe(1)
    while frame.f_back and (frame.f_globals is globals() or "importlib._bootstrap" in frame.f_code.co_filename):
        frame = frame.f_back
        if frame.f_code.co_name == "_handle_fromlist":         # `from torch.nn import X`: X is looked for as a module too
            return None
    return frame


def add_absent(module: ModuleType, name: str) -> None:
    """Let a module answer for its absent names too."""
    vars(module).setdefault("__path__", [])          # it may have submodules of absent names
    own = vars(module).get("__getattr__")
    if getattr(own, "__qualname__", "").startswith(f"{add_absent.__name__}."):
        return                                       # by another name, as torch.special and torch.autograd.special

    def own_or_absent(attribute: str) -> Any:
        try:
            if own is not None:
                return own(attribute)
        except AttributeError:
            pass
        if attribute.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        if name in BEHIND and hasattr(autograd, attribute):
            return getattr(autograd, attribute)
        full = f"{name}.{attribute}"
        if full in modules() or (name != TOP and find_spec(full)):       # PyTorch has imported it by now
            return import_module(full)
        return find(name, attribute, sys._getframe(1))

    vars(module)["__getattr__"] = own_or_absent


def fill(names: dict[str, Any]) -> None:
    """Make a module `torch`: autograd's names, and PyTorch's version."""
    submodules = {*vars(autograd)["MODULES"], "_C"}

    def own(name: str) -> Any:
        return import_module(f"{TOP}.{name}") if name in submodules else getattr(autograd, name)

    names.update((name, value) for name, value in vars(autograd).items()
                 if not name.startswith("__") and name not in submodules)
    names.update(__version__=version.__version__, version=version, torch_version=autograd_version, ops=ops,
                 torch=sys.modules[TOP], __all__=vars(autograd)["__all__"], __getattr__=own, __dir__=lambda: dir(autograd))
    sys.meta_path.insert(0, TorchModules(TOP))
    add_absent(sys.modules[TOP], TOP)
