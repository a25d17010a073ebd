"""Process groups under torch.distributed's names: init_process_group, new_group, ranks and sizes.

A ProcessGroup is a communicator of dparallel.comm with its members' global ranks. It may be passed wherever dparallel takes
`comm` or `process_group`. The default group is a duplicate of the job's communicator, so its messages never match those of
code that uses dparallel.world().
"""

from __future__ import annotations

import contextvars
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeAlias

from ..comm import CollectiveError, Communicator, Handle, communicator, on_all_ranks, stall_limit, world
from ..comm.environment import environment
from .rendezvous import join_job
from .stores import Store

NOT_INITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."
MSG_PICKLED = ("DDP Pickling/Unpickling are only supported when using DDP with the default process group. That is, when you "
               "have called init_process_group and have not passed process_group argument to DDP constructor")
OTHER_SIZE = ("init_process_group: world_size={wanted} (the argument, or WORLD_SIZE in the environment) on rank{s} {ranks}, "
              "but this job has {size}. Start the script with as many ranks as it wants (`dprun -n {wanted}`, or mpirun, "
              "srun), or leave world_size out and unset WORLD_SIZE")
default_pg_timeout: timedelta = timedelta(minutes=30)


Group: TypeAlias = "ProcessGroup | int | None"       # an argument: None is the default group, an int NON_GROUP_MEMBER


class Backend(str):
    """The name of a backend, in lower case. All of them mean MPI here; ValueError for a name that PyTorch does not have.

    Args:
        name (str): One of gloo, nccl, ucc, mpi and xccl, in any case.

    Raises:
        ValueError: the name is not one of these.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.Backend('GLOO')
        'gloo'
        >>> dist.Backend.of('cpu:gloo,cuda:nccl'), dist.Backend.of(None)
        ('gloo', 'mpi')
    """

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"
    backend_list: tuple[str, ...] = (GLOO, NCCL, UCC, MPI, XCCL)

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, not {name!r}")
        if name.lower() not in cls.backend_list:
            raise ValueError(f"Invalid backend: {name!r}; it is one of {', '.join(cls.backend_list)}, or a list such as "
                             "'cpu:gloo,cuda:nccl'")
        return super().__new__(cls, name.lower())

    @classmethod
    def of(cls, name: str | None) -> Backend:
        """The backend of an argument; that of the CPU in "cpu:gloo,cuda:nccl", "mpi" for None.

        Args:
            name (str): A backend, a list of device:backend, or None.

        Raises:
            ValueError: a name is no backend.
        """
        if name is None:
            return cls(cls.MPI)
        if not isinstance(name, str) or ":" not in name:
            return cls(name)
        devices = dict(part.partition(":")[::2] for part in name.split(","))
        backends = {device.strip().lower(): cls(backend.strip()) for device, backend in devices.items()}
        return backends.get("cpu", next(iter(backends.values())))


