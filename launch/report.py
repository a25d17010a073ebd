"""Reports of failed ranks: each writes one in a folder that dprun created; dprun shows the first one, last."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from typing import Any

# in the text of a crash: frames that are not the script's, and the names of all extension modules
OURS = re.compile(r'  File "(?:<frozen runpy>|[^"\n]*\brunpy\.py|[^"\n]*\blaunch/rank\.py)", .*\n|\nExtension modules: .*')


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
                                "code": None, "text": OURS.sub("", file.read()), "remedy": ""})
    return sorted(reports, key=lambda report: (report["time"], report["rank"]))


def texts(folder: str, kind: str) -> dict[int, str]:
    """By rank, the texts of the files of a kind, without files that are gone by now, or are being written."""
    found = {}
    for name in os.listdir(folder):
        number, _, ending = name.partition(".")
        if ending == kind and number.isdigit():
            with contextlib.suppress(OSError), open(os.path.join(folder, name), encoding="utf-8") as file:
                found[int(number)] = file.read()
    return {rank: text for rank, text in found.items() if text}


def running(folder: str) -> dict[int, int]:
    """The process numbers of the ranks on this machine that have begun, and have not ended in Python's ways, by rank."""
    return {rank: int(text) for rank, text in texts(folder, "running").items()}


def vanished(folder: str, alive: bool = False) -> list[int]:
    """The ranks on this machine that have begun and not ended in Python's ways; `alive`: also those that still run."""
    return sorted(rank for rank, process in running(folder).items() if alive or not is_alive(process))


def positions(folder: str) -> list[str]:
    """The position of each rank of this machine at its watchdog's last check, at most a second before its end."""
    return [text for _, text in sorted(texts(folder, "position").items())]


def progress(folder: str) -> int | None:
    """The last step from which a restart would resume, as reported by a rank of this machine; None if none has reported."""
    return max(map(int, texts(folder, "progress").values()), default=None)


def stopped(folder: str) -> int:
    """The exit code with which the ranks of this machine have ended together, on request; 0 if they have not."""
    return next(map(int, texts(folder, "stopped").values()), 0)


def unjoined(folder: str) -> str:
    """Why ranks wait in dparallel.world() for ever: others have left their scripts without calling it. "" if none do."""
    names = set(os.listdir(folder))
    left = sorted(int(name.removesuffix(".ended")) for name in names
                  if name.endswith(".ended") and name.removesuffix("ended") + "world" not in names)
    if not left:
        return ""
    waiting = texts(folder, "world")                 # empty: it has joined the others
    lines = [f"  rank {rank} waits in {text}" for rank, text in sorted(waiting.items())]
    gone = f"rank{'s' * (len(left) > 1)} {', '.join(map(str, left))}"
    return "\n".join([f"dprun: {gone} left the script without dparallel.world(), which all ranks call together", *lines]) \
        if waiting else ""


def ended(folder: str) -> list[int]:
    """The ranks on this machine that have reached the end of their scripts, or left them together."""
    return sorted(int(name.removesuffix(".ended")) for name in os.listdir(folder) if name.endswith(".ended"))


def needed_but_gone(folder: str) -> list[int]:
    """The ranks on this machine that died before MPI had started there, so that all others wait for them in MPI_Init."""
    names = os.listdir(folder)
    return [rank for rank in vanished(folder) if f"{rank}.mpi" not in names and f"{rank}.ended" not in names]


def marked(folder: str) -> set[int]:
    """The ranks on this machine that have left any mark."""
    return {int(number) for number, _, kind in (name.partition(".") for name in os.listdir(folder))
            if number.isdigit() and kind.partition(".")[0] in ("running", "ended", "json", "mpi", "world")}


def over(folder: str) -> bool:
    """Whether no rank on this machine works any more: each has ended or died, or is a waiting spare."""
    names = os.listdir(folder)
    if not any(name.endswith(".world") and not os.path.getsize(os.path.join(folder, name)) for name in names):
        return False                                 # none has begun to work
    for rank, process in running(folder).items():
        mark = os.path.join(folder, f"{rank}.world")
        waits = os.path.exists(mark) and os.path.getsize(mark) > 0
        if not waits and f"{rank}.ended" not in names and is_alive(process):
            return False
    return True


def is_alive(process: int) -> bool:
    """Whether a process with that number exists and has not ended."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] not in "ZX"
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def show(reports: list[dict[str, Any]], ranks: int) -> None:
    """Print the first failure to standard error, and the other failed ranks; only the remedy if nothing could run."""
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
