"""oneDNN through ctypes: its shared library (package onednn-cpu-gomp, or any libdnnl.so.3 that the system finds)."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

from .accelerators import Accelerator

FILE = "libdnnl.so.3"
AVX512 = 0x20                                        # of the bits of dnnl_cpu_isa_t
INSTALL = "NumPy is used instead. Faster: pip install 'dparallel[fast]'"


def load() -> Any:
    """The library with the prototypes of what is used. OSError if there is none."""
    beside = os.path.join(sys.prefix, "lib", FILE)   # where the wheel puts it
    library: Any = ctypes.CDLL(beside if os.path.exists(beside) else FILE)
    size, pointer = ctypes.c_int64, ctypes.c_void_p
    library.dnnl_sgemm.argtypes = [ctypes.c_char, ctypes.c_char, size, size, size, ctypes.c_float, pointer, size, pointer,
                                   size, ctypes.c_float, pointer, size]
    library.dnnl_sgemm.restype = ctypes.c_int
    library.avx512 = bool(library.dnnl_get_effective_cpu_isa() & AVX512)
    prototypes(library)
    return library


def prototypes(library: Any) -> None:
    """What C cannot tell ctypes of the functions that primitives are made and run with: handles are pointers."""
    pointer, number, real = ctypes.c_void_p, ctypes.c_int, ctypes.c_float
    library.dnnl_primitive_desc_query_md.restype = pointer
    library.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
    takes = {"dnnl_memory_set_data_handle": [pointer, pointer], "dnnl_memory_desc_get_size": [pointer],
             "dnnl_primitive_execute": [pointer, pointer, number, pointer], "dnnl_memory_desc_equal": [pointer] * 2,
             "dnnl_primitive_desc_query_md": [pointer, number, number],
             "dnnl_batch_normalization_forward_primitive_desc_create":
                 [pointer, pointer, number, pointer, pointer, real, ctypes.c_uint, pointer],
             "dnnl_batch_normalization_backward_primitive_desc_create":
                 [pointer, pointer, number, pointer, pointer, pointer, real, ctypes.c_uint, pointer, pointer]}
    for name, types in takes.items():
        getattr(library, name).argtypes = types


onednn = Accelerator("onednn", load, INSTALL)