class _World(type):
    """The type of `group` and `GroupMember`, whose attribute WORLD is the current default group."""

    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The default group; None before init_process_group."""
        return _state().world


class group(metaclass=_World):                       # in lower case, as in PyTorch
    """group.WORLD: the default group.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.init_process_group()
        >>> dist.group.WORLD.ranks
        [0]
        >>> dist.destroy_process_group()
    """


class GroupMember(metaclass=_World):
    """GroupMember.WORLD: the default group. NON_GROUP_MEMBER: what new_group() returns on ranks outside the group.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.init_process_group()
        >>> dist.GroupMember.WORLD.size(), dist.GroupMember.NON_GROUP_MEMBER
        (1, -100)
        >>> dist.destroy_process_group()
    """

    NON_GROUP_MEMBER = -100


class ProcessGroup:
    """Ranks that communicate with each other, created by init_process_group() and new_group().

    communicator: the dparallel communicator.    ranks: the members' global ranks, in the order of their group ranks.

    Args:
        comm (Communicator): Carries the messages.
        ranks (list of int): The members' global ranks, by group rank.
        backend (Backend): The name that get_backend() returns.
        name (str): group_name.
        description (str): group_desc.
        timeout (timedelta): How long monitored_barrier() waits.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.init_process_group()
        >>> group = dist.new_group([0])
        >>> group, group.rank(), group.size(), group.name()
        (<ProcessGroup '1' of ranks [0]>, 0, 1, 'mpi')
        >>> dist.destroy_process_group()
    """

    def __reduce__(self) -> Any:
        """The default group is that of the process that unpickles. RuntimeError for others."""
        if self is not _state().world:
            raise RuntimeError(MSG_PICKLED)
        return default_group, ()

    communicator: Communicator
    ranks: list[int]
    backend: Backend
    group_name: str
    group_desc: str
    timeout: timedelta

    def __init__(self, comm: Communicator, ranks: Sequence[int], backend: Backend, name: str, description: str,
                 timeout: timedelta) -> None:
        self.communicator, self.ranks, self.backend = comm, list(ranks), backend
        self.group_name, self.group_desc, self.timeout = name, description, timeout
        self.pending: list[Any] = []                 # Works that have not been waited for
        self.late: list[Handle] = []                 # of ranks that were late at a monitored_barrier

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
        """Complete the collectives that were started with async_op=True, in the order of the starts."""
        pending, self.pending = self.pending, []
        for work in pending:
            work.complete()
        for handle in self.late:
            if handle.done():
                handle.wait()
        self.late = [handle for handle in self.late if not handle.done()]

    def raise_on_all_ranks(self, name: str) -> on_all_ranks:
        """A block that checks this rank's arguments. Its exception is raised here, and as a CollectiveError on the other
        ranks, which would otherwise wait."""
        return on_all_ranks(self.communicator, name)

    def __repr__(self) -> str:
        return f"<ProcessGroup {self.group_name!r} of ranks {self.ranks}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> ProcessGroup:
        """Itself: a copy of a module that refers to its group uses the same one."""
        return self


class _State:
    """The groups of a process; of a thread, where ranks are threads."""

    def __init__(self) -> None:
        self.world: ProcessGroup | None = None
        self.groups: list[ProcessGroup] = []         # including the default one
        self.groups_created = 0                                # so far, including those without this rank
        self.limit: timedelta | None = None          # the longest timeout of all groups


_process = _State()
_thread: contextvars.ContextVar[_State | None] = contextvars.ContextVar("_thread", default=None)


def _state() -> _State:
    """The state of this process; ranks that are threads (dparallel.run_ranks) have one each."""
    return _thread.get() or _process


def is_available() -> bool:
    """True: communication by MPI is part of dparallel.

    Returns:
        bool: True.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.is_available()
        True
    """
    return True


def is_initialized() -> bool:
    """Whether init_process_group() has created a default group, which has lost no rank (see dparallel.survive).

    Returns:
        bool: Whether there is a default group.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.is_initialized()
        False
    """
    group = _state().world
    return group is not None and not group.communicator.abandoned


def init_process_group(backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None,
                       world_size: int = -1, rank: int = -1, store: Store | None = None, group_name: str = "",
                       pg_options: object = None, device_id: object = None, *, comm: Any = None) -> None:
    """Create the default group, of all ranks of this job. Collective.

    Ranks and their number are MPI's, as dprun, mpirun and srun set them. If world_size and rank are given, here or by
    init_method="tcp://..." or "file://...", the size must be MPI's, and the ranks a permutation of MPI's. Processes that
    another launcher started (torchrun, multiprocessing), with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the
    environment, or with init_method, rank and world_size, are joined to an MPI job by an mpirun that rank 0 starts. They
    must be on one host, and must not have started MPI.

    Args:
        backend (str): A name of PyTorch's, or one for each device as in "cpu:gloo,cuda:nccl"; all of them use MPI.
            Default: None, "mpi".
        init_method (str): Where processes that no MPI launcher has started meet: "env://", "tcp://HOST:PORT" or
            "file://PATH". Default: None, "env://".
        timeout (timedelta): How long a rank waits in one collective before the watchdog ends the job with a report
            of all ranks' states (dparallel.stall_limit). Default: None: it reports after 60 s and ends the job after
            600 s.
        world_size (int): The number of ranks, which must be MPI's. Default: -1, MPI's.
        rank (int): This process's rank. Default: -1, MPI's.
        store (Store): Where processes meet, in place of init_method; needs rank and world_size. Default: None.
        group_name (str): The group's name. Default: "", "0".
        pg_options: Ignored. Default: None.
        device_id: None or the CPU. Default: None.
        comm: A dparallel or mpi4py communicator in place of the job's. Default: None.

    Raises:
        ValueError: there is a default group already, or an argument is wrong.
        TypeError: timeout is not a timedelta.
        RuntimeError: world_size is not MPI's, the ranks are not a permutation of MPI's, or the processes can't be
            joined.
        NotImplementedError: device_id is not the CPU, or Windows is to join processes.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.init_process_group("gloo")
        >>> dist.get_rank(), dist.get_world_size()      # of all ranks that dprun has started; here it is one
        (0, 1)
        >>> dist.destroy_process_group()
    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    named = Backend.of(backend)
    limit = checked_timeout(timeout)
    if device_id is not None and str(device_id).partition(":")[0] != "cpu":
        raise NotImplementedError(f"init_process_group(device_id={device_id!r}): there are no devices but the CPU here")
    if store is not None and init_method is not None:
        raise ValueError("Cannot specify both init_method and store.")
    if store is not None and not (rank >= 0 and world_size > 0):
        raise ValueError("init_process_group(store=...) needs world_size and rank")
    if comm is None:
        rank, size = join_job(init_method, rank, world_size, store, limit or default_pg_timeout)
        base = world()
    else:
        base, size = communicator(comm), world_size
    if len(base.held) > 1:
        raise ValueError(f"init_process_group: a process group has one rank in each process, {base!r} has {base.size}")
    arguments = base.allgather_object([(rank, size)])        # so that a mistake on one rank is an error on all
    others = {place: expected for place, (_, expected) in enumerate(arguments) if 0 < expected != base.size}
    if others:
        raise RuntimeError(OTHER_SIZE.format(wanted="/".join(map(str, sorted(set(others.values())))), size=base.size,
                                             s="s" * (len(others) > 1), ranks=", ".join(map(str, others))))
    ranks = [number for number, _ in arguments]
    if any(number >= 0 for number in ranks) and sorted(ranks) != list(range(base.size)):
        raise RuntimeError(f"init_process_group: rank={rank} here, but the {base.size} ranks of this job say {ranks}; each "
                           f"number from 0 to {base.size - 1} is to be there once")
    group_comm = base.duplicate() if rank < 0 or ranks == sorted(ranks) else base.split(0, rank)
    state = _process
    if group_comm.kind == "threads":
        state = _State()
        _thread.set(state)
    state.world = ProcessGroup(group_comm, range(group_comm.size), named, group_name or "0", "default_pg",
                               limit or default_pg_timeout)
    state.groups, state.groups_created = [state.world], 1
    _set_stall_limit(state, limit)


