"""The processor that kernels are compiled for. numba asks about it as soon as njit is used, and never again."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numba


def features() -> str:
    """What this processor can do, as LLVM says it. For Intel's it makes vectors of 256 bits unless told otherwise, since
    wider ones slowed the whole core before Ice Lake (which brought VBMI2). gelu and its derivative of 400,000 numbers take
    0.15 and 0.31 ms with 256 bits, 0.12 and 0.21 with 512."""
    found = llvm.get_host_cpu_features()
    return str(found.flatten()) + (",-prefer-256-bit" if found.get("avx512vbmi2") else "")


config: Any = numba.config
if config.CPU_FEATURES is None:      # NUMBA_CPU_NAME and NUMBA_CPU_FEATURES imitate another processor
    config.CPU_FEATURES = features()
njit: Any = numba.njit               # for all kernels: whoever has this has set the features first
