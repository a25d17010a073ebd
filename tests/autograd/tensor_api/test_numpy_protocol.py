"""NumPy's functions called on Tensors: NumPy's values, recorded; what is not supported is named."""

import numpy as np
import pytest

import autograd as ag

pytestmark = pytest.mark.quick
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
    ("np.sum(x, where=a > 1)", "numpy.sum .*'where'"), ("np.exp(x, where=a > 1)", "numpy.exp .*'where'"), ("np.subtract.accumulate(x)", "numpy.subtract.accumulate"),
    ("np.linalg.qr(x, mode='raw')", "numpy.linalg.qr .*'raw'"), ("np.reshape(x, 6, order='A')", "order='A'"), ("np.add.reduceat(x, [0])", "numpy.add.reduceat"), ("np.add.accumulate(x, dtype=float)", "'dtype'"),
    ("np.add.reduce(x, initial=1)", "'initial'"), ("np.concatenate([x, x], dtype=int)", "numpy.concatenate .*'dtype'"), ("np.copyto(x, a)", "numpy.copyto"), ("np.median(x, axis=0, out=x[0])", "numpy.median")])
def test_what_is_not_supported_is_named(text, words):
    with pytest.raises(TypeError, match=words):
        eval(text, {"np": np, "x": ag.tensor(A), "a": A})


MORE = """np.sort(x, axis=None) np.sort(x,kind='stable') np.concatenate([x,x],axis=None) np.cov(x,rowvar=False) np.cov(x[0],x[1]) np.cov(x,fweights=[1,2,1],aweights=x[0]) np.corrcoef(x,rowvar=False) np.diff(x,prepend=0,append=x[:,:1])
np.dot(x,np.ones((2,3,2))) np.dot(2.0,x) np.einsum('ij,kj->ik',x,x,optimize=True) np.einsum(x,[0,1],x[0],[1],[0]) np.expand_dims(x,(0,-1)) np.meshgrid(x[0],[1,2])[0] np.meshgrid(x[0],x[1],sparse=True)[1] np.pad(x,1,mode='edge') np.pad(x,((1,0),(1,2)),'reflect')
np.pad(x,2,'wrap') np.pad(x,1,constant_values=(1,2)) np.pad(x,(2,1),constant_values=[3]) np.prod(x[None],axis=(0,2)) np.prod(x,keepdims=True) np.ravel(x,order='F') np.reshape(x,(3,-1),order='F') np.repeat(x,[1,2,0],axis=1) np.std(x,axis=0,correction=1)
np.take(x,[5,9],mode='clip') np.take(x,[[0,-1]],axis=1) np.take_along_axis(x[:,:1],np.array([[0,-1]]),axis=1) np.take_along_axis(x,np.array([4]),axis=None) np.trace(x,offset=1) np.tile(x,reps=(1,2)) np.delete(x,1,axis=1) np.compress([True,False],x,axis=0)
np.extract(x>2,x) np.resize(x,(2,4)) np.rollaxis(x,1) np.vsplit(x,2)[1] np.average(x,axis=1,weights=[1,2,3],returned=True)[0] np.clip(2.5,x,x+1) np.greater(2.5,x)*x np.maximum(2.5,x) np.arctan2(x,2) np.fmax(x,3) np.hypot(3,x) np.logaddexp(x,0) np.copysign(1.5,x)
np.vecdot(x,x) np.matvec(x,x[0]) np.vecmat(x[:,0],x) np.modf(x/2)[0] np.divmod(x,2.5)[1] np.add.outer(x[0],x[1]) np.power.outer(x,[1.,2.]) np.add.accumulate(x) np.maximum.accumulate(x,axis=1) np.multiply.reduce(x,axis=(0,1)) np.angle(x)+x np.where(x-1,x,2) np.clip(x,[1.5,2.5,3.5],4.5) np.cross(x,[1,2,3]) np.take(x,[],axis=1)"""


@pytest.mark.parametrize("text", [text for text in MORE.split("\n") if hasattr(np, "vecmat") or "vecmat" not in text])
def test_more_arguments(text):
    """NumPy's arguments that PyTorch's functions do not have: values, dtypes, first and second derivatives."""
    for call in text.replace(", ", ",").split(" "):
        found, expected = (eval(call, {"np": np, "x": x}) for x in (ag.tensor(A, requires_grad=True), A))
        assert isinstance(found, ag.Tensor) and found.dtype == expected.dtype and found.shape == expected.shape and found.requires_grad, call
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12, err_msg=call)
        x = ag.tensor(A + [[0.1], [0.2]], requires_grad=True)            # off the corners of max() and clip()
        assert ag.gradcheck(lambda x: eval(call, {"np": np, "x": x}), [x]) and ag.gradgradcheck(lambda x: eval(call, {"np": np, "x": x}), [x]), call


def test_dtypes_of_whole_numbers():
    """float64 where NumPy makes them so; what is an operator too follows PyTorch on either side."""
    whole = np.array([1, 2, 3])
    for call in "sqrt exp sin arctan log1p rint fabs cbrt degrees".split():
        found, expected = getattr(np, call)(ag.tensor(whole)), getattr(np, call)(whole)
        assert found.dtype == expected.dtype and np.array_equal(found, expected)
    for call in (np.hypot, np.arctan2, np.logaddexp, np.copysign, np.heaviside, np.fmax, np.gcd):
        assert call(ag.tensor(whole), 2).dtype == call(whole, 2).dtype and np.allclose(call(ag.tensor(whole), 2), call(whole, 2))
    for call in (np.mean, np.var, np.std, np.average, np.cov, np.nanmean):
        assert call(ag.tensor(whole)).dtype == ag.float64 and call(ag.tensor(whole)).item() == call(whole)
    assert np.divide(ag.tensor(whole), 2).dtype == (ag.tensor(whole) / 2).dtype == ag.float32
    assert np.maximum(ag.ones(2, dtype=ag.bfloat16), 2).tolist() == [2, 2] and np.linalg.inv(a=ag.tensor([[2]])).dtype == ag.float64
    hermitian = np.array([[2.0, 1.0], [1.0, -3.0]])
    for found, expected in zip(np.linalg.svd(ag.tensor(hermitian), hermitian=True), np.linalg.svd(hermitian, hermitian=True), strict=True):
        np.testing.assert_allclose(abs(found), abs(expected))
    np.testing.assert_allclose(np.linalg.cross(ag.tensor(np.eye(3)), ag.tensor(np.ones(3))), np.linalg.cross(np.eye(3), np.ones(3)))


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
