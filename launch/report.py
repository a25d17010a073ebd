"""Reports of failed ranks: each writes one into a folder that dprun made; dprun shows the first one, last."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

DIRECTORY = "DPRUN_REPORT_DIR"
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")

NO_LIBRARY = ("cannot load MPI library", "libmpi")


def my_rank() -> int:
    """This process's rank, from its launcher's environment; -1 if that has none."""
    return next((int(os.environ[name]) for name in RANKS if os.environ.get(name, "").isdigit()), -1)


def write(code: int, text: str) -> bool:
    """Leave a report of this rank's failure; False if there is no folder for it (another host)."""
    folder = os.environ.get(DIRECTORY, "")
    if not os.path.isdir(folder):
        return False
    rank = my_rank()
    try:
        path = os.path.join(folder, f"{rank}.json")
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump({"rank": rank, "time": time.time(), "code": code, "text": text}, file)
        os.replace(path + ".part", path)             # whole, or not there
    except OSError:
        return False
    return True


def read(folder: str) -> list[dict[str, Any]]:
    """All reports, the first failure first."""
    reports = []
    for name in os.listdir(folder):
        if name.endswith(".json"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                reports.append(json.load(file))
    return sorted(reports, key=lambda report: (report["time"], report["rank"]))


def show(reports: list[dict[str, Any]], ranks: int) -> None:
    """Print the first failure to standard error, and who else failed."""
    first = reports[0]
    text = first["text"].rstrip("\n")
    others = ", ".join(str(report["rank"]) for report in sorted(reports[1:], key=lambda report: report["rank"]))
    if text:
        print(text, file=sys.stderr)
    print(f"dprun: rank {first['rank']} of {ranks} failed with exit code {first['code']}"
          + (f"; so did rank {others}" if others else ""), file=sys.stderr)
    if any(word in text for word in NO_LIBRARY) and ("ImportError" in text or "RuntimeError" in text):
        print("dprun: the MPI library can't be loaded; run: pip install 'dparallel[mpi]'", file=sys.stderr)
    sys.stderr.flush()
