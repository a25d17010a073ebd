"""Hooks that send gradients as float16 or bfloat16 or, for mixed_precision=, another dtype; wrappers for other hooks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from autograd.kernels.halves import converted

from ..autograd import Tensor
from ..comm import Communicator, Handle
from .bucket_hook import GradBucket
from .encoded_sums import BFloat16, Codec, Float16, start_allreduce_encoded
from .error_feedback import in_single_precision

Hook = Callable[[Any, GradBucket], Any]


def fp16_compress_hook(process_group: Communicator | None, bucket: GradBucket) -> Handle:
    """As allreduce_hook(), sent as float16. Gradients are divided first, so that only a mean above 65504 overflows."""
    return _mean(process_group, bucket, Float16())


def bf16_compress_hook(process_group: Communicator | None, bucket: GradBucket) -> Handle:
    """As allreduce_hook(), sent as bfloat16: float32's range, three significant digits."""
    return _mean(process_group, bucket, BFloat16())


def _mean(process_group: Communicator | None, bucket: GradBucket, codec: Codec) -> Handle:
    """Start the mean over ranks, sent in an encoding of 16 bits."""
    comm = bucket.over(process_group)
    bucket.refuse_complex()
    bucket.bytes_sent = 2 * bucket.array.size
    return start_allreduce_encoded(comm, in_single_precision(bucket) / comm.size, codec)


HALF = {"float16": fp16_compress_hook, "bfloat16": bf16_compress_hook}


def cast_hook(dtype: str, bucket: GradBucket) -> Handle:
    """A comm hook: the mean over ranks, with gradients sent as `dtype`: "float16", "bfloat16", "float32" or "float64".

    Gradients are divided by the number of ranks before they are cast, so that narrow dtypes do not overflow.
    """
    if dtype in HALF:
        return HALF[dtype](None, bucket)
    bucket.refuse_complex()
    sent = converted(bucket.array / bucket.comm.size, dtype)
    bucket.bytes_sent = sent.nbytes
    return bucket.comm.start_allreduce([sent]).then(lambda handle: handle.value()[0])


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """Wrap a hook so that allreduce and start_allreduce of bucket.comm send floats as float16. The state is the hook's."""
    return _wrapper(hook, Float16(), "fp16")


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """Wrap a hook so that floats are sent as bfloat16: see fp16_compress_wrapper()."""
    return _wrapper(hook, BFloat16(), "bf16")


def _wrapper(hook: Hook, codec: Codec, name: str) -> Hook:
    """The hook, called with a copy of the bucket whose communicator is a NarrowComm."""
    def wrapped(state: Any, bucket: GradBucket) -> Handle:
        inner = copy.copy(bucket)
        narrow = inner.comm = NarrowComm(bucket.comm, codec)         # type: ignore[assignment]
        returned = hook(state, inner)

        def finish(handle: Handle) -> Any:
            value = handle.value()
            bucket.bytes_sent = inner.bytes_sent - narrow.bytes_saved
            return value

        bucket.bytes_sent = inner.bytes_sent - narrow.bytes_saved
        return (returned if hasattr(returned, "then") else Handle(None, value=returned)).then(finish)

    wrapped.__name__ = wrapped.__qualname__ = f"{name}_compress_wrapper({getattr(hook, '__name__', hook)})"
    return wrapped


class NarrowComm:
    """A communicator whose allreduce sends floats in a narrower encoding; everything else is delegated to `comm`."""

    def __init__(self, comm: Communicator, codec: Codec) -> None:
        self._comm, self._codec = comm, codec
        self.bytes_saved: int = 0                    # by the encoding, so far

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    def start_allreduce(self, xs: Sequence[Tensor | np.ndarray[Any, Any]], op: str = "sum") -> Handle:
        """The communicator's start_allreduce(); a sum of floats of more than 16 bits is sent in the encoding."""
        x = xs[0].array if isinstance(xs[0], Tensor) else np.asarray(xs[0])
        if op != "sum" or x.dtype.kind != "f" or x.dtype.itemsize <= 2:
            return self._comm.start_allreduce(cast(Any, xs), op)
        self.bytes_saved += x.size * (x.dtype.itemsize - 2)
        return start_allreduce_encoded(self._comm, x.reshape(-1), self._codec).then(
            lambda handle: [converted(handle.value(), x.dtype).reshape(x.shape)])

    def allreduce(self, xs: Sequence[Tensor | np.ndarray[Any, Any]], op: str = "sum") -> list[Any]:
        """The communicator's allreduce(); a sum of floats of more than 16 bits is sent in the encoding."""
        return self.start_allreduce(xs, op).wait()
