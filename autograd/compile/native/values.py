"""Instructions of LLVM for single values: constants, conversions, and the elementwise functions as NumPy defines them.

A kind is NumPy's letter and size: "f4", "f8", "i8", "i4", "u1", "b1". Booleans have one bit, and eight in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .formulas import FORMULAS

TYPES = {"f4": "float", "f8": "double", "i8": "i64", "i4": "i32", "u1": "i8", "b1": "i1"}
KINDS: dict[str, str] = {np.dtype(kind).char: kind for kind in TYPES}
KINDS |= {c: f"i{np.dtype(c).itemsize}" for c in "lq" if np.dtype(c).itemsize == 8}      # two C types of 64 bits
INTEGERS = ("i8", "i4", "u1")
SUFFIX = {"f4": "f32", "f8": "f64"}
BITS = {"f4": "i32", "f8": "i64"}
ARITHMETIC = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
# of floats, of signed integers, of unsigned ones
COMPARISONS = {"equal": ("oeq", "eq", "eq"), "not_equal": ("une", "ne", "ne"), "less": ("olt", "slt", "ult"),
               "less_equal": ("ole", "sle", "ule"), "greater": ("ogt", "sgt", "ugt"), "greater_equal": ("oge", "sge", "uge")}
WHOLE = {"add": "add", "subtract": "sub", "multiply": "mul", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
BOOLEAN = {"add": "or", "multiply": "and", "maximum": "or", "minimum": "and", "fmax": "or", "fmin": "and",
           "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "not_equal": "xor"}
LOGICAL = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}
INTRINSIC = {"sqrt": "sqrt", "absolute": "fabs", "floor": "floor", "ceil": "ceil", "rint": "rint", "trunc": "trunc",
             "copysign": "copysign"}
LIBM = {"power": "pow", "arctan2": "atan2", "hypot": "hypot", "exp2": "exp2", "log2": "log2", "log10": "log10", "sin": "sin",
        "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh",
        "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "remainder": "fmod", "floor_divide": "fmod",
        "fmod": "fmod", "nextafter": "nextafter"}
FLOATS = {*ARITHMETIC, *COMPARISONS, *LOGICAL, *INTRINSIC, *FORMULAS, *LIBM, "copy", "select", "maximum", "minimum",
          "fmax", "fmin", "negative", "square", "reciprocal", "sign", "isnan", "isinf", "isfinite", "signbit", "logical_not"}
INTEGER = {*WHOLE, *COMPARISONS, *LOGICAL, "copy", "select", "maximum", "minimum", "fmax", "fmin", "remainder",
           "floor_divide", "negative", "absolute", "square", "sign", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite",
           "logical_not", "invert", "left_shift", "right_shift"}
BOOLEANS = {*BOOLEAN, *LOGICAL, *COMPARISONS, "copy", "select", "logical_not", "invert", "absolute", "isnan", "isinf",
            "isfinite", "floor", "ceil", "trunc"}
FUNCTIONS = {"f": FLOATS, "i": INTEGER, "u": INTEGER, "b": BOOLEANS}


def kind_of(dtype: Any) -> str:
    """The kind of a dtype. KeyError if it has none."""
    return KINDS[np.dtype(dtype).char]


def lacking(name: str, kinds: tuple[str, ...]) -> bool:
    """Whether there is no such function of these kinds."""
    if name in ("left_shift", "right_shift") and kinds[0] == "b1":
        return True
    return name not in FUNCTIONS[kinds[-2][0]]


def identity(name: str, kind: str) -> Any:
    """The number that a reduction starts with."""
    if name in ("add", "logical_or"):
        return 0
    if name in ("multiply", "logical_and"):
        return 1
    if kind[0] == "f":
        return -np.inf if name == "maximum" else np.inf
    if kind == "b1":
        return name == "minimum"
    limits = np.iinfo(kind)
    return limits.min if name == "maximum" else limits.max


def constant(x: Any, kind: str) -> str:
    """A number, as NumPy converts it, in LLVM's text."""
    if kind[0] == "f":                               # the bits of the double of the same value
        return f"0x{int(np.float64(np.dtype(kind).type(x)).view(np.uint64)):016X}"
    if kind == "b1":
        return "true" if x else "false"
    return str(int(np.asarray(x).astype(kind)))


