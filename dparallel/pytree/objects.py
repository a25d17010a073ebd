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
    """Overwrite the list's items with copies of src's."""
    comm = _group_of_ranks(group)
    if not isinstance(object_list, list):
        comm.refuse(f"broadcast_object_list: object_list is {object_list!r} here, not a list")

    def check(items: list[Any]) -> None:
        if len(items) != len(object_list):
            raise CollectiveError(f"broadcast_object_list: object_list has {len(object_list)} items on rank {comm.rank}, "
                                  f"and {len(items)} on rank {src}; pass lists of one length")

    object_list[:] = comm.broadcast_object(object_list, src, check)


def all_gather_object(object_list: list[Any], obj: Any, group: Communicator | None = None) -> None:
    """Overwrite the list with copies of all ranks' obj."""
    comm = _group_of_ranks(group)
    if not _is_list(object_list, comm.size):
        comm.refuse(f"all_gather_object: object_list is {object_list!r} here, but must be a list with an item "
                    f"for each of {comm.size} ranks")
    object_list[:] = comm.allgather_object([obj])


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0,
                  group: Communicator | None = None) -> None:
    """Overwrite dst's list with copies of all ranks' obj. For obj and group, see all_gather_object()."""
    comm = _group_of_ranks(group)
    if comm.rank == dst and not _is_list(object_gather_list, comm.size):
        comm.refuse(f"gather_object: rank {dst} must pass object_gather_list with an item for each of {comm.size} ranks, "
                    f"not {object_gather_list!r}")
    items = comm.gather_object([obj], dst)
    if items is not None and object_gather_list is not None:
        object_gather_list[:] = items


def scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                        src: int = 0, group: Communicator | None = None) -> None:
    """Overwrite the first item of each rank's output list with a copy of its item of src's input list."""
    comm = _group_of_ranks(group)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        comm.refuse("scatter_object_list: scatter_object_output_list must have at least one item on every rank, not "
                    f"{scatter_object_output_list!r}")
    (scatter_object_output_list[0],) = comm.scatter_object(scatter_object_input_list, src)
