"""What a distribution asks of its parameters and values: on arrays the same answers as on Tensors, and PyTorch's."""

import numpy as np
import pytest

import autograd as ag
from autograd.distributions import constraints

SETS = {"real": constraints.real, "real_vector": constraints.real_vector, "positive": constraints.positive,
        "unit": constraints.unit_interval, "whole": constraints.integer_interval(0, 3), "boolean": constraints.boolean,
        "one_hot": constraints.one_hot, "simplex": constraints.simplex, "tensors": constraints.interval(ag.tensor(-1.0), ag.tensor(2.0))}
VALUES = [[0.25, 0.75], [0.0, 1.0], [1.0, 0.0], [3.0, -1.0], [0.5, 0.5 + 5e-6], [float("nan"), 1.0], [float("inf"), 0.0],
          [-float("inf"), 2.0], [1.0, 1.0], [-0.0, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.float16, ag.int64])
def test_holds_is_check(name, dtype):
    for value in VALUES:
        if dtype is ag.int64 and not np.isfinite(value).all():
            continue
        x = ag.tensor(value, dtype=dtype)
        for y in (x, x.expand(3, 2), x.expand(600, 2)):
            assert SETS[name].holds(y) is bool(SETS[name].check(y).all())


def test_a_users_own_set():
    class Even(constraints.Constraint):
        def check(self, value):
            return value.remainder(2).eq(0)              # a Tensor's methods

    class Low(constraints.Interval):
        def check(self, value):
            return value.lt(self.upper_bound)

    assert Even().holds(ag.tensor([2.0, 4.0])) and not Even().holds(ag.tensor([2.0, 3.0])) and Low(0, 1).holds(ag.tensor([-5.0]))


def test_values_outside_are_refused():
    d = ag.distributions.Categorical(probs=ag.tensor([0.3, 0.7]))
    assert d.log_prob(ag.tensor(1)).item() == pytest.approx(np.log(0.7))
    for wrong in (2, -1):
        with pytest.raises(ValueError, match="support"):
            d.log_prob(ag.tensor(wrong))
    with pytest.raises(ValueError, match="parameter probs"):
        ag.distributions.Bernoulli(probs=ag.tensor(1.5))


@pytest.mark.parametrize("shape", [(128,), (1, 5), (7, 3), (64, 64), (5, 2, 33), (5000, 300)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_linear_layer_of_one_output_is_the_product_plus_bias(shape, dtype):
    rng = np.random.default_rng(0)
    x, w, b, g = (rng.standard_normal(s).astype(dtype) for s in (shape, (1, shape[-1]), 1, (*shape[:-1], 1)))
    results = []
    for function in (ag.nn.functional.linear, lambda x, w, b: x @ w.T + b):
        leaves = [ag.tensor(a, requires_grad=True) for a in (x, w, b)]
        out = function(*leaves)
        results.append([out.detach(), *ag.grad(out, leaves, ag.tensor(g))])
    for mine, other in zip(*results):
        assert np.array_equal(mine.numpy(), other.numpy())
