"""Memory that a loader shares with its worker processes: the dataset's arrays on the way there, batches on the way back.

The memory is a file without a name (memfd, on macOS an unlinked temporary file): a crash leaves nothing behind, and the size
of /dev/shm does not matter. Without such files, as on Windows, everything is sent through the pipe."""

from __future__ import annotations

import io
import mmap
import os
import pickle
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing import reduction
from typing import Any, NamedTuple

import numpy as np

from ...base.types import Array
from ...core.tensor import Tensor, result

SMALL = 4096                             # bytes; smaller arrays are sent in the pickle
LARGE_PICKLE = 1 << 16                   # bytes; larger pickles are sent in a block: a pipe holds little more
FIRST = 1 << 20                          # bytes of the first segment


class SharedFile:
    """A file in memory that a process passes to those that it starts. OSError where the system has none."""

    def __init__(self, fd: int | None = None) -> None:
        if not hasattr(reduction, "DupFd"):
            raise OSError("this system does not pass files to other processes")
        if fd is None and hasattr(os, "memfd_create"):
            fd = os.memfd_create("autograd DataLoader")
        if fd is None:
            with tempfile.TemporaryFile() as file:
                fd = os.dup(file.fileno())
        self.fd: int = fd
        self.close: weakref.finalize[[int], SharedFile] = weakref.finalize(self, os.close, fd)

    def extend(self, size: int) -> None:
        """Let the file have `size` bytes. Pages of a memfd are allocated when they are written."""
        if hasattr(os, "memfd_create"):
            os.ftruncate(self.fd, size)
            return
        with open(self.fd, "ab", closefd=False) as file:     # a write to a page that a full disk lacks would be a SIGBUS
            file.write(bytes(size - os.fstat(self.fd).st_size))

    def __reduce__(self) -> Any:
        return _attached, (reduction.DupFd(self.fd),)


def _attached(duplicate: Any) -> SharedFile:
    return SharedFile(duplicate.detach())


class Span(NamedTuple):
    """Bytes in a block of a worker's file: the segment that is mapped at once, the block in it, the bytes in the block."""

    segment: int
    length: int
    block: int
    capacity: int
    start: int
    size: int


class Packed(NamedTuple):
    """An answer as it is sent: a pickle, and its buffers."""

    data: bytes | Span
    buffers: list[Span | bytearray]
    problem: str                         # why blocks can no longer be used


class Segments:
    """A file's mapped segments."""

    def __init__(self, file: SharedFile) -> None:
        self.file: SharedFile = file
        self.maps: dict[int, mmap.mmap] = {}

    def block(self, segment: int, length: int, block: int, capacity: int) -> Array:
        """The bytes of a block."""
        if segment not in self.maps:
            self.maps[segment] = mmap.mmap(self.file.fd, length, offset=segment)
        return np.frombuffer(self.maps[segment], np.uint8, capacity, block)


