"""Process groups under torch.distributed's names: which ranks there are, and who belongs to which group.

A ProcessGroup is a communicator of dparallel.comm together with its members' numbers in the job (global ranks). It may be
passed wherever dparallel takes `comm` or `process_group`. The default group is a duplicate of the job's communicator: its
messages never meet those of code that uses dparallel.world() itself.
"""

from __future__ import annotations

import contextlib
import contextvars
import warnings
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from ..comm import CollectiveError, Communicator, Handle, communicator, stall_limit, world
from ..comm.environment import environment
from .rendezvous import joined
from .stores import Store

NOT_INITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."
OTHER_SIZE = ("init_process_group: world_size={wanted} (the argument, or WORLD_SIZE in the environment) on rank{s} {ranks}, "
              "but this job has {size}. Start the script with as many ranks as it wants (`dprun -n {wanted}`, or mpirun, "
              "srun), or leave world_size out and unset WORLD_SIZE")
default_pg_timeout = timedelta(minutes=30)


class Backend(str):
    """The name of a backend, in lower case. All of them mean MPI here; ValueError for a name that PyTorch has not."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"
    backend_list = (GLOO, NCCL, UCC, MPI, XCCL)

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, not {name!r}")
        if name.lower() not in cls.backend_list:
            raise ValueError(f"Invalid backend: {name!r}; it is one of {', '.join(cls.backend_list)}, or a list such as "
                             "'cpu:gloo,cuda:nccl'")
        return super().__new__(cls, name.lower())

    @classmethod
    def of(cls, name: str | None) -> Backend:
        """The backend that an argument names: of "cpu:gloo,cuda:nccl" that of the CPU, "mpi" by default."""
        if name is None:
            return cls(cls.MPI)
        if not isinstance(name, str) or ":" not in name:
            return cls(name)
        devices = dict(part.partition(":")[::2] for part in name.split(","))
        found = {device.strip().lower(): cls(backend.strip()) for device, backend in devices.items()}
        return found.get("cpu", next(iter(found.values())))


class _World(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The default group; None before init_process_group."""
        return _state().world


class group(metaclass=_World):                       # in lower case, as in PyTorch
    """group.WORLD: the default group."""


class GroupMember(metaclass=_World):
    """GroupMember.WORLD: the default group. NON_GROUP_MEMBER: what new_group gives to ranks that are not in the group."""

    NON_GROUP_MEMBER = -100


class ProcessGroup:
    """Ranks that communicate with each other. Made by init_process_group and new_group.

    communicator: the dparallel communicator.    ranks: the members' global ranks, in the order of their group ranks.
    """

    def __init__(self, comm: Communicator, ranks: Sequence[int], backend: Backend, name: str, description: str,
                 timeout: timedelta) -> None:
        self.communicator, self.ranks, self.backend = comm, list(ranks), backend
        self.group_name, self.group_desc, self.timeout = name, description, timeout
        self.pending: list[Any] = []                 # Works of collectives that nobody has waited for yet
        self.late: list[Handle] = []                 # receives from ranks that did not come to a monitored_barrier in time

    def rank(self) -> int:
        """This process's rank in the group."""
        return self.communicator.rank

    def size(self) -> int:
        """The number of processes in the group."""
        return self.communicator.size

    def name(self) -> str:
        """The name of the backend."""
        return str(self.backend)

    def issue(self, name: str, x: Any, **settings: Any) -> Handle:
        """Issue the collective `name` on the group's communicator: see Communicator.issue()."""
        return self.communicator.issue(name, x, **settings)

    def settle(self) -> None:
        """Complete the collectives that were started with async_op=True, in their order."""
        pending, self.pending = self.pending, []
        for work in pending:
            work.complete()
        for handle in self.late:
            if handle.done():
                handle.wait()
        self.late = [handle for handle in self.late if not handle.done()]

    @contextlib.contextmanager
    def telling(self, name: str) -> Iterator[None]:
        """A block that checks this rank's arguments: its error is a CollectiveError on the other ranks, which would wait."""
        try:
            yield
        except Exception as error:
            with contextlib.suppress(CollectiveError):           # here the error itself is raised
                self.communicator.refuse(f"{name}: {type(error).__name__}: {error}")
            raise

    def __repr__(self) -> str:
        return f"<ProcessGroup {self.group_name!r} of ranks {self.ranks}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> ProcessGroup:
        """Itself: a copy of a module that knows its group goes on with it."""
        return self


