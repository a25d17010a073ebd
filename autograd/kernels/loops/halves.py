"""Conversions between floats and the halves, float16 and bfloat16, to nearest, ties to even.

Processors with F16C have instructions for float16; on others integer arithmetic gives the same bits. Both keep the upper
bits of a nan and make a signalling one quiet. AVX-512's conversion to bfloat16 is not used: it makes 0 of subnormal numbers.
"""

from .scalars import (
    as_float,
    as_int32,
    cut_to_bfloat16,
    double,
    doubles,
    f32,
    f64,
    fabs,
    floats,
    halves,
    int32,
    narrowed,
    rounded_to_bfloat16,
    uint32,
    widened,
)

BLOCK = 1024                         # numbers on their way between float16 and float64


def half_of(x: float) -> uint32:
    """The bits of a float32 as a float16."""
    bits: uint32 = as_int32(x)
    size: uint32 = bits & 0x7FFFFFFF
    normal: uint32 = (size - 0x37FFF001 + (size >> 13 & 1)) >> 13         # may carry up to infinity
    small: uint32 = as_int32(as_float(size) + 0.5)                        # the addition rounds to 2^-24
    small = small - 0x3F000000
    nan: uint32 = 0x7E00 | size >> 13 & 0x3FF
    out: uint32 = small if size < 0x38800000 else normal
    out = 0x7C00 if size >= 0x47800000 else out                           # 65536 and more
    out = nan if size > 0x7F800000 else out
    return out | bits >> 16 & 0x8000


def float_of(bits: uint32) -> float:
    """The float32 of a float16's bits."""
    size: uint32 = bits & 0x7FFF
    normal: uint32 = (size << 13) + 0x38000000
    small: uint32
    whole: int32 = size
    normal = normal + 0x38000000 if size >= 0x7C00 else normal            # infinity and nan
    normal = normal | 0x400000 if size > 0x7C00 else normal
    small = as_int32(whole * 5.9604644775390625e-08)                      # 2^-24
    return as_float((small if size < 0x400 else normal) | (bits & 0x8000) << 16)


def to_half(x: floats, out: halves, n: int) -> None:
    """float16 numbers' bits."""
    done = narrowed(x, out, n)
    for i in range(done, n):
        out[i] = half_of(x[i])


def from_half(x: halves, out: floats, n: int) -> None:
    """float32 numbers, of the bits of float16."""
    done = widened(x, out, n)
    for i in range(done, n):
        out[i] = float_of(x[i])


def odd(x: double) -> float:
    """x as a float32, of the two next to it the one whose last bit is 1: rounded again, it is as if rounded once."""
    near: float = f32(x)
    bits: int32 = as_int32(near)
    back = f64(near)
    lower = bits - 1 if fabs(back) > fabs(x) else bits
    return as_float(lower | 1 if back != x else bits)


def to_half_double(x: doubles, room: floats, out: halves, n: int) -> None:
    """float16 numbers' bits. room: memory for BLOCK numbers."""
    first = 0
    while first < n:
        count = min(BLOCK, n - first)
        for i in range(count):
            room[i] = odd(x[first + i])
        done = narrowed(room, out[first:], count)
        for i in range(done, count):
            out[first + i] = half_of(room[i])
        first += count


def from_half_double(x: halves, room: floats, out: doubles, n: int) -> None:
    """float64 numbers, of the bits of float16. room: memory for BLOCK numbers."""
    first = 0
    while first < n:
        count = min(BLOCK, n - first)
        done = widened(x[first:], room, count)
        for i in range(done, count):
            room[i] = float_of(x[first + i])
        for i in range(count):
            out[first + i] = room[i]
        first += count


def to_bfloat16(x: floats, out: halves, n: int) -> None:
    """The upper halves of float32 numbers; of nan 0x7FC0 and the sign."""
    done = cut_to_bfloat16(x, out, n)
    for i in range(done, n):
        out[i] = rounded_to_bfloat16(x[i]) >> 16


def from_bfloat16(x: halves, out: floats, n: int) -> None:
    """float32 numbers, whose upper halves these are."""
    bits: uint32
    for i in range(n):
        bits = x[i]
        out[i] = as_float(bits << 16)
