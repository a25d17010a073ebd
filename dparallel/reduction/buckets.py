"""Buckets: which parameters' gradients share a flat buffer, in which order. The same on every rank."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from autograd import Tensor, as_tensor
from autograd.core.grad_buffers import LeafCounter, set_counter, set_grad_buffer
from autograd.core.graph import shared_counter

from ..comm import Communicator
from ..pytree.flat_arrays import group_until, unflatten

if TYPE_CHECKING:
    from .shared_parameters import SharedParameters

Array = np.ndarray[Any, Any]

FIRST_BUCKET_BYTES = 1 << 20       # small, so that the first message leaves early (PyTorch's figure)
FRACTION, LEAST_BYTES, MOST_BYTES = 8, 1 << 19, 25 << 20             # see default_capacity()

MSG_GRAPH = ("{name}.grad has a graph, from backward(create_graph=True) inside no_sync() or from your own hand, and summing "
             "it over ranks would cut that; set .grad to None first, or use autograd.grad(..., create_graph=True)")


class BucketListener(Protocol):
    """What a bucket tells: its reducer."""

    shared: SharedParameters

    def begin(self) -> Any:
        """A pass is about to change the .grad of a parameter, and this bucket does not count for that pass yet."""

    def bucket_full(self) -> None:
        """All gradients of the bucket are there."""

    def gradient_arrived(self, p: Tensor) -> None:
        """A gradient is there that the bucket could not simply count."""


class GradientBucket(LeafCounter):
    """Parameters whose gradients are summed together; counts those that are there. Bucket and the sharded Unit are two."""

    nbytes: int
    used: Array                                      # one flag a parameter; after the sum: on how many ranks it was used
    listener: BucketListener

    def __init__(self, named: Sequence[tuple[str, Any]]) -> None:
        super().__init__()
        self.names, self.params = [name for name, _ in named], [p for _, p in named]
        self.number_of = {p: number for number, p in enumerate(self.params)}

    # --- where gradients are -------------------------------------------------------------------------------------------

    @property
    def gradients(self) -> Array:
        """All gradients end to end; what is scaled before the sum and divided after it."""
        raise NotImplementedError

    def gradient(self, number: int) -> Array:
        """The memory of one parameter's gradient, in its shape."""
        raise NotImplementedError

    def holds(self, p: Tensor) -> bool:
        """Whether p.grad lies in this bucket's memory."""
        raise NotImplementedError

    def copy_in(self, p: Tensor) -> None:
        """Move a .grad that lies elsewhere, because it was assigned, into the bucket."""
        grad: Any = p._grad
        number = self.number_of[p]
        if grad.edge is not None:
            raise RuntimeError(MSG_GRAPH.format(name=self.names[number]))
        memory = self.gradient(number)
        np.copyto(memory, grad.array, casting="same_kind")
        p._grad = as_tensor(memory)

    # --- counting, called by the backward pass --------------------------------------------------------------------------

    def count_for(self, p: Tensor) -> LeafCounter | None:
        """From now on this bucket counts p's gradients; what did before."""
        return set_counter(p, self)

    def before_uncounted(self) -> None:
        """See BucketListener.begin. A pass may begin with a leaf, as one that only the loss uses does."""
        self.listener.begin()

    def complete(self) -> None:
        """All gradients of the bucket have arrived: see BucketListener.bucket_full."""
        self.listener.bucket_full()

    def uncounted(self, leaf: Any) -> None:
        """A gradient arrived that the bucket can not simply count: see BucketListener.gradient_arrived."""
        self.listener.gradient_arrived(leaf)

    # --- one pass, called by the reducer --------------------------------------------------------------------------------

    def start_pass(self, walk: Any) -> None:
        """Count from 0. walk: the pass whose gradients are counted; None: the reducer looks at each of them."""
        self.walk, self.left = walk, len(self.params)
        self.counted.clear()
        self.used[...] = 0
        self.forget()

    def stop_counting(self) -> None:
        """The bucket leaves: flag the parameters that got gradients."""
        if self.left == 0 and self.counted:
            self.used[...] = 1
        elif self.counted:
            for p in self.counted:
                self.used[self.number_of[p]] = 1
        self.counted.clear()
        self.walk = None

    def fill(self, adding_up: bool, counted_elsewhere: Collection[Tensor]) -> None:
        """Complete the gradients of a bucket that leaves and is not full. adding_up: passes inside no_sync() came before."""
        raise NotImplementedError

    def fill_with_zeros(self) -> None:
        """Zeros for all, and none used: what a rank without gradients sends."""
        raise NotImplementedError

    def deliver(self, ranks: int, in_bucket: bool) -> bool:
        """Put the results into .grad; whether all of `ranks` used all parameters. in_bucket: .grad is a view of the bucket;
        else it has memory of its own."""
        raise NotImplementedError

    def forget(self) -> None:
        """Drop what the bucket remembers of a pass."""