class _State:
    """What init_process_group has made."""

    def __init__(self) -> None:
        self.world: ProcessGroup | None = None
        self.groups: list[ProcessGroup] = []         # also the default one
        self.made = 0                                # groups so far, also those that this rank is no member of
        self.limit: timedelta | None = None          # the longest timeout that was asked for


_process = _State()
_thread: contextvars.ContextVar[_State | None] = contextvars.ContextVar("_thread", default=None)


def _state() -> _State:
    """The state of this process; ranks that are threads (dparallel.run_ranks) have one each."""
    return _thread.get() or _process


def is_available() -> bool:
    """True: the package that provides this module brings MPI."""
    return True


def is_initialized() -> bool:
    """Whether init_process_group() has created a default group."""
    return _state().world is not None


def init_process_group(backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None,
                       world_size: int = -1, rank: int = -1, store: Store | None = None, group_name: str = "",
                       pg_options: Any = None, device_id: Any = None, *, comm: Any = None) -> None:
    """Make the default group, of all ranks of this job. Collective.

    Ranks and their number are MPI's, as dprun, mpirun and srun tell them; where world_size and rank are given, here or by
    init_method="tcp://..." or "file://...", the numbers must be those, in this order or another one. Processes that
    something else started (torchrun, multiprocessing), with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the
    environment, or with init_method, rank and world_size, are joined by an mpirun that rank 0 starts: on one host, and
    before anybody has started MPI.

    backend names one of PyTorch's backends, all of which are MPI here. timeout: how long a rank waits in one collective
    before the watchdog ends the job with a report of where every rank is (dparallel.stall_limit); default: it reports
    after 60 s, and goes on waiting. comm: a dparallel or mpi4py communicator in the place of the job's.

    ValueError if there is a default group already, or for a wrong argument; RuntimeError where ranks can't be joined.

    >>> dist.init_process_group("gloo")
    >>> dist.get_rank(), dist.get_world_size()
    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    named = Backend.of(backend)
    limit = _timeout(timeout)
    if device_id is not None and str(device_id).partition(":")[0] != "cpu":
        raise NotImplementedError(f"init_process_group(device_id={device_id!r}): there are no devices but the CPU here")
    if store is not None and init_method is not None:
        raise ValueError("Cannot specify both init_method and store.")
    if store is not None and not (rank >= 0 and world_size > 0):
        raise ValueError("init_process_group(store=...) needs world_size and rank")
    if comm is None:
        rank, size = joined(init_method, rank, world_size, store, limit or default_pg_timeout)
        base = world()
    else:
        base, size = communicator(comm), world_size
    if len(base.held) > 1:
        raise ValueError(f"init_process_group: a process group has one rank in each process, {base!r} has {base.size}")
    told = base.allgather_object([(rank, size)])     # so that what is wrong on one rank is an error on all
    others = {place: wanted for place, (_, wanted) in enumerate(told) if 0 < wanted != base.size}
    if others:
        raise RuntimeError(OTHER_SIZE.format(wanted="/".join(map(str, sorted(set(others.values())))), size=base.size,
                                             s="s" * (len(others) > 1), ranks=", ".join(map(str, others))))
    given = [number for number, _ in told]
    if any(number >= 0 for number in given) and sorted(given) != list(range(base.size)):
        raise RuntimeError(f"init_process_group: rank={rank} here, but the {base.size} ranks of this job say {given}; each "
                           f"number from 0 to {base.size - 1} is to be there once")
    made = base.duplicate() if rank < 0 or given == sorted(given) else base.split(0, rank)
    state = _process
    if made.kind == "threads":
        state = _State()
        _thread.set(state)
    state.world = ProcessGroup(made, range(made.size), named, group_name or "0", "default_pg", limit or default_pg_timeout)
    state.groups, state.made = [state.world], 1
    _watch(state, limit)


def destroy_process_group(group: Any = None) -> None:
    """Free a group, or (the default one) all groups. Collective over the group. ValueError if it is none, or freed."""
    state = _state()
    if group is None or group is state.world:
        default_group()
        for each in reversed(state.groups):
            _free(each)
        state.world, state.groups, state.made, state.limit = None, [], 0, None
        _thread.set(None)
        return
    if is_member(group):
        state.groups.remove(group)
        _free(group)


def _free(group: ProcessGroup) -> None:
    group.settle()
    group.communicator.free()


def _timeout(timeout: Any) -> timedelta | None:
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout!r}")
    return timeout


def _watch(state: _State, limit: timedelta | None) -> None:
    """Let the watchdog end a job that waits longer than the longest timeout that was asked for."""
    if limit is not None and state.world is not None and state.world.communicator.kind == "mpi":
        state.limit = limit if state.limit is None else max(limit, state.limit)
        stall_limit(state.limit.total_seconds(), abort=True)


# --- asking ---------------------------------------------------------------------------------------------------------------

def default_group() -> ProcessGroup:
    """The default group; ValueError before init_process_group."""
    found = _state().world
    if found is None:
        raise ValueError(NOT_INITIALIZED)
    return found


def is_member(group: Any) -> bool:
    """Whether this rank is in a group (None: the default one). ValueError if it is no group, or was destroyed."""
    world = default_group()
    if group is None or group is world:
        return True
    if isinstance(group, int) and group == GroupMember.NON_GROUP_MEMBER:
        return False
    if not isinstance(group, ProcessGroup) or group not in _state().groups:
        raise ValueError(f"Group {group!r} is not registered, please create group with new_group()")
    return True


def member_of(group: Any, name: str) -> ProcessGroup | None:
    """The group that a collective is called on; None, with a warning, where this rank is not in it."""
    if is_member(group):
        return default_group() if group is None else group
    warnings.warn(f"Running {name} on global rank {get_rank()} which does not belong to the given group.", stacklevel=3)
    return None


def get_rank(group: Any = None) -> int:
    """This process's number in the group (default: in the job); -1 if it is not in it."""
    return (default_group() if group is None else group).rank() if is_member(group) else -1


