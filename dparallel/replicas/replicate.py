"""Replicas: a copy of a module for each local rank. Backward adds the gradients of all replicas to the original's.

On local devices the replicas' parameters are views of the original's memory: copying 0.67 million parameters took 0.5 ms of
a step of 10 ms. local.py and virtual_shards.py run them.
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

from autograd.core.graph import shared_counter
from autograd.nn import Module

from ..autograd import Function, Tensor, as_tensor
from ..comm import CommOrDevices, Communicator, Devices, comm_or_devices
from ..comm.reference import is_half
from ..functions import Broadcast, Reduce, as_tuple


def shared_view(x: Tensor, writable: bool = False) -> Tensor:
    """A Tensor of the same memory and version counter, read-only unless `writable`."""
    view = x.array.view()
    view.flags.writeable = view.flags.writeable and writable
    alias = as_tensor(view)
    alias.counter = shared_counter(x)
    return alias


class SharedBroadcast(Function):
    """Tensors -> `count` views of each, those of one tensor in a row. Only root's views are writable.

    One node for all parameters: a node for each of six took 0.3 ms of a step. Gradients are added in rank order.
    """

    @staticmethod
    def forward(ctx: Any, *xs: Tensor, count: int, root: int) -> tuple[Tensor, ...]:
        """Views with the version counters of the tensors, so that backward detects writes to values saved from a view."""
        ctx.count = count
        ctx.set_materialize_grads(False)             # unused parameters get no gradient
        return tuple(shared_view(x, rank == root) for x in xs for rank in range(count))

    @staticmethod
    def backward(ctx: Any, *gs: Tensor | None) -> tuple[Tensor | None, ...]:
        """For each tensor the sum of its views' gradients, None where no view has one."""
        n = ctx.count
        return tuple(_sum([g for g in gs[i:i + n] if g is not None]) for i in range(0, len(gs), n))

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor | None) -> tuple[Tensor | None, ...]:
        """The tangent of each tensor for all its views."""
        return tuple(t for t in tangents for _ in range(ctx.count))


def _sum(grads: list[Tensor]) -> Tensor | None:
    """The sum in order, None for an empty list. More than two gradients of half precision are rounded once, by Reduce."""
    if len(grads) > 2 and is_half(grads[0].dtype):
        return Reduce.apply(*grads, comm=Devices(len(grads)))
    return functools.reduce(operator.add, grads) if grads else None


def replicate(network: Module, comm: CommOrDevices = None, detach: bool = False, root: int = 0, *,
              devices: CommOrDevices = None) -> list[Module]:
    """Copy root's `network` to each local rank. Gradients of all replicas accumulate on root's parameters, unless `detach`.

    On local devices the replicas' parameters share the module's memory, and only the first replica may write to them (others
    raise ValueError, "read-only"); it also shares the module's buffers, so that its forward's writes are kept.
    """
    return ModuleTree(network).replicate(comm_or_devices(comm if devices is None else devices), detach, root)


class ModuleTree:
    """The submodules, parameters and buffers of a module at one moment, from which replicas are created. Finding them takes
    0.1 ms of a step, so it is reused as long as it is_current()."""

    def __init__(self, module: Module) -> None:
        if not isinstance(module, Module):
            raise TypeError(f"replicate() requires a Module, not {type(module).__name__}")
        self.parameters: list[Tensor] = list(module.parameters())
        self.buffers: list[Tensor] = list(module.buffers())
        self._modules: list[Module] = []
        self._numbers: dict[int, int] = {}           # by id: a module used twice has one replica
        self._add_module(module)
        self._members = self._held()

    def _add_module(self, module: Module) -> None:
        """Add the module and, recursively, its submodules."""
        self._numbers[id(module)] = len(self._modules)
        self._modules.append(module)
        for child in module.children():
            if id(child) not in self._numbers:
                self._add_module(child)

    def _held(self) -> list[tuple[list[str], list[Any]]]:
        """The names and values in the dicts of all modules."""
        return [(list(held), list(held.values())) for m in self._modules for held in (m._parameters, m._buffers, m._modules)]

    def is_current(self) -> bool:
        """Whether all modules still have the same parameters, buffers and submodules."""
        return all(names == before and all(map(operator.is_, values, held))
                   for (names, values), (before, held) in zip(self._held(), self._members, strict=True))

    def replicate(self, comm: Communicator, detach: bool = False, root: int = 0) -> list[Module]:
        """The list of replicas that replicate() returns."""
        sources = [(id(p), p.detach() if detach else p) for p in self.parameters]
        if not isinstance(comm, Devices):
            return self.replicas({key: as_tuple(Broadcast.apply(source, comm=comm, root=root)) for key, source in sources},
                                 comm, root)
        copies: dict[int, tuple[Tensor, ...]] = {}
        for trained in (True, False):                # two calls: in one, the views of frozen parameters would require grad
            selected = [(key, source) for key, source in sources if source.requires_grad == trained]
            if selected:
                views = iter(SharedBroadcast.apply(*[source for _, source in selected], count=comm.size, root=root))
                copies.update((key, tuple(itertools.islice(views, comm.size))) for key, _ in selected)
        return self.replicas(copies, comm, root)

    def replicas(self, copies: dict[int, tuple[Tensor, ...]], comm: Communicator, root: int = 0) -> list[Module]:
        """Replicas with parameters `copies` (by the original's id, one for each rank) and copies of root's buffers."""
        for buffer in self.buffers:
            copied = comm.broadcast(buffer.array, root)
            copies[id(buffer)] = tuple(buffer if rank == 0 else as_tensor(array)
                                       for rank, array in zip(comm.held, copied, strict=True))
        return [self._replica(copies, i) for i in range(len(comm.held))]

    def _replica(self, copies: dict[int, tuple[Tensor, ...]], rank: int) -> Module:
        """A shallow copy of each module, with this rank's copies as its parameters and buffers. Returns the root's."""
        replicas = [module._replicate_for_data_parallel() for module in self._modules]
        for replica in replicas:
            for tensors in (replica._parameters, replica._buffers):
                tensors.update((name, copies[id(tensor)][rank]) for name, tensor in tensors.items() if id(tensor) in copies)
            replica._modules.update((name, replicas[self._numbers[id(child)]]) for name, child in replica._modules.items()
                                    if child is not None)
        return replicas[0]

    def copy_back_buffers(self, replica: Module) -> None:
        """Give the module the buffers that the first replica's forward has replaced (self.n = self.n + 1) or registered."""
        replicas: list[Any] = [None] * len(self._modules)
        replicas[0] = replica
        for module, made in zip(self._modules, replicas, strict=True):       # a module's number is above its parent's
            for name, child in () if made is None else module._modules.items():
                if child is not None:
                    replicas[self._numbers[id(child)]] = made._modules.get(name)
            for name, buffer in () if made is None else made._buffers.items():
                if name not in module._buffers:
                    module.register_buffer(name, buffer, name not in made._non_persistent_buffers_set)
                elif buffer is not module._buffers[name]:
                    setattr(module, name, buffer)
