"""Comm hooks: functions that average a bucket of gradients over ranks. GradBucket is a hook's argument; CommHook calls it.

A hook(state, bucket) returns the bucket's new flat buffer: a Handle of it, or the Tensor or array. bucket.buffer() has this
rank's gradients, scaled so that their plain mean over ranks is the result: by w * size / (sum of w), w being the rank's
rows.

>>> def hook(state, bucket):
...     mine = bucket.buffer().numpy() / bucket.comm.size
...     return bucket.comm.start_allreduce([mine]).then(lambda handle: handle.value()[0])
>>> model.register_comm_hook(None, hook)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from autograd.kernels.halves import copy_into

from ..autograd import Tensor, as_tensor
from ..comm import Communicator, communicator, on_all_ranks
from ..pytree.flat_arrays import unflatten

H = TypeVar("H", bound=Callable[..., Any])


class FlatGradients(Protocol):
    """The interface of a reducer's bucket for GradBucket."""

    names: list[str]
    params: list[Tensor]

    @property
    def gradients(self) -> np.ndarray[Any, Any]:
        """All gradients as one array."""


class GradBucket:
    """The gradients of some parameters in one flat buffer: the argument of a comm hook."""

    comm: Communicator
    names: list[str]
    bytes_sent: int

    def __init__(self, bucket: FlatGradients, index: int, last: bool, comm: Communicator) -> None:
        self._bucket, self._index, self._last, self.comm = bucket, index, last, comm
        self._buffer = as_tensor(bucket.gradients)
        self.names = list(bucket.names)
        self.bytes_sent = int(bucket.gradients.nbytes)

    def index(self) -> int:
        """The bucket's index in the order of the sums, the same on all ranks."""
        return self._index

    def buffer(self) -> Tensor:
        """The flat buffer, 1-d, which shares memory with the bucket (unless set_buffer() has replaced it)."""
        return self._buffer

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """buffer() as a NumPy array that shares its memory."""
        return self._buffer.array

    def refuse_complex(self) -> None:
        """Raise NotImplementedError if gradients are complex, for hooks that would lose the imaginary parts."""
        if self.array.dtype.kind == "c":
            raise NotImplementedError(f"the gradients of {', '.join(self.names)} are complex, but this hook sends real "
                                      "numbers; use the plain sum, allreduce_hook or powerSGD_hook")

    def gradients(self) -> list[Tensor]:
        """One Tensor for each parameter, in its shape, sharing memory with the buffer; zeros for unused parameters."""
        return [as_tensor(view) for view in unflatten(self.array, [p.array.shape for p in self._bucket.params])]

    def over(self, process_group: Communicator | None) -> Communicator:
        """The communicator over which a hook averages."""
        return self.comm if process_group is None else communicator(process_group)

    def parameters(self) -> list[Tensor]:
        """The parameters, in the order of gradients()."""
        return list(self._bucket.params)

    def is_last(self) -> bool:
        """Whether this is the last bucket of the backward pass."""
        return self._last

    def set_buffer(self, buffer: Tensor) -> None:
        """Replace the buffer, for hooks that call another hook's function. The gradients become what the hook returns."""
        if buffer.array.size != self._bucket.gradients.size:
            raise ValueError(f"set_buffer: the bucket has {self._bucket.gradients.size} elements, the new buffer "
                             f"{buffer.array.size}")
        self._buffer = as_tensor(buffer.array.reshape(-1))


def requires_state(state_type: type) -> Callable[[H], H]:
    """A decorator of hooks whose state is a `state_type`: registering the hook with another state is a TypeError."""
    def decorate(hook: H) -> H:
        hook.state_type = state_type                 # type: ignore[attr-defined]
        return hook

    return decorate


class CommHook:
    """A registered hook with its state. TypeError or ValueError if hook, state or annotation is invalid."""

    def __init__(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        if not callable(hook):
            raise TypeError(f"Communication hook must be callable, not {type(hook).__name__}.")
        self.state: Any = state
        self.hook: Callable[[Any, GradBucket], Any] = hook
        self.name: str = getattr(hook, "__qualname__", type(hook).__name__)
        kind = getattr(hook, "state_type", None)
        if kind is not None and not isinstance(state, kind):
            raise TypeError(f"{self.name} requires a hooks.{kind.__name__} as state, not {state!r}: call "
                            f"register_comm_hook(hooks.{kind.__name__}(...), {self.name})")
        # the same on all ranks
        self.identity: tuple[str, str, str] = getattr(hook, "__module__", ""), self.name, type(state).__name__
        annotation = self._annotation()
        if isinstance(annotation, type) and annotation is not GradBucket:
            raise ValueError(f"Communication hook: bucket annotation should be GradBucket, not {annotation.__name__}.")

    def _annotation(self) -> Any:
        """The annotation of the hook's parameter `bucket`; None without one."""
        try:
            parameters = inspect.signature(self.hook).parameters
        except (TypeError, ValueError):              # built-in callables have no signature
            return None
        return parameters["bucket"].annotation if "bucket" in parameters and (
            parameters["bucket"].annotation is not inspect.Parameter.empty) else None

    def start(self, bucket: GradBucket) -> Any:
        """Call the hook. Its exception is raised on all ranks."""
        with on_all_ranks(bucket.comm, f"comm hook {self.name} failed on bucket {bucket.index()}"):
            return self.hook(self.state, bucket)

    def finish(self, bucket: GradBucket, returned: Any, into: np.ndarray[Any, Any]) -> None:
        """Wait for the hook's result and copy it into the bucket. An exception is raised on all ranks."""
        with on_all_ranks(bucket.comm, f"comm hook {self.name} failed on bucket {bucket.index()}"):
            value = returned
            while hasattr(value, "wait"):
                value = value.wait()
            if isinstance(value, (list, tuple)) and len(value) == 1:
                value = value[0]
            if not isinstance(value, (Tensor, np.ndarray)):
                raise TypeError(f"a comm hook must return a Handle, Tensor or array with the new buffer, not "
                                f"{type(value).__name__}")
            array = value.array if isinstance(value, Tensor) else value
            if array.size != into.size:
                raise ValueError(f"a comm hook must return {into.size} elements like the bucket, not {array.size}")
            if array is not into:
                copy_into(into, array.reshape(-1))
