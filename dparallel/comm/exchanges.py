"""Small collectives of a communicator: barriers, flags, numbers and pickled Python objects."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from .header import Call, CollectiveError
from .issuing import Issuing, as_rank, pickled
from .reference import Array

S = TypeVar("S", bound=Any)


class Exchanges(Issuing):
    """The part of a communicator that exchanges flags, numbers and Python objects."""

    @property
    def rank(self) -> int:
        """The rank of this process; if it holds several (local devices), the first of them."""
        return self.held[0]

    @property
    def alone(self) -> bool:
        """Whether this process holds all ranks, so that communication is local."""
        return len(self.held) == self.size

    def barrier(self) -> None:
        """Block until all ranks have called barrier()."""
        self.named_barrier("barrier")

    def named_barrier(self, name: str) -> None:
        """A barrier under another of header.NAMES, which errors show as this rank's call."""
        self._blocked_exchange([Call(name, self.size) for _ in self.held])

    def refuse(self, reason: str) -> None:
        """Raise CollectiveError here, and on other ranks in their current or next collective: this rank can't take part."""
        self._blocked_exchange([Call("barrier", self.size, error=reason) for _ in self.held])

    def any(self, flag: bool) -> bool:
        """Whether the flag is true in any process."""
        return any(self._blocked_values([Call("any", self.size, value=flag) for _ in self.held]))

    def agree(self, bits: int, function: str = "") -> int:
        """The bitwise or of each process's bits. Collective."""
        combined = 0
        for value in self._blocked_values([Call("agree", self.size, value=bits, function=function) for _ in self.held]):
            combined |= int(value)
        return combined

    def total(self, value: float) -> float:
        """The sum of each process's number, in float64 and in rank order."""
        values = [value, *[0.0] * (len(self.held) - 1)]
        return sum(self._blocked_values([Call("total", self.size, value=v) for v in values]))

    def share(self, rows: S) -> S:
        """This process's part of a sequence: every size-th item from its rank on, or all items if it holds all ranks."""
        return rows if self.alone else rows[self.rank::self.size]

    def rows(self, xs: Sequence[Array]) -> list[int]:
        """The number of rows of each rank's array (1 for a 0-d array), on every rank."""
        arrays, error = self._checked_arrays(xs)
        calls = self._blocked_exchange([Call("rows", self.size, x, error=error) for x in arrays])
        return [call.shape[0] if call.shape else 1 for call in calls]

    def alltoall_sizes(self, sizes: Sequence[Sequence[int]]) -> list[list[int]]:
        """For each local rank, the number of rows that an alltoall with these sizes brings from each rank.

        An alltoall with the returned sizes sends everything back.
        """
        arrays, error = self._checked_arrays(sizes)
        if not error and any(x.shape != (self.size,) or x.dtype.kind not in "iu" or x.min() < 0 for x in arrays):
            error = f"sizes must be {self.size} row counts for each local rank, not {sizes!r}"
        parts = [np.empty((1, self.size), np.int64) if error else x.astype(np.int64).reshape(1, -1) for x in arrays]
        calls = [Call("alltoall_sizes", self.size, x, error=error) for x in parts]
        table = self._blocked_issue(calls, parts, True).wait()[0]
        return [table[:, rank].tolist() for rank in self.held]

    def allgather_object(self, objects: Sequence[Any]) -> list[Any]:
        """Copies of all ranks' objects, by pickle, in rank order."""
        data = self._objects("allgather_object", objects, 0)[0]
        return self._together("allgather_object", 0, lambda: self._unpickled(data))

    def gather_object(self, objects: Sequence[Any], root: int = 0) -> list[Any] | None:
        """Copies of all ranks' objects on the root, by pickle; None elsewhere.

        If the root can't unpickle an object, only the root raises: other ranks receive nothing.
        """
        data = self._objects("gather_object", objects, root)
        return self._unpickled(data) if as_rank(root) in self.held else None

    def scatter_object(self, objects: Sequence[Any] | None, root: int = 0) -> list[Any]:
        """Send each rank a copy of its object in the root's list of `size` objects, by pickle; other lists are ignored."""
        parts, error = [pickled(None)[0]] * self.size, ""
        if as_rank(root) in self.held:
            valid = isinstance(objects, (list, tuple)) and len(objects) == self.size
            error = "" if valid else f"the root must pass a list of {self.size} objects, one for each rank, not {objects!r}"
            pairs = [pickled(obj) for obj in objects or ()] if valid else []
            error = next((problem for _, problem in pairs if problem), error)
            parts = [x for x, _ in pairs] if valid else parts
        sizes = [len(x) for x in parts] if as_rank(root) in self.held else None
        data = self._from_root("scatter_object", np.concatenate(parts), root, sizes, True, error).wait()
        return self._together("scatter_object", root, lambda: [pickle.loads(x.tobytes()) for x in data])

    def _objects(self, name: str, objects: Sequence[Any], root: int) -> Any:
        """The pickled bytes of all ranks' objects: the result of the collective `name`."""
        valid = isinstance(objects, (list, tuple)) and len(objects) == len(self.held)
        error = "" if valid else f"pass a list of {len(self.held)} objects, one for each local rank"
        pairs = [pickled(obj) for obj in objects] if valid else [pickled(None) for _ in self.held]
        calls = [Call(name, self.size, x, root=root, error=error or problem) for x, problem in pairs]
        return self._blocked_issue(calls, [x for x, _ in pairs], True).wait()

    def _unpickled(self, data: Array) -> list[Any]:
        """The objects of all ranks from their concatenated pickles."""
        stream, found = io.BytesIO(data.tobytes()), []
        try:
            for _ in range(self.size):
                found.append(pickle.load(stream))
        except Exception as error:
            if hasattr(error, "add_note"):           # from Python 3.11 on
                error.add_note(f"Raised while rank {self.rank} unpickled the object of rank {len(found)}.")
            raise
        return found

    def _together(self, name: str, root: int, read: Callable[[], S]) -> S:
        """read() of the result of collective `name`. If it raises on one rank, the others raise CollectiveError."""
        value, failure = None, None
        try:
            value = read()
        except Exception as error:                   # unpickling runs the object's own code: all ranks must raise
            failure = error
        text = failure and f"the received object can't be unpickled: {type(failure).__name__}: {failure}"
        try:
            self._blocked_exchange([Call(name, self.size, root=root, error=text or "") for _ in self.held])
        except CollectiveError:
            if failure is None:
                raise
        if failure is not None:
            raise failure
        return cast(S, value)

    def broadcast_object(self, obj: Any, root: int = 0, check: Callable[[Any], object] | None = None) -> Any:
        """A copy of the root's object on every rank, by pickle."""
        x, error = pickled(obj) if as_rank(root) in self.held else (None, "")
        data = self._from_root("broadcast_object", x, root, None, True, error).wait()[0]

        def read() -> Any:
            value = pickle.loads(data.tobytes())
            if check is not None:
                check(value)
            return value

        return self._together("broadcast_object", root, read)
