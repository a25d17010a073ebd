"""show_config(): what this installation computes with."""

from __future__ import annotations

import os
import platform
from importlib import import_module
from typing import Any

import numpy as np

from .compiled import in_use
from .kernels.compiled import compiled
from .kernels.memory import freed_memory_is_kept
from .kernels.onednn import onednn
from .version import __version__


class Config(dict[str, Any]):
    """A dict that prints as lines `name: value`."""

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.items())


def show_config() -> Config:
    """What is in use, by name: versions, NumPy's BLAS, threads, and the accelerators, each loaded when first wanted.

    >>> print(autograd.show_config())
    """
    return Config({
        "autograd": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "numpy": np.__version__,
        "blas": _blas(),
        "compiled core": in_use,
        "threads": os.environ.get("OMP_NUM_THREADS", "all cores"),
        "numba": f"{_version('numba')}, {compiled.state()}",
        "onednn": f"{_version('onednn-cpu-gomp')}, {onednn.state()}",
        "freed memory": "kept for the next step" if freed_memory_is_kept else "left to the C library",
    })


def _blas() -> str:
    """NumPy's library of matrix products."""
    shown: Any = np.show_config(mode="dicts")
    blas = shown["Build Dependencies"]["blas"]
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def _version(package: str) -> str:
    """The version of an installed package. What looks it up takes 20 ms to import, so not before it is wanted."""
    metadata = import_module("importlib.metadata")
    try:
        return str(metadata.version(package))
    except metadata.PackageNotFoundError:
        return "not installed"


__all__ = ["Config", "show_config"]
