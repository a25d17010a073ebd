"""ParameterList and ParameterDict: containers whose tensors are parameters of a Module; other values may be among them."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from ...core.tensor import Parameter, Tensor
from ..module import Module
from .container import pairs


def _as_parameter(value: Any) -> Any:
    """A tensor as a parameter; any other value unchanged."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _line(name: Any, value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({name}): {kind} containing: [{value.dtype} of size {'x'.join(map(str, value.shape))}]"


class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name(self, index: Any) -> str:
        index = operator.index(index)
        if not -self._size <= index < self._size:
            raise IndexError(f"index {index} is out of range")
        return str(index % self._size)

    def __getitem__(self, index: Any) -> Any:
        return type(self)(list(self)[index]) if isinstance(index, slice) else getattr(self, self._name(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        setattr(self, self._name(index), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(number)) for number in range(self._size)])

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end; a tensor becomes one. Returns self."""
        setattr(self, str(self._size), _as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end. Returns self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_line(number, value) for number, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict of parameters. Pairs and ordered dicts keep their order; a plain dict is sorted, as in PyTorch."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _name(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                            f"'{type(key).__name__}').")
        return key

    def __getitem__(self, key: str) -> Tensor:
        return getattr(self, self._name(key))

    def __setitem__(self, key: str, value: Any) -> None:
        if self._name(key) not in self._keys and hasattr(self, key):
            raise KeyError(f"attribute '{key}' already exists")
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Any:
        """The names of the parameters, in the order of insertion."""
        return self._keys.keys()

    def values(self) -> Iterable[Tensor]:
        """The parameters, in the order of insertion."""
        return (self[key] for key in self._keys)

    def items(self) -> Iterable[tuple[str, Tensor]]:
        """Pairs of name and parameter, in the order of insertion."""
        return ((key, self[key]) for key in self._keys)

    def copy(self) -> ParameterDict:
        """A new ParameterDict that holds the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter named `key`, or default if there is none."""
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Tensor:
        """The parameter named `key`; if there is none, default is inserted under that name first."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Tensor:
        """Remove the parameter named `key` and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Tensor]:
        """Remove the pair inserted last and return it."""
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Remove all parameters."""
        for key in list(self._keys):
            del self[key]

    def fromkeys(self, keys: Iterable[str], default: Tensor | None = None) -> ParameterDict:
        """Another dict, with the same value for every key."""
        return ParameterDict([(key, default) for key in keys])

    def update(self, parameters: Any) -> None:
        """Add or replace parameters: a mapping, or pairs."""
        items = pairs(parameters, "ParameterDict")
        if isinstance(parameters, dict) and not isinstance(parameters, OrderedDict):
            items = sorted(items, key=lambda item: item[0])
        for key, value in items:
            self[key] = value

    def __or__(self, other: Any) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: dict[str, Any]) -> Any:
        both = other.copy()
        both.update(self)
        return both

    def __ior__(self, other: Any) -> ParameterDict:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_line(key, value) for key, value in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")


__all__ = ["ParameterDict", "ParameterList"]
