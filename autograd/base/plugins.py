"""Names of this package that other packages provide: what works over several processes.

A plugin is a module of the namespace package `autograd_plugins` (a folder without `__init__.py`, of which each distribution
installs a part), whose PROVIDES maps names of autograd to modules, or "module:attribute". It is looked for when such a name
is first used, on sys.path as Python finds any package: so it is found where the package that brings it can be imported at
all, installed or by PYTHONPATH, and in whatever order things are imported. Without one the names are stubs that say so."""

from __future__ import annotations

import functools
import pkgutil
from importlib import import_module
from typing import Any

FOLDER = "autograd_plugins"
MSG_MISSING = ("{name} needs a package that works over several processes, and there is none here: no module of "
               "the namespace package autograd_plugins provides it (PyTorch's process groups are such a package's to bring)")


@functools.cache
def _table() -> dict[str, str]:
    """All plugins' names and what they stand for. RuntimeError if two provide one."""
    try:
        folder = import_module(FOLDER)
    except ModuleNotFoundError:
        return {}
    found: dict[str, str] = {}
    for plugin in sorted(info.name for info in pkgutil.iter_modules(folder.__path__)):
        for name, target in import_module(f"{FOLDER}.{plugin}").PROVIDES.items():
            if found.setdefault(name, target) != target:
                raise RuntimeError(f"two plugins provide {name}: {found[name]} and {target}; uninstall one")
    return found


def provided(name: str) -> Any:
    """What a plugin provides under a name of this package; None if there is none."""
    target = _table().get(name)
    if target is None:
        return None
    module, _, attribute = target.partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found


@functools.cache
def plugin_packages() -> frozenset[str]:
    """The packages that provide names: their code is a library's, not the user's."""
    return frozenset(target.partition(":")[0].partition(".")[0] for target in _table().values())


def missing(name: str) -> str:
    """What a stub says."""
    return MSG_MISSING.format(name=name)
