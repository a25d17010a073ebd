"""Elementwise operations where a table of derivatives does not look: dtypes, edges, errors, aliases, special functions."""

import math

import numpy as np
import pytest
from both import needs_torch, torch

import autograd as ag
import autograd.nn.functional as F

pytestmark = pytest.mark.quick

UNDEFINED = [math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.5, 30.0, -30.0]
DTYPES = ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"]
ONE = """abs sign sgn signbit neg square sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh
    cosh tanh asinh acosh atanh sinc deg2rad rad2deg floor ceil trunc round frac sigmoid erf erfc erfinv lgamma i0 logit angle
    isposinf isneginf isreal isnan isinf isfinite logical_not bitwise_not nan_to_num positive""".split()
TWO = """add sub mul div true_divide floor_divide remainder fmod pow float_power atan2 copysign nextafter hypot logaddexp fmax fmin
    maximum minimum heaviside gcd lcm eq ne lt le gt ge logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor
    bitwise_left_shift bitwise_right_shift xlogy ldexp""".split()


def outcome(t, name, *arrays):
    """The value and dtype, or the class of error."""
    try:
        z = getattr(t, name)(*(t.from_numpy(a.copy()) if isinstance(a, np.ndarray) else a for a in arrays))
    except (RuntimeError, TypeError) as error:
        return error, None
    return z.numpy(), str(z.dtype).removeprefix("torch.")


def agree(name, *arrays):
    (ours, our_dtype), (theirs, their_dtype) = outcome(ag, name, *arrays), outcome(torch, name, *arrays)
    where = (name, [getattr(a, "dtype", a) for a in arrays])
    if their_dtype is None:
        assert our_dtype is None and isinstance(ours, (RuntimeError, TypeError)), where
        return
    assert our_dtype == their_dtype, (*where, ours)
    tolerance = {"float16": 2e-3, "float32": 2e-6}.get(our_dtype, 1e-13)
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=str(where))


@needs_torch
@pytest.mark.parametrize("name", ONE)
def test_one_operand_in_every_dtype_and_at_the_edges(name):
    for dtype in DTYPES:
        if dtype == "bool" and name in ("square", "neg", "abs"):     # NumPy's own word there, see the module
            continue
        agree(name, np.array([0, 1, 1, 3]).astype(dtype))
    agree(name, np.array(UNDEFINED[2:] if name == "i0" else UNDEFINED))        # PyTorch's i0 of infinity is nan


@needs_torch
@pytest.mark.parametrize("name", TWO)
def test_two_operands_in_every_dtype_and_at_the_edges(name):
    for dtype in DTYPES:
        if dtype == "bool" and name == "sub":
            continue
        agree(name, np.array([0, 1, 2, 3]).astype(dtype), np.array([1, 1, 3, 2]).astype(dtype))
        agree(name, np.array([0, 1, 2, 3]).astype(dtype), 2)
    agree(name, np.array([3, 5], "int32"), np.array([2.5, 1.5], "float32"))
    x, y = (a.ravel() for a in np.meshgrid(UNDEFINED, UNDEFINED))
    agree(name, x, y)


@needs_torch
@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide", "pow", "gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift"])
def test_signs_of_integers(name):
    x, y = (a.ravel() for a in np.meshgrid([-7, -1, 1, 6], [-3, -1, 1, 2, 70]))
    agree(name, x, y)


@needs_torch
@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_rounded_division(mode):
    x, y = (a.ravel() for a in np.meshgrid([-7, -1, 0, 6], [-3, -1, 1, 2]))
    for a, b in ((x, y), (x / 1.5, y / 1.0)):
        ours = ag.div(ag.from_numpy(a), ag.from_numpy(b), rounding_mode=mode)
        theirs = torch.div(torch.from_numpy(a), torch.from_numpy(b), rounding_mode=mode)
        assert ours.tolist() == theirs.tolist() and str(theirs.dtype).endswith(str(ours.dtype))