class Blocks:
    """A worker's side of its file: blocks of 2^k bytes, used again when neither process refers to their arrays."""

    def __init__(self, file: SharedFile | None) -> None:
        self.segments: Segments | None = None if file is None else Segments(file)
        self.segment, self.length, self.used = 0, 0, 0       # the segment that new blocks are cut from
        self.free: dict[int, list[Span]] = {}                # by capacity
        self.ended: list[tuple[Span, Any]] = []              # not used by the consumer; with what this process may use still
        self.taken: list[tuple[Span, int, Any]] = []         # since the last answer: block, address, reference to its array
        self.sent: dict[tuple[int, int], tuple[Span, Any]] = {}
        self.problem: str = ""

    def take(self, size: int) -> Array | None:
        """An array of `size` bytes in a block; None if there can be none."""
        if self.segments is None:
            return None
        ended, self.ended = self.ended, []
        for block in ended:
            if block[1]() is None:
                self.free.setdefault(block[0].capacity, []).append(block[0])
            else:
                self.ended.append(block)
        capacity = 1 << (max(size, SMALL) - 1).bit_length()
        try:
            span = self.free[capacity].pop() if self.free.get(capacity) else self.new(capacity)
            array = self.segments.block(*span[:4])
        except (OSError, ValueError) as error:               # limits of files, address space, ...
            self.segments, self.problem = None, str(error)
            return None
        self.taken.append((span, array.__array_interface__["data"][0], weakref.ref(array)))
        return array[:size]

    def new(self, capacity: int) -> Span:
        """A block that was not used yet. Segments double the file, so that there are few."""
        if self.used + capacity > self.length:
            assert self.segments is not None
            segment = self.segment + self.length
            length = max(capacity, segment, FIRST)
            self.segments.file.extend(segment + length)
            self.segment, self.length, self.used = segment, length, 0
        self.used += capacity
        return Span(self.segment, self.length, self.used - capacity, capacity, 0, 0)

    def stack(self, tensors: Sequence[Any]) -> Tensor | None:
        """The tensors stacked in a block; None for those that need ops.stack()."""
        first = tensors[0].array
        size = len(tensors) * first.nbytes
        if size < SMALL or not all(type(t) is Tensor and not t.tracked and t.array.dtype == first.dtype
                                   and t.array.shape == first.shape for t in tensors):
            return None
        room = self.take(size)
        if room is None:
            return None
        out = room.view(first.dtype).reshape(len(tensors), *first.shape)
        np.concatenate([t.array[None] for t in tensors], out=out)
        return result(out)

    def pack(self, answer: Any) -> Packed:
        """Pickle an answer. Its arrays are copied to blocks, unless they are in one."""
        found: list[memoryview] = []
        data: bytes | Span = dumps(answer, found if self.segments else None)
        buffers = [self.placed(raw) for raw in found]
        if len(data) > LARGE_PICKLE:
            placed = self.placed(memoryview(data))  # type: ignore[arg-type]
            data = placed if isinstance(placed, Span) else data
        used = {(s.segment, s.block) for s in (*buffers, data) if isinstance(s, Span)}
        for span, _, array in self.taken:
            if (span.segment, span.block) in used:
                self.sent[span.segment, span.block] = span, array
            else:
                self.ended.append((span, array))
        self.taken.clear()
        problem, self.problem = self.problem, ""
        return Packed(data, buffers, problem)

    def placed(self, raw: memoryview) -> Span | bytearray:
        """These bytes in a block: the one that they are in, or a copy's."""
        bytes_ = np.frombuffer(raw, np.uint8)
        address = bytes_.__array_interface__["data"][0]
        for span, start, _ in self.taken:
            if start <= address < start + span.capacity:
                return span._replace(start=address - start, size=bytes_.size)
        room = self.take(bytes_.size)
        if room is None:
            return bytearray(raw)
        room[:] = bytes_
        return self.taken[-1][0]._replace(size=bytes_.size)

    def release(self, blocks: Sequence[tuple[int, int]]) -> None:
        """Use blocks again that the consumer does not use any more."""
        self.ended.extend(self.sent.pop(block) for block in blocks)


class Received:
    """The consumer's side of a worker's file. released: the blocks whose arrays it does not refer to any more."""

    def __init__(self, file: SharedFile | None) -> None:
        self.segments: Segments | None = None if file is None else Segments(file)
        self.released: deque[tuple[int, int]] = deque()

    def unpack(self, packed: Packed) -> Any:
        """The answer, with arrays in the worker's blocks. A block is released when the last of them is freed."""
        arrays: dict[tuple[int, int], Array] = {}

        def view(span: Any) -> Any:
            if not isinstance(span, Span):
                return span
            key = span.segment, span.block
            if key not in arrays:
                assert self.segments is not None
                arrays[key] = self.segments.block(*span[:4])
                weakref.finalize(arrays[key], self.released.append, key).atexit = False
            return memoryview(arrays[key])[span.start:span.start + span.size]  # type: ignore[arg-type]

        return pickle.loads(view(packed.data), buffers=[view(span) for span in packed.buffers])

    def take_released(self) -> list[tuple[int, int]]:
        """The blocks released since the last call."""
        return [self.released.popleft() for _ in range(len(self.released))]


