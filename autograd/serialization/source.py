"""Source: a file of weights by its name (read piece by piece, or mapped into memory), or a file-like object."""

from __future__ import annotations

import io
import mmap
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.types import Array

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor, Future


class Source:
    """The bytes of one file: `name` for messages, `size`, and pieces of it on request.

    mapped: arrays are the file's own pages, copied by the system only where they are written to. opener: how a named file is
    opened, as for open()."""

    def __init__(self, file: Any, mapped: bool = False, opener: Callable[[str, int], int] | None = None) -> None:
        self.mapped = mapped
        self.map: Any = None
        self.copied: int = 0                         # bytes of copies, in addition to the file's contents
        self.checkers: Executor | None = None        # threads that compare checksums while the next tensor is read
        self.checks: list[Future[None]] = []         # their tasks
        self.warned = False                          # a warning that part of the file is loaded as another dtype
        if isinstance(file, (str, os.PathLike)):
            self.name: str = os.fspath(file)
            self.file: Any = open(file, "rb", opener=opener)     # noqa: SIM115 (closed by close())
            self.size: int = os.fstat(self.file.fileno()).st_size
        elif callable(getattr(file, "read", None)):
            if mapped:
                raise RuntimeError("mmap=True needs the name of a file, not a file-like object")
            self.name = str(getattr(file, "name", f"<{type(file).__name__}>"))
            data = file.read()
            if not isinstance(data, (bytes, bytearray, memoryview)):
                raise TypeError(f"{self.name} must be opened in binary mode: its read() gives {type(data).__name__}")
            self.file, self.size = io.BytesIO(data), len(data)
        else:
            raise TypeError(f"expected the name of a file, or an object with read(), not {type(file).__name__}")

    def close(self) -> None:
        """Close the files that this object opened; mapped arrays stay valid."""
        self.file.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def check(self, start: int, count: int) -> None:
        """ValueError unless the file has `count` bytes from `start` on."""
        if start < 0 or count < 0 or start + count > self.size:
            raise ValueError(f"{count} bytes at {start} are requested, but the file ends at {self.size}: it is truncated "
                             "or damaged")

    def spend(self, count: int) -> None:
        """Count bytes of copies. ValueError once they are several times the file's: the same numbers are converted
        repeatedly."""
        self.copied += count
        if self.copied > 8 * self.size + 4096:
            raise ValueError(f"its tensors need {self.copied} bytes of copies, of a file of {self.size}: the same bytes are "
                             "to be converted again and again")

    def read(self, start: int, count: int) -> bytes:
        """`count` bytes from `start` on."""
        self.check(start, count)
        self.file.seek(start)
        data: bytes = self.file.read(count)
        if len(data) != count:
            raise ValueError("the file became shorter while it was read")
        return data

    def fill(self, target: Array, start: int) -> None:
        """Read the bytes from `start` on into `target`, a vector of bytes."""
        self.check(start, target.size)
        self.file.seek(start)
        view: Any = target                           # NumPy's types do not declare arrays as buffers
        if target.size and self.file.readinto(memoryview(view)) != target.size:
            raise ValueError("the file became shorter while it was read")

    def vector(self, start: int, count: int) -> Array:
        """`count` bytes from `start` on as a writable vector: the caller's own, or mapped."""
        self.check(start, count)
        if self.mapped and count:
            if self.map is None:
                self.map = np.frombuffer(mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)
            return self.map[start:start + count]             # type: ignore[no-any-return]
        target = np.empty(count, np.uint8)
        self.fill(target, start)
        return target

    def stream(self, start: int) -> Stream:
        """The bytes from `start` on, as a stream."""
        self.file.seek(start)
        return Stream(self.file, self.size)


class Stream:
    """A file whose read() never requests more bytes than the file has, even if a damaged length does."""

    def __init__(self, file: Any, size: int) -> None:
        self.file: Any = file
        self.size: int = size
        self.tell: Callable[[], int] = file.tell

    def read(self, count: int) -> bytes:
        """At most `count` bytes."""
        return self.file.read(max(0, min(count, self.size - self.tell())))  # type: ignore[no-any-return]

    def readline(self) -> bytes:
        """The bytes up to and including the next end of line; a name is never longer than 4096 bytes."""
        return self.file.readline(4096)              # type: ignore[no-any-return]
