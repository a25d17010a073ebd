"""Reductions, sorting and selection: dtypes, odd forms, ties, nan, errors. Derivatives are in the table (cases/)."""

import warnings

import numpy as np
import pytest

import autograd as ag

pytestmark = pytest.mark.quick
torch = pytest.importorskip("torch")

NAN = float("nan")
DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64")


def arrays(value):
    """The tensors of an answer as arrays; an error as its class."""
    if isinstance(value, Exception):
        return type(value).__name__
    if isinstance(value, (tuple, list)):
        return [arrays(v) for v in value]
    return value.detach().numpy()


def answer(call, t, *args):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return arrays(call(t, *args))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return arrays(error)


def agree(mine, theirs):
    assert type(mine) is type(theirs), (mine, theirs)
    if isinstance(mine, list):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs):
            agree(a, b)
    elif isinstance(mine, str):
        assert mine == theirs
    else:
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=5e-3 if mine.dtype == np.float16 else 1e-5)


CALLS = {name: (lambda t, x, name=name: getattr(t, name)(x)) for name in (
    "sum mean nansum nanmean prod var std var_mean std_mean amax amin aminmax max min median nanmedian mode argmax argmin all any "
    "norm count_nonzero sort argsort msort unique unique_consecutive bincount histc cov corrcoef").split()}
CALLS |= {f"{name} along": (lambda t, x, name=name: getattr(t, name)(x, 0)) for name in (
    "sum mean nansum prod var std amax max min median nanmedian argmin all any logsumexp softmax log_softmax cumsum cumprod cummax "
    "cummin logcumsumexp sort count_nonzero").split()}
CALLS |= {"topk": lambda t, x: t.topk(x, 1), "kthvalue": lambda t, x: t.kthvalue(x, 1), "diff": lambda t, x: t.diff(x),
          "quantile": lambda t, x: t.quantile(x, 0.5), "trapezoid": lambda t, x: t.trapezoid(x), "isin": lambda t, x: t.isin(x, 1),
          "searchsorted": lambda t, x: t.searchsorted(x, x), "bucketize": lambda t, x: t.bucketize(x, x, out_int32=True, right=True),
          "sum dtype": lambda t, x: x.sum(dtype=t.float64), "prod dtype": lambda t, x: x.prod(0, dtype=t.int32),
          "cumsum dtype": lambda t, x: x.cumsum(0, dtype=t.float32), "softmax dtype": lambda t, x: x.softmax(0, dtype=t.float64),
          "gradient": lambda t, x: t.gradient(x), "dist": lambda t, x: t.dist(x, x), "histogram": lambda t, x: t.histogram(x, 3),
          "sum_to_size": lambda t, x: x.sum_to_size(1)}


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_like_pytorch(dtype):
    """The dtype of the answer, or the class of the error, for every function and dtype."""
    data = np.array([0, 1] if dtype == "bool" else [1, 2, 4]).astype(dtype)
    for name, call in CALLS.items():
        mine, theirs = answer(call, ag, ag.from_numpy(data)), answer(call, torch, torch.from_numpy(data))
        try:
            agree(mine, theirs)
        except AssertionError as error:
            raise AssertionError(f"{name} of {dtype}: {error}") from None


