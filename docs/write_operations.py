"""Writes docs/operations.md: every function, method and in-place form, by family, read off the code.

    python docs/write_operations.py
"""

import inspect
import re
from importlib import import_module
from pathlib import Path

import autograd as ag
from autograd import ops
from autograd.tensor_api import binding, conversion

PAGE = Path(__file__).with_name("operations.md")
# Namespaces beside the top level: those that exist.
SPACES = ("special", "linalg", "fft", "signal.windows", "nn.functional", "random")
INTRO = """# Operations

Written by `python docs/write_operations.py` from the code; do not edit. `f` is a function `autograd.f(x)`, `m` a method
`x.m()`, `i` an in-place method `x.m_()`.
"""

# Functions that are declared in one line, exp = elementwise("Exp", np.exp, rule), have no docstring: their formulas.
FORMULAS = {name.strip(): sentence.strip() for name, _, sentence in (line.partition(":") for line in """
    abs: the absolute value; of a complex number its modulus
    absolute: abs
    acos: the arc cosine, in radians
    acosh: the inverse hyperbolic cosine
    airy_ai: the Airy function Ai
    arccos: acos
    arccosh: acosh
    arcsin: asin
    arcsinh: asinh
    arctan: atan
    arctan2: atan2
    arctanh: atanh
    asin: the arc sine, in radians
    asinh: the inverse hyperbolic sine
    atan: the arc tangent, in radians
    atan2: the angle of the point (other, input), in radians, from -pi to pi
    atanh: the inverse hyperbolic tangent
    bessel_j0: the Bessel function of the first kind, of order 0
    bessel_j1: the Bessel function of the first kind, of order 1
    bessel_y0: the Bessel function of the second kind, of order 0
    bessel_y1: the Bessel function of the second kind, of order 1
    bitwise_and: input & other, of integers or bools
    bitwise_left_shift: input << other
    bitwise_not: ~input, of integers or bools
    bitwise_or: input | other, of integers or bools
    bitwise_right_shift: input >> other
    bitwise_xor: input ^ other, of integers or bools
    ceil: the smallest integer that is not below input
    copysign: the magnitude of input with the sign of other
    cos: the cosine of an angle in radians
    cosh: the hyperbolic cosine
    deg2rad: degrees to radians
    digamma: the derivative of lgamma
    entr: -x log(x) where x > 0, 0 at 0, -inf below
    eq: input == other
    erf: the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x
    erfc: 1 - erf(x), accurate where that is near 0
    erfcx: exp(x^2) erfc(x)
    erfinv: the inverse of erf
    exp: e to the power of input
    exp2: 2 to the power of input
    expit: sigmoid
    expm1: exp(input) - 1, accurate near 0
    fix: trunc
    floor: the largest integer that is not above input
    floor_divide: input / other, rounded down
    fmax: the larger of two; where one is nan, the other
    fmin: the smaller of two; where one is nan, the other
    fmod: the remainder of input / other, with the sign of input
    frac: input - trunc(input)
    gammainc: igamma
    gammaincc: igammac
    gammaln: lgamma
    gcd: the greatest common divisor
    ge: input >= other
    greater: input > other
    greater_equal: input >= other
    gt: input > other
    hypot: sqrt(input^2 + other^2), without overflow
    i0: the modified Bessel function of the first kind, of order 0
    i0e: exp(-|x|) i0(x)
    i1: the modified Bessel function of the first kind, of order 1
    i1e: exp(-|x|) i1(x)
    igamma: the regularised lower incomplete gamma function P(input, other)
    igammac: the regularised upper incomplete gamma function, 1 - igamma(input, other)
    isfinite: whether neither infinite nor nan
    isinf: whether infinite
    isnan: whether nan
    isneginf: whether -inf
    isposinf: whether +inf
    isreal: whether the imaginary part is 0
    lcm: the least common multiple
    le: input <= other
    less: input < other
    less_equal: input <= other
    lgamma: the logarithm of the absolute value of the gamma function
    log: the natural logarithm
    log10: the logarithm to the base 10
    log1p: log(1 + input), accurate near 0
    log2: the logarithm to the base 2
    log_ndtr: log(ndtr(x)), accurate for large negative x
    logaddexp: log(exp(input) + exp(other)), without overflow
    logaddexp2: log2(2^input + 2^other), without overflow
    logical_and: whether both are true (not 0)
    logical_not: whether false (0)
    logical_or: whether one is true (not 0)
    logical_xor: whether exactly one is true (not 0)
    lt: input < other
    maximum: the larger of two; nan where one is nan
    minimum: the smaller of two; nan where one is nan
    modified_bessel_i0: i0
    modified_bessel_i1: i1
    modified_bessel_k0: the modified Bessel function of the second kind, of order 0
    modified_bessel_k1: the modified Bessel function of the second kind, of order 1
    mul: input * other
    multiply: mul
    ndtr: the distribution function of the standard normal distribution
    ndtri: the inverse of ndtr
    ne: input != other
    neg: -input
    negative: neg
    nextafter: the next floating point number after input in the direction of other
    not_equal: input != other
    psi: digamma
    rad2deg: radians to degrees
    reciprocal: 1 / input
    relu: input where positive, 0 elsewhere
    remainder: the remainder of input / other, with the sign of other
    rsqrt: 1 / sqrt(input)
    scaled_modified_bessel_k0: exp(x) modified_bessel_k0(x)
    scaled_modified_bessel_k1: exp(x) modified_bessel_k1(x)
    sigmoid: 1 / (1 + exp(-input))
    sign: -1, 0 or 1
    signbit: whether the sign bit is set, of -0.0 too
    sin: the sine of an angle in radians
    sinc: sin(pi input) / (pi input), 1 at 0
    sinh: the hyperbolic sine
    spherical_bessel_j0: sin(x) / x, 1 at 0
    sqrt: the square root
    square: input * input
    tan: the tangent of an angle in radians
    tanh: the hyperbolic tangent
    true_divide: input / other
    trunc: rounded towards 0
    xlog1py: input log1p(other), 0 where input is 0
    xlogy: input log(other), 0 where input is 0
    zeta: the Hurwitz zeta function, the sum of (n + q)^-x over n >= 0
    _is_view: whether the tensor is a view of another
""".strip().splitlines())}


