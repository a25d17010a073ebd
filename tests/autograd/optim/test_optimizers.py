"""Every optimiser beside PyTorch's: ten steps, two groups, missing gradients, states saved and loaded."""

import importlib

import numpy as np
import pytest
from both import needs_torch, torch
from optimizers import (
    CASES,
    IDS,
    as_ours,
    assert_same,
    assert_same_state,
    give_gradients,
    ours,
    shapes_of,
    theirs,
    values,
)

import autograd as ag
from autograd import nn, optim
from autograd.optim.line_search import LineSearch, Point

pytestmark = pytest.mark.quick
cases = pytest.mark.parametrize("name, options", CASES, ids=IDS)
# PyTorch sums bfloat16 products in another order, and rounds: seldom a bit differs
TOLERANCE = {"Muon": 1e-9}


@needs_torch
@pytest.mark.parametrize("groups", [1, 2])
@cases
def test_ten_steps_like_pytorch(name, options, groups):
    p, mine = ours(name, shapes_of(name), groups, **options)
    q, other = theirs(name, shapes_of(name), groups, **options)
    for step in range(10):
        give_gradients(step, p, q)
        mine.step(), other.step()
        assert_same(p, q, TOLERANCE.get(name, 1e-10))
    assert_same_state(mine, other, 1e-7 if "lr_decay" in options else 1e-10)
    assert repr(mine) == repr(other)


@needs_torch
@cases
def test_state_saved_midway(name, options):
    """A fresh optimiser goes on from its own kind's state and from PyTorch's as if nothing had happened."""
    p, mine = ours(name, shapes_of(name), 2, **options)
    q, other = theirs(name, shapes_of(name), 2, **options)
    for step in range(4):
        give_gradients(step, p, q)
        mine.step(), other.step()
    continued = []
    for state in (mine.state_dict(), as_ours(other.state_dict()), other.state_dict()):
        r, fresh = ours(name, shapes_of(name), 2)
        for a, b in zip(r, p, strict=True):
            a.data.copy_(b.detach())
        fresh.load_state_dict(state)
        continued.append((r, fresh))
    for step in range(4, 9):
        give_gradients(step, p, q, *(r for r, _ in continued))
        for optimizer in (mine, other, *(f for _, f in continued)):
            optimizer.step()
    for r, _ in continued:
        assert_same(r, q, TOLERANCE.get(name, 1e-10))
    assert [a.tolist() for a in continued[0][0]] == [a.tolist() for a in p]
    assert_same_state(continued[0][1], other, 1e-7)


@needs_torch
@pytest.mark.parametrize("name, options", [c for c in CASES if c[0] not in ("Muon", "Adafactor")][::3])
def test_complex_parameters_and_float32(name, options):
    for dtype, tolerance in ((np.complex128, 1e-10), (np.float32, 2e-5)):
        def both(make, tensor, dtype=dtype):
            start = [a + 1j * b if dtype == np.complex128 else a.astype(dtype) for a, b in zip(values([(3, 2), (4,)]), values([(3, 2), (4,)], 5))]
            params = [make(tensor(v)) for v in start]
            return params
        p, q = both(nn.Parameter, ag.tensor), both(torch.nn.Parameter, torch.tensor)
        mine, other = getattr(optim, name)(p, **options), getattr(torch.optim, name)(q, **{k: v for k, v in options.items() if k != "fused"})
        for step in range(6):
            give_gradients(step, p, q, dtype=dtype)
            mine.step(), other.step()
        assert_same(p, q, tolerance)


