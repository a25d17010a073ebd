"""Communicator: `size` places joined. A process holds all of them (local devices) or one (an MPI rank, a thread).

Arrays in, arrays out. `xs` and lists of results have one array per held place, in place order. A place without a part
(all but the root of a gather) gets an empty array of shape (0,). Results are contiguous and alias neither inputs nor
each other. Dtypes: bool, integers, float16 to float64, complex64 and complex128, and bfloat16 if the package ml_dtypes
is installed. Reductions of float16 and bfloat16 are computed in float32 and rounded once; the sum of bools is their
logical or, as NumPy adds them. Reductions give the same bits on every place.

A mistake on any place (another collective, root, op, dtype or shape than the others', bad sizes) is one
CollectiveError, with the same text, on every place.
"""

from __future__ import annotations

import contextlib
import io
import operator
import pickle
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike

from autograd.core.spans import recorders
from autograd.core.tensor import Tensor

from .groups import Groups
from .handle import Handle
from .header import FROM_ROOT, SPLITTING, Call, CollectiveError
from .messages import Messages
from .persistent import PersistentSum
from .reference import Array
from .waiting import Flight, blocked

Sizes = Sequence[int] | None
AllToAllSizes = Sequence[Sequence[int]] | None
S = TypeVar("S", bound=Any)
TENSOR = ("a Tensor: a communicator takes arrays (x.numpy()), gives new ones, and leaves x as it is. To write into x call "
          "dparallel.distributed.all_reduce and its like; AllReduce.apply(x, comm=comm) is recorded")


