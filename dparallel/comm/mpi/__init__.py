"""The communicator of MPI. communicator.py is the one file that imports mpi4py."""
