"""Start a script on many MPI ranks: `dprun -n 4 train.py`, or `python -m launch -n 4 train.py`.

Standard library only: nothing here imports numpy, mpi4py, or the packages that run on the ranks.
"""

__distribution__ = "dparallel"                       # ROS 2 has a package of this name: see dprun.py
__all__: list[str] = []
