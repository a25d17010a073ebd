"""torch.distributed.elastic.multiprocessing.errors: record, which scripts for torchrun put in front of main()."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def record(fn: F, error_handler: Any = None) -> F:
    """The function as it is: dprun shows the first exception of a rank, with its traceback, whatever raised it."""
    if error_handler is not None:
        raise NotImplementedError("record(error_handler=...): dprun reports the exceptions of ranks; leave it out")
    return fn


__all__ = ["record"]
