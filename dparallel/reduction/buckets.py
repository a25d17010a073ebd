"""Buckets: groups of parameters whose gradients share a flat buffer and are summed together. The same on every rank.

The engine counts the gradients that arrive in a bucket (autograd/core/grad_buffers.py) and calls the reducer when it is
full.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from autograd.core.engine import BackwardPass
from autograd.core.grad_buffers import LeafCounter, set_counter, set_grad, set_grad_buffer
from autograd.core.graph import shared_counter
from autograd.kernels.halves import copy_into

from ..autograd import Tensor, as_tensor
from ..comm import Communicator
from ..pytree.flat_arrays import group_until, unflatten

if TYPE_CHECKING:
    from ..comm.persistent import PersistentSum
    from .shared_parameters import SharedParameters

Array = np.ndarray[Any, Any]

FIRST_BUCKET_BYTES = 1 << 20       # small, so that the first message is sent early (PyTorch's default)
FRACTION, LEAST_BYTES, MOST_BYTES = 8, 1 << 19, 25 << 20             # see default_capacity()

MSG_GRAPH = ("{name}.grad has a graph, from backward(create_graph=True) inside no_sync() or assigned by you, and summing "
             "it over ranks would detach it; set .grad to None first, or use autograd.grad(..., create_graph=True)")


class BucketListener(Protocol):
    """The interface of a reducer for its buckets."""

    shared: SharedParameters
    superseded: str                                  # why the reducer can't be used any longer; "" if it can

    def begin(self) -> Any:
        """A pass is about to change the .grad of a parameter, and the bucket does not count that pass yet."""

    def bucket_full(self) -> None:
        """All gradients of the bucket have arrived."""

    def gradient_arrived(self, p: Tensor) -> None:
        """A gradient has arrived that the bucket could not count: of another pass, or in other memory."""


class GradientBucket(LeafCounter):
    """Parameters whose gradients are summed together, and the count of those that have arrived. Subclasses: Bucket, and
    Unit of a sharded model."""

    nbytes: int
    gradients: Array                                 # all as one array, which is scaled before the sum and divided after it
    used: Array                                      # flags of parameters; after the sum: numbers of ranks
    room: Array                                      # in the last bucket: what a WeightCheck sums with the flags
    listener: BucketListener

    def __init__(self, named: Sequence[tuple[str, Any]]) -> None:
        super().__init__()
        self.names: list[str] = [name for name, _ in named]
        self.params: list[Any] = [p for _, p in named]
        self.number_of: dict[Any, int] = {p: number for number, p in enumerate(self.params)}
        self.unused_before: list[tuple[int, Array]] = []         # earlier gradients of unused parameters, by number

    # --- the memory of gradients -------------------------------------------------------------------------------------------

    def gradient(self, number: int) -> Array:
        """The memory of one parameter's gradient, in the parameter's shape."""
        raise NotImplementedError

    def holds(self, p: Tensor) -> bool:
        """Whether p.grad is in this bucket's memory."""
        raise NotImplementedError

    def copy_in(self, p: Tensor) -> None:
        """Copy a .grad in other memory (one that was assigned) into the bucket, and make it a view of the bucket."""
        grad = p.grad
        assert grad is not None
        number = self.number_of[p]
        if grad.edge is not None:
            raise RuntimeError(MSG_GRAPH.format(name=self.names[number]))
        memory = self.gradient(number)
        copy_into(memory, grad.array)
        set_grad(p, as_tensor(memory))

    def _held_arrays(self) -> Iterator[tuple[str, str, Any]]:
        """The use of its arrays, for autograd.cpu.memory_summary()."""
        raise NotImplementedError

    # --- counting, called by the engine --------------------------------------------------------------------------

    def count_for(self, p: Tensor) -> LeafCounter | None:
        """Count p's gradients in this bucket from now on. Returns the counter that did so before."""
        return set_counter(p, self)

    # --- one pass, called by the reducer --------------------------------------------------------------------------------

    def start_pass(self, backward_pass: BackwardPass | None) -> None:
        """Count from 0 the gradients of this pass; None: the reducer gets each gradient by gradient_arrived()."""
        self.backward_pass = backward_pass
        self.left: int = len(self.params)
        self.counted.clear()
        self.used[...] = 0
        self.unused_before.clear()

    def stop_counting(self) -> None:
        """Set the flags of the parameters that got gradients, before the bucket is launched."""
        if self.left == 0 and self.counted:
            self.used[...] = 1
        elif self.counted:
            for p in self.counted:
                self.used[self.number_of[p]] = 1
        self.counted.clear()
        self.backward_pass: Any = None

    def fill(self, adding_up: bool, counted_elsewhere: Collection[Tensor]) -> None:
        """Complete the gradients of a bucket that is launched before it is full. adding_up: after passes inside
        no_sync().
        """
        raise NotImplementedError

    def fill_with_zeros(self) -> None:
        """Set all gradients and flags to 0, as on a rank without gradients."""
        raise NotImplementedError

    def deliver(self, ranks: int, in_bucket: bool) -> bool:
        """Put the results into .grad, as views of the bucket (in_bucket) or in separate memory. Returns whether all of
        `ranks` used all parameters."""
        raise NotImplementedError

    def forget(self) -> None:
        """Discard the state of a pass."""
        self.unused_before.clear()


