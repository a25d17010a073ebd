"""What the system gives this process: environment variables, all that autograd reads, and processor cores.

| variable | meaning | default |
|---|---|---|
| AUTOGRAD_ACCELERATORS | optional libraries behind the kernels: "all", "off", or names such as "loops,onednn" | all |
| AUTOGRAD_LOOPS | the highest level of compiled loops: "baseline", "avx2", "avx512" | what the processor has |
| DPARALLEL_PURE | 1: the sources of the core run, not its compiled form, and nothing is said about that | 0 |
| OMP_NUM_THREADS | threads of one operation (the first of its levels) | cores that this process may use, by ranks |
| OPENBLAS_NUM_THREADS | the user has set OpenBLAS's threads: they are left alone | |
| OMP_WAIT_POLICY, GOMP_SPINCOUNT | the user has set how OpenMP's threads wait: left alone | GOMP_SPINCOUNT=0 |
| MALLOC_*, GLIBC_TUNABLES | the user has set the C library's allocator: left alone | thresholds of kernels/malloc.py |
| AUTOGRAD_COMPILE_CACHE | the folder of compile()'s programs; empty: none kept | ~/.cache/autograd, or in XDG_CACHE_HOME |
| TORCH_HOME | the folder of torch.hub's files | torch in XDG_CACHE_HOME, or in ~/.cache |
| OMPI_COMM_WORLD_LOCAL_SIZE, MPI_LOCALNRANKS, LOCAL_WORLD_SIZE | ranks that a launcher has started on this host | 1 |
| OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK, SLURM_PROCID, RANK | this rank: rank 0 alone prints notes, writes figures | 0 |

Each is read when it is asked for: DPARALLEL_PURE and MALLOC_* at import, the others at first use."""

from __future__ import annotations

import os

LOCAL_SIZES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "LOCAL_WORLD_SIZE")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK")


class Environment:
    """What the environment says, read at each question: a script may set a variable before the first use."""

    @property
    def accelerators(self) -> str:
        """AUTOGRAD_ACCELERATORS, in lower case."""
        return os.environ.get("AUTOGRAD_ACCELERATORS", "all").strip().lower()

    @property
    def loops(self) -> str:
        """AUTOGRAD_LOOPS, in lower case; "" if it is not set."""
        return os.environ.get("AUTOGRAD_LOOPS", "").strip().lower()

    @property
    def pure(self) -> bool:
        """DPARALLEL_PURE: whether the compiled core is not wanted."""
        return os.environ.get("DPARALLEL_PURE", "0") not in ("", "0")

    @property
    def threads(self) -> int:
        """OMP_NUM_THREADS, the first of its levels; 0 if it is not set to a number."""
        first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return int(first) if first.isdigit() else 0

    @property
    def sets_openblas_threads(self) -> bool:
        """Whether the user has set OPENBLAS_NUM_THREADS."""
        return bool(os.environ.get("OPENBLAS_NUM_THREADS"))

    @property
    def sets_waiting(self) -> bool:
        """Whether the user has set how OpenMP's threads wait."""
        return bool({"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys())

    @property
    def sets_malloc(self) -> bool:
        """Whether the user has set something of the C library's allocator."""
        return (any(name.startswith("MALLOC_") for name in os.environ)
                or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", ""))

    @property
    def cache_home(self) -> str:
        """XDG_CACHE_HOME; "" if it is not set."""
        return os.environ.get("XDG_CACHE_HOME", "")

    @property
    def compile_cache(self) -> str:
        """AUTOGRAD_COMPILE_CACHE, or the user's folder for it; "" for none."""
        home = self.cache_home or os.path.join(os.path.expanduser("~"), ".cache")
        return os.environ.get("AUTOGRAD_COMPILE_CACHE", os.path.join(home, "autograd"))

    @property
    def torch_home(self) -> str:
        """TORCH_HOME; "" if it is not set."""
        return os.environ.get("TORCH_HOME", "")

    @property
    def ranks_here(self) -> int:
        """How many ranks the launcher has started on this host; 1 if it does not say."""
        for name in LOCAL_SIZES:
            if os.environ.get(name, "").isdigit():
                return max(1, int(os.environ[name]))
        return 1

    @property
    def rank(self) -> int:
        """This rank of a job, as its launcher numbers it; 0 without one."""
        for name in RANKS:
            if os.environ.get(name, "").isdigit():
                return int(os.environ[name])
        return 0

    @property
    def first_rank(self) -> bool:
        """Whether this is rank 0, or no rank of a job: the one that prints notes."""
        return all(os.environ.get(name, "0") == "0" for name in RANKS)


environment: Environment = Environment()


def usable_cores() -> int:
    """How many processor cores this process may use, by its affinity mask."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
