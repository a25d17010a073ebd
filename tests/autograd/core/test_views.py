"""Views, writes in place, and what they mean for gradients: single cases, and random programs beside PyTorch."""

import random
from itertools import zip_longest

import numpy as np
import pytest
from both import needs_torch, torch

import autograd as ag

pytestmark = pytest.mark.quick

VIEWS = [lambda x: x.view(-1), lambda x: x[0], lambda x: x[..., ::2], lambda x: x.t(), lambda x: x[1:], lambda x: x.reshape(-1)[1:5],
         lambda x: x.transpose(0, -1), lambda x: x.narrow(0, 0, 2), lambda x: x.unsqueeze(0), lambda x: x.squeeze(), lambda x: x.detach(),
         lambda x: x.expand(2, *x.shape), lambda x: x.flatten(), lambda x: x[None, ..., 1]]
WRITES = [lambda x, y: x.mul_(2.5), lambda x, y: x.add_(y), lambda x, y: x.mul_(y), lambda x, y: x.copy_(y), lambda x, y: x.zero_(),
          lambda x, y: x.exp_(), lambda x, y: x.sin_(), lambda x, y: x.mul_(x.detach() + 1), lambda x, y: x.fill_(1.5),
          lambda x, y: x.sub_(y, alpha=2), lambda x, y: x.tanh_(), lambda x, y: x.clamp_(-1, 1), lambda x, y: x.div_(y + 3),
          lambda x, y: x.unsqueeze_(0), lambda x, y: x.t_()]
# Views of another dtype than the base: the index is a module. `pairs` has an even number of columns, to be seen as complex.
PARTS = [lambda t, x: t.view_as_real(x), lambda t, x: x.real, lambda t, x: x.imag, lambda t, x: t.view_as_complex(x),
         lambda t, x: t.view_as_complex(x.view(*x.shape[:-1], -1, 2)), lambda t, x: t.view_as_real(x.t()[1:])[..., 1],
         lambda t, x: t.view_as_real(x.transpose(0, -1)[::2]), lambda t, x: t.view_as_complex(t.view_as_real(x[1:])),
         lambda t, x: t.view_as_real(x).detach(), lambda t, x: x.real.data, lambda t, x: x.imag.expand(2, *x.shape)]


def set_part(x, y, c):
    if c % 3 == 0:
        x.real = y
    elif c % 3 == 1:
        x.imag = y
    else:
        x.imag[0] = y


def as_real(t, x):
    return t.view_as_real(x) if x.is_complex() else x


def run(t, seed, parts=False):
    """What a random program does: after each step the values and flags of all tensors, or its error; gradients at the end,
    and those of their squares' sum. parts: of complex numbers, and their parts."""
    r, rng = random.Random(seed), np.random.default_rng(seed)
    base, w = (t.from_numpy(rng.standard_normal(shape)).requires_grad_() for shape in ((4, 6) if parts else (4, 3), 3))
    pool, losses, log = [base * 1, base * w, t.zeros(4, 3, dtype=t.float64)] if not parts else [
        t.view_as_complex(base.view(4, 3, 2)) * 1, t.complex(base[:, :3], base[:, 3:]) * w, base * 1,
        t.zeros(4, 3, dtype=t.complex128)], [], []
    views = VIEWS if not parts else VIEWS + [lambda x, see=see: see(t, x) for see in PARTS * 2]
    for _ in range(r.randint(3, 9)):
        kind = r.choice("view view view write write sum set new read detach retain".split() + ["part"] * parts)
        x, y, c, i = r.choice(pool), r.choice(pool), r.randrange(27720), r.randrange(3)
        try:
            if kind == "view":
                pool.append(views[c % len(views)](x))
            elif kind == "part":
                set_part(x, w[i] * as_real(t, y).sum() * 0.1, c)
            elif kind in ("write", "sum"):
                WRITES[c % len(WRITES)](x, w[i] if kind == "write" else (y if x.is_complex() else as_real(t, y)).sum() * 0.1)
            elif kind == "set":
                x[c % x.shape[0]] = w[i] * 2
            elif kind == "new":
                pool.append(x * w[i])
            elif kind == "read":
                losses += [as_real(t, x * float(c % 840)).sum(), as_real(t, x * x).sum()]
            elif kind == "detach":
                pool.append(x.detach())
            elif x.requires_grad:
                x.retain_grad()
        except (RuntimeError, IndexError, ZeroDivisionError) as error:
            if "INTERNAL ASSERT" in str(error):      # a fault of PyTorch's in rare programs
                return None, None
            log.append("error")
        log += [(p.requires_grad, p.is_leaf, p.detach().numpy().copy()) for p in pool]
    try:
        total = sum([as_real(t, p * (n + 1 + p.is_complex() * 0.5j)).sum() for n, p in enumerate(pool) if p.requires_grad] + losses)
        if not getattr(total, "requires_grad", False):
            return log, [None, None]
        grads = list(t.autograd.grad(total, [base, w], allow_unused=True, create_graph=parts))
        squares = sum((g * g).sum() for g in grads if g is not None) if parts else None
        if getattr(squares, "requires_grad", False):
            grads += t.autograd.grad(squares, [base, w], allow_unused=True)
    except RuntimeError as error:
        if t is torch and "modified by an inplace operation" not in str(error):
            return None, None                        # PyTorch's CopySlices lost a dtype or strides
        assert "modified by an inplace operation" in str(error), error
        grads = "modified"
    return log, grads