class Bucket(GradientBucket):
    """A flat buffer of gradients, followed by a flag for each parameter (used or not), `room` more elements and the rank's
    weight.

    All are summed together with the gradients, so their sums need no further message.
    """

    def __init__(self, named: Sequence[tuple[str, Any]], comm: Communicator, room: int = 0) -> None:
        super().__init__(named)
        count = sum(p.array.size for p in self.params)
        dtype = self.params[0].array.dtype
        count = count * 2 if dtype.kind == "c" else count        # complex numbers are two reals: flags are compared
        self.elements = count                        # of gradients, in real numbers
        self.sum: PersistentSum = comm.persistent_sum(count + len(self.params) + room + 1, dtype.type(0).real.dtype)
        self.buffer: Array = self.sum.array
        self.gradients: Array = self.buffer[:count].view(dtype)
        self.flags: Array = self.buffer[count:-1]    # those of parameters, then `room`
        self.used: Array = self.flags[:len(self.params)]
        self.room: Array = self.flags[len(self.params):]
        self.nbytes: int = self.buffer.nbytes
        self.views: list[Array] = unflatten(self.gradients, [p.array.shape for p in self.params])

    @property
    def weight(self) -> float:
        """The last element: this rank's weight, and after the sum the sum of all ranks' weights."""
        return float(self.buffer[-1])

    def gradient(self, number: int) -> Array:
        """The part of the buffer that is one parameter's gradient, in the parameter's shape."""
        return self.views[number]

    def holds(self, p: Tensor) -> bool:
        """Whether p.grad is the view of this bucket."""
        return p.grad is not None and p.grad.array is self.views[self.number_of[p]]

    def _held_arrays(self) -> Iterator[tuple[str, str, Any]]:
        """The buffer, and copies of earlier gradients."""
        yield "gradient buckets", "", self.buffer
        yield from (("gradients", "", before) for _, before in self.unused_before)

    def count_for(self, p: Tensor) -> LeafCounter | None:
        """Count p's gradients, and let the engine write them into the bucket."""
        previous = super().count_for(p)
        set_grad_buffer(p, self.views[self.number_of[p]])
        return previous

    def fill(self, adding_up: bool, counted_elsewhere: Collection[Tensor]) -> None:
        """Set the gradients of unused parameters to their earlier .grad (deliver() restores it if no rank used the
        parameter), or to 0 if there is none."""
        for number, (p, view) in enumerate(zip(self.params, self.views, strict=True)):
            if self.used[number]:
                continue
            grad = p.grad
            if grad is None or p in counted_elsewhere:
                view[...] = 0
            elif adding_up:                          # used in an earlier pass
                self.used[number] = 1
                if grad.array is not view:
                    self.copy_in(p)
            elif grad.array is view:
                self.unused_before.append((number, view.copy()))
            else:
                copy_into(view, grad.array)

    def fill_with_zeros(self) -> None:
        """Set the whole buffer to 0."""
        self.start_pass(None)
        self.buffer[...] = 0
        self.left = 0

    def deliver(self, ranks: int, in_bucket: bool) -> bool:
        """Put the sums into the .grad of parameters that some rank used; others keep their earlier .grad."""
        all_used = True
        for p, view, used in zip(self.params, self.views, self.used.tolist(), strict=True):
            if used < ranks:
                all_used = False
            if used and not in_bucket:
                copy_to_grad(p, view)
            elif used and ((grad := p._grad) is None or grad.array is not view):
                set_grad(p, as_tensor(view))         # used on another rank only
        for number, before in self.unused_before:
            if not self.used[number]:
                self.views[number][...] = before
        self.unused_before.clear()
        return all_used


def copy_to_grad(p: Tensor, view: Array) -> None:
    """Copy a result out of the bucket into p.grad, whose memory is reused if it is not the bucket's."""
    if p.grad is None or p.grad.array is view:
        set_grad(p, as_tensor(view.copy()))
    elif p.grad.array is not view:
        copy_into(p.grad.array, view)
        shared_counter(p.grad).value += 1


def default_capacity(nbytes: float) -> float:
    """The size of buckets for gradients of nbytes: an eighth, so that most are all-reduced while others are computed; at
    least 0.5 MiB, since starting a sum has a cost; at most PyTorch's 25 MiB. See docs/data_parallel.md.
    """
    return min(max(nbytes / FRACTION, LEAST_BYTES), MOST_BYTES)


def grouped(named: Sequence[tuple[str, Any]], cap_bytes: float) -> list[list[tuple[str, Any]]]:
    """The parameters of each bucket, in reverse order of registration, approximately the order in which gradients arrive. A
    bucket is closed as soon as it has cap_bytes.
    """
    groups = group_until(reversed(named), lambda item: item[1].array.dtype, lambda item: item[1].array.nbytes, cap_bytes,
                    FIRST_BUCKET_BYTES)
    if len(groups) > 1 and _is_bias_of(groups[-1], groups[-2][-1]):
        last = groups.pop()
        groups[-1] += last
    return groups


def _is_bias_of(last: list[tuple[str, Any]], before: tuple[str, Any]) -> bool:
    """Whether the last bucket would be only the bias of the layer whose weight ends the bucket before, since their gradients
    arrive together."""
    name, p = last[0]
    return (len(last) == 1 and name.rpartition(".")[0] == before[0].rpartition(".")[0]
            and p.array.dtype == before[1].array.dtype and 64 * p.array.nbytes < before[1].array.nbytes)


def assign_all(named: Sequence[tuple[str, Any]], cap_bytes: float, delayed: frozenset[str], comm: Communicator,
               room: int = 0) -> list[Bucket]:
    """Buckets of the parameters, see grouped(); the delayed ones in separate buckets at the end. The last bucket has `room`.
    Collective over comm, which sums the buckets."""
    first = [item for item in named if item[0] not in delayed]
    last = [item for item in named if item[0] in delayed]
    *groups, end = [*grouped(first, cap_bytes), *grouped(last, cap_bytes)]
    return [*(Bucket(group, comm) for group in groups), Bucket(end, comm, room)]
