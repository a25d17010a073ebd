"""show_config(): the libraries that this installation uses."""

from __future__ import annotations

import os
import platform
from typing import Any

import numpy as np

from ...base import docstrings as _docstrings
from ...base.extensions import failure, in_use
from ...base.version import __version__, torch_level
from ...kernels.lapack import lapack
from ...kernels.loops import loops
from ...kernels.malloc import freed_memory_is_kept
from ...kernels.onednn import onednn
from ...kernels.threads import available, number


class Config(dict[str, Any]):
    """A dict that prints as lines `name: value`."""

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.items())


def show_config() -> Config:
    """The libraries in use, by name: versions, NumPy's BLAS, threads, and the accelerators, which are loaded on first use.
    """
    return Config({
        "autograd": __version__,
        "interface": f"PyTorch {torch_level}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "numpy": np.__version__,
        "blas": _blas(),
        "compiled core": in_use,
        **({"not compiled": failure()} if failure() and not in_use else {}),
        "threads": f"{number()}, of {available()} cores that this process may use",
        "compiled loops": loops.state(),
        "onednn": onednn.state(),
        "lapack": lapack.state(),
        "freed memory": "kept for the next step" if freed_memory_is_kept else "left to the C library",
    })


def _blas() -> str:
    """The library of NumPy's matrix products."""
    shown: Any = np.show_config(mode="dicts")
    blas = shown["Build Dependencies"]["blas"]
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


_docstrings.complete(globals(), "observe", "config.")