def destroy_process_group(group: Group = None) -> None:
    """Free a group, or, for the default one, all groups. Collective over the group. ValueError if it is not a group, or was
    freed.

    Args:
        group (ProcessGroup): The group to free. Default: None, the default group and with it all groups.

    Raises:
        ValueError: it is not a group, or was freed.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.init_process_group()
        >>> dist.destroy_process_group()
        >>> dist.is_initialized()
        False
    """
    state = _state()
    if group is None or group is state.world:
        default_group()
        for other in reversed(state.groups):
            _free(other)
        state.world, state.groups, state.groups_created, state.limit = None, [], 0, None
        _thread.set(None)
        return
    pg = _own_group(group)
    if pg is not None:
        state.groups.remove(pg)
        _free(pg)


def _free(group: ProcessGroup) -> None:
    """Complete the group's collectives and free its communicator."""
    group.settle()
    group.communicator.free()


def checked_timeout(timeout: timedelta | None) -> timedelta | None:
    """The timeout; TypeError if it is of another type."""
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout!r}")
    return timeout


def _set_stall_limit(state: _State, limit: timedelta | None) -> None:
    """Let the watchdog end the job when a rank waits longer than the longest timeout of all groups."""
    if limit is not None and state.world is not None and state.world.communicator.kind == "mpi":
        state.limit = limit if state.limit is None else max(limit, state.limit)
        stall_limit(state.limit.total_seconds(), abort=True)


