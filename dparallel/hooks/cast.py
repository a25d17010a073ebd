"""cast_hook: gradients sent in another dtype, for DataParallel(mixed_precision=...)."""

from __future__ import annotations

from autograd.kernels.halves import converted

from ..comm import Handle
from . import bf16_compress_hook, fp16_compress_hook
from .bucket_hook import GradBucket

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
