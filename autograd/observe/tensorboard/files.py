"""EventFile: events in TensorBoard's format, each passed to the operating system when add() returns."""

from __future__ import annotations

import errno
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from io import FileIO


class EventFile:
    """A new file of records in a directory: length, its checksum, content, its checksum (TFRecord)."""

    def __init__(self, directory: str, suffix: str, checksum: Callable[[bytes], int]) -> None:
        os.makedirs(directory, exist_ok=True)
        stem = os.path.join(directory, f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.")
        taken = len([name for name in os.listdir(directory) if name.startswith(os.path.basename(stem))])
        self.checksum = checksum
        self.lock: threading.Lock = threading.Lock()
        self.file: FileIO = open(f"{stem}{taken}{suffix}", "xb", buffering=0)  # noqa: SIM115

    def add(self, event: Any) -> None:
        """Write an event."""
        data = event.SerializeToString()
        length = struct.pack("<Q", len(data))
        record = b"".join([length, struct.pack("<I", self.checksum(length)), data, struct.pack("<I", self.checksum(data))])
        with self.lock:
            written = self.file.write(record)
            if written != len(record):               # a full disk writes a part; readers stop at an incomplete record
                self.file.truncate(self.file.seek(-written, os.SEEK_CUR))
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.file.name)

    def close(self) -> None:
        """End the file."""
        with self.lock:
            self.file.close()
