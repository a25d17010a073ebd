"""Operators on all pairs of dtypes, 0-d tensors and Python numbers on either side: values, dtypes and errors as PyTorch's."""

import itertools
import operator
import warnings

import numpy as np
import pytest

import autograd as ag

torch = pytest.importorskip("torch")

DTYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
OPERATORS = """add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift eq ne lt le gt ge
    iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift""".split()
FUNCTIONS = "true_divide fmod maximum minimum fmax fmin atan2 logical_and copysign float_power rsub gcd heaviside".split()
NUMBERS = (True, 2, -2, 0, 1.5, -1.5, 300, 1j)
REFUSED = (RuntimeError, TypeError, ZeroDivisionError)   # NotImplementedError is a RuntimeError


def make(t, dtype, ndim):
    array = np.array([1, 2, 3]).astype(dtype)
    return t.from_numpy(array if ndim else array[:1].reshape(()).copy())


def outcome(t, f, a, b):
    """The result as an array, or None for an error; "skip" for what PyTorch has a half complex dtype for."""
    a, b = (make(t, *v) if isinstance(v, tuple) else v for v in (a, b))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = f(a, b)
    except REFUSED as error:
        return "skip" if "ComplexHalf" in str(error) else None
    if t is torch and y.dtype is torch.complex32:
        return "skip"
    return y.resolve_conj().numpy() if t is torch else y.numpy()


def compare(f, g, a, b):
    theirs, mine = outcome(torch, f, a, b), outcome(ag, g, a, b)
    if isinstance(theirs, str):
        return
    if theirs is None or mine is None:
        assert mine is theirs, f"{a} {b}: {mine}, not {theirs}"
        return
    assert mine.dtype == theirs.dtype, f"{a} {b}: {mine.dtype}, not {theirs.dtype}"
    np.testing.assert_allclose(mine, theirs, rtol=2e-2 if theirs.dtype == "float16" else 1e-5, err_msg=f"{a} {b}")



@pytest.mark.parametrize("name", OPERATORS + FUNCTIONS)
def test_tensors(name):
    f, g = (getattr(operator if name in OPERATORS else t, name) for t in (torch, ag))
    for x, y in itertools.product(DTYPES, DTYPES):
        if (name, x, y) in [("heaviside", z, z) for z in ("complex64", "complex128")]:
            continue                                     # here the complex heaviside works
        for m, n in ((1, 1), (1, 0), (0, 1)):
            compare(f, g, (x, m), (y, n))


@pytest.mark.parametrize("name", OPERATORS)
def test_numbers(name):
    f = getattr(operator, name)
    for dtype, number, ndim in itertools.product(DTYPES, NUMBERS, (0, 1)):
        if name in ("pow", "ipow") and (dtype in ("bool", "uint8", "int8")):
            continue                                     # True ** True, 300 ** a byte: here errors
        compare(f, f, (dtype, ndim), number)
        compare(f, f, number, (dtype, ndim))


def test_operands_that_do_not_fit():
    x = ag.ones(2)
    for call in (lambda: x + ag.ones(3), lambda: x < ag.ones(3), lambda: x.mul_(ag.ones(3)), lambda: ag.where(x > 0, ag.ones(3), x)):
        with pytest.raises(RuntimeError, match=r"size of tensor a \(2\) must match the size of tensor b \(3\)"):
            call()
    for call in (lambda: ag.add(x, None), lambda: x * "a", lambda: ag.matmul(x, 2), lambda: x < None):
        with pytest.raises(TypeError, match="unsupported operand"):
            call()
    assert (x == None) is False                          # noqa: E711
    for call in (lambda: 1 - (x > 0), lambda: (x > 0) - (x > 0)):
        with pytest.raises(RuntimeError, match="bool tensor is not supported"):
            call()
    with pytest.raises(RuntimeError, match="Negation"):
        operator.neg(x > 0)


def test_another_class_may_know_what_to_do():
    class Other:
        def __radd__(self, x):
            return "known"

    assert ag.ones(2) + Other() == "known"
