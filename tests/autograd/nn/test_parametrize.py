"""nn.utils: weight and spectral norm, parametrizations, functional_call, beside PyTorch's."""

import copy
import pickle

import numpy as np
import pytest

import autograd as ag

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")
RNG = np.random.default_rng(0)


def close(a, b, tolerance=1e-9):
    assert tuple(a.shape) == tuple(b.shape)
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=tolerance, atol=tolerance)


def pair(make):
    """The same module twice, in double precision, with PyTorch's state."""
    theirs, mine = make(torch).double(), make(ag).double()
    assert repr(mine) == repr(theirs)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    give(mine, theirs)
    return mine, theirs


def give(mine, theirs):
    mine.load_state_dict({k: ag.tensor(v.numpy()) for k, v in theirs.state_dict().items()})


def compare(mine, theirs, shape=(5, 6), call=lambda module, x: module(x)):
    """Output, gradients and state after a forward."""
    values = RNG.standard_normal(shape)
    a, b = call(mine, ag.tensor(values)), call(theirs, torch.tensor(values))
    close(a, b)
    for p in theirs.parameters():
        p.grad = None
    mine.zero_grad()
    (a ** 2).sum().backward()
    (b ** 2).sum().backward()
    named = dict(theirs.named_parameters())
    assert [name for name, _ in mine.named_parameters()] == list(named)
    for name, p in mine.named_parameters():
        close(p.grad, named[name].grad)
    for (k, x), y in zip(mine.state_dict().items(), theirs.state_dict().values()):
        close(x, y), k


def step(mine, theirs):
    """One step of gradient descent."""
    for module, library in ((mine, ag), (theirs, torch)):
        library.optim.SGD(module.parameters(), lr=0.1).step()


LINEAR, CONV, TURNED = ((lambda t: t.nn.Linear(6, 4)), lambda t: t.nn.Conv2d(2, 3, 3), lambda t: t.nn.ConvTranspose2d(2, 3, 3))
WHERE = {"linear": (LINEAR, (5, 6)), "conv": (CONV, (2, 2, 4, 4)), "turned": (TURNED, (2, 2, 4, 4))}
NORMS = [("weight_norm", {}), ("weight_norm", {"dim": 1}), ("weight_norm", {"dim": None}), ("weight_norm", {"name": "bias"}),
         ("spectral_norm", {}), ("spectral_norm", {"n_power_iterations": 3, "dim": 1}), ("parametrizations.weight_norm", {}),
         ("parametrizations.weight_norm", {"dim": 1}), ("parametrizations.weight_norm", {"dim": None}),
         ("parametrizations.spectral_norm", {}), ("parametrizations.spectral_norm", {"name": "bias"}),
         ("parametrizations.spectral_norm", {"n_power_iterations": 2, "dim": 1})]


def function(t, path):
    value = t.nn.utils
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("path, kwargs", NORMS, ids=str)
def test_norms(path, kwargs, where):
    make, shape = WHERE[where]
    if where == "turned" and kwargs.get("name") == "bias":
        kwargs = {**kwargs, "dim": 0}
    mine, theirs = pair(lambda t: function(t, path)(make(t), **kwargs))
    compare(mine, theirs, shape)
    step(mine, theirs)
    compare(mine, theirs, shape)
    mine.eval()
    theirs.eval()
    compare(mine, theirs, shape)
    name = kwargs.get("name", "weight")
    for t, module in ((ag, mine), (torch, theirs)):
        if path.startswith("parametrizations"):
            t.nn.utils.parametrize.remove_parametrizations(module, name)
        else:
            function(t, f"remove_{path}")(module, name)
    assert repr(mine) == repr(theirs) and type(mine) is type(make(ag))
    compare(mine, theirs, shape)


def test_two_forwards_of_a_spectral_norm():
    for path in ("spectral_norm", "parametrizations.spectral_norm"):
        compare(*pair(lambda t: function(t, path)(LINEAR(t))), call=lambda module, x: module(x) - module(x * 2))


def test_older_state_of_weight_norm_fits():
    old, new = ag.nn.utils.weight_norm(LINEAR(ag)), ag.nn.utils.parametrizations.weight_norm(LINEAR(ag))
    new.load_state_dict(old.state_dict())
    x = ag.randn(5, 6)
    close(old(x), new(x), 1e-6)


def test_norms_of_recurrent_weights():
    for path in ("weight_norm", "parametrizations.weight_norm", "parametrizations.orthogonal"):
        mine, theirs = pair(lambda t: function(t, path)(t.nn.GRU(6, 6), "weight_hh_l0" if path[-1] == "m" else "weight_ih_l0"))
        if path.endswith("orthogonal"):
            base = "parametrizations.weight_ih_l0.0.base"
            assert base in mine.state_dict()
        compare(mine, theirs, (3, 2, 6), lambda module, x: module(x)[0])


