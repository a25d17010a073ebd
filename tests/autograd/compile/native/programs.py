"""Building blocks of programs for tests: storages, views, and the comparison with the reference."""

import numpy as np
from interpreter import Interpreter

from autograd.compile.lowering.ir import Ref, Storage, whole
from autograd.compile.native import Native
from autograd.compile.native.normal import contiguous


def new(shape, dtype="f4", keep=True):
    """Memory of the program's own."""
    return Ref(Storage(int(np.prod(shape)), dtype, None, keep), 0, shape, contiguous(shape))


def view(x, make):
    """The part of x that make(array) shows, as in view(x, lambda a: a.T)."""
    flat = np.arange(x.storage.size)
    array = make(np.lib.stride_tricks.as_strided(flat[x.offset:], x.shape, [8 * s for s in x.strides]))
    offset = (array.__array_interface__["data"][0] - flat.__array_interface__["data"][0]) // 8
    return Ref(x.storage, offset if array.size else 0, array.shape, tuple([s // 8 for s in array.strides]))


def given(array):
    """Memory from outside, of which the program works on a copy."""
    return whole(np.ascontiguousarray(array).copy())


def run(ops, **settings):
    """The program as native code after one run, and the reference after one."""
    reference, native = Interpreter(ops), Native(ops, **settings)
    native.run()
    reference.run()
    return native, reference


def check(ops, refs, tolerance=4, **settings):
    """Compare these parts of memory: floats within `tolerance` units in the last place of the largest, others exactly."""
    native, reference = run(ops, **settings)
    for x in refs:
        got, expected = native.array(x), reference.view(x)
        if got.dtype.kind == "f":
            near(got, expected, tolerance)
        else:
            np.testing.assert_array_equal(got, expected)
    return native


def near(got, expected, tolerance):
    """Equal where not finite; within so many units in the last place of the largest finite number elsewhere."""
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    np.testing.assert_array_equal(got[np.isinf(expected)], expected[np.isinf(expected)])
    if finite.any():
        size = np.spacing(np.abs(expected[finite]).max())
        np.testing.assert_allclose(got[finite], expected[finite], rtol=0, atol=tolerance * size)