def first_sentence(thing, name=""):
    """The first sentence of a docstring, or the formula of this name, in one line."""
    text = " ".join((inspect.getdoc(thing) or FORMULAS.get(name, "")).split("\n\n")[0].split())
    return re.split(r"(?<!\b[A-Z])\. ", text)[0].rstrip(".").replace("|", "\\|")    # not after an initial


def family(module):
    """A section for one module of operations: its docstring, and a row for each name."""
    functions, methods = set(getattr(module, "__all__", ())), set(getattr(module, "METHODS", ()))
    in_place = set(getattr(module, "IN_PLACE", ()))
    names = sorted(name for name in functions | methods | in_place if not belongs_elsewhere(name, module))
    if not names:
        return ""
    groups = {"f": functions, "m": methods, "i": in_place}
    rows = [f"| `{name}` | {' '.join(kind for kind, group in groups.items() if name in group)} "
            f"| {first_sentence(getattr(module, name), name)} |" for name in names]
    return section(first_sentence(module), "| Name | Forms | |\n|---|---|---|", rows)


def belongs_elsewhere(name, module):
    """Whether the module only passes on what another module of operations defines."""
    home = getattr(getattr(module, name), "__module__", "")
    return (home.startswith(ops.__name__) and not home.split(".")[-1].startswith("_")
            and not f"{home}.".startswith(f"{module.__name__}."))


def section(title, head, rows):
    """A heading and a table."""
    return "\n".join([f"## {title}", "", head, *rows, ""])


def namespace(name):
    """A section for autograd.<name>; empty if there is none."""
    space = ag
    for part in name.split("."):
        space = getattr(space, part, None)
        if space is None:
            return ""
    listed = getattr(space, "__all__", None) or [n for n, v in vars(space).items() if inspect.isfunction(v) and n[0] != "_"
                                                 and v.__module__ == space.__name__]
    rows = [f"| `{n}` | {first_sentence(getattr(space, n), n)} |" for n in sorted(listed)]
    return section(f"autograd.{name}", "| Name | |\n|---|---|", rows)


def page():
    """The whole text."""
    modules = [import_module(f"{ops.__name__}.{name}") for name in ops.FAMILIES]
    bound = {**conversion.METHODS, **binding.OPERATORS}
    rest = [f"| `{n}` | {first_sentence(f, n)} |" for n, f in sorted(bound.items()) if not n.startswith("__")]
    properties = ", ".join(f"`{n}`" for n in sorted(conversion.PROPERTIES))
    methods = section("Methods that are no functions", "| Name | |\n|---|---|", rest)
    parts = [INTRO, *map(family, modules), methods, f"Properties: {properties}.\n", *map(namespace, SPACES)]
    return "\n".join(part for part in parts if part)


if __name__ == "__main__":
    PAGE.write_text(page())
    print(PAGE, len(PAGE.read_text().splitlines()), "lines")
