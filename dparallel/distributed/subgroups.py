"""Groups of some of the ranks: new_group(), new_subgroups(), split_group()."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ..comm import CollectiveError
from .groups import (
    Backend,
    Group,
    GroupMember,
    ProcessGroup,
    checked_timeout,
    default_group,
    default_pg_timeout,
    get_world_size,
    group_state,
    member_of,
    set_stall_limit,
)


def new_group(ranks: Sequence[int] | None = None, timeout: timedelta | None = None, backend: str | None = None,
              pg_options: object = None, use_local_synchronization: bool = False, group_desc: str | None = None,
              device_id: object = None, sort_ranks: bool = True) -> ProcessGroup | int:
    """Create a group of the listed global ranks. Collective over all ranks, which pass the same list.

    Returns the group, and GroupMember.NON_GROUP_MEMBER on ranks outside it.
    """
    world = default_group()
    with world.raise_on_all_ranks("new_group"):
        if use_local_synchronization:
            raise NotImplementedError("new_group(use_local_synchronization=True): all ranks of the job call new_group here")
        limit = checked_timeout(timeout)
        named = world.backend if backend is None else Backend.of(backend)
        expected = _checked_ranks(range(world.size()) if ranks is None else ranks, world.size(), sort_ranks)
    _check_same_ranks(world, "new_group", expected)
    return _create_group(world, expected, named, limit, group_desc)


def _checked_ranks(ranks: Sequence[int], size: int, sort: bool = True) -> list[int]:
    """The ranks as ints; ValueError if one is out of range or listed twice."""
    expected = [int(rank) for rank in ranks]
    if len(set(expected)) < len(expected):
        raise ValueError(f"ranks list must not contain duplicate entries, got {expected}")
    for rank in expected:
        if not 0 <= rank < size:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})")
    return sorted(expected) if sort else expected


def _check_same_ranks(group: ProcessGroup, name: str, ranks: Sequence[Any]) -> None:
    """CollectiveError on all ranks unless all pass the same ranks."""
    gathered = group.communicator.allgather_object([ranks])
    if any(other != gathered[0] for other in gathered):
        raise CollectiveError(f"{name}: ranks pass different groups: " + "; ".join(
            f"rank {rank}: {other}" for rank, other in enumerate(gathered)))


def _create_group(parent: ProcessGroup, ranks: list[int], backend: Backend, limit: timedelta | None,
                  description: str | None) -> ProcessGroup | int:
    """The group of some members of the parent, listed by their ranks in the parent."""
    state, rank = group_state(), parent.rank()
    state.groups_created += 1
    comm = parent.communicator.split(0 if rank in ranks else None, ranks.index(rank) if rank in ranks else 0)
    set_stall_limit(state, limit)
    if comm is None:
        return GroupMember.NON_GROUP_MEMBER
    name = str(state.groups_created - 1)
    group = ProcessGroup(comm, [parent.ranks[member] for member in ranks], backend, name, description or "undefined",
                         limit or default_pg_timeout)
    state.groups.append(group)
    return group


def new_subgroups(group_size: int | None = None, group: Group = None, timeout: timedelta | None = None,
                  backend: str | None = None, pg_options: object = None,
                  group_desc: str | None = None) -> tuple[ProcessGroup | None, list[ProcessGroup | int]]:
    """Create groups of group_size consecutive ranks. Collective.

    Returns this rank's group, and the list of all groups, with NON_GROUP_MEMBER for groups without this rank.
    """
    with default_group().raise_on_all_ranks("new_subgroups"):
        size = get_world_size(group)
        if group_size is None:
            raise ValueError("new_subgroups: pass group_size; its default is the number of GPUs, and there are none")
        if group_size <= 0:
            raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
        if size < group_size:
            raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
        if size % group_size:
            raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
        if group is not None and group is not group_state().world:
            raise NotImplementedError("new_subgroups(group=...): only the default group is supported; see split_group")
    return new_subgroups_by_enumeration([list(range(first, first + group_size)) for first in range(0, size, group_size)],
                                        timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(ranks_per_subgroup_list: Sequence[Sequence[int]], timeout: timedelta | None = None,
                                 backend: str | None = None, pg_options: object = None,
                                 group_desc: str | None = None
                                 ) -> tuple[ProcessGroup | None, list[ProcessGroup | int]]:
    """Create groups of the listed global ranks. Collective.

    Returns this rank's group (None if it is in none), and the list of all groups.
    """
    with default_group().raise_on_all_ranks("new_subgroups_by_enumeration"):
        flat = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
        if not ranks_per_subgroup_list:
            raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
        if len(set(flat)) < len(flat):
            raise ValueError(f"new_subgroups_by_enumeration: a rank is in two of the groups {list(ranks_per_subgroup_list)}")
    groups = [new_group(ranks, timeout, backend, pg_options, group_desc=group_desc) for ranks in ranks_per_subgroup_list]
    return next((group for group in groups if isinstance(group, ProcessGroup)), None), groups


def split_group(parent_pg: Group = None, split_ranks: Sequence[Sequence[int]] | None = None,
                timeout: timedelta | None = None, pg_options: object = None, group_desc: str | None = None,
                backend: str | None = None) -> ProcessGroup | None:
    """Split a group into parts, listed by group ranks. Collective over the group.

    Returns this rank's part; None if it is in none.
    """
    parent = member_of(parent_pg, "split_group")
    if parent is None:
        return None
    with parent.raise_on_all_ranks("split_group"):
        if pg_options is not None:
            raise NotImplementedError("split_group(pg_options=...): these are options of NCCL; MPI has none")
        limit = checked_timeout(timeout)
        if not split_ranks:
            raise ValueError("split_ranks cannot be None or empty")
        parts = [_checked_ranks(part, parent.size()) for part in split_ranks]
        _checked_ranks([rank for part in parts for rank in part], parent.size())
        named = parent.backend if backend is None else Backend.of(backend)
    _check_same_ranks(parent, "split_group", parts)
    part_number = next((number for number, part in enumerate(parts) if parent.rank() in part), None)
    state = group_state()
    comm = parent.communicator.split(part_number)
    state.groups_created += 1
    set_stall_limit(state, limit)
    if part_number is None or comm is None:
        return None
    group = ProcessGroup(comm, [parent.ranks[member] for member in parts[part_number]], named,
                         f"{state.groups_created - 1}.{part_number}", group_desc or "undefined",
                         limit or default_pg_timeout)
    state.groups.append(group)
    return group