class Parcel:
    """An object that is sent to processes when they start, its arrays in one file that all of them map, each with its own
    copy of the pages that it writes."""

    def __init__(self, value: Any) -> None:
        self.value: Any = value
        self.file: SharedFile | None = None
        self.places: list[tuple[int, int]] = []

    def __reduce__(self) -> Any:
        """Pickle the object: for each process, because locks and queues in it must be; but its arrays are written once."""
        buffers: list[memoryview] = []
        data = dumps(self.value, buffers, _file_of)
        if buffers and self.file is None:
            ends = [0, *np.cumsum([-(-raw.nbytes // 64) * 64 for raw in buffers]).tolist()]
            self.places = [(start, raw.nbytes) for start, raw in zip(ends, buffers, strict=False)]
            try:
                self.file = SharedFile()
                with open(self.file.fd, "r+b", buffering=0, closefd=False) as file:
                    for raw, (start, _) in zip(buffers, self.places, strict=True):
                        file.seek(start)
                        while raw.nbytes:
                            raw = raw[file.write(raw):]
            except OSError:                                  # no such files, or a full disk: through the pipe
                self.file, data = None, dumps(self.value, None, _file_of)
        return Arrived, (data, self.file, self.places)

    def open(self) -> Any:
        """Return the object itself."""
        return self.value


class Arrived(NamedTuple):
    """A parcel in the process that it was sent to."""

    data: bytes
    file: SharedFile | None
    places: list[tuple[int, int]]

    def open(self) -> Any:
        """Unpickle the object, over the shared memory."""
        if self.file is None:
            return pickle.loads(self.data)
        whole = memoryview(mmap.mmap(self.file.fd, self.places[-1][0] + self.places[-1][1], access=mmap.ACCESS_COPY))
        return pickle.loads(self.data, buffers=[whole[start:start + size] for start, size in self.places])


class _Pickler(reduction.ForkingPickler):
    """multiprocessing's, which knows how Tensors, locks and queues are sent, with buffers apart."""

    def __init__(self, file: Any, keep: Any, mapped: Any) -> None:
        super().__init__(file, 5)                            # which does not pass a callback on
        table = dict(self.dispatch_table) if mapped is None else {**self.dispatch_table, np.memmap: mapped}
        pickle.Pickler.__init__(self, file, 5, buffer_callback=keep)
        self.dispatch_table = table


def _file_of(array: Any) -> Any:
    """Send a memory-mapped array by the name of its file; a private or scattered part of one as an array."""
    whole: Any = getattr(array, "_mmap", None)
    known = whole is not None and array.mode != "c" and os.path.exists(array.filename or "")
    if not known or not array.size or not array.flags.c_contiguous:
        return np.asarray(array).__reduce_ex__(5)
    first, start = (a.__array_interface__["data"][0] for a in (np.frombuffer(whole, np.uint8), array))
    offset = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY + start - first
    return np.memmap, (array.filename, array.dtype, "r" if array.mode == "r" else "r+", offset, array.shape)


def dumps(value: Any, buffers: list[memoryview] | None = None, mapped: Callable[[Any], Any] | None = None) -> bytes:
    """A pickle. Arrays that are not small are left out of it, and appended to `buffers` if that is given. mapped: how
    memory-mapped arrays are sent; as arrays if None."""
    def apart(buffer: pickle.PickleBuffer) -> bool:
        try:
            raw = buffer.raw()
        except BufferError:                                  # not contiguous
            return True
        if raw.nbytes >= SMALL:
            found.append(raw)
        return raw.nbytes < SMALL

    found, file = [] if buffers is None else buffers, io.BytesIO()
    _Pickler(file, None if buffers is None else apart, mapped).dump(value)
    return file.getvalue()
