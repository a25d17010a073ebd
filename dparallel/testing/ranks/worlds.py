"""World: a kind and size of communicator that a test runs on. RanksMarker: the arguments of the marker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

from ...comm import Devices, launched_size, run_ranks, world
from ..network import Network

KINDS = ("devices", "threads", "network", "mpi")
ARGUMENTS = {"kinds", "timeout", "isolated"}


class World(NamedTuple):
    """A kind of communicator and its size, the parameter `comm` of a test."""

    kind: str
    size: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.size}"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self!r} has no {name!r}: fixtures get the kind and size of their test's communicator, which "
                             "is made for the test alone; let a fixture return a function of comm")

    def run(self, check: Callable[..., Any], timeout: float = 60.0) -> list[Any]:
        """Call check(comm) once with local devices, on every rank as threads, or on this MPI rank. Returns the results."""
        if self.kind == "devices":
            return [check(Devices(self.size))]
        if self.kind == "mpi":
            return [check(world())]
        return run_ranks(self.size, check, timeout=timeout, network=Network() if self.kind == "network" else None)


class RanksMarker(NamedTuple):
    """The arguments of a test's marker, with the ini file's defaults."""

    sizes: tuple[int, ...]
    kinds: tuple[str, ...]
    timeout: float
    isolated: bool
    any_size: bool                                   # no sizes were given: other sizes are allowed

    def worlds(self) -> list[World]:
        """The worlds of the test; under MPI the current one, if the marker allows it."""
        here = launched_size()
        if here:
            return [World("mpi", here)] if "mpi" in self.kinds and (self.any_size or here in self.sizes) else []
        return [World(kind, size) for kind in self.kinds for size in self.sizes]


def requested_ranks(item: pytest.Item, config: pytest.Config) -> RanksMarker | None:
    """The arguments of a test's marker; None without a marker. pytest.UsageError for a wrong argument."""
    marker = item.get_closest_marker("ranks")
    if marker is None:
        return None
    unknown = set(marker.kwargs) - ARGUMENTS
    if unknown:
        raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.ranks has no argument {sorted(unknown)[0]!r}; it has sizes "
                                f"and {', '.join(sorted(ARGUMENTS))}")
    sizes = marker.args[0] if len(marker.args) == 1 and isinstance(marker.args[0], (list, tuple)) else marker.args
    kinds = marker.kwargs.get("kinds") or config.getini("ranks_kinds")
    limit = marker.kwargs.get("timeout") or config.getini("ranks_timeout")
    try:
        return RanksMarker(_sizes(sizes or config.getini("ranks_sizes")), _kinds(kinds), _seconds(limit),
                           bool(marker.kwargs.get("isolated", config.getini("ranks_isolated"))), not sizes)
    except ValueError as error:
        raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.ranks: {error}") from None


def _sizes(given: Sequence[Any]) -> tuple[int, ...]:
    """The sizes as distinct ints; ValueError for anything else."""
    if any(isinstance(n, bool) or not str(n).isdigit() or int(n) < 1 for n in given):
        raise ValueError(f"sizes are whole numbers of ranks, at least 1, not {list(given)}")
    return tuple(dict.fromkeys(int(n) for n in given))


def _kinds(given: str | Sequence[str]) -> tuple[str, ...]:
    """The kinds as a tuple; ValueError for an unknown one."""
    kinds = (given,) if isinstance(given, str) else tuple(given)
    if not kinds or any(kind not in KINDS for kind in kinds):
        raise ValueError(f"kinds are some of {', '.join(KINDS)}, not {given!r}")
    return kinds


def _seconds(given: float | str) -> float:
    """The time limit; ValueError unless it is a positive number."""
    limit = float(given)                             # ValueError in its own words
    if not 0 < limit < float("inf"):
        raise ValueError(f"timeout is a number of seconds above 0, not {given!r}")
    return limit