class Communicator(Messages, Groups):
    """The collectives that every kind of communicator has.

    Reductions: op is "sum", "prod", "max", "min", "mean" (also "avg"; of floats and complex numbers), "band", "bor" or
    "bxor" (bitwise; of integers and bools).

    start_<name> returns a Handle without waiting for the data (under MPI it waits until every rank has started, since
    calls are compared first); <name> returns the result.

    Example:
        >>> import dparallel
        >>> isinstance(dparallel.Devices(2), dparallel.Communicator)
        True
    """

    kind: str
    size: int
    held: tuple[int, ...]
    vectors = 0                                      # created by persistent_sum() so far
    sum_start_blocks = False                                # whether start_sum_in_place() may wait for other places
    several_threads = False                          # whether threads of this process may call MPI at the same time
    _this_job: Any = None                            # job.py, which imports this module, sets this and the next
    _world: Any = None

    @property
    def rank(self) -> int:
        """The first held place: the rank, if this process holds one place.

        Returns:
            An int.

        Example:
            >>> import dparallel
            >>> dparallel.run_ranks(3, lambda comm: comm.rank)
            [0, 1, 2]
        """
        return self.held[0]

    @property
    def alone(self) -> bool:
        """Whether this process holds all places, so that there is no other to communicate with.

        Returns:
            A bool.

        Example:
            >>> import dparallel
            >>> dparallel.Devices(4).alone
            True
            >>> dparallel.run_ranks(2, lambda comm: comm.alone)
            [False, False]
        """
        return len(self.held) == self.size

    # --- the collectives ------------------------------------------------------------------------------------------

    def broadcast(self, x: Array | None, root: int = 0) -> list[Array]:
        """A copy of the root's array for each held place; what other places pass is ignored.

        Args:
            x: The root's array, of any shape and dtype.
            root (int): The place that sends. Default: 0.

        Returns:
            One array for each held place.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).broadcast(np.array([1.0]))
            [array([1.]), array([1.])]
        """
        return self._from_root("broadcast", x, root, None, True).wait()

    def start_broadcast(self, x: Array | None, root: int = 0) -> Handle[list[Array]]:
        """Start a broadcast; see broadcast().

        Args:
            x: The root's array, of any shape and dtype.
            root (int): The place that sends. Default: 0.

        Returns:
            A Handle, whose wait() gives what broadcast() returns.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).start_broadcast(np.array([1.0])).wait()
            [array([1.]), array([1.])]
        """
        return self._from_root("broadcast", x, root, None, False)

    def reduce(self, xs: Sequence[Array], root: int = 0, op: str = "sum") -> Array:
        """The combination of all places' arrays (of one shape) on the root; an empty array if it is not held.

        Args:
            xs (Sequence[Array]): One array for each held place, of one shape and dtype.
            root (int): The place that receives. Default: 0.
            op (str): One of the reductions that Communicator names. Default: 'sum'.

        Returns:
            An array.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).reduce([np.array([1.0]), np.array([2.0])])
            array([3.])
        """
        return self._from_all("reduce", xs, True, root=root, op=op).wait()

    def start_reduce(self, xs: Sequence[Array], root: int = 0, op: str = "sum") -> Handle[Array]:
        """Start a reduce; see reduce().

        Args:
            xs (Sequence[Array]): One array for each held place, of one shape and dtype.
            root (int): The place that receives. Default: 0.
            op (str): One of the reductions that Communicator names. Default: 'sum'.

        Returns:
            A Handle, whose wait() gives what reduce() returns.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).start_reduce([np.array([1.0]), np.array([2.0])]).wait()
            array([3.])
        """
        return self._from_all("reduce", xs, False, root=root, op=op)

    def scatter(self, x: Array | None, sizes: Sizes = None, root: int = 0) -> list[Array]:
        """The root's rows split over places: sizes[p] rows for place p; without sizes an even split, larger shares
        first.

        Only the root needs sizes; if other places pass some, they must be the root's.

        Args:
            x: The root's array (rows, ...).
            sizes (Sizes): Rows of each place.
            root (int): The place that sends. Default: 0.

        Returns:
            One array for each held place.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).scatter(np.arange(3.0))
            [array([0., 1.]), array([2.])]
        """
        return self._from_root("scatter", x, root, sizes, True).wait()

    def start_scatter(self, x: Array | None, sizes: Sizes = None, root: int = 0) -> Handle[list[Array]]:
        """Start a scatter; see scatter().

        Args:
            x: The root's array (rows, ...).
            sizes (Sizes): Rows of each place.
            root (int): The place that sends. Default: 0.

        Returns:
            A Handle, whose wait() gives what scatter() returns.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).start_scatter(np.arange(3.0)).wait()
            [array([0., 1.]), array([2.])]
        """
        return self._from_root("scatter", x, root, sizes, False)

    def gather(self, xs: Sequence[Array], root: int = 0) -> Array:
        """All places' rows concatenated in place order on the root; an empty array if it is not held. 0-d arrays
        become a vector.

        Args:
            xs (Sequence[Array]): One array (rows, ...) for each held place.
            root (int): The place that receives. Default: 0.

        Returns:
            An array.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).gather([np.array([1.0]), np.array([2.0, 3.0])])
            array([1., 2., 3.])
        """
        return self._from_all("gather", xs, True, root=root).wait()

    def start_gather(self, xs: Sequence[Array], root: int = 0) -> Handle[Array]:
        """Start a gather; see gather().

        Args:
            xs (Sequence[Array]): One array (rows, ...) for each held place.
            root (int): The place that receives. Default: 0.

        Returns:
            A Handle, whose wait() gives what gather() returns.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).start_gather([np.array([1.0]), np.array([2.0, 3.0])]).wait()
            array([1., 2., 3.])
        """
        return self._from_all("gather", xs, False, root=root)

    def allreduce(self, xs: Sequence[Array], op: str = "sum") -> list[Array]:
        """The combination of all places' arrays (of one shape), for each held place.

        Args:
            xs (Sequence[Array]): One array for each held place, of one shape and dtype.
            op (str): One of the reductions that Communicator names. Default: 'sum'.

        Returns:
            One array for each held place.

        Example:
            >>> import numpy as np, dparallel
            >>> comm = dparallel.Devices(2)
            >>> comm.allreduce([np.array([1.0]), np.array([2.0])])
            [array([3.]), array([3.])]
        """
        return self._from_all("allreduce", xs, True, op=op).wait()

    def start_allreduce(self, xs: Sequence[Array], op: str = "sum") -> Handle[list[Array]]:
        """Start an allreduce; see allreduce().

        Args:
            xs (Sequence[Array]): One array for each held place, of one shape and dtype.
            op (str): One of the reductions that Communicator names. Default: 'sum'.

        Returns:
            A Handle, whose wait() gives what allreduce() returns.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).start_allreduce([np.array([1.0]), np.array([2.0])]).wait()
            [array([3.]), array([3.])]
        """
        return self._from_all("allreduce", xs, False, op=op)

    def allgather(self, xs: Sequence[Array]) -> list[Array]:
        """All places' rows concatenated in place order, for each held place. 0-d arrays become a vector.

        Args:
            xs (Sequence[Array]): One array (rows, ...) for each held place.

        Returns:
            One array for each held place.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).allgather([np.array([1.0]), np.array([2.0, 3.0])])
            [array([1., 2., 3.]), array([1., 2., 3.])]
        """
        return self._from_all("allgather", xs, True).wait()

    def start_allgather(self, xs: Sequence[Array]) -> Handle[list[Array]]:
        """Start an allgather; see allgather().

        Args:
            xs (Sequence[Array]): One array (rows, ...) for each held place.

        Returns:
            A Handle, whose wait() gives what allgather() returns.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).start_allgather([np.array([1.0]), np.array([2.0, 3.0])]).wait()
            [array([1., 2., 3.]), array([1., 2., 3.])]
        """
        return self._from_all("allgather", xs, False)

    def reduce_scatter(self, xs: Sequence[Array], sizes: Sizes = None, op: str = "sum") -> list[Array]:
        """The combination of all places' arrays (of one shape), split over places: sizes[p] rows for place p. All
        places pass the same sizes.

        Args:
            xs (Sequence[Array]): One array (rows, ...) for each held place, of one shape and dtype.
            sizes (Sizes): Rows of each place.
            op (str): One of the reductions that Communicator names. Default: 'sum'.

        Returns:
            One array for each held place.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).reduce_scatter([np.ones(2), np.ones(2)])
            [array([2.]), array([2.])]
        """
        return self._from_all("reduce_scatter", xs, True, op=op, sizes=sizes).wait()

    def start_reduce_scatter(self, xs: Sequence[Array], sizes: Sizes = None, op: str = "sum") -> Handle[list[Array]]:
        """Start a reduce_scatter; see reduce_scatter().

        Args:
            xs (Sequence[Array]): One array (rows, ...) for each held place, of one shape and dtype.
            sizes (Sizes): Rows of each place.
            op (str): One of the reductions that Communicator names. Default: 'sum'.

        Returns:
            A Handle, whose wait() gives what reduce_scatter() returns.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).start_reduce_scatter([np.ones(2), np.ones(2)]).wait()
            [array([2.]), array([2.])]
        """
        return self._from_all("reduce_scatter", xs, False, op=op, sizes=sizes)

    def alltoall(self, xs: Sequence[Array], sizes: AllToAllSizes = None) -> list[Array]:
        """Each place sends rows to each: sizes[i][p] rows of the i-th held place's array go to place p; the rows
        received are concatenated in place order.

        alltoall_sizes(sizes) returns the sizes of the alltoall that sends everything back.

        Args:
            xs (Sequence[Array]): One array (rows, ...) for each held place.
            sizes (AllToAllSizes): For each held place, rows for each place.

        Returns:
            One array for each held place.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).alltoall([np.array([0, 1]), np.array([10, 11])])
            [array([ 0, 10]), array([ 1, 11])]
        """
        return self._from_all("alltoall", xs, True, sizes=sizes).wait()

    def start_alltoall(self, xs: Sequence[Array], sizes: AllToAllSizes = None) -> Handle[list[Array]]:
        """Start an alltoall; see alltoall().

        Args:
            xs (Sequence[Array]): One array (rows, ...) for each held place.
            sizes (AllToAllSizes): For each held place, rows for each place.

        Returns:
            A Handle, whose wait() gives what alltoall() returns.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).start_alltoall([np.array([0, 1]), np.array([10, 11])]).wait()
            [array([ 0, 10]), array([ 1, 11])]
        """
        return self._from_all("alltoall", xs, False, sizes=sizes)

    def scan(self, xs: Sequence[Array], op: str = "sum", *, reverse: bool = False) -> list[Array]:
        """For each held place the combination of the arrays (of one shape) of the places up to it; reverse=True: from
        it on.

        Args:
            xs (Sequence[Array]): One array for each held place, of one shape and dtype.
            op (str): One of the reductions that Communicator names. Default: 'sum'.
            reverse (bool): From the last place to this one. Default: False.

        Returns:
            One array for each held place.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(3).scan([np.array(1), np.array(2), np.array(3)])
            [array(1), array(3), array(6)]
        """
        return self._from_all("reverse_scan" if reverse else "scan", xs, True, op=op).wait()

    def start_scan(self, xs: Sequence[Array], op: str = "sum", *, reverse: bool = False) -> Handle[list[Array]]:
        """Start a scan; see scan().

        Args:
            xs (Sequence[Array]): One array for each held place, of one shape and dtype.
            op (str): One of the reductions that Communicator names. Default: 'sum'.
            reverse (bool): From the last place to this one. Default: False.

        Returns:
            A Handle, whose wait() gives what scan() returns.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).start_scan([np.array(1), np.array(2)]).wait()
            [array(1), array(3)]
        """
        return self._from_all("reverse_scan" if reverse else "scan", xs, False, op=op)

    def exscan(self, xs: Sequence[Array], op: str = "sum", *, reverse: bool = False) -> list[Array]:
        """A scan without each place's own array. The first place (with reverse the last) gets the neutral element: 0
        for sum, 1 for prod, the lowest number of the dtype for max, the highest for min.

        Args:
            xs (Sequence[Array]): One array for each held place, of one shape and dtype.
            op (str): One of the reductions that Communicator names. Default: 'sum'.
            reverse (bool): From the last place to this one. Default: False.

        Returns:
            One array for each held place.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(3).exscan([np.array(1), np.array(2), np.array(3)])
            [array(0), array(1), array(3)]
        """
        return self._from_all("reverse_exscan" if reverse else "exscan", xs, True, op=op).wait()

    def start_exscan(self, xs: Sequence[Array], op: str = "sum", *, reverse: bool = False) -> Handle[list[Array]]:
        """Start an exscan; see exscan().

        Args:
            xs (Sequence[Array]): One array for each held place, of one shape and dtype.
            op (str): One of the reductions that Communicator names. Default: 'sum'.
            reverse (bool): From the last place to this one. Default: False.

        Returns:
            A Handle, whose wait() gives what exscan() returns.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).start_exscan([np.array(1), np.array(2)]).wait()
            [array(0), array(1)]
        """
        return self._from_all("reverse_exscan" if reverse else "exscan", xs, False, op=op)

    def issue(self, name: str, xs: Array | Sequence[Array] | None, *, blocking: bool = False, root: int = 0, op: str = "sum",
              sizes: Sizes | AllToAllSizes = None, dim: int = 0, ties: str = "split", room: Array | None = None,
              shapes: Sequence[tuple[int, ...]] | None = None) -> Handle:
        """Start the collective `name` on the arguments of its method, with rows along `dim` of arguments and results. All
        settings must be the same on every place.

        Args:
            name (str): A method's name, such as "allgather".
            xs: The root's array for "broadcast" and "scatter", else one array for each held place.
            blocking (bool): Whether to complete it, too. Default: False.
            root (int): The place that sends or receives, for collectives that have one. Default: 0.
            op (str): One of the reductions that Communicator names, for a reduction. Default: 'sum'.
            sizes (Sizes or AllToAllSizes): Rows of each place, for collectives that split or exchange rows.
            dim (int): The dimension of rows; it may be negative. Default: 0.
            ties (str): Who gets the gradient of an extremum that several places have; only the caller uses it.
                Default: 'split'.
            room: For "broadcast" and "scatter", an array of the dtype and number of elements that this place expects.
                CollectiveError on all places if the root sends others. Default: any.
            shapes: For "allreduce" and "allgather" of several arrays joined into one, their shapes.

        Returns:
            A Handle, also if `blocking`; its wait() gives what the method returns.

        Example:
            >>> import numpy as np, dparallel
            >>> comm = dparallel.Devices(2)
            >>> comm.issue("allgather", [np.array([[1], [2]]), np.array([[3], [4]])], dim=1).wait()[0]
            array([[1, 3],
                   [2, 4]])
        """
        dim = _as_int(dim)
        if name in FROM_ROOT:
            handle = self._from_root(name, xs, root, sizes, blocking, dim=dim, room=room)
        else:
            handle = self._from_all(name, xs, blocking, root=root, op=op, sizes=sizes, dim=dim, ties=ties, shapes=shapes)
        if blocking:
            handle.wait()                            # raises mistakes between threads
        return handle

    # --- which collectives belong together in backward ----------------------------------------------------------------

    recorded = 0                                     # recorded collectives so far: the number of the last one
    backward_of: int = 0                             # the number of the recorded collective whose backward this is, else 0

    @contextlib.contextmanager
    def in_backward_of(self, number: int) -> Iterator[None]:
        """Mark collectives called inside as the backward of recorded collective `number`. CollectiveError if other places
        are in the backward of another one.

        Args:
            number (int): The number of the recorded collective, the same on every place.

        Returns:
            A context manager.

        Example:
            >>> import numpy as np, dparallel
            >>> def different(comm):
            ...     try:
            ...         with comm.in_backward_of(1 + comm.rank):
            ...             comm.allreduce([np.ones(1)])
            ...     except dparallel.CollectiveError as error:
            ...         return "backward" in str(error)
            >>> dparallel.run_ranks(2, different)
            [True, True]
        """
        outer, self.backward_of = self.backward_of, number
        try:
            yield
        finally:
            self.backward_of = outer

    # --- small exchanges --------------------------------------------------------------------------------------------

    def barrier(self) -> None:
        """Block until all places have called barrier().

        Example:
            >>> import dparallel
            >>> dparallel.run_ranks(2, lambda comm: comm.barrier())
            [None, None]
        """
        self.named_barrier("barrier")

    def named_barrier(self, name: str) -> None:
        """A barrier under another of header.NAMES; an error shows that name as what this place called.

        Args:
            name (str): One of header.NAMES, the same on every place.

        Raises:
            CollectiveError: other places call another collective.

        Example:
            >>> import dparallel
            >>> def different(comm):
            ...     try:
            ...         if comm.rank == 0:
            ...             comm.barrier()
            ...         else:
            ...             comm.named_barrier("backward_in_evaluation_mode")
            ...     except dparallel.CollectiveError as error:
            ...         return "backward_in_evaluation_mode" in str(error)
            >>> dparallel.run_ranks(2, different)
            [True, True]
        """
        self._blocked_exchange([Call(name, self.size) for _ in self.held])

    def refuse(self, reason: str) -> None:
        """Report that this place can't take part: a CollectiveError with the reason is raised here, and on each other place
        in its current or next collective.

        Args:
            reason (str): What the error says, on all places.

        Raises:
            CollectiveError: always, with the reason.

        Example:
            >>> import dparallel
            >>> def step(comm):
            ...     try:
            ...         comm.refuse("no data") if comm.rank == 1 else comm.barrier()
            ...     except dparallel.CollectiveError as error:
            ...         return "no data" in str(error)
            >>> dparallel.run_ranks(2, step)
            [True, True]
        """
        self._blocked_exchange([Call("barrier", self.size, error=reason) for _ in self.held])

    def any(self, flag: bool) -> bool:
        """Whether the flag is true in any process.

        Args:
            flag (bool): This process's.

        Returns:
            A Python bool.

        Example:
            >>> import dparallel
            >>> dparallel.run_ranks(2, lambda comm: comm.any(comm.rank == 1))
            [True, True]
        """
        return any(self._blocked_values([Call("any", self.size, value=flag) for _ in self.held]))

    def agree(self, bits: int, function: str = "") -> int:
        """The bitwise or over processes of each one's bits. Collective.

        Args:
            bits (int): From 0 to 2**50 - 1.
            function (str): What follows, for the texts of errors. Default: ''.

        Returns:
            An int, the same on every rank.

        Example:
            >>> import dparallel
            >>> dparallel.run_ranks(3, lambda comm: comm.agree(1 << comm.rank))
            [7, 7, 7]
        """
        combined = 0
        for value in self._blocked_values([Call("agree", self.size, value=bits, function=function) for _ in self.held]):
            combined |= int(value)
        return combined

    def total(self, value: float) -> float:
        """The sum over processes of each one's number, in float64 and in place order.

        Args:
            value (float): This process's number.

        Returns:
            A float.

        Example:
            >>> import dparallel
            >>> dparallel.run_ranks(2, lambda comm: comm.total(comm.rank + 1))
            [3.0, 3.0]
        """
        values = [value, *[0.0] * (len(self.held) - 1)]
        return sum(self._blocked_values([Call("total", self.size, value=v) for v in values]))

    def share(self, rows: S) -> S:
        """The part of a sequence (rows of a batch, for instance) that this process works on: every size-th item from
        its rank on; all of it if this process holds all places.

        Args:
            rows (S): a sequence.

        Returns:
            The part of it.

        Example:
            >>> import dparallel
            >>> dparallel.run_ranks(2, lambda comm: comm.share([1, 2, 3]))
            [[1, 3], [2]]
        """
        return rows if self.alone else rows[self.rank::self.size]

    def rows(self, xs: Sequence[Array]) -> list[int]:
        """The number of rows (1 for 0-d) that each of the `size` places holds, on every place.

        Args:
            xs (Sequence[Array]): One array for each held place.

        Returns:
            A list of ints.

        Example:
            >>> import numpy as np, dparallel
            >>> dparallel.Devices(2).rows([np.ones(1), np.ones(3)])
            [1, 3]
        """
        arrays, error = self._checked_arrays(xs)
        calls = self._blocked_exchange([Call("rows", self.size, x, error=error) for x in arrays])
        return [call.shape[0] if call.shape else 1 for call in calls]

    def alltoall_sizes(self, sizes: Sequence[Sequence[int]]) -> list[list[int]]:
        """For each held place, the number of rows that an alltoall with these sizes brings it from each place.

        Args:
            sizes (Sequence[Sequence[int]]): For each held place the numbers of rows that it sends, one for each place, as
                alltoall() takes them.

        Returns:
            A list of lists of int: the sizes of the alltoall that sends everything back.

        Raises:
            CollectiveError: a place has not one number of 0 or more for each place.

        Example:
            >>> import numpy as np, dparallel
            >>> comm, sizes = dparallel.Devices(2), [[1, 2], [0, 1]]
            >>> sent = comm.alltoall([np.array([0, 1, 2]), np.array([10])], sizes)
            >>> sent
            [array([0]), array([ 1,  2, 10])]
            >>> back = comm.alltoall_sizes(sizes)
            >>> back
            [[1, 0], [2, 1]]
            >>> comm.alltoall(sent, back)
            [array([0, 1, 2]), array([10])]
        """
        arrays, error = self._checked_arrays(sizes)
        if not error and any(x.shape != (self.size,) or x.dtype.kind not in "iu" or x.min() < 0 for x in arrays):
            error = f"sizes are {self.size} row counts for each place held, not {sizes!r}"
        parts = [np.empty((1, self.size), np.int64) if error else x.astype(np.int64).reshape(1, -1) for x in arrays]
        calls = [Call("alltoall_sizes", self.size, x, error=error) for x in parts]
        table = self._blocked_issue(calls, parts, True).wait()[0]
        return [table[:, place].tolist() for place in self.held]

    def allgather_object(self, objects: Sequence[Any]) -> list[Any]:
        """Copies of all places' small Python objects, of which each held place passes one. They are pickled.

        Args:
            objects (sequence): One for each held place.

        Returns:
            A list of all places' objects.

        Example:
            >>> import dparallel
            >>> dparallel.run_ranks(2, lambda comm: comm.allgather_object([{"rank": comm.rank}]))
            [[{'rank': 0}, {'rank': 1}], [{'rank': 0}, {'rank': 1}]]
        """
        pickled = self._objects("allgather_object", objects, 0)[0]
        return self._together("allgather_object", 0, lambda: self._unpickled(pickled))

    def gather_object(self, objects: Sequence[Any], root: int = 0) -> list[Any] | None:
        """Copies of all places' small Python objects on root, None elsewhere. They are pickled.

        An object that the root can't unpickle is an error there alone: the other places receive nothing.

        Args:
            objects (sequence): One for each held place.
            root (int): The place that receives. Default: 0.

        Returns:
            A list on the root, None elsewhere.

        Example:
            >>> import dparallel
            >>> dparallel.run_ranks(2, lambda comm: comm.gather_object([comm.rank]))
            [[0, 1], None]
        """
        pickled = self._objects("gather_object", objects, root)
        return self._unpickled(pickled) if _as_place(root) in self.held else None

    def scatter_object(self, objects: Sequence[Any] | None, root: int = 0) -> list[Any]:
        """For each held place a copy of its object in root's list of `size` small Python objects. They are pickled.

        Args:
            objects (Sequence[Any]): The root's list, with one object for each place; others' are ignored.
            root (int): The place that sends. Default: 0.

        Returns:
            A list with one object for each held place.

        Raises:
            CollectiveError: the root has not one object for each place, or one can't be pickled.

        Example:
            >>> import dparallel
            >>> def mine(comm):
            ...     return comm.scatter_object(["first", {"lr": 0.1}] if comm.rank == 0 else None)
            >>> dparallel.run_ranks(2, mine)
            [['first'], [{'lr': 0.1}]]
        """
        parts, error = [_pickled(None)[0]] * self.size, ""
        if _as_place(root) in self.held:
            valid = isinstance(objects, (list, tuple)) and len(objects) == self.size
            error = "" if valid else f"root passes a list of {self.size} objects, one for each place, not {objects!r}"
            pairs = [_pickled(obj) for obj in objects or ()] if valid else []
            error = next((problem for _, problem in pairs if problem), error)
            parts = [x for x, _ in pairs] if valid else parts
        sizes = [len(x) for x in parts] if _as_place(root) in self.held else None
        pickled = self._from_root("scatter_object", np.concatenate(parts), root, sizes, True, error).wait()
        return self._together("scatter_object", root, lambda: [pickle.loads(x.tobytes()) for x in pickled])

    def _objects(self, name: str, objects: Sequence[Any], root: int) -> Any:
        """The pickled bytes of all places' objects: the result of the collective `name`."""
        valid = isinstance(objects, (list, tuple)) and len(objects) == len(self.held)
        error = "" if valid else f"pass a list of {len(self.held)} objects, one for each place held here"
        pairs = [_pickled(obj) for obj in objects] if valid else [_pickled(None) for _ in self.held]
        calls = [Call(name, self.size, x, root=root, error=error or problem) for x, problem in pairs]
        return self._blocked_issue(calls, [x for x, _ in pairs], True).wait()

    def _unpickled(self, pickled: Array) -> list[Any]:
        """The objects of all places from their concatenated pickles."""
        stream, found = io.BytesIO(pickled.tobytes()), []
        try:
            for _ in range(self.size):
                found.append(pickle.load(stream))
        except Exception as error:
            if hasattr(error, "add_note"):           # from Python 3.11 on
                error.add_note(f"This was raised when the object of place {len(found)} was unpickled on place {self.rank}.")
            raise
        return found

    def _together(self, name: str, root: int, read: Callable[[], S]) -> S:
        """read() of what collective `name` brought. If it raises on a place, that is a CollectiveError on the others."""
        value, failure = None, None
        try:
            value = read()
        except Exception as error:                   # unpickling runs the object's own code: all ranks must raise
            failure = error
        text = failure and f"what came can't be unpickled here: {type(failure).__name__}: {failure}"
        try:
            self._blocked_exchange([Call(name, self.size, root=root, error=text or "") for _ in self.held])
        except CollectiveError:
            if failure is None:
                raise
        if failure is not None:
            raise failure
        return cast(S, value)

    def broadcast_object(self, obj: Any, root: int = 0, check: Callable[[Any], object] | None = None) -> Any:
        """A copy of the root's small Python object. It is pickled.

        Args:
            obj (Tensor or number or sequence): The root's object.
            root (int): The place that sends. Default: 0.
            check (callable): Called with the copy on every place; an exception that it raises on one is a CollectiveError
                on the others. Default: None.

        Returns:
            A copy.

        Raises:
            CollectiveError: the object can't be pickled, or not be unpickled on another place.

        Example:
            >>> import dparallel
            >>> dparallel.run_ranks(2, lambda comm: comm.broadcast_object("a" if comm.rank == 0 else None))
            ['a', 'a']
        """
        x, error = _pickled(obj) if _as_place(root) in self.held else (None, "")
        pickled = self._from_root("broadcast_object", x, root, None, True, error).wait()[0]

        def read() -> Any:
            value = pickle.loads(pickled.tobytes())
            if check is not None:
                check(value)
            return value

        return self._together("broadcast_object", root, read)

    # --- implemented by each kind of communicator ------------------------------------------------------------------------

    @abstractmethod
    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle[None]:
        """Start to sum one contiguous vector per held place over all places, in place and with the least overhead.

        The vectors are numbers, of one length and dtype everywhere. Over MPI this is only checked in check mode
        (DPARALLEL_CHECK=1).

        Args:
            arrays (Sequence[Array]): One contiguous vector (n,) of numbers for each held place, of one dtype.

        Returns:
            A Handle, after whose wait() the vectors have the sums.

        Raises:
            TypeError: something else than an array is passed, such as a Tensor; on this place alone.

        Example:
            >>> import numpy as np, dparallel
            >>> xs = [np.array([1.0, 2.0]), np.array([10.0, 20.0])]
            >>> dparallel.Devices(2).start_sum_in_place(xs).wait()
            >>> xs
            [array([11., 22.]), array([11., 22.])]
        """

    def sum_in_place(self, arrays: Sequence[Array]) -> None:
        """Sum vectors over places in place; waits until they are summed. See start_sum_in_place().

        Args:
            arrays (Sequence[Array]): One contiguous vector (n,) of numbers for each held place, of one dtype.

        Example:
            >>> import numpy as np, dparallel
            >>> xs = [np.array([1.0, 2.0]), np.array([10.0, 20.0])]
            >>> dparallel.Devices(2).sum_in_place(xs)
            >>> xs
            [array([11., 22.]), array([11., 22.])]
        """
        self.start_sum_in_place(arrays).wait()

    def persistent_sum(self, size: int, dtype: DTypeLike) -> PersistentSum:
        """A vector of `size` zeros on the one held place, to be summed repeatedly. Collective.

        CollectiveError on all places if they sum different vectors of one length.

        Args:
            size (int): Number of elements.
            dtype: The dtype of the elements: floats, complex numbers or integers.

        Returns:
            A PersistentSum: write into its `array`; its start() gives a Handle, after whose wait() `array` has the sum.

        Example:
            >>> import numpy as np, dparallel
            >>> def twice(comm):
            ...     vector = comm.persistent_sum(2, np.float32)
            ...     sums = []
            ...     for step in range(2):
            ...         vector.array[:] = comm.rank + step
            ...         vector.start().wait()
            ...         sums.append(vector.array.tolist())
            ...     return sums
            >>> dparallel.run_ranks(2, twice)[0]
            [[1.0, 1.0], [3.0, 3.0]]
        """
        return PersistentSum(self, size, dtype)

    @abstractmethod
    def duplicate(self) -> Communicator:
        """Another communicator of the same places, whose messages never match this one's. Collective.

        Returns:
            A Communicator. Free it by free().

        Example:
            >>> import numpy as np, dparallel
            >>> def messages(comm):
            ...     other = comm.duplicate()
            ...     if comm.rank == 0:
            ...         comm.send(np.array([1]), dest=1)
            ...         other.send(np.array([2]), dest=1)
            ...     else:
            ...         return other.recv(source=0).item(), comm.recv(source=0).item()
            >>> dparallel.run_ranks(2, messages)
            [None, (2, 1)]
        """

    @abstractmethod
    def free(self) -> None:
        """Complete what is in progress and free the communicator's resources: it can't be used afterwards. Collective.

        Example:
            >>> import numpy as np, dparallel
            >>> def own_sums(comm):
            ...     pair = comm.split(comm.rank // 2)
            ...     total = pair.allreduce([np.array(comm.rank)])[0].item()
            ...     pair.free()
            ...     return total
            >>> dparallel.run_ranks(4, own_sums)
            [1, 1, 5, 5]
        """

    @abstractmethod
    def abort(self, message: str) -> None:
        """End the job on all ranks, with a message to standard error.

        Args:
            message (str): What is written to standard error.

        Example:
            >>> import dparallel
            >>> dparallel.Devices(1).abort("no disk left")   # under MPI the processes of all ranks end here
            Traceback (most recent call last):
            ...
            SystemExit: no disk left
        """

    @abstractmethod
    def _exchange(self, calls: list[Call]) -> list[Call]:
        """The calls of all places, after they were found to match."""

    def _values(self, calls: list[Call]) -> list[float]:
        """The numbers that travel with the calls of all places."""
        return [call.value for call in self._exchange(calls)]

    @abstractmethod
    def _issue(self, calls: list[Call], xs: list[Array], blocking: bool) -> Handle:
        """Compare the calls of all places, then start the collective that they name; if `blocking`, complete it."""

    # --- from arguments to calls --------------------------------------------------------------------------------------

    def _from_root(self, name: str, x: Any, root: int, sizes: Sizes | AllToAllSizes, blocking: bool, error: str = "",
                   dim: int = 0, room: Any = None) -> Handle:
        """Issue a collective in which only the root has an array."""
        calls, arrays, here = [], [], _as_place(root)
        for place in self.held:
            array, problem = _dim_to_front(*_array(x), dim) if place == here else (None, "")
            calls.append(Call(name, self.size, array, root=root, sizes=sizes, error=error or problem, dim=dim, room=room))
            arrays.append(np.empty(0) if array is None else array)
        return _dim_restored(self._blocked_issue(calls, arrays, blocking), dim)

    def _from_all(self, name: str, xs: Any, blocking: bool, *, root: int = 0, op: str = "sum",
                  sizes: Sizes | AllToAllSizes = None, dim: int = 0, ties: str = "split", shapes: Any = None) -> Handle:
        """Issue a collective in which every place has an array."""
        arrays, error = self._checked_arrays(xs)
        if dim.__class__ is not int or dim:
            pairs = [_dim_to_front(x, error, dim) for x in arrays]
            arrays, error = [x for x, _ in pairs], next((problem for _, problem in pairs if problem), "")
        cuts: list[Any] = [sizes] * len(arrays)
        if name == "alltoall" and sizes is not None:
            valid = isinstance(sizes, (list, tuple)) and len(sizes) == len(arrays)
            error = error or ("" if valid else f"sizes are a list for each of the {len(arrays)} places held here, "
                                               f"not {sizes!r}")
            cuts = list(sizes) if valid else cuts
        calls = [Call(name, self.size, x, root=root, op=op, sizes=cut if name in SPLITTING else None, error=error,
                      dim=dim, ties=ties, shapes=shapes) for x, cut in zip(arrays, cuts, strict=True)]
        return _dim_restored(self._blocked_issue(calls, arrays, blocking), dim)

    # --- calls in which places wait for each other, see blocked() ---------------------------------------------------------

    def flight(self) -> int:
        """The number of the last collective, for a timeline: the same on all ranks, and of no other. 0: they have none.

        Returns:
            An int.

        Example:
            >>> import dparallel
            >>> dparallel.Devices(2).flight()                # places of one process: nothing is in flight between ranks
            0
        """
        return 0

    def _blocked_issue(self, calls: list[Call], arrays: list[Array], blocking: bool) -> Handle:
        handle: Handle = blocked(calls[0].name, arrays, self.flight, self._issue, calls, arrays, blocking)
        if recorders and not blocking and handle.flight is None:
            handle.flight = Flight(calls[0].name, sum([x.nbytes for x in arrays]), self.flight())
        return handle

    def _blocked_exchange(self, calls: list[Call]) -> list[Call]:
        exchanged: list[Call] = blocked(calls[0].name, (), self.flight, self._exchange, calls)
        return exchanged

    def _blocked_values(self, calls: list[Call]) -> list[float]:
        values: list[float] = blocked(calls[0].name, (), self.flight, self._values, calls)
        return values

    def _checked_arrays(self, xs: Any) -> tuple[list[Array], str]:
        """One array for each held place, and what is wrong with them, or ""."""
        n = len(self.held)
        if not isinstance(xs, (list, tuple)) or len(xs) != n:
            got = f"{len(xs)} arrays" if isinstance(xs, (list, tuple)) else type(xs).__name__
            return [np.empty(0) for _ in self.held], (f"pass a list of {n} arrays, one for each place held here, not {got} "
                                                      "(a Function's settings, comm among them, go by keyword)")
        pairs = [_array(x) for x in xs]
        return [x for x, _ in pairs], next((error for _, error in pairs if error), "")

    def __deepcopy__(self, memo: dict[int, Any]) -> Communicator:
        """Itself: a copy of a module that refers to its communicator uses the same one."""
        return self

    def __reduce__(self) -> Any:
        """The ranks of the job are those of the job that unpickles. TypeError for others."""
        if self is not self._this_job.comm:
            raise TypeError(f"{self!r} can't be pickled: another job has no such ranks. Those of the whole job (world()) "
                            "and local devices (Devices(n)) can")
        return self._world, ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.size} places, holding {', '.join(map(str, self.held))}>"


