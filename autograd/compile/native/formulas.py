"""Elementary functions for vectors: written once, in operators, for float32 and float64.

exp, expm1 and tanh reduce the argument by multiples of log(2) (Cephes); log and log1p are fdlibm's. Errors are at most 2
units in the last place. exp overflows to inf and underflows through the subnormal numbers to 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np

from ...kernels.coefficients import ERF, ERFCX


class Precision:
    """Constants of float32 or float64."""

    def __init__(self, kind: str, mantissa: int, **constants: Any) -> None:
        self.kind: str = kind
        self.bits: int = 8 * int(kind[1])
        self.type: str = {"f4": "float", "f8": "double"}[kind]
        self.mantissa: int = mantissa
        self.bias: int = (1 << (self.bits - mantissa - 2)) - 1
        self.whole: float = 1.5 * 2.0 ** mantissa    # adding it rounds to a whole number, which the last bits then hold
        self.tiny: float = 2.0 ** (1 - self.bias)    # below, numbers are subnormal
        self.__dict__.update(constants)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


# the highest powers first: of exp (e^r - 1 - r) / r^2, of log (log(1 + f) - ...) / z as in fdlibm
SINGLE = Precision(
    "f4", 23, highest=89.0, lowest=-104.0, least=-18.0, ln2=(0.693359375, -2.12194440e-4),
    log_ln2=(6.9313812256e-01, 9.0580006145e-06),
    exp=(1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1),
    log=(0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693), root_half=0x3F3504F3)
DOUBLE = Precision(
    "f8", 52, highest=710.0, lowest=-746.0, least=-40.0, ln2=(6.93145751953125e-1, 1.42860682030941723212e-6),
    log_ln2=(6.93147180369123816490e-01, 1.90821492927058770002e-10),
    exp=tuple([1 / factorial(k) for k in range(14, 1, -1)]),
    log=(1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
         2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01), root_half=0x3FE6A09E00000000)
ERF_EXPONENT = (-1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2, -1.06777877e-1, -6.34846687e-1, -1.28717512e-1)
ERF_NEAR = (-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1)


class Value:
    """A value of a formula: a float, its bits as a signed integer, or a condition. Operators append instructions."""

    __slots__ = ("lines", "name", "of", "type")

    def __init__(self, of: Precision, lines: list[str], name: str, kind: str) -> None:
        self.of: Precision = of
        self.lines: list[str] = lines
        self.name: str = name
        self.type: str = kind

    def new(self, text: str, kind: str) -> Value:
        """The value of an instruction."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return Value(self.of, self.lines, name, kind)

    def text(self, other: Any) -> str:
        """An operand of this value's type: a value or a number."""
        if isinstance(other, Value):
            return other.name
        if self.type[0] == "i":
            return str(int(other))
        return f"0x{int(np.float64(np.dtype(self.of.kind).type(other)).view(np.uint64)):016X}"

    def binary(self, names: tuple[str, str], a: str, b: str) -> Value:
        """An instruction for floats or for integers."""
        return self.new(f"{names[self.type[0] == 'i']} {self.type} {a}, {b}", self.type)

    def __add__(self, other: Any) -> Value:
        return self.binary(("fadd", "add"), self.name, self.text(other))

    def __sub__(self, other: Any) -> Value:
        return self.binary(("fsub", "sub"), self.name, self.text(other))

    def __rsub__(self, other: Any) -> Value:
        return self.binary(("fsub", "sub"), self.text(other), self.name)

    def __mul__(self, other: Any) -> Value:
        return self.binary(("fmul", "mul"), self.name, self.text(other))

    def __truediv__(self, other: Any) -> Value:
        return self.binary(("fdiv", "sdiv"), self.name, self.text(other))

    def __rtruediv__(self, other: Any) -> Value:
        return self.binary(("fdiv", "sdiv"), self.text(other), self.name)

    def __neg__(self) -> Value:
        return self.new(f"fneg {self.type} {self.name}", self.type)

    def __and__(self, other: Any) -> Value:
        return self.binary(("", "and"), self.name, self.text(other))

    def __lshift__(self, other: Any) -> Value:
        return self.binary(("", "shl"), self.name, self.text(other))

    def __rshift__(self, other: Any) -> Value:
        return self.binary(("", "ashr"), self.name, self.text(other))

    def is_(self, relation: str, other: Any) -> Value:
        """A condition: relation is "lt", "gt", "le", "ge" or "eq"; false for nan."""
        how = f"icmp {relation if relation == 'eq' else 's' + relation}" if self.type[0] == "i" else f"fcmp o{relation}"
        return self.new(f"{how} {self.type} {self.name}, {self.text(other)}", "i1")

    def choose(self, a: Any, b: Any) -> Value:
        """a where this condition holds, b elsewhere; one of them is a value."""
        value = a if isinstance(a, Value) else b
        return self.new(f"select i1 {self.name}, {value.type} {value.text(a)}, {value.type} {value.text(b)}", value.type)

    def fma(self, factor: Any, term: Any) -> Value:
        """self * factor + term, rounded once where the processor has that."""
        return self.intrinsic("fmuladd", factor, term)

    def intrinsic(self, name: str, *more: Any) -> Value:
        """A function of LLVM's."""
        args = ", ".join(f"{self.type} {x}" for x in (self.name, *map(self.text, more)))
        return self.new(f"call {self.type} @llvm.{name}.f{self.of.bits}({args})", self.type)

    def as_bits(self) -> Value:
        """A float's bits."""
        return self.new(f"bitcast {self.type} {self.name} to i{self.of.bits}", f"i{self.of.bits}")

    def as_float(self) -> Value:
        """The float of these bits."""
        return self.new(f"bitcast {self.type} {self.name} to {self.of.type}", self.of.type)

    def polynomial(self, coefficients: Any) -> Value:
        """Horner's scheme, the highest power first."""
        y: Any = coefficients[0]
        for c in coefficients[1:]:
            y = self.fma(y, c)
        made: Value = y
        return made


