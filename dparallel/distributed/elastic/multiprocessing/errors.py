"""torch.distributed.elastic.multiprocessing.errors: record, which scripts for torchrun put in front of main()."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def record(fn: F, error_handler: Any = None) -> F:
    """The function as it is: dprun shows the first exception of a rank, with its traceback, whatever raised it.

    Args:
        fn (callable): The script's main function.
        error_handler: Only None.

    Raises:
        NotImplementedError: error_handler is given.

    Example:
        >>> from dparallel.distributed.elastic.multiprocessing.errors import record
        >>> @record
        ... def main() -> int:
        ...     return 3
        >>> main()
        3
    """
    if error_handler is not None:
        raise NotImplementedError("record(error_handler=...): dprun reports the exceptions of ranks; leave it out")
    return fn


__all__ = ["record"]