def vectors_of(arrays: Sequence[Array]) -> Sequence[Array]:
    """The arrays of a sum in place. TypeError for anything else: autograd would not see what is written into a Tensor."""
    for array in arrays:
        if not isinstance(array, np.ndarray):
            raise TypeError(f"sum_in_place: {TENSOR if isinstance(array, Tensor) else f'{array!r} is not an array'}")
    return arrays


def _as_place(root: Any) -> int:
    """The root as an int; -1 if it is not an integer, which its Call reports on all places."""
    try:
        return operator.index(root)
    except Exception:                                # converting runs the object's own code
        return -1


def _as_int(x: Any) -> Any:
    """x as an int, or x itself if it is not an integer, which its Call reports on all places."""
    try:
        return int(operator.index(x))
    except Exception:                                # the same
        return x


def _array(x: Any) -> tuple[Array, str]:
    """x as an array, and why that is impossible, or ""."""
    if type(x) is np.ndarray:
        return x, ""
    if x is None:
        return np.empty(0), "None instead of an array"
    if isinstance(x, Tensor):
        return np.empty(0), TENSOR
    if isinstance(x, np.ma.MaskedArray):
        return np.empty(0), "masked arrays can't be sent: the mask would be lost"
    try:
        return np.asarray(x), ""
    except Exception as error:                       # converting runs the object's own code: all ranks must raise
        return np.empty(0), f"not an array: {error}"


