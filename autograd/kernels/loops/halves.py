"""Conversions between float32 and the halves, float16 and bfloat16, to nearest, ties to even."""

from .scalars import as_float, as_int32, floats, halves, int32, uint32


def half_of(x: float) -> uint32:
    """The bits of a float32 as a float16; the upper bits of a nan stay, as in NumPy."""
    bits: uint32 = as_int32(x)
    size: uint32 = bits & 0x7FFFFFFF
    normal: uint32 = (size - 0x37FFF001 + (size >> 13 & 1)) >> 13         # may carry up to infinity
    small: uint32 = as_int32(as_float(size) + 0.5)                        # the addition rounds to 2^-24
    small = small - 0x3F000000
    nan: uint32 = 0x7C00 | size >> 13 & 0x3FF
    out: uint32 = small if size < 0x38800000 else normal
    nan = 0x7C01 if nan == 0x7C00 else nan
    out = 0x7C00 if size >= 0x47800000 else out                           # 65536 and more
    out = nan if size > 0x7F800000 else out
    return out | bits >> 16 & 0x8000


def to_half(x: floats, out: halves, n: int) -> None:
    """float16 numbers' bits."""
    for i in range(n):
        out[i] = half_of(x[i])


def from_half(x: halves, out: floats, n: int) -> None:
    """float32 numbers, of the bits of float16."""
    bits: uint32
    size: uint32
    normal: uint32
    small: uint32
    whole: int32
    for i in range(n):
        bits = x[i]
        size = bits & 0x7FFF
        normal = (size << 13) + 0x38000000
        normal = normal + 0x38000000 if size >= 0x7C00 else normal        # infinity and nan
        whole = size
        small = as_int32(whole * 5.9604644775390625e-08)                  # 2^-24
        out[i] = as_float((small if size < 0x400 else normal) | (bits & 0x8000) << 16)


def to_bfloat16(x: floats, out: halves, n: int) -> None:
    """The upper halves of float32 numbers; of nan 0x7FC0."""
    bits: uint32
    rounded: uint32
    for i in range(n):
        bits = as_int32(x[i])
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        out[i] = 0x7FC0 if bits & 0x7FFFFFFF > 0x7F800000 else rounded