@needs_torch
@pytest.mark.parametrize("parts", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("block", range(8))
@pytest.mark.filterwarnings("ignore")                # complex values written to real tensors
def test_random_programs_like_pytorch(block, parts):
    compared = 0
    for seed in range(block * 50, block * 50 + 50):
        (log, grads), (log_torch, grads_torch) = run(ag, seed, parts), run(torch, seed, parts)
        if log_torch is None:
            continue
        assert len(log) == len(log_torch), seed
        for mine, theirs in zip(log, log_torch):
            if mine == "error" or theirs == "error":
                assert mine is theirs, seed
            else:
                assert mine[:2] == theirs[:2], seed
                np.testing.assert_allclose(mine[2], theirs[2], err_msg=str(seed))
        if grads_torch == "modified":                # PyTorch saves the memory written to where we save a copy
            continue
        for mine, theirs in zip_longest(grads, grads_torch):      # second gradients that are zeros may be missing
            a, b = (0.0 if g is None else g.detach().numpy() for g in (mine, theirs))
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=str(seed))
            compared += 1
    assert compared > 50


def test_a_write_through_a_chain_of_views():
    x = ag.tensor([[1.0, 2], [3, 4]], requires_grad=True)
    y = x * 1
    seen_before = y.t()
    y.view(-1)[::2].mul_(2)
    assert y.tolist() == [[2, 2], [6, 4]] and y.grad_fn.name() == "CopySlices"
    assert seen_before.grad_fn.name() == "AsStridedBackward0" and seen_before.grad_fn.next_functions[0][0] is y.grad_fn
    (seen_before * ag.tensor([[1.0, 10], [100, 1000]])).sum().backward()
    assert x.grad.tolist() == [[2, 100], [20, 1000]]


def test_a_base_that_needed_no_gradient():
    out, x = ag.zeros(3), ag.tensor([1.0, 2, 3], requires_grad=True)
    row = out[1:]
    for i in range(3):
        out[i] = x[i] * x[i]
    assert out.requires_grad and row.requires_grad and row.tolist() == [4, 9]
    row.sum().backward()
    assert x.grad.tolist() == [0, 4, 6]


def test_second_derivatives_through_writes():
    def f(x):
        y = x.clone()
        y[0].mul_(y[1].clone())
        y.view(-1)[1:3].exp_()
        return y

    x = ag.tensor(np.random.default_rng(0).standard_normal((3, 2)), requires_grad=True)
    ag.gradcheck(f, [x])
    ag.gradgradcheck(f, [x])


@pytest.mark.parametrize("write", [
    lambda y: ag.view_as_real(y).mul_(2.0), lambda y: setattr(y, "real", y.imag.exp()), lambda y: y.imag.add_(y.real[0].clone()),
    lambda y: y.real.__setitem__(0, 7.0), lambda y: ag.view_as_real(y.t()[1:])[..., 0].exp_(), lambda y: y.mul_(1j),
    lambda y: ag.view_as_complex(ag.view_as_real(y))[0].mul_(y[1].clone()), lambda y: y.imag.zero_(), lambda y: y.real.copy_(y.imag)])
def test_derivatives_through_writes_to_parts_of_complex_numbers(write):
    def f(x):
        y = x * 1
        pairs, real, turned = ag.view_as_real(y), y.real, y.t()[0].imag
        write(y)
        return y, pairs, real * turned[0]

    x = ag.tensor(np.random.default_rng(0).standard_normal((3, 2, 2)) @ [1, 1j], requires_grad=True)
    ag.gradcheck(f, [x])
    ag.gradgradcheck(f, [x])


@pytest.mark.parametrize("write", [
    lambda z, b: z.mul_(2j), lambda z, b: z.imag.mul_(z.real.clone()), lambda z, b: b.mul_(b.clone()), lambda z, b: b[0, 1:].exp_(),
    lambda z, b: z.expand(2, 3, 2)[1].mul_(1 + 1j), lambda z, b: setattr(z[1], "imag", b[0, :, 0])])
def test_derivatives_through_writes_to_pairs_seen_as_complex_numbers(write):
    def f(x):
        b = x * 1
        z = ag.view_as_complex(b)
        wide = z.expand(2, 3, 2)
        write(z, b)
        return z, b, wide * b[0, 0, 1]

    x = ag.tensor(np.random.default_rng(0).standard_normal((3, 2, 2)), requires_grad=True)
    ag.gradcheck(f, [x])
    ag.gradgradcheck(f, [x])


