"""Process groups under torch.distributed's names: init_process_group, new_group, ranks and sizes.

A ProcessGroup is a communicator with its members' global ranks, accepted wherever dparallel accepts `comm` or
`process_group`. The default group duplicates the job's communicator, so its messages never match those of dparallel.world().
"""

from __future__ import annotations

import contextvars
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeAlias

from ..comm import Communicator, Handle, communicator, on_all_ranks, stall_limit, world
from ..comm.environment import environment
from .rendezvous import join_job
from .stores import Store

NOT_INITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."
MSG_PICKLED = ("DDP Pickling/Unpickling are only supported when using DDP with the default process group. That is, when you "
               "have called init_process_group and have not passed process_group argument to DDP constructor")
OTHER_SIZE = ("init_process_group: world_size={requested} (the argument, or WORLD_SIZE in the environment) on rank{s} "
              "{ranks}, but this job has {size}. Start the script with that many ranks (`dprun -n {requested}`, or mpirun, "
              "srun), or omit world_size and unset WORLD_SIZE")
default_pg_timeout: timedelta = timedelta(minutes=30)


Group: TypeAlias = "ProcessGroup | int | None"       # None is the default group, an int NON_GROUP_MEMBER


class Backend(str):
    """The name of a backend, in lower case. All backends use MPI."""

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
        """The backend of an argument: that of the CPU in "cpu:gloo,cuda:nccl", "mpi" for None."""
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
        return group_state().world


class group(metaclass=_World):                       # in lower case, as in PyTorch
    """group.WORLD: the default group."""


class GroupMember(metaclass=_World):
    """GroupMember.WORLD: the default group. NON_GROUP_MEMBER: the result of new_group() on ranks outside the group."""

    NON_GROUP_MEMBER = -100


class ProcessGroup:
    """Ranks that communicate with each other, created by init_process_group() and new_group()."""

    def __reduce__(self) -> Any:
        """The default group is that of the process that unpickles. RuntimeError for others."""
        if self is not group_state().world:
            raise RuntimeError(MSG_PICKLED)
        return default_group, ()

    def __init__(self, comm: Communicator, ranks: Sequence[int], backend: Backend, name: str, description: str,
                 timeout: timedelta) -> None:
        self.communicator, self.ranks, self.backend = comm, list(ranks), backend
        self.group_name, self.group_desc, self.timeout = name, description, timeout
        self.pending: list[Any] = []                 # Works that have not been waited for
        self.late: list[Handle] = []                 # receives from ranks that were late at a monitored_barrier

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
        """Complete the collectives started with async_op=True, in the order of the starts."""
        pending, self.pending = self.pending, []
        for work in pending:
            work.complete()
        for handle in self.late:
            if handle.done():
                handle.wait()
        self.late = [handle for handle in self.late if not handle.done()]

    def raise_on_all_ranks(self, name: str) -> on_all_ranks:
        """A block that checks arguments: an exception here is a CollectiveError on the other ranks, which would wait."""
        return on_all_ranks(self.communicator, name)

    def __repr__(self) -> str:
        return f"<ProcessGroup {self.group_name!r} of ranks {self.ranks}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> ProcessGroup:
        """Return itself: a copied module uses the group of the original."""
        return self


class _State:
    """The groups of a process, or of a thread if ranks are threads."""

    def __init__(self) -> None:
        self.world: ProcessGroup | None = None
        self.groups: list[ProcessGroup] = []         # including the default one
        self.groups_created = 0                                # so far, including those without this rank
        self.limit: timedelta | None = None          # the longest timeout of all groups


_process = _State()
_thread: contextvars.ContextVar[_State | None] = contextvars.ContextVar("_thread", default=None)


def group_state() -> _State:
    """The state of this process; ranks that are threads (dparallel.run_ranks) have one each."""
    return _thread.get() or _process


def is_available() -> bool:
    """True: communication by MPI is part of dparallel."""
    return True


def is_initialized() -> bool:
    """Whether init_process_group() has created a default group that has lost no rank (see dparallel.survive)."""
    group = group_state().world
    return group is not None and not group.communicator.abandoned


