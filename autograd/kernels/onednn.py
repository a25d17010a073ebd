"""oneDNN through ctypes: its shared library (package onednn-cpu-gomp, or any libdnnl.so.3 that the system finds)."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

from .accelerators import Accelerator

FILE = "libdnnl.so.3"
INSTALL = "NumPy is used instead. Faster: pip install 'dparallel[fast]'"


def load() -> Any:
    """The library with the prototypes of what is used. OSError if there is none."""
    beside = Path(sys.prefix) / "lib" / FILE         # where the wheel puts it
    library = ctypes.CDLL(str(beside) if beside.exists() else FILE)
    size, pointer = ctypes.c_int64, ctypes.c_void_p
    library.dnnl_sgemm.argtypes = [ctypes.c_char, ctypes.c_char, size, size, size, ctypes.c_float, pointer, size, pointer,
                                   size, ctypes.c_float, pointer, size]
    library.dnnl_sgemm.restype = ctypes.c_int
    return library


onednn = Accelerator("onednn", load, INSTALL)
