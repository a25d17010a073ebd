"""Gradients on the wire in another dtype: DataParallel(mixed_precision=...)."""

from __future__ import annotations

from typing import Any

from . import bf16_compress_hook, fp16_compress_hook
from .bucket_hook import GradBucket

HALF = {"float16": fp16_compress_hook, "bfloat16": bf16_compress_hook}


def wire_hook(dtype: str, bucket: GradBucket) -> Any:
    """A comm hook: the mean over ranks, with gradients sent as `dtype`: "float16", "bfloat16", "float32" or "float64".

    Each rank sends its share already divided by the number of ranks, so that small dtypes do not overflow.
    """
    if dtype in HALF:
        return HALF[dtype](None, bucket)
    bucket.refuse_complex()
    sent = (bucket.array / bucket.comm.size).astype(dtype)
    bucket.bytes_sent = sent.nbytes
    return bucket.comm.start_allreduce([sent]).then(lambda handle: handle.value()[0])


__all__ = ["wire_hook"]
