"""Forward mode: tangents against differences and PyTorch, with backward mode over it and under it."""

import numpy as np
import pytest
from cases import CASES

import autograd as ag
import autograd.forward_ad as fw

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch, the yardstick, is not installed")


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
        for a, b in zip(ag.grad(mine, xs, allow_unused=True), ag.grad(other, xs, allow_unused=True)):
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
