"""show_config(): what this installation runs on."""

from __future__ import annotations

import os
import platform
from typing import Any

import numpy as np

from .compiled import in_use
from .version import __version__


class Config(dict[str, Any]):
    """A dict that prints as lines `name: value`."""

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.items())


def show_config() -> Config:
    """What is in use, by name: version, Python, NumPy and its BLAS, threads asked for, and whether the core is compiled.

    >>> print(autograd.show_config())
    """
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]       # type: ignore[index, call-overload]
    return Config({
        "autograd": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "numpy": np.__version__,
        "blas": f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip(),
        "threads": os.environ.get("OMP_NUM_THREADS", "all cores"),
        "compiled core": in_use,
    })


__all__ = ["Config", "show_config"]
