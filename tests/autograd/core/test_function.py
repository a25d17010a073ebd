"""User-written Functions: the context, what backward returns, in-place changes, misuse."""

from functools import partial

import both
import numpy as np
import pytest

import autograd as ag

pytestmark = pytest.mark.quick
function = partial(both.function, ag)
leaf = partial(both.leaf, ag)


def test_second_derivative_of_a_users_function():
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * x * y

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return 2 * x * y * g, x * x * g

    f = function(forward, backward)
    xs = leaf(1.0, -2.0, 0.5), leaf(3.0, 1.0, 2.0)
    assert ag.gradcheck(f.apply, xs) and ag.gradgradcheck(f.apply, xs)


def test_saving_an_output_and_an_intermediate():
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y, None)
        return y

    def backward(ctx, g):
        y, nothing = ctx.saved_tensors
        assert nothing is None
        return y * g

    f = function(forward, backward)
    x = leaf(0.3, -1.0)
    assert ag.gradcheck(f.apply, x) and ag.gradgradcheck(f.apply, x)


def test_setup_context_keywords_and_other_arguments():
    class Scale(ag.Function):
        @staticmethod
        def forward(x, factor, *, shift=0):
            assert not ag.is_grad_enabled()
            return x * factor + shift

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]
            assert ctx.needs_input_grad == (True, False)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = leaf(1.0)
    y = Scale.apply(x, factor=3.0, shift=2)
    assert y.item() == 5
    y.sum().backward()
    assert x.grad.item() == 3


@pytest.mark.parametrize("backward, words", [
    (lambda ctx, g: 3.0, "returned a float"), (lambda ctx, g: np.ones(2), "returned a ndarray")])
def test_gradients_that_are_no_tensors(backward, words):
    x = leaf(1.0, 2.0)
    with pytest.raises(TypeError, match=words):
        function(lambda ctx, x: x * 2, backward).apply(x).sum().backward()


def test_more_misuse():
    x = leaf(1.0)
    f = function(lambda ctx, x, n: x * n, lambda ctx, g: (g, g))
    with pytest.raises(RuntimeError, match="input was not a Tensor"):
        f.apply(x, 2).sum().backward()
    for name in ("forward", "backward", "setup_context", "jvp"):      # the class can be made: a package with one can be imported
        methods = {"forward": staticmethod(lambda ctx, x: x * 1), "backward": staticmethod(lambda ctx, g: g)}
        bad = type("Bad", (ag.Function,), {**methods, name: lambda self, x: x})
        with pytest.raises(TypeError, match=rf"Bad\.{name} must be a static method"):
            bad.apply(x)
        assert type("Mended", (bad,), {name: methods.get(name, ag.Function.__dict__[name])}).apply(x).item() == 1


def test_changed_and_freed_saved_tensors():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    f = function(forward, lambda ctx, g: (ctx.saved_tensors[0] * g))
    x = leaf(1.0)
    h = x * 1
    y = f.apply(h)
    with ag.no_grad():
        h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = f.apply(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.grad_fn.saved_tensors  # noqa: B018


def test_mark_dirty_after_a_write_to_the_array():
    def double(ctx, x):
        ctx.mark_dirty(x)
        x.array *= 2
        return x

    inplace = function(double, lambda ctx, g: g * 2, name="Double")
    h = leaf(3.0) * 1
    z = inplace.apply(h)
    assert z is h and h.item() == 6 and h.grad_fn.name() == "DoubleBackward" and h._version == 1


def test_once_differentiable_is_an_error_never_a_missing_term():
    @ag.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    f = function(forward, backward)
    x = leaf(3.0)
    (g,) = ag.grad((f.apply(x) * x).sum(), x, create_graph=True)     # f(x) x = x^3: PyTorch's second derivative drops a term
    assert g.item() == 27
    with pytest.raises(RuntimeError, match="differentiate twice"):
        ag.grad(g.sum(), x)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        g.sum().backward()
    f.apply(x).sum().backward()
    assert x.grad.item() == 6


def test_unrecorded_calls():
    f = function(lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    with ag.no_grad():
        assert not f.apply(leaf(1.0)).requires_grad
    assert not f.apply(ag.ones(1)).requires_grad


def test_gradients_of_0d_tensors_may_be_numpys_scalars():
    class Cube(ag.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

    x = ag.tensor(2.0, dtype=ag.float64, requires_grad=True)
    (ag.exp(Cube.apply(ag.sin(x)) * 2) * 1.5).backward()
    s, c = np.sin(2.0), np.cos(2.0)
    np.testing.assert_allclose(x.grad.item(), 1.5 * np.exp(2 * s ** 3) * 6 * s ** 2 * c)
    (g,) = ag.grad(Cube.apply(x).sin(), x, np.float64(1.0) * ag.tensor(1.0, dtype=ag.float64), create_graph=True)
    ag.grad(Cube.apply(g), x)


def test_a_write_to_a_saved_output_is_noticed_though_it_had_aliases_before():
    def forward(ctx, x):
        y = x.exp()
        y.mul_(1)                                    # y has a counter of writes before it becomes the output
        ctx.save_for_backward(y)
        return y

    exp = function(forward, lambda ctx, g: g * ctx.saved_tensors[0])
    x = ag.tensor([0.0, 1.0], requires_grad=True)
    exp.apply(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([0.0, 1.0]), rtol=1e-6)
    y = exp.apply(x)
    y.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