def get_world_size(group: Any = None) -> int:
    """The number of members of the group; -1 if this process is not in it."""
    return (default_group() if group is None else group).size() if is_member(group) else -1


def get_backend(group: Any = None) -> str:
    """The backend's name that the group was made with, "mpi" by default. MPI does the work whatever it says."""
    return str(_known(group).backend)


def get_backend_config(group: Any = None) -> str:
    """get_backend, for each device."""
    return f"cpu:{get_backend(group)}"


def _known(group: Any) -> ProcessGroup:
    if not is_member(group):
        raise ValueError("Invalid process group specified")
    return default_group() if group is None else group


def get_process_group_ranks(group: Any = None) -> list[int]:
    """The members' global ranks, by group rank."""
    return list(_known(group).ranks)


def get_group_rank(group: Any, global_rank: int) -> int:
    """The number in the group of a global rank; ValueError if it is no member."""
    ranks = _known(group).ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group!r}")
    return ranks.index(global_rank)


def get_global_rank(group: Any, group_rank: int) -> int:
    """The global rank of a member; ValueError if there is none of that number."""
    ranks = _known(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group!r}")
    return ranks[group_rank]


def place_of(group: ProcessGroup, rank: int | None, group_rank: int | None, name: str, default: int | None = None) -> int:
    """The number in the group of a root or peer, that is given by its global rank or by its group rank."""
    if rank is not None and group_rank is not None:
        raise ValueError(f"{name}: Can't specify both group_rank and global_rank")
    if group_rank is not None:
        get_global_rank(group, group_rank)
        return group_rank
    rank = default if rank is None else rank
    if rank is None:
        raise ValueError(f"{name}: Must specify global_rank or group_rank")
    return get_group_rank(group, rank)


def get_pg_count() -> int:
    """The number of groups that this process is in."""
    return len(_state().groups)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """LOCAL_RANK of the environment, as dprun and torchrun set it, or fallback_rank; RuntimeError without both."""
    if "LOCAL_RANK" in environment:
        return int(environment.text("LOCAL_RANK"))
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError("LOCAL_RANK is not in the environment; start with dprun, or pass a `fallback_rank`")


# --- groups of some of the ranks -------------------------------------------------------------------------------------------

def new_group(ranks: Sequence[int] | None = None, timeout: timedelta | None = None, backend: str | None = None,
              pg_options: Any = None, use_local_synchronization: bool = False, group_desc: str | None = None,
              device_id: Any = None, sort_ranks: bool = True) -> Any:
    """A group of some ranks, given by their global ranks (default: all), numbered in their order, or, with
    sort_ranks=False, as they are listed. Collective over all ranks, also those that are no members, which get
    GroupMember.NON_GROUP_MEMBER; they name the same ranks.

    ValueError for ranks that are not there or come twice; CollectiveError, everywhere, if ranks name different ones.
    """
    world = default_group()
    if use_local_synchronization:
        raise NotImplementedError("new_group(use_local_synchronization=True): all ranks of the job call new_group here")
    limit = _timeout(timeout)
    with world.telling("new_group"):
        named = world.backend if backend is None else Backend.of(backend)
        wanted = _ranks(range(world.size()) if ranks is None else ranks, world.size(), sort_ranks)
    _agreed(world, "new_group", wanted)
    return _made(world, wanted, named, limit, group_desc)