@pytest.mark.parametrize("call, error, words", [
    (lambda: ag.tensor([1, 2]) // 0, RuntimeError, "ZeroDivisionError"),
    (lambda: ag.tensor([1, 2]) % ag.tensor([1, 0]), RuntimeError, "ZeroDivisionError"),
    (lambda: ag.tensor([1, 2]) ** -1, RuntimeError, "negative integer powers"),
    (lambda: ag.div(ag.ones(2), 2, rounding_mode="up"), RuntimeError, "'up'"),
    (lambda: ag.add(ag.tensor([1]), 1, alpha=1.5), RuntimeError, "1.5"),
    (lambda: ag.add(ag.ones(1), 1, alpha=True), RuntimeError, "Boolean alpha"),
    (lambda: ag.sub(ag.tensor([True]), ag.tensor([True])), RuntimeError, "logical_not"),
    (lambda: +ag.tensor([True]), RuntimeError, "bool"),
    (lambda: ag.ones(2) & 1, NotImplementedError, "'Float'"),
    (lambda: ag.gcd(ag.ones(2), ag.ones(2)), NotImplementedError, "gcd"),
    (lambda: ag.frac(ag.tensor([1])), NotImplementedError, "'Long'"),
    (lambda: ag.round(ag.tensor([1]), decimals=1), NotImplementedError, "'Long'"),
    (lambda: ag.maximum(ag.ones(2), 1), TypeError, "must be a Tensor"),
    (lambda: ag.clamp(ag.ones(2)), RuntimeError, "At least one"),
    (lambda: ag.clamp(ag.ones(2), ag.ones(2), 3), TypeError, "both"),
    (lambda: ag.where(ag.tensor([1, 0]), ag.ones(2), ag.ones(2)), RuntimeError, "int64"),
    (lambda: ag.lerp(ag.ones(2), ag.ones(2, dtype=ag.float64), 0.5), RuntimeError, "float64"),
    (lambda: ag.addcdiv(ag.tensor([1]), ag.tensor([1]), ag.tensor([1])), RuntimeError, "rounding_mode"),
    (lambda: ag.isclose(ag.ones(2), ag.tensor([1, 1])), RuntimeError, "did not match"),
    (lambda: ag.isclose(ag.ones(2), ag.ones(2), rtol=-1), RuntimeError, "at least 0"),
    (lambda: ag.imag(ag.ones(2)), RuntimeError, "non-complex"),
    (lambda: ag.polygamma(-1, ag.ones(2)), RuntimeError, "-1"),
    (lambda: ag.mvlgamma(ag.ones(2), 0), RuntimeError, "not 0"),
    (lambda: ag.heaviside(ag.ones(2).requires_grad_(), ag.ones(2)).sum().backward(), NotImplementedError, "heaviside"),
])
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_operators_reflected_and_augmented():
    x = ag.tensor([5, 6])
    assert [(17 // x).tolist(), (17 % x).tolist(), (1 << x).tolist(), (200 >> x).tolist()] == [[3, 2], [2, 5], [32, 64], [6, 3]]
    assert [(3 & x).tolist(), (3 | x).tolist(), (3 ^ x).tolist(), (~x).tolist()] == [[1, 2], [7, 7], [6, 5], [-6, -7]]
    y = same = ag.tensor([5, 6])
    y += 10
    y //= 2
    y %= 5
    y <<= 3
    y >>= 1
    y |= 1
    y ^= 2
    y &= 15
    assert y is same and y.tolist() == [11, 15]
    assert (-x).tolist() == [-5, -6] and +x is x and abs(-x).tolist() == [5, 6]


def test_aliases_are_the_same_functions():
    pairs = """absolute:abs negative:neg multiply:mul divide:div subtract:sub arcsin:asin arccos:acos arctan:atan arcsinh:asinh
        arccosh:acosh arctanh:atanh arctan2:atan2 fix:trunc clip:clamp greater:gt greater_equal:ge less:lt less_equal:le
        not_equal:ne special.expit:sigmoid special.gammaln:lgamma special.psi:digamma special.multigammaln:mvlgamma
        special.gammainc:igamma special.gammaincc:igammac special.exp2:exp2 special.logsumexp:logsumexp""".split()
    for alias, name in (pair.split(":") for pair in pairs):
        found = getattr(ag.special, alias[8:]) if alias.startswith("special.") else getattr(ag, alias)
        assert found is getattr(ag, name), alias


def test_where_takes_numbers_and_finds_indices():
    mask = ag.tensor([[True, False], [True, True]])
    assert [i.tolist() for i in ag.where(mask)] == [[0, 1, 1], [0, 0, 1]]
    assert ag.where(mask, 1, 2.5).dtype == ag.float32 and ag.where(mask, 1, 0).dtype == ag.int64
    assert ag.where(mask, ag.tensor([1, 2]), 0.5).dtype == ag.float32
    assert ag.where(mask, ag.ones(2, dtype=ag.float16), ag.tensor(1.0)).dtype == ag.float16
    out = ag.empty(2, 2)
    assert ag.where(mask, ag.ones(2), ag.zeros(2), out=out) is out and out.tolist() == [[1, 0], [1, 1]]


def test_comparisons_of_whole_tensors():
    x = ag.tensor([1.0, math.nan])
    assert not ag.equal(x, x) and ag.equal(ag.ones(2), ag.ones(2)) and not ag.equal(ag.ones(2), ag.ones(3))
    assert not ag.allclose(x, x) and ag.allclose(x, x, equal_nan=True)
    assert ag.isclose(ag.tensor([100.0]), ag.tensor([101.0]), rtol=0.01).tolist() == [True]


def test_subgradients_at_ties_and_edges():
    x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = ag.tensor([1.0, 3.0, 2.0], requires_grad=True)
    assert [g.tolist() for g in ag.grad(ag.maximum(x, y).sum(), (x, y))] == [[0.5, 0, 1], [0.5, 1, 0]]
    assert [g.tolist() for g in ag.grad(ag.fmin(x, y).sum(), (x, y))] == [[1, 1, 0], [0, 0, 1]]
    assert ag.grad(ag.clamp(x, 1.0, 2.0).sum(), x)[0].tolist() == [1, 1, 0]
    z = ag.tensor([math.nan, 0.0], requires_grad=True)
    assert ag.grad(abs(z).sum(), z)[0].tolist() == [0, 0]
    floor = ag.floor(x)
    assert floor.requires_grad and ag.grad(floor.sum(), x)[0].tolist() == [0, 0, 0]


# --- special functions, against values computed with mpmath at 40 digits -----------------------------------------------

@pytest.mark.parametrize("name, x, value", [
    ("erf", 0.3, 0.3286267594591274), ("erfc", 5.0, 1.5374597944280349e-12), ("erfcx", 40.0, 0.014100335983377814),
    ("erfinv", 0.999, 2.326753765513525), ("ndtri", 1e-20, -9.262340089798408), ("log_ndtr", -20.0, -203.9171553710973),
    ("gammaln", 1.0001, -5.7713342220471268e-05), ("gammaln", 0.01, 4.599479878042022), ("psi", -1.5, 0.7031566406452432),
    ("i0", 10.0, 2815.7166284662544), ("i1e", -3.0, -0.19682671329730085), ("bessel_j0", 30.0, -0.086367983581040211),
    ("bessel_y1", 5.0, 0.14786314339122684), ("modified_bessel_k0", 0.1, 2.427069024702017), ("airy_ai", -5.0, 0.35076100902411433),
])
def test_special_values(name, x, value):
    found = getattr(ag.special, name)(ag.tensor([x], dtype=ag.float64)).item()
    assert abs(found - value) <= 1e-14 * abs(value)


def test_identities_of_special_functions():
    x = ag.linspace(0.1, 20, 200, dtype=ag.float64)
    a = x.flip(0)
    s = ag.special

    def close(u, v):
        np.testing.assert_allclose(u.numpy(), v.numpy(), rtol=3e-14, atol=1e-15)

    close(s.gammainc(a, x) + s.gammaincc(a, x), ag.ones(200, dtype=ag.float64))
    close(s.zeta(ag.full((200,), 3.0, dtype=ag.float64), x), -s.polygamma(2, x) / 2)
    close(s.psi(x + 1), s.psi(x) + 1 / x)
    close(s.bessel_j1(x) * s.bessel_y0(x) - s.bessel_j0(x) * s.bessel_y1(x), 2 / (math.pi * x))
    close(s.i0e(x) * s.scaled_modified_bessel_k1(x) + s.i1e(x) * s.scaled_modified_bessel_k0(x), 1 / x)
    close(ag.erf(ag.erfinv(x / 21)), x / 21)
    np.testing.assert_allclose(s.chebyshev_polynomial_t(ag.cos(x), 5).numpy(), ag.cos(5 * x).numpy(), atol=1e-13)


def test_derivatives_of_digamma():
    """Not a row of the table: PyTorch's own trigamma has but nine digits."""
    x = ag.tensor([0.3, 1.0, 4.5, -0.7], dtype=ag.float64, requires_grad=True)
    assert ag.gradcheck(ag.digamma, x) and ag.gradgradcheck(ag.digamma, x) and ag.gradcheck(lambda x: x.polygamma(1), x)
    assert abs(ag.polygamma(1, ag.tensor(1.0, dtype=ag.float64)).item() - math.pi ** 2 / 6) < 1e-15


@needs_torch
@pytest.mark.parametrize("name", [f"{kind}_polynomial_{which}" for kind, letters in [
    ("chebyshev", "tuvw"), ("shifted_chebyshev", "tuvw"), ("laguerre", "l"), ("legendre", "p")] for which in letters]
    + ["hermite_polynomial_h", "hermite_polynomial_he"])
def test_polynomials(name):
    x, n = np.meshgrid(np.linspace(-1.5, 1.5, 7), np.arange(-1, 9))
    ours = getattr(ag.special, name)(ag.from_numpy(x), ag.from_numpy(n))
    theirs = getattr(torch.special, name)(torch.from_numpy(x), torch.from_numpy(n))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-11, atol=1e-12)


def test_softplus_and_its_kin_at_the_ends():
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 15.0, -15.0, 80.0, -80.0], np.float32)
    expected = np.logaddexp(x.astype(np.float64), 0)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(F.softplus(ag.tensor(x), threshold=1000).numpy(), expected, rtol=1e-6, atol=1e-30)
        np.testing.assert_allclose(F.mish(ag.tensor(x[3:])).numpy(), x[3:] * np.tanh(expected[3:]), rtol=1e-6, atol=1e-30)
        np.testing.assert_allclose(F.elu(ag.tensor(x)).numpy(), np.where(x > 0, x, np.expm1(x)), rtol=1e-6)


