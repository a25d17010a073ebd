"""Values, first and second derivatives at the ends of the range, where a formula gives nan, 0 or noise; by their limits.

Many rows differ from PyTorch's results, which are the formula's. None in place of a number: not looked at.
"""

import math

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd.distributions import Bernoulli, Normal

INF = math.inf
TAIL = math.exp(-40)                                 # sigmoid(-40), to 18 digits


def one(x, value):
    return ag.full_like(x, value)


def logits(t, **options):
    return lambda x: F.binary_cross_entropy_with_logits(x, one(x, t), reduction="none", **options)


def soft(t):
    return lambda x: F.multilabel_soft_margin_loss(x.reshape(1, 1), one(x, t).reshape(1, 1), reduction="none")


def weighted(x):
    return logits(1.0, pos_weight=ag.tensor([3.0], dtype=ag.float64))(x)


def bern(value):
    return lambda x: Bernoulli(logits=x, validate_args=False).log_prob(one(x, value))


ROWS = [
    # powers
    *[("x**0", lambda x, y=y: x ** y, x, (1, 0, 0)) for y in (0, 0.0) for x in (0.0, INF, -INF, 1e300, math.nan)],
    ("x**0, a tensor", lambda x: x ** ag.zeros((), dtype=ag.float64), INF, (1, 0, 0)), ("x**1", lambda x: x ** 1, INF, (INF, 1, 0)),
    ("x**y by y", lambda y: ag.tensor(INF, dtype=ag.float64) ** y, -1.0, (0, 0, 0)), ("x**y by y", lambda y: ag.zeros(1, dtype=ag.float64) ** y, 2.0, (0, 0, 0)),
    # losses of logits
    *[("bce", logits(t), x, result) for t, x, result in (
        (1.0, INF, (0, 0, 0)), (1.0, -INF, (INF, -1, 0)), (0.0, INF, (INF, 1, 0)), (0.0, -INF, (0, 0, 0)), (0.5, INF, (INF, 0.5, 0)),
        (1.0, 40.0, (TAIL, -TAIL, TAIL)), (0.0, -40.0, (TAIL, TAIL, TAIL)), (0.0, 40.0, (40, 1, TAIL)), (1.0, -40.0, (40, -1, TAIL)))],
    ("bce, weighted", weighted, INF, (0, 0, 0)), ("bce, weighted", weighted, 40.0, (3 * TAIL, -3 * TAIL, 3 * TAIL)),
    ("bce, weighted", weighted, -INF, (INF, -3, 0)), ("multilabel", soft(1.0), INF, (0, 0, 0)), ("multilabel", soft(0.0), -INF, (0, 0, 0)),
    ("multilabel", soft(0.0), -40.0, (TAIL, TAIL, TAIL)),
    ("soft margin", lambda x: F.soft_margin_loss(x, one(x, -1.0)), 800.0, (800, 1, 0)),
    ("soft margin", lambda x: F.soft_margin_loss(x, one(x, 1.0)), 40.0, (TAIL, -TAIL, TAIL)),
    ("kl_div", lambda x: F.kl_div(x, one(x, 0.0), reduction="sum"), -INF, (0, 0, 0)),
    ("kl_div, logs", lambda x: F.kl_div(x, one(x, -INF), reduction="sum", log_target=True), -INF, (0, 0, 0)),
    ("kl_div, logs", lambda x: F.kl_div(x, one(x, -INF), reduction="sum", log_target=True), 3.0, (0, 0, 0)),
    ("kl_div by target", lambda x: F.kl_div(one(x, -1.0), x, reduction="sum", log_target=True), -INF, (0, 0, 0)),
    ("cross entropy, masked", lambda x: F.cross_entropy(ag.cat([x, ag.zeros(1, dtype=ag.float64)]), ag.tensor(1)), -INF, (0, 0, 0)),
    # logarithms of sums
    ("logsigmoid", F.logsigmoid, 40.0, (-TAIL, TAIL, -TAIL)), ("logsigmoid", F.logsigmoid, -40.0, (-40, 1, -TAIL)), ("logsigmoid", F.logsigmoid, -INF, (-INF, 1, 0)),
    ("softplus", lambda x: F.softplus(x, threshold=INF), -40.0, (TAIL, TAIL, TAIL)), ("softplus", lambda x: F.softplus(x, threshold=INF), INF, (INF, 1, 0)),
    ("softplus", lambda x: F.softplus(x, threshold=INF), 40.0, (40, 1, TAIL)),
    ("logaddexp", lambda x: ag.logaddexp(x, one(x, 0.0)), 40.0, (40, 1, TAIL)), ("logaddexp", lambda x: ag.logaddexp(x, one(x, 0.0)), -800.0, (0, 0, 0)),
    ("logaddexp", lambda x: ag.logaddexp(x, one(x, -INF)), -INF, (-INF, 0.5, None)), ("logaddexp2", lambda x: ag.logaddexp2(x, one(x, 0.0)), -1e10, (0, 0, 0)),
    ("logsumexp", lambda x: ag.logsumexp(x, 0), -INF, (-INF, 0, 0)), ("logsumexp", lambda x: ag.logsumexp(x, 0), INF, (INF, 1, 0)),
    ("logcumsumexp", lambda x: ag.logcumsumexp(x, 0), -INF, (-INF, 0, 0)),
    # the normal distribution
    ("log_ndtr", ag.special.log_ndtr, 40.0, (0, 0, 0)), ("log_ndtr", ag.special.log_ndtr, INF, (0, 0, 0)), ("log_ndtr", ag.special.log_ndtr, -1e10, (-5e19, 1e10, -1)),
    ("log_ndtr", ag.special.log_ndtr, -100.0, (None, 100.009998000999, -0.99990005996004)),
    ("erf", ag.erf, INF, (1, 0, 0)), ("erfc", ag.erfc, -INF, (2, 0, 0)), ("ndtr", ag.special.ndtr, -20.0, (2.7536241186062e-89, 5.5209483621598e-88, 1.10418967243195e-86)),
    ("erfcx", ag.special.erfcx, 1e10, (5.64189583547756e-11, -5.64189583547756e-21, 1.12837916709551e-30)),
    ("cdf", lambda x: Normal(0.0, 1.0).cdf(x), -20.0, (2.7536241186062e-89, 5.5209483621598e-88, 1.10418967243195e-86)),
    ("icdf", lambda x: Normal(0.0, 1.0).icdf(x), 1e-20, (-9.26234008979841, None, None)), ("log_prob", lambda x: Normal(0.0, 1.0).log_prob(x), 1e100, (-5e199, -1e100, -1)),
    ("log_prob by scale", lambda x: Normal(0.0, x).log_prob(one(x, 1e-200)), 1e-200, (-0.5 + 200 * math.log(10) - 0.918938533204673, 0, None)),
    ("log_prob by scale", lambda x: Normal(0.0, x, validate_args=False).log_prob(one(x, 1.0)), INF, (-INF, 0, 0)),
    *[("bernoulli", bern(v), x, result) for v, x, result in (
        (1.0, INF, (0, 0, 0)), (0.0, -INF, (0, 0, 0)), (1.0, -INF, (-INF, 1, 0)), (1.0, 40.0, (-TAIL, TAIL, -TAIL)), (0.0, -40.0, (-TAIL, -TAIL, -TAIL)))],
    # others
    ("sinc", ag.sinc, 0.0, (1, 0, -math.pi ** 2 / 3)), ("sinc", ag.sinc, 1e-8, (1, -math.pi ** 2 / 3e8, -math.pi ** 2 / 3)),
    ("xlogy", lambda x: ag.xlogy(one(x, 0.0), x), 0.0, (0, 0, 0)), ("xlog1py", lambda x: ag.special.xlog1py(one(x, 0.0), x), -1.0, (0, 0, 0)),
    ("cross entropy of probabilities", lambda x: F.cross_entropy(ag.cat([x, ag.zeros(1, dtype=ag.float64)]), ag.tensor([0.0, 1.0], dtype=ag.float64)), -INF, (0, 0, 0)),
    ("poisson", lambda x: F.poisson_nll_loss(x, one(x, 0.0)), -INF, (0, 0, 0)), ("poisson", lambda x: F.poisson_nll_loss(x, one(x, 2.0)), -INF, (INF, -2, 0)),
    ("poisson", lambda x: F.poisson_nll_loss(x, one(x, 2.0)), INF, (INF, INF, None)), ("hypot", lambda x: ag.hypot(x, one(x, 0.0)), 0.0, (0, 0, None)),
    *[("bernoulli's entropy", lambda x: Bernoulli(logits=x, validate_args=False).entropy(), x, (0, 0, 0)) for x in (INF, -INF)],
    ("digamma", ag.digamma, 1e300, (690.775527898214, 1e-300, 0)), ("lgamma", ag.lgamma, 1e300, (6.89775527898214e302, 690.775527898214, 1e-300)),
    ("digamma", ag.digamma, -1e-8, (99999999.42278431, 1e16, 2e24)),
    ("i0", ag.i0, 710.0, (3.34533455861966e306, 3.34297785850976e306, None)), ("i0", ag.i0, -INF, (INF, -INF, None)),
    ("igamma", lambda x: ag.igamma(one(x, 1.0), x), 0.0, (0, 1, None)), ("igammac", lambda x: ag.igammac(one(x, 2.0), x), INF, (0, 0, 0)),
]


