"""On what was measured: processor, versions, how busy it was."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from runs import ROOT, environment

ACCELERATORS = """
import numpy, autograd
from autograd.kernels.onednn import onednn
from autograd.kernels.loops import LEVELS, loops
parts = ["oneDNN"] * (onednn.library is not None) + [f"loops ({LEVELS[loops.level()]})"] * (loops.library is not None)
print(" and ".join(parts) or "none")
"""


def version(package: str) -> str:
    """Of an installed package, without importing it."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def output(*command: str) -> str:
    """The first line, or nothing."""
    try:
        done = subprocess.run(command, env=environment(), cwd=ROOT, capture_output=True, text=True, timeout=60)
    except OSError:
        return ""
    return (done.stdout.strip().splitlines() or [""])[0]


def processor() -> str:
    """Its name."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")] \
        if info.exists() else []
    return names[0] if names else platform.processor() or platform.machine()


def vectors() -> str:
    """The widest vector instructions that the kernels can use here."""
    info = Path("/proc/cpuinfo")
    flags = info.read_text() if info.exists() else ""
    return "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else platform.machine()


def machine() -> dict[str, Any]:
    """What is worth knowing about this machine now."""
    beside = str(Path(sys.executable).with_name("mpirun"))           # the extra mpi's
    mpi = (output(beside, "--version") or output("mpirun", "--version")).replace("mpirun (Open MPI)", "Open MPI")
    return {"processor": processor(), "machine": platform.machine(), "vectors": vectors(), "cores": os.cpu_count(), "system": platform.system(),
            "python": platform.python_version(), "numpy": version("numpy"), "torch": version("torch"), "jax": version("jax"),
            "mpi": mpi or "no mpirun",
            "accelerators": output(sys.executable, "-c", ACCELERATORS), "openblas": os.environ.get("OPENBLAS_CORETYPE", ""),
            "load": os.getloadavg()[0], "commit": output("git", "rev-parse", "--short", "HEAD") or "unknown",
            "date": datetime.date.today().isoformat()}
