"""Communicators: collectives and messages of arrays between ranks. world() is the job's communicator.

May import: nothing. Read first: base.py, then reference.py.
"""

from __future__ import annotations

from .base import Communicator, Handle
from .devices import Devices, root_of
from .header import CollectiveError, even_split
from .hierarchy import Hierarchical, choose_allreduce
from .job import (
           CommOrDevices,
           comm_or_devices,
           communicator,
           from_mpi,
           gather_target,
           is_communicator,
           launched_size,
           report_progress,
           world,
)
from .lost import RankLost
from .preemption import graceful_exit
from .refusal import on_all_ranks
from .threads import RankFailure, run_ranks
from .watchdog.stall import stall_limit

__all__ = ["CollectiveError", "CommOrDevices", "Communicator", "Devices", "Handle", "Hierarchical", "RankFailure",
           "RankLost", "choose_allreduce", "comm_or_devices", "communicator", "even_split", "from_mpi", "gather_target",
           "graceful_exit", "is_communicator", "launched_size", "on_all_ranks", "report_progress", "root_of", "run_ranks",
           "stall_limit", "world"]
