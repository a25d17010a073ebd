"""The environment variables that dprun reads and sets (docs/environment.md), in the one place where dprun's own side reads
them.

rank.py and slot.py run on the ranks by their paths, and import nothing of this package: a user's module of the same name
must not be found instead. The names of their variables are at their tops; rank.py sets torchrun's.
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
