"""utils.checkpoint: same values and gradients, less memory, the function run again once per pass."""

import tracemalloc
import warnings

import numpy as np
import pytest
from both import function, leaf, needs_torch

import autograd as ag
from autograd.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential

pytestmark = pytest.mark.quick


def tools(lib):
    if lib is ag:
        return ag.utils.checkpoint
    import torch.utils.checkpoint
    return torch.utils.checkpoint


BOTH_WAYS = pytest.mark.parametrize("reentrant", [False, True])


def body(x, w):
    return ((x * w).exp() * w).tanh() + x.sigmoid()


@BOTH_WAYS
def test_same_values_and_gradients(lib, reentrant):
    found = []
    for run in (lambda f, *a: f(*a), lambda f, *a: tools(lib).checkpoint(f, *a, use_reentrant=reentrant)):
        x, w = leaf(lib, 0.5, 1.0), leaf(lib, 2.0, -1.0)
        y = run(body, x * 1, w)
        (y * y).sum().backward()
        found.append((y.tolist(), x.grad.tolist(), w.grad.tolist()))
    assert found[0] == found[1]


@BOTH_WAYS
def test_writes_in_place(reentrant):
    def writes(x, w):
        h = x * 1
        h *= w
        h.pow_(2).sigmoid_()
        h[0] = w[1] * w[0]
        return h.relu_()

    found = []
    for run in (lambda f, *a: f(*a), lambda f, *a: checkpoint(f, *a, use_reentrant=reentrant)):
        x, w = leaf(ag, 0.5, 1.0), leaf(ag, 2.0, -1.0)
        run(writes, x, w).sum().backward()
        found.append((x.grad.tolist(), w.grad.tolist()))
    assert found[0] == found[1]


@BOTH_WAYS
def test_the_function_runs_once_more_per_pass(lib, reentrant):
    calls = []

    def counted(x):
        calls.append(lib.is_grad_enabled())
        return x.exp().sin()

    x = leaf(lib, 1.0)
    y = tools(lib).checkpoint(counted, x, use_reentrant=reentrant).sum()
    assert calls == [not reentrant]
    y.backward(retain_graph=True)
    y.backward()
    assert calls == [not reentrant, True, True]
    assert x.grad.item() == pytest.approx(2 * np.cos(np.e) * np.e)
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_everything_without_reentrance(lib):
    """grad(), inputs=, create_graph, keywords, nested structures, functions that are never asked."""
    c = tools(lib).checkpoint
    x, w = leaf(lib, 0.5), leaf(lib, 2.0)
    y = c(lambda x, *, scale: {"out": [x ** 3 * scale, (x * w).exp()], "n": 5}, x, use_reentrant=False, scale=w)
    assert y["n"] == 5
    gx, gw = lib.autograd.grad(y["out"][0].sum() + y["out"][1].sum(), [x, w], create_graph=True)
    assert gx.item() == pytest.approx(3 * 0.25 * 2 + 2 * np.exp(1)) and gw.item() == pytest.approx(0.125 + 0.5 * np.exp(1))
    (gxx,) = lib.autograd.grad(gx.sum(), x)
    assert gxx.item() == pytest.approx(6 * 0.5 * 2 + 4 * np.exp(1))
    c(lambda x: (x * w).exp(), x, use_reentrant=False).sum().backward(inputs=[w])
    assert x.grad is None and w.grad.item() == pytest.approx(0.5 * np.exp(1))
    with lib.no_grad():
        assert not c(lambda x: x * 2, x, use_reentrant=False).requires_grad
    assert c(lambda: w * 2, use_reentrant=False).item() == 4      # no arguments, and gradients of what it closes over
    assert c(lambda x: x.detach() * 1, x, use_reentrant=False).requires_grad is False


@BOTH_WAYS
def test_nested(lib, reentrant):
    c = tools(lib).checkpoint
    calls = []

    def inner(x):
        calls.append("inner")
        return x.exp().sin()

    def middle(x):
        calls.append("middle")
        return c(inner, x * 2, use_reentrant=reentrant) * x

    def outer(x):
        calls.append("outer")
        return c(middle, x.cos(), use_reentrant=reentrant).exp() + x

    x, z = leaf(lib, 0.3, 0.7), leaf(lib, 0.3, 0.7)
    c(outer, x, use_reentrant=reentrant).sum().backward()
    expected = (((z.cos() * 2).exp().sin() * z.cos()).exp() + z).sum()
    expected.backward()
    np.testing.assert_allclose(x.grad.tolist(), z.grad.tolist())
    assert calls.count("outer") == 2 and calls.count("inner") in (2, 3, 4)


def test_layers_within_layers_without_recursion():
    """60 checkpoints in each other, both kinds."""
    for reentrant in (False, True):
        def level(x, left):
            return x * 1.5 if left == 0 else checkpoint(level, x * 0.9, left - 1, use_reentrant=reentrant).sin()
        x, z = leaf(ag, 0.5), leaf(ag, 0.5)
        checkpoint(level, x, 12, use_reentrant=reentrant).sum().backward()
        y = z
        for _ in range(12):
            y = y * 0.9
        y = y * 1.5
        for _ in range(12):
            y = y.sin()
        y.sum().backward()
        assert x.grad.item() == pytest.approx(z.grad.item())


