"""torch.nn.parallel._functions: PyTorch's Functions between devices, over the collectives of local devices.

They have PyTorch's positional arguments, and each backward calls its partner's apply. All devices are memory of this
process, so a destination has no effect. dparallel.functions also work between ranks.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from ..autograd import Function, Tensor, device
from ..comm import Devices
from ..functions import Gather as GatherRows
from ..functions import Scatter as ScatterRows
from ..functions import as_tuple
from ..pytree.coalesced import broadcast_coalesced, reduce_add_coalesced


def numbers(devices: Iterable[Any]) -> tuple[int, ...]:
    """The devices' numbers, from ints, "cuda:1" or device("cuda:1"). If they are not distinct, as for CPUs, 0, 1, 2, ..."""
    found = [d if isinstance(d, int) else device(d).index for d in devices]
    named = tuple([number for number in found if number is not None])
    return named if len(set(named)) == len(found) else tuple(range(len(found)))


def chunks(rows: int, parts: int) -> list[int]:
    """The rows of each part, as for chunk(): all as large as the first, except the last. There may be fewer parts."""
    size = -(-rows // parts)
    return [min(size, rows - start) for start in range(0, rows, size)] if rows else [0] * parts


def _get_stream(device: Any) -> None:
    """None: there are no streams on the CPU."""


def __getattr__(name: str) -> Any:
    """The module comm, which imports this one."""
    if name == "comm":
        return importlib.import_module(".device_comm", __package__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Broadcast(Function):
    """Copies of the inputs on each device: all inputs on the first one, then all on the second, and so on."""

    @staticmethod
    def forward(ctx: Any, target_gpus: Sequence[int], *inputs: Tensor) -> tuple[Tensor, ...]:
        """For each device the inputs, in few messages."""
        ctx.target_gpus, ctx.num_inputs = numbers(target_gpus), len(inputs)
        if not inputs:
            return ()
        outputs = broadcast_coalesced(inputs, Devices(ctx.target_gpus))
        ctx.mark_non_differentiable(*[copies[i] for i, needed in enumerate(ctx.needs_input_grad[1:]) if not needed
                                      for copies in outputs])
        return tuple(chain.from_iterable(outputs))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Any, ...]:
        """For each input the sum of its copies' gradients."""
        sums: tuple[Any, ...] = ReduceAddCoalesced.apply(ctx.target_gpus[0], ctx.num_inputs, *grad_outputs)
        return (None, *sums)


class ReduceAddCoalesced(Function):
    """The sums over devices of num_inputs tensors on each, ordered as Broadcast returns them."""

    @staticmethod
    def forward(ctx: Any, destination: int, num_inputs: int, *grads: Tensor) -> tuple[Tensor, ...]:
        """The sum of each tensor's copies, in device order."""
        if num_inputs < 1 or len(grads) % num_inputs:
            raise ValueError(f"ReduceAddCoalesced: {len(grads)} tensors are not {num_inputs} on each of some devices")
        ctx.target_gpus = tuple(range(len(grads) // num_inputs))
        return reduce_add_coalesced([grads[i:i + num_inputs] for i in range(0, len(grads), num_inputs)],
                                    Devices(ctx.target_gpus))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Any, ...]:
        """The gradient of a sum for each of its terms."""
        copies: tuple[Any, ...] = Broadcast.apply(ctx.target_gpus, *grad_outputs)
        return (None, None, *copies)


class Gather(Function):
    """Concatenate the tensors of all devices along dim. 0-d tensors become one vector, with a warning."""

    @staticmethod
    def forward(ctx: Any, target_device: int | str, dim: int, *inputs: Tensor) -> Tensor:
        """Gather over as many local devices as there are inputs."""
        ctx.unsqueezed_scalar = all(x.dim() == 0 for x in inputs) and dim == 0
        if ctx.unsqueezed_scalar:
            warnings.warn("Was asked to gather along dimension 0, but all input tensors were scalars; will instead "
                          "unsqueeze and return a vector.", stacklevel=2)
            inputs = tuple(x.view(1) for x in inputs)
        ctx.dim, ctx.input_gpus = dim, tuple(range(len(inputs)))
        ctx.input_sizes = tuple(x.size(dim) for x in inputs)
        joined: Tensor = GatherRows.apply(*inputs, comm=Devices(len(inputs)), dim=dim)
        return joined

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
        """Each device's rows of the gradient."""
        parts = as_tuple(Scatter.apply(ctx.input_gpus, ctx.input_sizes, ctx.dim, grad_output))
        return (None, None, *(part[0] if ctx.unsqueezed_scalar else part for part in parts))


class Scatter(Function):
    """Split the rows of a tensor along dim for the devices."""

    @staticmethod
    def forward(ctx: Any, target_gpus: Sequence[int], chunk_sizes: Sequence[int] | None, dim: int,
                input: Tensor) -> tuple[Tensor, ...]:
        """Scatter over the local devices with these numbers."""
        ctx.dim = dim
        devices = numbers(target_gpus)
        sizes = chunks(input.size(dim), len(devices)) if chunk_sizes is None else list(chunk_sizes)
        devices = devices if chunk_sizes is not None else devices[:len(sizes)]
        return as_tuple(ScatterRows.apply(input, comm=Devices(devices), sizes=sizes, dim=dim))

    @staticmethod
    def backward(ctx: Any, *grad_output: Tensor) -> tuple[Any, ...]:
        """The devices' gradients, joined."""
        return None, None, None, Gather.apply(0, ctx.dim, *grad_output)


__all__ = ["Broadcast", "Gather", "ReduceAddCoalesced", "Scatter"]
