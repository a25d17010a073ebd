"""flags(): a block in which a module's switches have other values, and set_flags()."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


class Switches:
    """The switches of one module, by name, and the values that flags() sets by default."""

    def __init__(self, module: str, **defaults: Any) -> None:
        self.module, self.defaults = module, defaults

    def set_flags(self, **values: Any) -> tuple[Any, ...]:
        """Set switches; the values of all before. A switch given as None stays.

        Args:
            **values: New values by name.
        """
        held = vars(sys.modules[self.module])
        if unknown := values.keys() - self.defaults.keys():
            raise TypeError(f"{self.module}: there is no switch {sorted(unknown)[0]!r}, only {', '.join(self.defaults)}")
        before = tuple(held[name] for name in self.defaults)
        held.update({name: value for name, value in values.items() if value is not None})
        return before

    @contextlib.contextmanager
    def flags(self, *args: Any, **values: Any) -> Iterator[None]:
        """A block with other values of the switches; those that are not named have the defaults.

        Args:
            *args: Values in order.
            **values: Values by name.

        Example:
            >>> with ag.backends.opt_einsum.flags(enabled=False):
            ...     ag.backends.opt_einsum.enabled
            False
        """
        before = self.set_flags(**{**self.defaults, **dict(zip(self.defaults, args, strict=False)), **values})
        try:
            yield
        finally:
            self.set_flags(**dict(zip(self.defaults, before, strict=True)))