ODD = [
    lambda t, x: x.all(dim=()), lambda t, x: x.any(dim=[]), lambda t, x: x.amax([]), lambda t, x: x.var(dim=()),
    lambda t, x: x.var(correction=6), lambda t, x: x.std(0, correction=3), lambda t, x: x.var(correction=0, unbiased=True),
    lambda t, x: x.sum(2), lambda t, x: x.sum((0, 0)), lambda t, x: x.sum("a"), lambda t, x: x.sum(1.5), lambda t, x: x.prod((0, 1)),
    lambda t, x: x.prod(keepdim=True), lambda t, x: x.max(keepdim=True), lambda t, x: x.max(1.0), lambda t, x: x.argmax(keepdim=True),
    lambda t, x: x[:0].amax(), lambda t, x: x[:0].amax(0), lambda t, x: x[:0].amax(1), lambda t, x: x[:0].max(),
    lambda t, x: x[:0].max(0), lambda t, x: x[:0].max(1), lambda t, x: x[:0].argmax(), lambda t, x: x[:0].argmax(0),
    lambda t, x: x[:0].aminmax(), lambda t, x: x[:0].aminmax(dim=0), lambda t, x: x[:0].median(), lambda t, x: x[:0].median(0),
    lambda t, x: x[:0].mode(0), lambda t, x: x[:0].kthvalue(1, 0), lambda t, x: x[:0].cummax(0), lambda t, x: x[:0].sort(0),
    lambda t, x: x[:0].quantile(0.5), lambda t, x: x[:0].mean(), lambda t, x: x[:0].prod(0), lambda t, x: x[:0].std(),
    lambda t, x: x[:0].logsumexp(0), lambda t, x: x[:0].norm(float("inf")), lambda t, x: x[:0].norm(2, 0), lambda t, x: t.logsumexp(x),
    lambda t, x: x.topk(4), lambda t, x: x.topk(0), lambda t, x: x.kthvalue(0), lambda t, x: x.sort(5), lambda t, x: t.norm(x, "what"),
    lambda t, x: t.norm(x, 2, dtype=t.int64), lambda t, x: x.quantile(1.5), lambda t, x: x.quantile(t.tensor([[0.5]])),
    lambda t, x: x.quantile(0.5, interpolation="x"), lambda t, x: x.quantile(t.tensor([0.5, 0.2]), keepdim=True),
    lambda t, x: x.quantile(t.tensor([0.5, 0.2]), 1, True), lambda t, x: t.tensor(2.0).quantile(0.5, keepdim=True),
    lambda t, x: t.tensor(3.0).max(0), lambda t, x: t.tensor(3.0).max(1), lambda t, x: t.tensor(3.0).topk(1),
    lambda t, x: t.tensor(3.0).kthvalue(1), lambda t, x: t.tensor(3.0).mode(), lambda t, x: t.tensor(3.0).median(0),
    lambda t, x: t.tensor(3.0).sort(), lambda t, x: t.tensor(3.0).cummax(0), lambda t, x: t.tensor(3.0).logcumsumexp(0),
    lambda t, x: t.tensor(3.0).diff(), lambda t, x: t.cov(x[None]), lambda t, x: t.cov(t.tensor(1.0)), lambda t, x: t.corrcoef(x[0]),
    lambda t, x: t.cov(x, aweights=t.tensor([0.0, 0, 0])), lambda t, x: t.cov(x[:, :0]), lambda t, x: t.cov(x, correction=5),
    lambda t, x: t.renorm(x[0], 2, 0, 1), lambda t, x: t.renorm(x, 0, 0, 1), lambda t, x: t.renorm(x, 2, 0, -1),
    lambda t, x: t.cdist(x, x[:, :2]), lambda t, x: t.cdist(x, x, -1), lambda t, x: t.cdist(x, x[0]), lambda t, x: t.cdist(x, x, compute_mode="x"),
    lambda t, x: t.cdist(x[:0], x), lambda t, x: t.cdist(x[:, :0], x[:, :0]), lambda t, x: t.pdist(x[0]), lambda t, x: t.pdist(x[:1]),
    lambda t, x: t.gradient(x, spacing=[1.0]), lambda t, x: t.gradient(x, edge_order=3), lambda t, x: t.gradient(x[:1]),
    lambda t, x: t.diff(x, -1), lambda t, x: t.diff(x, 9), lambda t, x: t.diff(x, 1, 0, x[0]), lambda t, x: x.sum_to_size(4, 3),
    lambda t, x: t.trapezoid(x, x[:1], dim=0), lambda t, x: t.isin(1, 2), lambda t, x: t.isin(1, x), lambda t, x: t.isin(x, x[0], invert=True),
    lambda t, x: t.searchsorted(x, x[0]), lambda t, x: t.searchsorted(x[0], 2), lambda t, x: t.searchsorted(x[0], x.double()),
    lambda t, x: t.searchsorted(x[0], 2, side="left", right=True), lambda t, x: t.searchsorted(x[0], 2.0, side="right"),
    lambda t, x: t.searchsorted(x[0].flip(0), 2.0, sorter=t.tensor([2, 1, 0])), lambda t, x: t.bucketize(1.5, x[0]),
    lambda t, x: t.bucketize(x, x), lambda t, x: t.bincount(t.tensor([-1])), lambda t, x: t.bincount(t.tensor([1, 2]), minlength=-1),
    lambda t, x: t.bincount(t.tensor([1, 1, 4]), x[1], 7), lambda t, x: t.bincount(t.tensor([1, 1, 4]), t.tensor([1, 2, 3])),
    lambda t, x: t.histc(x, 0), lambda t, x: t.histc(x, 3, 2, 1), lambda t, x: t.histc(x, 4), lambda t, x: t.histc(x, 4, 1, 3),
    lambda t, x: t.histogram(x, 3), lambda t, x: t.histogram(x, t.tensor([0.0, 1, 4, 5]), density=True),
    lambda t, x: t.histogram(x, 3, range=(0.0, 2.0), weight=x), lambda t, x: t.histogram(x, 0), lambda t, x: t.histogram(x, 3, weight=x[0]),
    lambda t, x: t.unique(x % 2, return_inverse=True, return_counts=True), lambda t, x: t.unique(x % 3, dim=1, return_inverse=True),
    lambda t, x: t.unique(x[:0], dim=1), lambda t, x: t.unique(t.tensor([NAN, 1, NAN]), return_counts=True),
    lambda t, x: t.unique_consecutive(t.tensor([1, 1, 2, 1]), True, True), lambda t, x: t.unique_consecutive(x % 3 * 0, dim=0),
    lambda t, x: x.softmax(4), lambda t, x: x.norm(2, (0, 1, 1)), lambda t, x: t.nansum(x, ()), lambda t, x: x.count_nonzero((0, 1)),
    lambda t, x: t.std_mean(x, False), lambda t, x: t.var_mean(x, [0], True, True), lambda t, x: x.cumsum(2), lambda t, x: x.cumprod(-3),
    lambda t, x: t.max(x, other=x.flip(0)), lambda t, x: t.min(x, x.flip(0)), lambda t, x: t.max(2, x), lambda t, x: t.sum(input=x, dim=0),
    lambda t, x: t.histogramdd(x, [2, 3])[0], lambda t, x: t.histogramdd(x, 2, density=True, weight=x[:, 0])[1]]


