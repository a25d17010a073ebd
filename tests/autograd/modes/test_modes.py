"""Recording modes: no_grad and the others as blocks and decorators, over generators, by thread; inference mode."""

import threading

import pytest
from both import LIBS, function, leaf, needs_torch

import autograd as ag
from autograd.core.versions import inferring

pytestmark = pytest.mark.quick
SAVED = "Inference tensors cannot be saved for backward"
WRITTEN = "Inplace update to inference tensor outside InferenceMode is not allowed"


# --- blocks and decorators ---------------------------------------------------------------------------------------------

def test_blocks_nest_and_come_back(lib):
    seen = []

    def note():
        seen.append(lib.is_grad_enabled())

    with lib.no_grad():
        note()
        with lib.enable_grad():
            note()
            with lib.set_grad_enabled(False):
                note()
            note()
        note()
    note()
    with pytest.raises(KeyError), lib.no_grad():
        raise KeyError
    note()
    assert seen == [False, True, False, True, False, True, True]
    lib.set_grad_enabled(False)
    note()
    lib.set_grad_enabled(True)
    assert seen[-1] is False and lib.is_grad_enabled()


def test_a_block_inside_itself():
    block = ag.no_grad()                             # PyTorch does not come back from this
    with block, block:
        pass
    assert ag.is_grad_enabled()


def test_decorators(lib):
    @lib.no_grad()
    def called():
        return lib.is_grad_enabled()

    @lib.no_grad
    def bare():
        """Doc."""
        return lib.is_grad_enabled()

    @lib.enable_grad()
    def enabled():
        return lib.is_grad_enabled()

    @lib.inference_mode
    def inferring():
        return lib.is_inference_mode_enabled(), lib.is_grad_enabled()

    @lib.inference_mode(False)
    def not_inferring():
        return lib.is_inference_mode_enabled()

    assert not called() and not bare() and bare.__name__ == "bare" and bare.__doc__ == "Doc."
    with lib.no_grad():
        assert enabled()
    assert inferring() == (True, False) and not not_inferring() and lib.is_grad_enabled()


@pytest.mark.parametrize("mode, expected", [
    (lambda lib: lib.no_grad(), (False, False)), (lambda lib: lib.set_grad_enabled(False), (False, False)),
    (lambda lib: lib.inference_mode(), (False, True)), (lambda lib: lib.enable_grad(), (True, False))])
def test_generators(lib, mode, expected):
    def now():
        return lib.is_grad_enabled(), lib.is_inference_mode_enabled()

    log = []

    def numbers():
        try:
            got = yield now()
            log.append((got, now()))
            try:
                yield now()
            except KeyError:
                log.append(("thrown", now()))
            yield now()
        finally:
            log.append(("closed", now()))

    lib.set_grad_enabled(True)
    decorated = mode(lib)(numbers)
    lib.set_grad_enabled(True)
    generator = decorated()
    outside = now()
    assert next(generator) == expected and now() == outside
    assert generator.send("sent") == expected and now() == outside
    assert generator.throw(KeyError()) == expected and now() == outside
    generator.close()
    assert log == [("sent", expected), ("thrown", expected), ("closed", expected)] and now() == outside
    lib.set_grad_enabled(True)

    @lib.no_grad()
    def returns():
        yield 1
        return 5

    def outer():
        return (yield from returns())

    generator = outer()
    next(generator)
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == 5


def test_threads_begin_with_the_defaults(lib):
    seen = []

    def work():
        seen.append((lib.is_grad_enabled(), lib.is_inference_mode_enabled(), lib.ones(1).is_inference()))

    with lib.inference_mode():
        t = threading.Thread(target=work)
        t.start()
        t.join()
    assert seen == [(True, False, False)]


def test_multithreading(lib):
    a = lib.autograd
    assert a.is_multithreading_enabled()
    with a.set_multithreading_enabled(False):
        assert not a.is_multithreading_enabled()
        with a.set_multithreading_enabled(True):
            assert a.is_multithreading_enabled()
    assert a.is_multithreading_enabled()
    a.set_multithreading_enabled(False)
    assert not a.is_multithreading_enabled()
    a.set_multithreading_enabled(True)

    @a.set_multithreading_enabled(False)
    def inside():
        return a.is_multithreading_enabled()

    assert not inside()
    a.set_multithreading_enabled(True)


# --- inference mode ----------------------------------------------------------------------------------------------------

