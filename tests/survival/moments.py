"""Where a process of training.py is, told to the one that kills it; and orders to die there.

Each process has a page, the file NUMBER.page, mapped into its memory: the moment that it passed last stays readable when it
is dead. Orders are in the file orders.json: a process that reaches the moment of one as the rank that it names claims it, by
making a file that only one process can make, and kills (or stops) itself. They are read again at each batch.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import signal
import time
from pathlib import Path
from typing import Any

WIDTH = 32                           # bytes of a page


class Moments:
    """Of this process: at(name) is called at each moment. rank, size, steps: what the process knows of itself."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.process = folder, os.getpid()
        self.rank = self.size = self.steps = 0
        self.orders: list[dict[str, Any]] = []
        self._read = -1                              # when the orders were last written
        path = folder / f"{self.process}.page"
        path.write_bytes(b" " * WIDTH)
        with open(path, "r+b") as file:
            self._page = mmap.mmap(file.fileno(), WIDTH)

    def at(self, name: str) -> None:
        """The process is at this moment; it may be its last."""
        self._page[:] = name.encode().ljust(WIDTH)
        if self.orders and os.getpid() == self.process:          # not in a loader's worker
            for order in list(self.orders):
                self._follow(order, name)

    def look(self) -> None:
        """Read the orders if they have changed."""
        with contextlib.suppress(OSError):
            written = os.stat(self.folder / "orders.json").st_mtime_ns
            if written != self._read:
                self._read = written
                self.orders = json.loads((self.folder / "orders.json").read_text())

    def _follow(self, order: dict[str, Any], name: str) -> None:
        if order["moment"] != name or order["rank"] != self.rank:
            return
        if order.get("times", 0) > 0:                # not at the first time
            order["times"] -= 1
            return
        self.orders.remove(order)
        try:
            claim = os.open(self.folder / f"order-{order['number']}", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:                      # another process was this rank before
            return
        os.write(claim, json.dumps({"process": self.process, "time": time.monotonic(), "moment": name, "rank": self.rank}).encode())
        os.kill(self.process, getattr(signal, order.get("signal", "SIGKILL")))


def page(folder: Path, process: int) -> str:
    """The moment that a process passed last."""
    with contextlib.suppress(OSError):
        return (folder / f"{process}.page").read_bytes().decode().strip()
    return ""


def claimed(folder: Path, number: int) -> dict[str, Any] | None:
    """Who has followed an order, and when; None so far."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads((folder / f"order-{number}").read_text())
    return None
