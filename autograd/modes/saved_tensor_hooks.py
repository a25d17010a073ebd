"""Hooks on saved tensors: a node saves the pack hook's result, and backward reads the unpack hook's result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.graph import Node, shared_counter
from ..core.interceptors import Interceptor, install, remove
from ..core.modes import modes
from ..core.recording import PACKED, Output, tensor_at
from ..core.tensor import Tensor, edge_of, result

ndarray = np.ndarray

MSG_PACK_WRITES = ("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can "
                   "not be modified by in-place operations as this can lead to unexpected side-effects; change a clone().")


class Packed:
    """The result of a pack hook for a saved value, and what is needed to reconnect its tensor to the graph."""

    __slots__ = ("edge", "number", "payload", "plain", "unpack_hook")

    edge: Any                                        # of a saved input
    number: int | None                               # of a saved output
    plain: bool                                      # it was an array
    payload: Any                                     # what the pack hook returned
    unpack_hook: Callable[[Any], Any]

    def unpack(self, node: Node, create: bool) -> Any:
        """The unpacked value: an array, or, if `create`, a Tensor at the same place in the graph."""
        tensor = self.unpack_hook(self.payload)
        if not isinstance(tensor, Tensor):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(tensor).__name__}")
        if self.plain or not create:
            return tensor.array
        edge = self.edge if self.number is None else (node, self.number)
        joined = tensor_at(tensor.array, edge)
        joined.counter = tensor.counter              # nodes of the backward pass save it too, and detect later writes
        return joined


def packed_by(hooks: saved_tensors_hooks, node: Node, value: Any) -> Any:
    """What `node` saves for a value: the pack hook's result in an Output. Packed values and non-tensors are unchanged."""
    packed = Packed()
    packed.edge = packed.number = None
    packed.plain = False
    if type(value) is Output:
        if value.number == PACKED:
            return value
        packed.number = value.number
        tensor = tensor_at(value.array, (node, value.number))
        if node.output_counters is not None:
            tensor.counter = node.output_counters.get(value.number)
    elif isinstance(value, Tensor):
        packed.edge = edge_of(value)
        tensor = value
        if tensor.counter is not None and tensor.counter.kept is not None and not hooks.checks_writes:
            tensor = result(value.array.copy())      # hooks can't detect the library's own writes (overwrites.py)
    elif isinstance(value, ndarray):
        packed.plain = True
        tensor = result(value)
    else:
        return value
    counter = tensor.counter
    version = 0 if counter is None else counter.value
    recording, modes.recording = modes.recording, 0
    try:
        packed.payload = hooks.pack_hook(tensor)
    finally:
        modes.recording = recording
    if tensor.counter is not None and tensor.counter.value != version:
        raise RuntimeError(MSG_PACK_WRITES)
    packed.unpack_hook = hooks.unpack_hook
    return Output(packed, PACKED)


def hooks_in_use() -> saved_tensors_hooks | None:
    """The innermost saved-tensors hooks of this thread, if any."""
    return next((i for i in modes.interceptors if isinstance(i, saved_tensors_hooks)), None)


class saved_tensors_hooks(Interceptor):
    """In the block, keep pack_hook(tensor) for each tensor saved for backward, which gets unpack_hook(that) back.

    Both should agree on value, shape and dtype. Of nested pairs the innermost counts. The hooks must not write to what
    they are handed, and what pack_hook returns should not hold its argument itself (return `x.detach()`, not `x`): a
    saved output holds the graph that holds it. Saved tensors that go through hooks are not checked for later writes."""

    checks_writes = False                            # whether pack_hook reads the counters of its arguments

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        for hook in (pack_hook, unpack_hook):
            if not callable(hook):
                raise TypeError(f"saved_tensors_hooks takes two functions, not {type(hook).__name__}")
        self.pack_hook: Callable[[Tensor], Any] = pack_hook
        self.unpack_hook: Callable[[Any], Tensor] = unpack_hook

    def __enter__(self) -> None:
        if modes.saving_refused is not None:
            raise RuntimeError(modes.saving_refused)
        install(self)

    def __exit__(self, *exception: object) -> None:
        innermost = hooks_in_use()                   # as in PyTorch, even if an unpack hook has left a block
        if innermost is not None:
            remove(innermost)

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Pack the node's saved values. Only the innermost pair packs; outer pairs see packed values."""
        if node.saved is not None and modes.level is None:
            if self.checks_writes:
                for out in outputs:
                    shared_counter(out)
            node.saved = tuple([packed_by(self, node, value) for value in node.saved])


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors in the CPU's memory, where all tensors live already: copied with `pin_memory`, else as they are."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: result(tensor.array.copy() if pin_memory else tensor.array), lambda tensor: tensor)


class disable_saved_tensors_hooks:
    """A block (or decorated function) in which saved_tensors_hooks raises a RuntimeError with this message."""

    def __init__(self, error_message: str) -> None:
        self._message = error_message
        self._before: list[str | None] = []

    def __enter__(self) -> None:
        if hooks_in_use() is not None:
            raise RuntimeError(self._message)
        self._before.append(modes.saving_refused)
        modes.saving_refused = self._message

    def __exit__(self, *exception: object) -> None:
        modes.saving_refused = self._before.pop()