# --- ranks and sizes -------------------------------------------------------------------------------------------------------

def default_group() -> ProcessGroup:
    """The default group; ValueError before init_process_group.

    Returns:
        ProcessGroup: The default group.

    Raises:
        ValueError: there is none.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.init_process_group()
        >>> dist._get_default_group().ranks
        [0]
        >>> dist.destroy_process_group()
    """
    world = _state().world
    if world is None:
        raise ValueError(NOT_INITIALIZED)
    return world


def _own_group(group: Group) -> ProcessGroup | None:
    """The group (None: the default one); None for NON_GROUP_MEMBER. ValueError if it is not a group, or was destroyed."""
    world = default_group()
    if group is None or group is world:
        return world
    if isinstance(group, int) and group == GroupMember.NON_GROUP_MEMBER:
        return None
    if not isinstance(group, ProcessGroup) or group not in _state().groups:
        raise ValueError(f"Group {group!r} is not registered, please create group with new_group()")
    return group


def is_member(group: Group) -> bool:
    """Whether this rank is in a group (None: the default one). ValueError if it is not a group, or was destroyed."""
    return _own_group(group) is not None


def member_of(group: Group, name: str) -> ProcessGroup | None:
    """The group of a collective; None, with a warning, if this rank is not in it."""
    pg = _own_group(group)
    if pg is not None:
        return pg
    warnings.warn(f"Running {name} on global rank {get_rank()} which does not belong to the given group.", stacklevel=3)
    return None


def get_rank(group: Group = None) -> int:
    """This process's rank in the group (default: in the job); -1 if it is not in it.

    Args:
        group (ProcessGroup): The group. Default: None, the default group.

    Returns:
        int: The rank, from 0 to the size - 1; -1 if this process is not in the group.

    Raises:
        ValueError: there is no default group, or the group was destroyed.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     rank = dist.get_rank()
        ...     dist.destroy_process_group()
        ...     return rank
        >>> dparallel.run_ranks(2, main)
        [0, 1]
    """
    pg = _own_group(group)
    return -1 if pg is None else pg.rank()


def get_world_size(group: Group = None) -> int:
    """The number of members of the group; -1 if this process is not in it.

    Args:
        group (ProcessGroup): The group. Default: None, the default group.

    Returns:
        int: The size; -1 if this process is not in the group.

    Raises:
        ValueError: there is no default group, or the group was destroyed.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     size = dist.get_world_size()
        ...     dist.destroy_process_group()
        ...     return size
        >>> dparallel.run_ranks(2, main)
        [2, 2]
    """
    pg = _own_group(group)
    return -1 if pg is None else pg.size()


def get_backend(group: Group = None) -> str:
    """The name of the backend that the group was created with, "mpi" by default. All of them use MPI.

    Args:
        group (ProcessGroup): The group. Default: None, the default group.

    Returns:
        str: The name, in lower case.

    Raises:
        ValueError: there is no default group, the group was destroyed, or this rank is not in it.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.init_process_group()
        >>> dist.get_backend()
        'mpi'
        >>> dist.destroy_process_group()
    """
    return str(_group_of(group).backend)