@pytest.mark.parametrize("name, options", [c for c in CASES if c[0] not in ("Muon", "Adafactor")], ids=[i for i in IDS if i[:4] not in ("Muon", "Adaf")])
def test_together_and_one_by_one_are_identical(name, options):
    """Aliases of some or all arrays keep their parameters out of the common buffer: bitwise the same, and aliases stay true."""
    results = []
    for held in (slice(0, 0), slice(2, 4), slice(0, None)):
        p, mine = ours(name, shapes_of(name), dtype=np.float32, **options)
        aliases = [(a.detach(), a) for a in p[held]]
        for step in range(8):
            give_gradients(step, p, dtype=np.float32)
            mine.step()
        assert all(alias.array is a.array for alias, a in aliases)
        assert sum(a.array.base is not None for a in p) == len(p) - len(aliases)
        results.append([a.tolist() for a in p])
    assert results[0] == results[1] == results[2]


def test_lars_and_lamb_follow_their_papers():
    rng = np.random.default_rng(0)
    w, zero = rng.standard_normal((4, 3)), np.zeros(3)
    for nesterov in (False, True):
        p, z = nn.Parameter(ag.tensor(w)), nn.Parameter(ag.tensor(zero))
        o = optim.LARS([p, z], lr=0.5, momentum=0.9, weight_decay=0.01, trust_coefficient=0.02, eps=0, nesterov=nesterov)
        x, v = w.copy(), np.zeros_like(w)
        for _ in range(5):
            g = rng.standard_normal(w.shape)
            p.grad, z.grad = ag.tensor(g), ag.tensor(np.ones(3))
            o.step()
            local = 0.02 * np.linalg.norm(x) / (np.linalg.norm(g) + 0.01 * np.linalg.norm(x))
            v = 0.9 * v + 0.5 * local * (g + 0.01 * x)
            x = x - (0.5 * local * (g + 0.01 * x) + 0.9 * v if nesterov else v)
        np.testing.assert_allclose(p.detach().numpy(), x, rtol=1e-12)
        assert np.all(z.detach().numpy() < 0)
    p = nn.Parameter(ag.tensor(w))
    o = optim.LAMB([p], lr=0.1, betas=(0.8, 0.9), eps=1e-6, weight_decay=0.05)
    x, m, v = w.copy(), np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 6):
        g = rng.standard_normal(w.shape)
        p.grad = ag.tensor(g)
        o.step()
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        r = m / (1 - 0.8 ** t) / (np.sqrt(v / (1 - 0.9 ** t)) + 1e-6) + 0.05 * x
        x = x - 0.1 * np.linalg.norm(x) / np.linalg.norm(r) * r
    np.testing.assert_allclose(p.detach().numpy(), x, rtol=1e-12)
    plain, adam = nn.Parameter(ag.tensor(w)), nn.Parameter(ag.tensor(w))
    a, b = optim.LAMB([plain], adapt=False, weight_decay=0), optim.Adam([adam], eps=1e-6)
    for optimizer in (a, b):
        optimizer.param_groups[0]["params"][0].grad = ag.tensor(g)
        optimizer.step()
    np.testing.assert_allclose(plain.detach().numpy(), adam.detach().numpy(), rtol=1e-12)


def rosenbrock(lib, x, y):
    return ((1 - x) ** 2).sum() + 10 * ((y - x ** 2) ** 2).sum() + lib.cos(3 * x).sum() * 0.3


@needs_torch
@pytest.mark.parametrize("options", [{"lr": 0.05}, {"lr": 0.02, "max_iter": 7, "history_size": 3}, {"line_search_fn": "strong_wolfe"},
                                     {"line_search_fn": "strong_wolfe", "max_iter": 5, "max_eval": 9, "history_size": 2},
                                     {"lr": 3.0, "line_search_fn": "strong_wolfe", "tolerance_change": 1e-5}])
