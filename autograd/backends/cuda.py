"""The switches of CUDA's matrix products and attention kernels, none of which is here: all hints of speed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace

matmul: SimpleNamespace = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
                         allow_bf16_reduced_precision_reduction=True)


def is_built() -> bool:
    """False: this library is not built with CUDA."""
    return False


@contextlib.contextmanager
def sdp_kernel(enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True,
               enable_cudnn: bool = True) -> Iterator[None]:
    """A block in which attention may use these kernels; there is one, exact."""
    yield


def enable_flash_sdp(enabled: bool) -> None:
    """Accepted; see sdp_kernel."""


enable_mem_efficient_sdp = enable_math_sdp = enable_cudnn_sdp = enable_flash_sdp


def flash_sdp_enabled() -> bool:
    """False: attention has no flash kernel here."""
    return False


mem_efficient_sdp_enabled = cudnn_sdp_enabled = flash_sdp_enabled


def math_sdp_enabled() -> bool:
    """True: attention is computed as its formula says."""
    return True