@pytest.mark.parametrize("kwargs", [{}, {"orthogonal_map": "matrix_exp"}, {"orthogonal_map": "cayley"}, {"orthogonal_map": "householder"},
                                    {"orthogonal_map": "householder", "use_trivialization": False},
                                    {"orthogonal_map": "cayley", "use_trivialization": False}], ids=str)
@pytest.mark.parametrize("shape", [(6, 6), (6, 4), (6, 9)], ids=str)
def test_orthogonal(shape, kwargs):
    mine, theirs = pair(lambda t: t.nn.utils.parametrizations.orthogonal(t.nn.Linear(*shape), **kwargs))
    for _ in range(3):
        compare(mine, theirs)
        step(mine, theirs)
    w = mine.weight.detach().numpy()
    gram = w.T @ w if w.shape[0] >= w.shape[1] else w @ w.T
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-5)   # the base was made in single precision
    if kwargs.get("use_trivialization", True):
        value = np.linalg.qr(RNG.standard_normal((max(shape), min(shape))))[0]
        value = value if w.shape[0] >= w.shape[1] else value.T
        mine.weight = ag.tensor(value)
        close(mine.weight, torch.tensor(value))


def test_orthogonal_starts_from_the_value():
    """Beside PyTorch's own starting values: without loading its state."""
    value = RNG.standard_normal((4, 6))
    for kwargs in ({"orthogonal_map": "householder", "use_trivialization": False}, {"orthogonal_map": "cayley"}):
        made = []
        for t in (ag, torch):
            linear = t.nn.Linear(6, 4).double()
            with t.no_grad():
                linear.weight.copy_(t.tensor(value))
            made.append(t.nn.utils.parametrizations.orthogonal(linear, **kwargs).weight)
        close(*made)


def parametrizations(t):
    class Symmetric(t.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, x):
            return x.triu()

    class Twice(t.nn.Module):
        def forward(self, x):
            return 2 * x

    class RankOne(t.nn.Module):
        def forward(self, x, y):
            return x.unsqueeze(-1) * y.unsqueeze(-2)

        def right_inverse(self, z):
            return z[:, 0], z[0]

    return Symmetric(), Twice(), RankOne()


@pytest.mark.parametrize("numbers", [[0], [1], [0, 1], [1, 0], [2], [2, 1]], ids=str)
def test_registered_parametrizations(numbers):
    def make(t):
        module, kinds = t.nn.Linear(6, 6), parametrizations(t)
        for number in numbers:
            assert t.nn.utils.parametrize.register_parametrization(module, "weight", kinds[number]) is module
        return module

    mine, theirs = pair(make)
    P = ag.nn.utils.parametrize
    assert P.is_parametrized(mine) and P.is_parametrized(mine, "weight") and not P.is_parametrized(mine, "bias")
    assert P.type_before_parametrizations(mine) is ag.nn.Linear
    compare(mine, theirs)
    with P.cached():
        assert mine.weight is mine.weight
    assert mine.weight is not mine.weight
    twin = copy.deepcopy(mine)
    close(twin.weight, mine.weight)
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(mine)
    if 1 not in numbers:
        value = np.outer(RNG.standard_normal(6), RNG.standard_normal(6))
        value = value + value.T if numbers == [0] else value
        mine.weight, theirs.weight = ag.tensor(value), torch.tensor(value)
        compare(mine, theirs)
    else:
        with pytest.raises(RuntimeError, match="right_inverse"):
            mine.weight = ag.zeros(6, 6)
    for t, module in ((ag, mine), (torch, theirs)):
        t.nn.utils.parametrize.remove_parametrizations(module, "weight")
    assert type(mine) is ag.nn.Linear and isinstance(mine.weight, ag.nn.Parameter) and not P.is_parametrized(mine)
    compare(mine, theirs)


def test_parameters_stay_what_the_optimiser_holds():
    module = ag.nn.Linear(6, 6)
    weight, before = module.weight, module.weight.detach().clone()
    P = ag.nn.utils.parametrize
    P.register_parametrization(module, "weight", parametrizations(ag)[1])
    assert module.parametrizations.weight.original is weight
    P.remove_parametrizations(module, "weight", leave_parametrized=False)
    assert module.weight is weight and (weight == before).all()
    P.register_parametrization(module, "weight", parametrizations(ag)[1])
    P.remove_parametrizations(module, "weight")
    assert module.weight is weight and (weight == before * 2).all()