def get_backend_config(group: Group = None) -> str:
    """The backend of each device, as "cpu:mpi".

    Args:
        group (ProcessGroup): The group. Default: None, the default group.

    Returns:
        str: The text.

    Raises:
        ValueError: there is no default group, the group was destroyed, or this rank is not in it.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.init_process_group()
        >>> dist.get_backend_config()
        'cpu:mpi'
        >>> dist.destroy_process_group()
    """
    return f"cpu:{get_backend(group)}"


def _group_of(group: Group) -> ProcessGroup:
    """The group; ValueError if this rank is not in it."""
    pg = _own_group(group)
    if pg is None:
        raise ValueError("Invalid process group specified")
    return pg


def get_process_group_ranks(group: Group = None) -> list[int]:
    """The members' global ranks, by group rank.

    Args:
        group (ProcessGroup): The group. Default: None, the default group.

    Returns:
        list of int: The global ranks.

    Raises:
        ValueError: there is no default group, the group was destroyed, or this rank is not in it.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     ranks = dist.get_process_group_ranks(dist.new_group([1, 0], sort_ranks=False))
        ...     dist.destroy_process_group()
        ...     return ranks
        >>> dparallel.run_ranks(2, main)
        [[1, 0], [1, 0]]
    """
    return list(_group_of(group).ranks)


def get_group_rank(group: Group, global_rank: int) -> int:
    """The group rank of a global rank; ValueError if it is not a member.

    Args:
        group (ProcessGroup): The group; None is the default group.
        global_rank (int): A member's global rank.

    Returns:
        int: Its rank in the group.

    Raises:
        ValueError: it is not a member, or this rank is not in the group.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     group = dist.new_group([1, 0], sort_ranks=False)
        ...     place = dist.get_group_rank(group, 1)
        ...     dist.destroy_process_group()
        ...     return place
        >>> dparallel.run_ranks(2, main)
        [0, 0]
    """
    ranks = _group_of(group).ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group!r}")
    return ranks.index(global_rank)


def get_global_rank(group: Group, group_rank: int) -> int:
    """The global rank of a group rank; ValueError if there is no such member.

    Args:
        group (ProcessGroup): The group; None is the default group.
        group_rank (int): A member's rank in the group.

    Returns:
        int: Its global rank.

    Raises:
        ValueError: there is no such member, or this rank is not in the group.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     group = dist.new_group([1, 0], sort_ranks=False)
        ...     rank = dist.get_global_rank(group, 0)
        ...     dist.destroy_process_group()
        ...     return rank
        >>> dparallel.run_ranks(2, main)
        [1, 1]
    """
    ranks = _group_of(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group!r}")
    return ranks[group_rank]


def place_of(group: ProcessGroup, rank: int | None, group_rank: int | None, name: str, default: int | None = None) -> int:
    """The group rank of a root or peer that is given by its global rank or by its group rank."""
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
    """The number of groups that this process is in.

    Returns:
        int: The number, with the default group.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.init_process_group()
        >>> group = dist.new_group([0])
        >>> dist.get_pg_count()
        2
        >>> dist.destroy_process_group()
    """
    return len(_state().groups)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """LOCAL_RANK of the environment, as dprun and torchrun set it, or fallback_rank; RuntimeError without both.

    Args:
        fallback_rank (int): What to return if the environment has no LOCAL_RANK. Default: None.

    Returns:
        int: This process's rank on its host.

    Raises:
        RuntimeError: LOCAL_RANK is not set and fallback_rank is None.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.get_node_local_rank(fallback_rank=0)
        0
    """
    if "LOCAL_RANK" in environment:
        return int(environment.text("LOCAL_RANK"))
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError("LOCAL_RANK is not in the environment; start with dprun, or pass a `fallback_rank`")


# --- groups of some of the ranks -------------------------------------------------------------------------------------------

