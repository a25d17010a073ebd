"""saved_tensors_hooks and what is built on them: every saved value is packed, and comes back into its graph."""

import gc
import weakref

import numpy as np
import pytest
from both import function, leaf
from cases import CASES

import autograd as ag
from autograd.core.modes import GRAD, modes

pytestmark = pytest.mark.quick


def hooks(lib):
    return lib.autograd.graph.saved_tensors_hooks


def halves(lib):
    """A pair that gives back twice what was saved."""
    return hooks(lib)(lambda t: t.detach() * 2, lambda t: t)


def test_inputs_and_outputs_are_packed(lib):
    log = []

    def pack(t):
        log.append(("pack", t.tolist(), t.requires_grad))
        return t.detach()

    def unpack(t):
        log.append(("unpack", t.tolist()))
        return t

    a = leaf(lib, 1.0, 1.0)
    b = leaf(lib, 1.0, 1.0) * 2
    with hooks(lib)(pack, unpack):
        y = a * b
        z = y.exp()
    assert sorted(log[:2]) == [("pack", [1, 1], True), ("pack", [2, 2], True)] and log[2][1] == z.tolist()
    del log[:]
    z.sum().backward()
    assert [name for name, *_ in log] == ["unpack"] * 3 and np.allclose(a.grad.tolist(), 2 * np.exp(2))


def test_backward_uses_what_unpack_returns(lib):
    x = leaf(lib, 3.0)
    with halves(lib):
        y = x * x
        u = x.exp()
    y.sum().backward()
    assert x.grad.item() == 12
    x.grad = None
    u.sum().backward()
    assert x.grad.item() == pytest.approx(2 * u.item())


def test_functions_of_users(lib):
    log = []
    f = function(lib, lambda ctx, x, c: (ctx.save_for_backward(x, c, y := x.exp(), None), y)[1],
                 lambda ctx, g: (log.append([v if v is None else v.tolist() for v in ctx.saved_tensors]), (g, None))[1])
    x, c = leaf(lib, 1.0), lib.ones(1)
    with hooks(lib)(lambda t: t.tolist(), lambda v: lib.tensor([v[0] + 1])):
        y = f.apply(x, c)
    y.sum().backward()
    assert log[0][0] == [2] and log[0][1] == [2] and log[0][2][0] == pytest.approx(np.e + 1) and log[0][3] is None


def test_second_derivatives_go_through_what_was_packed(lib):
    x = leaf(lib, 0.5, -1.0)
    with hooks(lib)(lambda t: t.detach(), lambda t: t):
        y = (x * x).exp() * x
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    (gg,) = lib.autograd.grad(g.sum(), x)
    v = np.array([0.5, -1.0])
    assert np.allclose(g.tolist(), np.exp(v * v) * (1 + 2 * v * v))
    assert np.allclose(gg.tolist(), np.exp(v * v) * (6 * v + 4 * v ** 3))
    cube = function(lib, lambda ctx, x: ctx.save_for_backward(x) or x ** 3,
                    lambda ctx, g: 3 * ctx.saved_tensors[0] ** 2 * g)
    with hooks(lib)(lambda t: t.detach(), lambda t: t):
        y = cube.apply(x)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    assert np.allclose(x.grad.tolist(), 6 * v)


def test_only_the_innermost_pair_counts(lib):
    log = []
    x = leaf(lib, 1.0)
    with hooks(lib)(lambda t: log.append("outer") or t.detach(), lambda t: t):
        x.exp()
        with hooks(lib)(lambda t: log.append("inner") or t.detach(), lambda t: t):
            x.exp()
        x.exp()
    x.exp()
    with lib.no_grad(), hooks(lib)(lambda t: log.append("never"), lambda t: t):
        x.exp()
    assert log == ["outer", "inner", "outer"]


def test_what_hooks_must_not_do(lib):
    x = leaf(lib, 1.0)
    with hooks(lib)(lambda t: t.detach(), lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of type"):
        y.sum().backward()
    h = x * 1
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):  # noqa: SIM117
        with hooks(lib)(lambda t: t.mul_(2), lambda t: t):
            h * h
    with pytest.raises(TypeError), hooks(lib)(3, 4):
        pass

    def fails(t):
        raise KeyError("planted")

    with pytest.raises(KeyError), hooks(lib)(fails, fails):
        x.exp()
    x.exp().sum().backward()                         # the mode has ended
    with hooks(lib)(lambda t: t.detach(), fails):
        y = x.exp()
    with pytest.raises(KeyError):
        y.sum().backward()


def test_packed_values_are_not_checked_for_writes(lib):
    x = leaf(lib, 1.0)
    h = x * 1
    with hooks(lib)(lambda t: t.tolist(), lambda v: lib.tensor(v, dtype=lib.float64)):
        y = h * h
    with lib.no_grad():
        h.add_(1)
    y.sum().backward()
    assert x.grad.item() == 2


def test_packed_values_are_freed(lib):
    x = leaf(lib, 1.0)
    with hooks(lib)(lambda t: t.detach(), lambda t: t):
        y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_save_on_cpu(lib):
    for pin in (False, True):
        x = leaf(lib, 1.0, 2.0)
        with lib.autograd.graph.save_on_cpu(pin_memory=pin):
            y = (x * x).exp()
        y.sum().backward()
        assert np.allclose(x.grad.tolist(), [2 * np.e, 4 * np.exp(4)])


def test_disable(lib):
    g = lib.autograd.graph
    with g.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), hooks(lib)(lambda t: t, lambda t: t):
            pass
        with g.disable_saved_tensors_hooks("nor here"), pytest.raises(RuntimeError, match="nor here"), g.save_on_cpu():
            pass
        with pytest.raises(RuntimeError, match="not here"), g.save_on_cpu():
            pass
    with hooks(lib)(lambda t: t.detach(), lambda t: t):  # noqa: SIM117
        with pytest.raises(RuntimeError, match="too late"), g.disable_saved_tensors_hooks("too late"):
            pass
    with g.save_on_cpu():
        pass


