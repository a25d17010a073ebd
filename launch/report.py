"""Reports of failed ranks: each leaves one in a folder that dprun made; dprun shows the first one, last."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def failed(folder: str) -> bool:
    """Whether a rank has reported a failure."""
    return any(name.endswith(".json") for name in os.listdir(folder))


def read(folder: str) -> list[dict[str, Any]]:
    """All reports, the first failure first; `code` is None for a rank that crashed: a signal ended it."""
    reports = []
    for entry in os.scandir(folder):
        if entry.name.endswith(".json"):
            with open(entry.path, encoding="utf-8") as file:
                reports.append(json.load(file))
        elif entry.name.endswith(".crash") and entry.stat().st_size:
            with open(entry.path, encoding="utf-8", errors="replace") as file:
                reports.append({"rank": int(entry.name.removesuffix(".crash")), "time": entry.stat().st_mtime,
                                "code": None, "text": file.read(), "remedy": ""})
    return sorted(reports, key=lambda report: (report["time"], report["rank"]))


def show(reports: list[dict[str, Any]], ranks: int) -> None:
    """Print the first failure to standard error, and who else failed; only the remedy where nothing could be run."""
    first = reports[0]
    others = sorted({report["rank"] for report in reports[1:]} - {first["rank"]})
    how = first.get("how") or ("crashed" if first["code"] is None else f"failed with exit code {first['code']}")
    if first["code"] != 2 or not first["remedy"]:
        text = first["text"].rstrip("\n")
        print(*([text] if text else []),
              f"dprun: rank {first['rank']} of {ranks} {how}"
              + (f"; so did rank{'s' * (len(others) > 1)} {', '.join(map(str, others))}" if others else ""),
              sep="\n", file=sys.stderr)
    if first["remedy"]:
        print(f"dprun: {first['remedy']}", file=sys.stderr)
    sys.stderr.flush()
