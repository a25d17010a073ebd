"""The compiled core: some modules as C extensions, made by Cython from the very sources (setup.py), used where they fit.

`autograd/native/` holds the extensions of one or more Python versions, and for each a stamp: sizes, times and checksums of
the sources they were made from. If the sources are others (checksums are asked only where sizes or times differ), or if
DPARALLEL_PURE is set, the sources run instead: all of them, for compiled modules know the layout of each other's objects.
The .pxd beside a source says which of its classes become C structs, and which functions can be called from C.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from typing import Any

CORE = ("core.graph", "core.tensor", "core.saved_tensors", "core.walk", "core.engine", "core.operation", "core.function",
        "core.declare")
INLINE = ("base.arrays", "core.modes")           # not compiled themselves: their .pxd has some of their functions in C
PACKAGE = (__package__ or "").partition(".")[0]
SUFFIX = EXTENSION_SUFFIXES[0]
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))     # text, not a Path: importing pathlib takes 4 ms
NATIVE = os.path.join(HERE, "native")

MSG_STALE = ("the sources of autograd's core have changed since it was compiled: the sources are used, which is slower. "
             "`pip install -e .` compiles it again; DPARALLEL_PURE=1 silences this.")
MSG_BROKEN = "autograd's compiled core can't be loaded ({error}): the sources are used, which is slower."


def sources() -> list[str]:
    """The core's sources and declarations, as names within this folder."""
    return [f"{name.replace('.', '/')}.{kind}" for name in (*CORE, *INLINE) for kind in ("py", "pxd")]


def fingerprint() -> str:
    """The checksums of the core's sources and declarations, one to a line."""
    crc32 = import_module("zlib").crc32
    lines = []
    for name in sources():
        with open(os.path.join(HERE, name), "rb") as file:
            lines.append(f"{crc32(file.read()):08x} {name}\n")
    return "".join(lines)


def appearance() -> str:
    """Their sizes and times of change, one to a line."""
    found = [os.stat(os.path.join(HERE, name)) for name in sources()]
    return "".join(f"{status.st_size} {status.st_mtime_ns}\n" for status in found)


def stamp(native: str = NATIVE) -> str:
    """The file that says what this Python's extensions were made from: appearance() and fingerprint()."""
    return os.path.join(native, f"sources{SUFFIX}.txt")


def fits(native: str) -> bool:
    """Whether the extensions were made from the sources as they are."""
    with open(stamp(native)) as file:
        made_from = file.read()
    return made_from.startswith(appearance()) or made_from.endswith(fingerprint())


class Finder:
    """Finds the modules of the core among the extensions, before Python looks for their sources."""

    def __init__(self, native: str) -> None:
        self.native = native

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The extension of a module of the core."""
        package, _, name = fullname.partition(".")
        if package != PACKAGE or name not in CORE:
            return None
        file = os.path.join(self.native, name.replace(".", "/") + SUFFIX)
        spec = ModuleSpec(fullname, ExtensionFileLoader(fullname, file), origin=file)
        spec.has_location = True
        return spec


def prefer(native: str = NATIVE) -> bool:
    """Import the core's modules as extensions from now on, if there are any that fit; whether there are."""
    if os.environ.get("DPARALLEL_PURE", "0") not in ("", "0") or not os.path.exists(stamp(native)):
        return False
    finder = Finder(native)
    try:
        if not fits(native):
            warnings.warn(MSG_STALE, stacklevel=2)
            return False
        for name in CORE:
            spec = finder.find_spec(f"{PACKAGE}.{name}")
            assert spec is not None and spec.loader is not None
            spec.loader.create_module(spec)      # loads the library, and runs none of it
    except (ImportError, OSError) as error:
        warnings.warn(MSG_BROKEN.format(error=error), stacklevel=2)
        return False
    sys.meta_path.insert(0, finder)              # type: ignore[arg-type]
    return True


in_use = bool(__package__) and prefer()      # setup.py runs this file as no package

__all__ = ["CORE", "appearance", "fingerprint", "in_use", "prefer", "stamp"]
