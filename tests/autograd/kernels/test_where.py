"""kernels.where.where() against np.where: bit for bit, and in the same order of memory."""

import itertools

import numpy as np
import pytest

import autograd as ag
from autograd.kernels.where import alternates, where

DTYPES = "float16 float32 float64 int8 int32 int64 bool complex64 longdouble".split()


def laid(x, how):
    """x by rows, by columns, or with gaps."""
    if how == "columns":
        return np.array(x, order="F")
    if how == "gaps":
        wide = np.zeros((*x.shape, 2), x.dtype)
        wide[..., 0] = x
        return wide[..., 0]
    return x


def numbers(rng, shape, dtype):
    x = rng.standard_normal(shape) * 9
    if dtype.startswith(("float", "long")):
        x.reshape(-1)[::7], x.reshape(-1)[1::11], x.reshape(-1)[2::13] = np.nan, -np.inf, -0.0
    return x.astype(dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(400, 45), (4, 8), (3, 1, 7000), (2, 300, 6, 7)])
def test_as_where(dtype, shape):
    rng = np.random.default_rng(0)
    lays = "rows columns gaps".split()
    for how_mask, how_x, how_y in itertools.product(lays, repeat=3):
        mask = laid(rng.random(shape) < 0.5, how_mask)
        x, y = laid(numbers(rng, shape, dtype), how_x), laid(numbers(rng, shape, dtype), how_y)
        none = np.zeros((), dtype)
        for a, b in ((x, y), (x, none), (none, y), (x[..., :1], y), (x, y[:1]), (none, none), (x[..., :1], y[:1])):
            given, expected = where(mask, a, b), np.where(mask, a, b)
            assert given.dtype == expected.dtype and given.shape == expected.shape
            assert np.array(given, order="C").view(np.uint8).tobytes() == np.array(expected, order="C").view(np.uint8).tobytes()


@pytest.mark.parametrize("value", [-0.5, float("inf"), float("nan"), 3, True])
def test_masked_fill_of_many_as_of_few(value):
    rng = np.random.default_rng(1)
    array, mask = numbers(rng, (200, 100), "float32"), rng.random((200, 100)) < 0.3
    x = ag.tensor(array, requires_grad=True)
    y = x.masked_fill(ag.tensor(mask), value)
    y.backward(ag.tensor(array))
    few = [ag.tensor(a).masked_fill(ag.tensor(m), value).numpy() for a, m in zip(array, mask, strict=True)]
    np.testing.assert_array_equal(y.detach().numpy(), np.stack(few))
    np.testing.assert_array_equal(x.grad.numpy(), np.where(mask, np.float32(0), array))


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_gradients_of_where_of_many(kind):
    rng = np.random.default_rng(2)
    mask, g = rng.random((200, 100)) < 0.3, numbers(rng, (200, 100), kind)
    x, y = (ag.tensor(numbers(rng, (200, 100), kind), requires_grad=True) for _ in range(2))
    ag.where(ag.tensor(mask), x, y).backward(ag.tensor(g))
    np.testing.assert_array_equal(x.grad.numpy(), np.where(mask, g, 0))
    np.testing.assert_array_equal(y.grad.numpy(), np.where(mask, 0, g))


def test_what_alternates():
    rng = np.random.default_rng(3)
    mask = rng.random((200, 100)) < 0.3
    assert alternates(mask) and not alternates(np.tri(200, 100, dtype=bool)) and not alternates(mask[:9]) and not alternates(mask.T)
