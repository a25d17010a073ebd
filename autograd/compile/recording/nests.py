"""Nest: flattens tuples, lists and dicts with Tensors, and rebuilds them with others (PyTorch's pytree)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ...core.tensor import Tensor
from ..errors import TraceError


class Nest:
    """A nest of tuples, lists and dicts: its tensors, its constants (all other leaves), and its form."""

    def __init__(self, nest: object) -> None:
        self.tensors: list[Tensor] = []
        self.constants: list[Any] = []
        self.form: Any = self._flatten(nest)

    def _flatten(self, item: object) -> Any:
        """The form of one part: a position for a tensor, ("tuple", type, parts), ("dict", parts), or a constant."""
        if isinstance(item, Tensor):
            self.tensors.append(item)
            return len(self.tensors) - 1
        if isinstance(item, (tuple, list)):
            return ("items", type(item), [self._flatten(part) for part in item])
        if isinstance(item, dict) and type(item) in (dict, OrderedDict):
            return ("dict", type(item), {key: self._flatten(part) for key, part in item.items()})
        self.constants.append(item)
        return ("other", None, item)

    def unflatten(self, tensors: list[Any]) -> Any:
        """The nest rebuilt with other tensors."""
        return _unflatten(self.form, tensors)

    def form_of_first(self) -> Nest:
        """A nest of the form of the first part."""
        nest = Nest(())
        nest.form = self.form[2][0]
        return nest

    def tensors_in(self, nest: Any) -> list[Tensor]:
        """The tensors of another nest. TraceError unless it has the same form and constants."""
        if self.form[0] == "items" and all(part.__class__ is int for part in self.form[2]) and (
                len(nest) == len(self.tensors)):
            for x in nest:
                if not isinstance(x, Tensor):
                    break
            else:
                return list(nest)
        nest = Nest(nest)
        if not same_form(self.form, nest.form):
            raise TraceError("replay: the arguments are not of the form that the step was recorded with: the same nest of "
                             "tensors, and the same constants")
        return nest.tensors


def _unflatten(form: Any, tensors: list[Any]) -> Any:
    if isinstance(form, int):
        return tensors[form]
    kind, cls, parts = form
    if kind == "other":
        return parts
    if kind == "dict":
        return cls((key, _unflatten(part, tensors)) for key, part in parts.items())
    made = [_unflatten(part, tensors) for part in parts]
    return cls(*made) if hasattr(cls, "_fields") else cls(made)


def same_form(one: Any, two: Any) -> bool:
    """Whether two forms are equal, constants included."""
    if isinstance(one, int) or isinstance(two, int):
        return isinstance(one, int) and isinstance(two, int)
    if one[0] != two[0]:
        return False
    if one[0] == "other":
        return bool(one[2] is two[2] or one[2] == two[2])
    if len(one[2]) != len(two[2]):
        return False
    if one[0] == "dict":
        return one[2].keys() == two[2].keys() and all(same_form(part, two[2][key]) for key, part in one[2].items())
    return all(map(same_form, one[2], two[2]))


__all__ = ["Nest"]
