"""oneDNN or NumPy: the choices that several kernels share, with measurements. A kernel's own thresholds are in its file.

A choice depends only on sizes, dtypes, memory layout and the processor, never on what the process has done before: ranks
must round alike. What oneDNN does not support is not a choice: its primitives raise Refused.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from math import prod
from typing import Any

from .onednn import onednn

PRODUCT = 1 << 18            # multiplications above which a product pays for oneDNN's call by ctypes (2 us)
COPY = 1 << 14               # elements of a copy into another order of memory from which 10 us of ctypes are won back


def products() -> Any:
    """oneDNN's library where its matrix products are at least as fast as NumPy's, which is with AVX-512; else None.

    oneDNN chooses its kernels by what the processor can do, OpenBLAS by the processor's name or by OPENBLAS_CORETYPE: 215
    against 108 GFLOP/s for 512 x 512 on an AMD EPYC with Haswell's kernels, one thread; alike where both use AVX-512. With
    AVX2 alone OpenBLAS is ahead: on an AMD EPYC of 109 GFLOP/s at most, 72 against 49 for x @ y, 72 against 41 for x^T @ y,
    which every weight's gradient is, and alike for x @ y^T.
    """
    library = onednn.library
    return library if library is not None and (library.avx512 or here.rows_alike) else None


class Here(threading.local):
    """The requirements of this thread for products."""

    rows_alike = False


here: Here = Here()


@contextlib.contextmanager
def rows_alike() -> Iterator[None]:
    """A block in which all float32 products are oneDNN's, of any size and on any processor, if it is there.

    Its kernels compute each of 48 n rows in the same way. OpenBLAS's for Haswell and Zen do not: of 12 rows, the last 6 are
    added up in another order than the first.
    """
    before, here.rows_alike = here.rows_alike, True
    try:
        yield
    finally:
        here.rows_alike = before


def patches(weight: tuple[int, ...], groups: int) -> bool:
    """Whether the gradient of a convolution's weight (m, c, *kernel) is quicker as a product of patches whose channels lie
    last (convolution_channels_last.py) than by NumPy's other way, and than by oneDNN's pass for AVX2.

    Against that pass, 3x3: 64-64 channels take 0.5 to 1.0 of its time, 256-256 0.3 to 1.0, 32-32 1.0 to 1.2, 16-16 1.6 to 2;
    1x1 with 64 channels 1.1 to 1.3.
    """
    return groups == 1 and weight[0] >= 64 and weight[1] >= 24 and prod(weight[2:]) > 1


def patches_instead(pass_name: str, weight: tuple[int, ...], groups: int) -> bool:
    """Whether oneDNN's pass of this name for a weight's gradient is to give way to the product of patches."""
    return pass_name == "jit:avx2" and patches(weight, groups)


def reference(pass_name: str) -> bool:
    """Whether oneDNN has no more than its reference implementation: correct on any shape, and a hundred times slower than
    NumPy."""
    return "ref" in pass_name
