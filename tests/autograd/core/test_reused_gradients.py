"""A leaf's .grad is the very array that a rule made, and ReLU writes its gradient over the one it gets, where the pass knows that
nobody else holds that array (BackwardPass.unshared in core/engine.py): nobody may notice."""

import numpy as np
import pytest
from cases import CASES

import autograd as ag
from autograd.core.parallel import run_lanes
from autograd.kernels.blocks import Block
from autograd.kernels.loops import loops
from autograd.modes.graph_api import register_multi_grad_hook
from autograd.nn import functional as F

rng = np.random.default_rng(3)
X = rng.standard_normal((6, 5)).astype(np.float32)
G = rng.standard_normal((6, 5)).astype(np.float32)
WANTED = G * 2 * (X > 0)


def twice(x, keep):
    """Twice x, by a Function that hands the gradients that it gets and makes to `keep`."""
    class Twice(ag.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            made = g * 2
            keep(g, made)
            return made

    return Twice.apply(x)


@pytest.fixture
def x():
    return ag.tensor(X, requires_grad=True)


def test_its_own_memory_serves_again(x, monkeypatch):
    outs = []
    y = F.relu(x * 1) * 2
    node = type(y.grad_fn.next_functions[0][0])
    rule = node.rule
    monkeypatch.setattr(node, "rule", staticmethod(lambda g, z, out: outs.append(out is g) or rule(g, z, out)))
    y.backward(ag.tensor(G))
    assert outs == [True]
    np.testing.assert_array_equal(x.grad.numpy(), WANTED)


def test_the_gradient_that_was_given_stays(x):
    g = ag.tensor(G)
    F.relu(x).backward(g)
    np.testing.assert_array_equal(g.numpy(), G)


def test_one_input_twice(x):
    g = ag.tensor(G)                                 # the gradients are g itself and a new array, for one leaf
    (x - x).backward(g)
    np.testing.assert_array_equal(g.numpy(), G)
    z = x * 1
    F.relu(z - z + x).backward(g)
    np.testing.assert_array_equal(g.numpy(), G)
    np.testing.assert_array_equal(x.grad.numpy(), G * (X > 0))


def test_a_gradient_that_goes_two_ways(x):
    other = ag.tensor(X - 1, requires_grad=True)
    y = F.relu(x) + F.relu(other)
    (y * 2).backward(ag.tensor(G))
    np.testing.assert_array_equal(x.grad.numpy(), WANTED)
    np.testing.assert_array_equal(other.grad.numpy(), G * 2 * (X > 1))


def test_a_gradient_that_also_is_a_leafs(x):
    leaf = ag.tensor(X, requires_grad=True)
    ((F.relu(x) + leaf) * 2).backward(ag.tensor(G))
    np.testing.assert_array_equal(x.grad.numpy(), WANTED)
    np.testing.assert_array_equal(leaf.grad.numpy(), G * 2)


def test_what_a_users_backward_keeps(x):
    seen = []
    twice(F.relu(x), keep(seen)).backward(ag.tensor(G))
    np.testing.assert_array_equal(seen[0].numpy(), G)
    np.testing.assert_array_equal(seen[1].numpy(), G * 2)
    np.testing.assert_array_equal(x.grad.numpy(), WANTED)


def test_a_view_that_a_users_backward_keeps(x):
    views = []
    twice(F.relu(x), lambda g, made: views.append(made.numpy()[2:])).backward(ag.tensor(G))
    np.testing.assert_array_equal(views[0], G[2:] * 2)


def keep(seen):
    return lambda *gs: seen.extend(gs) and None


@pytest.mark.parametrize("how", ["tensor hook", "retain_grad", "prehook", "hook", "post hook", "multi"])
def test_what_hooks_keep(x, how):
    seen = []
    z = F.relu(x * 1)
    y = z * 2
    if how == "tensor hook":
        z.register_hook(keep(seen))
    elif how == "retain_grad":
        z.retain_grad()
    elif how == "prehook":
        z.grad_fn.register_prehook(lambda gs: seen.append(gs[0]))
    elif how == "hook":
        y.grad_fn.register_hook(lambda made, got: seen.append(made[0]))
    elif how == "post hook":
        z.grad_fn.register_hook(lambda made, got: seen.append(got[0]))
    else:
        register_multi_grad_hook([z], lambda gs: seen.append(gs[0]))
    y.backward(ag.tensor(G))
    if how == "retain_grad":
        seen.append(z.grad)
    np.testing.assert_array_equal(seen[0].numpy(), G * 2)
    np.testing.assert_array_equal(x.grad.numpy(), WANTED)


def test_what_grad_was_asked_for(x):
    z = F.relu(x * 1)
    gz, gx = ag.grad(z * 2, [z, x], ag.tensor(G))
    np.testing.assert_array_equal(gz.numpy(), G * 2)
    np.testing.assert_array_equal(gx.numpy(), WANTED)


def test_again_and_in_anomaly_mode(x):
    y = F.relu(x) * 2
    with ag.autograd.detect_anomaly(check_nan=True):
        for _ in range(3):
            y.backward(ag.tensor(G), retain_graph=True)
    np.testing.assert_allclose(x.grad.numpy(), 3 * WANTED, rtol=1e-6)


def test_large_ones_in_blocks_and_channels_last():
    conv = ag.nn.Conv2d(3, 32, 3)
    x = ag.randn(20, 3, 50, 50)
    z = conv(x)
    g = ag.randn(*z.shape)
    out = F.relu(F.relu(z) * 3)
    want = 3 * g.numpy() * (z.detach().numpy() > 0)
    gz, = ag.grad(out, [z], g)
    np.testing.assert_array_equal(gz.numpy(), want)


@pytest.mark.skipif(loops.library is None, reason="loops are not compiled here, or switched off")
def test_a_large_gradient_is_kept_without_a_copy():
    """An array of 8 MB is in a block, and so does not own its memory."""
    x = ag.ones(1 << 20, dtype=ag.float64, requires_grad=True)
    F.silu(x).backward(ag.ones_like(x))
    assert type(x.grad.array.base) is Block


def test_lanes(x):
    other = ag.tensor(X, requires_grad=True)
    a, b = run_lanes([lambda: F.relu(x * 1) * 2, lambda: F.relu(other * 1) * 2])
    (a + b).backward(ag.tensor(G))
    np.testing.assert_array_equal(x.grad.numpy(), WANTED)
    np.testing.assert_array_equal(other.grad.numpy(), WANTED)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_of_every_operation_can_be_overwritten(case):
    """The first gradients are overwritten, and so may not be anything that the second pass, or the forward values, need."""
    xs = [ag.tensor(a, requires_grad=True) for a in case.inputs()]
    y = case.call(ag, *xs)
    u = ag.tensor(np.random.default_rng(2).standard_normal(y.shape))
    before = [a.numpy().copy() for a in (u, y.detach(), *[x.detach() for x in xs])]
    found = []
    for _ in range(3):
        y.backward(u, retain_graph=True)
        found.append([None if x.grad is None else x.grad.numpy().copy() for x in xs])
        for x in xs:
            if x.grad is not None:
                x.grad.fill_(77.0)                   # in place: whoever shares this memory is wrong from now on
                x.grad = None
    for later in found[1:]:
        for one, two in zip(found[0], later, strict=True):
            np.testing.assert_array_equal(one, two)
    for one, two in zip(before, (u, y.detach(), *[x.detach() for x in xs]), strict=True):
        np.testing.assert_array_equal(one, two.numpy())


@pytest.mark.parametrize("kept", ["attribute", "list", "tuple", "view"])
def test_what_an_operation_keeps_stays(kept):
    """An Operation's ctx may hold the very gradient that it returns: zeroing .grad must not reach it."""
    from autograd.core.operation import Operation

    class Constant(Operation):
        @staticmethod
        def forward(ctx, x):
            ctx.gradient = np.full(3, 3.0, np.float32)
            ctx.parts = {"attribute": ctx.gradient, "list": [ctx.gradient], "tuple": (None, ctx.gradient),
                         "view": ctx.gradient[1:]}[kept]
            if kept != "attribute":
                ctx.gradient = None
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return ctx.parts if kept == "attribute" else ctx.parts.base if kept == "view" else ctx.parts[-1]

    x = ag.zeros(3, requires_grad=True)
    y = Constant.apply(x)
    for _ in range(2):
        y.backward(ag.ones(3), retain_graph=True)
        np.testing.assert_array_equal(x.grad.numpy(), [3, 3, 3])
        x.grad.zero_()
        x.grad = None
