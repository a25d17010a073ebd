"""Replicas: a module for each held place, whose parameters are copies that lead back to the original's."""

from __future__ import annotations

from typing import Any

from autograd import Tensor, as_tensor
from autograd.nn import Module

from .comm import Communicator
from .functions import Broadcast, as_tuple


def replicate(module: Module, comm: Communicator, root: int = 0) -> list[Module]:
    """One replica of root's `module` for each place held here, by Broadcast: gradients add up on root's parameters.

    The first place's replica shares its buffers with the module, so what forward writes to them there is kept.
    """
    copies: dict[int, tuple[Any, ...]] = {}
    for parameter in module.parameters():
        copies[id(parameter)] = as_tuple(Broadcast.apply(parameter, comm=comm, root=root))
    for buffer in module.buffers():
        copied = comm.broadcast(buffer.array, root)
        copies[id(buffer)] = tuple(buffer if place == 0 else as_tensor(array)
                                   for place, array in zip(comm.held, copied, strict=True))
    return [_replica(module, {key: value[i] for key, value in copies.items()}, {}) for i in range(len(comm.held))]


def _replica(module: Module, copies: dict[int, Any], made: dict[int, Module]) -> Module:
    """A shallow copy of the tree under `module`, with copies for its parameters and buffers."""
    if id(module) in made:                           # a module used twice is one replica, too
        return made[id(module)]
    replica = made[id(module)] = object.__new__(type(module))
    replaced = []
    for name, value in module.__dict__.items():
        if isinstance(value, Tensor) and id(value) in copies:
            replaced.append(name)
            value = copies[id(value)]
        elif isinstance(value, Module):
            value = _replica(value, copies, made)
        replica.__dict__[name] = value
    replica.__dict__["_replica_parameters"] = tuple(
        name for name in replaced if name not in module.__dict__.get("_buffer_names", {}))
    return replica
