"""The form of an optimizer's state outside of it: parameters by number instead of by object."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..core.tensor import Tensor, result
from ..kernels.halves import converted

Groups = list[dict[str, Any]]


def pack(groups: Groups, state: Mapping[Any, Any]) -> dict[str, Any]:
    """{"state": by parameter number, "param_groups": with numbers for parameters}; the tensors are those in use."""
    numbers: dict[int, int] = {}
    packed, start = [], 0
    for group in groups:
        for number, p in enumerate(group["params"], start):
            numbers.setdefault(id(p), number)
        start += len(group["params"])
        packed.append({**{k: v for k, v in group.items() if k != "params"},
                       "params": [numbers[id(p)] for p in group["params"]]})
    states = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in state.items()}
    return {"state": states, "param_groups": packed}


def check_sizes(groups: Groups, saved: Groups) -> None:
    """ValueError if saved groups do not fit, one by one."""
    if len(groups) != len(saved):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(mine["params"]) != len(theirs["params"]) for mine, theirs in zip(groups, saved, strict=True)):
        raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")


def unpack(groups: Groups, saved: Groups, state: Mapping[Any, Any]) -> defaultdict[Any, Any]:
    """The saved state by parameter, each value a copy in the dtype of its parameter."""
    owners = {number: p for mine, theirs in zip(groups, saved, strict=True)
              for number, p in zip(theirs["params"], mine["params"], strict=True)}
    unpacked: defaultdict[Any, Any] = defaultdict(dict)
    for number, value in state.items():
        if number in owners:
            unpacked[owners[number]] = fitted(owners[number], value)
        else:
            unpacked[number] = value
    return unpacked


def fitted(param: Tensor, value: Any) -> Any:
    """A copy of a value found in a parameter's state, in the parameter's dtype if that is floating.

    Single numbers (steps, products) keep their dtype: in another they would go on differently."""
    if isinstance(value, Tensor) or hasattr(value, "__array__"):         # NumPy's and PyTorch's are welcome too
        array = value.array if isinstance(value, Tensor) else np.asarray(value)
        casts = param.array.dtype.kind in "fV" and array.dtype.kind in "fiub" and array.ndim > 0
        return result(np.array(converted(array, param.array.dtype) if casts else array, order="C"))
    if isinstance(value, dict):
        return {k: fitted(param, v) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(fitted(param, v) for v in value)              # type: ignore[call-arg]
    return value
