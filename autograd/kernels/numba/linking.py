"""A relocatable ELF object turned into bytes that run wherever they are put: the little of a linker that kernels need.

The kernels call nothing outside and have no data that is written, so that all references are distances within the object.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

RELATIVE = (2, 4)                    # R_X86_64_PC32 and R_X86_64_PLT32: a distance in four bytes
WORD64 = 24                          # R_X86_64_PC64: one in eight
ALLOCATED, PROGBITS, SYMBOLS, ADDENDS = 2, 1, 2, 4


class Section(NamedTuple):
    """A header of the object's table of sections."""

    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int


def link(data: bytes) -> tuple[bytes, dict[str, int]]:
    """The bytes, and where in them each function begins. ValueError for an object that needs more than this."""
    if data[:6] != b"\x7fELF\x02\x01" or data[18:20] != b"\x3e\x00":
        raise ValueError("not an object for x86-64")
    sections = _sections(data)
    image = bytearray()
    places: dict[int, int] = {}
    for number, s in enumerate(sections):
        if s.kind == PROGBITS and s.flags & ALLOCATED:
            image += b"\0" * (-len(image) % max(s.align, 64))
            places[number] = len(image)
            image += data[s.offset:s.offset + s.size]
    symbols = _symbols(data, sections)
    for s in sections:
        if s.kind == ADDENDS and s.info in places:
            _relocate(data, s, image, places, symbols)
    return bytes(image), {name: places[home] + value for name, value, home, kind in symbols if home in places and kind == 2}


def _sections(data: bytes) -> list[Section]:
    table, = struct.unpack_from("<Q", data, 40)
    entry, count = struct.unpack_from("<HH", data, 58)
    found = []
    for k in range(count):
        _, kind, flags, _, offset, size, to, info, align, _ = struct.unpack_from("<IIQQQQIIQQ", data, table + k * entry)
        found.append(Section(kind, flags, offset, size, to, info, align))
    return found


def _symbols(data: bytes, sections: list[Section]) -> list[tuple[str, int, int, int]]:
    """Name, value, number of the section and kind of each symbol."""
    table = next(s for s in sections if s.kind == SYMBOLS)
    names = sections[table.link].offset
    found = []
    for k in range(table.size // 24):
        name, info, _, home, value, _ = struct.unpack_from("<IBBHQQ", data, table.offset + k * 24)
        found.append((data[names + name:data.index(b"\0", names + name)].decode(), value, home, info & 15))
    return found


def _relocate(data: bytes, table: Section, image: bytearray, places: dict[int, int],
              symbols: list[tuple[str, int, int, int]]) -> None:
    for k in range(table.size // 24):
        offset, info, addend = struct.unpack_from("<QQq", data, table.offset + k * 24)
        name, value, home, _ = symbols[info >> 32]
        kind = info & 0xffffffff
        if home not in places or kind not in (*RELATIVE, WORD64):
            raise ValueError(f"a kernel refers to {name or 'a section'} by relocation {kind}")
        at = places[table.info] + offset
        struct.pack_into("<q" if kind == WORD64 else "<i", image, at, places[home] + value + addend - at)
