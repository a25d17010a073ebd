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
    """Tensor.register_hook's functions in order, each seeing what the one before returned; None where no gradient came."""
    tensor = None if value is None else as_tensor(value, create)
    for hook in list(hooks.values()):
        out = hook(tensor)
        if out is None:
            continue
        if tensor is None:
            raise RuntimeError(f"hook {_name(hook)} can't replace a None gradient with a non-None value")
        _check(hook, tensor, out)
        tensor = out
    return None if tensor is None else as_value(tensor, create)


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
    gs = (g,) if node.outputs == 1 else (None,) * node.outputs if g is None else g
    outputs = tuple(None if v is None else as_tensor(v, create) for v in gs)
    tensors = tuple(None if v is None else as_tensor(v, create) for v in grads)
    for hook in list(node.hooks.post.values()):
        tensors = _replaced(hook, hook(tensors, outputs), tensors)
    return [None if t is None else as_value(t, create) for t in tensors]


def _replaced(hook: Any, out: Any, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a node hook makes of `tensors`: itself if it returned None, else its tuple, checked."""
    if out is None:
        return tensors
    if not isinstance(out, tuple):
        raise TypeError(f"expected tuple, but hook {_name(hook)} returned {type(out).__name__!r}")
    if len(out) != len(tensors):
        raise RuntimeError(f"hook {_name(hook)} has returned an incorrect number of values (got {len(out)}, but "
                           f"expected {len(tensors)})")
    for before, after in zip(tensors, out, strict=True):
        if after is None:
            continue
        if before is None:
            raise RuntimeError(f"hook {_name(hook)} can't replace a None gradient with a non-None value")
        _check(hook, before, after)
    return out


def run_leaf_hooks(hooks: dict[int, Any], leaf: Tensor) -> None:
    """Tensor.register_post_accumulate_grad_hook's functions, after leaf.grad has changed."""
    for hook in list(hooks.values()):
        if hook(leaf) is not None:
            raise RuntimeError(f"Tensor post accumulate grad hooks should return None, {_name(hook)} did not")


def _check(hook: Any, before: Tensor, after: Any) -> None:
    """What a hook puts in place of a gradient is a Tensor of the same shape and dtype."""
    if not isinstance(after, Tensor):
        raise TypeError(f"expected Tensor, but hook {_name(hook)} returned {type(after).__name__!r}; a hook returns "
                        "None or the gradient that replaces the one it got")
    if after.shape != before.shape:
        raise RuntimeError(f"hook {_name(hook)} has changed the size of value: {list(before.shape)} to "
                           f"{list(after.shape)}")
    if after.dtype != before.dtype:
        raise RuntimeError(f"hook {_name(hook)} has changed the type of value: {before.dtype} to {after.dtype}")


def _name(hook: Any) -> str:
    return repr(getattr(hook, "__name__", hook))
