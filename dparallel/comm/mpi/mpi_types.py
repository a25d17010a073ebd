"""Names for the types of mpi4py in annotations. communicator.py is the only file that imports mpi4py, and starts MPI by
it."""

from __future__ import annotations

from typing import Any, TypeAlias

Intracomm: TypeAlias = Any           # mpi4py.MPI.Intracomm
Request: TypeAlias = Any             # mpi4py.MPI.Request
Datatype: TypeAlias = Any            # mpi4py.MPI.Datatype
Op: TypeAlias = Any                  # mpi4py.MPI.Op
MPIModule: TypeAlias = Any           # the module mpi4py.MPI
