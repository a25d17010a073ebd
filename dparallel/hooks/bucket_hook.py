"""The user's own way to average a bucket over ranks: what a comm hook gets, and how the reducer runs it.

A hook is a function hook(state, bucket) that returns a Handle (or a Tensor or array, where it needs no waiting) with the
bucket's new flat buffer. The buffer it finds holds this rank's gradients, scaled so that their plain mean over ranks is
right: multiplied by w * size / (sum of w), where w is what the rank counts (its rows); with equal weights, and after
average="ranks", these are the gradients themselves. So a hook written for PyTorch, which divides by the number of ranks
and sums, is right here too.

>>> def hook(state, bucket):
...     mine = bucket.buffer().numpy() / bucket.comm.size
...     return bucket.comm.start_allreduce([mine]).then(lambda handle: handle.value()[0])
>>> model.register_comm_hook(None, hook)
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from autograd import Tensor, as_tensor

from ..comm import CollectiveError, Communicator, Handle, communicator
from ..pytree.flat_arrays import unflatten


class FlatGradients(Protocol):
    """What a GradBucket shows of a bucket of the reducer."""

    names: list[str]
    params: list[Any]

    @property
    def gradients(self) -> np.ndarray[Any, Any]:
        """All of them end to end."""


class GradBucket:
    """The gradients of some parameters, end to end in one flat buffer, as a comm hook gets them.

    comm: the model's communicator, on which a hook's collectives belong, so that an error in one rank's hook reaches the
    others. names: the parameters'. array: the buffer as a NumPy array. bytes_sent: what the hook puts on the wire for this
    bucket, in bytes; it stands at the size of the buffer, and a hook that sends less says so by assigning to it.
    """

    def __init__(self, bucket: FlatGradients, index: int, last: bool, comm: Communicator) -> None:
        self._bucket, self._index, self._last, self.comm = bucket, index, last, comm
        self._buffer = as_tensor(bucket.gradients)
        self.names = list(bucket.names)
        self.bytes_sent = int(bucket.gradients.nbytes)

    def index(self) -> int:
        """The bucket's number; the first one to leave has 0. The same on all ranks."""
        return self._index

    def buffer(self) -> Tensor:
        """The flat buffer, 1-d, sharing memory with the bucket (or what set_buffer put there)."""
        return self._buffer

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """buffer() as a NumPy array, memory shared."""
        return self._buffer.array

    def refuse_complex(self) -> None:
        """NotImplementedError if gradients are complex: for hooks whose messages would lose imaginary parts."""
        if self.array.dtype.kind == "c":
            raise NotImplementedError(f"the gradients of {', '.join(self.names)} are complex, and this hook sends real "
                                      "numbers; use the plain sum, allreduce_hook or powerSGD_hook")

    def gradients(self) -> list[Tensor]:
        """One Tensor for each parameter, in its shape, sharing memory with the buffer. Zeros where it was not used."""
        return [as_tensor(view) for view in unflatten(self.array, [p.array.shape for p in self._bucket.params])]

    def over(self, process_group: Any) -> Communicator:
        """The communicator that a hook averages over: that of its process_group, or the model's own for None."""
        return self.comm if process_group is None else communicator(process_group)

    def parameters(self) -> list[Any]:
        """The parameters, in the order of gradients()."""
        return list(self._bucket.params)

    def is_last(self) -> bool:
        """Whether this is the last bucket of the backward pass."""
        return self._last

    def set_buffer(self, buffer: Tensor) -> None:
        """Replace the buffer by another of as many elements. What counts in the end is what the hook returns."""
        if buffer.array.size != self._bucket.gradients.size:
            raise ValueError(f"set_buffer: the bucket has {self._bucket.gradients.size} elements, the new buffer "
                             f"{buffer.array.size}")
        self._buffer = as_tensor(buffer.array.reshape(-1))


def takes(kind: type) -> Callable[[Any], Any]:
    """Decorates a hook whose state is a `kind`: another one is refused when it is registered."""
    def mark(hook: Any) -> Any:
        hook.takes = kind
        return hook

    return mark


class CommHook:
    """A registered hook with its state. TypeError, ValueError if it can't be one."""

    def __init__(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        if not callable(hook):
            raise TypeError(f"Communication hook must be callable, not {type(hook).__name__}.")
        self.state, self.hook = state, hook
        self.name = getattr(hook, "__qualname__", type(hook).__name__)
        kind = getattr(hook, "takes", None)
        if kind is not None and not isinstance(state, kind):
            raise TypeError(f"{self.name} keeps a state, a hooks.{kind.__name__}, and got {state!r}: "
                            f"register_comm_hook(hooks.{kind.__name__}(...), {self.name})")
        self.identity = getattr(hook, "__module__", ""), self.name, type(state).__name__     # the same on all ranks
        annotation = self._annotation()
        if isinstance(annotation, type) and annotation is not GradBucket:
            raise ValueError(f"Communication hook: bucket annotation should be GradBucket, not {annotation.__name__}.")

    def _annotation(self) -> Any:
        """What the hook says its bucket is."""
        try:
            parameters = inspect.signature(self.hook).parameters
        except (TypeError, ValueError):              # built-in callables have no signature
            return None
        return parameters["bucket"].annotation if "bucket" in parameters and (
            parameters["bucket"].annotation is not inspect.Parameter.empty) else None

    def start(self, bucket: GradBucket) -> Any:
        """Call the hook; a mistake is told to all ranks."""
        with on_all_ranks(bucket.comm, f"comm hook {self.name} failed on bucket {bucket.index()}"):
            return self.hook(self.state, bucket)

    def finish(self, bucket: GradBucket, returned: Any, into: np.ndarray[Any, Any]) -> None:
        """Wait for what the hook returned and put it into the bucket; a mistake is told to all ranks."""
        with on_all_ranks(bucket.comm, f"comm hook {self.name} failed on bucket {bucket.index()}"):
            value = returned
            while hasattr(value, "wait"):
                value = value.wait()
            if isinstance(value, (list, tuple)) and len(value) == 1:
                value = value[0]
            if not isinstance(value, (Tensor, np.ndarray)):
                raise TypeError(f"a comm hook returns a Handle, Tensor or array with the new buffer, not "
                                f"{type(value).__name__}")
            array = value.array if isinstance(value, Tensor) else value
            if array.size != into.size:
                raise ValueError(f"a comm hook returns as many elements as it got: {into.size}, not {array.size}")
            if array is not into:
                np.copyto(into, array.reshape(-1), casting="same_kind")


class on_all_ranks:
    """with on_all_ranks(comm, what): an exception inside goes on here, and is a CollectiveError on the other ranks, in the
    collective of `comm` that they are in or come to next."""

    def __init__(self, comm: Communicator, what: str) -> None:
        self.comm, self.what = comm, what

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Tell the others, unless they know."""
        if not isinstance(error, Exception) or isinstance(error, CollectiveError):
            return
        with contextlib.suppress(CollectiveError):   # what the others get; here the cause itself goes on
            self.comm.refuse(f"{self.what}: {type(error).__name__}: {error}")


__all__ = ["CommHook", "GradBucket", "Handle", "on_all_ranks", "takes"]
