"""scatter and gather of nests: tuples, lists and dicts of tensors cut for all places, and joined from all places."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from autograd import Tensor

from .comm import Communicator
from .functions import Gather, Scatter, as_tuple
from .tree import leaves, rebuilt


def scatter(inputs: Any, comm: Communicator, root: int = 0, dim: int = 0) -> list[Any]:
    """root's nest of tensors cut along dim: one nest for each place held here. What is no tensor goes along as it is.

    ValueError, naming both, if two tensors have different numbers of rows. Over ranks every one passes the same nest of
    tensors; only the root's values count (others may pass None for each tensor, or empty ones).
    """
    rows = {path: value.shape[dim] for path, value in leaves(inputs)
            if isinstance(value, Tensor) and value.ndim and root in comm.held}
    problem = ""
    if len(set(rows.values())) > 1:
        first, other = next(iter(rows.items())), next(i for i in rows.items() if i[1] != next(iter(rows.values())))
        problem = (f"scatter: {first[0] or 'the input'} has {first[1]} rows along dim {dim}, {other[0]} has {other[1]}; "
                   "tensors of one batch have equally many")
    layout = comm.broadcast_object((problem, [isinstance(v, Tensor) and v.ndim > 0 for _, v in leaves(inputs)]), root) \
        if len(comm.held) < comm.size else (problem, None)
    if layout[0]:
        raise ValueError(layout[0])
    flags = iter(layout[1]) if layout[1] is not None else None
    pieces: list[tuple[Any, ...]] = []
    for _, value in leaves(inputs):
        cut = next(flags) if flags is not None else isinstance(value, Tensor) and value.ndim > 0
        given = value if isinstance(value, Tensor) else None
        pieces.append(as_tuple(Scatter.apply(given, comm=comm, root=root, dim=dim)) if cut
                      else (value,) * len(comm.held))
    nests = []
    for i in range(len(comm.held)):
        position = iter(range(len(pieces)))
        nests.append(rebuilt(inputs, functools.partial(_next_piece, pieces, position, i)))
    return nests


def _next_piece(pieces: list[tuple[Any, ...]], position: Iterator[int], place: int, _: Any) -> Any:
    """The piece of one place for the next leaf of a nest."""
    return pieces[next(position)][place]


def gather(outputs: Sequence[Any], comm: Communicator, root: int = 0, dim: int = 0) -> Any:
    """The nests of all places as one, tensors joined along dim on root (0-d ones as a vector), empty ones elsewhere."""
    columns = [[value for _, value in leaves(output)] for output in outputs]
    if any(len(column) != len(columns[0]) for column in columns):
        raise ValueError(f"gather: the outputs have {[len(c) for c in columns]} leaves; all places must give the same "
                         "nest")
    joined = []
    for values in zip(*columns, strict=True):
        if isinstance(values[0], Tensor):
            joined.append(Gather.apply(*values, comm=comm, root=root, dim=dim))
        elif all(v is None for v in values):
            joined.append(None)
        else:
            raise TypeError(f"gather: outputs are tensors and None in tuples, lists and dicts, not "
                            f"{type(values[0]).__name__}")
    position = iter(joined)
    return rebuilt(outputs[0], lambda _: next(position))