def pattern(x: float, kind: str) -> int:
    """The bits of a number."""
    return int(np.dtype(kind).type(x).view(f"i{kind[1]}"))


def reduced(x: Value) -> tuple[Value, Value, Value]:
    """(e^r - 1, h, n - h) with x = n log(2) + r and h = n // 2; x at most what gives inf."""
    of = x.of
    x = x.is_("gt", of.highest).choose(of.highest, x)        # nan stays
    shifted = x.fma(1.4426950408889634, of.whole)
    k = shifted - of.whole
    r = k.fma(-of.ln2[1], k.fma(-of.ln2[0], x))
    n = shifted.as_bits() - pattern(of.whole, of.kind)
    half = n >> 1
    return r.polynomial(of.exp).fma(r * r, r), half, n - half


def power(n: Value) -> Value:
    """2 to the power n."""
    return ((n + n.of.bias) << n.of.mantissa).as_float()


def exp(x: Value) -> Value:
    """e to the power x."""
    nothing = x.is_("lt", x.of.lowest)
    y, first, second = reduced(nothing.choose(0, x))
    return nothing.choose(0, (y + 1) * power(first) * power(second))     # by itself 0 would take 100 times as long


def expm1(x: Value) -> Value:
    """e^x - 1."""
    y, first, second = reduced(x.is_("lt", x.of.least).choose(x.of.least, x))
    return y.fma(power(first), power(first) - power(0 - second)) * power(second)


def tanh(x: Value) -> Value:
    """With t = e^(2 |x|) - 1: t / (t + 2) near 0, elsewhere 1 - 2 / (t + 2)."""
    a = x.intrinsic("fabs")
    t = expm1(a + a)
    below = t + 2
    far = a.is_("gt", 0.5)
    y = far.choose(-2, t) / below
    near = y - y * ((t - (below - 2)) * 0.45)        # what t + 2 lost by rounding, over some 2.2
    return far.choose(y + 1, near).intrinsic("copysign", x)


