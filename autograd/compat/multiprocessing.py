"""Python's multiprocessing by PyTorch's name. Tensors sent to another process arrive as copies, not as shared memory."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing import *  # noqa: F403
from typing import Any


def spawn(fn: Callable[..., Any], args: Any = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
          start_method: str = "spawn") -> Any:
    """Run fn(i, *args) in processes i = 0, ..., nprocs - 1; RuntimeError if one fails. Not `join`: the processes."""
    context: Any = multiprocessing.get_context(start_method)
    processes = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    if not join:
        return processes
    for process in processes:
        process.join()
    failed = [i for i, process in enumerate(processes) if process.exitcode]
    if failed:
        raise RuntimeError(f"process {failed[0]} terminated with exit code {processes[failed[0]].exitcode}")
    return None


__all__ = [*multiprocessing.__all__, "spawn"]            # type: ignore[attr-defined]