def _ranks(ranks: Sequence[int], size: int, sort: bool = True) -> list[int]:
    wanted = [int(rank) for rank in ranks]
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"ranks list must not contain duplicate entries, got {wanted}")
    for rank in wanted:
        if not 0 <= rank < size:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})")
    return sorted(wanted) if sort else wanted


def _agreed(group: ProcessGroup, name: str, wanted: Any) -> None:
    """CollectiveError on all ranks unless they name the same."""
    told = group.communicator.allgather_object([wanted])
    if any(each != told[0] for each in told):
        raise CollectiveError(f"{name}: the ranks name different groups: " + "; ".join(
            f"rank {rank}: {each}" for rank, each in enumerate(told)))


def _made(parent: ProcessGroup, wanted: list[int], backend: Backend, limit: timedelta | None,
          description: str | None) -> Any:
    """The group of some of the parent's members, listed by their numbers there."""
    state, me = _state(), parent.rank()
    state.made += 1
    comm = parent.communicator.split(0 if me in wanted else None, wanted.index(me) if me in wanted else 0)
    _watch(state, limit)
    if comm is None:
        return GroupMember.NON_GROUP_MEMBER
    name = str(state.made - 1)
    made = ProcessGroup(comm, [parent.ranks[place] for place in wanted], backend, name, description or "undefined",
                        limit or default_pg_timeout)
    state.groups.append(made)
    return made


def new_subgroups(group_size: int | None = None, group: Any = None, timeout: timedelta | None = None,
                  backend: str | None = None, pg_options: Any = None,
                  group_desc: str | None = None) -> tuple[Any, list[Any]]:
    """Groups of group_size ranks that follow each other: this rank's own, and the list of all (NON_GROUP_MEMBER for those
    of others). Collective. ValueError if they don't divide the ranks evenly."""
    size = get_world_size(group)
    if group_size is None:
        raise ValueError("new_subgroups: pass group_size; its default counts GPUs, and there are none")
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
    if group is not None and group is not _state().world:
        raise NotImplementedError("new_subgroups(group=...): of the default group only; see split_group")
    return new_subgroups_by_enumeration([list(range(first, first + group_size)) for first in range(0, size, group_size)],
                                        timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(ranks_per_subgroup_list: Sequence[Sequence[int]], timeout: timedelta | None = None,
                                 backend: str | None = None, pg_options: Any = None,
                                 group_desc: str | None = None) -> tuple[Any, list[Any]]:
    """Groups of the listed global ranks: this rank's own (None if it is in none), and the list of all. Collective.
    ValueError if a rank is in two."""
    flat = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    if len(set(flat)) < len(flat):
        raise ValueError(f"new_subgroups_by_enumeration: a rank is in two of the groups {list(ranks_per_subgroup_list)}")
    made = [new_group(ranks, timeout, backend, pg_options, group_desc=group_desc) for ranks in ranks_per_subgroup_list]
    mine = [each for each in made if each != GroupMember.NON_GROUP_MEMBER]
    return (mine[0] if mine else None), made


def split_group(parent_pg: Any = None, split_ranks: Sequence[Sequence[int]] | None = None,
                timeout: timedelta | None = None, pg_options: Any = None, group_desc: str | None = None,
                backend: str | None = None) -> Any:
    """Cut a group (default: all ranks) in the listed parts, of group ranks, at once: this rank's part, None if it is in
    none. Collective over the group. ValueError if a rank is in two parts; pg_options is for NCCL: NotImplementedError."""
    parent = member_of(parent_pg, "split_group")
    if parent is None:
        return None
    if pg_options is not None:
        raise NotImplementedError("split_group(pg_options=...): options of NCCL; there are none of MPI")
    limit = _timeout(timeout)
    with parent.telling("split_group"):
        if not split_ranks:
            raise ValueError("split_ranks cannot be None or empty")
        parts = [_ranks(part, parent.size()) for part in split_ranks]
        _ranks([rank for part in parts for rank in part], parent.size())
        named = parent.backend if backend is None else Backend.of(backend)
    _agreed(parent, "split_group", parts)
    mine = next((number for number, part in enumerate(parts) if parent.rank() in part), None)
    state = _state()
    comm = parent.communicator.split(mine)
    state.made += 1
    _watch(state, limit)
    if mine is None or comm is None:
        return None
    made = ProcessGroup(comm, [parent.ranks[place] for place in parts[mine]], named, f"{state.made - 1}.{mine}",
                        group_desc or "undefined", limit or default_pg_timeout)
    state.groups.append(made)
    return made
