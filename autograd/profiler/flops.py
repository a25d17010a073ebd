"""Floating point operations of a call, from the shapes of its inputs: PyTorch's formulas, a multiplication and an addition
counting as two."""

from __future__ import annotations

from math import prod
from typing import Any


def flops_of(event: Any) -> int:
    """The operations of an event; 0 where there is no formula for it."""
    formula = FORMULAS.get(event.name)
    if formula is None or not event.input_shapes:
        return 0
    return int(formula(event.input_shapes, event.kwinputs))


def product(shapes: list[Any], settings: dict[str, Any]) -> int:
    """Of (..., m, k) @ (..., k, n): the last two of the inputs."""
    x, y = shapes[0], shapes[1]
    return 2 * prod(x) * y[-1] if len(x) > 1 and len(y) > 1 else 0


def affine(shapes: list[Any], settings: dict[str, Any]) -> int:
    """Of linear(x (..., k), weight (n, k), bias) and of addmm(bias, x (m, k), y (k, n)), which share a name."""
    if len(shapes[0]) > 1 and len(shapes[1]) == 2 and shapes[0][-1] == shapes[1][1] and "beta" not in settings:
        return 2 * prod(shapes[0]) * shapes[1][0]
    return product(shapes[1:], settings) if len(shapes) > 2 else 0


def convolution(shapes: list[Any], settings: dict[str, Any]) -> int:
    """Of x (n, c, ...) with weight (m, c / groups, *kernel): two for each element of weight and each place of a window."""
    geometry = settings.get("geometry")
    return 0 if not geometry else 2 * shapes[0][0] * prod(shapes[1]) * prod(geometry[-1])


def each(shapes: list[Any], settings: dict[str, Any]) -> int:
    """One for each element of the result."""
    return prod(broadcast([s for s in shapes if s]))


def broadcast(shapes: list[Any]) -> list[int]:
    """The shape of shapes that broadcast."""
    if not shapes:
        return [0]
    dims = max(map(len, shapes))
    padded = [[1] * (dims - len(s)) + list(s) for s in shapes]
    return [max(sizes) for sizes in zip(*padded, strict=True)]


FORMULAS = {"aten::mm": product, "aten::bmm": product, "aten::addmm": affine, "aten::convolution": convolution,
            "aten::mul": each, "aten::add": each}

__all__ = ["flops_of"]