def test_lbfgs_like_pytorch(options):
    start = values([(3,), (3,)])
    p, q = [nn.Parameter(ag.tensor(v)) for v in start], [torch.nn.Parameter(torch.tensor(v)) for v in start]
    mine, other = optim.LBFGS(p, **options), torch.optim.LBFGS(q, **options)

    def closure(lib, params, optimizer):
        def evaluate():
            optimizer.zero_grad()
            loss = rosenbrock(lib, *params)
            loss.backward()
            return loss
        return evaluate

    losses = []
    for step in range(5):
        a, b = mine.step(closure(ag, p, mine)), other.step(closure(torch, q, other))
        losses.append(a.item())
        assert a.item() == pytest.approx(b.item(), rel=1e-7, abs=1e-10)
        assert_same(p, q, 1e-6)
        s, r = mine.state_dict()["state"][0], other.state_dict()["state"][0]
        assert s["func_evals"] == r["func_evals"] and s["n_iter"] == r["n_iter"] and set(s) == set(r)
        if step == 2:                                     # save, and go on in a new one
            held, mine = mine.state_dict(), optim.LBFGS(p)
            mine.load_state_dict(held)
    assert losses[-1] < losses[0]
    with pytest.raises(ValueError, match="parameter groups"):
        optim.LBFGS([{"params": p[:1]}, {"params": p[1:]}])
    with pytest.raises(RuntimeError, match="strong_wolfe"):
        optim.LBFGS(p, line_search_fn="backtracking").step(lambda: ag.tensor(0.0))


BAD = [("SGD", {"lr": -1.0}), ("SGD", {"momentum": -1}), ("SGD", {"weight_decay": -1}), ("SGD", {"nesterov": True}),
       ("SGD", {"nesterov": True, "momentum": 0.9, "dampening": 0.1}), ("SGD", {"foreach": True, "fused": True}), ("Adam", {"betas": (1.0, 0.9)}),
       ("Adam", {"betas": (0.9, -0.1)}), ("Adam", {"eps": -1}), ("AdamW", {"weight_decay": -1.0}), ("Adam", {"lr": -1e-3}),
       ("Adamax", {"eps": -1}), ("NAdam", {"momentum_decay": -1}), ("RAdam", {"betas": (2.0, 0.5)}), ("Adagrad", {"lr_decay": -1}),
       ("Adagrad", {"initial_accumulator_value": -1}), ("Adadelta", {"rho": 1.5}), ("RMSprop", {"alpha": -1}), ("RMSprop", {"momentum": -1}),
       ("Rprop", {"etas": (0.5, 0.9)}), ("ASGD", {"weight_decay": -1}), ("Adafactor", {"d": 0.5}), ("Adafactor", {"beta2_decay": 1.0}),
       ("Adafactor", {"eps": (-1.0, 1.0)}), ("Adafactor", {"eps": (None, -1.0)}), ("Muon", {"momentum": -1.0}), ("Muon", {"adjust_lr_fn": "x"}),
       ("LBFGS", {"lr": -1.0})]


@needs_torch
@pytest.mark.parametrize("name, options", BAD)
def test_bad_arguments_fail_like_pytorch(name, options):
    with pytest.raises((ValueError, RuntimeError)) as theirs_said:
        theirs(name, [(2, 2)], **options)
    with pytest.raises(type(theirs_said.value)) as ours_said:
        ours(name, [(2, 2)], **options)
    assert str(ours_said.value) == str(theirs_said.value)


def test_refusals():
    p = [nn.Parameter(ag.ones(2, 2))]
    for name in ("LARS", "LAMB"):
        with pytest.raises(NotImplementedError, match=rf"{name}\(differentiable"):
            getattr(optim, name)(p, differentiable=True)
    with pytest.raises(NotImplementedError, match="SparseAdam"):
        optim.SparseAdam(p)
    with pytest.raises(ValueError, match="Muon only supports 2D"):
        optim.Muon([nn.Parameter(ag.ones(2))])
    with pytest.raises(ValueError, match="1-element"):
        optim.SGD(p, lr=ag.ones(2))


