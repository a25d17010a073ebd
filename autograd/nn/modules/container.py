"""Modules that contain modules: in sequence, as a list, as a dict."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..module import Module

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...core.tensor import Tensor


class _Numbered(Module):
    """Base of ordered containers, whose modules are named by index unless names are given."""

    def _item_at(self, index: Any) -> tuple[str, Module]:
        """Name and module at an index."""
        items = list(self._modules.items())
        index = operator.index(index)
        if not -len(items) <= index < len(items):
            raise IndexError(f"index {index} is out of range")
        return items[index]

    def _refill(self, modules: Iterable[Module]) -> None:
        """Hold these modules, numbered from 0, instead of all others."""
        modules = list(modules)
        self._modules.clear()
        for number, module in enumerate(modules):
            self.add_module(str(number), module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __setitem__(self, index: Any, module: Module) -> None:
        setattr(self, self._item_at(index)[0], module)

    def __delitem__(self, index: Any) -> None:
        modules = list(self)
        if not isinstance(index, slice):
            self._item_at(index)                       # an IndexError with our words
        del modules[index]
        self._refill(modules)

    def append(self, module: Module | None) -> Self:
        """Add a module at the end. Returns self.

        Args:
            module (Module): The module.
        """
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module | None]) -> Self:
        """Add modules at the end. Returns self.

        Args:
            modules (Iterable[Module or None]): The modules.

        Raises:
            TypeError: {...}.extend should be called with an iterable, but got {...}.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(f"{type(self).__name__}.extend should be called with an iterable, but got "
                            f"{type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: Any) -> Any:
        """Remove the module at an index and return it.

        Args:
            key (int): The index.
        """
        module = self._item_at(key)[1]
        del self[key]
        return module


class Sequential(_Numbered):
    """Modules applied in sequence, given as arguments or as a dict of names."""

    def __init__(self, *args: Module | Mapping[str, Module]) -> None:
        super().__init__()
        named: Any = args[0].items() if len(args) == 1 and isinstance(args[0], dict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Tensor:
        """The output of the last module; the input of each module is the output of the one before it."""
        for module in self:
            input = module(input)
        return input                                 # type: ignore[no-any-return]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return self._item_at(index)[1]

    def insert(self, index: int, module: Module) -> Sequential:
        """Insert a module before the one at `index`. Returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        modules = list(self)
        if not -len(modules) <= index <= len(modules):
            raise IndexError(f"Index out of range: {index}")
        modules.insert(index, module)
        self._refill(modules)
        return self

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self, *self._checked(other))

    def __iadd__(self, other: Any) -> Sequential:
        return self.extend(self._checked(other))

    def _checked(self, other: Any) -> Any:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return other

    def _times(self, count: Any) -> list[Any]:
        if not isinstance(count, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(count)}")
        if count <= 0:
            raise ValueError(f"Non-positive multiplication factor {count} for {type(self)}")
        return list(self) * count

    def __mul__(self, count: int) -> Sequential:
        return Sequential(*self._times(count))

    __rmul__ = __mul__

    def __imul__(self, count: int) -> Sequential:
        return self.extend(self._times(count)[len(self):])


class ModuleList(_Numbered):
    """A list of submodules."""

    def __init__(self, modules: Iterable[Module | None] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        return type(self)(list(self)[index]) if isinstance(index, slice) else self._item_at(index)[1]

    def insert(self, index: int, module: Module) -> None:
        """Insert a module before the one at `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._refill(modules)

    def __iadd__(self, other: Iterable[Module]) -> ModuleList:
        return self.extend(other)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """The modules' repr; equal neighbours are one line with their number."""
        runs: list[list[Any]] = []                   # first, last, text
        for number, module in enumerate(self):
            if runs and runs[-1][2] == repr(module):
                runs[-1][1] = number
            else:
                runs.append([number, number, repr(module)])
        lines = [f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}" for a, b, text in runs]
        inside = "".join("\n  " + line.replace("\n", "\n  ") for line in lines)
        return f"{self._get_name()}({inside}" + ("\n)" if lines else ")")


class ModuleDict(Module):
    """A dict of submodules, in the order of insertion."""

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove the module named `key` and return it."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Any:
        """The names of the modules, in the order of insertion."""
        return self._modules.keys()

    def values(self) -> Iterable[Module]:
        """The modules, in the order of insertion."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Pairs of name and module, in the order of insertion."""
        return self._modules.items()

    def update(self, modules: Any) -> None:
        """Add or replace modules: a mapping, or pairs."""
        for key, module in pairs(modules, "ModuleDict"):
            self[key] = module


def pairs(given: Any, name: str) -> list[tuple[Any, Any]]:
    """A mapping, an object with items(), or an iterable of pairs, as a list of pairs. `name` stands in the error texts."""
    if not isinstance(given, Iterable):
        raise TypeError(f"{name}.update should be called with an iterable of key/value pairs, but got "
                        f"{type(given).__name__}")
    if isinstance(given, Mapping) or hasattr(given, "items"):
        return list(given.items())
    found = []
    for number, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{name} update sequence element #{number} should be Iterable; is {type(pair).__name__}")
        values = tuple(pair)
        if len(values) != 2:
            raise ValueError(f"{name} update sequence element #{number} has length {len(values)}; 2 is required")
        found.append((values[0], values[1]))
    return found


__all__ = ["ModuleDict", "ModuleList", "Sequential"]
