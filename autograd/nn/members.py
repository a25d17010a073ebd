"""The dicts of a module, and Members, those of its parameters, buffers and modules."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..core.modes import changed


class Members(dict[str, Any]):
    """The parameters, buffers or modules of a module: a dict whose changes compiled steps notice, see core.modes.changed."""


def _counted(name: str) -> Any:
    """The method of dict, followed by changed()."""
    method = getattr(dict, name)

    @functools.wraps(method)
    def changing(self: Members, *args: Any, **kwargs: Any) -> Any:
        out = method(self, *args, **kwargs)
        changed()
        return out

    return changing


for _name in ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update"):
    setattr(Members, _name, _counted(_name))


KINDS = {"_parameters": "parameter", "_buffers": "buffer", "_modules": "module"}      # the dicts of members
STATE: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(KINDS, Members), "_non_persistent_buffers_set": set,
    **dict.fromkeys(("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks", "_forward_hooks_with_kwargs",
                     "_forward_hooks_always_called", "_backward_pre_hooks", "_backward_hooks", "_state_dict_hooks",
                     "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"), OrderedDict)}

__all__ = ["KINDS", "STATE", "Members"]