def new_group(ranks: Sequence[int] | None = None, timeout: timedelta | None = None, backend: str | None = None,
              pg_options: object = None, use_local_synchronization: bool = False, group_desc: str | None = None,
              device_id: object = None, sort_ranks: bool = True) -> ProcessGroup | int:
    """Create a group of the listed global ranks (default: all), in ascending order, or, with sort_ranks=False, in the
    order of the list. Collective over all ranks, which pass the same list; returns GroupMember.NON_GROUP_MEMBER on other
    ranks.

    ValueError for ranks that do not exist or are listed twice; CollectiveError, on all ranks, if the lists differ.

    Args:
        ranks (list of int): Global ranks. Default: None, all.
        timeout (timedelta): How long a rank waits in one collective; the longest of all groups holds for all.
            Default: None: the watchdog's limit, and 30 minutes in monitored_barrier().
        backend (str): A name of PyTorch's; all of them use MPI. Default: None, that of the default group.
        pg_options: Ignored. Default: None.
        use_local_synchronization (bool): Not implemented. Default: False.
        group_desc (str): A description. Default: None, "undefined".
        device_id: Ignored. Default: None.
        sort_ranks (bool): Whether group ranks are in the order of global ranks, or in that of the list. Default:
            True.

    Returns:
        ProcessGroup or int: The group; GroupMember.NON_GROUP_MEMBER on ranks that are not in it.

    Raises:
        ValueError: ranks do not exist or are listed twice, or there is no default group.
        CollectiveError: the ranks' lists differ.
        TypeError: timeout is not a timedelta.
        NotImplementedError: use_local_synchronization is True.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     group = dist.new_group([1])
        ...     rank = dist.get_rank(group)
        ...     dist.destroy_process_group()
        ...     return rank
        >>> dparallel.run_ranks(2, main)
        [-1, 0]
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
        raise CollectiveError(f"{name}: the ranks name different groups: " + "; ".join(
            f"rank {rank}: {other}" for rank, other in enumerate(gathered)))


def _create_group(parent: ProcessGroup, ranks: list[int], backend: Backend, limit: timedelta | None,
                  description: str | None) -> ProcessGroup | int:
    """The group of some members of the parent, listed by their ranks in the parent."""
    state, rank = _state(), parent.rank()
    state.groups_created += 1
    comm = parent.communicator.split(0 if rank in ranks else None, ranks.index(rank) if rank in ranks else 0)
    _set_stall_limit(state, limit)
    if comm is None:
        return GroupMember.NON_GROUP_MEMBER
    name = str(state.groups_created - 1)
    group = ProcessGroup(comm, [parent.ranks[place] for place in ranks], backend, name, description or "undefined",
                         limit or default_pg_timeout)
    state.groups.append(group)
    return group


def new_subgroups(group_size: int | None = None, group: Group = None, timeout: timedelta | None = None,
                  backend: str | None = None, pg_options: object = None,
                  group_desc: str | None = None) -> tuple[ProcessGroup | None, list[ProcessGroup | int]]:
    """Create groups of group_size consecutive ranks. Returns this rank's group, and the list of all (with
    NON_GROUP_MEMBER for groups without this rank). Collective. ValueError if the number of ranks is not a multiple of
    group_size.

    Args:
        group_size (int): The ranks in each group, a divisor of their number.
        group (ProcessGroup): None or the default group. Default: None.
        timeout (timedelta): How long a rank waits in one collective; the longest of all groups holds for all.
            Default: None: the watchdog's limit, and 30 minutes in monitored_barrier().
        backend (str): A name of PyTorch's; all of them use MPI. Default: None, that of the default group.
        pg_options: Ignored. Default: None.
        group_desc (str): A description. Default: None, "undefined".

    Returns:
        tuple: This rank's group, and the list of all groups.

    Raises:
        ValueError: group_size is missing, not positive, or not a divisor of the number of ranks.
        NotImplementedError: group is another than the default group.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     mine, groups = dist.new_subgroups(group_size=1)
        ...     found = mine.ranks, len(groups)
        ...     dist.destroy_process_group()
        ...     return found
        >>> dparallel.run_ranks(2, main)
        [([0], 2), ([1], 2)]
    """
    with default_group().raise_on_all_ranks("new_subgroups"):
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
                                 backend: str | None = None, pg_options: object = None,
                                 group_desc: str | None = None
                                 ) -> tuple[ProcessGroup | None, list[ProcessGroup | int]]:
    """Create groups of the listed global ranks. Returns this rank's group (None if it is in none), and the list of all.
    Collective. ValueError if a rank is in two groups.

    Args:
        ranks_per_subgroup_list (list of list of int): The global ranks of each group.
        timeout (timedelta): How long a rank waits in one collective; the longest of all groups holds for all.
            Default: None: the watchdog's limit, and 30 minutes in monitored_barrier().
        backend (str): A name of PyTorch's; all of them use MPI. Default: None, that of the default group.
        pg_options: Ignored. Default: None.
        group_desc (str): A description. Default: None, "undefined".

    Returns:
        tuple: This rank's group or None, and the list of all groups.

    Raises:
        ValueError: the list is empty, or a rank is in two groups or does not exist.
        CollectiveError: the ranks' lists differ.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     mine, groups = dist.new_subgroups_by_enumeration([[0], [1]])
        ...     found = mine.ranks
        ...     dist.destroy_process_group()
        ...     return found
        >>> dparallel.run_ranks(2, main)
        [[0], [1]]
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
    """Split a group (default: all ranks) into the listed parts, given by group ranks. Returns this rank's part, None if
    it is in none. Collective over the group. ValueError if a rank is in two parts; NotImplementedError for pg_options
    (NCCL's).

    Args:
        parent_pg (ProcessGroup): The group to split. Default: None, the default group.
        split_ranks (list of list of int): The group ranks of each part.
        timeout (timedelta): How long a rank waits in one collective; the longest of all groups holds for all.
            Default: None: the watchdog's limit, and 30 minutes in monitored_barrier().
        pg_options: Not implemented. Default: None.
        group_desc (str): A description. Default: None, "undefined".
        backend (str): A name of PyTorch's; all of them use MPI. Default: None, that of the group that is split.

    Returns:
        ProcessGroup or None: This rank's part; None if it is in none.

    Raises:
        ValueError: split_ranks is empty, or a rank is in two parts or does not exist.
        CollectiveError: the ranks' lists differ.
        TypeError: timeout is not a timedelta.
        NotImplementedError: pg_options is given.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     part = dist.split_group(split_ranks=[[0], [1]])
        ...     found = part.ranks
        ...     dist.destroy_process_group()
        ...     return found
        >>> dparallel.run_ranks(2, main)
        [[0], [1]]
    """
    parent = member_of(parent_pg, "split_group")
    if parent is None:
        return None
    with parent.raise_on_all_ranks("split_group"):
        if pg_options is not None:
            raise NotImplementedError("split_group(pg_options=...): options of NCCL; there are none of MPI")
        limit = checked_timeout(timeout)
        if not split_ranks:
            raise ValueError("split_ranks cannot be None or empty")
        parts = [_checked_ranks(part, parent.size()) for part in split_ranks]
        _checked_ranks([rank for part in parts for rank in part], parent.size())
        named = parent.backend if backend is None else Backend.of(backend)
    _check_same_ranks(parent, "split_group", parts)
    part_number = next((number for number, part in enumerate(parts) if parent.rank() in part), None)
    state = _state()
    comm = parent.communicator.split(part_number)
    state.groups_created += 1
    _set_stall_limit(state, limit)
    if part_number is None or comm is None:
        return None
    group = ProcessGroup(comm, [parent.ranks[place] for place in parts[part_number]], named,
                         f"{state.groups_created - 1}.{part_number}", group_desc or "undefined",
                         limit or default_pg_timeout)
    state.groups.append(group)
    return group
