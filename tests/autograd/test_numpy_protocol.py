"""NumPy's functions called on Tensors: NumPy's values, recorded; what is not supported is named."""

import numpy as np
import pytest

import autograd as ag

A = np.arange(1.0, 7.0).reshape(2, 3)
CALLS = """np.exp(x) | np.add(a, x) | np.subtract(x, a) | np.multiply([1., 2, 3], x) | np.divide(a, x) | np.power(x, 2) | np.absolute(-x) | np.negative(x) | np.maximum(x, a[::-1])
np.log1p(x) | np.tanh(x) | np.square(x) | np.sqrt(x) | a * x | a - x | a / x | x @ a.T | a @ x.T | np.matmul(a.T, x) | np.float64(2) * x | np.float32(2) / x | np.int64(2) ** x
np.concatenate([x, x]) | np.concatenate([x, a], axis=1) | np.concatenate((a, x), 0) | np.stack([x, a], axis=-1) | np.sum(x, axis=0) | np.sum(x) | np.sum(x, axis=1, keepdims=True)
np.mean(x, axis=1, keepdims=True) | np.mean(x) | np.max(x, axis=1) | np.amin(x) | np.var(x) | np.std(x, axis=1, ddof=1) | np.where(a > 2, x, 0.) | np.where(x > 2.5, x, 2 * a) | np.transpose(x)
np.transpose(x[None], (2, 0, 1)) | np.reshape(x, (3, -1)) | np.ravel(x) | np.clip(x, 2.5, 4.5) | np.split(x, [1], axis=1)[1] | np.split(x, 3, 1)[2] | np.squeeze(x[None]) | np.expand_dims(x, 0)
np.swapaxes(x, 0, 1) | np.moveaxis(x[None], 0, 2) | np.flip(x) | np.flip(x, 1) | np.broadcast_to(x, (2, 2, 3)) | np.copy(x) | np.add.reduce(x) | np.add.reduce(x, axis=None) | np.maximum.reduce(x, axis=1)
np.dot(a, x.T) | np.dot(x, a[0]) | np.isnan(x) | np.greater(x, 3) | np.equal(x, a) | np.all(x > 0) | np.any(x > 5, axis=0) | np.argmax(x) | np.argmin(x, axis=1) | np.zeros_like(x) | np.full_like(x, 3)"""


@pytest.mark.parametrize("text", CALLS.replace("\n", " | ").split(" | "))
def test_values_and_gradients(text):
    x = ag.tensor(A, requires_grad=True)
    y = eval(text, {"np": np, "x": x, "a": A})
    expected = eval(text, {"np": np, "x": A, "a": A})
    assert isinstance(y, ag.Tensor) and y.shape == np.shape(expected) and y.requires_grad == (y.dtype.kind == "f" and "like" not in text)
    np.testing.assert_allclose(y.detach().numpy(), expected)
    if y.requires_grad:
        ag.gradcheck(lambda x: eval(text, {"np": np, "x": x, "a": A}), [x])


@pytest.mark.parametrize("text, words", [
    ("np.sum(x, where=a > 1)", "numpy.sum .*'where'"), ("np.exp(x, where=a > 1)", "numpy.exp .*'where'"), ("np.add.accumulate(x)", "numpy.add.accumulate"),
    ("np.linalg.qr(x, mode='raw')", "numpy.linalg.qr .*'raw'"), ("np.reshape(x, 6, order='F')", "order='F'"), ("np.divmod.outer(x, 2)", "numpy.divmod.outer"),
    ("np.add.reduce(x, initial=1)", "'initial'"), ("np.concatenate([x, x], dtype=int)", "numpy.concatenate .*'dtype'"), ("np.copyto(x, a)", "numpy.copyto"), ("np.median(x, axis=0, out=x[0])", "numpy.median")])
def test_what_is_not_supported_is_named(text, words):
    with pytest.raises(TypeError, match=words):
        eval(text, {"np": np, "x": ag.tensor(A), "a": A})


def test_values_leave_only_untracked():
    x = ag.tensor(A, requires_grad=True)
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6
    assert np.percentile(x.detach(), 50) == 3.5 and np.array_equal(x.detach(), A) and np.asarray(x.detach()) is x.array
    for call in (lambda: np.asarray(x), lambda: np.percentile(x, 50), lambda: np.save("nowhere", x), lambda: A.__iadd__(x)):
        with pytest.raises(RuntimeError, match=r"detach\(\).numpy"):
            call()
    array = A.copy()
    array += x.detach()
    assert isinstance(array, np.ndarray) and np.array_equal(array, 2 * A)
    out = ag.zeros(2, 3, dtype=ag.float64)
    assert np.add(x.detach(), A, out=out) is out and np.array_equal(out, 2 * A)
    np.testing.assert_allclose(x.detach(), A)


def test_functions_exist():
    from autograd.tensor_api.numpy_functions import FUNCTIONS
    from autograd.tensor_api.numpy_protocol import LINALG, SHAPE_FUNCTIONS, UFUNCS, WRITING
    for name in [*FUNCTIONS, *LINALG, *SHAPE_FUNCTIONS, *WRITING, *UFUNCS]:
        found = np
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found)
