"""torch.nn.parallel.comm: tensors between local devices, with PyTorch's arguments. All functions are recorded for backward.

All devices are memory of this process, so a destination has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    """A copy of the tensor for each device, or in each tensor of out.

    Args:
        tensor (Tensor): The tensor to copy.
        devices (list of int): The devices; or pass out.
        out (list of Tensor): Outputs of the same shape and dtype. Default: None.

    Raises:
        RuntimeError: neither or both of devices and out are passed.

    Example:
        >>> ag.nn.parallel.comm.broadcast(ag.ones(1), [0, 1])
        (tensor([1.]), tensor([1.]))
    """
    if (devices is None) == (out is None):
        raise RuntimeError(f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and out={out}")
    if out is not None:
        return tuple(x.copy_(tensor) for x in out)
    return as_tuple(Broadcast.apply(tensor, comm=_devices(devices)))


def broadcast_coalesced(tensors: Sequence[Tensor], devices: Sequence[int],
                        buffer_size: int = BUFFER_SIZE) -> tuple[list[Tensor], ...]:
    """Copies of several tensors for each device, in few messages. Returns a list for each device.

    Args:
        tensors (list of Tensor): The tensors to copy.
        devices (list of int): The devices.
        buffer_size (int): Bytes of a message. Default: 10485760.

    Example:
        >>> ag.nn.parallel.comm.broadcast_coalesced([ag.ones(1), ag.zeros(1)], [0, 1])
        ([tensor([1.]), tensor([0.])], [tensor([1.]), tensor([0.])])
    """
    return tuple(list(copies) for copies in _broadcast_coalesced(tensors, _devices(devices), buffer_size))


def reduce_add(inputs: Sequence[Tensor], destination: int | None = None) -> Tensor:
    """The sum of the devices' tensors.

    Args:
        inputs (list of Tensor): One for each device, of one shape and dtype.
        destination (int): Without effect.

    Example:
        >>> ag.nn.parallel.comm.reduce_add([ag.ones(1), ag.ones(1)])
        tensor([2.])
    """
    return _reduce_add(list(inputs), Devices(len(inputs)))


def reduce_add_coalesced(inputs: Sequence[Sequence[Tensor]], destination: int | None = None,
                         buffer_size: int = BUFFER_SIZE) -> tuple[Tensor, ...]:
    """The sums over devices of several tensors, in few messages.

    Args:
        inputs (list of list of Tensor): For each device its tensors.
        destination (int): Without effect.
        buffer_size (int): Bytes of a message. Default: 10485760.

    Example:
        >>> ag.nn.parallel.comm.reduce_add_coalesced([[ag.ones(1), ag.ones(2)], [ag.ones(1), ag.ones(2)]])
        (tensor([2.]), tensor([2., 2.]))
    """
    return _reduce_add_coalesced([list(tensors) for tensors in inputs], Devices(len(inputs)), buffer_size)


def scatter(tensor: Tensor, devices: Sequence[int] | None = None, chunk_sizes: Sequence[int] | None = None, dim: int = 0,
            streams: Any = None, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Split the rows of a tensor along dim for the devices, or for the tensors of out.

    Args:
        tensor (Tensor): The tensor to split.
        devices (list of int): The devices; or pass out.
        chunk_sizes (list of int): The rows of each device. Default: an even split.
        dim (int): The dimension to split. Default: 0.
        streams: Ignored: the CPU has no streams.
        out (list of Tensor): Outputs; their sizes along dim are those of the parts. Default: None.

    Raises:
        RuntimeError: neither or both of devices and out are passed, or chunk_sizes with out.

    Example:
        >>> ag.nn.parallel.comm.scatter(ag.arange(3), [0, 1], [1, 2])
        (tensor([0]), tensor([1, 2]))
    """
    if out is None:
        return as_tuple(Scatter.apply(_devices(devices).names, chunk_sizes, dim, tensor))
    if devices is not None or chunk_sizes is not None:
        raise RuntimeError(f"'devices' and 'chunk_sizes' must not be specified when 'out' is specified, but got "
                           f"devices={devices}, chunk_sizes={chunk_sizes}")
    parts = as_tuple(Scatter.apply(range(len(out)), [x.size(dim) for x in out], dim, tensor))
    return tuple(x.copy_(part) for x, part in zip(out, parts, strict=True))


def gather(tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Concatenate the devices' tensors along dim, or write them into out.

    Args:
        tensors (list of Tensor): One for each device.
        dim (int): The dimension of rows. Default: 0.
        destination: Without effect.
        out (Tensor): The output. Default: None.

    Raises:
        RuntimeError: both destination and out are passed.

    Example:
        >>> ag.nn.parallel.comm.gather([ag.zeros(1), ag.ones(2)])
        tensor([0., 1., 1.])
    """
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


__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]
