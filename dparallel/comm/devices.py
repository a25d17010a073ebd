"""Local devices: one process holds every place."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import definition
from .base import Array, Communicator, Handle, checked, even_split
from .call import Call


class Devices(Communicator):
    """`size` places, all in this process; Devices(1) is what a script has when it is not run under MPI."""

    kind = "devices"

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"Devices({size}): at least one place")
        self.size = size
        self.held = tuple(range(size))

    def _run(self, calls: list[Call], xs: Sequence[Array], sizes: Any) -> Handle:
        checked(calls)
        arrays = [np.asarray(x) for x in xs]
        value = [compute(calls[0], arrays, sizes, place) for place in self.held]
        root = calls[0].root
        result = value[root] if calls[0].name in ("reduce", "gather") else value
        return Handle(lambda: result)

    def any(self, flag: bool) -> bool:
        """The flag itself: there is one process."""
        return bool(flag)

    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """The sum in place order, copied to all."""
        for array in arrays[1:]:
            arrays[0][...] += array
        for array in arrays[1:]:
            array[...] = arrays[0]
        return Handle(lambda: None)

    def allgather_object(self, objects: Sequence[Any]) -> list[Any]:
        """The objects themselves."""
        return list(objects)

    def duplicate(self) -> Devices:
        """Itself: it keeps no messages."""
        return self

    def abort(self, message: str) -> None:
        """End this process."""
        sys.exit(message)


def compute(call: Call, xs: list[Array], sizes: Any, place: int) -> Array:
    """What the collective `call` of all places' arrays gives to one place, as a new array."""
    name, root = call.name, call.root
    if name == "broadcast":
        return np.array(xs[root], order="C")
    if name == "scatter":
        cut = even_split(len(xs[root]), len(xs)) if sizes is None else sizes
        return np.array(xs[root][definition.bounds(cut, place)], order="C")
    if name in ("reduce", "gather") and place != root:
        return definition.empty_like_part(xs[place])
    if name in ("reduce", "allreduce"):
        return definition.reduce(xs, call.op)
    if name in ("gather", "allgather"):
        return definition.join(xs)
    if name == "reduce_scatter":
        cut = even_split(len(xs[0]), len(xs)) if sizes is None else sizes
        return definition.reduce([x[definition.bounds(cut, place)] for x in xs], call.op)
    if name == "alltoall":
        return definition.exchange(xs, sizes, place)
    return np.empty(0)
