"""The safetensors format: eight bytes of length, a header in JSON, and the tensors' bytes, little-endian, end to end.

The package `safetensors` defines the format, and the tests compare with it in both directions. It is not used here: it
writes and reads 40 MB in 8.7 and 3.5 ms, this page in 8.5 and 3.8 (tests/bench/safetensors_package.py); and its NumPy side
gives the metadata of named files only, writes metadata in another order in each process, takes a name twice, copies instead
of mapping, and needs the whole file in memory to write to a file-like object. What save() and load() take longer than the
package is checksums (9.5 ms on one core), and to see that the file is on the disk."""

from __future__ import annotations

import json
import math
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from .source import Array, Source

KINDS = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
         "U64": "uint64", "I64": "int64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
         "C64": "complex64"}
CODES = {kind: code for code, kind in KINDS.items()}
SIZES = {kind: 2 if kind == "bfloat16" else np.dtype(kind).itemsize for kind in CODES}
METADATA = "__metadata__"
MANY = 1 << 20                                       # bytes for which starting threads is worthwhile
LONGEST = 100_000_000                                # bytes of header: more than this is refused, as the package does


class Entry(NamedTuple):
    """One tensor of a file: its numbers, and where its bytes are."""

    kind: str
    shape: tuple[int, ...]
    start: int
    nbytes: int


# --- reading ------------------------------------------------------------------------------------------------------------

def read_header(source: Source) -> tuple[dict[str, Entry], dict[str, str]]:
    """The tensors by name, in the header's order, and the metadata. ValueError if anything does not fit the format."""
    length = int.from_bytes(source.read(0, 8), "little")
    if length > LONGEST:
        raise ValueError(f"the header would be {length} bytes long; {LONGEST} are allowed")
    start = 8 + length
    if start > source.size:
        raise ValueError(f"the header should end at {start}, but the file ends at {source.size}: it is truncated")
    try:
        header = json.loads(source.read(8, length).decode("utf-8"), object_pairs_hook=_unique_names, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("the header is nested too deeply") from None
    metadata = header.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise ValueError(f"{METADATA} must hold strings only")
    entries = {name: _entry(name, fields, start) for name, fields in header.items()}
    end, before = start, "the header"
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].nbytes)):
        if entry.start != end:
            raise ValueError(f"{name!r} {'overlaps' if entry.start < end else 'leaves a gap after'} {before}")
        end, before = end + entry.nbytes, repr(name)
    if end != source.size:
        raise ValueError(f"the tensors end at {end}, but the file ends at {source.size}: "
                         f"{'it is truncated' if end > source.size else 'there are strange bytes behind them'}")
    return entries, metadata


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dict. ValueError for duplicate names."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name = Counter([name for name, _ in pairs]).most_common(1)[0][0]
        raise ValueError(f"{name!r} appears twice in the header")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"the header holds {constant}, which is not JSON")


def _entry(name: str, fields: Any, start: int) -> Entry:
    """One tensor's line of the header, checked."""
    if not isinstance(fields, dict) or not {"dtype", "shape", "data_offsets"} <= fields.keys():
        raise ValueError(f"the header's entry of {name!r} must have dtype, shape and data_offsets")
    code, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
    if code not in CODES.values():
        raise ValueError(f"{name!r} is of the type {code!r}; tensors can be of {', '.join(KINDS)}")
    for what, numbers in (("shape", shape), ("data_offsets", offsets)):
        if not isinstance(numbers, list) or len(numbers) > 64 or any(
                type(n) is not int or not 0 <= n < 2**63 for n in numbers):
            raise ValueError(f"the {what} of {name!r} must be a list of numbers, not {numbers!r:.100}")
    if len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ValueError(f"the data_offsets of {name!r} must be a start and an end, not {offsets!r:.100}")
    count = math.prod(shape) * SIZES[KINDS[code]]
    if count != offsets[1] - offsets[0]:
        raise ValueError(f"{name!r} of type {code} and shape {shape!r:.100} needs {count} bytes, but has "
                         f"{offsets[1] - offsets[0]}")
    return Entry(KINDS[code], tuple(shape), start + offsets[0], count)


# --- writing ------------------------------------------------------------------------------------------------------------

def blocks(arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> Iterator[Any]:
    """The parts of a file of these arrays, in order; arrays of larger numbers first, so that all are aligned."""
    order = sorted(arrays, key=lambda name: -arrays[name].dtype.itemsize)
    starts, end = {}, 0
    for name in order:
        starts[name], end = end, end + arrays[name].nbytes
    header: dict[str, Any] = {METADATA: dict(metadata)} if metadata else {}
    for name, array in arrays.items():
        header[name] = {"dtype": CODES[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [starts[name], starts[name] + array.nbytes]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST:
        raise ValueError(f"the header would be {len(text)} bytes long; {LONGEST} are allowed")
    yield len(text).to_bytes(8, "little")
    yield text
    for name in order:
        yield raw(arrays[name])


def checkers() -> ThreadPoolExecutor:
    """Threads that compute checksums in parallel: zlib releases the GIL, and takes 9.5 ms for 40 MB, which are written or
    read in 4 to 9."""
    return ThreadPoolExecutor(min(4, os.cpu_count() or 1))


def checksums(arrays: Iterable[Array]) -> list[int]:
    """The CRC-32 of each array's bytes."""
    arrays = list(arrays)
    if sum(array.nbytes for array in arrays) < MANY:
        return [zlib.crc32(raw(array)) for array in arrays]
    with checkers() as pool:
        return list(pool.map(lambda array: zlib.crc32(raw(array)), arrays))


def raw(array: Array) -> Any:
    """The bytes of an array, row by row, each number little-endian."""
    array = np.asarray(array, order="C")
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and sys.byteorder == "big"):
        array = array.byteswap()
    data: Any = array.reshape(-1).view(np.uint8)     # NumPy's types do not declare arrays as buffers
    return memoryview(data)