def test_mish_in_half_precision_and_gelu_without_dimensions():
    x = np.array([-20, -1, 0, 1, 6, 11.5, 30, 6e4], np.float16)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(F.mish(ag.tensor(x)).numpy(), wide * np.tanh(np.log1p(np.exp(np.minimum(wide, 50)))), 1e-3, 1e-7)
    for dtype in (ag.float16, ag.float32, ag.float64):
        one = ag.tensor(0.0, dtype=dtype, requires_grad=True)
        F.gelu(one).backward()
        assert one.grad.item() == 0.5


FLAT = {                                             # name: the function, where its gradient is 0
    "relu": (F.relu, lambda x: x <= 0), "relu_": (lambda x: (x * 1).relu_(), lambda x: x <= 0),
    "relu6": (F.relu6, lambda x: (x <= 0) | (x >= 6)), "hardtanh": (F.hardtanh, lambda x: abs(x) >= 1),
    "hardswish": (F.hardswish, lambda x: x <= -3), "hardsigmoid": (F.hardsigmoid, lambda x: abs(x) >= 3),
    "hardshrink": (F.hardshrink, lambda x: abs(x) <= 0.5), "softshrink": (F.softshrink, lambda x: abs(x) <= 0.5),
    "clamp": (lambda x: x.clamp(-1, 1), lambda x: abs(x) > 1), "leaky_relu": (F.leaky_relu, lambda x: x != x),
    "max": (lambda x: x.max(), lambda x: x != x.max())}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("times", [1, 2000])                          # NumPy, and kernels
