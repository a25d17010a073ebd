"""The communicator of MPI. communicator.py, membership.py and surviving.py alone import mpi4py, which starts MPI."""
