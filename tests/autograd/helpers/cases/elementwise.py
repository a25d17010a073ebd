"""Rows for the elementwise operations beyond basic.py: arithmetic, powers, angles, rounding, choices, special functions."""

from .row import Case

POSITIVE, UNIT, WIDE = (0.2, 3.0), (-0.9, 0.9), (-3.0, 3.0)
WHOLE = tuple(float(k) for k in range(-4, 5))
HALVES = tuple(k + 0.5 for k in range(-4, 4))


def named(t, name):
    return getattr(t.special if name.startswith("special.") else t, name.removeprefix("special."))


UNARY = [Case(name, lambda t, x, name=name: named(t, name)(x), [(3, 4)], domain, kinks=kinks) for name, domain, kinks in [
    ("absolute", WIDE, (0,)), ("negative", WIDE, ()), ("positive", WIDE, ()), ("exp2", WIDE, ()), ("log2", POSITIVE, ()),
    ("log10", POSITIVE, ()), ("tan", (-1.2, 1.2), ()), ("asin", UNIT, ()), ("acos", UNIT, ()), ("atan", WIDE, ()),
    ("sinh", WIDE, ()), ("cosh", WIDE, ()), ("asinh", WIDE, ()), ("acosh", (1.2, 4.0), ()), ("atanh", UNIT, ()),
    ("sinc", WIDE, ()), ("deg2rad", WIDE, ()), ("rad2deg", WIDE, ()), ("frac", WIDE, WHOLE), ("floor", WIDE, WHOLE),
    ("ceil", WIDE, WHOLE), ("trunc", WIDE, WHOLE), ("fix", WIDE, WHOLE), ("round", WIDE, HALVES), ("sign", WIDE, (0,)),
    ("angle", WIDE, (0,)), ("nan_to_num", WIDE, ()), ("real", WIDE, ()), ("logit", (0.1, 0.9), ()),
    ("erf", WIDE, ()), ("erfc", WIDE, ()), ("erfinv", UNIT, ()), ("lgamma", POSITIVE, ()),
    ("i0", WIDE, ()), ("special.i0e", WIDE, (0,)), ("special.i1", WIDE, ()), ("special.i1e", WIDE, (0,)),
    ("special.entr", POSITIVE, ()), ("special.erfcx", WIDE, ()), ("special.ndtr", WIDE, ()), ("special.ndtri", (0.1, 0.9), ()),
    ("special.log_ndtr", (-8, 4), ())]]

BINARY = [Case(f"{name} {shapes}", lambda t, x, y, name=name: named(t, name)(x, y), shapes, domain, kinks=kinks)
          for name, domain, kinks in [
              ("rsub", WIDE, ()), ("true_divide", POSITIVE, ()), ("atan2", WIDE, ()), ("hypot", WIDE, ()), ("fmax", WIDE, ()),
              ("fmin", WIDE, ()), ("logaddexp", WIDE, ()), ("logaddexp2", WIDE, ()), ("ldexp", WIDE, ()),
              ("copysign", WIDE, (0,)), ("xlogy", POSITIVE, ()), ("special.xlog1py", POSITIVE, ())]
          for shapes in ([(3, 4), (3, 4)], [(3, 1), (2, 1, 4)], [(), (3,)])]
REMAINDERS = [Case(f"{name} {shapes}", lambda t, x, y, name=name: getattr(t, name)(x * 7, y), shapes, (0.6, 1.4))
              for name in ("remainder", "fmod") for shapes in ([(4,), (4,)], [(3, 1), (4,)])]

SETTINGS = [Case(name, call, shapes, domain, kinks=kinks) for name, call, shapes, domain, kinks in [
    ("add alpha", lambda t, x, y: t.add(x, y, alpha=2.5), [(3, 4), (4,)], WIDE, ()),
    ("sub alpha", lambda t, x, y: x.sub(y, alpha=-2), [(3, 4), ()], WIDE, ()),
    ("rsub alpha", lambda t, x, y: t.rsub(x, y, alpha=3), [(3, 4), (4,)], WIDE, ()),
    ("div floor", lambda t, x, y: t.div(x, y, rounding_mode="floor"), [(5,), (5,)], (0.6, 0.9), ()),
    ("div trunc", lambda t, x, y: t.div(x, y, rounding_mode="trunc"), [(5,), (5,)], (0.6, 0.9), ()),
    ("remainder by number", lambda t, x: x % 0.7, [(5,)], (0.75, 1.3), ()),
    ("number by remainder", lambda t, x: x.fmod(0.7), [(5,)], (0.75, 1.3), ()),
    ("pow number", lambda t, x: x ** 3 + x ** 2 + x ** 0.5 + x ** -1.5 + x ** 1 + x ** 0, [(3, 4)], POSITIVE, ()),
    ("number pow", lambda t, x: 2.5 ** x + t.pow(3, x), [(3, 4)], WIDE, ()),
    ("round decimals", lambda t, x: t.round(x, decimals=1), [(5,)], (0.11, 0.14), ()),
    ("round tens", lambda t, x: t.round(x * 100, decimals=-1), [(5,)], (0.46, 0.54), ()),
    ("frexp", lambda t, x: t.frexp(x)[0], [(5,)], (1.1, 1.9), ()),
    ("lerp number", lambda t, x, y: t.lerp(x, y, 0.3), [(3, 4), (4,)], WIDE, ()),
    ("lerp tensor", lambda t, x, y, w: t.lerp(x, y, w), [(3, 4), (4,), (3, 1)], WIDE, ()),
    ("addcmul", lambda t, x, a, b: t.addcmul(x, a, b, value=0.5), [(3, 4), (4,), (3, 1)], WIDE, ()),
    ("addcdiv", lambda t, x, a, b: x.addcdiv(a, b, value=-2), [(3, 4), (4,), (3, 1)], POSITIVE, ()),
    ("clamp tensors", lambda t, x, a, b: t.clamp(x, a, b), [(3, 4), (4,), (3, 1)], WIDE, ()),
    ("clamp min tensor", lambda t, x, a: t.clamp_min(x, a), [(3, 4), (4,)], WIDE, ()),
    ("clip max tensor", lambda t, x, a: x.clip(max=a), [(3, 4), (4,)], WIDE, ()),
    ("clamp_max", lambda t, x: t.clamp_max(x, 0.5), [(3, 4)], WIDE, (0.5,)),
    ("where method", lambda t, x, y: x.where(x > 0.3, y), [(3, 4), (4,)], WIDE, (0.3,)),
    ("where number", lambda t, x: t.where(x > 0, 2.0, x), [(3, 4)], WIDE, (0,)),
    ("logit eps", lambda t, x: t.logit(x, 0.2), [(3, 4)], (0, 1), (0.2, 0.8)),
    ("polygamma 2", lambda t, x: t.polygamma(2, x), [(3, 4)], (0.8, 3), ()),
    ("polygamma method", lambda t, x: x.polygamma(3), [(3, 4)], (0.8, 3), ()),
    ("mvlgamma", lambda t, x: t.mvlgamma(x, 3), [(3, 4)], (1.5, 4), ()),
    ("zeta", lambda t, x: t.special.zeta(t.full((4,), 2.5, dtype=x.dtype), x), [(4,)], (0.8, 3), ()),
    ("igamma", lambda t, x: t.igamma(t.full((4,), 2.5, dtype=x.dtype), x), [(4,)], POSITIVE, ()),
    ("igammac", lambda t, x: t.special.gammaincc(t.full((4,), 0.5, dtype=x.dtype), x), [(4,)], POSITIVE, ())]]

CASES = UNARY + BINARY + REMAINDERS + SETTINGS
