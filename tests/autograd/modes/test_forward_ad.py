"""Forward mode: tangents against differences and PyTorch, with backward mode over it and under it."""

import numpy as np
import pytest
from both import function, needs_torch, torch
from cases import CASES

import autograd as ag
import autograd.transforms.forward_ad as fw


def leaf(*shape, seed=0):
    return ag.tensor(np.random.default_rng(seed).standard_normal(shape), requires_grad=True)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_operation(case):
    """<u, J v> by forward mode is <J^T u, v> by backward mode, for random u and v; also under a second derivative."""
    xs = [ag.tensor(a, requires_grad=True) for a in case.inputs()]
    rng = np.random.default_rng(2)
    vs = [ag.tensor(rng.standard_normal(x.shape)) for x in xs]
    with fw.dual_level():
        y = case.call(ag, *[fw.make_dual(x, v) for x, v in zip(xs, vs)])
        _, tangent = fw.unpack_dual(y)
    assert tangent.shape == y.shape and tangent.dtype == y.dtype
    u = ag.tensor(rng.standard_normal(y.shape))
    grads = ag.grad(case.call(ag, *xs), xs, u, create_graph=case.second, allow_unused=True)
    other = sum((g * v).sum() for g, v in zip(grads, vs) if g is not None)
    mine = (tangent * u).sum()
    np.testing.assert_allclose(mine.item(), ag.as_tensor(other).item(), rtol=1e-9, atol=1e-12)
    if case.second and isinstance(other, ag.Tensor) and other.requires_grad:          # reverse over forward
        seconds = ag.grad(mine, xs, allow_unused=True) if mine.requires_grad else [None] * len(xs)
        for a, b in zip(seconds, ag.grad(other, xs, allow_unused=True)):
            np.testing.assert_allclose(0 if a is None else a.numpy(), 0 if b is None else b.numpy(), rtol=1e-8, atol=1e-10)


def test_forward_over_reverse():
    x, v = leaf(4), leaf(4, seed=1).detach()
    f = lambda x: (x.exp() * x[:1] + ag.tanh(x * x)).sum()
    hvp = ag.grad((ag.grad(f(x), [x], create_graph=True)[0] * v).sum(), [x])[0]
    for create in (False, True):
        with fw.dual_level():
            dual = fw.make_dual(x, v)
            (g,) = ag.grad(f(dual), [dual], create_graph=create)
            assert g.requires_grad == create
            np.testing.assert_allclose(fw.unpack_dual(g).tangent.detach().numpy(), hvp.numpy(), rtol=1e-10)
    assert x.grad is None


def test_levels_and_errors():
    x = ag.ones(3)
    with pytest.raises(RuntimeError, match="no level exists"):
        fw.make_dual(x, x)
    with fw.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode"):
            fw.enter_dual_level()
        dual = fw.make_dual(x, ag.full((3,), 2.0))
        y = dual * 3
        assert not y.requires_grad and y.is_leaf and fw.unpack_dual(y).tangent.tolist() == [6, 6, 6]
        with ag.no_grad():
            assert fw.unpack_dual(dual * 3).tangent.tolist() == [6, 6, 6]
        assert fw.unpack_dual(dual.detach()).tangent is None and fw.unpack_dual(x).tangent is None
        for bad, error in ((ag.ones(2), RuntimeError), (ag.ones(3, dtype=ag.float64), RuntimeError), (ag.ones(3, dtype=ag.int64), ValueError), (1.0, TypeError)):
            with pytest.raises(error):
                fw.make_dual(x, bad)
    assert fw.unpack_dual(y).tangent is None and not (y * 2).requires_grad
    with fw.dual_level():
        assert fw.unpack_dual(dual).tangent is None and fw.unpack_dual(dual * 2).tangent is None
    with pytest.raises(RuntimeError, match="exit a forward AD level"):
        fw.exit_dual_level()


def test_in_place_and_views():
    with fw.dual_level():
        x = fw.make_dual(ag.ones(3), ag.tensor([1.0, 2, 3]))
        y = x * 1
        part = y[1:]
        y[0] = 7
        part.mul_(x[:2])
        assert fw.unpack_dual(y).tangent.tolist() == [0, 3, 5] and fw.unpack_dual(part).tangent.tolist() == [3, 5]
        y.mul_(2)
        assert fw.unpack_dual(part).tangent.tolist() == [6, 10]