def test_what_is_an_inference_tensor(lib):
    x, n = leaf(lib, 1.0, 2.0), lib.ones(2)
    with lib.inference_mode():
        made, tracked, product = lib.ones(2), lib.ones(2, requires_grad=True), x * 2
        assert made.is_inference() and lib.is_inference(made) and tracked.is_inference() and tracked.requires_grad
        assert product.is_inference() and not product.requires_grad and product.is_leaf and product.grad_fn is None
        assert made.view(1, 2).is_inference() and made[0].is_inference() and made.detach().is_inference()
        assert not n.is_inference() and not n.view(1, 2).is_inference() and (n + 1).is_inference()
        assert lib.nn.Parameter(lib.ones(1)).is_inference()
        with lib.inference_mode(False):
            assert lib.is_grad_enabled() and not lib.is_inference_mode_enabled()
            assert (x * 2).requires_grad and not lib.ones(1).is_inference()
        with lib.enable_grad():
            assert not (x * 2).requires_grad
        assert lib.is_inference_mode_enabled()
    assert made.view(1, 2).is_inference() and not made.clone().is_inference() and not (made + 1).is_inference()
    with pytest.raises(TypeError):
        lib.is_inference(3)


def test_inference_tensors_outside(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.inference_mode():
        c = lib.ones(2, dtype=lib.float64)
    assert (c + x).requires_grad and (c.exp() * x).requires_grad and (c.clone() * x).requires_grad
    for use in (lambda: c * x, lambda: x / c, lambda: x @ c, lambda: c[:] * x):
        with pytest.raises(RuntimeError, match=SAVED):
            use()
    saves = function(lib, lambda ctx, a, b: ctx.save_for_backward(a, b) or a * b, lambda ctx, g: (g, g))
    with pytest.raises(RuntimeError, match=SAVED):
        saves.apply(x, c)
    with lib.no_grad():
        assert not (c * x).is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        c._version  # noqa: B018
    n = lib.zeros(2, dtype=lib.float64)
    n.add_(c)
    (x * 2).backward(c)
    assert n.tolist() == [1, 1] and x.grad.tolist() == [2, 2]
    for write in (lambda: c.add_(1), lambda: c.__setitem__(0, 1), lambda: c.copy_(lib.zeros(2)), lambda: c.view(1, 2).mul_(2)):
        with pytest.raises(RuntimeError, match=WRITTEN):
            write()
    assert lib is not ag or c.tolist() == [1, 1]     # nothing was written; PyTorch raises after the write


def test_writes_inside(lib):
    s = leaf(lib, 1.0, 2.0)
    a = s * 1
    out = a * a
    with lib.inference_mode():
        c = lib.ones(2)
        c.add_(1)
        c[0] = 5
        assert c.is_inference() and c.tolist() == [5, 2]
        a.add_(2)
        assert not a.is_inference() and a.requires_grad
        s.mul_(2)
    assert a.tolist() == [3, 4] and s.tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_backward_in_inference_mode(lib):
    x = leaf(lib, 1.0)
    z = (x * 3).sum()
    with lib.inference_mode():
        z.backward()
        assert x.grad.item() == 3 and x.grad.is_inference()
        with pytest.raises(RuntimeError, match="does not require grad"):
            (x * 2).sum().backward()


def test_nothing_is_left_when_it_is_off():
    with ag.inference_mode():
        with ag.inference_mode(False):
            assert not ag.ones(2).is_inference()
        assert ag.ones(2).is_inference()
    assert not inferring and not ag.ones(2).is_inference()


def test_a_model_in_inference_mode(lib):
    model = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.ReLU(), lib.nn.Linear(4, 2))
    x = lib.randn(5, 3)
    with lib.inference_mode():
        y = model(x)
    assert y.is_inference() and not y.requires_grad
    model(x).sum().backward()
    assert all(p.grad is not None and not p.grad.is_inference() for p in model.parameters())


# --- views made in inference mode of tensors that were not, beside PyTorch ----------------------------------------------

BASES = {"leaf": lambda lib: lib.ones(2, 3, dtype=lib.float64, requires_grad=True),
         "result": lambda lib: lib.ones(2, 3, dtype=lib.float64, requires_grad=True) * 2,
         "plain": lambda lib: lib.ones(2, 3, dtype=lib.float64)}
