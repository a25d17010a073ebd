"""Many tensors in few messages: broadcast_coalesced, reduce_add and reduce_add_coalesced, as in torch.nn.parallel.comm.

All three are recorded for backward. All ranks pass the same shapes and dtypes; otherwise all raise the same ValueError or
TypeError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..autograd import Tensor, cat
from ..comm import CommOrDevices, Communicator, comm_or_devices, communicator, gather_target
from ..functions import Broadcast, Reduce, as_tuple
from .flat_arrays import group_within
from .tree import trees_per_rank

BUFFER_SIZE = 10 << 20                               # bytes; PyTorch's default


def broadcast_coalesced(tensors: Iterable[Tensor], comm: CommOrDevices = None, buffer_size: int = BUFFER_SIZE, *,
                        root: int = 0, devices: CommOrDevices = None) -> list[tuple[Tensor, ...]]:
    """Send root's tensors to every rank, in messages of about buffer_size bytes: a tuple of copies for each local rank."""
    comm = comm_or_devices(comm if devices is None else devices)
    listed = _as_list(tensors)
    groups = _plan_messages("broadcast_coalesced", [listed] * len(comm.held), comm, buffer_size)
    copies: list[dict[int, Tensor]] = [{} for _ in comm.held]
    for group in groups:
        vectors = as_tuple(Broadcast.apply(_flatten([listed[i] for i in group]), comm=comm, root=root))
        for copy, vector in zip(copies, vectors, strict=True):
            copy.update(zip(group, _unflatten(vector, [listed[i] for i in group]), strict=True))
    return [tuple(copy[i] for i in range(len(listed))) for copy in copies]


def reduce_add(inputs: Sequence[Tensor], comm: Communicator | int | None = None, root: int = 0, *,
               destination: int | None = None) -> Tensor:
    """The sum of all ranks' tensors on root; an empty tensor on other ranks."""
    inputs = trees_per_rank(inputs)
    comm, root = gather_target(len(inputs), comm if destination is None else destination, root)
    total: Tensor = Reduce.apply(*inputs, comm=comm, root=root)
    return total


def reduce_add_coalesced(inputs: Sequence[Sequence[Tensor]], comm: Communicator | int | None = None,
                         buffer_size: int = BUFFER_SIZE, *, root: int = 0,
                         destination: int | None = None) -> tuple[Tensor, ...]:
    """The sums of all ranks' lists of tensors on root, in messages of about buffer_size bytes; empty tensors elsewhere."""
    comm = comm if destination is None else destination
    inputs = [_as_list(tensors) for tensors in _as_lists(trees_per_rank(inputs), comm)]
    comm, root = gather_target(len(inputs), comm, root)
    groups = _plan_messages("reduce_add_coalesced", inputs, comm, buffer_size)
    sums: dict[int, Tensor] = {}
    for group in groups:
        total = Reduce.apply(*[_flatten([tensors[i] for i in group]) for tensors in inputs], comm=comm, root=root)
        on_root = root in comm.held
        results = _unflatten(total, [inputs[0][i] for i in group]) if on_root else [total] * len(group)
        sums.update(zip(group, results, strict=True))
    return tuple(sums[i] for i in range(len(sums)))


def _as_lists(inputs: Sequence[Any], comm: Communicator | int | None) -> Sequence[Any]:
    """One list for each local rank, from the bare list of a process with one."""
    one_rank = comm is None or (not isinstance(comm, (int, np.integer)) and len(communicator(comm).held) == 1)
    return [inputs] if one_rank and all(isinstance(x, Tensor) for x in inputs) else inputs


def _as_list(tensors: Any) -> Any:
    """An iterable as a list; anything else unchanged, for _plan_messages() to reject on all ranks."""
    return list(tensors) if isinstance(tensors, Iterable) and not isinstance(tensors, Tensor) else tensors


def _layout(tensors: Any, buffer_size: Any) -> list[tuple[tuple[int, ...], str]] | str:
    """The tensors' shapes and dtypes, or a text that says what is wrong with the arguments."""
    wrong = [tensors] if not isinstance(tensors, list) else [t for t in tensors if not isinstance(t, Tensor)]
    if wrong:
        return ("requires a list of tensors for each local rank, not "
                + "one of " * isinstance(tensors, list) + type(wrong[0]).__name__)
    if not isinstance(buffer_size, (int, float)) or buffer_size <= 0:
        return f"buffer_size={buffer_size!r} must be a positive number"
    return [(tuple(t.shape), str(t.dtype)) for t in tensors]


def _plan_messages(name: str, lists: list[Any], comm: Communicator, buffer_size: int) -> list[list[int]]:
    """The indices of the tensors that share each message, all of one dtype: the same plan on all ranks, or the same error,
    which names the rank that differs."""
    layouts = comm.allgather_object([_layout(tensors, buffer_size) for tensors in lists])
    for rank, layout in enumerate(layouts):
        if isinstance(layout, str):
            raise (ValueError if "buffer_size" in layout else TypeError)(f"{name}: {layout} (on rank {rank})")
    for rank, layout in enumerate(layouts):
        if layout != layouts[0]:
            pairs = [*zip(layouts[0], layout, strict=False)]
            at = next((i for i, (a, b) in enumerate(pairs) if a != b), len(pairs))
            raise ValueError(f"{name}: the tensors differ between ranks 0 and {rank}, first at number {at}: "
                             f"{layouts[0][at:at + 1]} and {layout[at:at + 1]}")
    tensors = lists[0]
    return group_within(range(len(tensors)), lambda i: str(tensors[i].dtype), lambda i: tensors[i].array.nbytes, buffer_size)


def _flatten(tensors: Sequence[Tensor]) -> Tensor:
    """All elements in one vector, recorded for backward."""
    vector: Tensor = cat([t.reshape(-1) for t in tensors])
    return vector


def _unflatten(vector: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Consecutive parts of the vector in the shapes of the tensors `like`, recorded for backward."""
    return [part.reshape(t.shape) for part, t in zip(vector.split([t.numel() for t in like]), like, strict=True)]
