"""Runs the hooks that users put on tensors and nodes, and checks what they return."""

from __future__ import annotations

from typing import Any

from .graph import Node
from .tensor import Tensor, result


def as_tensor(value: Any, create: bool) -> Tensor:
    """What users see of a gradient: always a Tensor."""
    return value if create else result(value)


def as_value(tensor: Tensor, create: bool) -> Any:
    return tensor if create else tensor.array


def run_tensor_hooks(hooks: dict[int, Any], value: Any, create: bool) -> Any:
    """Tensor.register_hook's functions in order, each seeing what the one before returned."""
    tensor = as_tensor(value, create)
    for hook in list(hooks.values()):
        out = hook(tensor)
        if out is None:
            continue
        if not isinstance(out, Tensor):
            raise TypeError(f"expected Tensor, but hook {_name(hook)} returned {type(out).__name__!r}")
        if out.shape != tensor.shape:
            raise RuntimeError(f"hook {_name(hook)} has changed the size of value: {list(tensor.shape)} to "
                               f"{list(out.shape)}")
        if out.dtype != tensor.dtype:
            raise RuntimeError(f"hook {_name(hook)} has changed the type of value: {tensor.dtype} to {out.dtype}")
        tensor = out
    return as_value(tensor, create)


def run_pre_hooks(node: Node, slots: list[Any], create: bool) -> list[Any]:
    """Node.register_prehook's functions: each may replace the gradients of the outputs."""
    assert node.hooks is not None
    tensors = tuple(None if v is None else as_tensor(v, create) for v in slots)
    for hook in list(node.hooks.pre.values()):
        tensors = _replaced(hook, hook(tensors), tensors)
    return [None if t is None else as_value(t, create) for t in tensors]


def run_post_hooks(node: Node, grads: Any, g: Any, create: bool) -> list[Any]:
    """Node.register_hook's functions: each may replace the gradients of the inputs."""
    assert node.hooks is not None
    outputs = tuple(None if v is None else as_tensor(v, create) for v in (g if node.outputs > 1 else (g,)))
    tensors = tuple(None if v is None else as_tensor(v, create) for v in grads)
    for hook in list(node.hooks.post.values()):
        tensors = _replaced(hook, hook(tensors, outputs), tensors)
    return [None if t is None else as_value(t, create) for t in tensors]


def _replaced(hook: Any, out: Any, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a node hook makes of `tensors`: itself if it returned None, else its tuple, checked."""
    if out is None:
        return tensors
    out = out if isinstance(out, tuple) else (out,)
    if len(out) != len(tensors):
        raise RuntimeError(f"hook {_name(hook)} has returned an incorrect number of values (got {len(out)}, but "
                           f"expected {len(tensors)})")
    for before, after in zip(tensors, out, strict=True):
        if before is None and after is not None:
            raise RuntimeError(f"hook {_name(hook)} can't replace a None gradient with a non-None value")
    return out


def _name(hook: Any) -> str:
    return repr(getattr(hook, "__name__", hook))
