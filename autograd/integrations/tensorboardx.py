"""tensorboardX accepts Tensors wherever it accepts PyTorch's: by their values, with or without a graph."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .values import given_values


def untracked(x: Any) -> Any:
    """The values of a Tensor, or of the Tensors in a list."""
    if isinstance(x, list):
        return [untracked(value) for value in x]
    return x.detach().numpy() if isinstance(x, Tensor) else x


given_values("tensorboardX.x2num", "make_np", untracked)      # the conversion to arrays, which identifies frameworks by name