@pytest.mark.parametrize("number", range(len(ODD)))
def test_odd_forms_like_pytorch(number):
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    agree(answer(ODD[number], ag, ag.from_numpy(data)), answer(ODD[number], torch, torch.from_numpy(data)))


@pytest.mark.parametrize("data", [[1.0, NAN, 2, 2], [2.0, 2, 1, 2], [NAN, NAN, 1, 1], [3.0, 0, 0, 3], [-np.inf, 1, np.inf, 1], [NAN] * 3])
@pytest.mark.parametrize("name", ["max", "min", "amax", "amin", "argmax", "sort", "sort descending", "cummax", "cummin", "mode", "logsumexp",
                                  "nansum", "nanmean", "median all", "nanmedian all", "max all", "unique", "prod", "logcumsumexp"])
def test_ties_and_nan_like_pytorch(name, data):
    """Values, indices, and who gets the gradient."""
    got = []
    for t in (ag, torch):
        x = t.tensor(data, dtype=t.float64, requires_grad=name != "argmax")
        parts = name.split()
        out = getattr(x, parts[0])(*[] if parts[-1] == "all" or name in ("unique", "prod", "nansum") else [0],
                                   **{"descending": True} if "descending" in name else {})
        out = list(out) if isinstance(out, tuple) else [out]
        if name not in ("argmax", "unique"):
            out[0].sum().backward()
            out.append(x.grad)
        got.append(arrays(out))
    if name == "logcumsumexp" and -np.inf in data:
        got = [a[:1] for a in got]                   # PyTorch's gradient at -inf is nan, ours 0
    if name in ("prod", "logsumexp") and np.inf in data:
        got = [a[:1] for a in got]                   # PyTorch's gradient is nan, ours the product of the others, and the limit
    for mine, theirs in zip(*got, strict=True):
        np.testing.assert_allclose(mine, theirs)