@needs_torch
def test_tensor_options():
    for name in ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adafactor"):
        p, mine = ours(name, [(3, 2)], lr=ag.tensor(0.25, dtype=ag.float64))
        q, other = theirs(name, [(3, 2)], lr=torch.tensor(0.25, dtype=torch.float64))
        for step in range(3):
            give_gradients(step, p, q)
            mine.step(), other.step()
        assert_same(p, q)
    p, mine = ours("Adam", [(3, 2)], betas=(ag.tensor(0.5), ag.tensor(0.75)))
    assert mine.param_groups[0]["betas"] == (0.5, 0.75)


@needs_torch
def test_line_search_takes_pytorchs_steps():
    """Random wavy functions along random lines: the same step, value and number of evaluations."""
    theirs_search = importlib.import_module("torch.optim.lbfgs")._strong_wolfe
    rng = np.random.default_rng(0)
    for trial in range(150):
        wave, phase, scale, d = rng.uniform(0.5, 9), rng.uniform(0, 6, 2), rng.uniform(0.1, 2, 2), rng.standard_normal(2)

        def value(x):
            return float((scale * x ** 2).sum() + 2 * np.sin(wave * x + phase).sum() - 0.3 * np.abs(x).sum())

        def slope(x):
            return 2 * scale * x + 2 * wave * np.cos(wave * x + phase) - 0.3 * np.sign(x)

        x = rng.standard_normal(2) * 2
        d = d if slope(x) @ d < 0 else -d
        t, most = float(rng.choice([0.01, 1.0, 5.0])), int(rng.choice([3, 25]))
        search = LineSearch(lambda t: (value(x + t * d), slope(x + t * d)), d, Point(0.0, value(x), slope(x), float(slope(x) @ d)), most)
        found = search.run(t)
        f, _, step, evaluations = theirs_search(
            lambda x, t, d: (value(x.numpy() + float(t) * d.numpy()), torch.tensor(slope(x.numpy() + float(t) * d.numpy()))),
            torch.tensor(x), t, torch.tensor(d), value(x), torch.tensor(slope(x)), torch.tensor(slope(x) @ d), max_ls=most)
        assert (found.t, found.f, search.evaluations) == (pytest.approx(float(step), rel=1e-6), pytest.approx(float(f), rel=1e-6), evaluations), trial


@pytest.mark.parametrize("name, settings", [("AdamW", {"lr": 0.1}), ("Adam", {"lr": 0.1, "weight_decay": 0.1}),
                                            ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9})])
@pytest.mark.parametrize("sizes", [(300, 500, 900), (7, 65_600), (5, 6)])
def test_where_parameters_lie_changes_no_bit(name, settings, sizes):
    """One rank may hold an alias of a parameter, which then stays where it is; compiled steps round otherwise than NumPy's."""
    found = []
    for held in ((), (0,), (1,)):
        rng = np.random.default_rng(0)
        params = [ag.tensor(rng.normal(size=n).astype(np.float32), requires_grad=True) for n in sizes]
        aliases = [params[i].detach() for i in held]
        optimizer = getattr(ag.optim, name)(params, **settings)
        for _ in range(4):
            for p in params:
                p.grad = ag.tensor(rng.normal(size=p.shape).astype(np.float32))
            optimizer.step()
        assert len(aliases) == len(held)
        found.append([p.detach().numpy().copy() for p in params])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_refused_gradient_takes_no_step():
    """Not of the parameters before it, and it is not counted."""
    p, q = (ag.zeros(3, requires_grad=True) for _ in range(2))
    optimizer = optim.Adam([p, q], lr=0.1)
    for _ in range(2):
        p.grad, q.grad = ag.ones(3), ag.ones(3)
        optimizer.step()
    before = p.tolist(), q.tolist()
    q._grad = ag.ones(3, dtype=ag.float64)
    with pytest.raises(RuntimeError, match="not all of their dtype"):
        optimizer.step()
    assert (p.tolist(), q.tolist()) == before
    assert [state["step"].item() for state in optimizer.state.values()] == [2, 2]