class Values:
    """Lines of a function and the names of its values."""

    def __init__(self, contract: bool) -> None:
        self.lines: list[str] = []
        self.contract: str = "contract " if contract else ""
        self.count: int = 0
        self.functions: dict[str, str] = {}          # of libm: their names, and those of the pointers

    def put(self, text: str, stem: str = "v") -> str:
        """A new value."""
        self.count += 1
        name = f"%{stem}{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def call(self, name: str, kind: str, *args: str) -> str:
        """A call of an intrinsic or a formula of values of one kind."""
        t = TYPES[kind]
        return self.put(f"call {t} @{name}({', '.join(f'{t} {a}' for a in args)})")

    def intrinsic(self, name: str, kind: str, *args: str) -> str:
        """A function of LLVM's."""
        return self.call(f"llvm.{name}.{SUFFIX.get(kind, TYPES[kind])}", kind, *args)

    def libm(self, name: str, kind: str, *args: str) -> str:
        """A function of the C library, by its address."""
        symbol, t = name + ("f" if kind == "f4" else ""), TYPES[kind]
        pointer = self.functions.setdefault(symbol, f"%f_{symbol}")
        return self.put(f"call {t} {pointer}({', '.join(f'{t} {a}' for a in args)}) #2")

    def select(self, condition: str, kind: str, a: str, b: str) -> str:
        """a where the condition holds, b elsewhere."""
        return self.put(f"select i1 {condition}, {TYPES[kind]} {a}, {TYPES[kind]} {b}")

    def compare(self, name: str, kind: str, a: str, b: str) -> str:
        """A comparison of two values."""
        how = COMPARISONS[name]
        if kind[0] == "f":
            return self.put(f"fcmp {how[0]} {TYPES[kind]} {a}, {b}")
        return self.put(f"icmp {how[1 if kind[0] == 'i' else 2]} {TYPES[kind]} {a}, {b}")

    def convert(self, x: str, old: str, new: str) -> str:
        """x in another kind, as C converts."""
        if old == new:
            return x
        a, b = TYPES[old], TYPES[new]
        if new == "b1":
            return self.put(f"fcmp une {a} {x}, {constant(0, old)}" if old[0] == "f" else f"icmp ne {a} {x}, 0")
        if old[0] == "f" and new[0] == "f":
            return self.put(f"{'fpext' if new == 'f8' else 'fptrunc'} {a} {x} to {b}")
        if old[0] == "f":                            # frozen: it is some number where x does not fit
            wide = "i32" if new == "u1" else b
            x = self.put(f"freeze {wide} {self.put(f'fptosi {a} {x} to {wide}')}")
            return self.put(f"trunc i32 {x} to i8") if new == "u1" else x
        signed = "s" if old[0] == "i" else "u"
        if new[0] == "f":
            return self.put(f"{signed}itofp {a} {x} to {b}")
        narrower = int(new[1]) < int(old[1]) and old != "b1"
        return self.put(f"{'trunc' if narrower else signed.replace('u', 'z') + 'ext'} {a} {x} to {b}")

    # --- elementwise functions --------------------------------------------------------------------------------------------

    def function(self, name: str, kinds: tuple[str, ...], numbers: list[Any], *args: str) -> str:
        """name(*args) of `kinds`, those of the arguments and the result; `numbers`: its constant arguments, else None."""
        kind = kinds[-2]
        if name == "copy":
            return args[0]
        if name == "select":
            return self.select(args[0], kind, args[1], args[2])
        if name in LOGICAL or name == "logical_not":
            bits = [self.convert(x, kind, "b1") for x in args]
            return self.put(f"xor i1 {bits[0]}, true" if len(bits) == 1 else f"{LOGICAL[name]} i1 {bits[0]}, {bits[1]}")
        if kind == "b1":
            return self.of_booleans(name, *args)
        if name in COMPARISONS:
            return self.compare(name, kind, *args)
        if kind[0] == "f":
            return self.of_floats(name, kind, numbers, *args)
        return self.of_integers(name, kind, *args)

    def of_booleans(self, name: str, *args: str) -> str:
        """A function of booleans."""
        if name in BOOLEAN:
            return self.put(f"{BOOLEAN[name]} i1 {args[0]}, {args[1]}")
        if name in COMPARISONS:
            return self.compare(name, "b1", *args)
        if name == "invert":
            return self.put(f"xor i1 {args[0]}, true")
        return {"isnan": "false", "isinf": "false", "isfinite": "true"}.get(name, args[0])

    def of_floats(self, name: str, kind: str, numbers: list[Any], *args: str) -> str:
        """A function of floats."""
        t, zero = TYPES[kind], constant(0, kind)
        if name in ARITHMETIC:
            return self.put(f"{ARITHMETIC[name]} {self.contract}{t} {args[0]}, {args[1]}")
        if name in FORMULAS:
            return self.call(f"{name}_{kind}", kind, *args)
        if name in INTRINSIC:
            return self.intrinsic(INTRINSIC[name], kind, *args)
        if name in ("maximum", "minimum", "fmax", "fmin"):
            return self.extreme(name, kind, numbers, *args)
        if name == "negative":
            return self.put(f"fneg {t} {args[0]}")
        if name == "square":
            return self.of_floats("multiply", kind, numbers, args[0], args[0])
        if name == "reciprocal":
            return self.of_floats("divide", kind, numbers, constant(1, kind), args[0])
        if name == "power" and numbers[1] in (1, 2, 3, -1):
            return self.whole_power(kind, args[0], int(numbers[1]))
        if name in ("remainder", "floor_divide"):
            return self.division(name, kind, *args)
        if name in LIBM:
            return self.libm(LIBM[name], kind, *args)
        x = args[0]
        if name == "sign":
            below = self.select(self.compare("less", kind, x, zero), kind, constant(-1, kind), zero)
            y = self.select(self.compare("greater", kind, x, zero), kind, constant(1, kind), below)
            return self.select(self.of_floats("isnan", kind, numbers, x), kind, x, y)
        if name == "isnan":
            return self.put(f"fcmp uno {t} {x}, {x}")
        if name == "signbit":
            return self.put(f"icmp slt {BITS[kind]} {self.put(f'bitcast {t} {x} to {BITS[kind]}')}, 0")
        size = self.intrinsic("fabs", kind, x)
        return self.compare("equal" if name == "isinf" else "less", kind, size, constant(np.inf, kind))

    def extreme(self, name: str, kind: str, numbers: list[Any], a: str, b: str) -> str:
        """maximum and minimum, of which nan is nan, and fmax and fmin, of which it is the other."""
        if numbers[1] is not None:                   # the constant first: a comparison with nan gives the second
            a, b, numbers = b, a, numbers[::-1]
        y = self.select(self.compare("greater" if name in ("maximum", "fmax") else "less", kind, a, b), kind, a, b)
        first = name in ("fmax", "fmin")
        if first or numbers[0] is None or numbers[0] != numbers[0]:
            x = b if first else a
            y = self.select(self.put(f"fcmp uno {TYPES[kind]} {x}, {x}"), kind, a, y)
        return y

    def whole_power(self, kind: str, x: str, n: int) -> str:
        """x to the power of -1, 1, 2 or 3."""
        if n == 1:
            return x
        if n < 0:
            return self.of_floats("reciprocal", kind, [None], x)
        y = self.of_floats("square", kind, [None], x)
        return y if n == 2 else self.of_floats("multiply", kind, [None] * 2, y, x)

    def division(self, name: str, kind: str, a: str, b: str) -> str:
        """The remainder with the sign of the divisor, or the quotient rounded down, as NumPy's npy_divmod."""
        zero = constant(0, kind)
        rest = self.libm("fmod", kind, a, b)
        exact = self.compare("equal", kind, rest, zero)
        signs = self.put(f"xor i1 {self.compare('less', kind, b, zero)}, {self.compare('less', kind, rest, zero)}")
        signs = self.put(f"and i1 {signs}, {self.put(f'xor i1 {exact}, true')}")
        if name == "remainder":
            moved = self.select(signs, kind, self.put(f"fadd {TYPES[kind]} {rest}, {b}"), rest)
            y = self.select(exact, kind, self.intrinsic("copysign", kind, zero, b), moved)
            return self.select(self.compare("equal", kind, b, zero), kind, rest, y)
        t = TYPES[kind]
        ratio = self.put(f"fdiv {t} {a}, {b}")
        quotient = self.put(f"fdiv {t} {self.put(f'fsub {t} {a}, {rest}')}, {b}")
        quotient = self.select(signs, kind, self.put(f"fsub {t} {quotient}, {constant(1, kind)}"), quotient)
        down = self.intrinsic("floor", kind, quotient)
        over = self.compare("greater", kind, self.put(f"fsub {t} {quotient}, {down}"), constant(0.5, kind))
        down = self.select(over, kind, self.put(f"fadd {t} {down}, {constant(1, kind)}"), down)
        none = self.compare("equal", kind, quotient, zero)
        down = self.select(none, kind, self.intrinsic("copysign", kind, zero, ratio), down)
        return self.select(self.compare("equal", kind, b, zero), kind, ratio, down)

    def of_integers(self, name: str, kind: str, *args: str) -> str:
        """A function of integers; they wrap around."""
        t, signed, a = TYPES[kind], kind[0] == "i", args[0]
        if name in WHOLE:
            return self.put(f"{WHOLE[name]} {t} {a}, {args[1]}")
        if name in ("maximum", "fmax", "minimum", "fmin"):
            return self.select(self.compare("greater" if "max" in name else "less", kind, *args), kind, *args)
        if name == "square":
            return self.put(f"mul {t} {a}, {a}")
        if name == "negative":
            return self.put(f"sub {t} 0, {a}")
        if name == "invert":
            return self.put(f"xor {t} {a}, -1")
        if name in ("absolute", "sign"):
            below, above = self.compare("less", kind, a, "0"), self.compare("greater", kind, a, "0")
            if name == "absolute":
                return self.select(below, kind, self.put(f"sub {t} 0, {a}"), a)
            return self.select(below, kind, "-1", self.put(f"zext i1 {above} to {t}"))
        if name in ("left_shift", "right_shift"):
            bits = 8 * int(kind[1])
            inside = self.put(f"icmp ult {t} {args[1]}, {bits}")
            by = self.select(inside, kind, args[1], "0")
            if name == "left_shift":
                return self.select(inside, kind, self.put(f"shl {t} {a}, {by}"), "0")
            beyond = self.put(f"ashr {t} {a}, {bits - 1}") if signed else "0"
            return self.select(inside, kind, self.put(f"{'a' if signed else 'l'}shr {t} {a}, {by}"), beyond)
        if name in ("floor_divide", "remainder"):
            return self.whole_division(name, kind, *args)
        return {"isnan": "false", "isinf": "false", "isfinite": "true"}.get(name, a)

    def whole_division(self, name: str, kind: str, a: str, b: str) -> str:
        """The quotient rounded down or its remainder; 0 for the divisor 0."""
        t, signed = TYPES[kind], "s" if kind[0] == "i" else "u"
        none = self.put(f"icmp eq {t} {b}, 0")
        if signed == "s":                            # -1 apart: the least number by -1 would trap
            minus = self.put(f"icmp eq {t} {b}, -1")
            none_or_minus = self.put(f"or i1 {none}, {minus}")
        else:
            minus, none_or_minus = "false", none
        by = self.select(none_or_minus, kind, "1", b)
        quotient, rest = self.put(f"{signed}div {t} {a}, {by}"), self.put(f"{signed}rem {t} {a}, {by}")
        if signed == "s":
            differ = self.put(f"icmp slt {t} {self.put(f'xor {t} {rest}, {by}')}, 0")
            differ = self.put(f"and i1 {differ}, {self.put(f'icmp ne {t} {rest}, 0')}")
            quotient = self.select(differ, kind, self.put(f"sub {t} {quotient}, 1"), quotient)
            rest = self.select(differ, kind, self.put(f"add {t} {rest}, {by}"), rest)
        if name == "remainder":
            return self.select(none_or_minus, kind, "0", rest)
        y = self.select(none, kind, "0", quotient)
        return self.select(minus, kind, self.put(f"sub {t} 0, {a}"), y)
