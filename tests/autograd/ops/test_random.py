"""Random numbers: seeds and states, distributions by their moments, arguments and errors as PyTorch's."""

import copy
import pickle
import random
import sys

import numpy as np
import pytest

import autograd as ag
from autograd.utils.data.streams import SharedStates, memory_of, shared_streams, states

pytestmark = pytest.mark.quick
N = 20_000


def test_states_seeds_and_forks():
    ag.manual_seed(3)
    state, first = ag.get_rng_state(), ag.rand(4).tolist()
    assert state.dtype == ag.uint8 and ag.initial_seed() == 3
    ag.set_rng_state(state)
    assert ag.rand(4).tolist() == first and ag.manual_seed(3) is ag.default_generator and ag.rand(4).tolist() == first
    ag.random.set_rng_state(state)
    with ag.random.fork_rng():
        inside = ag.rand(4).tolist()
    assert inside == first == ag.rand(4).tolist()
    assert ag.seed() == ag.initial_seed() != 3
    generator = ag.Generator().manual_seed(-1)
    others = [copy.deepcopy(generator), pickle.loads(pickle.dumps(generator)), generator.clone_state()]
    expected = ag.rand(3, generator=generator).tolist()
    assert all(ag.rand(3, generator=g).tolist() == expected for g in others) and generator.initial_seed() == 2**64 - 1
    with pytest.raises(TypeError, match="ByteTensor"):
        generator.set_state([1])
    with pytest.raises(TypeError, match="generator"):
        ag.rand(2, generator=1)


def test_the_same_numbers_everywhere():
    """Values written down once: another machine or version that draws others would split the ranks."""
    g = ag.Generator().manual_seed(0)
    np.testing.assert_allclose(ag.rand(2, generator=g, dtype=ag.float64).numpy(), [0.63696169, 0.26978671], atol=1e-8)
    assert ag.randint(0, 100, (4,), generator=g).tolist() == [30, 4, 7, 1]
    assert ag.randperm(5, generator=g).tolist() == [4, 1, 2, 0, 3]


@pytest.mark.parametrize("draw, mean, std", [
    (lambda x, g: x.uniform_(2, 4, generator=g), 3, 12 ** -0.5 * 2), (lambda x, g: x.normal_(1, 2, generator=g), 1, 2),
    (lambda x, g: x.exponential_(2, generator=g), 0.5, 0.5), (lambda x, g: x.geometric_(0.25, generator=g), 4, 12 ** 0.5),
    (lambda x, g: x.log_normal_(0, 0.5, generator=g), 1.1331, 0.604), (lambda x, g: x.bernoulli_(0.3, generator=g), 0.3, 0.4583),
    (lambda x, g: x.random_(0, 10, generator=g), 4.5, 8.25 ** 0.5), (lambda x, g: x.cauchy_(0, 1, generator=g).clamp_(-1, 1), 0, 0.7962),
    (lambda x, g: ag.normal(x * 0 + 1, x * 0 + 3, generator=g), 1, 3), (lambda x, g: ag.normal(2.0, 0.5, x.shape, generator=g), 2, 0.5),
    (lambda x, g: ag.bernoulli(x * 0 + 0.9, generator=g), 0.9, 0.3), (lambda x, g: ag.poisson(x * 0 + 4, generator=g), 4, 2),
    (lambda x, g: ag.rand_like(x, generator=g), 0.5, 12 ** -0.5), (lambda x, g: ag.randn_like(x, generator=g), 0, 1),
    (lambda x, g: ag.randint_like(x, 4, generator=g), 1.5, 1.25 ** 0.5)])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_moments(draw, mean, std, dtype):
    y = draw(ag.zeros(N, dtype=dtype), ag.Generator().manual_seed(1))
    assert y.dtype in (dtype, ag.float32)
    values = y.numpy().astype(float)
    assert values.mean() == pytest.approx(mean, abs=5 * std / N ** 0.5) and values.std() == pytest.approx(std, rel=0.05)


def test_multinomial():
    g = ag.Generator().manual_seed(0)
    weights = ag.tensor([[1.0, 0, 3], [2, 2, 0]])
    drawn = ag.multinomial(weights, N, True, generator=g).numpy()
    assert drawn.dtype == np.int64 and np.bincount(drawn[0], minlength=3)[1] == 0 == np.bincount(drawn[1], minlength=3)[2]
    assert (drawn[0] == 2).mean() == pytest.approx(0.75, abs=0.02)
    firsts = [ag.multinomial(ag.tensor([1.0, 3.0]), 2, generator=g).tolist() for _ in range(2000)]
    assert all(sorted(f) == [0, 1] for f in firsts) and np.mean([f[0] for f in firsts]) == pytest.approx(0.75, abs=0.05)
    many = ag.tensor([[0.0, 1.0, 3.0, 0.0], [2.0, 0.0, 0.0, 2.0]]).repeat(N, 1)
    one = ag.multinomial(many, 1, True).numpy().reshape(N, 2)
    assert abs((one[:, 0] == 2).mean() - 0.75) < 0.05 and abs((one[:, 1] == 3).mean() - 0.5) < 0.05
    assert set(one[:, 0]) == {1, 2} and set(one[:, 1]) == {0, 3}


