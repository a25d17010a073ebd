"""Every elementwise function of every dtype against NumPy, special values included; formulas against exact values."""

import itertools
import math

import numpy as np
import pytest
from programs import given, new

from autograd.compile.lowering.ir import ELEMENTWISE, Op
from autograd.compile.native import Native, available, unsupported
from autograd.kernels.norms import power_of_two

pytestmark = [pytest.mark.quick, pytest.mark.skipif(bool(available()), reason=available())]
KINDS = ("f4", "f8", "i8", "i4", "u1", "?")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, 2.0, 3.0, 7.25, 1e-3, -1e-3, 1e-40, -1e-40, 30.0, -30.0, 88.9, -104.5, 1e10, -1e10, 3e38,
           np.inf, -np.inf, np.nan]
WHOLE = [0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 63, 64, 100, -100, 127, -128, 2**31 - 1, -2**31]
FORMULA = ("exp", "expm1", "tanh", "log", "log1p", "erf")


def arguments(name, kind):
    """All pairs of special values, or these for functions of one argument."""
    values = np.array(SPECIAL) if kind[0] == "f" else np.array(WHOLE) if kind != "?" else np.array([False, True])
    values = np.unique(values.astype(kind)) if kind == "u1" else values.astype(kind)
    if name == "select":
        return [np.tile([True, False], len(values)), np.repeat(values, 2), np.repeat(values[::-1], 2)]
    count = 1 if name in ("copy", "erf", "power_of_two") else getattr(np, name).nin
    return [values] if count == 1 else [np.array(x, kind) for x in zip(*itertools.product(values, values))]


def expected(name, args):
    with np.errstate(all="ignore"):
        if name == "select":
            return np.where(*args)
        if name == "copy":
            return args[0]
        if name == "erf":
            return np.vectorize(math.erf, otypes=[args[0].dtype])(args[0])
        if name == "power_of_two":                   # of magnitudes
            return power_of_two(np.maximum(args[0], 0))
        return getattr(np, name)(*args)


def cases():
    """(name, arguments, result of NumPy) for all that NumPy has."""
    for name, kind in itertools.product(sorted(ELEMENTWISE), KINDS):
        if name in ("erf", "power_of_two") and kind not in ("f4", "f8"):
            continue
        args = arguments(name, kind)
        try:
            yield name, kind, args, expected(name, args)
        except TypeError:                            # NumPy has none
            continue
        except ValueError:                           # integers to negative integer powers
            yield name, kind, args, None


def test_functions():
    """One program of all of them. What is not native is what is listed here."""
    ops, results, refused = [], [], set()
    for name, kind, args, value in cases():
        if value is None or value.dtype.char in "eb":        # of uint8 and bool, in float16
            op = Op("map", name, [new(args[0].shape, kind)], [given(x) for x in args])
            assert unsupported(op)
            continue
        op = Op("map", name, [new(value.shape, value.dtype)], [given(x) for x in args])
        if unsupported(op):
            refused.add((name, kind))
            continue
        ops.append(op)
        results.append((name, kind, args, value, op.out))
    native = Native(ops)
    native.run()
    for name, kind, args, value, out in results:
        got = native.array(out)
        if value.dtype.kind != "f":
            bad = got != value
        else:
            bad = ~((got == value) | (np.isnan(got) & np.isnan(value)))
            close = np.isfinite(got) & np.isfinite(value)
            with np.errstate(all="ignore"):
                bad &= ~(close & (np.abs(got - value) <= 2 * np.maximum(np.spacing(np.abs(value)), np.spacing(value.dtype.type(0)))))
        where = np.flatnonzero(bad)[:3]
        assert not where.size, f"{name} of {kind}: {[[a[n] for a in args] for n in where]} gave {got[where]}, NumPy {value[where]}"
    assert refused == REFUSED


REFUSED = {("power", "u1"), *[(name, kind) for name in ("reciprocal", "fmod") for kind in ("i8", "i4", "u1")], ("signbit", "u1"), ("signbit", "?")}


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_formulas_over_their_range(kind):
    """At most 2 units in the last place from the correctly rounded value, on points of all sizes."""
    rng = np.random.default_rng(0)
    info = np.finfo(kind)
    wide = np.exp2(rng.uniform(info.minexp - 20, info.maxexp, 2000)) * rng.choice([-1, 1], 2000)
    points = np.concatenate([wide, rng.uniform(-3, 3, 4000), rng.uniform(-90, 90, 4000)]).astype(kind)
    names = list(FORMULA)
    outs = [new(points.shape, kind) for _ in names]
    x = given(points)
    native = Native([Op("map", name, [out], [x]) for name, out in zip(names, outs)])
    native.run()
    for name, out in zip(names, outs):
        with np.errstate(all="ignore"):
            # of float32 by float64; of float64 by long doubles, where NumPy has these, and by the C library for erf
            exact = (np.vectorize(math.erf, otypes="d")(points) if name == "erf" else getattr(np, name)(points.astype("g")))
            wanted = exact.astype(kind)
            finite = np.isfinite(wanted)
            error = np.abs(native.array(out)[finite] - exact[finite]) / np.maximum(np.spacing(np.abs(wanted[finite])), info.smallest_subnormal)
        np.testing.assert_array_equal(native.array(out)[~finite], wanted[~finite])
        print(name, error.max())
        assert error.max() <= 2, f"{name} of {points[finite][error.argmax()]!r}: {error.max()} units in the last place"
