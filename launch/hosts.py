"""The hosts of a job: those passed, those of a Slurm allocation, and which of them respond."""

from __future__ import annotations

import argparse
import re
import shlex
import socket
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from .slurm import allocation, lost

PROBE = 10.0                                         # seconds in which a host must respond


class Host(NamedTuple):
    """A host and its number of slots for ranks (0: unspecified)."""

    name: str
    slots: int = 0


def hosts_of(options: argparse.Namespace) -> list[Host]:
    """The hosts that were passed, or the allocation's, in order; none for a job on this machine alone."""
    if options.hosts:
        return [host(item) for item in options.hosts.split(",") if item]
    if options.hostfile:
        with open(options.hostfile, encoding="utf-8") as file:
            lines = [line.partition("#")[0].split() for line in file]
        return [host(words[0], " ".join(words[1:])) for words in lines if words]
    found = allocation()
    return [] if found is None else [Host(name, slots) for name, slots in zip(found.hosts, found.tasks, strict=True)]


def host(text: str, more: str = "") -> Host:
    """The host of "name", "name:4", or Open MPI's "name slots=4"."""
    name, _, slots = text.partition(":")
    given = re.search(r"slots *= *(\d+)", more)
    return Host(name, int(given[1]) if given else int(slots) if slots.isdigit() else 0)


def answering(hosts: Sequence[Host], ssh: str, by_slurm: bool) -> list[Host]:
    """The hosts on which ranks can be started, according to Slurm or ssh."""
    if by_slurm:
        gone = lost()
        return [host for host in hosts if host.name not in gone]
    flags = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={PROBE:.0f}"] if "ssh" in ssh else []
    probes = {host.name: None if is_here(host.name) else subprocess.Popen(
        [*shlex.split(ssh), *flags, host.name, "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL) for host in hosts}
    good = {name for name, probe in probes.items() if probe is None or waited(probe) == 0}
    return [host for host in hosts if host.name in good]


def waited(probe: subprocess.Popen[bytes]) -> int:
    """A probe's exit status; it is killed if it does not end in time."""
    try:
        return probe.wait(PROBE + 5)
    except subprocess.TimeoutExpired:
        probe.kill()
        return probe.wait()


def is_here(name: str) -> bool:
    """Whether a name is this machine's."""
    return name in ("localhost", "127.0.0.1", socket.gethostname(), socket.gethostname().partition(".")[0])


def ranks_on(left: Sequence[Host], of: Sequence[Host], ranks: int) -> int:
    """The number of ranks if only some hosts are left: in proportion to the slots, at least one."""
    return max(1, ranks * sum(host.slots or 1 for host in left) // max(1, sum(host.slots or 1 for host in of)))
