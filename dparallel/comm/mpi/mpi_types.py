"""Names for the types of mpi4py in annotations. Importing mpi4py would start MPI."""

from __future__ import annotations

from typing import Any, TypeAlias

Intracomm: TypeAlias = Any           # mpi4py.MPI.Intracomm
Request: TypeAlias = Any             # mpi4py.MPI.Request
Datatype: TypeAlias = Any            # mpi4py.MPI.Datatype
Op: TypeAlias = Any                  # mpi4py.MPI.Op
MPIModule: TypeAlias = Any           # the module mpi4py.MPI
