"""Gradients that travel in 16 bits: as float16 or bfloat16."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd import Tensor
from autograd.kernels.halves import converted

from ..comm import Communicator, Handle
from .bucket_hook import GradBucket
from .encoded import BFloat16, Codec, Float16, start_encoded_sum
from .feedback import wide

Hook = Callable[[Any, GradBucket], Any]


def fp16_compress_hook(process_group: Communicator | None, bucket: GradBucket) -> Handle:
    """The mean over ranks, sent as float16. Each rank's part is divided first: only a mean above 65504 is infinite."""
    return _mean(process_group, bucket, Float16())


def bf16_compress_hook(process_group: Communicator | None, bucket: GradBucket) -> Handle:
    """The mean over ranks, sent as bfloat16: float32's range, three significant digits."""
    return _mean(process_group, bucket, BFloat16())


def _mean(process_group: Communicator | None, bucket: GradBucket, codec: Codec) -> Handle:
    comm = bucket.over(process_group)
    bucket.refuse_complex()
    bucket.bytes_sent = 2 * bucket.array.size
    return start_encoded_sum(comm, wide(bucket) / comm.size, codec)


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """The hook with its sums over bucket.comm sent as float16: start_allreduce and allreduce of floats.

    >>> model.register_comm_hook(PowerSGDState(), fp16_compress_wrapper(powerSGD_hook))
    """
    return _wrapper(hook, Float16(), "fp16")


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """The hook with its sums over bucket.comm sent as bfloat16."""
    return _wrapper(hook, BFloat16(), "bf16")


def _wrapper(hook: Hook, codec: Codec, name: str) -> Hook:
    def wrapped(state: Any, bucket: GradBucket) -> Handle:
        inner = copy.copy(bucket)
        narrow = inner.comm = NarrowSums(bucket.comm, codec)         # type: ignore[assignment]
        returned = hook(state, inner)

        def finished(handle: Any) -> Any:
            value = handle.value()
            bucket.bytes_sent = inner.bytes_sent - narrow.saved
            return value

        bucket.bytes_sent = inner.bytes_sent - narrow.saved
        return (returned if hasattr(returned, "then") else Handle(None, value=returned)).then(finished)

    wrapped.__name__ = wrapped.__qualname__ = f"{name}_compress_wrapper({getattr(hook, '__name__', hook)})"
    return wrapped


class NarrowSums:
    """A communicator whose allreduce sums floats in a narrower form; all else is the communicator's own."""

    def __init__(self, comm: Any, codec: Codec) -> None:
        self._comm, self._codec = comm, codec
        self.saved = 0                               # bytes not sent, up to now

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    def start_allreduce(self, xs: Sequence[Any], op: str = "sum") -> Handle:
        """As the communicator's; a sum of floats of more than 16 bits in the narrow form."""
        x = xs[0].array if isinstance(xs[0], Tensor) else np.asarray(xs[0])
        if op != "sum" or x.dtype.kind != "f" or x.dtype.itemsize <= 2:
            return self._comm.start_allreduce(xs, op)
        self.saved += x.size * (x.dtype.itemsize - 2)
        return start_encoded_sum(self._comm, x.reshape(-1), self._codec).then(
            lambda handle: [converted(handle.value(), x.dtype).reshape(x.shape)])

    def allreduce(self, xs: Sequence[Any], op: str = "sum") -> list[Any]:
        """As the communicator's allreduce(); a sum of floats of more than 16 bits is sent in the narrow form."""
        return self.start_allreduce(xs, op).wait()
