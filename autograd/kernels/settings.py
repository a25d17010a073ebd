"""Process-wide settings that scripts make first: threads, precision, determinism."""

from __future__ import annotations

from operator import index
from typing import Any

from . import threads
from .openblas import openblas


class Settings:
    """The settings of the process. The number of threads of one operation is threads.py's."""

    interop: int | None = None                       # the number that set_num_interop_threads() was given
    precision = "highest"                            # of set_float32_matmul_precision()
    deterministic = False                            # of use_deterministic_algorithms()


settings: Settings = Settings()


def get_num_threads() -> int:
    """At most how many threads one operation uses: what was set, else OMP_NUM_THREADS, else the cores of this process.

    Those are the cores of its affinity mask when autograd was imported, no more than the CPU quota of its control groups
    (rounded up), divided by the number of ranks that a launcher has started on this host. A forked child process has 1.

    Example:
        >>> ag.get_num_threads() >= 1
        True
    """
    return threads.number()


def set_num_threads(int: int, /) -> None:
    """Let one operation use up to so many threads: large matrix products and convolutions, also in backward, and NumPy's
    BLAS, and compiled loops over large arrays (optimizers, activations, norms, softmax). For the whole process and all its
    threads, from the next operation on. A replay of trace_step() keeps its convolutions' number.

    The last bits of a product may depend on the number, those of a compiled loop never do, and none depend on how busy the
    cores are: ranks that must compute the same bits need the same number. RuntimeError unless it is positive.

    Args:
        int (int): Number of threads, 1 or more.

    Raises:
        RuntimeError: {name} expects an int, but got {...}.
        RuntimeError: {name} expects a positive integer, not {count}.

    Example:
        >>> n = ag.get_num_threads()
        >>> ag.set_num_threads(n)
    """
    count = _positive("set_num_threads", int)
    threads.set_number(count)
    blas = openblas()
    if blas is not None:
        blas.set(count)


def _positive(name: str, number: Any) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise RuntimeError(f"{name} expects an int, but got {type(number).__name__}")
    count = index(number)
    if count < 1:
        raise RuntimeError(f"{name} expects a positive integer, not {count}")
    return count


def get_num_interop_threads() -> int:
    """How many operations run at a time where the library itself starts several: what was set, else 1. Operations of one
    thread run one after another; local devices, data loaders' workers and the user's threads are not counted.

    Example:
        >>> ag.get_num_interop_threads() >= 1
        True
    """
    return settings.interop or 1


def set_num_interop_threads(int: int, /) -> None:
    """Accepted once, as in PyTorch, where it sizes the pool of torch.jit's fork(), which does not exist here: nothing else
    depends on it.

    Args:
        int (int): What get_num_interop_threads() returns from then on.

    Raises:
        RuntimeError: set_num_interop_threads expects an int, but got {type}.
        RuntimeError: set_num_interop_threads expects a positive integer, not {number}.
        RuntimeError: set_num_interop_threads: it was set already, to {number}, and can be set only once.

    Example:
        >>> ag.set_num_interop_threads(0)
        Traceback (most recent call last):
            ...
        RuntimeError: set_num_interop_threads expects a positive integer, not 0
    """
    number = _positive("set_num_interop_threads", int)
    if settings.interop is not None:
        raise RuntimeError(f"set_num_interop_threads: it was set already, to {settings.interop}, and can be set only once")
    settings.interop = number


def set_float32_matmul_precision(precision: str) -> None:
    """Remembered only: products of float32 are always computed in float32, which is "highest".

    Args:
        precision (str): "highest", "high" or "medium".

    Raises:
        ValueError: {precision} is not one of 'highest', 'high', and 'medium'.

    Example:
        >>> ag.set_float32_matmul_precision("highest")
    """
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"{precision} is not one of 'highest', 'high', and 'medium'")
    settings.precision = precision


def get_float32_matmul_precision() -> str:
    """What was set.

    Example:
        >>> ag.get_float32_matmul_precision()
        'highest'
    """
    return settings.precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Remembered only: every operation is deterministic.

    Args:
        mode (bool): Whether operations must give the same result each time.
        warn_only (bool): a warning in place of an error. Default: False.

    Example:
        >>> ag.use_deterministic_algorithms(False)
    """
    settings.deterministic = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """What was set.

    Example:
        >>> ag.are_deterministic_algorithms_enabled()
        False
    """
    return settings.deterministic


def set_flush_denormal(mode: bool, /) -> bool:
    """False: NumPy keeps denormal numbers.

    Args:
        mode (bool): Whether denormal numbers become 0.

    Example:
        >>> isinstance(ag.set_flush_denormal(False), bool)
        True
    """
    return False


__all__ = ["are_deterministic_algorithms_enabled", "get_float32_matmul_precision", "get_num_interop_threads",
           "get_num_threads", "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads",
           "set_num_threads", "use_deterministic_algorithms"]
