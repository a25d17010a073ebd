"""Python's multiprocessing by PyTorch's name. Tensors sent to another process arrive as copies, not as shared memory; of a
tensor with a graph, which would arrive without it, the sender must say detach()."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing import *  # noqa: F403
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ..base import docstrings as _docstrings
from ..core.tensor import Parameter, Tensor

MSG_GRAPH = ("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
             "process boundaries. If you just want to transfer the data, call detach() on the tensor before serializing "
             "(e.g., putting it on the queue).")


def reduce_tensor(x: Tensor) -> Any:
    """What a queue or pipe sends of a Tensor. RuntimeError if it has a graph."""
    if x.requires_grad and x.grad_fn is not None:
        raise RuntimeError(MSG_GRAPH)
    return x.__reduce__()


ForkingPickler.register(Tensor, reduce_tensor)       # queues and pipes; pickle.dumps() takes the value
ForkingPickler.register(Parameter, reduce_tensor)


def spawn(fn: Callable[..., Any], args: Any = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
          start_method: str = "spawn") -> Any:
    """Run fn(i, *args) in processes i = 0, ..., nprocs - 1."""
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

_docstrings.complete(globals(), "compat", "multiprocessing.")