@pytest.mark.parametrize(("call", "at", "expected"), [row[1:] for row in ROWS], ids=[f"{row[0]} at {row[2]}" for row in ROWS])
def test_values_and_derivatives(call, at, expected):
    x = ag.tensor([at], dtype=ag.float64, requires_grad=True)
    found, y = [], call(x).sum()
    found.append(y.item())
    (eager,) = ag.grad(y, x, retain_graph=True)
    for _ in range(2):
        (g,) = ag.grad(y, x, create_graph=True, allow_unused=True)
        found.append(0.0 if g is None else g.item())
        if g is None or not g.requires_grad:
            break
        y = g.sum()
    assert eager.item() == pytest.approx(found[1], rel=1e-9, abs=1e-15)
    for name, value, truth in zip(("value", "first derivative", "second derivative"), found, expected, strict=False):
        assert truth is None or value == pytest.approx(truth, rel=1e-10, abs=1e-200), name


@pytest.mark.parametrize("at", [INF, -INF, 40.0, -40.0, 0.0])
@pytest.mark.parametrize("t", [0.0, 1.0, 0.25])
def test_the_loss_of_logits_in_float32_is_that_of_float64(at, t):
    """By the compiled kernel too, which takes large arrays."""
    with np.errstate(all="ignore"):
        expected = (math.log1p(math.exp(-abs(at))) + (0.0 if (share := 1 - t if at > 0 else t) == 0 else share * abs(at)))
    for size in (1, 4096):
        x, target = ag.full((size,), at), ag.full((size,), t)
        np.testing.assert_allclose(F.binary_cross_entropy_with_logits(x, target, reduction="none").numpy(), np.float32(expected), rtol=3e-7)
