"""tensorboardX takes Tensors wherever it takes PyTorch's: by their values, with or without a graph."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor

HOME = "tensorboardX.x2num"


def taking_tensors(make_np: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """tensorboardX's conversion to arrays, which knows frameworks by their names, with ours among them."""
    @functools.wraps(make_np)
    def convert(x: Any) -> Any:
        if isinstance(x, list):
            x = [value.detach().numpy() if isinstance(value, Tensor) else value for value in x]
        return make_np(x.detach().numpy() if isinstance(x, Tensor) else x)

    return convert


def _install() -> None:
    """In the module where it is defined, and in those that have imported it from there."""
    theirs = sys.modules[HOME].make_np
    ours = taking_tensors(theirs)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == HOME.partition(".")[0] and getattr(module, "make_np", None) is theirs:
            module.make_np = ours  # type: ignore[attr-defined]


_install()
