"""Checks that the constructors of optimizers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.arguments import real_number
from ..core.tensor import Tensor
from ..core.types import TensorOrNumber

SPELLED = {"lr": "learning rate", "eps": "epsilon value"}


def number(value: TensorOrNumber) -> Any:
    """An option as a Python number: lr and betas may be Tensors of one element, or NumPy's numbers."""
    return value if type(value) is float or not isinstance(value, (Tensor, np.generic)) else value.item()


def check_lr(lr: TensorOrNumber) -> None:
    """ValueError for a negative learning rate, or a Tensor of several elements."""
    if isinstance(lr, Tensor) and lr.array.size != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_not_negative(lr=lr)


def check_not_negative(**values: Any) -> None:
    """ValueError naming the option that is below 0 or nan, TypeError one that is no number."""
    for name, value in values.items():
        if not real_number(f"optimizer({name}", number(value)) >= 0.0:
            raise ValueError(f"Invalid {SPELLED.get(name, name + ' value')}: {number(value)}")


def check_betas(betas: Sequence[float]) -> None:
    """ValueError if a beta is outside [0, 1), TypeError if they are no two numbers."""
    if not hasattr(betas, "__len__") or len(betas) != 2:
        raise TypeError(f"optimizer(betas={betas!r}): two numbers are needed")
    for index, beta in enumerate(betas):
        if not 0.0 <= real_number("optimizer(betas", number(beta)) < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {number(beta)}")


def check_flags(name: str, differentiable: bool = False, foreach: bool | None = None, fused: bool | None = None) -> None:
    """foreach and fused are hints, accepted one at a time: every step is fused, unless it is recorded (differentiable)."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def refuse_differentiable(name: str, differentiable: bool) -> None:
    """NotImplementedError from an optimizer whose step can't be recorded."""
    if differentiable:
        raise NotImplementedError(f"{name}(differentiable={differentiable!r}) is not implemented")
