"""Guards: checks, before a program runs, that the step's surroundings are as when it was recorded: the memory of tensors,
variables, the modes, members and settings of modules, and hooks."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import attrgetter, is_
from typing import Any

from ...core.graph import NodeHooks
from ...core.modes import version
from ...core.tensor import Tensor
from ...nn.module_hooks import any_global
from .bindings import ABSENT, Binding, module_settings, same

array_of = attrgetter("array")
tracked_of = attrgetter("tracked")
contents = attrgetter("cell_contents")


class Guards:
    """The checks before each run of a program.

    A tensor or a variable costs 0.05 us. Modules and hooks call changed() when they change, and are walked only then.
    """

    def __init__(self, tensors: Collection[tuple[Tensor, Any, int]], modules: Iterable[Any], bindings: Iterable[Binding],
                 names: Collection[str] = ()) -> None:
        """tensors: each with its array and its `tracked`. names: what the user's code names, see Bindings."""
        self._objects = [tensor for tensor, _, _ in tensors]
        self._arrays = [array for _, array, _ in tensors]
        self._tracked = [tracked for _, _, tracked in tensors]
        self._hooks = [tensor_hooks(tensor.hooks) for tensor in self._objects]
        self._names = names
        self._modules = [(m, vars(m), m.training, direct_members(m), module_hooks(m), module_settings(m, names))
                         for m in modules]
        readers: dict[Any, list[Binding]] = {}       # by what reads them: one call of map() for each
        for b in bindings:
            readers.setdefault(contents if isinstance(b.holder, types.CellType) else id(b.holder), []).append(b)
        self._bound = [(self._reader(group[0]), [b.holder if key is contents else b.key for b in group],
                        [b.value for b in group], group) for key, group in readers.items()]
        self._version = version()

    @staticmethod
    def _reader(binding: Binding) -> Callable[[Any], Any]:
        """The function that reads a binding: of its cell, or of its key in a holder."""
        holder = binding.holder
        if isinstance(holder, types.CellType):
            return contents
        if isinstance(holder, dict):
            return holder.get
        return holder.__getitem__ if hasattr(holder, "__getitem__") else lambda key: getattr(holder, key, ABSENT)

    def problem(self) -> str:
        """What has changed, in words; "" if nothing has."""
        if not all(map(is_, map(array_of, self._objects), self._arrays)) or (
                [*map(tracked_of, self._objects)] != self._tracked):
            return self._changed_tensor()
        for read, keys, values, group in self._bound:
            try:
                if all(map(is_, map(read, keys), values)):
                    continue
                found = [*map(read, keys)]
            except (ValueError, IndexError):
                return changed("variable", f"{group[0].name}, or another, is gone")
            for number, (b, value) in enumerate(zip(group, found, strict=True)):
                if not same(b.value, value):
                    what = "is another tensor" if isinstance(b.value, Tensor) else f"was {b.value!r:.60}"
                    return changed("variable", f"{b.label} {what}")
                values[number] = value               # an equal number: compared by identity from now on
        now = version()
        if now != self._version:
            found_problem = self._walk()
            if found_problem:
                return found_problem
            self._version = now
        return ""

    def _changed_tensor(self) -> str:
        for tensor, array, tracked in zip(self._objects, self._arrays, self._tracked, strict=True):
            if tensor.array is not array or tensor.tracked != tracked:
                detail = "its memory was replaced" if tensor.array is not array else "requires_grad was changed"
                return changed(f"tensor of shape {list(array.shape)}", detail)
        return ""

    def _walk(self) -> str:
        """What has changed in modules and hooks, in words; "" if nothing has."""
        for tensor, array, hooks in zip(self._objects, self._arrays, self._hooks, strict=True):
            if tensor_hooks(tensor.hooks) != hooks:
                return changed(f"tensor of shape {list(array.shape)}", "a hook was added or removed")
        for module, attributes, training, members, calls, settings in self._modules:
            what = f"module ({type(module).__name__})"
            if module.training is not training:
                return changed(what, f"training was {training}")
            if module_hooks(module) != calls:
                return changed(what, "a hook was added or removed")
            for kind, names, parts in members:
                held = attributes[kind]
                if len(held) != len(parts) or not all(map(is_, held.values(), parts)) or [*held] != names:
                    before = dict(zip(names, parts, strict=True))
                    name = next((n for n in (*before, *held) if held.get(n, names) is not before.get(n, names)), "order")
                    how = "added" if name not in before else "replaced" if name in held else "removed"
                    return changed(what, f"its {name} was {how}")
            now = module_settings(module, self._names)
            for name in (*settings, *now):
                if not same(settings.get(name, ABSENT), now.get(name, ABSENT)):
                    return changed(what, f"its {name} was {settings.get(name, 'absent')!r:.60}")
        return ""


def changed(what: str, detail: str) -> str:
    """The words for one change."""
    return f"a {what} of the step is not what it was when the step was recorded ({detail})"


def tensor_hooks(hooks: NodeHooks | None) -> tuple[int, ...]:
    """The ids of a leaf's hooks."""
    return () if hooks is None else (*hooks.post, *hooks.tensor.get(0, ()))


def module_hooks(module: Any) -> list[int]:
    """The ids of the hooks on a module's calls, and on those of all modules."""
    return [*any_global, *module._forward_pre_hooks, *module._forward_hooks, *module._backward_pre_hooks,
            *module._backward_hooks]


def direct_members(module: Any) -> list[tuple[str, list[str], Sequence[Any]]]:
    """A module's direct parameters, buffers and modules: the name of the dict that holds them, their names, and they."""
    return [(kind, [*getattr(module, kind)], [*getattr(module, kind).values()])
            for kind in ("_parameters", "_buffers", "_modules")]


__all__ = ["Guards"]