def test_mutation_of_saved_tensors(lib):
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        x = leaf(lib, 1.0, 2.0)
        h = x * 1
        y = (h * h).sum()
        h.mul_(100)
        y.backward()
        with pytest.raises(RuntimeError, match="cannot be nested"):  # noqa: SIM117
            with lib.autograd.graph.allow_mutation_on_saved_tensors():
                pass
    assert x.grad.tolist() == [2, 4]
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.exp().sum()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation"):
        y.backward()


def test_hooks_belong_to_their_thread():
    import threading
    log = []
    x = leaf(ag, 1.0)
    with hooks(ag)(lambda t: log.append(threading.current_thread().name) or t.detach(), lambda t: t):
        t = threading.Thread(target=lambda: x.exp().sum().backward(), name="other")
        t.start()
        t.join()
        x.exp()
        from autograd.core.parallel import run_lanes
        run_lanes([lambda: x.exp(), lambda: x.exp()])
    assert "other" not in log and len(log) == 3 and "autograd worker" in log


def test_nothing_is_left_when_they_are_off():
    with hooks(ag)(lambda t: t.detach(), lambda t: t):
        assert modes.recording > GRAD
    assert modes.recording == GRAD


def test_many_operations():
    """Every kind of node, packed as NumPy arrays: same first and second derivatives as without."""
    def run(x, w):
        y = (x @ w).tanh().log_softmax(1)
        y = y.max(1)[0] + (y * y).sum(1) + x.sigmoid().mean(1) + x[:, 0] / (2 + x[:, 1] ** 2)
        return ag.where(y > 0, y, y * 2).sum()

    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((4, 3)), rng.standard_normal((3, 5))
    found = []
    for packed in (False, True):
        x, w = (ag.tensor(a, requires_grad=True) for a in arrays)
        if packed:
            with hooks(ag)(lambda t: t.numpy(force=True).copy(), lambda a: ag.tensor(a)):
                y = run(x, w)
        else:
            y = run(x, w)
        gx, gw = ag.grad(y, [x, w], create_graph=True)
        found.append([y, gx, gw, *ag.grad((gx * gx).sum() + (gw ** 3).sum(), [x, w])])
    for plain, other in zip(*found):
        np.testing.assert_array_equal(plain.numpy(force=True), other.numpy(force=True))


@pytest.mark.parametrize("pack", [lambda t: t, lambda t: t.detach(), lambda t: t.data], ids=["itself", "detach", "data"])
def test_values_that_are_overwritten_in_place(pack):
    found = []
    for block in (None, hooks(ag)(pack, lambda t: t)):
        x, w = leaf(ag, 1.0, 2.0), leaf(ag, 3.0, 4.0)
        if block is not None:
            block.__enter__()
        h = x * 1
        h.mul_(w).pow_(2).sigmoid_()
        h[0] = w[0] * w[1]
        if block is not None:
            block.__exit__()
        h.sum().backward()
        found.append((x.grad.tolist(), w.grad.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("case", CASES[::7], ids=str)
def test_every_kind_of_operation(case):
    """Rows of the table, packed as NumPy arrays and checkpointed: same values and derivatives."""
    arrays = case.inputs(seed=1)
    found = []
    for how in ("plain", "packed", "checkpoint"):
        xs = [ag.tensor(a, requires_grad=True) for a in arrays]
        ag.manual_seed(0)
        if how == "packed":
            with hooks(ag)(lambda t: t.numpy(force=True).copy(), lambda a: ag.tensor(a)):
                y = case.call(ag, *xs)
        elif how == "checkpoint":
            y = ag.utils.checkpoint.checkpoint(lambda *xs: case.call(ag, *xs), *xs, use_reentrant=False)
        else:
            y = case.call(ag, *xs)
        if not y.requires_grad:
            return
        u = ag.tensor(np.random.default_rng(3).standard_normal(tuple(y.shape)), dtype=y.dtype)
        grads = [g for g in ag.grad(y, xs, u, create_graph=True, allow_unused=True) if g is not None]
        tracked = [(g * g).sum() for g in grads if g.requires_grad]
        second = ag.grad(sum(tracked), xs, allow_unused=True) if tracked else []
        found.append([y, *grads, *(g for g in second if g is not None)])
    for other in found[1:]:
        assert len(other) == len(found[0])
        for a, b in zip(found[0], other):
            np.testing.assert_allclose(a.numpy(force=True), b.numpy(force=True), rtol=1e-12)


def test_packing_frees_memory():
    gc.disable()
    try:
        x = leaf(ag, 1.0)
        with hooks(ag)(lambda t: t.numpy(force=True) + 0, lambda a: ag.tensor(a)):
            h = x * 1
            ref = weakref.ref(h.array)
            y = h * h
        del h
        assert ref() is None
        y.sum().backward()
        assert x.grad.item() == 2
    finally:
        gc.enable()


def test_a_block_left_once_too_often_is_no_error(lib):
    """An unpack hook leaves the block that it was in: no hooks stay behind."""
    def unpack(x):
        inner.__exit__()
        return x

    hooks = lib.autograd.graph.saved_tensors_hooks
    inner, outer = hooks(lambda x: x, unpack), hooks(lambda x: x, lambda x: x)
    for _ in range(3):
        with outer:
            inner.__enter__()
            leaf(lib, 1.0).sin().backward()
    for _ in range(3):
        inner.__exit__()
    y = leaf(lib, 1.0).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)