class Cube(ag.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2 * g


class CubeWithRule(Cube):
    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2 * t


@pytest.mark.parametrize("function", [Cube, CubeWithRule])
def test_users_functions(function):
    x = leaf(3)
    ag.gradcheck(function.apply, [x], check_forward_ad=True)
    ag.gradgradcheck(function.apply, [x], check_fwd_over_rev=True)
    with fw.dual_level():
        t = fw.unpack_dual(function.apply(fw.make_dual(x, ag.ones_like(x)))).tangent
    np.testing.assert_allclose(ag.grad(t.sum(), [x])[0].numpy(), 6 * x.detach().numpy())


def test_gradcheck_notices_a_wrong_tangent():
    class Wrong(Cube):
        @staticmethod
        def jvp(ctx, t):
            return t

    with pytest.raises(ag.GradcheckError, match="forward mode"):
        ag.gradcheck(Wrong.apply, [leaf(3)], check_forward_ad=True)

    class Short(Cube):
        @staticmethod
        def jvp(ctx, t):
            return t[:1]

    with pytest.raises(RuntimeError, match="invalid tangent"):
        ag.gradcheck(Short.apply, [leaf(3)], check_forward_ad=True)


@needs_torch
def test_a_small_network_like_pytorch():
    results = []
    for t, fwd in ((ag, fw), (torch, torch.autograd.forward_ad if torch else None)):
        rng = np.random.default_rng(0)
        x, w, v = (t.from_numpy(rng.standard_normal(s)) for s in ((5, 4), (3, 4), (3, 4)))
        with fwd.dual_level():
            y = t.nn.functional.cross_entropy(t.nn.functional.linear(x.tanh(), fwd.make_dual(w, v)), t.tensor([0, 1, 2, 1, 0]))
            results.append(fwd.unpack_dual(y).tangent.item())
    assert results[0] == pytest.approx(results[1], rel=1e-12)


def test_jvp_of_missing_tangents_and_dirty_inputs():
    """Zeros for a Tensor without a tangent, None after set_materialize_grads(False); a dirty input has its new tangent."""
    def call(materialize):
        seen = []

        def forward(ctx, x, n, whole, y):
            ctx.set_materialize_grads(materialize)
            return x + y

        def jvp(ctx, *tangents):
            seen.extend(None if t is None else t.tolist() for t in tangents)
            return tangents[0]

        with fw.dual_level():
            out = function(ag, forward, jvp=staticmethod(jvp)).apply(
                fw.make_dual(ag.ones(2), ag.ones(2)), 3, ag.tensor([1, 2]), ag.ones(2))
            assert fw.unpack_dual(out).tangent.tolist() == [1, 1]
        return seen

    assert call(True) == [[1, 1], None, None, [0, 0]] and call(False) == [[1, 1], None, None, None]

    def double(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    for extra in ({"jvp": staticmethod(lambda ctx, t: t.mul_(2))}, {"backward": staticmethod(lambda ctx, g: 2 * g)}):
        with fw.dual_level():
            x = fw.make_dual(ag.ones(2), ag.ones(2)).clone()
            out = function(ag, double, **extra).apply(x)
            assert out is x and fw.unpack_dual(out).tangent.tolist() == [2, 2]


class Halved(ag.autograd.Function):
    """x[:2] (or what `change` makes of it), with a jvp that makes `rule` of the tangent."""

    @staticmethod
    def forward(ctx, x, change, rule):
        ctx.rule = rule
        if change == "write":
            ctx.mark_dirty(x)
            return x.mul_(2)
        if change == "constant":
            out = x.clone()
            ctx.mark_non_differentiable(out)
            return x.clone(), out
        return x[:2]

    @staticmethod
    def backward(ctx, *gs):
        raise AssertionError("not asked for")

    @staticmethod
    def jvp(ctx, t, *_):
        return ctx.rule(t)


@pytest.mark.parametrize(("change", "right", "wrong", "match"), [
    ("view", lambda t: t[:2], lambda t: t[:2].clone(), "not returning a view"),
    ("view", lambda t: t.view(-1)[:2], lambda t: t.clone()[:2], "not returning a view of the given"),
    ("write", lambda t: t.mul_(2), lambda t: t * 2, "modify the corresponding gradient inplace"),
    ("constant", lambda t: (t, None), lambda t: (t, t.clone()), "should return None at that position"),
])
def test_jvp_makes_tangents_as_forward_makes_outputs(change, right, wrong, match):
    x, t = ag.ones(3), ag.ones(3)
    with fw.dual_level():
        out = Halved.apply(fw.make_dual(x, t), change, right)
        assert fw.unpack_dual(out[0] if change == "constant" else out).tangent is not None
        with pytest.raises(RuntimeError, match=match):
            Halved.apply(fw.make_dual(ag.ones(3), t), change, wrong)


def test_tangents_that_are_refused():
    class Nothing(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

    x = ag.ones(2)
    with fw.dual_level():
        dual = fw.make_dual(x, ag.ones(2))
        for run, match in ((lambda: fw.make_dual(ag.ones(2), dual), "has a forward gradient at the same level"),
                           (lambda: fw.make_dual(x, ag.ones(3)), "forward gradient that has a different size"),
                           (lambda: Nothing.apply(dual), "must implement the jvp function"),
                           (lambda: ag.add(x, x, out=dual), "out= function"), (lambda: ag.add(dual, x, out=x.clone()), "out= function"),
                           (lambda: ag.sum(dual, 0, out=ag.ones(())), "out= function")):
            with pytest.raises(RuntimeError, match=match):
                run()


def hooked(x):
    y = ag.view_as_real(x).sum(-1) if x.is_complex() else x.clone()
    y.register_hook(lambda g: g + 0.1)               # an error where nothing is recorded
    return y


class Doubled(ag.autograd.Function):
    """2 x, whose backward errs by `error` times the gradient."""

    @staticmethod
    def forward(ctx, x, error):
        ctx.error = error
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * (2 + ctx.error), None


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("function", "dtype", "match"), [
    (lambda x: x * x, "complex128", ""), (lambda x: (x.real, x * 2), "complex128", ""), (lambda x: x.abs(), "complex128", ""),
    (lambda x: ag.complex(x, x * 2), "float64", ""), (lambda x: ag.pow(-ag.ones(3, dtype=ag.float64), x), "complex128", ""),
    (lambda x: ag.pow(-2, x), "complex128", ""), (lambda x: ag.pow(x, 0.5j), "float64", ""), (lambda x: (x.detach(), x * 2), "float64", ""),
    (lambda x: (x.detach(), Doubled.apply(x, 1)), "float64", "Jacobian mismatch for output 0 with respect to input 0"),
    (lambda x: Doubled.apply(x, 1j), "complex128", "imaginary part of complex outputs only, Jacobian mismatch for output 0"),
    (lambda x: Doubled.apply(x, 0.5).real, "complex128", "Jacobian mismatch"), (hooked, "complex128", "^Jacobian mismatch"),
    (lambda x: Doubled.apply(ag.complex(x, x), 1), "float64", "imaginary part of complex outputs only"), (hooked, "float64", "mismatch"),
])
def test_gradcheck_of_real_and_complex(function, dtype, match, fast):
    rng = np.random.default_rng(3)
    x = ag.tensor((rng.uniform(0.5, 2, 3) + (1j * rng.standard_normal(3) if dtype == "complex128" else 0)).astype(dtype), requires_grad=True)
    if match:
        with pytest.raises(ag.GradcheckError, match=match):
            ag.gradcheck(function, x, fast_mode=fast)
    else:
        assert ag.gradcheck(function, x, fast_mode=fast) and ag.gradgradcheck(function, x, fast_mode=fast)
        assert fast or ag.gradcheck(function, x, check_forward_ad=True)


@pytest.mark.parametrize(("change", "match"), [(lambda x: ag.cat([x, x]), "same shape"), (lambda x: x.float(), "same dtype")])
def test_gradcheck_refuses_outputs_that_change_with_values(change, match):
    x = ag.ones(1, dtype=ag.float64, requires_grad=True)
    with pytest.raises(AssertionError, match=match):
        ag.gradcheck(lambda x: change(x) if x.item() >= 1 else x, x)


def test_gradgradcheck_takes_grad_outputs_as_they_are():
    x = leaf(3)
    assert ag.gradgradcheck(lambda x: x * x, [x], [ag.ones(3)])      # float32 and no leaf: differences by it would be wrong


def test_gradcheck_in_forward_mode_hands_over_inputs_without_requires_grad():
    seen = []
    ag.gradcheck(lambda x, y: (seen.append((x.requires_grad, y.requires_grad)), x * y)[1], [leaf(2), leaf(2)], check_forward_ad=True,
                 check_backward_ad=False)
    assert (False, False) in seen


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradcheck_of_inputs_without_elements(dtype):
    x = ag.zeros(0, 1, dtype=getattr(ag, dtype), requires_grad=True)
    assert ag.gradcheck(lambda x: (x * 2, x.diagonal()), x, check_forward_ad=True)
    assert ag.gradcheck(lambda x: x * 2, x, fast_mode=True)