def test_out():
    x = ag.tensor([[1.0, 5, 2], [3, 0, 4]])
    values, indices = ag.empty(2), ag.empty(2, dtype=ag.int64)
    got = ag.max(x, 1, out=(values, indices))
    assert got.values is values and values.tolist() == [5, 4] and indices.tolist() == [1, 2]
    total = ag.empty(3)
    assert ag.sum(x, 0, out=total) is total and total.tolist() == [4, 5, 6]
    with pytest.raises(RuntimeError, match="single memory location"):
        ag.prod(x, 0, out=x[0])
    with pytest.raises(RuntimeError, match="have dtype (torch.)?float32"):
        ag.aminmax(x, out=(ag.empty((), dtype=ag.float64), ag.empty(())))


def test_in_place():
    x = ag.tensor([[1.0, 2], [3, 4]])
    assert x.cumsum_(0) is x and x.tolist() == [[1, 2], [4, 6]]
    assert x.cumprod_(1).tolist() == [[1, 2], [4, 24]]
    assert x.renorm_(1, 0, 3.0).sum(1).tolist() == pytest.approx([3, 3], abs=1e-5)


@pytest.mark.parametrize("call, error", [
    (lambda x: ag.unique(x), NotImplementedError), (lambda x: ag.unique_consecutive(x), NotImplementedError),
    (lambda x: ag.histogram(x, 2).hist, RuntimeError), (lambda x: ag.bincount(ag.tensor([0, 1]), x), RuntimeError)])
def test_without_derivative(call, error):
    """The result requires grad, and backward says what is missing."""
    out = call(ag.tensor([1.0, 2.0], requires_grad=True))
    assert out.requires_grad
    with pytest.raises(error, match="derivative for"):
        out.sum().backward()


@pytest.mark.parametrize("call", [
    lambda t, x, y: t.cdist(x, y), lambda t, x, y: t.cdist(x, y, 1), lambda t, x, y: t.cdist(x, y, 3.0), lambda t, x, y: t.cdist(x, y, 0.5),
    lambda t, x, y: t.cdist(x, y, float("inf")), lambda t, x, y: t.cdist(x[None], y.reshape(2, 1, 3), 2.0), lambda t, x, y: t.norm(x, 0) + y + 0 * x[:2],
    lambda t, x, y: t.cdist(x, y, compute_mode="use_mm_for_euclid_dist"), lambda t, x, y: t.pdist(x) + y[0, 0],
    lambda t, x, y: t.pdist(x, 1.5) + y[0, 0], lambda t, x, y: t.nn.functional.pdist(t.cat([x, x]), 2.0) + y[0, 0]])