def test_a_buffer_and_a_transfer():
    P = ag.nn.utils.parametrize
    a, b = ag.nn.Linear(3, 3), ag.nn.Linear(3, 3)
    a.register_buffer("scale", ag.ones(3))
    P.register_parametrization(a, "scale", parametrizations(ag)[1])
    assert a.scale.tolist() == [2, 2, 2] and "parametrizations.scale.original" in a.state_dict()
    P.remove_parametrizations(a, "scale")
    assert a.scale.tolist() == [2, 2, 2] and "scale" in dict(a.named_buffers())
    P.register_parametrization(a, "weight", parametrizations(ag)[1])
    P.transfer_parametrizations_and_params(a, b)
    close(a.weight, b.weight)


ERRORS = [
    lambda t, P: P.register_parametrization(t.nn.Linear(3, 3), "nothing", t.nn.Identity()),
    lambda t, P: P.register_parametrization(t.nn.Linear(3, 3), "weight", t.nn.Flatten(0)),
    lambda t, P: P.remove_parametrizations(t.nn.Linear(3, 3), "weight"),
    lambda t, P: P.remove_parametrizations(t.nn.utils.parametrizations.weight_norm(t.nn.Linear(3, 3)), "weight", False),
    lambda t, P: t.nn.utils.remove_weight_norm(t.nn.Linear(3, 3)), lambda t, P: t.nn.utils.remove_spectral_norm(t.nn.Linear(3, 3)),
    lambda t, P: t.nn.utils.weight_norm(t.nn.utils.weight_norm(t.nn.Linear(3, 3))),
    lambda t, P: t.nn.utils.spectral_norm(t.nn.Linear(3, 3), n_power_iterations=0),
    lambda t, P: t.nn.utils.parametrizations.spectral_norm(t.nn.Linear(3, 3), dim=2),
    lambda t, P: t.nn.utils.parametrizations.orthogonal(t.nn.Linear(3, 3), "bias"),
    lambda t, P: t.nn.utils.parametrizations.orthogonal(t.nn.Linear(3, 3), orthogonal_map="qr"),
    lambda t, P: t.nn.utils.skip_init(t.nn.ReLU), lambda t, P: t.nn.utils.skip_init(int),
    lambda t, P: t.func.functional_call(t.nn.Linear(3, 3), {"weight": t.zeros(3, 3)}, t.zeros(3), strict=True),
    lambda t, P: t.func.functional_call(t.nn.Linear(3, 3), [{"weight": t.zeros(3, 3)}, {"weight": t.zeros(3, 3)}], t.zeros(3)),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors_are_of_the_same_class(number):
    with pytest.raises(Exception) as theirs:
        ERRORS[number](torch, torch.nn.utils.parametrize)
    with pytest.raises(theirs.type):
        ERRORS[number](ag, ag.nn.utils.parametrize)


def test_functional_call():
    net = ag.nn.Sequential(ag.nn.Linear(3, 4), ag.nn.BatchNorm1d(4))
    params = {name: p.detach().clone().requires_grad_() for name, p in net.named_parameters()}
    buffers = {name: b.clone() for name, b in net.named_buffers()}
    x = ag.randn(5, 3)
    given = {name: p * 2 for name, p in params.items()}
    out = ag.func.functional_call(net, (given, buffers), (x,))
    out.sum().backward()
    assert all(p.grad is None for p in net.parameters()) and all(p.grad is not None for p in params.values())
    assert net[1].running_mean.abs().max() == 0 and buffers["1.running_mean"].abs().max() > 0
    assert isinstance(net[0].weight, ag.nn.Parameter) and len(list(net.parameters())) == 4
    for name, p in net.named_parameters():
        p.data = given[name].detach()
    close(net(x), out, 1e-6)


def test_functional_call_of_tied_weights_and_changed_buffers():
    class Net(ag.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = self.b = ag.nn.Parameter(ag.ones(2))
            self.register_buffer("count", ag.zeros(1))

        def forward(self, x, scale=1.0):
            assert all(p.sum() == 0 for p in self.parameters())
            self.count = self.count + 1
            return (x + self.a + self.b) * scale

    net = Net()
    given = {"a": ag.zeros(2), "count": ag.zeros(1)}
    assert ag.func.functional_call(net, given, ag.ones(2), {"scale": 3.0}).tolist() == [3, 3]
    assert given["count"].item() == 1 and net.count.item() == 0 and net.a is net.b
    with pytest.raises(ValueError, match="tied"):
        ag.func.functional_call(net, {"a": ag.zeros(2), "b": ag.ones(2)}, ag.ones(2))
    with pytest.raises(RuntimeError):
        ag.func.functional_call(net, {"x": ag.zeros(2)}, ag.ones(2), strict=True)
    with pytest.warns(FutureWarning):
        ag.nn.utils.stateless.functional_call(net, {"a": ag.zeros(2)}, ag.ones(2))
    assert repr(ag.nn.utils.skip_init(ag.nn.Linear, 3, out_features=2)) == repr(ag.nn.Linear(3, 2))
