"""optimized(): what compile() returns for a module."""

from __future__ import annotations

from typing import Any

from .compiled import Compiled
from .settings import Settings


class Optimized:
    """A module that shares all attributes with another one, `_orig_mod`, and whose forward is compiled. Base of classes of
    such modules, each with one object."""

    _orig_mod: Any
    _compiled: Compiled

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The compiled forward of the module."""
        return type(self)._compiled(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return optimized, (self._orig_mod, self._compiled.settings)


def optimized(module: Any, settings: Settings, base: type[Optimized] = Optimized) -> Any:
    """The module with a compiled forward. Both have one __dict__: parameters, hooks, `training`, names in state_dict()."""
    cls = type(module)
    made: Any = type(cls.__name__, (base, cls), {
        "__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__, "_orig_mod": module,
        "_compiled": staticmethod(Compiled(module.forward, settings))})
    wrapper = object.__new__(made)
    object.__setattr__(wrapper, "__dict__", vars(module))
    return wrapper


__all__ = ["Optimized", "optimized"]
