"""Communicators: arrays between places. world() is the one that this process was started with."""

from __future__ import annotations

from .base import Communicator, Handle
from .call import CollectiveError, even_split
from .devices import Devices, root_of
from .given import Places, communicator, from_mpi, gathering_place, is_communicator, launched_size, places_of, world
from .hierarchy import Hierarchical, choose_allreduce
from .stall import stall_limit
from .threads import RankFailure, run_ranks

__all__ = ["CollectiveError", "Communicator", "Devices", "Handle", "Hierarchical", "Places", "RankFailure",
           "choose_allreduce", "communicator", "even_split", "from_mpi", "gathering_place", "is_communicator",
           "launched_size", "places_of", "root_of", "run_ranks", "stall_limit", "world"]