def split(x: Value) -> tuple[Value, Value]:
    """(f, k): x = 2^k (1 + f), 1 + f from sqrt(1/2) to sqrt(2)."""
    of = x.of
    moved = x.as_bits() + (pattern(1, of.kind) - of.root_half)
    f = ((moved & ((1 << of.mantissa) - 1)) + of.root_half).as_float() - 1
    k = ((moved >> of.mantissa) + (pattern(of.whole, of.kind) - of.bias)).as_float() - of.whole
    return f, k


def logarithm(f: Value, k: Value, rest: Any) -> Value:
    """log(2^k (1 + f)) + rest."""
    high, low = f.of.log_ln2
    s = f / (f + 2)
    z = s * s
    half = f * f * 0.5
    y = s * (half + z * z.polynomial(f.of.log)) + (k.fma(low, rest) if isinstance(rest, Value) else k * low)
    return y - half + f + k * high


def ends(x: Value, y: Value, zero: float) -> Value:
    """y above `zero`; -inf there, nan below it and of nan, inf of inf."""
    y = x.is_("gt", zero).choose(y, x.is_("eq", zero).choose(-np.inf, x * np.nan))
    return x.is_("eq", np.inf).choose(x, y)


def log(x: Value) -> Value:
    """The natural logarithm."""
    of = x.of
    small = x.is_("lt", of.tiny)
    f, k = split(small.choose(x * 2.0 ** (of.mantissa + 2), x))
    return ends(x, logarithm(f, small.choose(k - (of.mantissa + 2), k), 0), 0)


def log1p(x: Value) -> Value:
    """log(1 + x), with what 1 + x loses by rounding."""
    u = x + 1
    f, k = split(u)
    lost = k.is_("ge", 2).choose(1 - (u - x), x - (u - 1)) / u
    return ends(x, logarithm(f, k, lost), -1)


def erf(x: Value) -> Value:
    """The error function: a series near 0, and 1 - erfc(|x|) with an exponential."""
    a, s = x.intrinsic("fabs"), x * x
    if x.of is SINGLE:                               # N. Juffa, stackoverflow.com/a/35148199
        far = 1 - exp(a.polynomial(ERF_EXPONENT).fma(a, -a))
        return a.is_("gt", 0.927734375).choose(far.intrinsic("copysign", x), s.polynomial(ERF_NEAR).fma(x, x))
    series = np.polynomial.Polynomial(np.polynomial.chebyshev.cheb2poly(ERF))(np.polynomial.Polynomial([-1, 2])).coef
    near = s.polynomial([*series[:0:-1].tolist(), float(series[0]) - 1]).fma(x, x)
    a = a.is_("gt", 6).choose(6, a)
    tail = ((a - 3.75) / (a + 3.75)).polynomial(np.polynomial.chebyshev.cheb2poly(ERFCX)[::-1].tolist())
    far = 1 - exp(-(a * a)) * tail / (a * 2 + 1)
    return a.is_("gt", 1).choose(far.intrinsic("copysign", x), near)


def power_of_two(x: Value) -> Value:
    """The least power of two above x > 0, such that its inverse is finite; 1 of 0, inf and nan."""
    of = x.of
    y = (x.as_bits() & pattern(np.inf, of.kind)).as_float() * 2
    y = y.is_("lt", 2 * of.tiny).choose(2 * of.tiny, y)
    y = y.is_("gt", 2.0 ** of.bias).choose(2.0 ** of.bias, y)
    y = x.is_("lt", np.inf).choose(y, 1)
    return x.is_("gt", 0).choose(y, 1)


FORMULAS: dict[str, Callable[[Value], Value]] = {
    "exp": exp, "expm1": expm1, "tanh": tanh, "log": log, "log1p": log1p, "erf": erf,
    "power_of_two": power_of_two}


def definition(name: str, kind: str) -> str:
    """The formula as a function of LLVM, inlined where it is called."""
    of = SINGLE if kind == "f4" else DOUBLE
    lines: list[str] = []
    y = FORMULAS[name](Value(of, lines, "%x", of.type))
    body = "\n".join(lines)
    return f"define internal {of.type} @{name}_{kind}({of.type} %x) alwaysinline {{\n{body}\n  ret {of.type} {y.name}\n}}\n"