@pytest.mark.parametrize("size", [5, 70_000])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.complex64])
@cases
def test_gradients_stay_as_they_were(name, options, dtype, size):
    """Also one that fills blocks by itself, and is read where it lies."""
    if dtype == ag.complex64 and name in ("Adafactor", "Muon"):
        pytest.skip("no complex parameters")
    p = ag.ones(size, 2, dtype=dtype, requires_grad=True)
    optimizer = getattr(optim, name)([p], **options)
    p.grad = ag.full((size, 2), 0.5, dtype=dtype)
    optimizer.step()
    assert (p.grad == 0.5).all() and (p != 1).any()


RECORDED = [("SGD", {}), ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}), ("SGD", {"momentum": 0.5, "dampening": 0.2, "maximize": True}),
            ("Adam", {}), ("Adam", {"amsgrad": True, "weight_decay": 0.1}), ("AdamW", {}), ("Adamax", {"weight_decay": 0.1}), ("NAdam", {}),
            ("NAdam", {"decoupled_weight_decay": True, "weight_decay": 0.1}), ("RAdam", {}), ("RAdam", {"decoupled_weight_decay": True, "weight_decay": 0.1}),
            ("Adagrad", {"lr_decay": 0.1}), ("Adagrad", {"initial_accumulator_value": 0.5}), ("Adadelta", {}), ("RMSprop", {}),
            ("RMSprop", {"centered": True, "momentum": 0.9}), ("Rprop", {}), ("ASGD", {"t0": 2})]


def steps_of(name, options, start, rate, recorded, count=7):
    """p after some steps down |p - 1|^2 + |p|^3 (RAdam's formula changes at the sixth), and the optimiser."""
    p = start.clone() if recorded else start.detach().clone().requires_grad_()
    optimizer = getattr(optim, name)([p], lr=0.07, differentiable=recorded, **options)
    optimizer.param_groups[0]["lr"] = rate
    for _ in range(count):
        with ag.enable_grad():                       # gradcheck asks for values without
            now = p.clone() if p.requires_grad else p.clone().requires_grad_()     # p itself is written to
            loss = ((now - 1).abs() ** 2).sum() + (now.abs() ** 3).sum()
        p.grad, = ag.grad(loss, now, create_graph=recorded)
        optimizer.step()
    return p, optimizer


@pytest.mark.parametrize("name, options", RECORDED)
def test_a_recorded_step_does_what_a_plain_one_does(name, options):
    for dtype in ("float64", "complex128"):
        start = ag.tensor(np.array([0.3 + 1.4j, -1.1 + 0.2j, 2.1 - 0.8j]).astype(dtype) if dtype == "complex128" else [0.3, -1.1, 2.1],
                          dtype=dtype, requires_grad=True)
        (p, plain), (q, recorded) = (steps_of(name, options, start, 0.07, r) for r in (False, True))
        np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=1e-6)
        assert sorted(plain.state[p]) == sorted(recorded.state[q])
        for key, value in plain.state[p].items():
            np.testing.assert_allclose(recorded.state[q][key].detach().numpy(), value.numpy(), rtol=1e-5, err_msg=key)


@pytest.mark.parametrize("name, options", RECORDED)
def test_gradients_through_recorded_steps(name, options):
    """By the first parameters and by the learning rate, beside differences."""
    start, rate = ag.tensor([0.3, -1.1, 2.1], dtype=ag.float64, requires_grad=True), ag.tensor(0.05, dtype=ag.float64, requires_grad=True)
    given = (start,) if name == "Rprop" else (start, rate)
    assert ag.gradcheck(lambda x, r=rate: steps_of(name, options, x, r, True)[0] * 1, given)


def test_a_recorded_step_refuses_a_leaf():
    p = nn.Parameter(ag.ones(2))
    p.grad = ag.ones(2)
    with pytest.raises(RuntimeError, match="leaf"):
        optim.SGD([p], differentiable=True).step()
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        optim.SGD([p], differentiable=True, fused=True)
