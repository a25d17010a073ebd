"""User-written Functions in every detail, compared with PyTorch's."""

import pytest
from both import function, leaf

import autograd as ag


def run(lib, f, *args, **settings):
    """First output's values and the gradients of the tensor arguments of sum(first output)."""
    out = f.apply(*args, **settings)
    first = out if isinstance(out, lib.Tensor) else next(o for o in out if isinstance(o, lib.Tensor) and o.requires_grad)
    first.sum().backward()
    return first.tolist(), [None if a.grad is None else a.grad.tolist() for a in args if isinstance(a, lib.Tensor)]


# --- what backward returns ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("backward, expected", [
    (lambda ctx, g: g, [[1, 1], None]), (lambda ctx, g: (g,), [[1, 1], None]), (lambda ctx, g: (g, None), [[1, 1], None]),
    (lambda ctx, g: None, [None, None]), (lambda ctx, g: g.float(), [[1, 1], None]), (lambda ctx, g: g.long(), [[1, 1], None]),
    (lambda ctx, g: g.expand(3, 2), [[3, 3], None]),
], ids=["plain", "tuple", "surplus None", "None", "float32", "int64", "broadcast"])
def test_gradients_that_fit(lib, backward, expected):
    x = leaf(lib, 1.0, 2.0)
    assert run(lib, function(lib, lambda ctx, a: a * 1, backward), x) == ([1, 2], expected[:1])
    assert x.grad is None or x.grad.dtype == lib.float64


@pytest.mark.parametrize("error, words, backward", [
    (RuntimeError, r"function FBackward returned an incorrect number of gradients \(expected 2, got 1\)", lambda ctx, g: g),
    (RuntimeError, r"function FBackward returned an incorrect number of gradients \(expected 2, got 3\)",
     lambda ctx, g: (g, g, g)),
    (RuntimeError, r"Function FBackward returned an invalid gradient at index 0 - got \[3\] but expected shape compatible "
     r"with \[2\]", lambda ctx, g: (g.new_ones(3), None)),
    (RuntimeError, r"invalid gradient at index 1 - got \[\] but expected shape compatible with \[2\]",
     lambda ctx, g: (None, g.sum())),
    (RuntimeError, "expected Variable or None", lambda ctx, g: (1.0, None)),
    (RuntimeError, "expected Variable or None", lambda ctx, g: ([g], None)),
])
def test_gradients_that_do_not(lib, error, words, backward):
    with pytest.raises(error, match=words):
        run(lib, function(lib, lambda ctx, a, b: a * b, backward), leaf(lib, 1.0, 2.0), leaf(lib, 3.0, 4.0))


def test_gradients_of_what_is_no_tensor_or_needs_none(lib):
    x, n = leaf(lib, 1.0), lib.ones(1, dtype=lib.float64)
    f = function(lib, lambda ctx, a, k: a * k, lambda ctx, g: (g, g))
    with pytest.raises(RuntimeError, match="gradient different than None at position 2"):
        f.apply(x, 2).sum().backward()
    assert run(lib, f, x, n) == ([1], [[1], None])
    with pytest.raises(RuntimeError, match="expected Variable or None"):
        run(lib, function(lib, lambda ctx, a, k: a * k, lambda ctx, g: (g, 3)), x, n)


def test_no_forward_no_backward(lib):
    x = leaf(lib, 1.0)
    with pytest.raises(NotImplementedError, match="implement the forward function"):
        type("Empty", (lib.autograd.Function,), {}).apply(x)
    y = function(lib, lambda ctx, x: x * 1).apply(x)
    with pytest.raises(NotImplementedError, match="either the backward or vjp method"):
        y.sum().backward()
    with pytest.raises(NotImplementedError, match="jvp"):
        lib.autograd.Function.jvp(None)


def test_vjp_is_another_name_for_backward(lib):
    x = leaf(lib, 1.0)
    double = staticmethod(lambda ctx, g: g * 2)
    assert run(lib, function(lib, lambda ctx, x: x * 1, vjp=double), x) == ([1], [[2]])
    with pytest.raises(RuntimeError, match="both 'backward' and 'vjp'"):
        run(lib, function(lib, lambda ctx, x: x * 1, lambda ctx, g: g, vjp=double), x)


# --- what forward returns ----------------------------------------------------------------------------------------------

def test_outputs_that_are_no_tensors(lib):
    x = leaf(lib, 1.0, 2.0)
    seen = []
    plain = function(lib, lambda ctx, x: 3, lambda ctx, g: g)
    assert plain.apply(x) == 3 and function(lib, lambda ctx, x: None).apply(x) is None
    assert isinstance(function(lib, lambda ctx, x: (x * 1,), lambda ctx, g: g).apply(x), tuple)
    f = function(lib, lambda ctx, x: (3, x * 2, None, x * 5, lib.tensor([1, 2]), "text"),
                 lambda ctx, *gs: (seen.append([None if g is None else g.tolist() for g in gs]), gs[1] * 2)[1])
    n, a, none, _, index, text = f.apply(x)
    assert (n, none, text) == (3, None, "text") and not index.requires_grad and a.output_nr == 1
    a.sum().backward()
    assert seen == [[None, [1, 1], None, [0, 0], [0, 0], None]] and x.grad.tolist() == [2, 2]