def init_process_group(backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None,
                       world_size: int = -1, rank: int = -1, store: Store | None = None, group_name: str = "",
                       pg_options: object = None, device_id: object = None, *, comm: Any = None) -> None:
    """Create the default group, of all ranks of this job. Collective.

    dprun, mpirun and srun set ranks and size, through MPI. If world_size and rank are passed, here or by
    init_method="tcp://..." or "file://...", the size must be MPI's, and the ranks a permutation of MPI's. Processes of
    another launcher (torchrun, multiprocessing), with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the environment, or
    with init_method, rank and world_size, are joined to an MPI job by an mpirun that rank 0 starts. They must be on one
    host, and must not have started MPI.
    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    named = Backend.of(backend)
    limit = checked_timeout(timeout)
    if device_id is not None and str(device_id).partition(":")[0] != "cpu":
        raise NotImplementedError(f"init_process_group(device_id={device_id!r}): the only device is the CPU")
    if store is not None and init_method is not None:
        raise ValueError("Cannot specify both init_method and store.")
    if store is not None and not (rank >= 0 and world_size > 0):
        raise ValueError("init_process_group(store=...) requires world_size and rank")
    if comm is None:
        rank, size = join_job(init_method, rank, world_size, store, limit or default_pg_timeout)
        base = world()
    else:
        base, size = communicator(comm), world_size
    if len(base.held) > 1:
        raise ValueError(f"init_process_group: a process group has one rank per process, but {base!r} has {base.size}")
    arguments = base.allgather_object([(rank, size)])        # so that a mistake on one rank is an error on all
    others = {number: expected for number, (_, expected) in enumerate(arguments) if 0 < expected != base.size}
    if others:
        raise RuntimeError(OTHER_SIZE.format(requested="/".join(map(str, sorted(set(others.values())))), size=base.size,
                                             s="s" * (len(others) > 1), ranks=", ".join(map(str, others))))
    ranks = [number for number, _ in arguments]
    if any(number >= 0 for number in ranks) and sorted(ranks) != list(range(base.size)):
        raise RuntimeError(f"init_process_group: rank={rank} here, but the {base.size} ranks of this job pass {ranks}; each "
                           f"number from 0 to {base.size - 1} must occur once")
    group_comm = base.duplicate() if rank < 0 or ranks == sorted(ranks) else base.split(0, rank)
    state = _process
    if group_comm.kind == "threads":
        state = _State()
        _thread.set(state)
    state.world = ProcessGroup(group_comm, range(group_comm.size), named, group_name or "0", "default_pg",
                               limit or default_pg_timeout)
    state.groups, state.groups_created = [state.world], 1
    set_stall_limit(state, limit)


def destroy_process_group(group: Group = None) -> None:
    """Free a group, or all groups. Collective over the group."""
    state = group_state()
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
    """The timeout; TypeError if it is not a timedelta."""
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout!r}")
    return timeout


def set_stall_limit(state: _State, limit: timedelta | None) -> None:
    """Let the watchdog end the job when a rank waits longer than the longest timeout of all groups."""
    if limit is not None and state.world is not None and state.world.communicator.kind == "mpi":
        state.limit = limit if state.limit is None else max(limit, state.limit)
        stall_limit(state.limit.total_seconds(), abort=True)


# --- ranks and sizes -------------------------------------------------------------------------------------------------------

def default_group() -> ProcessGroup:
    """The default group; ValueError before init_process_group()."""
    world = group_state().world
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
    if not isinstance(group, ProcessGroup) or group not in group_state().groups:
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
    """This process's rank in the group; -1 if it is not a member."""
    pg = _own_group(group)
    return -1 if pg is None else pg.rank()


def get_world_size(group: Group = None) -> int:
    """The number of ranks in the group; -1 if this process is not a member. For group, see get_rank()."""
    pg = _own_group(group)
    return -1 if pg is None else pg.size()


def get_backend(group: Group = None) -> str:
    """The name of the group's backend, in lower case; "mpi" by default. All backends use MPI. For group, see get_rank()."""
    return str(_group_of(group).backend)


def get_backend_config(group: Group = None) -> str:
    """The backend of each device, such as "cpu:mpi". For group, see get_rank()."""
    return f"cpu:{get_backend(group)}"


def _group_of(group: Group) -> ProcessGroup:
    """The group; ValueError if this rank is not in it."""
    pg = _own_group(group)
    if pg is None:
        raise ValueError("Invalid process group specified")
    return pg


def get_process_group_ranks(group: Group = None) -> list[int]:
    """The members' global ranks, by group rank. For group, see get_rank(); ValueError if this rank is not a member."""
    return list(_group_of(group).ranks)


def get_group_rank(group: Group, global_rank: int) -> int:
    """Translate a global rank into a group rank."""
    ranks = _group_of(group).ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group!r}")
    return ranks.index(global_rank)


def get_global_rank(group: Group, group_rank: int) -> int:
    """Translate a group rank into a global rank."""
    ranks = _group_of(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group!r}")
    return ranks[group_rank]


def group_rank_of(group: ProcessGroup, rank: int | None, group_rank: int | None, name: str,
                  default: int | None = None) -> int:
    """The group rank of a root or peer passed by its global rank or by its group rank."""
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
    """The number of groups that this process is in, including the default group."""
    return len(group_state().groups)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's rank on its host: LOCAL_RANK of the environment, set by dprun and torchrun, or fallback_rank."""
    if "LOCAL_RANK" in environment:
        return int(environment.text("LOCAL_RANK"))
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError("LOCAL_RANK is not in the environment; start with dprun, or pass `fallback_rank`")
