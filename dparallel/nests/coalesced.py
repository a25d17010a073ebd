"""Many tensors in few messages: broadcast_coalesced, reduce_add and reduce_add_coalesced, as in torch.nn.parallel.comm.

All are recorded, and all ranks pass tensors of the same shapes and dtypes; ValueError or TypeError on all of them if not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autograd import Tensor, cat

from ..comm import Communicator, Places, communicator, gather_target, places_of
from ..functions import Broadcast, Reduce, as_tuple
from .tree import nests
from .vectors import grouped

BUFFER_SIZE = 10 << 20                               # bytes; PyTorch's figure


def broadcast_coalesced(tensors: Any, comm: Places = None, buffer_size: int = BUFFER_SIZE, *, root: int = 0,
                        devices: Places = None) -> list[tuple[Tensor, ...]]:
    """root's tensors (any iterable of them) to every place, in messages of about buffer_size bytes: a tuple of copies for
    each place held here. What others pass is read for its shapes and dtypes only. comm (or devices) may be a number of local
    devices, or their list."""
    comm = places_of(comm if devices is None else devices)
    tensors = _listed(tensors)
    groups = _grouped("broadcast_coalesced", [tensors] * len(comm.held), comm, buffer_size)
    copies: list[dict[int, Tensor]] = [{} for _ in comm.held]
    for group in groups:
        sent = as_tuple(Broadcast.apply(_flat([tensors[i] for i in group]), comm=comm, root=root))
        for copy, flat in zip(copies, sent, strict=True):
            copy.update(zip(group, _cut(flat, [tensors[i] for i in group]), strict=True))
    return [tuple(copy[i] for i in range(len(tensors))) for copy in copies]


def reduce_add(inputs: Sequence[Tensor], comm: Communicator | int | None = None, root: int = 0, *,
               destination: int | None = None) -> Tensor:
    """The sum of all places' tensors (a list, one for each place held here) on root; an empty tensor elsewhere. comm may be
    the number of a local device, PyTorch's destination: inputs are those of as many devices as there are."""
    inputs = nests(inputs)
    comm, root = gather_target(len(inputs), comm if destination is None else destination, root)
    total: Tensor = Reduce.apply(*inputs, comm=comm, root=root)
    return total


def reduce_add_coalesced(inputs: Sequence[Sequence[Tensor]], comm: Communicator | int | None = None,
                         buffer_size: int = BUFFER_SIZE, *, root: int = 0,
                         destination: int | None = None) -> tuple[Tensor, ...]:
    """The sums of all places' lists of tensors (a list of them, one for each place held here; bare, if that is one) on root,
    in messages of about buffer_size bytes; empty tensors elsewhere. comm, destination: as in reduce_add."""
    comm = comm if destination is None else destination
    inputs = [_listed(one) for one in _lists(nests(inputs), comm)]
    comm, root = gather_target(len(inputs), comm, root)
    groups = _grouped("reduce_add_coalesced", inputs, comm, buffer_size)
    sums: dict[int, Tensor] = {}
    for group in groups:
        total = Reduce.apply(*[_flat([one[i] for i in group]) for one in inputs], comm=comm, root=root)
        here = root in comm.held
        sums.update(zip(group, _cut(total, [inputs[0][i] for i in group]) if here else [total] * len(group), strict=True))
    return tuple(sums[i] for i in range(len(sums)))


def _lists(inputs: Sequence[Any], comm: Any) -> Sequence[Any]:
    """One place's tensors as a list of lists."""
    one = comm is None or (not isinstance(comm, (int, np.integer)) and len(communicator(comm).held) == 1)
    return [inputs] if one and all(isinstance(x, Tensor) for x in inputs) else inputs


def _listed(tensors: Any) -> Any:
    """An iterable of tensors as a list; else as it is, for _grouped() to refuse on all ranks."""
    return list(tensors) if isinstance(tensors, Iterable) and not isinstance(tensors, Tensor) else tensors


def _layout(tensors: Any, buffer_size: Any) -> Any:
    """The tensors' shapes and dtypes; text that says what is wrong with them."""
    wrong = [tensors] if not isinstance(tensors, list) else [t for t in tensors if not isinstance(t, Tensor)]
    if wrong:
        return ("takes a list of tensors for each place, not "
                + "one of " * isinstance(tensors, list) + type(wrong[0]).__name__)
    if not isinstance(buffer_size, (int, float)) or buffer_size <= 0:
        return f"buffer_size={buffer_size!r} must be a positive number"
    return [(tuple(t.shape), str(t.dtype)) for t in tensors]


def _grouped(name: str, lists: list[Any], comm: Communicator, buffer_size: int) -> list[list[int]]:
    """Which tensors share a message, of one dtype; the same on all ranks, which pass alike lists."""
    everyone = comm.allgather_object([_layout(one, buffer_size) for one in lists])
    for place, theirs in enumerate(everyone):
        if isinstance(theirs, str):
            raise (ValueError if "buffer_size" in theirs else TypeError)(f"{name}: {theirs} (on place {place})")
    for place, theirs in enumerate(everyone):
        if theirs != everyone[0]:
            pairs = [*zip(everyone[0], theirs, strict=False)]
            at = next((i for i, (a, b) in enumerate(pairs) if a != b), len(pairs))
            raise ValueError(f"{name}: the tensors differ between places 0 and {place}, first at number {at}: "
                             f"{everyone[0][at:at + 1]} and {theirs[at:at + 1]}")
    mine = lists[0]
    return grouped(range(len(mine)), lambda i: str(mine[i].dtype), lambda i: mine[i].array.nbytes, buffer_size)


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    joined: Tensor = cat([t.reshape(-1) for t in tensors])
    return joined


def _cut(flat: Any, like: Sequence[Tensor]) -> list[Tensor]:
    """flat as tensors of the shapes of `like`."""
    return [piece.reshape(t.shape) for piece, t in zip(flat.split([t.numel() for t in like]), like, strict=True)]


__all__ = ["broadcast_coalesced", "reduce_add", "reduce_add_coalesced"]
