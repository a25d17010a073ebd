"""Frame: the placeholders of one checkpointed call, and the recomputation that fills them; see checkpoint.py."""

from __future__ import annotations

import contextlib
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ..core.engine import current_pass
from ..core.graph import Node
from ..core.interceptors import Interceptor, calling_frame, install, remove
from ..core.modes import enable_grad, modes
from ..core.recording import output_value, recalled, tensor_at
from ..core.tensor import Tensor, edge_of, result
from ..modes.saved_tensor_hooks import hooks_in_use, packed_by, saved_tensors_hooks

MSG_TIP = "Pass debug=True to checkpoint(), or use set_checkpoint_debug_enabled(True), to see what both runs recorded."
MSG_COUNT = ("checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
             "Number of tensors saved during forward: {then}\nNumber of tensors saved during recomputation: {now}.\n"
             + MSG_TIP)
MSG_MORE = ("checkpoint: trying to save more tensors during recomputation than during the original forward pass.\n"
            + MSG_TIP)
MSG_FACTS = ("checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass."
             "\n{which}\n" + MSG_TIP)
MSG_TWICE = ("checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you are calling "
             "ctx.saved_tensors in backward, make sure to do so only once.")
MSG_DEBUG = """An error happened while unpacking tensors.
You are seeing this error because you passed `debug=True` to checkpoint: the second run of a checkpointed function saved
other tensors than the first. Compare what they recorded:

Operations executed during the original forward:
{first}

Operations executed during recomputation:
{second}

Where these were called, original forward:
{first_places}

Where these were called, recomputation:
{second_places}

{error}"""


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function did not do what the first did: it saved another number of tensors, or
    tensors of other shapes or dtypes. checkpoint(debug=True) shows the operations of both runs."""


class _Stop(Exception):
    """All placeholders are filled: the rest of the second run is not needed."""


def facts_of(tensor: Tensor) -> dict[str, Any]:
    """What the default determinism check compares."""
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype)}


class _Placeholder:
    """Stands in a node for the saved tensor `number` of a lane."""

    __slots__ = ("__weakref__", "lane", "number")

    def __init__(self, lane: int | None, number: int) -> None:
        self.lane, self.number = lane, number


class _Run:
    """A second run: how many tensors it has saved in each lane, and those that are waiting for their node."""

    def __init__(self) -> None:
        self.counts: dict[int | None, int] = {}
        self.done = False
        self.values: dict[tuple[int | None, int], Tensor] = {}


class Frame:
    """One checkpointed call. Each backward pass that comes to it makes its own second run. Lanes (replicas on local
    devices) save tensors at the same time, so these are numbered in each lane by themselves."""

    def __init__(self, function: Callable[..., None], args: tuple[Any, ...], early_stop: bool,
                 facts: Callable[[Tensor], Any], log: Log | None) -> None:
        self._function, self._early_stop, self._facts, self._log = function, early_stop, facts, log
        self._arguments = [_Argument(x) if isinstance(x, Tensor) else x for x in args]
        self._lane = modes.lane                      # the second run begins in the same one
        self._lock = threading.RLock()
        self._placeholders: dict[int | None, list[weakref.ref[_Placeholder]]] = {}
        self._expected: dict[int | None, list[Any]] = {}
        self._runs: weakref.WeakKeyDictionary[Any, _Run] = weakref.WeakKeyDictionary()
        self.complete = False                        # the first run has ended
        self._lenient = False                        # a backward pass inside the first run: nothing to compare with

    def placeholders(self) -> saved_tensors_hooks:
        """The hooks of the first run."""
        return saved_tensors_hooks(self._pack, self._unpack)

    def _pack(self, tensor: Tensor) -> _Placeholder:
        slots = self._placeholders.setdefault(modes.lane, [])
        placeholder = _Placeholder(modes.lane, len(slots))
        slots.append(weakref.ref(placeholder))
        self._expected.setdefault(modes.lane, []).append(self._facts(tensor))
        return placeholder

    def _unpack(self, placeholder: _Placeholder) -> Tensor:
        current = current_pass()
        run = _Run() if current is None else self._runs.setdefault(current, _Run())
        try:
            with self._lock:                         # lanes go backward at the same time
                if not run.done:
                    self._fill(run)
            if (placeholder.lane, placeholder.number) not in run.values:
                raise CheckpointError(MSG_TWICE)
        except CheckpointError as error:
            if self._log is not None:
                raise CheckpointError(self._log.text(error)) from error
            raise
        return run.values.pop((placeholder.lane, placeholder.number))

    def _fill(self, run: _Run) -> None:
        """Run the function a second time and keep the tensors that it saves."""
        arguments = [x.value() if isinstance(x, _Argument) else x for x in self._arguments]
        before, modes.lane = modes.lane, self._lane
        try:
            hooks = saved_tensors_hooks(lambda x: self._pack_second(run, x), lambda x: x)
            with contextlib.suppress(_Stop), hooks, enable_grad():
                self._function(*arguments)
        finally:
            modes.lane = before
        run.done = True
        if not self._lenient:
            self._compare(run)

    def _pack_second(self, run: _Run, tensor: Tensor) -> Tensor:
        """The pack hook of the second run."""
        counter, tensor, lane = tensor.counter, result(tensor.array), modes.lane
        tensor.counter = counter                     # nodes of the backward pass that save it see later writes
        slots, number = self._placeholders.get(lane, []), run.counts.get(lane, 0)
        run.counts[lane] = number + 1
        if number >= len(slots):
            if self.complete:
                raise CheckpointError(MSG_MORE)
            self._lenient = True
            return tensor
        if slots[number]() is not None:
            run.values[lane, number] = tensor
        if self._early_stop and number + 1 == len(slots) and run.counts == self._counts():
            raise _Stop
        return tensor

    def _counts(self) -> dict[int | None, int]:
        return {lane: len(slots) for lane, slots in self._placeholders.items()}

    def _compare(self, run: _Run) -> None:
        """Refuse a second run that saved other tensors than the first."""
        then, now = sum(self._counts().values()), sum(run.counts.values())
        if run.counts != self._counts():
            raise CheckpointError(MSG_COUNT.format(then=then, now=now))
        which = ""
        for (lane, number), tensor in sorted(run.values.items(), key=lambda item: item[0][1]):
            then, now = self._expected[lane][number], self._facts(tensor)
            if then != now:
                which += f"tensor at position {number}:\nsaved metadata: {then}\nrecomputed metadata: {now}\n"
        if which:
            raise CheckpointError(MSG_FACTS.format(which=which))


class _Argument:
    """A tensor argument, saved as a node saves it: by the saved-tensor hooks around the checkpoint, or with its version."""

    def __init__(self, tensor: Tensor) -> None:
        hooks = hooks_in_use()
        self._packed = None if hooks is None else packed_by(hooks, Node(), tensor)
        self._tensor = tensor if self._packed is None else None
        self._version = 0 if tensor.counter is None else tensor.counter.saved()

    def value(self) -> Tensor:
        """The tensor, as it was."""
        if self._tensor is None:
            return output_value(Node(), self._packed, True, 0)  # type: ignore[arg-type]
        counter = self._tensor.counter
        if counter is None or counter.saved() == self._version:
            return self._tensor
        before = recalled("checkpoint()", counter, self._tensor.array, self._version, "a tensor")
        return tensor_at(before, edge_of(self._tensor))


# --- debug -------------------------------------------------------------------------------------------------------------

class _Listing(Interceptor):
    """Notes the name of each recorded node and where it was called. Lanes are left out: their order changes."""

    def __init__(self, entries: list[tuple[str, str]]) -> None:
        self._entries, self._thread = entries, threading.get_ident()

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """One line of the log."""
        if threading.get_ident() == self._thread:
            self._entries.append((node.name(), "".join(traceback.format_stack(calling_frame(), limit=8))))


class Log:
    """What both runs of a checkpointed function recorded, and where."""

    def __init__(self) -> None:
        self._first: list[tuple[str, str]] = []
        self._second: list[tuple[str, str]] = []

    def contexts(self) -> tuple[Any, Any]:
        """Context managers for the two runs."""
        return self._logging(self._first), self._logging(self._second)

    @contextlib.contextmanager
    def _logging(self, entries: list[tuple[str, str]]) -> Iterator[None]:
        entries.clear()
        listing = _Listing(entries)
        install(listing)
        try:
            yield
        finally:
            remove(listing)

    def text(self, error: CheckpointError) -> str:
        """The error with both logs."""
        def names(entries: list[tuple[str, str]]) -> str:
            return "\n".join(name for name, _ in entries)

        def stacks(entries: list[tuple[str, str]]) -> str:
            return "\n".join(f"{name}:\n{stack}" for name, stack in entries)

        return MSG_DEBUG.format(first=names(self._first), second=names(self._second), first_places=stacks(self._first),
                                second_places=stacks(self._second), error=error)
