"""Communicator: `size` ranks that communicate. A process holds one rank (MPI, a thread) or all of them (local devices).

`xs` and lists of results have one array for each local rank, in rank order. A rank without a part (all but the root of a
gather) gets an empty array of shape (0,). Results are contiguous and alias neither inputs nor each other. Dtypes: bool,
integers, float16 to float64, complex64 and complex128, and bfloat16 with the package ml_dtypes. Reductions of float16 and
bfloat16 are computed in float32 and rounded once; the sum of bools is their logical or. Reductions give the same bits on
every rank.

If any rank makes a mistake (another collective, root, op, dtype or shape than the others, invalid sizes), every rank raises
CollectiveError with the same text.
"""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from autograd.core.tensor import Tensor

from .exchanges import Exchanges
from .handle import Handle
from .header import FROM_ROOT
from .issuing import TENSOR, AllToAllSizes, Sizes, as_int
from .persistent import PersistentSum
from .reference import Array


class Communicator(Exchanges):
    """Collectives of arrays between ranks. Every kind of communicator has them.

    start_<name> starts <name> and returns a Handle, whose wait() gives what <name> returns. It does not wait for data; under
    MPI it waits until every rank has started, because calls are compared first.
    """

    kind: str
    size: int
    held: tuple[int, ...]
    vectors = 0                                      # created by persistent_sum() so far
    sum_start_blocks = False                         # whether start_sum_in_place() may wait for other ranks
    several_threads = False                          # whether threads of this process may call MPI at the same time
    _this_job: Any = None                            # job.py, which imports this module, sets this and the next
    _world: Any = None

    # --- the collectives ------------------------------------------------------------------------------------------

    def broadcast(self, x: Array | None, root: int = 0) -> list[Array]:
        """Copy the root's array to each local rank."""
        return self._from_root("broadcast", x, root, None, True).wait()

    def start_broadcast(self, x: Array | None, root: int = 0) -> Handle[list[Array]]:
        """Start a broadcast: see broadcast()."""
        return self._from_root("broadcast", x, root, None, False)

    def reduce(self, xs: Sequence[Array], root: int = 0, op: str = "sum") -> Array:
        """Reduce arrays of all ranks onto the root; other processes get an empty array."""
        return self._from_all("reduce", xs, True, root=root, op=op).wait()

    def start_reduce(self, xs: Sequence[Array], root: int = 0, op: str = "sum") -> Handle[Array]:
        """Start a reduce: see reduce()."""
        return self._from_all("reduce", xs, False, root=root, op=op)

    def scatter(self, x: Array | None, sizes: Sizes = None, root: int = 0) -> list[Array]:
        """Split the root's rows across ranks: sizes[r] rows for rank r. Sizes passed on other ranks must be the root's."""
        return self._from_root("scatter", x, root, sizes, True).wait()

    def start_scatter(self, x: Array | None, sizes: Sizes = None, root: int = 0) -> Handle[list[Array]]:
        """Start a scatter: see scatter()."""
        return self._from_root("scatter", x, root, sizes, False)

    def gather(self, xs: Sequence[Array], root: int = 0) -> Array:
        """Concatenate all ranks' rows on the root; others get an empty array. 0-d arrays become a vector."""
        return self._from_all("gather", xs, True, root=root).wait()

    def start_gather(self, xs: Sequence[Array], root: int = 0) -> Handle[Array]:
        """Start a gather: see gather()."""
        return self._from_all("gather", xs, False, root=root)

    def allreduce(self, xs: Sequence[Array], op: str = "sum") -> list[Array]:
        """Reduce arrays of all ranks, for each local rank."""
        return self._from_all("allreduce", xs, True, op=op).wait()

    def start_allreduce(self, xs: Sequence[Array], op: str = "sum") -> Handle[list[Array]]:
        """Start an allreduce: see allreduce()."""
        return self._from_all("allreduce", xs, False, op=op)

    def allgather(self, xs: Sequence[Array]) -> list[Array]:
        """Concatenate all ranks' rows, for each local rank. 0-d arrays become a vector."""
        return self._from_all("allgather", xs, True).wait()

    def start_allgather(self, xs: Sequence[Array]) -> Handle[list[Array]]:
        """Start an allgather: see allgather()."""
        return self._from_all("allgather", xs, False)

    def reduce_scatter(self, xs: Sequence[Array], sizes: Sizes = None, op: str = "sum") -> list[Array]:
        """Reduce arrays of all ranks and split the result: sizes[r] rows for rank r. All ranks pass the same sizes."""
        return self._from_all("reduce_scatter", xs, True, op=op, sizes=sizes).wait()

    def start_reduce_scatter(self, xs: Sequence[Array], sizes: Sizes = None, op: str = "sum") -> Handle[list[Array]]:
        """Start a reduce_scatter: see reduce_scatter()."""
        return self._from_all("reduce_scatter", xs, False, op=op, sizes=sizes)

    def alltoall(self, xs: Sequence[Array], sizes: AllToAllSizes = None) -> list[Array]:
        """Send rows from every rank to every rank: sizes[i][r] rows of local rank i's array go to rank r.

        Received rows are concatenated in rank order. alltoall_sizes(sizes) gives the sizes of the reverse alltoall.
        """
        return self._from_all("alltoall", xs, True, sizes=sizes).wait()

    def start_alltoall(self, xs: Sequence[Array], sizes: AllToAllSizes = None) -> Handle[list[Array]]:
        """Start an alltoall: see alltoall()."""
        return self._from_all("alltoall", xs, False, sizes=sizes)

    def scan(self, xs: Sequence[Array], op: str = "sum", *, reverse: bool = False) -> list[Array]:
        """Reduce, for each local rank, the arrays of ranks 0 to this one."""
        return self._from_all("reverse_scan" if reverse else "scan", xs, True, op=op).wait()

    def start_scan(self, xs: Sequence[Array], op: str = "sum", *, reverse: bool = False) -> Handle[list[Array]]:
        """Start a scan: see scan()."""
        return self._from_all("reverse_scan" if reverse else "scan", xs, False, op=op)

    def exscan(self, xs: Sequence[Array], op: str = "sum", *, reverse: bool = False) -> list[Array]:
        """Compute a scan() that excludes each rank's own array.

        Rank 0 (the last rank if `reverse`) gets the neutral element: 0 for sum, 1 for prod, the dtype's lowest value for
        max and its highest for min.
        """
        return self._from_all("reverse_exscan" if reverse else "exscan", xs, True, op=op).wait()

    def start_exscan(self, xs: Sequence[Array], op: str = "sum", *, reverse: bool = False) -> Handle[list[Array]]:
        """Start an exscan: see exscan()."""
        return self._from_all("reverse_exscan" if reverse else "exscan", xs, False, op=op)

    def issue(self, name: str, xs: Array | Sequence[Array] | None, *, blocking: bool = False, root: int = 0, op: str = "sum",
              sizes: Sizes | AllToAllSizes = None, dim: int = 0, ties: str = "split", room: Array | None = None,
              shapes: Sequence[tuple[int, ...]] | None = None) -> Handle:
        """Start the collective `name`, with rows along `dim`. All settings must be the same on every rank."""
        dim = as_int(dim)
        if name in FROM_ROOT:
            handle = self._from_root(name, xs, root, sizes, blocking, dim=dim, room=room)
        else:
            handle = self._from_all(name, xs, blocking, root=root, op=op, sizes=sizes, dim=dim, ties=ties, shapes=shapes)
        if blocking:
            handle.wait()                            # raises errors of ranks that are threads
        return handle

    # --- which collectives match in backward --------------------------------------------------------------------------

    recorded = 0                                     # the number of the last recorded collective
    backward_of: int = 0                             # in backward, the number of the recorded collective; else 0

    @contextlib.contextmanager
    def in_backward_of(self, number: int) -> Iterator[None]:
        """Mark the collectives called inside as the backward of recorded collective `number`, the same on every rank.

        If ranks are in the backward of different collectives, all raise CollectiveError.
        """
        outer, self.backward_of = self.backward_of, number
        try:
            yield
        finally:
            self.backward_of = outer

    # --- implemented by each kind of communicator ------------------------------------------------------------------------

    @abstractmethod
    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle[None]:
        """Start an in-place sum of one contiguous vector per local rank, with minimal overhead. Returns a Handle.

        All vectors have one length and numeric dtype. Over MPI only check mode (DPARALLEL_CHECK=1) verifies this.
        """

    def sum_in_place(self, arrays: Sequence[Array]) -> None:
        """Sum vectors over ranks in place: the blocking form of start_sum_in_place()."""
        self.start_sum_in_place(arrays).wait()

    def start_known(self, name: str, x: Array, sizes: Sequence[int]) -> Handle[Array]:
        """Start an allgather, reduce_scatter or alltoall of one vector of the one local rank, with minimal overhead.

        Over MPI calls are not compared, and this does not wait for other ranks: the caller must know that they match.
        """
        cut = None if name == "allgather" else [list(sizes)] if name == "alltoall" else sizes
        return self._from_all(name, [x], False, sizes=cut).then(lambda done: done.value()[0])

    def persistent_sum(self, size: int, dtype: DTypeLike) -> PersistentSum:
        """Create a vector of zeros on the one local rank, to be summed repeatedly. Collective.

        Write into the PersistentSum's `array`; start() returns a Handle, after whose wait() `array` holds the sum. If ranks
        sum different vectors of one length, all raise CollectiveError.
        """
        return PersistentSum(self, size, dtype)

    def shared_memory(self, nbytes: int) -> list[memoryview] | None:
        """Memory of each rank that all ranks can read. None if ranks can't share memory, as on several hosts. Collective."""
        return None

    @abstractmethod
    def duplicate(self) -> Communicator:
        """A communicator of the same ranks, whose messages never match this one's. Collective. Free it with free()."""

    @abstractmethod
    def free(self) -> None:
        """Complete pending operations and free the communicator's resources; it must not be used afterwards. Collective."""

    @abstractmethod
    def abort(self, message: str) -> None:
        """Write a message to standard error and end the job on all ranks."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Communicator:
        """Return itself: a copied module uses the communicator of the original."""
        return self

    def __reduce__(self) -> Any:
        """The ranks of the job are those of the job that unpickles. TypeError for others."""
        if self is not self._this_job.comm:
            raise TypeError(f"{self!r} can't be pickled: another job has no such ranks. Those of the whole job (world()) "
                            "and local devices (Devices(n)) can")
        return self._world, ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.size} ranks, local: {', '.join(map(str, self.held))}>"


def vectors_of(arrays: Sequence[Array]) -> Sequence[Array]:
    """The arrays of an in-place sum. TypeError for anything else: autograd would miss a write into a Tensor's array."""
    for array in arrays:
        if not isinstance(array, np.ndarray):
            raise TypeError(f"sum_in_place: {TENSOR if isinstance(array, Tensor) else f'{array!r} is not an array'}")
    return arrays
