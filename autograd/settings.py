"""Process-wide settings that scripts make first: threads, precision, determinism. Hints of speed, or true already."""

from __future__ import annotations

import os

_threads: dict[str, int] = {}
_precision = ["highest"]
_deterministic = [False]


def get_num_threads() -> int:
    """The number set, else OMP_NUM_THREADS, else the number of cores."""
    return _threads.get("intra") or int(os.environ.get("OMP_NUM_THREADS", "0") or 0) or os.cpu_count() or 1


def set_num_threads(int: int, /) -> None:
    """Remembered only: NumPy's threads are set by OMP_NUM_THREADS before it starts."""
    if int < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _threads["intra"] = int


def get_num_interop_threads() -> int:
    """The number set, else 1."""
    return _threads.get("inter", 1)


def set_num_interop_threads(int: int, /) -> None:
    """Remembered only."""
    if int < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _threads["inter"] = int


def set_float32_matmul_precision(precision: str) -> None:
    """Remembered only: products of float32 are always computed in float32, which is "highest"."""
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"{precision} is not one of 'highest', 'high', and 'medium'")
    _precision[0] = precision


def get_float32_matmul_precision() -> str:
    """What was set."""
    return _precision[0]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Remembered only: every operation is deterministic."""
    _deterministic[0] = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """What was set."""
    return _deterministic[0]


def set_flush_denormal(mode: bool, /) -> bool:
    """False: NumPy keeps denormal numbers."""
    return False


__all__ = ["are_deterministic_algorithms_enabled", "get_float32_matmul_precision", "get_num_interop_threads",
           "get_num_threads", "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads",
           "set_num_threads", "use_deterministic_algorithms"]
