"""How many bytes of state an optimizer keeps, or will keep once it has stepped."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dtypes import default
from ..base.pytree import nested_values
from ..core.tensor import Tensor, result
from .elementwise import Elementwise
from .optimizer import Optimizer


def state_bytes(optimizer: Optimizer) -> int:
    """The bytes of its state when all parameters that require a gradient have got one.

    Of parameters that have state it is counted; of others an Elementwise optimizer knows its own, an LBFGS's follows from
    its history_size, and the rest step on a stand-in of the parameter's shape, one at a time.

    >>> state_bytes(optim.Adam([nn.Parameter(ag.zeros(100))]))         # two moments in float32, and the number of steps
    804
    """
    total = 0
    for group in optimizer.param_groups:
        trained = [p for p in group["params"] if p.requires_grad]
        if "history_size" in group:                  # LBFGS keeps the state of all as that of the first
            total += (2 * group["history_size"] + 2) * sum(p.array.nbytes for p in trained)
            continue
        stand_ins: dict[tuple[Any, ...], int] = {}
        for p in trained:
            if optimizer.state.get(p):
                total += bytes_in(optimizer.state[p])
            elif isinstance(optimizer, Elementwise):
                total += (len(optimizer.arrays(group)) * p.array.nbytes
                          + len(optimizer.numbers(group)) * default.dtype.itemsize)
            else:
                key = p.array.shape, p.array.dtype
                if key not in stand_ins:
                    stand_ins[key] = of_stand_in(optimizer, group, p)
                total += stand_ins[key]
    return total


def of_stand_in(optimizer: Optimizer, group: dict[str, Any], p: Tensor) -> int:
    """The state of a parameter of p's shape after a step."""
    stand_in = result(np.zeros(p.array.shape, p.array.dtype))
    stand_in.requires_grad = True
    stand_in.grad = result(np.zeros(p.array.shape, p.array.dtype))
    options = {name: value for name, value in group.items() if name not in ("params", "param_names")}
    kind: Any = type(optimizer)
    other = kind([{**options, "params": [stand_in]}])
    other.step()
    return bytes_in(other.state[stand_in])


def bytes_in(state: Any) -> int:
    """Of all arrays and tensors."""
    arrays = (x.array if isinstance(x, Tensor) else x for x in nested_values(state))
    return sum(x.nbytes for x in arrays if isinstance(x, np.ndarray))
