"""Which kernel attention uses: there is one, so that a choice among PyTorch's is a hint that changes nothing."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from ..base import docstrings as _docstrings


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels of scaled_dot_product_attention. MATH is the only one here."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """A block, or a function decorated, in which attention may use these kernels. It changes nothing: there is one."""
    chosen = backends if isinstance(backends, (list, tuple, set)) else [backends]
    if not all(isinstance(backend, SDPBackend) for backend in chosen):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    yield


__all__ = ["SDPBackend", "sdpa_kernel"]

_docstrings.complete(globals(), "nn_utils", "nn.attention.")
