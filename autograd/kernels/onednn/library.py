"""oneDNN through ctypes: the shared library of the package onednn-cpu-gomp, or any libdnnl.so.3 that the system finds.

Wheels put it into the folder lib of the environment that pip installs into, which need not be the one that Python runs in:
the user's own (pip install --user), the one below (venv --system-site-packages), another on PYTHONPATH (pip --prefix).
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from ..accelerators import Accelerator, Missing, versions
from .openmp import prepare, sleeping_workers

FILE = "libdnnl.so.3"
FLOAT32 = np.dtype(np.float32)
AVX512 = 0x20                                        # of the bits of dnnl_cpu_isa_t
PACKAGES = ("onednn-cpu-gomp", "onednn", "onednn-cpu-iomp", "onednn-cpu-tbb")


def candidates() -> Iterator[str]:
    """Where the library may lie, the likeliest first: this environment, what packages on sys.path say that they installed,
    the environments that folders of packages on sys.path belong to."""
    yield os.path.join(sys.prefix, "lib", FILE)
    metadata = import_module("importlib.metadata")
    for package in PACKAGES:
        for distribution in metadata.distributions(name=package):
            for file in distribution.files or ():
                if file.name == FILE:
                    yield os.path.normpath(str(file.locate()))
    for folder in sys.path:                          # site-packages within lib/python3.x
        yield os.path.normpath(os.path.join(folder, "..", "..", FILE))
    yield os.path.join(sys.base_prefix, "lib", FILE)


def files() -> Iterator[str]:
    """Those of the candidates that exist, each once."""
    seen = set()
    for path in candidates():
        if path not in seen and os.path.exists(path):
            seen.add(path)
            yield path


def find() -> str:
    """The library's file, or that only the loader can tell. Missing if a package is installed without it."""
    path = next(files(), None)
    if path is not None:
        return path
    if import_module("ctypes.util").find_library("dnnl") is None:
        raise missing()
    return f"{FILE} of the system"


def missing() -> Missing:
    """The error that says what is not there."""
    found = versions(*PACKAGES)
    if not found:
        return Missing(f"no {FILE}, the library of oneDNN")
    return Missing(f"{' '.join(found[0])} is installed, but not its {FILE}, which `pip install --target` leaves out")


def open_library() -> Any:
    """The first library that can be loaded. Missing if there is none, OSError if the loader refuses it."""
    refused: OSError | None = None
    for path in files():
        try:
            return ctypes.CDLL(path)
        except OSError as error:                     # libgomp.so.1 is missing, or it is for another processor
            refused = refused or error
    try:
        return ctypes.CDLL(FILE)
    except OSError:
        raise refused or missing() from None


def load() -> Any:
    """The library with the prototypes of what is used. An OSError says why there is none."""
    with sleeping_workers():
        library: Any = open_library()
    prepare(library)
    size, pointer = ctypes.c_int64, ctypes.c_void_p
    library.dnnl_sgemm.argtypes = [ctypes.c_char, ctypes.c_char, size, size, size, ctypes.c_float, pointer, size, pointer,
                                   size, ctypes.c_float, pointer, size]
    library.dnnl_sgemm.restype = ctypes.c_int
    library.avx512 = bool(library.dnnl_get_effective_cpu_isa() & AVX512)
    prototypes(library)
    return library


def prototypes(library: Any) -> None:
    """What C cannot tell ctypes of the functions that primitives are made and run with: handles are pointers."""
    pointer, number = ctypes.c_void_p, ctypes.c_int
    library.dnnl_primitive_desc_query_md.restype = pointer
    library.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
    takes = {"dnnl_memory_set_data_handle": [pointer, pointer], "dnnl_memory_desc_get_size": [pointer],
             "dnnl_primitive_execute": [pointer, pointer, number, pointer], "dnnl_memory_desc_equal": [pointer] * 2,
             "dnnl_primitive_desc_query_md": [pointer, number, number]}
    for name, types in takes.items():
        getattr(library, name).argtypes = types


def supported(*arrays: Any) -> bool:
    """Whether oneDNN may work on these arrays (None counts): float32, none of them empty, 2 to 5 dimensions."""
    for a in arrays:
        if a is not None and (a.dtype != FLOAT32 or not a.size or not a.flags.aligned):
            return False
    return 2 <= arrays[0].ndim <= 5 and onednn.library is not None


onednn: Accelerator = Accelerator("onednn", load, find, "`pip install onednn-cpu-gomp`, without --target, brings it",
                     "NumPy does its work: convolutional networks take 3 times as long, large products twice")
