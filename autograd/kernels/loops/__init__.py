"""Loops compiled with the package, for what NumPy cannot do in one pass; kernels_for() finds them wherever there is one.

They take float32 arrays (some float64, too) in C order; NumPy does everything else, and all of it where nothing is compiled.
The sources beside this file are Python that translate.py hands to Cython when the package is built; on x86-64 for three
levels of processors, of which the first use loads one. A loop's arithmetic and the order of its sums are the same on all
levels, but the baseline has no fused multiply-add: exponentials and what is made of them round otherwise there.
"""

from __future__ import annotations

import os
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from math import prod
from typing import Any

import numpy as np

from ...base import extensions
from ...base.environment import environment
from ...base.types import Array
from ..accelerators import Accelerator, Missing
from .pieces import WIDE, InPieces

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
NO_LOOP: tuple[Any, Any] = None, None
LEVELS = ("baseline", "avx2", "avx512")      # AVX2 with FMA; AVX-512 as Ice Lake and later have it


class Loops(Accelerator):
    """The loops of one level, which can be lowered, so that ranks on unlike processors use the same one."""

    def __init__(self) -> None:
        super().__init__("loops", self.load, self.find, "", "NumPy does their work, more slowly")
        self._modules: dict[str, Any] = {}

    def load(self) -> Any:
        """The module of the highest level that this processor has and AUTOGRAD_LOOPS allows."""
        self.find()
        highest = min(self.module(LEVELS[0]).level_of_processor(), LEVELS.index(environment.loops or LEVELS[-1]))
        return next(self.module(level) for level in LEVELS[highest::-1] if os.path.exists(self.file(level)))

    def find(self) -> str:
        """Where they are; Missing if they are not compiled."""
        if not extensions.in_use:
            raise Missing("nothing is compiled in this installation" if not environment.pure else "DPARALLEL_PURE is set")
        if environment.loops not in ("", *LEVELS):
            raise ValueError(f"AUTOGRAD_LOOPS={environment.loops!r} is not one of {', '.join(LEVELS)}")
        return "compiled with this package"

    def file(self, level: str) -> str:
        """The extension of a level, which is there if the compiler knew the level."""
        return os.path.join(extensions.NATIVE, level, "loops" + extensions.SUFFIX)

    def module(self, level: str) -> Any:
        """The extension of a level."""
        if level not in self._modules:
            file, name = self.file(level), f"{extensions.PACKAGE}.native.{level}.loops"
            spec = spec_from_file_location(name, file, loader=ExtensionFileLoader(name, file))
            assert spec is not None and spec.loader is not None
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            module.in_pieces = InPieces(module)      # type: ignore[attr-defined]
            self._modules[level] = module
        return self._modules[level]

    def for_size(self, size: int) -> Any:
        """The loops for arrays of so many elements, or None: large ones are cut into pieces for several threads."""
        library = self.library
        return library if size < WIDE or library is None else library.in_pieces

    def level(self) -> int:
        """The number of the level in use; -1 if loops are not used."""
        library = self.library
        return next((k for k, level in enumerate(LEVELS) if library is self._modules.get(level)), -1)

    def lower_to(self, level: int) -> None:
        """Use this level from now on, -1 for NumPy, if a higher one is in use."""
        if level < self.level():
            self.library = self.module(LEVELS[level]) if level >= 0 else None
            self.reason = "another rank of the job has none"

    def _origin(self) -> str:
        return f"{LEVELS[self.level()]}, compiled with this package"


loops: Loops = Loops()


def kernels_for(*arrays: Any, dtype: Any = FLOAT32) -> Any:
    """The compiled loops, if they can take these arrays; else None, as for an empty first array.

    They are called for any size: a call takes 0.15 us, a NumPy function 0.3 to 0.5. Nothing but dtypes, layouts and
    sizes decides, so that ranks round alike whatever each has computed before.
    """
    for array in arrays:
        # flags first: those of an array that replay watches raise an error, and the call is recorded as a whole
        if array is not None and (array.dtype is not dtype or not array.flags.carray or type(array) is not np.ndarray):
            return None
    size = arrays[0].size
    return loops.library if 0 < size < WIDE else loops.for_size(size) if size else None


def loop_for(name: str, x: Array, *others: Any) -> tuple[Any, Any]:
    """The compiled loop of this name for the precision of x, and room(x, last, places), which makes arrays; None, None if
    there is none that takes x, and others of its dtype or None."""
    dtype = x.dtype
    if dtype is FLOAT64:
        name += "_double"
    elif dtype is not FLOAT32:
        return NO_LOOP
    if not x.flags.carray or type(x) is not np.ndarray:
        return NO_LOOP                               # as in kernels_for()
    for array in others:
        if array is not None and (array.dtype is not dtype or not array.flags.carray or type(array) is not np.ndarray):
            return NO_LOOP
    size = x.size
    kernels = loops.library if 0 < size < WIDE else loops.for_size(size) if size else None
    return NO_LOOP if kernels is None else (getattr(kernels, name), kernels.room)


def blocked(shape: tuple[int, ...], first: int, last: int) -> tuple[int, int, int]:
    """An array's sizes as loops have them that work along dims first to last: blocks, what these dims have, what lies
    behind."""
    if first == last == len(shape) - 1:
        return prod(shape[:first]), shape[first], 1
    return prod(shape[:first]), prod(shape[first:last + 1]), prod(shape[last + 1:])


__all__ = ["FLOAT32", "FLOAT64", "LEVELS", "NO_LOOP", "blocked", "kernels_for", "loop_for", "loops"]