def _dim_to_front(x: Array, error: str, dim: int) -> tuple[Array, str]:
    """x with dim as its first dimension, and what is wrong with dim, or "". A dim that is no integer is reported by
    the Call.
    """
    if error or x.shape == (0,) or dim.__class__ is not int or not dim:
        return x, error
    n = max(x.ndim, 1)
    if not -n <= dim < n:
        return x, f"dim {dim} is out of range for an array of {x.ndim} dimensions (it is {-n} to {n - 1})"
    return (np.moveaxis(x, dim, 0) if x.ndim > 1 else x), ""


def _dim_restored(handle: Handle, dim: int) -> Handle:
    """A handle of the same arrays with their first dimension moved back to dim."""
    if dim.__class__ is int and not dim:
        return handle

    def restored(x: Array) -> Array:
        return np.ascontiguousarray(np.moveaxis(x, 0, dim)) if x.ndim > 1 else x

    return handle.then(lambda h: [restored(x) for x in h.value()] if isinstance(h.value(), list) else restored(h.value()))


def _pickled(obj: Any) -> tuple[Array, str]:
    """The object's bytes, and why it can't be pickled, or ""."""
    try:
        return np.frombuffer(pickle.dumps(obj), np.uint8), ""
    except Exception as error:                       # pickling runs the object's own code: all ranks must raise
        return np.empty(0, np.uint8), f"{type(obj).__name__} can't be pickled: {error}"


__all__ = ["Array", "Communicator", "Handle", "vectors_of"]
