"""The compiled core: some modules as C extensions, made by Cython from the very sources (setup.py), used where they fit.

`autograd/native/` holds the extensions of one or more Python versions, and for each a stamp: the checksums of the sources
they were made from. If these are no longer the sources' checksums, or DPARALLEL_PURE is set, the sources run instead: all
of them, for compiled modules know the layout of each other's objects. The .pxd beside a source says which of its classes
become C structs, and which functions can be called from C.
"""

from __future__ import annotations

import os
import sys
import warnings
import zlib
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

CORE = ("graph", "tensor", "saved", "walk", "engine", "operation", "function", "ops._declare")
INLINE = ("arrays", "mode")           # not compiled themselves: their .pxd has some of their functions in C
SUFFIX = EXTENSION_SUFFIXES[0]
HERE = Path(__file__).parent
NATIVE = HERE / "native"

MSG_STALE = ("the sources of autograd's core have changed since it was compiled: the sources are used, which is slower. "
             "`pip install -e .` compiles it again; DPARALLEL_PURE=1 silences this.")
MSG_BROKEN = "autograd's compiled core can't be loaded ({error}): the sources are used, which is slower."


def fingerprint(root: Path = HERE) -> str:
    """The checksums of the core's sources and declarations, one to a line."""
    files = [root / f"{name.replace('.', '/')}.{kind}" for name in (*CORE, *INLINE) for kind in ("py", "pxd")]
    return "".join(f"{zlib.crc32(file.read_bytes()):08x} {file.relative_to(root).as_posix()}\n" for file in files)


def stamp(native: Path = NATIVE) -> Path:
    """The file that says what this Python's extensions were made from."""
    return native / f"sources{SUFFIX}.txt"


class Finder:
    """Finds the modules of the core among the extensions, before Python looks for their sources."""

    def __init__(self, native: Path) -> None:
        self.native = native

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The extension of a module of the core."""
        package, _, name = fullname.partition(".")
        if package != __package__ or name not in CORE:
            return None
        file = str(self.native / (name.replace(".", "/") + SUFFIX))
        return spec_from_file_location(fullname, file, loader=ExtensionFileLoader(fullname, file))


def prefer(native: Path = NATIVE) -> bool:
    """Import the core's modules as extensions from now on, if there are any that fit; whether there are."""
    if os.environ.get("DPARALLEL_PURE", "0") not in ("", "0") or not stamp(native).exists():
        return False
    finder = Finder(native)
    try:
        if stamp(native).read_text() != fingerprint():
            warnings.warn(MSG_STALE, stacklevel=2)
            return False
        for name in CORE:
            spec = finder.find_spec(f"{__package__}.{name}")
            assert spec is not None
            module_from_spec(spec)               # loads the library, and runs none of it
    except (ImportError, OSError) as error:
        warnings.warn(MSG_BROKEN.format(error=error), stacklevel=2)
        return False
    sys.meta_path.insert(0, finder)              # type: ignore[arg-type]
    return True


in_use = bool(__package__) and prefer()      # setup.py runs this file as no package

__all__ = ["CORE", "fingerprint", "in_use", "prefer", "stamp"]
