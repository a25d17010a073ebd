"""What must be in a replay as it was when the step was recorded: tensors' memory, modules' modes and parts, hooks, and
variables that hold tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ..core.tensor import Tensor
from .errors import TraceError

MSG_CHANGED = ("replay: a {what} of the step is not what it was when the step was recorded ({detail}): trace it again")


class Guards:
    """Looked at before each replay: 0.1 us for a tensor or a variable, 0.3 for a module."""

    def __init__(self, tensors: Collection[tuple[Tensor, Any, int]], modules: Iterable[Any],
                 variables: Iterable[tuple[str, Any, Any]]) -> None:
        """variables outside of the step: see state.variables."""
        guarded = {id(tensor) for tensor, _, _ in tensors}
        self._variables = [variable for variable in variables if id(variable[2]) in guarded]
        self._tensors = [(tensor, array, tracked, tensor_hooks(tensor.hooks)) for tensor, array, tracked in tensors]
        self._modules = [(m, vars(m), m.training, parts(m), module_hooks(vars(m))) for m in modules]

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
        for module, held, training, own, hooks in self._modules:
            if module.training is not training:
                raise self._changed(f"module ({type(module).__name__})", f"training was {training}")
            if module_hooks(held) != hooks:
                raise self._changed(f"module ({type(module).__name__})", "a hook was added or removed")
            for name, part in own:
                if held.get(name) is not part:
                    raise self._changed(f"module ({type(module).__name__})", f"its {name} was replaced")

    @staticmethod
    def _changed(what: str, detail: str) -> TraceError:
        return TraceError(MSG_CHANGED.format(what=what, detail=detail))


def tensor_hooks(hooks: Any) -> tuple[int, ...]:
    """The numbers of a leaf's hooks."""
    return () if hooks is None else (*hooks.post, *hooks.tensor.get(0, ()))


def module_hooks(held: dict[str, Any]) -> tuple[int, ...]:
    """The numbers of a module's hooks."""
    kinds = held.get("_hooks")
    return () if kinds is None else tuple([number for hooks in kinds.values() for number in hooks])


def parts(module: Any) -> list[tuple[str, Any]]:
    """A module's own parameters, buffers and modules, by the names of its attributes."""
    own = {id(part) for _, part in (*module.own_parameters(), *module.own_buffers(), *module.held_modules())}
    return [(name, part) for name, part in vars(module).items() if id(part) in own]


__all__ = ["Guards"]
