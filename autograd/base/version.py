"""Two versions: of these packages, and of the PyTorch whose interface autograd has."""

from __future__ import annotations

import re
from typing import Any

__version__ = "0.1.0"                # of autograd, dparallel and launch; pyproject.toml and dparallel read it here
torch_level = "2.13.0"               # what model code that compares torch.__version__ is to compare instead
cuda = hip = None
debug = False


class TorchVersion(str):
    """A version as a str that compares as a version, also with tuples of integers and packaging's Versions.

    Example:
        >>> from autograd.base.version import TorchVersion
        >>> TorchVersion('2.13.0') >= (2, 9), TorchVersion('2.13.0') < '2.9'
        (True, False)
    """

    @staticmethod
    def key(version: Any) -> tuple[list[int], bool, str]:
        """What versions are ordered by: numbers, whether it is a release, and what follows the numbers."""
        text = ".".join(map(str, version)) if isinstance(version, (tuple, list)) else str(version)
        found = re.match(r"\s*v?(\d+(?:\.\d+)*)[-_.]?(a|b|c|rc|alpha|beta|pre|preview|dev)?\w*", text)
        if not found:
            raise ValueError(f"{text!r} is no version")
        numbers = [int(number) for number in found[1].split(".")]
        while numbers and not numbers[-1]:
            numbers.pop()
        return numbers, found[2] is None, found[0][len(found[1]):] if found[2] else ""

    def _compare(self, other: Any, name: str) -> Any:
        try:
            theirs = self.key(other)
        except ValueError:
            return getattr(str, name)(self, other)
        return getattr(tuple, name)(self.key(self), theirs)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._compare(other, "__le__")

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, "__gt__")

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, "__ge__")

    def __eq__(self, other: Any) -> Any:
        return self._compare(other, "__eq__")

    def __ne__(self, other: Any) -> Any:
        return self._compare(other, "__ne__")

    __hash__ = str.__hash__
