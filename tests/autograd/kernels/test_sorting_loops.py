"""Order, the first few and the k-th agree with NumPy's stable argsort, compiled and not: ties, nan, dtypes, strides."""

import numpy as np
import pytest

import autograd as ag
from autograd.kernels import scatter, sorting, sums
from autograd.kernels import take_along as along_kernels
from autograd.kernels.loops import loops

DTYPES = ["f4", "f8", "f2", "i8", "i4", "i2", "u1", "u4", "u8", "b1"]


@pytest.fixture(params=["as installed", "NumPy"], autouse=True)
def with_and_without(request, monkeypatch):
    if request.param == "NumPy":
        monkeypatch.setattr(loops, "library", None)


def stable(a, dim, descending=False):
    """Ascending by definition; descending with equal ones in their order."""
    found = np.argsort(np.flip(a, dim) if descending else a, axis=dim, kind="stable")
    return np.flip(a.shape[dim] - 1 - found, dim) if descending else found


def numbers(rng, shape, dtype):
    """Random ones, with ties, zeros of both signs, infinities and nan of several kinds now and then."""
    if dtype in ("u4", "u8"):
        return rng.integers(0, 2 ** 32 if dtype == "u4" else 2 ** 63, shape).astype(dtype) * np.array(2, dtype)
    scale = 3 if dtype in ("i2", "u1", "f2") else rng.choice([1.0, 3.0, 1e9])
    a = np.abs(rng.standard_normal(shape) * scale).astype(dtype) if dtype == "u1" else (
        rng.standard_normal(shape) * scale).astype("i8" if dtype == "i4" else dtype).astype(dtype)
    if a.dtype.kind == "f" and rng.random() < 0.6:
        a, where = np.round(a), rng.random(shape)
        for low, value in ((0, np.nan), (0.1, np.inf), (0.2, -np.inf), (0.3, 0.0), (0.4, -0.0), (0.5, -np.nan)):
            a[(where > low) & (where < low + 0.03)] = value
    return a


@pytest.mark.parametrize("dtype", DTYPES)
def test_order_is_that_of_a_stable_sort(dtype):
    rng = np.random.default_rng(0)
    for trial in range(30):
        ndim = int(rng.integers(1, 4))
        shape, dim = tuple(rng.integers(1, [3000, 80, 20][ndim - 1], ndim)), int(rng.integers(ndim))
        a = numbers(rng, shape, dtype)
        a = a[..., ::-1] if trial % 3 == 0 else np.asfortranarray(a) if trial % 3 == 1 else a
        k = int(rng.integers(1, min(shape[dim], 20 if trial % 2 else 3000) + 1))
        for largest in (False, True):
            want = stable(a, dim, largest)
            assert np.array_equal(sorting.order(a, dim, largest), want)
            for found, wanted in ((sorting.ordered(a, dim, largest), want),
                                  (sorting.leading(a, dim, k, largest), np.take(want, range(k), dim))):
                assert np.array_equal(found[1], wanted)
                assert np.array_equal(found[0], np.take_along_axis(a, wanted, dim), equal_nan=a.dtype.kind == "f")
        values, places = sorting.nth(a, dim, k - 1)
        assert np.array_equal(places, np.take(stable(a, dim), [k - 1], dim))
        assert np.array_equal(values, np.take_along_axis(a, places, dim), equal_nan=a.dtype.kind == "f")


@pytest.mark.parametrize("rising", [False, True])
def test_sorted_rows(rising):
    a = np.arange(40000, dtype=np.float32).reshape(4, 10000)[:, ::1 if rising else -1]
    for k in (1, 5, 16, 17, 300):
        assert np.array_equal(sorting.leading(a, 1, k, True)[1], stable(a, 1, True)[:, :k])


