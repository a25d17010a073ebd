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
CONNECT = f"-oConnectTimeout={PROBE:.0f}"            # ssh's; without it ssh may wait for ever


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
    gone = lost() if by_slurm else silent(hosts, ssh)
    return [host for host in hosts if host.name not in gone]


def silent(hosts: Sequence[Host], ssh: str) -> dict[str, str]:
    """The hosts on which ssh can't run a command, and why, as " (Connection refused)"; "" if it does not say."""
    flags = ["-o", "BatchMode=yes", CONNECT] if "ssh" in ssh else []
    probes = {host.name: subprocess.Popen(
        [*shlex.split(ssh), *flags, host.name, "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True) for host in hosts if not is_here(host.name)}
    return {name: why for name, probe in probes.items() if (why := failure(probe)) is not None}


def failure(probe: subprocess.Popen[str]) -> str | None:
    """Why a probe failed, None if it did not; it is killed if it does not end in time."""
    try:
        said = probe.communicate(timeout=PROBE + 5)[1]
    except subprocess.TimeoutExpired:
        probe.kill()
        said = probe.communicate()[1] or f"no answer in {PROBE + 5:g} s"
    last = said.strip().rpartition("\n")[2].rpartition(": ")[2].strip()
    return None if probe.returncode == 0 else f" ({last})" if last else ""


def is_here(name: str) -> bool:
    """Whether a name or an address is this machine's."""
    if name in ("localhost", "127.0.0.1", socket.gethostname(), socket.gethostname().partition(".")[0]):
        return True
    if not re.fullmatch(r"[\d.]+", name):
        return False
    with socket.socket() as one:
        try:
            one.bind((name, 0))
        except OSError:
            return False
    return True


def ranks_on(left: Sequence[Host], of: Sequence[Host], ranks: int) -> int:
    """The number of ranks if only some hosts are left: in proportion to the slots, at least one."""
    return max(1, ranks * sum(host.slots or 1 for host in left) // max(1, sum(host.slots or 1 for host in of)))
