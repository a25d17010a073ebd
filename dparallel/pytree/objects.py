"""Collectives of Python objects under torch.distributed's names. Objects are pickled: for small ones, between trusted ranks.

A process must hold one rank. `group` is a Communicator, world() by default; src and dst are ranks of it.
"""

from __future__ import annotations

from typing import Any

from ..comm import CollectiveError, Communicator, communicator


def _group_of_ranks(group: Communicator | None) -> Communicator:
    """The communicator; ValueError if this process holds several of its ranks."""
    comm = communicator(group)
    if len(comm.held) > 1:
        raise ValueError(f"one object for a process that holds {len(comm.held)} ranks; call the communicator's "
                         "allgather_object, gather_object or scatter_object")
    return comm


def _is_list(obj: object, length: int) -> bool:
    """Whether obj is a list of `length` items."""
    return isinstance(obj, list) and len(obj) == length


def broadcast_object_list(object_list: list[Any], src: int = 0, group: Communicator | None = None) -> None:
    """Overwrite the list's items with copies of src's.

    Args:
        object_list (list): Of the same length on all ranks, with picklable items on src.
        src (int): The rank that sends. Default: 0.
        group (Communicator): The ranks. Default: world().

    Raises:
        CollectiveError: the lists' lengths differ; on all ranks.

    Example:
        >>> def settings(comm):
        ...     values = [{"lr": 0.1}, "adam"] if comm.rank == 0 else [None, None]
        ...     dparallel.broadcast_object_list(values, 0, comm)
        ...     return values
        >>> dparallel.run_ranks(2, settings)
        [[{'lr': 0.1}, 'adam'], [{'lr': 0.1}, 'adam']]
    """
    comm = _group_of_ranks(group)
    if not isinstance(object_list, list):
        comm.refuse(f"broadcast_object_list: object_list is {object_list!r} here, not a list")

    def check(items: list[Any]) -> None:
        if len(items) != len(object_list):
            raise CollectiveError(f"broadcast_object_list: object_list has {len(object_list)} items on rank {comm.rank}, "
                                  f"and {len(items)} on rank {src}; pass lists of one length")

    object_list[:] = comm.broadcast_object(object_list, src, check)


def all_gather_object(object_list: list[Any], obj: Any, group: Communicator | None = None) -> None:
    """Overwrite the list with copies of all ranks' obj.

    Args:
        object_list (list): Output, one item for each rank.
        obj: Picklable.
        group (Communicator): The ranks. Default: world().

    Raises:
        CollectiveError: object_list is not a list of one item for each rank; on all ranks.

    Example:
        >>> def names(comm):
        ...     found = [None] * comm.size
        ...     dparallel.all_gather_object(found, f"rank {comm.rank}", comm)
        ...     return found
        >>> dparallel.run_ranks(2, names)[1]
        ['rank 0', 'rank 1']
    """
    comm = _group_of_ranks(group)
    if not _is_list(object_list, comm.size):
        comm.refuse(f"all_gather_object: object_list is {object_list!r} here, but must be a list with an item "
                    f"for each of {comm.size} ranks")
    object_list[:] = comm.allgather_object([obj])


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0,
                  group: Communicator | None = None) -> None:
    """Overwrite dst's list with copies of all ranks' obj. For obj and group, see all_gather_object().

    Args:
        object_gather_list (list): Output on dst, one item for each rank; None elsewhere.
        dst (int): The rank that receives. Default: 0.

    Raises:
        CollectiveError: dst passes no list of one item for each rank; on all ranks.

    Example:
        >>> def names(comm):
        ...     found = [None] * comm.size if comm.rank == 0 else None
        ...     dparallel.gather_object(f"rank {comm.rank}", found, 0, comm)
        ...     return found
        >>> dparallel.run_ranks(2, names)
        [['rank 0', 'rank 1'], None]
    """
    comm = _group_of_ranks(group)
    if comm.rank == dst and not _is_list(object_gather_list, comm.size):
        comm.refuse(f"gather_object: rank {dst} must pass object_gather_list with an item for each of {comm.size} ranks, "
                    f"not {object_gather_list!r}")
    items = comm.gather_object([obj], dst)
    if items is not None and object_gather_list is not None:
        object_gather_list[:] = items


def scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                        src: int = 0, group: Communicator | None = None) -> None:
    """Overwrite the first item of each rank's output list with a copy of that rank's item of src's input list. For src and
    group, see broadcast_object_list().

    Args:
        scatter_object_output_list (list): Of at least one item.
        scatter_object_input_list (list): On src one picklable item for each rank; ignored elsewhere.

    Raises:
        CollectiveError: a rank's output list is empty, or src has not one item for each rank; on all ranks.

    Example:
        >>> def share(comm):
        ...     mine = [None]
        ...     dparallel.scatter_object_list(mine, ["a", {"b": 1}] if comm.rank == 0 else None, 0, comm)
        ...     return mine
        >>> dparallel.run_ranks(2, share)
        [['a'], [{'b': 1}]]
    """
    comm = _group_of_ranks(group)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        comm.refuse("scatter_object_list: scatter_object_output_list must have at least one item on every rank, not "
                    f"{scatter_object_output_list!r}")
    (scatter_object_output_list[0],) = comm.scatter_object(scatter_object_input_list, src)


__all__ = ["all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list"]
