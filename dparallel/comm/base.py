"""Communicator: `size` places joined; a process holds all of them (local devices) or one (an MPI rank, a thread).

Arrays in, arrays out. `xs` and lists of results have one array per held place, in place order. A place without a part
(all but the root of a gather) holds an empty array of shape (0,). Results never alias inputs or each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .call import Call, checksum, even_split, explain, sizes_problem, verdict

Array = np.ndarray[Any, Any]


class Handle:
    """A collective under way: wait() gives its result, done() says without blocking whether it has come."""

    def __init__(self, finish: Callable[[], Any], test: Callable[[], bool] = lambda: True) -> None:
        self._finish: Callable[[], Any] | None = finish
        self._test = test
        self._value: Any = None

    def wait(self) -> Any:
        """Block until the collective is complete; its result. May be called again."""
        if self._finish is not None:
            finish, self._finish = self._finish, None
            self._value = finish()
        return self._value

    def done(self) -> bool:
        """Whether wait() would return at once."""
        return self._finish is None or self._test()


class Communicator(ABC):
    """The collectives that every kind of communicator has. Reductions: op is "sum", "prod", "max" or "min"."""

    kind: str
    size: int
    held: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The first place held: the rank, where a process holds one."""
        return self.held[0]

    # --- the collectives: start_<name> does not wait for the data -------------------------------------------------

    def start_broadcast(self, x: Array | None, root: int = 0) -> Handle:
        """The root's array to every place."""
        xs = [_array(x) if place == root else np.empty(0) for place in self.held]
        return self._run([Call("broadcast", root, x=x) for x in xs], xs, None)

    def start_reduce(self, xs: Sequence[Array], root: int = 0, op: str = "sum") -> Handle:
        """All arrays combined, on the root."""
        return self._run([Call("reduce", root, op, x) for x in self._listed(xs)], xs, None)

    def start_scatter(self, x: Array | None, sizes: Sequence[int] | None = None, root: int = 0) -> Handle:
        """The root's rows cut in pieces, one for each place: `sizes` rows each, or an even split, first ones larger."""
        xs = [_array(x) if place == root else np.empty(0) for place in self.held]
        calls = [Call("scatter", root, x=x, sizes=sizes) for x in xs]
        if sizes is not None and root in self.held:
            call = calls[self.held.index(root)]
            rows = xs[self.held.index(root)].shape[:1]
            call.error = call.error or (sizes_problem(sizes, rows[0], self.size) if rows else "")
        return self._run(calls, xs, sizes)

    def start_gather(self, xs: Sequence[Array], root: int = 0) -> Handle:
        """All rows, in place order, on the root; 0-d arrays become a vector."""
        return self._run([Call("gather", root, x=x) for x in self._listed(xs)], xs, None)

    def start_allreduce(self, xs: Sequence[Array], op: str = "sum") -> Handle:
        """All arrays combined, on every place."""
        return self._run([Call("allreduce", op=op, x=x) for x in self._listed(xs)], xs, None)

    def start_allgather(self, xs: Sequence[Array]) -> Handle:
        """All rows, in place order, on every place."""
        return self._run([Call("allgather", x=x) for x in self._listed(xs)], xs, None)

    def start_reduce_scatter(self, xs: Sequence[Array], sizes: Sequence[int] | None = None, op: str = "sum") -> Handle:
        """All arrays combined, the rows cut in pieces, one for each place."""
        xs = self._listed(xs)
        calls = [Call("reduce_scatter", op=op, x=x, sizes=sizes) for x in xs]
        for call, x in zip(calls, xs, strict=True):
            if sizes is not None and x.ndim:
                call.error = call.error or sizes_problem(sizes, len(x), self.size)
        return self._run(calls, xs, sizes)

    def start_alltoall(self, xs: Sequence[Array], sizes: Sequence[Sequence[int]] | None = None) -> Handle:
        """Each place sends rows to each: sizes[i][p] rows of the i-th held place's array go to place p."""
        xs = self._listed(xs)
        calls = [Call("alltoall", x=x) for x in xs]
        cuts = [list(s) for s in sizes] if sizes is not None else \
            [even_split(len(x) if x.ndim else 0, self.size) for x in xs]
        if len(cuts) != len(xs):
            calls[0].error = f"{len(cuts)} lists of sizes for {len(xs)} arrays"
        for call, x, cut in zip(calls, xs, cuts, strict=False):
            call.error = call.error or (sizes_problem(cut, len(x), self.size) if x.ndim else "")
        return self._run(calls, xs, cuts)

    def broadcast(self, x: Array | None, root: int = 0) -> list[Array]:
        """start_broadcast, completed."""
        return self.start_broadcast(x, root).wait()

    def reduce(self, xs: Sequence[Array], root: int = 0, op: str = "sum") -> Array:
        """start_reduce, completed."""
        return self.start_reduce(xs, root, op).wait()

    def scatter(self, x: Array | None, sizes: Sequence[int] | None = None, root: int = 0) -> list[Array]:
        """start_scatter, completed."""
        return self.start_scatter(x, sizes, root).wait()

    def gather(self, xs: Sequence[Array], root: int = 0) -> Array:
        """start_gather, completed."""
        return self.start_gather(xs, root).wait()

    def allreduce(self, xs: Sequence[Array], op: str = "sum") -> list[Array]:
        """start_allreduce, completed."""
        return self.start_allreduce(xs, op).wait()

    def allgather(self, xs: Sequence[Array]) -> list[Array]:
        """start_allgather, completed."""
        return self.start_allgather(xs).wait()

    def reduce_scatter(self, xs: Sequence[Array], sizes: Sequence[int] | None = None, op: str = "sum") -> list[Array]:
        """start_reduce_scatter, completed."""
        return self.start_reduce_scatter(xs, sizes, op).wait()

    def alltoall(self, xs: Sequence[Array], sizes: Sequence[Sequence[int]] | None = None) -> list[Array]:
        """start_alltoall, completed."""
        return self.start_alltoall(xs, sizes).wait()

    # --- small exchanges --------------------------------------------------------------------------------------------

    def rows(self, xs: Sequence[Array]) -> list[int]:
        """The number of rows (1 for 0-d) that each of the `size` places holds, known everywhere."""
        counts = [np.array([len(x) if x.ndim else 1]) for x in self._listed(xs)]
        return [int(n) for n in self.allgather(counts)[0]]

    def alltoall_sizes(self, sizes: Sequence[Sequence[int]]) -> list[list[int]]:
        """For each held place, how many rows an alltoall with these sizes brings it from each place."""
        table = self.allgather([np.asarray(s, np.int64).reshape(1, -1) for s in sizes])[0]
        return [table[:, place].tolist() for place in self.held]

    def barrier(self) -> None:
        """Wait until all places are here."""
        self._run([Call("barrier") for _ in self.held], [np.empty(0) for _ in self.held], None).wait()

    def total(self, value: float) -> float:
        """The sum over processes of each one's number, a float64."""
        shares = [np.array(value if i == 0 else 0.0, np.float64) for i in range(len(self.held))]
        return float(self.allreduce(shares)[0])

    @abstractmethod
    def any(self, flag: bool) -> bool:
        """Whether the flag is true in any process."""

    @abstractmethod
    def start_sum_in_place(self, arrays: Sequence[Array]) -> Handle:
        """Sum one contiguous vector per held place over all places, into themselves. Nothing is checked."""

    def sum_in_place(self, arrays: Sequence[Array]) -> None:
        """start_sum_in_place, completed."""
        self.start_sum_in_place(arrays).wait()

    @abstractmethod
    def allgather_object(self, objects: Sequence[Any]) -> list[Any]:
        """Small Python objects, one per held place, of all places."""

    def broadcast_object(self, obj: Any, root: int = 0) -> Any:
        """The root's small Python object."""
        return self.allgather_object([obj if place == root else None for place in self.held])[root]

    @abstractmethod
    def duplicate(self) -> Communicator:
        """Another communicator of the same places, whose messages do not meet this one's. Collective."""

    @abstractmethod
    def abort(self, message: str) -> None:
        """End the job on all ranks, with a word to standard error."""

    # --- what a kind of communicator brings ---------------------------------------------------------------------------

    @abstractmethod
    def _run(self, calls: list[Call], xs: Sequence[Array], sizes: Any) -> Handle:
        """Let all places see the calls, then start the collective that they name."""

    def _listed(self, xs: Sequence[Array]) -> list[Array]:
        """One array for each held place, or an error."""
        arrays = [np.asarray(x) for x in xs]
        if len(arrays) != len(self.held):
            raise ValueError(f"{len(arrays)} arrays for the {len(self.held)} places held here; pass one for each")
        return arrays

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.size} places, holding {', '.join(map(str, self.held))}>"


def checked(calls: Sequence[Call]) -> None:
    """Raise what every place raises, if the calls of all places do not fit."""
    reason = verdict(calls)
    if reason:
        raise explain(reason, [str(call) for call in calls])


def _array(x: Array | None) -> Array:
    return np.empty(0) if x is None else np.asarray(x)


__all__ = ["Array", "Communicator", "Handle", "checked", "checksum", "even_split"]
