"""Tensors in tuples, lists and dicts: taken out, and others put in their places."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .errors import TraceError


class Nest:
    """The form of a nest of tensors, the tensors in it, and what else there is."""

    def __init__(self, things: Any) -> None:
        self.tensors: list[Tensor] = []
        self.others: list[Any] = []
        self.form = self._take(things)

    def _take(self, thing: Any) -> Any:
        """The form of one part: a position for a tensor, ("tuple", type, parts), ("dict", parts), or a constant."""
        if isinstance(thing, Tensor):
            self.tensors.append(thing)
            return len(self.tensors) - 1
        if isinstance(thing, (tuple, list)):
            return ("items", type(thing), [self._take(part) for part in thing])
        if isinstance(thing, dict):
            return ("dict", type(thing), {key: self._take(part) for key, part in thing.items()})
        self.others.append(thing)
        return ("other", None, thing)

    def filled(self, tensors: list[Any]) -> Any:
        """The nest with other tensors."""
        return _fill(self.form, tensors)

    def tensors_in(self, things: Any) -> list[Tensor]:
        """The tensors of another nest, which must have the same form and constants."""
        if self.form[0] == "items" and all(part.__class__ is int for part in self.form[2]) and (
                len(things) == len(self.tensors)):
            for x in things:
                if not isinstance(x, Tensor):
                    break
            else:
                return list(things)
        nest = Nest(things)
        if not alike(self.form, nest.form):
            raise TraceError("replay: the arguments are not of the form that the step was recorded with: the same nest of "
                             "tensors, and the same constants")
        return nest.tensors


def _fill(form: Any, tensors: list[Any]) -> Any:
    if isinstance(form, int):
        return tensors[form]
    kind, cls, parts = form
    if kind == "other":
        return parts
    if kind == "dict":
        return {key: _fill(part, tensors) for key, part in parts.items()}
    made = [_fill(part, tensors) for part in parts]
    return cls(*made) if hasattr(cls, "_fields") else cls(made)


def alike(one: Any, two: Any) -> bool:
    """Whether two forms are the same."""
    if isinstance(one, int) or isinstance(two, int):
        return isinstance(one, int) and isinstance(two, int)
    if one[0] != two[0]:
        return False
    if one[0] == "other":
        return bool(one[2] is two[2] or one[2] == two[2])
    if len(one[2]) != len(two[2]):
        return False
    if one[0] == "dict":
        return one[2].keys() == two[2].keys() and all(alike(part, two[2][key]) for key, part in one[2].items())
    return all(map(alike, one[2], two[2]))


__all__ = ["Nest"]