def test_distances_like_pytorch(call):
    """Values and gradients; PyTorch has no second derivatives of these."""
    rng = np.random.default_rng(0)
    one, two = rng.standard_normal((4, 3)), rng.standard_normal((2, 3))
    got = []
    for t in (ag, torch):
        x, y = t.tensor(one, requires_grad=True), t.tensor(two, requires_grad=True)
        d = call(t, x, y)
        (d * t.tensor(np.random.default_rng(1).standard_normal(tuple(d.shape)))).sum().backward()
        got.append((d.detach().numpy(), np.zeros(3) if x.grad is None else x.grad.numpy(), y.grad.numpy()))
    for mine, theirs in zip(*got, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_far_apart_rows_by_product():
    """cdist of many rows goes by a matrix product; the gradient is 0 between equal rows."""
    data = np.random.default_rng(0).standard_normal((30, 4))
    weights = np.random.default_rng(1).standard_normal((30, 28))
    got = []
    for t in (ag, torch):
        x, y = t.tensor(data, requires_grad=True), t.tensor(data[:28], requires_grad=True)
        d = t.cdist(x, y)
        (d * t.tensor(weights)).sum().backward()
        got.append((d.detach().numpy(), x.grad.numpy(), y.grad.numpy()))
    off = ~np.eye(30, 28, dtype=bool)
    np.testing.assert_allclose(got[0][0][off], got[1][0][off], rtol=1e-9)
    assert np.abs(np.diag(got[0][0])).max() < 1e-6
    assert all(np.isfinite(g).all() for g in got[0])


def test_the_tangent_of_a_deviation_that_is_0_is_0():
    with ag.autograd.forward_ad.dual_level():
        x = ag.autograd.forward_ad.make_dual(ag.ones(3, 2), ag.ones(3, 2))
        assert ag.autograd.forward_ad.unpack_dual(x.std(0)).tangent.tolist() == [0.0, 0.0]


COMPLEX = {
    "var": lambda t, x: t.var(x, 1), "var all": lambda t, x: x.var(), "var correction": lambda t, x: t.var(x, 0, correction=0, keepdim=True),
    "std": lambda t, x: t.std(x, 1), "std all": lambda t, x: x.std(), "std of one": lambda t, x: t.std(x[:, :1], 1, correction=0),
    "var_mean": lambda t, x: t.var_mean(x, 1)[0], "std_mean": lambda t, x: t.std_mean(x, 0)[0],
    "prod": lambda t, x: t.prod(x, 1), "prod with a zero": lambda t, x: t.prod(x * t.tensor([1.0, 0.0, 1.0, 1.0]), 1),
    "cumprod": lambda t, x: t.cumprod(x, 0), "logsumexp": lambda t, x: t.logsumexp(x, 1), "logsumexp large": lambda t, x: t.logsumexp(x * 1000, 1),
    "sgn": lambda t, x: t.sgn(x), "cov": lambda t, x: t.cov(x), "corrcoef": lambda t, x: t.corrcoef(x), "norm": lambda t, x: t.linalg.norm(x),
    "rms_norm": lambda t, x: t.nn.functional.rms_norm(x, (4,)), "rms_norm weight": lambda t, x: t.nn.functional.rms_norm(x, (4,), x[0], 0.1)}


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_like_pytorch(name, dtype):
    """Values, gradients and gradients of these, of the right dtype."""
    rng = np.random.default_rng(3)
    data = (rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))).astype(dtype)
    found = []
    for t in (ag, torch):
        x = t.from_numpy(data.copy()).requires_grad_()
        y = COMPLEX[name](t, x)
        g = t.from_numpy(rng.__class__(np.random.PCG64(5)).standard_normal(tuple(y.shape)).astype("float64" if dtype == "complex128" else "float32"))
        gx, = t.autograd.grad(y, x, g.to(y.dtype), create_graph=True)
        second = t.autograd.grad((gx * gx.conj()).real.sum(), x, allow_unused=True)[0]
        found.append([y, gx] + [second] * (second is not None))
    assert len(found[0]) == len(found[1])
    for mine, theirs in zip(*found):
        assert str(theirs.dtype) == str(mine.dtype)
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=1e-9 if dtype == "complex128" else 2e-3,
                                   atol=1e-9 if dtype == "complex128" else 2e-3)


ORDERED = """amax(0) | amin(0) | max() | min(0) | argmax() | argmin(0) | aminmax() | median() | nanmedian() | mode() | kthvalue(1) | topk(1) | sort() | argsort() | msort()
    cummax(0) | cummin(0) | nansum() | nanmean() | unique() | unique_consecutive() | erf() | erfc() | erfinv() | lgamma() | digamma() | i0() | sign() | signbit()
    softmax(0) | log_softmax(0) | relu() | isposinf() | isneginf() | scatter_reduce(0, t.tensor([0]), x[:1], "amax") | index_reduce(0, t.tensor([0]), x[:1], "prod")
    special.ndtr | special.entr | special.i1e | special.bessel_j0 | nn.functional.elu | nn.functional.hardtanh | nn.functional.softplus | nn.functional.mish
    nn.functional.leaky_relu | nn.functional.logsigmoid""".replace("\n", " | ").split("|")


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("call", [call.strip() for call in ORDERED])
def test_complex_numbers_are_refused_where_pytorch_refuses_them(call, grad):
    """Rather than compared by their real parts, or computed without their imaginary ones."""
    for t in (ag, torch):
        x = t.tensor([1 + 2j, 3 - 1j], requires_grad=grad)
        with pytest.raises(RuntimeError):            # NotImplementedError is one
            eval(f"x.{call}" if call.endswith(")") else f"t.{call}(x)", {"x": x, "t": t})