@BOTH_WAYS
def test_random_numbers(reentrant):
    def noisy(x):
        return x * ag.rand(4, dtype=ag.float64)

    for preserve in (True, False):
        ag.manual_seed(3)
        x = ag.ones(4, dtype=ag.float64, requires_grad=True)
        y = checkpoint(noisy, x, use_reentrant=reentrant, preserve_rng_state=preserve)
        after = ag.rand(1).item()
        y.sum().backward()
        assert (x.grad.tolist() == y.tolist()) is preserve
        ag.manual_seed(3)
        ag.rand(4, dtype=ag.float64)
        assert after == ag.rand(1).item()            # nobody else's numbers were touched
        if preserve:
            ag.manual_seed(3)
            y = checkpoint(noisy, x, use_reentrant=reentrant)
            y.sum().backward()
            now = ag.rand(1).item()
            assert now == after


def test_early_stop_and_contexts(lib):
    c = tools(lib)
    log = []

    def f(x):
        y = x.exp()
        log.append("body")
        z = y * 3
        log.append("rest")
        return z

    class Noted:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append(self.name)

        def __exit__(self, *exception):
            log.append("end of " + self.name)

    x = leaf(lib, 1.0)
    both = lambda: (Noted("forward"), Noted("again"))
    y = c.checkpoint(f, x, use_reentrant=False, context_fn=both)
    y.sum().backward()
    first = ["forward", "body", "rest", "end of forward", "again"]
    assert log == [*first, "end of again"]           # exp() was all that is needed
    for whole in (lambda: c.checkpoint(f, x, use_reentrant=False, context_fn=both, early_stop=False),):
        log.clear()
        whole().sum().backward()
        assert log == [*first, "body", "rest", "end of again"]
    log.clear()
    with c.set_checkpoint_early_stop(False):
        y = c.checkpoint(f, x, use_reentrant=False)
    y.sum().backward()
    assert log == ["body", "rest"] * 2


@pytest.mark.parametrize("first, second, words", [
    (lambda x: x.exp().sin(), lambda x: x.exp(), "different number of tensors was saved"),
    (lambda x: x.exp(), lambda x: (x * 2).exp().sin() * x, None),
    (lambda x: x.exp() * 1, lambda x: x[:1].exp() * 1, "tensor at position 0"),
], ids=["fewer", "more", "shape"])
def test_what_the_second_run_must_not_change(lib, first, second, words):
    runs = []

    def fickle(x):
        runs.append(1)
        return (first if len(runs) == 1 else second)(x)

    x = leaf(lib, 1.0, 2.0)
    y = tools(lib).checkpoint(fickle, x, use_reentrant=False)
    if words is None:                                # it stops before the surplus
        y.sum().backward()
    else:
        with pytest.raises(RuntimeError, match=words):
            y.sum().backward()
    runs.clear()
    y = tools(lib).checkpoint(fickle, x, use_reentrant=False, early_stop=False)
    with pytest.raises(RuntimeError, match=words or "trying to save more tensors during recomputation"):
        y.sum().backward()
    assert issubclass(CheckpointError, RuntimeError)


def test_debug_shows_what_ran(lib):
    runs = []

    def fickle(x):
        runs.append(1)
        return x.exp().sin() if len(runs) == 1 else x.exp().tanh() if len(runs) > 2 else x.exp()

    x = leaf(lib, 1.0)
    y = tools(lib).checkpoint(fickle, x, use_reentrant=False, debug=True)
    with pytest.raises(RuntimeError, match=r"(?s)passed `debug=True` to checkpoint.*fickle|fickle.*passed `debug=True`"):
        y.sum().backward()
    runs.clear()
    with tools(lib).set_checkpoint_debug_enabled(True):
        y = tools(lib).checkpoint(fickle, x, use_reentrant=False)
    with pytest.raises(RuntimeError, match="passed `debug=True` to checkpoint"):
        y.sum().backward()


def test_the_determinism_check_can_be_off():
    runs = []

    def fickle(x):
        runs.append(1)
        return (x if len(runs) == 1 else x[:1]).exp()

    x = leaf(ag, 1.0, 2.0)
    checkpoint(fickle, x, use_reentrant=False, determinism_check="none").sum().backward()


def test_unpacking_twice(lib):
    f = function(lib, lambda ctx, x: ctx.save_for_backward(x) or x * 1, lambda ctx, g: (ctx.saved_tensors, ctx.saved_tensors)[0])
    y = tools(lib).checkpoint(f.apply, leaf(lib, 1.0), use_reentrant=False)
    with pytest.raises(RuntimeError, match="already unpacked once"):
        y.sum().backward()


