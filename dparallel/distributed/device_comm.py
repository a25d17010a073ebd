"""torch.nn.parallel.comm: tensors between local devices, with PyTorch's arguments. All functions are recorded for backward.

All devices are memory of this process, so a destination has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd.base.docstrings import attach_to_modules

from ..autograd import Tensor
from ..comm import Devices
from ..functions import Broadcast, as_tuple
from ..pytree.coalesced import broadcast_coalesced as _broadcast_coalesced
from ..pytree.coalesced import reduce_add as _reduce_add
from ..pytree.coalesced import reduce_add_coalesced as _reduce_add_coalesced
from .device_functions import Gather, Scatter

BUFFER_SIZE = 10485760


def broadcast(tensor: Tensor, devices: Sequence[int] | None = None, *,
              out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """A copy of the tensor for each device, or in each tensor of out."""
    if (devices is None) == (out is None):
        raise RuntimeError(f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and out={out}")
    if out is not None:
        return tuple(x.copy_(tensor) for x in out)
    return as_tuple(Broadcast.apply(tensor, comm=_devices(devices)))


def broadcast_coalesced(tensors: Sequence[Tensor], devices: Sequence[int],
                        buffer_size: int = BUFFER_SIZE) -> tuple[list[Tensor], ...]:
    """Copies of several tensors for each device, in few messages. Returns a list for each device."""
    return tuple(list(copies) for copies in _broadcast_coalesced(tensors, _devices(devices), buffer_size))


def reduce_add(inputs: Sequence[Tensor], destination: int | None = None) -> Tensor:
    """The sum of the devices' tensors."""
    return _reduce_add(list(inputs), Devices(len(inputs)))


def reduce_add_coalesced(inputs: Sequence[Sequence[Tensor]], destination: int | None = None,
                         buffer_size: int = BUFFER_SIZE) -> tuple[Tensor, ...]:
    """The sums over devices of several tensors, in few messages."""
    return _reduce_add_coalesced([list(tensors) for tensors in inputs], Devices(len(inputs)), buffer_size)


def scatter(tensor: Tensor, devices: Sequence[int] | None = None, chunk_sizes: Sequence[int] | None = None, dim: int = 0,
            streams: Any = None, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Split the rows of a tensor along dim for the devices, or for the tensors of out."""
    if out is None:
        return as_tuple(Scatter.apply(_devices(devices).names, chunk_sizes, dim, tensor))
    if devices is not None or chunk_sizes is not None:
        raise RuntimeError(f"'devices' and 'chunk_sizes' must not be specified when 'out' is specified, but got "
                           f"devices={devices}, chunk_sizes={chunk_sizes}")
    parts = as_tuple(Scatter.apply(range(len(out)), [x.size(dim) for x in out], dim, tensor))
    return tuple(x.copy_(part) for x, part in zip(out, parts, strict=True))


def gather(tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Concatenate the devices' tensors along dim, or write them into out."""
    joined: Tensor = Gather.apply(0, dim, *tensors)
    if out is None:
        return joined
    if destination is not None:
        raise RuntimeError(f"'destination' must not be specified when 'out' is specified, but got destination={destination}")
    return out.copy_(joined)


def _devices(devices: Sequence[int] | None) -> Devices:
    """The local devices with these numbers."""
    if devices is None:
        raise RuntimeError("devices must be specified: a list of local devices, such as [0, 1]")
    return Devices(list(devices))


attach_to_modules("dparallel.distributed")
__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]
