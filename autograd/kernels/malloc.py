"""Sets the C library's allocator to keep the memory of large temporaries instead of giving it back at every step.

By default glibc asks the kernel for every array above 128 kB to 32 MB (it adapts), and each page of it is zeroed at its
first use, again in the next step: an LSTM step took 4.0 ms so, and 2.3 with the thresholds below; a GPT step 42 and 35 ms.
Resident memory stayed as it was. Any MALLOC_ variable (or GLIBC_TUNABLES for malloc) that the user sets leaves all to the
user.
"""

from __future__ import annotations

import ctypes
import sys

from ..base.environment import environment
from .blocks import pool

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3         # of mallopt()
KEPT = 1 << 29                       # bytes free at the top of the heap beyond which some go back to the kernel
LARGE = 1 << 28, 1 << 25             # arrays above it are mapped one by one; older C libraries take at most the second
PAD = 1 << 22                        # bytes by which the heap grows more than is needed


def keep_freed_memory() -> bool:
    """Set the thresholds; False where that is not possible, or not wanted."""
    if sys.platform != "linux" or environment.sets_malloc:
        return False
    try:
        library = ctypes.CDLL(None)
        if not hasattr(library, "gnu_get_libc_version"):     # musl has a mallopt-less allocator
            return False
        return bool(any(library.mallopt(MMAP_THRESHOLD, size) for size in LARGE)
                    and library.mallopt(TRIM_THRESHOLD, KEPT) and library.mallopt(TOP_PAD, PAD))
    except (OSError, AttributeError):
        return False


def give_back() -> None:
    """Give freed memory back to the system, after work that needed much and is not repeated."""
    pool.clear()
    if freed_memory_is_kept:
        ctypes.CDLL(None).malloc_trim(0)


freed_memory_is_kept: bool = keep_freed_memory()