class Bucket(GradientBucket):
    """Some parameters' gradients end to end, followed by one flag a parameter (used or not) and the rank's weight.

    The flags and the weight travel with the gradients, so that their sums need no message of their own.
    """

    def __init__(self, named: Sequence[tuple[str, Any]], comm: Communicator) -> None:
        super().__init__(named)
        count = sum(p.array.size for p in self.params)
        dtype = self.params[0].array.dtype
        count = count * 2 if dtype.kind == "c" else count        # real numbers: flags and weights are compared
        self.elements = count                        # before flags and weight
        self.sum = comm.persistent_sum(count + len(self.params) + 1, dtype.type(0).real.dtype)
        self.buffer = self.sum.array
        self.flat = self.buffer[:count].view(dtype)
        self.used = self.buffer[count:-1]
        self.nbytes = self.buffer.nbytes
        self.views = unflatten(self.flat, [p.array.shape for p in self.params])
        self.unused_before: list[tuple[int, Array]] = []         # gradients of parameters without a new one, by number

    @property
    def gradients(self) -> Array:
        """All gradients end to end."""
        return self.flat

    @property
    def weight(self) -> float:
        """The last element: this rank's weight, after the sum that of all ranks."""
        return float(self.buffer[-1])

    def gradient(self, number: int) -> Array:
        """The view of one parameter's gradient."""
        return self.views[number]

    def holds(self, p: Tensor) -> bool:
        """Whether p.grad is the view."""
        return p._grad is not None and p._grad.array is self.views[self.number_of[p]]

    def count_for(self, p: Tensor) -> LeafCounter | None:
        """Also let p's gradient be computed in the bucket."""
        before = super().count_for(p)
        set_grad_buffer(p, self.views[self.number_of[p]])
        return before

    def fill(self, adding_up: bool, counted_elsewhere: Collection[Tensor]) -> None:
        """Zeros for what this pass did not use; or the gradient that was there before, which stays if no rank used it."""
        for number, (p, view) in enumerate(zip(self.params, self.views, strict=True)):
            if self.used[number]:
                continue
            grad = p._grad
            if grad is None or p in counted_elsewhere:
                view[...] = 0
            elif adding_up:                          # it was used in a pass before
                self.used[number] = 1
                if grad.array is not view:
                    self.copy_in(p)
            elif grad.array is view:
                self.unused_before.append((number, view.copy()))
            else:
                np.copyto(view, grad.array, casting="same_kind")

    def fill_with_zeros(self) -> None:
        """Zeros for all, and none used."""
        self.start_pass(None)
        self.buffer[...] = 0
        self.left = 0

    def deliver(self, ranks: int, in_bucket: bool) -> bool:
        """Put the sums of parameters that some rank used into .grad; the others keep the .grad that they had."""
        all_used = True
        for p, view, used in zip(self.params, self.views, self.used.tolist(), strict=True):
            if used < ranks:
                all_used = False
            if used and not in_bucket:
                copy_to_grad(p, view)
            elif used and (p._grad is None or p._grad.array is not view):
                p._grad = as_tensor(view)            # used on some rank, though not on this one
        for number, before in self.unused_before:
            if not self.used[number]:
                self.views[number][...] = before
        self.forget()
        return all_used

    def forget(self) -> None:
        """Drop copies of earlier gradients."""
        self.unused_before = []


def copy_to_grad(p: Tensor, view: Array) -> None:
    """Put a result into memory that is not the bucket's: that of p.grad, if it has some."""
    if p._grad is None or p._grad.array is view:
        p._grad = as_tensor(view.copy())
    elif p._grad.array is not view:
        np.copyto(p._grad.array, view)
        shared_counter(p._grad).value += 1


def default_capacity(nbytes: float) -> float:
    """The size of buckets for gradients of nbytes: an eighth, so that most of them travel while others are computed; not so
    small that starting a sum counts, and PyTorch's 25 MiB for models of 200 MiB and more. See docs/data_parallel.md."""
    return min(max(nbytes / FRACTION, LEAST_BYTES), MOST_BYTES)


def assign(named: Sequence[tuple[str, Any]], cap_bytes: float, comm: Communicator) -> list[Bucket]:
    """Buckets that are full as soon as they have cap_bytes, in reverse order of registration: about the order in which
    gradients come. Collective over comm, which sums them."""
    groups = group_until(reversed(named), lambda item: item[1].array.dtype, lambda item: item[1].array.nbytes, cap_bytes,
                    FIRST_BUCKET_BYTES)
    if len(groups) > 1 and _is_bias_of(groups[-1], groups[-2][-1]):
        last = groups.pop()
        groups[-1] += last
    return [Bucket(group, comm) for group in groups]


def _is_bias_of(last: list[tuple[str, Any]], before: tuple[str, Any]) -> bool:
    """Whether the last bucket would be the bias of the layer whose weight filled the one before: they come together."""
    name, p = last[0]
    return (len(last) == 1 and name.rpartition(".")[0] == before[0].rpartition(".")[0]
            and p.array.dtype == before[1].array.dtype and 64 * p.array.nbytes < before[1].array.nbytes)


def assign_all(named: Sequence[tuple[str, Any]], cap_bytes: float, delayed: frozenset[str],
               comm: Communicator) -> list[Bucket]:
    """assign(), with the delayed parameters in buckets of their own at the end."""
    first = [item for item in named if item[0] not in delayed]
    last = [item for item in named if item[0] in delayed]
    return assign(first, cap_bytes, comm) + assign(last, cap_bytes, comm)
