"""Padding with constants, or with the input's own elements mirrored, repeated or wrapped round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.types import Array, Number
from ...core.casting import casting, raised
from ...core.tensor import Tensor
from ...core.types import Context
from ...kernels.onednn.reorder import like_order
from ..index.indexing import Index
from . import clone, crop, pad_constant


class ReflectionPad(Index):
    """Elements picked by index along one dimension, as a pad."""

    joins: tuple[tuple[int, ...], ...] | None = ((0,),)

    @staticmethod
    def forward(ctx: Context, x: Array, *indices: Array, dims: tuple[int, ...]) -> Array:
        return like_order(Index.forward(ctx, x, *indices, dims=dims), x)


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Number = 0) -> Tensor:
    """input with `value` put round it: pad holds (before, after) for the last dimension, then for the one before it, and
    so on. Negative numbers cut off."""
    widths = pairs(input, pad)
    cut = tuple([(max(-a, 0), max(-b, 0)) for a, b in widths])
    added = tuple([(max(a, 0), max(b, 0)) for a, b in widths])
    for (a, b), n in zip(widths, input.shape, strict=True):
        if n + a + b < 0 or (n + min(a, 0) + min(b, 0) < 0):
            raise RuntimeError(f"The input size {n}, plus negative padding {a} and {b}, resulted in a negative output size, "
                               f"which is invalid. Input {list(input.shape)}, pad {list(pad)}")
    has_cut = any(a or b for a, b in cut)
    x = crop(input, cut) if has_cut else input
    if any(a or b for a, b in added):
        return pad_constant(x, added, value)
    return clone(x)


def pairs(x: Tensor, pad: Sequence[int]) -> list[tuple[int, int]]:
    """(before, after) for each dimension of x. RuntimeError if pad does not fit."""
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2, not {len(pad)}")
    if len(pad) // 2 > x.ndim:
        raise RuntimeError(f"Padding length should be less than or equal to two times the input dimension but got padding "
                           f"length {len(pad)} and input of dimension {x.ndim}")
    named = [(int(pad[i]), int(pad[i + 1])) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (x.ndim - len(named)) + named[::-1]


def _reflected(n: int, before: int, after: int) -> Array:
    """... 2 1 0 1 2 ... n-2 n-1 n-2 ...: the ends are not repeated."""
    return (n - 1) - np.abs((n - 1) - np.abs(np.arange(-before, n + after)))


def _replicated(n: int, before: int, after: int) -> Array:
    """0 0 0 1 2 ... n-1 n-1 n-1."""
    return np.clip(np.arange(-before, n + after), 0, n - 1)


def _wrapped(n: int, before: int, after: int) -> Array:
    """... n-1 0 1 2 ... n-1 0 ..., of what negative padding has left."""
    first, left = max(-before, 0), n + min(before, 0) + min(after, 0)
    return first + np.arange(-max(before, 0), left + max(after, 0)) % left


MODES: dict[str, Callable[[int, int, int], Any]] = {"reflect": _reflected, "replicate": _replicated, "circular": _wrapped}


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Number | None = None) -> Tensor:
    """input padded: pad holds (before, after) for the last dimension, then for the one before it, and so on."""
    widths = pairs(input, pad)
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    if mode not in MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(pad) // 2
    if dims not in (1, 2, 3) or input.ndim not in (dims + 1, dims + 2):
        raise NotImplementedError(f"Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now: pad "
                                  f"{list(pad)} needs an input of {dims + 1} or {dims + 2} dimensions, not {input.ndim}")
    check(input, pad, widths, mode)
    if casting.used and (mode == "replicate" or (mode == "reflect" and dims < 3)):
        (input,) = raised(input)
    out = input
    for dim, (a, b) in enumerate(widths):
        if a or b:
            operation = Index if mode == "circular" else ReflectionPad
            out = operation.apply(out, MODES[mode](input.shape[dim], a, b), dims=(dim,))
    return clone(out) if out is input else out


def check(x: Tensor, pad: Sequence[int], widths: list[tuple[int, int]], mode: str) -> None:
    """RuntimeError for paddings that the mode cannot make of x."""
    dims = len(pad) // 2
    if any(n == 0 for n in x.shape[x.ndim - dims - (0 if x.ndim == dims + 1 else 1):]):
        raise RuntimeError(f"{mode} padding: Expected a tensor with a possible batch size of 0 and other non-zero "
                           f"dimensions for input, but got: {list(x.shape)}")
    for dim, ((a, b), n) in enumerate(zip(widths, x.shape, strict=True)):
        if mode == "reflect" and (a >= n or b >= n) and (a or b):
            raise RuntimeError(f"Padding size should be less than the corresponding input dimension, but got: padding ({a}, "
                               f"{b}) at dimension {dim} of input {list(x.shape)}")
        if mode == "circular" and (a > n or b > n):
            raise RuntimeError(f"Padding value causes wrapping around more than once: padding ({a}, {b}) at dimension "
                               f"{dim} of input {list(x.shape)}")
        if n + a + b <= 0 and (a or b):
            raise RuntimeError(f"padding ({a}, {b}) at dimension {dim} of input {list(x.shape)} leaves nothing")


__all__ = ["constant_pad_nd"]
METHODS: list[str] = []
