"""Conversion between an optimizer's state over slices and over whole parameters, to load it on any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.core.tensor import result
from autograd.optim import LAMB, LARS, Adafactor, Muon
from autograd.optim.elementwise import Elementwise

from ..autograd import Tensor
from .parameters import Shard


def check_elementwise(optimizer: Any, *others: type) -> None:
    """NotImplementedError for an optimizer whose step requires whole parameters."""
    if isinstance(optimizer, (LARS, LAMB, Adafactor, Muon, *others)):
        raise NotImplementedError(f"{type(optimizer).__name__} requires norms or products of whole parameters, but this "
                                  "rank holds a slice of each; use an elementwise one (SGD, AdamW, ...), or "
                                  "shard=None")


def _numbered(optimizer: Any, packed: dict[str, Any]) -> Any:
    """(slice, number in `packed`, group) for each slice that has one."""
    for group, numbers in zip(optimizer.param_groups, packed["param_groups"], strict=True):
        for p, number in zip(group["params"], numbers["params"], strict=True):
            if getattr(p, "shard", None) is not None and number in packed["state"]:
                yield p, number, group


def local_state(optimizer: Any) -> dict[str, Any]:
    """optimizer.state_dict() as stored on this rank: slices are not concatenated. Not collective."""
    hooks = optimizer._optimizer_state_dict_post_hooks
    joining = {key: hook for key, hook in hooks.items() if hook is full_state}
    for key in joining:
        del hooks[key]
    try:
        packed: dict[str, Any] = optimizer.state_dict()
    finally:
        hooks.update(joining)
    return packed


def full_state(optimizer: Any, packed: dict[str, Any], root: int | None = None) -> dict[str, Any]:
    """optimizer.state_dict() with whole tensors, on all ranks or on root only (elsewhere empty tensors).

    Collective. RuntimeError on all ranks if some hold state that others do not.
    """
    pairs = list(_numbered(optimizer, packed))
    shards = [p.shard for group in optimizer.param_groups for p in group["params"] if getattr(p, "shard", None) is not None]
    if not shards:
        return packed
    comm = shards[0].comm
    mine = [(p.shard.name, sorted(packed["state"][number])) for p, number, _ in pairs]
    everyone = comm.allgather_object([mine])
    for rank, theirs in enumerate(everyone):
        if theirs != everyone[0]:
            raise RuntimeError(f"rank {rank} holds optimizer state {theirs}, rank 0 {everyone[0]}: they did not take the "
                               "same steps")
    state = dict(packed["state"])
    for p, number, _ in pairs:
        state[number] = {name: _whole(value, p, root) for name, value in state[number].items()}
    in_order = sorted(state, key=lambda number: (not isinstance(number, int), number if isinstance(number, int) else 0))
    return {**packed, "state": {number: state[number] for number in in_order}}


def is_slice(value: Any, p: Any) -> bool:
    """Whether a value in the state of the slice p is itself a slice, of a tensor shaped like the whole parameter."""
    return isinstance(value, Tensor) and value.array.ndim > 0 and value.array.shape == p.array.shape


def _whole(value: Any, p: Any, root: int | None) -> Any:
    """A state tensor shaped like the slice, gathered over ranks; anything else unchanged."""
    if not is_slice(value, p):
        return value
    shard: Shard = p.shard
    piece = value.array.reshape(-1)
    if root is None:
        return result(shard.comm.allgather([piece])[0].reshape(shard.shape))
    joined = shard.comm.gather([piece], root)
    return result(joined.reshape(shard.shape) if shard.comm.rank == root else joined)


def cut_state(optimizer: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The result of full_state(), with this rank's elements instead of whole tensors. Not collective."""
    state = dict(given["state"])
    mine = optimizer.param_groups
    if [len(g["params"]) for g in mine] == [len(g["params"]) for g in given["param_groups"]]:
        for p, number, group in _numbered(optimizer, given):
            arrays = optimizer.arrays(group) if isinstance(optimizer, Elementwise) else ()
            state[number] = {name: _piece(value, p, name in arrays) for name, value in state[number].items()}
    return {**given, "state": state}


def _piece(value: Any, p: Any, surely: bool) -> Any:
    """This rank's elements of a tensor shaped like the whole parameter; anything else unchanged."""
    array = value.array if isinstance(value, Tensor) else value if isinstance(value, np.ndarray) else None
    shard: Shard = p.shard
    if array is None or array.shape != shard.shape or not (array.shape or surely):
        return value
    return result(array.reshape(-1)[shard.start:shard.stop].reshape(p.array.shape).copy())
