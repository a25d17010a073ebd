"""The switches of CUDA's matrix products and attention kernels, none of which is here: all hints of speed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace

from ..base import docstrings as _docstrings

matmul: SimpleNamespace = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
                         allow_bf16_reduced_precision_reduction=True)


def is_built() -> bool:
    """False: this library is not built with CUDA."""
    return False


@contextlib.contextmanager
def sdp_kernel(enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True,
               enable_cudnn: bool = True) -> Iterator[None]:
    """A block in which attention may use these kernels; there is one, exact, which is used whatever they say."""
    yield


def enable_flash_sdp(enabled: bool) -> None:
    """Accepted, and without effect, under each of its names: attention has one kernel here."""


enable_mem_efficient_sdp = enable_math_sdp = enable_cudnn_sdp = enable_flash_sdp


def flash_sdp_enabled() -> bool:
    """False, under each of its names: attention has no flash, memory-efficient or cuDNN kernel here."""
    return False


mem_efficient_sdp_enabled = cudnn_sdp_enabled = flash_sdp_enabled


def math_sdp_enabled() -> bool:
    """True: attention is computed as its formula says."""
    return True

_docstrings.complete(globals(), "backends", "backends.cuda.")