RANGE = {                                            # reductions whose result is representable where squares are not
    "std": lambda t, x: t.std(x, 1), "std_mean": lambda t, x: t.std_mean(x, 0)[0], "norm": lambda t, x: t.linalg.vector_norm(x),
    "norm along": lambda t, x: t.linalg.vector_norm(x, 2, 1), "fro": lambda t, x: t.linalg.matrix_norm(x), "dist": lambda t, x: t.dist(x, 0 * x),
    "norm 1.5": lambda t, x: t.linalg.vector_norm(x, 1.5, 1), "norm 3": lambda t, x: t.linalg.vector_norm(x, 3, 1),
    "norm 0.5": lambda t, x: t.linalg.vector_norm(x, 0.5, 0), "norm -2": lambda t, x: t.linalg.vector_norm(x, -2, 0),
    "hypot": lambda t, x: t.hypot(x, x), "normalize": lambda t, x: t.nn.functional.normalize(x, eps=0.0),
    "cosine": lambda t, x: t.nn.functional.cosine_similarity(x, x.flip(0), eps=0.0), "cdist": lambda t, x: t.cdist(x, x.flip(0)),
    "cdist by products": lambda t, x: t.cdist(x, x.flip(0), compute_mode="use_mm_for_euclid_dist"), "abs": lambda t, x: x.abs(),
    "pairwise": lambda t, x: t.nn.functional.pairwise_distance(x, x.flip(0), eps=0.0)}


@pytest.mark.parametrize("scale", [1e30, 1e-30])
@pytest.mark.parametrize("name", RANGE)
def test_float32_at_the_ends_of_its_range(name, scale):
    """Values and gradients are those of float64, whose range holds the squares."""
    data = (np.random.default_rng(0).standard_normal((4, 5)) * scale).astype(np.float32)
    results = []
    for t, x in ((ag, ag.tensor(data, requires_grad=True)), (torch, torch.tensor(data.astype(np.float64), requires_grad=True))):
        y = RANGE[name](t, x)
        y.sum().backward()
        results.append((y.detach().numpy(), x.grad.numpy()))
    for mine, theirs in zip(*results, strict=True):
        tolerance = 1e-3 if "products" in name else 1e-5
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())


@pytest.mark.parametrize("call", [lambda x: x.prod(), lambda x: x.cumprod(0).sum(),
                                  lambda x: ag.ones(1).scatter_reduce(0, ag.zeros(3, dtype=ag.int64), x, "prod").sum()])
def test_products_with_tiny_and_huge_elements(call):
    """Gradients and Hessians are products of the others, where a quotient by the element loses all digits."""
    x = ag.tensor([1e-9, 2.0, 3.0])
    only_last = call(ag.tensor([1.0, 0.0, 1.0])).item() == 0                   # of the running ones the first two count too
    second = np.array([[0, 3, 2], [3, 0, 1e-9], [2, 1e-9, 0]]) + (0 if only_last else np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    np.testing.assert_allclose(ag.func.hessian(call)(x).numpy(), second, rtol=1e-6)
    for data in ([1e30, 1e30, 1e-30], [1e-30, 1e-30, 1.0]):
        x = ag.tensor(data, requires_grad=True)
        (g,) = ag.grad(call(x), x)
        a, b, c = np.float64(data)
        with np.errstate(over="ignore"):
            expected = np.float32([b * c, a * c, a * b]) + (0 if only_last else np.float32([1 + b, a, 0]))
        np.testing.assert_allclose(g.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_scattered_products_have_second_derivatives_at_zeros(include_self, dtype):
    rng = np.random.default_rng(0)
    index = ag.tensor(rng.integers(0, 4, 12))
    data = rng.standard_normal(12) * (rng.random(12) < 0.6) * (1 + 1j if dtype == "complex128" else 1)
    source = ag.tensor(data, requires_grad=True)
    x = ag.tensor(rng.standard_normal(5).astype(dtype), requires_grad=True)
    call = lambda x, source: x.scatter_reduce(0, index, source, "prod", include_self=include_self)
    assert ag.gradcheck(call, (x, source)) and ag.gradgradcheck(call, (x, source))


@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_overwritten_elements_take_no_share_of_an_extreme(reduce):
    """PyTorch counts self among those that tie, and drops its share."""
    for call in (lambda x, s: x.scatter_reduce(0, ag.tensor([0, 0, 2]), s, reduce, include_self=False),
                 lambda x, s: x.index_reduce(0, ag.tensor([0, 0, 2]), s, reduce, include_self=False)):
        x, source = ag.tensor([2.0, 5.0, 7.0], requires_grad=True), ag.tensor([2.0, 2.0, 1.0], requires_grad=True)
        call(x, source).sum().backward()
        assert x.grad.tolist() == [0, 1, 0] and source.grad.tolist() == [0.5, 0.5, 1]