def test_missing_gradients(lib):
    x = leaf(lib, 1.0)
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    f = function(lib, forward, lambda ctx, a, b: (seen.append(b), a * 2)[1])
    f.apply(x)[0].sum().backward()
    assert seen == [None] and x.grad.item() == 2


def test_an_input_as_it_is(lib):
    x, n = leaf(lib, 1.0), lib.ones(1, dtype=lib.float64)
    y = function(lib, lambda ctx, x: x, lambda ctx, g: g * 5).apply(x)
    assert y is not x and x.is_leaf and y.grad_fn.name() == "FBackward"
    y.sum().backward()
    assert x.grad.item() == 5
    z = function(lib, lambda ctx, x, n: n, lambda ctx, g: (g * 7, None)).apply(x, n)
    assert z is not n and not n.requires_grad and z.requires_grad
    z.sum().backward()
    assert x.grad.item() == 12


def test_modes_inside_forward(lib):
    seen = []

    def forward(ctx, x):
        seen.append((lib.is_grad_enabled(), x.requires_grad, (x * 2).requires_grad))
        with lib.enable_grad():
            return x * 2

    x = leaf(lib, 1.0)
    y = function(lib, forward, lambda ctx, g: g * 7).apply(x)
    assert seen == [(False, True, False)] and y.grad_fn.name() == "FBackward"
    y.sum().backward()
    assert x.grad.item() == 7


def test_nested_functions(lib):
    square = function(lib, lambda ctx, x: ctx.save_for_backward(x) or x * x, lambda ctx, g: 2 * ctx.saved_tensors[0] * g,
                      name="Square")
    outer = function(lib, lambda ctx, x: ctx.save_for_backward(x) or square.apply(square.apply(x)),
                     lambda ctx, g: 4 * ctx.saved_tensors[0] * square.apply(ctx.saved_tensors[0]) * g)
    x = leaf(lib, 2.0)
    (g,) = lib.autograd.grad(outer.apply(x).sum(), x, create_graph=True)
    (gg,) = lib.autograd.grad(g.sum(), x, create_graph=True)
    assert g.item() == 32 and gg.item() == 48 and lib.autograd.grad(gg.sum(), x)[0].item() == 48


# --- the context -------------------------------------------------------------------------------------------------------

def test_needs_input_grad(lib):
    x, n = leaf(lib, 1.0), lib.ones(1)
    seen = []

    def forward(ctx, a, b, k):
        seen.append(ctx.needs_input_grad)
        return a * b * k

    f = function(lib, forward, lambda ctx, g: (seen.append(ctx.needs_input_grad), (g, g, None))[1])
    f.apply(x, n, 2).sum().backward()
    with lib.no_grad():
        f.apply(x, n, 2)
    assert seen == [(True, False, False)] * 3

    def assigns(ctx, a, b, k):
        ctx.needs_input_grad = (False, True, False)
        return a * b * k

    seen.clear()
    g = function(lib, assigns, f.backward)
    y = g.apply(x, n, 2)
    assert y.grad_fn.needs_input_grad == (False, True, False)
    y.sum().backward()
    assert seen == [(False, True, False)]


def test_saving(lib):
    x = leaf(lib, 1.0, 2.0)
    with pytest.raises(TypeError, match="save_for_backward can only save .*, but argument 1 is of type int"):
        function(lib, lambda ctx, x: ctx.save_for_backward(x, 3) or x * 1, lambda ctx, g: g).apply(x)
    twice = function(lib, lambda ctx, x: (ctx.save_for_backward(x), ctx.save_for_backward(x * 2), x * 1)[2],
                     lambda ctx, g: g * ctx.saved_tensors[0])
    assert run(lib, twice, x)[1] == [[2, 4]]
    nothing = function(lib, lambda ctx, x: ctx.save_for_backward() or x * 1, lambda ctx, g: (ctx.saved_tensors, g)[1])
    y = nothing.apply(x)
    assert y.grad_fn.saved_tensors == ()
    noted = function(lib, lambda ctx, x: setattr(ctx, "note", 3) or x * 1, lambda ctx, g: g * ctx.note)
    y = noted.apply(x)
    assert y.grad_fn.note == 3 and not hasattr(y.grad_fn, "other")
    function(lib, lambda ctx, x: ctx.save_for_forward(x) or x * 1, lambda ctx, g: g).apply(x)
    with pytest.raises(AssertionError, match="save_for_forward expects all arguments to be tensors"):
        function(lib, lambda ctx, x: ctx.save_for_forward(3) or x * 1, lambda ctx, g: g).apply(x)


