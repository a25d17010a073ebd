"""The environment variables that dprun reads and sets: what they mean, and the one place where dprun's own side reads them.

| variable | meaning |
|---|---|
| PATH, HOME, TMPDIR | where mpirun is looked for; a home and a folder for temporary files, which Open MPI needs |
| OMP_NUM_THREADS and the others of THREADS | of a rank; set to the cores over a host's ranks where the first is not set |
| PYTHONPATH | of a rank; --torch-alias adds the folder of dparallel/torch_alias |
| MASTER_ADDR | the first host, for scripts that open sockets of their own; set for several hosts unless it is set |
| TORCHELASTIC_RUN_ID, _RESTART_COUNT, _MAX_RESTARTS | torchrun's: the job's name, its number among --restarts, their limit |
| DPARALLEL_CHECK, _STALL_SECONDS, _STALL_ABORT, _GRACE_SECONDS | set by --check, --stall, --stall-abort, --grace |
| DPARALLEL_SURVIVE, _SURVIVE_LEAST, _FROZEN_SECONDS | set by --survive, --min-n, --frozen |
| DPARALLEL_SURVIVE_STATE, _SURVIVE_FROM | set by --grow: random names of the states that jobs leave to each other |
| DPARALLEL_TOKEN | a random word, by which the processes of a job know each other (TCPStore) |
| SLURM_JOB_ID, SLURM_JOB_NODELIST, SLURM_TASKS_PER_NODE, SLURM_CPUS_PER_TASK | the allocation, see slurm.py |
| SLURM_STEP_NUM_TASKS, SLURM_PROCID, SLURM_PTY_PORT | whether srun has started dprun more than once |
| HYDRA_LAUNCHER_EXTRA_ARGS | the arguments of --ssh, for MPICH |
| variables beginning as in INHERITED | marks of a surrounding MPI job: not handed on, but for GIVEN, the user's settings |

rank.py and slot.py run on the ranks, by their paths, and import nothing of this package: a user's module of the same name
must not be found instead. They read, by the names at their tops: DPRUN_REPORT_DIR (dprun's folder for reports), DPRUN_RANK,
DPRUN_TMPDIR (the TMPDIR of ranks, where mpirun has another), and the MPI launchers' ranks and sizes; rank.py sets RANK,
WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE (hosts, by DPRUN_HOSTS), ROLE_NAME, ROLE_RANK,
ROLE_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun does.
"""

from __future__ import annotations

import os
from collections.abc import Container

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

# What an MPI rank finds in its environment; an mpirun started inside one would take itself for a part of that job.
INHERITED = ("PMIX_", "PMI_", "PRTE_", "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_", "OMPI_APP_", "OMPI_NUM_APP", "OMPI_ARGV",
             "OMPI_COMMAND", "OMPI_FILE_LOCATION", "OMPI_FIRST_RANKS", "OMPI_MCA_orte_", "OMPI_MCA_ess", "HYDI_",
             "MPI_LOCAL", "OMPI_MCA_initial_wdir")
GIVEN = ("PRTE_MCA_", "PMIX_MCA_")                   # but these are the user's settings, which no mpirun hands to its ranks


class Environment:
    """The process's environment variables, read at each query."""

    def get(self, name: str) -> str | None:
        """A variable; None if it is not set."""
        return os.environ.get(name)

    def __contains__(self, name: str) -> bool:
        return name in os.environ

    @property
    def path(self) -> str:
        """PATH, or the system's."""
        return os.environ.get("PATH", os.defpath)

    @property
    def temporary(self) -> str:
        """TMPDIR; "" if it is not set."""
        return os.environ.get("TMPDIR", "")

    def lacks(self, name: str, changes: Container[str]) -> bool:
        """Whether a variable is neither set nor among the changes."""
        return name not in os.environ and name not in changes

    def outside_mpi(self) -> dict[str, str]:
        """The environment without the marks of a surrounding MPI job."""
        return {name: value for name, value in os.environ.items()
                if not name.startswith(INHERITED) or name.startswith(GIVEN)}


environment = Environment()

__all__ = ["GIVEN", "INHERITED", "THREADS", "Environment", "environment"]
