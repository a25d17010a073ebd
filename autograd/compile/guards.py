"""Guards: checks, before a replay, that the step's surroundings are as when it was recorded: the memory of tensors, the
modes and members of modules, hooks, and variables that hold tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import is_
from typing import Any

from ..core.graph import NodeHooks
from ..core.tensor import Tensor
from .errors import TraceError

MSG_CHANGED = ("replay: a {what} of the step is not what it was when the step was recorded ({detail}): trace it again")


class Guards:
    """The checks before each replay. A tensor or a variable costs 0.1 us, a module 0.3 us."""

    def __init__(self, tensors: Collection[tuple[Tensor, Any, int]], modules: Iterable[Any],
                 variables: Iterable[tuple[str, Any, Any]]) -> None:
        """tensors: each with its array and its `tracked`. variables: those outside of the step, see state.variables."""
        guarded = {id(tensor) for tensor, _, _ in tensors}
        self._variables = [variable for variable in variables if id(variable[2]) in guarded]
        self._tensors = [(tensor, array, tracked, tensor_hooks(tensor.hooks)) for tensor, array, tracked in tensors]
        self._modules = [(m, vars(m), m.training, direct_members(m), module_hooks(m)) for m in modules]

    def check(self) -> None:
        """TraceError if something has changed."""
        for tensor, array, tracked, hooks in self._tensors:
            if tensor.array is not array or tensor.tracked != tracked:
                detail = "its memory was replaced" if tensor.array is not array else "requires_grad was changed"
                raise self._changed(f"tensor of shape {list(array.shape)}", detail)
            if tensor_hooks(tensor.hooks) != hooks:
                raise self._changed(f"tensor of shape {list(array.shape)}", "a hook was added or removed")
        for name, holder, tensor in self._variables:
            if (holder.get(name) if isinstance(holder, dict) else holder.cell_contents) is not tensor:
                raise self._changed("variable", f"{name} is another tensor")
        for module, attributes, training, members, calls in self._modules:
            if module.training is not training:
                raise self._changed(f"module ({type(module).__name__})", f"training was {training}")
            if module_hooks(module) != calls:
                raise self._changed(f"module ({type(module).__name__})", "a hook was added or removed")
            for kind, names, parts in members:
                held = attributes[kind]
                if len(held) != len(parts) or not all(map(is_, held.values(), parts)) or [*held] != names:
                    before = dict(zip(names, parts, strict=True))
                    name = next((n for n in (*before, *held) if held.get(n, names) is not before.get(n, names)), "order")
                    how = "added" if name not in before else "replaced" if name in held else "removed"
                    raise self._changed(f"module ({type(module).__name__})", f"its {name} was {how}")

    @staticmethod
    def _changed(what: str, detail: str) -> TraceError:
        return TraceError(MSG_CHANGED.format(what=what, detail=detail))


def tensor_hooks(hooks: NodeHooks | None) -> tuple[int, ...]:
    """The ids of a leaf's hooks."""
    return () if hooks is None else (*hooks.post, *hooks.tensor.get(0, ()))


def module_hooks(module: Any) -> list[int]:
    """The ids of the hooks on a module's calls."""
    return [*module._forward_pre_hooks, *module._forward_hooks, *module._backward_pre_hooks, *module._backward_hooks]


def direct_members(module: Any) -> list[tuple[str, list[str], list[Any]]]:
    """A module's direct parameters, buffers and modules: the name of the dict that holds them, their names, and they."""
    return [(kind, [*getattr(module, kind)], [*getattr(module, kind).values()])
            for kind in ("_parameters", "_buffers", "_modules")]


__all__ = ["Guards"]
