"""Python objects between ranks under torch.distributed's names. They are pickled: for small ones, from ranks you trust.

For processes that hold one place (ranks). `group` is a Communicator, world() by default; src and dst are its places.
"""

from __future__ import annotations

from typing import Any

from ..comm import CollectiveError, Communicator, communicator


def _one_place(group: Communicator | None) -> Communicator:
    comm = communicator(group)
    if len(comm.held) > 1:
        raise ValueError(f"one object for a process that holds {len(comm.held)} places; call the communicator's "
                         "allgather_object, gather_object or scatter_object")
    return comm


def _is_list(given: Any, length: int) -> bool:
    """Whether it can be overwritten with `length` items."""
    return isinstance(given, list) and len(given) == length


def broadcast_object_list(object_list: list[Any], src: int = 0, group: Communicator | None = None) -> None:
    """Overwrite the list's items with src's; the lists are equally long (CollectiveError on all ranks if not)."""
    comm = _one_place(group)
    found = comm.broadcast_object(list(object_list) if isinstance(object_list, (list, tuple)) else [], src)
    if comm.any(not _is_list(object_list, len(found))):
        raise CollectiveError(f"broadcast_object_list: object_list is not on all ranks a list as long as rank {src}'s, "
                              f"{len(found)}")
    object_list[:] = found


def all_gather_object(object_list: list[Any], obj: Any, group: Communicator | None = None) -> None:
    """Overwrite the list, which has one item for each rank, with copies of all ranks' obj."""
    comm = _one_place(group)
    found = comm.allgather_object([obj])
    if comm.any(not _is_list(object_list, comm.size)):
        raise CollectiveError(f"all_gather_object: object_list is {object_list!r} here, and is a list of items that are "
                              f"overwritten: {comm.size} ranks need one each")
    object_list[:] = found


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0,
                  group: Communicator | None = None) -> None:
    """Overwrite dst's list, which has one item for each rank, with copies of all ranks' obj; others pass None."""
    comm = _one_place(group)
    found = comm.gather_object([obj], dst)
    if comm.any(found is not None and not _is_list(object_gather_list, comm.size)):
        raise CollectiveError(f"gather_object: rank {dst} must pass object_gather_list with an item for each of {comm.size} "
                              "ranks")
    if found is not None and object_gather_list is not None:
        object_gather_list[:] = found


def scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                        src: int = 0, group: Communicator | None = None) -> None:
    """The first item of every rank's output list becomes a copy of the item for it in src's input list."""
    comm = _one_place(group)
    (found,) = comm.scatter_object(scatter_object_input_list, src)
    if comm.any(not isinstance(scatter_object_output_list, list) or not scatter_object_output_list):
        raise CollectiveError("scatter_object_list: scatter_object_output_list must have at least one item on every rank")
    scatter_object_output_list[0] = found


__all__ = ["all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list"]