@pytest.mark.parametrize("shape, dim", [((5000,), 0), ((70, 40), 0), ((70, 40), 1), ((9, 20, 30), 1), ((3, 0), 1), ((0, 3), 1)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_picked_and_put_back(shape, dim, dtype):
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape).astype(dtype)
    n = shape[dim]
    places = rng.integers(0, max(n, 1), (*shape[:dim], min(n, 7), *shape[dim + 1:]))
    taken = along_kernels.gather_along(x, places, dim)
    assert taken.dtype == x.dtype and np.array_equal(taken, np.take_along_axis(x, places, dim))
    g, want = rng.standard_normal(places.shape).astype(dtype), np.zeros_like(x)
    grid = list(np.indices(places.shape))
    grid[dim] = places
    np.add.at(want, tuple(grid), g)
    assert np.allclose(scatter.put_along(g, places, dim, n, False), want, atol=1e-6)
    assert np.allclose(scatter.put_along(g, places.astype(np.int32), dim, n, False), want, atol=1e-6)
    assert np.array_equal(along_kernels.gather_along(x, places.astype(np.int32), dim), taken)
    first = np.argsort(x, axis=dim)
    assert np.array_equal(along_kernels.gather_along(scatter.put_along(x, first, dim, n, True), first, dim), x)


@pytest.mark.parametrize("n", [10, 32, 60])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_medians_of_rows_with_nan(n, dtype):
    a = np.random.default_rng(2).standard_normal((40, n)).astype(dtype)
    a[3, 5] = a[3, 9] = a[7] = np.nan
    values, places = ag.tensor(a).median(1)
    assert places[3].item() == 5 and places[7].item() == 0 and places[0].item() == stable(a, 1)[0, (n - 1) // 2]
    assert np.array_equal(ag.tensor(a).nanmedian(1)[0].numpy()[:7], np.array([np.sort(r[r == r])[(np.sum(r == r) - 1) // 2] for r in a[:7]]))
    assert np.isnan(values.numpy()[[3, 7]]).all()


@pytest.mark.parametrize("shape, dim", [((5000,), 0), ((70, 40), 0), ((70, 40), 1), ((9, 20, 30), 1), ((1, 2000), 0), ((2000, 1), 1)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_running_extremes_and_products(shape, dim, dtype):
    rng = np.random.default_rng(3)
    for trial in range(6):
        a = numbers(rng, shape, dtype)
        for reduce in (np.maximum, np.minimum):
            values, places = sums.running_places(a, dim, reduce)
            assert np.array_equal(values, np.take_along_axis(a, places, dim), equal_nan=True)
            rows, found = np.moveaxis(a, dim, -1).reshape(-1, shape[dim]), np.moveaxis(places, dim, -1).reshape(-1, shape[dim])
            for row, got in zip(rows[:50], found[:50]):
                top, want = 0, []
                for i, value in enumerate(row):
                    if np.isnan(value) or (value >= row[top] if reduce is np.maximum else value <= row[top]):
                        top = i
                    want.append(top)
                assert np.array_equal(got, want)
        x = ag.tensor((rng.standard_normal(shape) * 0.1 + (trial % 2)).astype(dtype))
        want = np.multiply.accumulate(x.numpy(), axis=dim, dtype="f4" if dtype == "f2" else dtype).astype(dtype)
        assert np.array_equal(x.cumprod(dim).numpy(), want)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_one_row_with_ties_beside_one_with_nan(dtype):
    a = np.random.default_rng(4).permutation(400).reshape(2, 200).astype(dtype)
    a[0, np.argsort(a[0])[-21]] = np.sort(a[0])[-20]                 # 21 reach the 20th, and 19 in the other row
    a[1, 7] = np.nan
    assert np.array_equal(sorting.leading(a, 1, 20, True)[1], stable(a, 1, True)[:, :20])


@pytest.mark.parametrize("dtype", DTYPES)
def test_modes(dtype):
    rng = np.random.default_rng(5)
    for _ in range(20):
        a = np.round(numbers(rng, (13, int(rng.integers(1, 40))), dtype))
        values, places = sorting.mode(a, 1)
        for row, value, place in zip(a, values[:, 0], places[:, 0]):
            known = row[row == row] if (row == row).any() else row[:1]
            found, counts = np.unique(known, return_counts=True)
            want = found[counts.argmax()]
            assert np.array_equal(value, want, equal_nan=dtype[0] == "f") and np.array_equal(row[place], value, equal_nan=dtype[0] == "f")
            assert want != want or place == np.flatnonzero(row == want)[-1]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1"])
def test_the_middle_of_many(dtype):
    """Also where the sample that narrows the search misleads: sorted ones, periods of its step, nearly all equal."""
    rng, n = np.random.default_rng(6), sorting.MIDDLING + 4321
    step, draws = n >> 12, numbers(rng, n, "f8" if dtype[0] == "f" else dtype)
    draws = np.where(draws == draws, draws, 0)
    periods = np.where(np.arange(n) % step == 0, 100, draws)
    for a in (draws, np.sort(draws), np.sort(draws)[::-1], periods, np.where(rng.random(n) < 0.49, 3, 7), np.full(n, 5)):
        a = np.ascontiguousarray(a.astype(dtype))
        assert ag.tensor(a).median().item() == np.sort(a)[(n - 1) // 2]
        if dtype[0] == "f":
            assert np.isnan(ag.tensor(np.append(a, np.nan).astype(dtype)).median().item())
            some = np.append(a, [np.nan, np.inf]).astype(dtype)
            assert ag.tensor(some).nanmedian().item() == np.sort(some)[n // 2]
