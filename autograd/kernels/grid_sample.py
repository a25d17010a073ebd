"""From the coordinates of a sampling grid, -1 to 1 across a plane, to the pixels that they mean."""

from __future__ import annotations

import numpy as np

from .windows import Array

Mapped = tuple[Array, Array]                          # values, and their slope with respect to the coordinate


def pixels(coordinate: Array, size: int, corners: bool) -> Mapped:
    """Positions in pixels: -1 and 1 are the centres of the outer pixels (`corners`) or their outer edges."""
    if corners:
        return (coordinate + 1) / 2 * (size - 1), np.full_like(coordinate, (size - 1) / 2)
    return ((coordinate + 1) * size - 1) / 2, np.full_like(coordinate, size / 2)


def clipped(place: Array, size: int) -> Mapped:
    """Positions limited to the plane; at its border and beyond the slope is 0."""
    return np.clip(place, 0, size - 1), ((place > 0) & (place < size - 1)).astype(place.dtype)


def reflected(place: Array, size: int, corners: bool) -> Mapped:
    """Positions reflected at the plane's border (the centres or the outer edges of its outer pixels) until they are in."""
    low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
    if low == high:
        return np.zeros_like(place), np.zeros_like(place)
    span = high - low
    turned = np.where(place < low, -1, 1).astype(place.dtype)
    distance = np.abs(place - low)
    extra = np.fmod(distance, span)
    even = np.floor(distance / span) % 2 == 0
    return np.where(even, extra + low, span - extra + low).astype(place.dtype), np.where(even, turned, -turned)


def apply_padding_mode(place: Array, size: int, padding: str, corners: bool) -> Mapped:
    """Positions brought into the plane as `padding` says: "zeros" leaves them."""
    if padding == "zeros":
        return place, np.ones_like(place)
    slope = np.ones_like(place)
    if padding == "reflection":
        place, slope = reflected(place, size, corners)
    place, inside = clipped(place, size)
    return place, slope * inside


def flat_index(places: list[Array], plane: tuple[int, ...]) -> tuple[Array, Array]:
    """Whole positions, one array for each dimension, as places in the flat plane, and which are inside it (else place 0)."""
    valid = np.ones(places[0].shape, bool)
    for place, size in zip(places, plane, strict=True):
        valid &= (place >= 0) & (place <= size - 1)
    index = np.zeros(places[0].shape, np.int64)
    for place, size in zip(places, plane, strict=True):
        index = index * size + np.where(valid, place, 0).astype(np.int64)
    return index, valid
