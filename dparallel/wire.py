"""Gradients on the wire in another dtype: DataParallel(mixed_precision=...)."""

from __future__ import annotations

from typing import Any

from .bucket_hook import GradBucket


def wire_hook(dtype: Any, bucket: GradBucket) -> Any:
    """A comm hook: the mean over ranks, with gradients sent as `dtype` ("float32", "float64", "float16").

    Each rank sends its share already divided by the number of ranks, so that small dtypes do not overflow.
    """
    sent = (bucket.array / bucket.comm.size).astype(dtype)
    bucket.bytes_sent = sent.nbytes
    return bucket.comm.start_allreduce([sent]).then(lambda handle: handle.value()[0])


__all__ = ["wire_hook"]
