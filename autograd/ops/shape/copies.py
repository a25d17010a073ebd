"""Copies: clone, contiguous, and the forms of views that copy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.devices import contiguous_format
from ...base.types import Array, MemoryFormat
from ...core.batching import Level
from ...core.declare import linear
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...kernels.memory_format import order_of
from . import broadcast, sliding, splitting, transposes, views

if TYPE_CHECKING:
    from ...core.types import Declared


def _in_order(x: Array, order: str) -> Array:
    if order in "KC":
        return np.array(x, order=order_of(x) if order == "K" else order, subok=True)         # type: ignore[call-overload]
    return np.moveaxis(np.array(np.moveaxis(x, 1, -1), order="C"), -1, 1)      # "last": channels after all else


# x copied, its memory in the order "C", "K" or "last": by clone() and contiguous(), and by to(memory_format=...).
def _batched(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """The rule for batches: an order in memory is one of samples, of which nothing shows; here it is by rows."""
    return call(level.raw(args[0]), "C" if args[1] == "last" else args[1])


_clone: Any = linear("Clone", _in_order, lambda g, was, order: g, batched=_batched)
to_copy: Any = linear("ToCopy", _in_order, lambda g, was, order: g, batched=_batched)


def layout_of(format: MemoryFormat | None, ndim: int) -> str:
    """The order that a memory format names: "C" contiguous, "K" unchanged, "last" channels last. RuntimeError if it does
    not fit."""
    name = str(format).rpartition(".")[2]
    if format is None or name in ("contiguous_format", "preserve_format"):
        return "C" if name == "contiguous_format" else "K"
    rank = {"channels_last": 4, "channels_last_3d": 5}.get(name)
    if rank is None:
        raise TypeError(f"memory_format must be one of torch's formats, not {format!r}")
    if ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {name} format, not rank {ndim}")
    return "last"


def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """A copy of input that gradients flow through."""
    return _clone(input, "K" if memory_format is None else layout_of(memory_format, input.ndim))


def contiguous(input: Tensor, memory_format: MemoryFormat | None = contiguous_format) -> Tensor:
    """input itself if its memory is in the order asked for, else a copy."""
    if memory_format is contiguous_format:
        return input if input.array.flags.c_contiguous else _clone(input, "C")
    layout = layout_of(memory_format, input.ndim)
    if layout == "K":
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    array = input.array if layout == "C" else np.moveaxis(input.array, 1, -1)
    return input if array.flags.c_contiguous else _clone(input, layout)


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension, contiguous: input itself if it is both."""
    return contiguous(input) if input.ndim == 1 else views.reshape(input, -1)


def detach(input: Tensor) -> Tensor:
    """The same memory as a tensor without history."""
    return input.detach()


def resolve_conj(input: Tensor) -> Tensor:
    """The input itself: conjugation is never lazy here."""
    return input


def resolve_neg(input: Tensor) -> Tensor:
    """The input itself: negation is never lazy here."""
    return input


def _copying(name: str, view_of: Callable[..., Any]) -> Callable[..., Any]:
    """The form of a view operation that copies: `name` with _copy."""

    @takes_out
    def copying(input: Tensor, *args: Any, **settings: Any) -> Any:
        viewed = view_of(input, *args, **settings)
        return tuple([_clone(x, "C") for x in viewed]) if isinstance(viewed, tuple) else _clone(viewed, "C")

    copying.__name__ = copying.__qualname__ = name
    copying.__doc__ = f"{name[:-5]}() as a copy."
    given = inspect.signature(view_of)
    shown = [p for p in given.parameters.values() if p.name != "out"]
    several = "tuple" in str(given.return_annotation)
    out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None,
                            annotation="Sequence[Tensor] | None" if several else "Tensor | None")
    copying.__signature__ = given.replace(parameters=[*shown, out])        # type: ignore[attr-defined]
    return copying


alias_copy: Declared = _copying("alias_copy", lambda input: input)
detach_copy: Declared = _copying("detach_copy", lambda input: input.detach())
expand_copy: Declared = _copying("expand_copy", broadcast.expand)
narrow_copy: Declared = _copying("narrow_copy", splitting.narrow)
permute_copy: Declared = _copying("permute_copy", transposes.permute)
select_copy: Declared = _copying("select_copy", splitting.select)
split_copy: Declared = _copying("split_copy", splitting.split)
split_with_sizes_copy: Declared = _copying("split_with_sizes_copy", splitting.split_with_sizes)
squeeze_copy: Declared = _copying("squeeze_copy", views.squeeze)
t_copy: Declared = _copying("t_copy", transposes.t)
transpose_copy: Declared = _copying("transpose_copy", transposes.transpose)
unbind_copy: Declared = _copying("unbind_copy", splitting.unbind)
unfold_copy: Declared = _copying("unfold_copy", sliding.unfold)
unsqueeze_copy: Declared = _copying("unsqueeze_copy", views.unsqueeze)
view_copy: Declared = _copying("view_copy", views.view)

__all__ = ["alias_copy", "clone", "detach", "detach_copy", "expand_copy", "narrow_copy", "permute_copy", "ravel",
           "resolve_conj", "resolve_neg", "select_copy", "split_copy", "split_with_sizes_copy", "squeeze_copy", "t_copy",
           "transpose_copy", "unbind_copy", "unfold_copy", "unsqueeze_copy", "view_copy"]
METHODS = ["clone", "contiguous", "narrow_copy", "ravel", "resolve_conj", "resolve_neg"]