def test_assigned_parts(lib):
    for name in ("real", "imag"):
        x = lib.tensor([1 + 2j, 3 + 4j])
        setattr(x, name, 3.0)
        setattr(x[0], name, lib.tensor(9.0, dtype=lib.float64))
        assert getattr(x, name).tolist() == [9, 3] and x._version == 2
        for value, error in (([1.0, 2.0], TypeError), (1j, (RuntimeError, TypeError)), (lib.ones(3), RuntimeError)):
            with pytest.raises(error):
                setattr(x, name, value)
    x = lib.zeros(2)
    x.real = lib.ones(2)
    assert x.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="non-complex"):
        x.imag = 1


def test_values_saved_by_the_operation_itself_are_the_old_ones():
    x, w = (ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True) for _ in range(2))
    y = x * 3
    y.mul_(w)                                        # the gradient of w needs y as it was
    y.sum().backward()
    assert w.grad.tolist() == [3, 6] and x.grad.tolist() == [3, 6]
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


@pytest.mark.parametrize("write, words", [
    (lambda w: w.add_(1), "a leaf Variable that requires grad"), (lambda w: w[0].add_(1), "a view of a leaf"), (lambda w: w.__setitem__(0, 1.0), "leaf"),
    (lambda w: w.detach().expand(2, 3).add_(1), "more than one element of the written-to tensor"), (lambda w: w.squeeze_(), "leaf"),
    (lambda w: ag.ones(2, 3).add_(ag.ones(2, 2, 3)), "broadcast shape"), (lambda w: ag.ones(2, 3).__setitem__(0, ag.ones(2)), "shape mismatch")])
def test_errors(write, words):
    with pytest.raises(RuntimeError, match=words):
        write(ag.ones(3, requires_grad=True))


def test_views_made_without_recording():
    y = ag.ones(3, requires_grad=True) * 1
    with ag.no_grad():
        v = y[0]
        v.add_(1)
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        v.add_(1)
    assert y.tolist() == [2, 1, 1]


def test_a_retained_gradient_is_that_of_the_last_value():
    x = ag.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3, 3] and x.grad.tolist() == [30, 30]


def test_hooks_stay_with_the_value_that_they_were_put_on():
    x, seen = ag.ones(2, requires_grad=True), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.mul_(5)
    y.sum().backward()
    assert seen == [[5, 5]]


def test_a_function_that_writes_to_a_view():
    class Double(ag.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = ag.ones(3, requires_grad=True)
    y = x * 1
    Double.apply(y[1:])
    y.sum().backward()
    assert y.tolist() == [1, 2, 2] and x.grad.tolist() == [1, 2, 2]


def test_views_do_not_pile_up():
    w = ag.ones(3, 3, requires_grad=True)
    for _ in range(1000):
        w.t()
    assert len(w.counter.views) < 64


def test_results_of_unsafe_splits_may_be_written_to():
    for name, how in (("unsafe_split", 2), ("unsafe_split_with_sizes", [2, 2]), ("unsafe_chunk", 2)):
        x = ag.ones(4, requires_grad=True)
        y = x * 1
        a, b = getattr(ag, name)(y, how)
        assert len(getattr(y, name)(how)) == 2
        a.mul_(3)
        (a.sum() + b.sum() * 2).backward()
        assert x.grad.tolist() == [3, 3, 2, 2] and y.tolist() == [3, 3, 1, 1] and b._version == 0


class Part(ag.autograd.Function):
    """x[:2], or a copy of it."""

    @staticmethod
    def forward(ctx, x, copied):
        return x[:2].clone() if copied else x[:2]

    @staticmethod
    def backward(ctx, g):
        return ag.cat([g, ag.zeros(1)]), None


def made_unrecorded(x):
    with ag.no_grad():
        return x[:2]


@pytest.mark.parametrize(("make", "match"), [
    (lambda x: Part.apply(x * 1, False), "Output 0 of PartBackward is a view .* created inside a custom Function"),
    (lambda x: Part.apply(x * 1, False).view(-1), "created inside a custom Function"), (lambda x: Part.apply(x * 1, True), None),
    (lambda x: (x * 1).unbind(0)[0].view(1), "returns multiple views"), (lambda x: (x * 1).split(2)[0][:1], "returns multiple views"),
    (lambda x: made_unrecorded(x), "created in no_grad mode"), (lambda x: made_unrecorded(x * 1)[:1], "created in no_grad mode"),
    (lambda x: made_unrecorded(x.detach()).requires_grad_()[:1], "a view of a view .* is being .* inside the no_grad block"),
    (lambda x: (x * 1)[:2][:1], None), (lambda x: x[:2], "a view of a leaf"),
])
def test_writes_to_views_of_views(make, match):
    view = make(ag.ones(3, requires_grad=True))
    if match is None:
        view.mul_(2)
    else:
        with pytest.raises(RuntimeError, match=match):
            view.mul_(ag.ones(1, requires_grad=True))


def test_views_name_their_base():
    x = ag.ones(2, 3)
    for view in (x[0], x.view(-1)[1:], x.t()):
        assert view._is_view() and view._base is x
    for other in (x, x * 1, x[0].detach(), x.clone()):
        assert not other._is_view() and other._base is None