@pytest.mark.parametrize("name", FLAT)
def test_flat_pieces_stop_infinite_gradients(name, times, dtype):
    """As in PyTorch: sqrt(relu(x)) has the gradient 0 below 0, not infinity times 0."""
    function, flat = FLAT[name]
    values = np.repeat(np.array([-7.0, -2, -0.25, 0, 0.25, 0.5, 2, 7], dtype), times)
    x = ag.tensor(values, requires_grad=True)
    y = function(x)
    for g in (math.inf, math.nan):
        for create in (False, True):
            (found,) = ag.grad(y, [x], ag.full(y.shape, g, dtype=x.dtype), retain_graph=True, create_graph=create)
            array = found.detach().numpy()
            assert np.array_equal(array == 0, flat(values)) and np.isfinite(array).sum() == flat(values).sum()
    if y.ndim:
        (after,) = ag.grad(function(x).clamp(min=0).sqrt().sum(), [x])
        assert not np.isnan(after.numpy()[flat(values) | (y.detach().numpy() < 0)]).any()


def test_nan_passes_gradients_through_relu_as_in_pytorch():
    for size in (3, 6000):
        x = ag.full((size,), math.nan, requires_grad=True)
        assert ag.grad(F.relu(x).sum(), [x])[0].tolist() == ag.grad(F.relu6(x).sum(), [x])[0].tolist() == [1.0] * size
