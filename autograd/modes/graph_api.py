"""The public names of `autograd.graph` that need more than core/graph.py; the module autograd/graph.py exports them."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..core.edges import GradientEdge, get_gradient_edge
from ..core.engine import current_pass
from ..core.graph import FREED, MSG_FREED, Node, RemovableHandle, shared_counter, shown
from ..core.modes import modes
from ..core.recording import PACKED, Output, unpack
from ..core.tensor import Tensor, edge_of, result
from .inference import is_inference
from .saved_tensor_hooks import disable_saved_tensors_hooks, packed_by, save_on_cpu, saved_tensors_hooks


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write to the memory of one or more tensors that the library can't see, so that backward detects changes of
    saved tensors."""
    tensors: Iterable[Tensor] = (tensor,) if isinstance(tensor, Tensor) else tensor
    for one in tensors:
        if not is_inference(one):
            shared_counter(one).value += 1


class MultiHandle(RemovableHandle):
    """A handle that removes several hooks."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles: tuple[RemovableHandle, ...] = tuple(handles)

    def remove(self) -> None:
        """Remove all hooks of this handle."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all") -> RemovableHandle:
    """Call fn once per backward pass for several tensors."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        hook = _First(fn)
        return MultiHandle([t.register_hook(hook) for t in tensors if t.requires_grad])
    gather = _Gather(tensors, fn)
    return MultiHandle([t.register_hook(gather.hook(number)) for number, t in enumerate(tensors)])


class _First:
    """A tensor hook that calls fn for the first gradient of each pass."""

    def __init__(self, fn: Callable[..., None]) -> None:
        self._fn = fn
        self._lock = threading.Lock()
        self._met: weakref.WeakSet[Any] = weakref.WeakSet()

    def __call__(self, grad: Tensor) -> None:
        backward_pass = current_pass()
        with self._lock:
            if backward_pass in self._met:
                return
            self._met.add(backward_pass)
        self._fn(grad)


class _Gather:
    """Tensor hooks that collect the gradients of one pass and call fn when they are complete."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[..., None]) -> None:
        self._fn = fn
        self._count = len(tensors)
        self._nodes = [edge[0] for t in tensors if (edge := edge_of(t)) is not None]
        self._lock = threading.Lock()
        self._passes: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def hook(self, number: int) -> Callable[[Tensor], None]:
        """The hook of tensor `number`."""
        def arrived(grad: Tensor) -> None:
            backward_pass: Any = current_pass()
            with self._lock:
                if backward_pass not in self._passes:
                    self._passes[backward_pass] = [sum(map(backward_pass.reaches, self._nodes)), [None] * self._count]
                state = self._passes[backward_pass]
                state[0] -= 1
                state[1][number] = grad
                complete = state[0] == 0
            if complete:
                self._fn(self._passes.pop(backward_pass)[1])
        return arrived


class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """A context manager in which saved tensors may be written to: nodes save copies. Run backward inside it too."""

    def __init__(self) -> None:
        self.active: bool = False

        def take_out(copy: Tensor) -> Tensor:
            assert self.active, ("Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the "
                                 "graph was originally recorded.")
            return copy

        super().__init__(lambda tensor: result(tensor.array.copy()), take_out)

    def __enter__(self) -> Any:
        if any(isinstance(i, allow_mutation_on_saved_tensors) for i in modes.interceptors):
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        super().__enter__()
        self.active = True
        return self

    def __exit__(self, *exception: object) -> None:
        self.active = False
        super().__exit__(*exception)

    def clear(self) -> None:
        """Do nothing: copies are freed with the graph."""


class SavedTensor:
    """A value saved by a node, on which hooks can be registered afterwards: a node's attributes `_raw_saved_*`."""

    def __init__(self, node: Node, number: int) -> None:
        self._node, self._number = node, number

    def register_hooks(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        """Replace the value by pack_hook(value); allowed once."""
        saved = _saved(self._node)
        value = saved[self._number]
        if value.__class__ is Output and value.number == PACKED:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set.")
        if value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        hooks = saved_tensors_hooks(pack_hook, unpack_hook)
        with hooks:                                  # an error inside disable_saved_tensors_hooks
            kept = packed_by(hooks, self._node, value)
        self._node.saved = (*saved[:self._number], kept, *saved[self._number + 1:])


def _saved(node: Node) -> Any:
    if node.saved is FREED:
        raise RuntimeError(MSG_FREED)
    return node.saved or ()


def _position(node: Node, what: str) -> int | None:
    """The index among a built-in node's saved values of its first or second input, or of its output; None: not saved."""
    saved = _saved(node)
    own = [v.__class__ is Output and (v.number != PACKED or v.array.number is not None) for v in saved]
    if what == "result":
        return own.index(True) if True in own else None
    if any(c.__name__ == "BinaryNode" for c in type(node).__mro__):
        place = 1 if what == "self" else 2
        return None if saved == () or saved[place] is None else place
    inputs = [number for number, mine in enumerate(own) if not mine]
    return None if len(inputs) <= (what == "other") else inputs[what == "other"]


def _bind() -> None:
    """Define the node attributes that show saved values: _saved_self, _saved_other, _saved_result, and _raw_*."""
    def value(node: Node, what: str) -> Any:
        place = _position(node, what)
        return None if place is None else unpack(node, True)[place]

    def raw(node: Node, what: str) -> SavedTensor:
        place = _position(node, what)
        if place is None:
            raise AttributeError(f"{node.name()} has not saved its {what}")
        return SavedTensor(node, place)

    for what in ("self", "other", "result"):
        shown[f"_saved_{what}"] = functools.partial(value, what=what)
        shown[f"_raw_saved_{what}"] = functools.partial(raw, what=what)
    shown["_raw_saved_tensors"] = lambda node: tuple([SavedTensor(node, number) for number in range(len(_saved(node)))])


_bind()

__all__ = ["GradientEdge", "Node", "SavedTensor", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
           "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks"]
