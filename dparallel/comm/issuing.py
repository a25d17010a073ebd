"""From a collective's arguments to its Call: checks of arrays, sizes and dims before ranks compare their calls.

A mistake in the arguments is stored in the Call, so that all ranks raise the same CollectiveError. None raises alone.
"""

from __future__ import annotations

import operator
import pickle
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd.core.tensor import Tensor
from autograd.spans.spans import recorders

from .groups import Groups
from .handle import Handle
from .header import SPLITTING, Call
from .messages import Messages
from .reference import Array
from .waiting import Flight, blocked

Sizes = Sequence[int] | None
AllToAllSizes = Sequence[Sequence[int]] | None
MSG_ONE = ("on Devices one process holds all ranks, and a collective gets a tensor of each (*xs). A class or a test for one "
           "tensor runs on threads and MPI ranks: @pytest.mark.ranks(kinds=(\"threads\", \"mpi\"))")
TENSOR = ("a Tensor: a communicator takes arrays (x.numpy()), returns new ones, and leaves x unchanged. To write into x "
          "call dparallel.distributed.all_reduce or a similar function; AllReduce.apply(x, comm=comm) records a node")


class Issuing(Messages, Groups):
    """The part of a communicator that checks arguments and issues calls."""

    def flight(self) -> int:
        """The number of the last collective in timelines: equal on all ranks and unique; 0 if there are no other ranks."""
        return 0

    @abstractmethod
    def _exchange(self, calls: list[Call]) -> list[Call]:
        """The calls of all ranks, checked to match."""

    def _values(self, calls: list[Call]) -> list[float]:
        """The numbers sent with the calls of all ranks."""
        return [call.value for call in self._exchange(calls)]

    @abstractmethod
    def _issue(self, calls: list[Call], xs: list[Array], blocking: bool) -> Handle:
        """Compare the calls of all ranks, then start the collective that they name; if `blocking`, complete it."""

    # --- from arguments to calls --------------------------------------------------------------------------------------

    def _from_root(self, name: str, x: Any, root: int, sizes: Sizes | AllToAllSizes, blocking: bool, error: str = "",
                   dim: int = 0, room: Any = None) -> Handle:
        """Issue a collective in which only the root has an array."""
        calls, arrays, here = [], [], as_rank(root)
        for rank in self.held:
            array, problem = _dim_to_front(*_array(x), dim) if rank == here else (None, "")
            calls.append(Call(name, self.size, array, root=root, sizes=sizes, error=error or problem, dim=dim, room=room))
            arrays.append(np.empty(0) if array is None else array)
        return _dim_restored(self._blocked_issue(calls, arrays, blocking), dim)

    def _from_all(self, name: str, xs: Any, blocking: bool, *, root: int = 0, op: str = "sum",
                  sizes: Sizes | AllToAllSizes = None, dim: int = 0, ties: str = "split", shapes: Any = None) -> Handle:
        """Issue a collective in which every rank has an array."""
        arrays, error = self._checked_arrays(xs)
        if dim.__class__ is not int or dim:
            pairs = [_dim_to_front(x, error, dim) for x in arrays]
            arrays, error = [x for x, _ in pairs], next((problem for _, problem in pairs if problem), "")
        cuts: list[Any] = [sizes] * len(arrays)
        if name == "alltoall" and sizes is not None:
            valid = isinstance(sizes, (list, tuple)) and len(sizes) == len(arrays)
            error = error or ("" if valid else f"sizes must be one list for each of the {len(arrays)} local ranks, "
                                               f"not {sizes!r}")
            cuts = list(sizes) if valid else cuts
        calls = [Call(name, self.size, x, root=root, op=op, sizes=cut if name in SPLITTING else None, error=error,
                      dim=dim, ties=ties, shapes=shapes) for x, cut in zip(arrays, cuts, strict=True)]
        return _dim_restored(self._blocked_issue(calls, arrays, blocking), dim)

    def _checked_arrays(self, xs: Any) -> tuple[list[Array], str]:
        """One array for each local rank, and what is wrong with them, or ""."""
        n = len(self.held)
        if not isinstance(xs, (list, tuple)) or len(xs) != n:
            got = f"{len(xs)} arrays" if isinstance(xs, (list, tuple)) else type(xs).__name__
            return [np.empty(0) for _ in self.held], (f"pass a list of {n} arrays, one for each local rank, not {got} "
                                                      "(pass a Function's settings, such as comm, by keyword)"
                                                      + (f"; {MSG_ONE}" if n > 1 and got.startswith("1 ") else ""))
        pairs = [_array(x) for x in xs]
        return [x for x, _ in pairs], next((error for _, error in pairs if error), "")

    # --- calls in which ranks wait for each other, see blocked() ------------------------------------------------------

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


def as_rank(root: Any) -> int:
    """The root as an int; -1 if it is not an integer, which its Call reports on all ranks."""
    try:
        return operator.index(root)
    except Exception:                                # converting runs the object's own code
        return -1


def as_int(x: Any) -> Any:
    """x as an int, or x itself if it is not an integer, which its Call reports on all ranks."""
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
    """x with dim as its first dimension, and what is wrong with dim, or "". The Call reports a dim that is no integer."""
    if error or x.shape == (0,) or dim.__class__ is not int or not dim:
        return x, error
    n = max(x.ndim, 1)
    if not -n <= dim < n:
        return x, f"dim {dim} is out of range for an array of {x.ndim} dimensions (expected {-n} to {n - 1})"
    return (np.moveaxis(x, dim, 0) if x.ndim > 1 else x), ""


def _dim_restored(handle: Handle, dim: int) -> Handle:
    """A handle of the same arrays with their first dimension moved back to dim."""
    if dim.__class__ is int and not dim:
        return handle

    def restored(x: Array) -> Array:
        return np.ascontiguousarray(np.moveaxis(x, 0, dim)) if x.ndim > 1 else x

    return handle.then(lambda h: [restored(x) for x in h.value()] if isinstance(h.value(), list) else restored(h.value()))


def pickled(obj: Any) -> tuple[Array, str]:
    """The object's bytes, and why it can't be pickled, or ""."""
    try:
        return np.frombuffer(pickle.dumps(obj), np.uint8), ""
    except Exception as error:                       # pickling runs the object's own code: all ranks must raise
        return np.empty(0, np.uint8), f"{type(obj).__name__} can't be pickled: {error}"