LOOKS = {"view": lambda w: w.view(-1), "slice": lambda w: w[0], "reshape": lambda w: w.reshape(-1), "expand": lambda w: w.expand(2, 2, 3),
         "view_as": lambda w: w.view_as(w), "detach": lambda w: w.detach(), "t": lambda w: w.t(), "unbind": lambda w: w.unbind()[1],
         "split": lambda w: w.split(1)[0], "data": lambda w: w.data, "chain": lambda w: w.t()[0], "detach and view": lambda w: w.detach().view(-1),
         "diagonal": lambda w: w.diagonal()}
USES = {
    "look": lambda lib, w, v: None, "view": lambda lib, w, v: v.view(-1)[:1], "product": lambda lib, w, v: v * v, "detach": lambda lib, w, v: v.detach(),
    "write": lambda lib, w, v: v.mul_(2.0), "write in no_grad": lambda lib, w, v: lib.no_grad()(lambda: v.mul_(2.0))(),
    "write in inference_mode": lambda lib, w, v: lib.inference_mode()(lambda: v.mul_(2.0))(), "item": lambda lib, w, v: v.__setitem__(0, 3.0),
    "tracked write": lambda lib, w, v: v.mul_(lib.ones(1, dtype=lib.float64, requires_grad=True)),
    "write to view": lambda lib, w, v: v.view(-1)[:1].mul_(2.0), "write to base": lambda lib, w, v: w.mul_(2.0),
    "tracked write to base": lambda lib, w, v: w.mul_(lib.ones(1, dtype=lib.float64, requires_grad=True)),
    "write to base in no_grad": lambda lib, w, v: lib.no_grad()(lambda: w.mul_(2.0))(),
    "use after a write": lambda lib, w, v: (lib.no_grad()(lambda: w.mul_(2.0))(), v * 2)[1],
    "use in no_grad after a write": lambda lib, w, v: (w.detach().mul_(2.0), lib.no_grad()(lambda: v * 2)())[1],
    "save": lambda lib, w, v: (v * lib.ones(1, dtype=lib.float64, requires_grad=True)).sum().backward(),
    "backward": lambda lib, w, v: ((v * v).sum().backward(), v.grad)[1], "own": lambda lib, w, v: (v.requires_grad_() ** 2).sum().backward(),
    "requires_grad_": lambda lib, w, v: v.requires_grad_(), "requires_grad_(False)": lambda lib, w, v: v.requires_grad_(False),
    "base.requires_grad_": lambda lib, w, v: w.requires_grad_(), "detach_": lambda lib, w, v: v.detach_(), "numpy": lambda lib, w, v: v.numpy().sum(),
    "grad of base": lambda lib, w, v: lib.autograd.grad(v.sum(), [w], allow_unused=True)[0],
    "grad of view": lambda lib, w, v: lib.autograd.grad(v.sum(), [v], allow_unused=True)[0], "retain_grad": lambda lib, w, v: v.retain_grad(),
    "hook": lambda lib, w, v: v.register_hook(lambda g: None) and None, "clone": lambda lib, w, v: v.clone(), "data": lambda lib, w, v: v.data}


def outcome(use):
    """What `use` returns, of a tensor its flags and values; or the class of its error."""
    try:
        out = use()
        if not hasattr(out, "grad_fn"):
            return out
    except RuntimeError:
        return "RuntimeError"
    node = outcome(lambda: out.grad_fn is not None)
    return [outcome(look) for look in (lambda: out.requires_grad, lambda: out.is_leaf, lambda: node, out.is_inference, lambda: out._version,
                                       lambda: out.tolist())]


def inference_view(lib, base, look, use, inside):
    w = BASES[base](lib)
    with lib.inference_mode():
        v = LOOKS[look](w)
        told = outcome(lambda: USES[use](lib, w, v)) if inside else None
    told = told if inside else outcome(lambda: USES[use](lib, w, v))
    with lib.inference_mode(inside):
        grads = [outcome(lambda x=x: x.grad) if x.requires_grad and outcome(lambda x=x: x.is_leaf) is True else None for x in (v, w)]
    return told, outcome(lambda: v), outcome(lambda: w), grads


@needs_torch
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("base", BASES)
def test_views_made_in_inference_mode_like_pytorch(base, look):
    for use in USES:
        for inside in (False, True):
            mine, theirs = (inference_view(lib, base, look, use, inside) for lib in LIBS)
            assert str(mine).replace("ag.", "") == str(theirs).replace("torch.", ""), (use, inside)
