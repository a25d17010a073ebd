"""Parameter groups: what a user may pass as `params`, checked and completed."""

from __future__ import annotations

import warnings
from typing import Any

from ..base.arguments import listed
from ..core.tensor import Tensor


class Required:
    """The type of `required`, the default of an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"

    def __copy__(self) -> Required:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Required:
        return self


required: Required = Required()


def complete_group(group: dict[str, Any], defaults: dict[str, Any]) -> None:
    """Make group["params"] a list of leaf Tensors, put their names (if given) beside it, and add missing options."""
    if not isinstance(group, dict):
        raise TypeError(f"param_group must be a dict, but got {type(group)}")
    if "params" not in group:
        raise KeyError(f"params: a parameter group is a dict with them, and this one has {list(group)}")
    params = group["params"]
    if isinstance(params, set):
        raise TypeError("optimizer parameters need to come in an order, and that of a set changes between runs: "
                        "please use a list instead")
    pairs = [params] if isinstance(params, Tensor) else listed("a parameter group's 'params'", params, stacklevel=4)
    names = [pair[0] for pair in pairs if isinstance(pair, tuple)]
    if names and len(names) != len(pairs):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    group["params"] = [pair[1] if isinstance(pair, tuple) else pair for pair in pairs]
    if names:
        group["param_names"] = names
    for p in group["params"]:
        if not isinstance(p, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
        if not (p.is_leaf or p.retains_grad or defaults.get("differentiable")):
            raise ValueError("can't optimize a non-leaf Tensor")
    for name, default in defaults.items():
        if default is required and name not in group:
            raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        group.setdefault(name, default)


def check_against(group: dict[str, Any], others: list[dict[str, Any]]) -> None:
    """ValueError if the group shares a parameter with another, or only some groups have names; warn of duplicates."""
    numbers = [id(p) for p in group["params"]]
    if len(set(numbers)) != len(numbers):
        warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an "
                      "error", UserWarning, stacklevel=4)
    for other in others:
        if ("param_names" in group) != ("param_names" in other):
            kind = "with names" if "param_names" in group else "without names"
            raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                             f"{kind} to the optimizer")
    if not {id(p) for other in others for p in other["params"]}.isdisjoint(numbers):
        raise ValueError("some parameters appear in more than one parameter group")
