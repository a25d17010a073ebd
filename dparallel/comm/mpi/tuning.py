"""Settings of an MPI library that may be running already, through MPI's tool interface (MPI 4.0, section 15.3)."""

from __future__ import annotations

import ctypes

# Open MPI's in-place Iallreduce uses binomial trees, at half the bandwidth of its Allreduce: 2.7 MB on 2 ranks take
# 500 us, not 230. 3 is reduce-scatter and allgather (Rabenseifner 2004, doi 10.1007/978-3-540-24685-5_1): 225 us.
PREFERRED = {"coll_libnbc_iallreduce_algorithm": 3}


def prefer(library: str, threads: int) -> dict[str, bool]:
    """Set the PREFERRED variables of the MPI that a shared library is linked to. Returns whether each was set.

    A variable whose value is not 0, its default, is the user's. threads: the thread level that MPI runs with: Open MPI 5.0
    returns the level with which its tool interface was initialized from all later MPI_Query_thread().
    """
    mpi = ctypes.CDLL(library)
    if not hasattr(mpi, "MPI_T_init_thread") or mpi.MPI_T_init_thread(threads, ctypes.byref(ctypes.c_int())):
        return dict.fromkeys(PREFERRED, False)
    try:
        return {name: _set(mpi, name, value) for name, value in PREFERRED.items()}
    finally:
        mpi.MPI_T_finalize()


def _set(mpi: ctypes.CDLL, name: str, value: int) -> bool:
    index, length, now, handle = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    if (mpi.MPI_T_cvar_get_index(name.encode(), ctypes.byref(index))                 # unknown: another MPI or version
            or mpi.MPI_T_cvar_handle_alloc(index, None, ctypes.byref(handle), ctypes.byref(length))):
        return False
    try:
        return (length.value == 1 and not mpi.MPI_T_cvar_read(handle, ctypes.byref(now)) and now.value == 0
                and not mpi.MPI_T_cvar_write(handle, ctypes.byref(ctypes.c_int(value))))
    finally:
        mpi.MPI_T_cvar_handle_free(ctypes.byref(handle))