def test_arguments_written_to_in_between(lib):
    x = leaf(lib, 1.0)
    h = x * 1
    y = tools(lib).checkpoint(lambda h: h.exp().sin(), h, use_reentrant=False)
    with lib.no_grad():
        h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_an_exception_in_either_run(lib):
    runs = []

    def fails(x):
        runs.append(1)
        y = x.exp()
        if len(runs) == fail_at:
            raise KeyError("planted")
        return y.sin()

    x = leaf(lib, 1.0)
    fail_at = 1
    with pytest.raises(KeyError):
        tools(lib).checkpoint(fails, x, use_reentrant=False)
    runs.clear()
    fail_at = 2
    y = tools(lib).checkpoint(fails, x, use_reentrant=False)
    with pytest.raises(KeyError):
        y.sum().backward()
    x.exp().sum().backward()
    assert x.grad.item() == pytest.approx(np.e)


@pytest.mark.parametrize("error, words, call", [
    (ValueError, "Unexpected keyword arguments: foo", lambda c, x: c.checkpoint(lambda x: x, x, use_reentrant=True, foo=1)),
    (ValueError, "only supported when use_reentrant=False", lambda c, x: c.checkpoint(lambda x: x, x, use_reentrant=True, debug=True)),
    (ValueError, "only supported when use_reentrant=False",
     lambda c, x: c.checkpoint(lambda x: x, x, use_reentrant=True, context_fn=lambda: None)),
    (ValueError, "determinism_check should be one of", lambda c, x: c.checkpoint(lambda x: x, x, use_reentrant=False, determinism_check="no")),
    (ValueError, "incompatible with non-default context_fn",
     lambda c, x: c.checkpoint(lambda x: x, x, use_reentrant=False, debug=True, context_fn=lambda: None)),
    (ValueError, "Unexpected keyword arguments: foo", lambda c, x: c.checkpoint_sequential([], 1, x, use_reentrant=True, foo=1)),
    (RuntimeError, "incompatible with .grad",
     lambda c, x: x.grad_of(c.checkpoint(lambda x: x.exp(), x.leaf, use_reentrant=True).sum(), x.leaf)),
    (RuntimeError, "incompatible with .grad",
     lambda c, x: c.checkpoint(lambda x: x.exp(), x.leaf, use_reentrant=True).sum().backward(inputs=[x.leaf])),
    (RuntimeError, "none of output has requires_grad=True",
     lambda c, x: c.checkpoint(lambda x: x.detach() * 1, x.leaf, use_reentrant=True).sum().backward()),
    (RuntimeError, "Only tuple of tensors is supported", lambda c, x: c.detach_variable([x])),
])
def test_refused(lib, error, words, call):
    class Given:
        leaf, grad_of = leaf(lib, 1.0), staticmethod(lib.autograd.grad)

    with pytest.raises(error, match=words):
        call(tools(lib), Given)


def test_warnings(lib):
    c = tools(lib)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        c.checkpoint(lambda x: x * 2, leaf(lib, 1.0))
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        c.checkpoint(lambda x: x * 2, lib.ones(1), use_reentrant=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        c.checkpoint(lambda x: x * 2, leaf(lib, 1.0), use_reentrant=False)


@BOTH_WAYS
@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_sequential(lib, segments, reentrant):
    layers = [lib.nn.Linear(3, 3) for _ in range(5)]
    model = lib.nn.Sequential(*layers)
    x = lib.ones(2, 3, requires_grad=True)
    model(x).sum().backward()
    expected = [p.grad.tolist() for p in model.parameters()]
    for steps in (model, layers):
        for p in model.parameters():
            p.grad = None
        tools(lib).checkpoint_sequential(steps, segments, x, use_reentrant=reentrant).sum().backward()
        for p, g in zip(model.parameters(), expected):
            np.testing.assert_allclose(p.grad.tolist(), g, rtol=1e-6)


def test_outputs_of_a_reentrant_checkpoint(lib):
    x = leaf(lib, 1.0)
    a, text, _ = tools(lib).checkpoint(lambda x: (x * 2, "text", x.detach() * 5), x, use_reentrant=True)
    assert text == "text"
    a.sum().backward()
    assert x.grad.item() == 2


@BOTH_WAYS
def test_memory(reentrant):
    size = 100_000

    def block(x):
        for _ in range(10):
            x = x.exp().log()
        return x

    def built(run):
        x = ag.tensor(np.ones(size), requires_grad=True)
        tracemalloc.start()
        try:
            y = x * 1
            for _ in range(4):
                y = run(y)
            now = tracemalloc.get_traced_memory()[0]
            y.sum().backward()
        finally:
            tracemalloc.stop()
        assert np.allclose(x.grad.tolist(), 1)
        return now

    whole, little = built(block), built(lambda y: checkpoint(block, y, use_reentrant=reentrant))
    assert little < whole / 5


@needs_torch
def test_names():
    import torch.utils.checkpoint as theirs
    assert not set(ag.utils.checkpoint.__all__) - set(theirs.__all__)
    assert checkpoint_sequential.__name__ == "checkpoint_sequential"
