"""Members: the parameters, buffers or modules of a module as a mapping by name; and Buffer, a tensor that becomes a buffer
when it is assigned to a module's attribute."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, MutableMapping, ValuesView
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..core.tensor import Parameter, Tensor, start
from .module_hooks import Hooked

if TYPE_CHECKING:
    from ..nn.module import Module


class Buffer(Tensor):
    """A tensor that, assigned to a module's attribute, is one of its buffers. Without data it is empty.

    Args:
        data (Tensor or number or sequence): The values.
        persistent (bool): Whether it belongs to the state_dict. Default: True.

    Example:
        >>> ag.nn.Buffer(ag.tensor([1.0, 2.0]))
        tensor([1., 2.])
    """

    __slots__ = ()

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        if data is None:
            data = np.zeros(0, dtypes.default.dtype)
        start(self, data.array if isinstance(data, Tensor) else np.asarray(data))
        self.persistent = persistent


class Members(MutableMapping[str, Any]):
    """The parameters, buffers or modules among a module's attributes: PyTorch's `_parameters`, `_buffers`, `_modules`.

    A name that was registered with None is there too, with None.
    """

    def __init__(self, module: Module, kind: str) -> None:
        self.attributes: dict[str, Any] = module.__dict__
        self.kind: str = kind
        self.module = module

    def _contains(self, name: str) -> bool:
        value = self.attributes.get(name)
        if self.kind == "buffer":
            return name in self.attributes.get("_buffer_names", ())
        if value is None:
            return bool(self.attributes.get("_none", {}).get(name) == self.kind)
        if self.kind == "module":
            return isinstance(value, Hooked)
        return isinstance(value, Parameter) or name in self.attributes.get("_replica_parameters", ())

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in self.attributes if self._contains(name)])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self))

    def items(self) -> ItemsView[str, Any]:
        """The pairs of now, which can be reversed, as those of a dict."""
        return dict(self).items()

    def values(self) -> ValuesView[Any]:
        """The members of now, which can be reversed."""
        return dict(self).values()

    def __getitem__(self, name: str) -> Any:
        if name not in self.attributes or not self._contains(name):
            raise KeyError(name)
        return self.attributes[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if self.kind == "buffer":
            self.attributes.setdefault("_buffer_names", {}).setdefault(name, True)
        elif value is None:
            self.attributes.setdefault("_none", {})[name] = self.kind
        self.attributes[name] = value

    def __delitem__(self, name: str) -> None:
        del self.attributes[name]
        if self.kind == "buffer":
            del self.attributes["_buffer_names"][name]

    def __repr__(self) -> str:
        return repr(dict(self))