def test_marking(lib):
    x = leaf(lib, 1.0)
    with pytest.raises(RuntimeError, match="mark_non_differentiable only accepts"):
        function(lib, lambda ctx, x: ctx.mark_non_differentiable(3) or x * 1, lambda ctx, g: g).apply(x)

    def forward(ctx, x):
        a, b = x * 2, x * 3
        ctx.mark_non_differentiable(b)
        return a, b

    a, b = function(lib, forward, lambda ctx, g, h: g * 2).apply(x)
    assert a.requires_grad and not b.requires_grad and b.grad_fn is None
    none = function(lib, lambda ctx, x: (ctx.mark_non_differentiable(y := x * 2), y)[1], lambda ctx, g: g).apply(x)
    assert not none.requires_grad and none.grad_fn is None
    write = function(lib, lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1], lambda ctx, g: g * 2)
    h = x * 1
    z = write.apply(h)
    assert z is h and h.grad_fn.name() == "FBackward" and h._version >= 1
    z.sum().backward()
    assert x.grad.item() == 2
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        write.apply(x)
    with pytest.raises(RuntimeError, match="marked as dirty during the forward method were not returned as output"):
        function(lib, lambda ctx, x: ctx.mark_dirty(x) or x * 1, lambda ctx, g: g).apply(x * 1)


def test_defaults_and_keywords_with_setup_context(lib):
    seen = []

    def setup(ctx, inputs, output):
        seen.append(inputs[1:])
        ctx.n = inputs[1]
        return "ignored"

    f = function(lib, lambda x, n=2, *rest: x * n, lambda ctx, g: (g * ctx.n, None), setup_context=staticmethod(setup))
    x = leaf(lib, 1.0)
    assert run(lib, f, x) == ([2], [[2]])
    x.grad = None
    assert run(lib, f, x, n=5) == ([5], [[5]]) and run(lib, f, x, 3)[0] == [3]
    assert seen == [(2,), (5,), (3,)]


def test_grads_as_one_list(lib):
    x = leaf(lib, 1.0)
    seen = []

    def backward(ctx, grads):
        seen.append((type(grads), len(grads)))
        g, h = grads.pop(0), grads.pop()
        return g + h

    f = function(lib, lambda ctx, x: (x * 2, x * 3), backward, boxed_grads_call=True)
    a, b = f.apply(x)
    (a + b).sum().backward()
    assert seen == [(list, 2)] and x.grad.item() == 2


def test_saved_tensors_given_away(lib):
    x = leaf(lib, 1.0)
    seen = []

    def backward(ctx, g):
        (saved,) = ctx.saved_tensors
        try:
            ctx.saved_tensors  # noqa: B018
        except RuntimeError:
            seen.append("gone")
        return g * saved

    f = function(lib, lambda ctx, x: ctx.save_for_backward(x) or x * 1, backward, clear_saved_tensors_on_access=True)
    f.apply(x).sum().backward()
    assert x.grad.item() == 1 and seen == ["gone"]


def test_once_differentiable(lib):
    once = lib.autograd.function.once_differentiable(lambda ctx, g: (ctx.saved_tensors[0] * 2 * g).detach())
    f = function(lib, lambda ctx, x: ctx.save_for_backward(x) or x * x, once)
    x = leaf(lib, 3.0)
    u = lib.ones(1, dtype=lib.float64, requires_grad=True)
    (g,) = lib.autograd.grad(f.apply(x), x, u, create_graph=True)
    assert g.item() == 6 and g.requires_grad
    with pytest.raises(RuntimeError, match="differentiate twice.*once_differentiable"):
        g.sum().backward()
    f.apply(x).sum().backward()
    assert x.grad.item() == 6


def test_options_that_wait_for_vmap(lib):
    f = function(lib, lambda ctx, x: x * 2, lambda ctx, g: g * 2, generate_vmap_rule=True)
    assert run(lib, f, leaf(lib, 1.0)) == ([2], [[2]]) and lib.autograd.Function.generate_vmap_rule is False
    with pytest.raises(NotImplementedError, match="vmap"):
        f.vmap(None, None)


def test_names(lib):
    f = function(lib, lambda ctx, x: x * 2, lambda ctx, g: g * 2, name="Twice")
    y = f.apply(leaf(lib, 1.0))
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == "TwiceBackward" and "TwiceBackward" in repr(y)
    names = lib.autograd.function
    assert names.Function is lib.autograd.Function and issubclass(names.InplaceFunction, names.Function)
    assert isinstance(y.grad_fn, names.FunctionCtx)


def test_calling_an_instance():
    f = function(ag, lambda ctx, x: x * 2, lambda ctx, g: g * 2, name="Twice")
    with pytest.raises(TypeError, match=r"Write `Twice\.apply\(\.\.\.\)`"):
        f()
    with pytest.raises(TypeError, match="forward must be a static method"):
        type("Old", (ag.Function,), {"forward": lambda self, x: x}).apply(leaf(ag, 1.0))
