"""Slurm: the allocation of a batch script, a script that requests one, and the job's return to the queue."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
from typing import NamedTuple

LEAD = 30                                            # seconds between the end of the grace and the time limit


class Allocation(NamedTuple):
    """The hosts of a Slurm job in order, the tasks on each, and the cores of a task (0: unspecified)."""

    hosts: list[str]
    tasks: list[int]
    cores: int


def allocation() -> Allocation | None:
    """The allocation that this process runs in; None if there is none."""
    nodes = os.environ.get("SLURM_JOB_NODELIST") or ""
    if not nodes or os.environ.get("SLURM_JOB_ID") is None:
        return None
    hosts = expand(nodes)
    counts = repeated(os.environ.get("SLURM_TASKS_PER_NODE") or "1") + [1] * len(hosts)
    cores = os.environ.get("SLURM_CPUS_PER_TASK") or ""
    return Allocation(hosts, counts[:len(hosts)], int(cores) if cores.isdigit() else 0)


def started_by_srun() -> int:
    """The number of processes that srun has started; 0 for a batch script, and a shell of `srun --pty`."""
    size = os.environ.get("SLURM_STEP_NUM_TASKS") or ""
    step = os.environ.get("SLURM_PROCID") is not None and os.environ.get("SLURM_PTY_PORT") is None
    return int(size) if step and size.isdigit() else 0


def expand(nodes: str) -> list[str]:
    """The names in Slurm's notation.

    >>> expand("a[1-2,07-08],login")
    ['a1', 'a2', 'a07', 'a08', 'login']
    """
    names = []
    for item in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", nodes):
        found = [""]
        for text, ranges in re.findall(r"([^\[]*)(?:\[([^\]]*)\])?", item):
            ends = [""] if not ranges else [
                str(number).zfill(len(first)) for first, _, last in (part.partition("-") for part in ranges.split(","))
                for number in range(int(first), int(last or first) + 1)]
            found = [name + text + end for name in found for end in ends]
        names += found
    return names


def repeated(counts: str) -> list[int]:
    """The numbers in Slurm's notation.

    >>> repeated("2(x3),1")
    [2, 2, 2, 1]
    """
    return [int(number) for number, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", counts) for _ in range(int(times or 1))]


def lost() -> set[str]:
    """The hosts of the allocation that Slurm has taken from the job because they are down, or that do not respond."""
    given = os.environ.get("SLURM_JOB_NODELIST") or ""
    held = expand(said("squeue", "-h", "-j", os.environ.get("SLURM_JOB_ID") or "", "-o", "%N"))
    states = (line.split() for line in said("sinfo", "-h", "-N", "-n", given, "-o", "%N %t").splitlines())
    silent = {words[0] for words in states if len(words) == 2 and re.match(r"(down|fail|unk)|.*\*$", words[1])}
    return silent | (set(expand(given)) - set(held) if held else set())


def said(*command: str) -> str:
    """The output of a Slurm command."""
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout.strip()


def requeue() -> str:
    """Return this job to the queue. Returns what went wrong, "" if nothing did."""
    job = os.environ.get("SLURM_JOB_ID")
    if job is None or shutil.which("scontrol") is None:
        return "--requeue requires a Slurm job: there is no SLURM_JOB_ID, or no scontrol"
    done = subprocess.run(["scontrol", "requeue", job], capture_output=True, text=True, timeout=60, check=False)
    return (done.stderr or done.stdout).strip() if done.returncode else ""


def script(options: argparse.Namespace, arguments: list[str], grace: float) -> str:
    """The batch script that runs dprun with these arguments: it ends on request in time, saves, and is queued again."""
    name = options.script.rpartition(".")[2] if options.module else os.path.basename(options.script).removesuffix(".py")
    lines = [f"--job-name={name}", f"--ntasks={options.np or 1}",
             *([f"--cpus-per-task={options.threads}"] if options.threads else []),
             *(["--no-kill"] if options.restarts else []),       # of a lost node Slurm ends the step, not the job
             f"--signal=B:USR1@{int(grace) + LEAD}", "--requeue", "--open-mode=append", "--output=%x-%j.out"]
    return "\n".join(["#!/bin/bash", *(f"#SBATCH {line}" for line in lines), "",
                      "# exec: dprun gets the signal; its ranks save and exit with code 75, and the job is queued again",
                      f"exec {shlex.join(['dprun', '--requeue', *arguments])}", ""])