def test_gradients_are_zero_and_writes_are_counted():
    x = ag.ones(3, requires_grad=True)
    y = x * 2
    y.uniform_()
    (y * 3).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.normal_()
    with ag.no_grad():
        assert x.normal_() is x
    p = ag.tensor([0.5, 0.5], requires_grad=True)
    ag.bernoulli(p).sum().backward()
    assert p.grad.tolist() == [0, 0]
    z = x * x
    version = x._version
    with ag.no_grad():
        x.uniform_()
    assert x._version == version + 1
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        z.sum().backward()


@pytest.mark.parametrize("text", """t.randint(3, 3, (2,)) | t.randint(0, (2,)) | t.randint(0, 300, (2,), dtype=t.uint8) | t.randint(2) | t.randint(2.5, (2,)) | t.randperm(-1)
t.randperm(300, dtype=t.uint8) | t.rand(2, dtype=t.int64) | t.randn(2, dtype=t.int64) | t.normal(t.zeros(2), -1.) | t.normal(0., -t.ones(2)) | t.normal(0., 1.) | t.normal(t.zeros(2, dtype=t.int64), t.ones(2))
t.bernoulli(t.tensor([1.5])) | t.bernoulli(t.tensor([1])) | t.tensor([1, 2]).bernoulli_(2.) | t.multinomial(t.tensor([1., 1]), 3) | t.multinomial(t.tensor([1., -1]), 1) | t.multinomial(t.tensor([0., 0]), 1)
t.multinomial(t.tensor([1, 2]), 1) | t.multinomial(t.tensor(1.), 1) | t.multinomial(t.ones(2, 3), 0) | t.poisson(t.tensor([-1.])) | t.poisson(t.tensor([1])) | t.zeros(2).uniform_(1, 0)
t.zeros(2, dtype=t.int64).uniform_() | t.zeros(2).normal_(0, -1) | t.zeros(2).exponential_(-1) | t.zeros(2, dtype=t.int64).exponential_() | t.zeros(2).geometric_(1.5) | t.zeros(2).cauchy_(0, -1)
t.zeros(2, dtype=t.int64).cauchy_() | t.zeros(2).log_normal_(0, -1) | t.zeros(2).random_(5, 2) | t.zeros(2).random_(0) | t.zeros(2, dtype=t.uint8).random_(300) | t.Generator().set_state([1])
t.randint(3, (2,)).dtype | t.randint(0, 2, (2,), dtype=t.bool).dtype | t.randint_like(t.zeros(2), low=2, high=5).dtype | t.randperm(3, dtype=t.float32).dtype | t.normal(t.zeros(2, 3), t.ones(3)).shape
t.normal(0, 1, size=(2,), dtype=t.float64).dtype | t.bernoulli(t.tensor([1, 2]), .3).dtype | t.zeros(2, dtype=t.int64).geometric_(.5).dtype | t.zeros(2, dtype=t.bool).random_().dtype | t.zeros(2).random_(3).shape
t.rand_like(t.zeros(2, 3).t()).stride() | t.multinomial(t.ones(2, 3), 5, True).shape | t.randn(2, dtype=t.complex64).dtype""".replace("\n", " | ").split(" | "))
def test_errors_and_types_like_pytorch(text):
    torch = pytest.importorskip("torch")

    def outcome(t):
        try:
            return str(eval(text, {"t": t}))
        except Exception as error:
            return type(error).__name__

    assert outcome(ag).replace("torch.", "") == outcome(torch).replace("torch.", "")


DRAWS = {"nothing": lambda: None, "ours": lambda: ag.rand(3), "ours again": lambda: ag.randint(5, (1,)), "reseeded": lambda: ag.manual_seed(7),
         "python": random.random, "python's pair": lambda: random.gauss(0, 1), "numpy": np.random.rand, "numpy's pair": np.random.randn,
         "numpy reseeded": lambda: np.random.seed(3), "python reseeded": lambda: random.seed(3)}


def test_states_of_shared_streams_are_read_whenever_something_was_drawn():
    """SharedStates looks at memory, and must see each draw: also those that change only a cached second number of a pair."""
    last = SharedStates()
    order = np.random.default_rng(0)
    for name in [*DRAWS, *order.choice([*DRAWS], 300)]:
        DRAWS[name]()
        found, expected = last.read(), states(shared_streams())
        assert found["random"] == expected["random"], name
        assert all(np.array_equal(a, b) for a, b in zip(found["numpy"], expected["numpy"], strict=True)), name
        assert found["default"].tolist() == expected["default"].tolist(), name


def test_a_stream_that_is_not_known_is_read_each_time():
    assert memory_of(np.random.default_rng(0)) is None
    assert memory_of(random.Random(0)) is None
    assert sys.implementation.name != "cpython" or memory_of(random) is not None
