"""Hooks on tensors and nodes during a backward pass, captures for grad(), retained gradients and counters of leaves.

engine.py calls this module only for tensors and nodes that have one of them.
"""

from __future__ import annotations

from typing import Any

from .graph import Node
from .tensor import Tensor, result


def as_tensor(value: Any, create: bool) -> Tensor:
    """The gradient as users see it: always a Tensor."""
    return value if create else result(value)


def as_value(tensor: Tensor, create: bool) -> Any:
    """The gradient as the pass propagates it: a Tensor if the pass is recorded, else an array."""
    return tensor if create else tensor.array


# --- called by a pass --------------------------------------------------------------------------------------------------

def before_node(current: Any, node: Node, g: Any) -> Any:
    """Call observe() with the complete gradient of a node's outputs, then the node's prehooks."""
    g = observe(current, node, g)
    slots = list(g) if node.outputs > 1 else [g]
    if node.hooks is not None and node.hooks.pre:
        slots = run_pre_hooks(current, node, slots)
    if node.outputs == 1:
        return slots[0]
    for value in slots:
        if value is not None:
            return slots
    return None


def observe(current: Any, node: Node, g: Any) -> Any:
    """Pass the gradient of a node's outputs to tensor hooks, which may replace it, to retained .grad, and to grad()."""
    slots = list(g) if isinstance(g, list) else [g]
    if g is None and node.outputs > 1:
        slots = [None] * node.outputs
    hooks = node.hooks
    for number, value in enumerate(slots):
        if hooks is not None and number in hooks.tensor:
            slots[number] = value = run_tensor_hooks(current, node, hooks.tensor[number], value)
        if value is None:
            continue
        if hooks is not None and number in hooks.retain:
            tensor = hooks.retain[number]()
            if tensor is not None:
                tensor.accumulate_grad(value, current.create)
        for place in current.captures.get(node, {}).get(number, ()):
            place.append(as_tensor(value, current.create))
    return slots if node.outputs > 1 else slots[0]


def deliver_observed(current: Any, leaf: Any, owned: bool) -> None:
    """Deliver the gradient of a leaf with hooks, a counter or a capture, or in a pass limited to some leaves: run the hooks,
    add to .grad, run the post-accumulate hooks. owned: see BackwardPass.add_to_grad."""
    hooks = leaf.variable.hooks
    g = current.pending.pop(leaf, None)
    if current.targets is not None and leaf not in current.targets:
        return
    if hooks is not None and hooks.tensor:           # hooks are called without a gradient too, with None
        g, owned = run_tensor_hooks(current, leaf, hooks.tensor[0], g), False
    if leaf in current.captures:
        g = observe(current, leaf, g)
    if not current.accumulate:
        return
    if leaf.hooks is not None and leaf.hooks.pre:
        (g,), owned = run_pre_hooks(current, leaf, [g]), False
    if g is not None:
        if hooks is not None and hooks.counter is not None and hooks.counter.backward_pass is not current:
            hooks.counter.listener.begin()
        current.add_to_grad(leaf, g, owned)
    if hooks is not None:
        if hooks.post:
            run_leaf_hooks(hooks.post, leaf.variable)
        if hooks.counter is not None and g is not None:
            current.count(leaf.variable)
    if leaf.hooks is not None and leaf.hooks.post:
        run_post_hooks(current, leaf, (), g)


# --- running hooks and checking their results --------------------------------------------------------------------------

def run_tensor_hooks(current: Any, node: Node, hooks: dict[int, Any], value: Any) -> Any:
    """Run the hooks of Tensor.register_hook in order, each on the previous one's result; None if there is no gradient."""
    create = current.create
    tensor = None if value is None else as_tensor(value, create)
    for hook in list(hooks.values()):
        out = hook(tensor)
        if out is None:
            continue
        if tensor is None:
            raise RuntimeError(f"hook {_name(hook)} can't replace a None gradient with a non-None value")
        _check(hook, tensor, out)
        if out is not tensor:
            current.replaced.append((hook, node))
        tensor = out
    return None if tensor is None else as_value(tensor, create)


def run_pre_hooks(current: Any, node: Node, slots: list[Any]) -> list[Any]:
    """Run the hooks of Node.register_prehook: each may replace the gradients of the outputs."""
    assert node.hooks is not None
    create = current.create
    tensors = tuple([None if v is None else as_tensor(v, create) for v in slots])
    for hook in list(node.hooks.pre.values()):
        tensors = _replaced(current, node, hook, hook(tensors), tensors)
    return [None if t is None else as_value(t, create) for t in tensors]


def run_post_hooks(current: Any, node: Node, grads: Any, g: Any) -> list[Any]:
    """Run the hooks of Node.register_hook: each may replace the gradients of the inputs."""
    assert node.hooks is not None
    create = current.create
    gs = (g,) if node.outputs == 1 else (None,) * node.outputs if g is None else g
    outputs = tuple([None if v is None else as_tensor(v, create) for v in gs])
    tensors = tuple([None if v is None else as_tensor(v, create) for v in grads])
    for hook in list(node.hooks.post.values()):
        tensors = _replaced(current, node, hook, hook(tensors, outputs), tensors)
    return [None if t is None else as_value(t, create) for t in tensors]


def _replaced(current: Any, node: Node, hook: Any, out: Any, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """The result of a node hook: `tensors` if it returned None, else its tuple, checked."""
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
    if any(before is not after for before, after in zip(tensors, out, strict=True)):
        current.replaced.append((hook, node))
    return out


def run_leaf_hooks(hooks: dict[int, Any], leaf: Tensor) -> None:
    """Run the hooks of Tensor.register_post_accumulate_grad_hook, after leaf.grad has changed."""
    for hook in list(hooks.values()):
        if hook(leaf) is not None:
            raise RuntimeError(f"Tensor post accumulate grad hooks should return None, {_name(hook)} did not")


def _check(hook: Any, before: Tensor, after: Any) -> None:
    """Check that a hook's replacement for a gradient is a Tensor of the same shape and dtype."""
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
