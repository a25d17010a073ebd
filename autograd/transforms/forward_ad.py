"""Forward mode, under PyTorch's names (torch.autograd.forward_ad): tangents that travel with the values."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from ..base import docstrings as _docstrings
from ..core.batching import level_of, whole
from ..core.declare import linear
from ..core.forward_mode import forward_mode, set_tangent, tangent_of
from ..core.interceptors import install, remove
from ..core.modes import DUAL, modes
from ..core.tensor import Tensor

if TYPE_CHECKING:
    from ..core.types import Declared

_numbers = itertools.count().__next__

alias: Declared = linear("Alias", lambda x: x.view(), lambda g, shape: g, view=True, batched=whole)

MSG_NO_LEVEL = ("Trying to {what} for forward AD but no level exists, make sure to enter_dual_level() first.")


class UnpackedDualTensor(NamedTuple):
    """Result of unpack_dual(): the value, and its tangent or None."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Enter a level, in which tensors can have tangents, until exit_dual_level(); `with dual_level()` does both."""
    if modes.level is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    modes.level = _numbers()
    modes.recording |= DUAL
    install(forward_mode)
    return modes.level


def exit_dual_level(*, level: int | None = None) -> None:
    """Exit the level and discard all its tangents."""
    if modes.level is None or (level is not None and level != modes.level):
        raise RuntimeError(f"Trying to exit a forward AD level ({level}) that was not the last one that was created "
                           f"({modes.level}). This is not supported.")
    modes.level = None
    modes.recording &= ~DUAL
    remove(forward_mode)


class dual_level:
    """Context manager of a level for forward mode, which discards its tangents on exit."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception: object) -> None:
        exit_dual_level()


def _check_level(level: int | None, what: str) -> None:
    if modes.level is None or (level is not None and level != modes.level):
        raise RuntimeError(MSG_NO_LEVEL.format(what=what))


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` that has `tangent` in the current level: what is computed from it has the derivative in that
    direction."""
    _check_level(level, "create a dual Tensor")
    for value, name in ((tensor, "primal"), (tangent, "tangent")):
        if not isinstance(value, Tensor):
            raise TypeError(f"make_dual: {name} must be a Tensor, not {type(value).__name__}")
        if value.dtype.kind not in "fcV":
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")
    if tangent_of(tensor) is not None:
        raise RuntimeError("Setting a forward grad on a Tensor that already has a forward gradient is not supported: "
                           "unpack_dual() it first")
    if tangent_of(tangent) is not None:
        raise RuntimeError("Setting a forward gradient that itself has a forward gradient at the same level is not "
                           "supported: unpack_dual() it first")
    if tensor.shape != tangent.shape:
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor: "
                           f"primal and tangent must have the same size, but got {list(tensor.shape)} and "
                           f"{list(tangent.shape)}")
    if tensor.dtype != tangent.dtype:
        raise RuntimeError(f"Expected primal and tangent to have the same dtype, but got {tensor.dtype} and "
                           f"{tangent.dtype}")
    batch = level_of((tensor, tangent), None)
    if batch is not None:                            # inside vmap()
        return batch.wrapped(make_dual(batch.front(tensor), batch.front(tangent)))        # type: ignore[no-any-return]
    dual: Tensor = alias(tensor)
    set_tangent(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Unpack a dual tensor into a view without tangent, and the tangent; None if it has none."""
    if modes.level is None or (level is not None and level != modes.level):
        return UnpackedDualTensor(tensor, None)
    batch = level_of((tensor,), None)
    if batch is not None:                            # inside vmap()
        found = unpack_dual(batch.raw(tensor))
        return UnpackedDualTensor(batch.wrapped(found.primal), batch.wrapped(found.tangent))
    tangent = tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    recording, modes.recording = modes.recording, modes.recording & ~DUAL
    try:
        primal: Any = alias(tensor)
    finally:
        modes.recording = recording
    return UnpackedDualTensor(primal, tangent)

_docstrings.complete(globals(), "transforms", "autograd.forward_ad.")
