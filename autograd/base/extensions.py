"""The compiled core: some modules as C extensions, made by Cython from the very sources (setup.py), used where they fit.

`autograd/native/` holds the extensions of one or more Python versions, and for each a stamp: sizes, times and checksums of
the sources they were made from. If the sources are others (checksums are asked only where sizes or times differ), or if
DPARALLEL_PURE is set, the sources run instead: all of them, for compiled modules know the layout of each other's objects.
The .pxd beside a source says which of its classes become C structs, and which functions can be called from C.

Without DPARALLEL_PURE the sources never run in silence where something was or should have been compiled. A warning of one
line, on rank 0 of a job, says that the extensions are of other sources, cannot be loaded, are of other Pythons only, or
failed to build. setup.py leaves the reason of a failed build in a note, for pip hides what a build prints; it is reported by
the first import, and then only by show_config(). Where nothing was ever built (a checkout on PYTHONPATH, an installation
with DPARALLEL_PURE=1) there is nothing to report."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from typing import Any

from .environment import environment

CORE = ("spans.spans", "core.graph", "core.tensor", "core.recording", "core.hooks", "core.engine",
        "core.grad_buffers", "core.operation", "core.function", "core.declare", "core.backward")
INLINE = ("base.arrays", "core.modes", "spans.ticks", "spans.allocations")      # not compiled: their .pxd has functions in C
LOOPS = ("functions", "elementwise", "float64", "activations", "special", "halves", "rows", "reductions", "indexing",
         "recurrent", "group_norm")       # of kernels/loops: one extension for each level of processors
PACKAGE = (__package__ or "").partition(".")[0]
SUFFIX = EXTENSION_SUFFIXES[0]
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))     # text, not a Path: importing pathlib takes 4 ms
NATIVE = os.path.join(HERE, "native")
SAID = "said"                                    # the note's second line, once it was reported

MSG_STALE = ("the sources of autograd's core have changed since it was compiled: the sources are used, which is slower. "
             "`pip install -e .` compiles it again; DPARALLEL_PURE=1 silences this.")
MSG_BROKEN = "autograd's compiled core can't be loaded ({error}): the sources are used, which is slower."
MSG_OTHER = ("autograd's core is compiled for other Pythons ({found}), not for this one ({suffix}): the sources are used, "
             "which is slower. `pip install -e .` compiles it; DPARALLEL_PURE=1 silences this.")
MSG_FAILED = ("autograd's core was not compiled when it was installed ({reason}): the sources are used, which is slower. "
              "This is said once.")


def sources() -> list[str]:
    """The sources and declarations of what is compiled, as names within this folder."""
    return [*[f"{name.replace('.', '/')}.{kind}" for name in (*CORE, *INLINE) for kind in ("py", "pxd")],
            *[f"kernels/loops/{name}.py" for name in (*LOOPS, "scalars", "translate")],
            "kernels/loops/scalars.h", "kernels/coefficients.py"]


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


def note(native: str = NATIVE) -> str:
    """The file in which setup.py says why this Python's extensions could not be built."""
    return os.path.join(native, f"failed{SUFFIX}.txt")


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
    if environment.pure:
        return False
    if not os.path.exists(stamp(native)):
        _say_why(native)
        return False
    finder = Finder(native)
    try:
        if not fits(native):
            _warn(MSG_STALE)
            return False
        for name in CORE:
            spec = finder.find_spec(f"{PACKAGE}.{name}")
            assert spec is not None and spec.loader is not None
            spec.loader.create_module(spec)      # loads the library, and runs none of it
    except (ImportError, OSError) as error:
        _warn(MSG_BROKEN.format(error=error))
        return False
    sys.meta_path.insert(0, finder)              # type: ignore[arg-type]
    return True


def _warn(text: str, depth: int = 4) -> None:
    if environment.first_rank:                   # one line a job
        warnings.warn(text, stacklevel=depth)    # where autograd/__init__.py imports this


def _say_why(native: str) -> None:
    """Warn if there should be extensions: a build failed, or there are some for other Pythons."""
    reason, _, said = _noted(native).partition("\n")
    if reason:
        if environment.first_rank and not said:
            part = f"{note(native)}.{os.getpid()}"
            with contextlib.suppress(OSError):   # the folder can't be written: it is said again
                with open(part, "w", encoding="utf-8") as file:
                    file.write(f"{reason}\n{SAID}\n")
                os.replace(part, note(native))   # a new file: uv's are links into its cache; of that name: pip removes it
            _warn(MSG_FAILED.format(reason=reason), 5)
        return
    ends = "sources", ".txt"
    others = sorted(name[len(ends[0]):-len(ends[1])] for name in os.listdir(native)
                    if name.startswith(ends[0]) and name.endswith(ends[1])) if os.path.isdir(native) else []
    if others:
        _warn(MSG_OTHER.format(found=", ".join(others), suffix=SUFFIX), 5)


def failure(native: str = NATIVE) -> str:
    """Why this Python's extensions could not be built when the package was installed; "" if that is not known."""
    return _noted(native).partition("\n")[0]


def _noted(native: str) -> str:
    if not os.path.exists(note(native)):
        return ""
    with open(note(native), encoding="utf-8") as file:
        return file.read()


in_use: bool = __package__ != PACKAGE and prefer()  # setup.py imports `base` alone, in no package: it is not in use there
