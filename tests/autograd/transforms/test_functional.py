"""autograd.functional: vjp, jvp, vhp, hvp, jacobian, hessian, each as PyTorch's."""

import numpy as np
import pytest
from both import LIBS, needs_torch

import autograd as ag

pytestmark = pytest.mark.quick


def tensors(lib, *shapes, seed=0, **options):
    rng = np.random.default_rng(seed)
    return tuple(lib.tensor(rng.uniform(0.5, 1.5, shape), dtype=lib.float64, **options) for shape in shapes)


def plain(value):
    return [plain(v) for v in value] if isinstance(value, (tuple, list)) else (value.tolist(), value.requires_grad)


def close(a, b):
    if isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            close(x, y)
    else:
        np.testing.assert_allclose(a[0], b[0], rtol=1e-10, atol=1e-12)
        assert a[1] == b[1]


def detached(value):
    return tuple(detached(v) for v in value) if isinstance(value, (tuple, list)) else value.detach()


ONE = {"square": lambda x: x * x * x, "matrix": lambda x: (x * x).reshape(-1, 1) @ x.reshape(1, -1),
       "sum": lambda x: (x * x.exp()).sum(0), "constant": lambda x: x.detach() * 2, "linear": lambda x: x * 3}
TWO = {"mul": lambda x, y: (x * y).exp(), "two out": lambda x, y: (x * x * y, (y * y).sum()),
       "first only": lambda x, y: x * x, "tuple of one": lambda x, y: (x * y,)}
SCALAR_ONE = {"cubes": lambda x: (x ** 3).sum(), "linear": lambda x: (x * 3).sum(), "one element": lambda x: (x ** 3).sum().reshape(1)}
SCALAR_TWO = {"mix": lambda x, y: (x ** 2 * y.exp()).sum(), "first only": lambda x, y: (x ** 3).sum() + 0 * y.sum().detach()}


def compare(call, flags=True):
    results = [plain(call(lib) if flags else detached(call(lib))) for lib in LIBS]
    if len(results) == 2:
        close(*results)
    return results[0]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_vjp_and_jvp(name, create_graph):
    func = ONE.get(name) or TWO[name]
    count = 1 if name in ONE else 2

    def inputs(lib):
        xs = tensors(lib, *[(3,)] * count, requires_grad=create_graph)
        return xs if count == 2 else xs[0]

    def vjp(lib):
        out = func(*tensors(lib, *[(3,)] * count))
        several = isinstance(out, tuple)
        v = tensors(lib, *[tuple(o.shape) for o in (out if several else (out,))], seed=1)
        return lib.autograd.functional.vjp(func, inputs(lib), v if several else v[0], create_graph=create_graph)

    def jvp(lib):
        v = tensors(lib, *[(3,)] * count, seed=2)
        return lib.autograd.functional.jvp(func, inputs(lib), v if count == 2 else v[0], create_graph=create_graph)

    compare(vjp)
    compare(jvp)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", [*SCALAR_ONE, *SCALAR_TWO])
@pytest.mark.parametrize("product", ["vhp", "hvp"])
def test_hessian_products(product, name, create_graph):
    count = 1 if name in SCALAR_ONE and name != "first only" else 2
    func = SCALAR_ONE[name] if count == 1 else SCALAR_TWO[name]

    def call(lib):
        xs, vs = tensors(lib, *[(3,)] * count, requires_grad=create_graph), tensors(lib, *[(3,)] * count, seed=3)
        xs, vs = (xs, vs) if count == 2 else (xs[0], vs[0])
        return getattr(lib.autograd.functional, product)(func, xs, vs, create_graph=create_graph)

    compare(call)


@pytest.mark.parametrize("options", [{}, {"create_graph": True}, {"vectorize": True},
                                     {"vectorize": True, "strategy": "forward-mode"}], ids=str)
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_jacobian(name, options):
    func, count = (ONE[name], 1) if name in ONE else (TWO[name], 2)
    if name == "constant" and options.get("vectorize"):
        pytest.skip("PyTorch's expanded zeros")

    def call(lib):
        xs = tensors(lib, *[(2,)] * count, requires_grad="create_graph" in options)
        return lib.autograd.functional.jacobian(func, xs if count == 2 else xs[0], **options)

    compare(call)


@pytest.mark.parametrize("options", [{}, {"create_graph": True}, {"vectorize": True},
                                     {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}], ids=str)
@pytest.mark.parametrize("name", [*SCALAR_ONE, "mix"])
def test_hessian(name, options):
    func, count = (SCALAR_ONE[name], 1) if name in SCALAR_ONE else (SCALAR_TWO[name], 2)

    def call(lib):
        xs = tensors(lib, *[(2,)] * count, requires_grad="create_graph" in options)
        return lib.autograd.functional.hessian(func, xs if count == 2 else xs[0], **options)

    compare(call, flags="outer_jacobian_strategy" not in options)       # PyTorch's then keeps a graph unasked


def test_results_can_be_differentiated(lib):
    F = lib.autograd.functional
    (x,) = tensors(lib, (2,), requires_grad=True)
    v = lib.ones(2, dtype=lib.float64)
    values = np.array(x.tolist())
    for found, expected in (
            (F.jacobian(lambda x: x ** 3, x, create_graph=True).sum(), 6 * values),
            (F.hessian(lambda x: (x ** 4).sum(), x, create_graph=True).sum(), 24 * values),
            (F.vjp(lambda x: x ** 3, x, v, create_graph=True)[1].sum(), 6 * values),
            (F.jvp(lambda x: x ** 3, x, v, create_graph=True)[1].sum(), 6 * values),
            (F.hvp(lambda x: (x ** 4).sum(), x, v, create_graph=True)[1].sum(), 24 * values),
            (F.vhp(lambda x: (x ** 4).sum(), x, v, create_graph=True)[1].sum(), 24 * values)):
        np.testing.assert_allclose(lib.autograd.grad(found, x)[0].tolist(), expected)


def test_without_recording(lib):
    F = lib.autograd.functional
    (x,) = tensors(lib, (2,))
    with lib.no_grad():
        assert F.jacobian(lambda x: x ** 2, x).tolist() == np.diag(2 * np.array(x.tolist())).tolist()
        out, product = F.vjp(lambda x: (x ** 2).sum(), x)
    assert not out.requires_grad and not product.requires_grad and not x.requires_grad


def test_empty_outputs_and_scalars(lib):
    F = lib.autograd.functional
    (x,) = tensors(lib, (2,))
    if lib is ag:                                    # PyTorch: IndexError
        assert tuple(F.jacobian(lambda x: x[:0], x).shape) == (0, 2)
    assert tuple(F.jacobian(lambda x: x.sum(), x).shape) == (2,)
    (s,) = tensors(lib, ())
    assert tuple(F.jacobian(lambda x: x * 2, s).shape) == () and F.hessian(lambda x: x ** 2, s).item() == 2
    assert F.jvp(lambda x: x * 3, s)[1].item() == 3 and F.hvp(lambda x: x ** 2, s)[1].item() == 2


STRICT = "not allowed in strict mode"
TENSORS = "must be either a Tensor or a tuple of Tensors"


@pytest.mark.parametrize("error, words, call", [
    (TypeError, f"inputs given to vjp {TENSORS}", lambda F, x: F.vjp(lambda x: x, [x, x])),
    (TypeError, f"inputs given to jvp {TENSORS} but the value at index 1", lambda F, x: F.jvp(lambda x, y: x, (x, 3))),
    (TypeError, f"outputs of the user-provided function given to jacobian {TENSORS}", lambda F, x: F.jacobian(lambda x: 3, x)),
    (TypeError, f"v given to vhp {TENSORS}", lambda F, x: F.vhp(lambda x: x.sum(), x, 3)),
    (RuntimeError, "v can only be None if the user-provided function returns", lambda F, x: F.vjp(lambda x: x, x)),
    (RuntimeError, "v can only be None if the input", lambda F, x: F.jvp(lambda x: x, x)),
    (RuntimeError, "v can only be None if the input", lambda F, x: F.hvp(lambda x: x.sum(), x)),
    (RuntimeError, "v has invalid size: should be .*2.* but got .*3", lambda F, x: F.vjp(lambda x: x, x, x.new_ones(3))),
    (RuntimeError, "should contain a single Tensor", lambda F, x: F.jvp(lambda x: x, x, (x, x))),
    (RuntimeError, "v is a tuple of invalid length: should be 2 but got 1", lambda F, x: F.jvp(lambda x, y: x, (x, x), x)),
    (RuntimeError, "Entry 1 in v has invalid size", lambda F, x: F.jvp(lambda x, y: x, (x, x), (x, x.new_ones(1)))),
    (RuntimeError, "given to hvp should return a single Tensor", lambda F, x: F.hvp(lambda x: (x.sum(), x), x, x)),
    (RuntimeError, "given to vhp should contain a single element", lambda F, x: F.vhp(lambda x: x * x, x, x)),
    (RuntimeError, "given to hessian should return a single Tensor", lambda F, x: F.hessian(lambda x: (x.sum(), x), x)),
    (RuntimeError, "given to hessian should contain a single element", lambda F, x: F.hessian(lambda x: x, x)),
    (RuntimeError, "Output 0 of the user-provided function does not require gradients",
     lambda F, x: F.jacobian(lambda x: x.detach(), x, strict=True)),
    (RuntimeError, f"Output 0 of the user-provided function is independent of input 1. This is {STRICT}",
     lambda F, x: F.jacobian(lambda x, y: x, (x, x), strict=True)),
    (RuntimeError, f"independent of input 1. This is {STRICT}", lambda F, x: F.vjp(lambda x, y: x, (x, x), x, strict=True)),
    (RuntimeError, f"jacobian of the user-provided function is independent of input 0. This is {STRICT} when create_graph",
     lambda F, x: F.vjp(lambda x: x * 2, x.requires_grad_(), x.detach(), strict=True, create_graph=True)),
    (RuntimeError, "independent of", lambda F, x: F.jvp(lambda x, y: x * x, (x, x), (x, x), strict=True)),
    (RuntimeError, "twice differentiable", lambda F, x: F.hessian(lambda x: x.sum(), x, strict=True)),
    (RuntimeError, "independent of", lambda F, x: F.vhp(lambda x: (x * 2).sum(), x, x, strict=True)),
    (RuntimeError, "independent of", lambda F, x: F.hvp(lambda x: (x * 2).sum(), x, x, strict=True)),
    (RuntimeError, "`strict=True` and `vectorized=True`", lambda F, x: F.jacobian(lambda x: x, x, strict=True, vectorize=True)),
    (AssertionError, "Expected strategy", lambda F, x: F.jacobian(lambda x: x, x, strategy="sideways")),
    (AssertionError, "Expected strategy", lambda F, x: F.hessian(lambda x: x.sum(), x, outer_jacobian_strategy="sideways")),
    (NotImplementedError, "only.*implemented for `vectorize=True`", lambda F, x: F.jacobian(lambda x: x, x, strategy="forward-mode")),
    (NotImplementedError, "create_graph=True", lambda F, x: F.jacobian(lambda x: x, x, create_graph=True, strategy="forward-mode")),
    (RuntimeError, "strict=True", lambda F, x: F.jacobian(lambda x: x, x, strict=True, strategy="forward-mode")),
], ids=lambda v: v[:40] if isinstance(v, str) else "")
def test_errors(lib, error, words, call):
    (x,) = tensors(lib, (2,))
    with pytest.raises(error, match=words):
        call(lib.autograd.functional, x)


@needs_torch
def test_signatures():
    import inspect
    for name in ag.functional.__all__:
        ours, theirs = (list(inspect.signature(getattr(lib.autograd.functional, name)).parameters.values()) for lib in LIBS)
        assert [(p.name, p.default) for p in ours] == [(p.name, p.default) for p in theirs]


@pytest.mark.parametrize("fast", [False, True])
def test_gradcheck_names_an_input_for_which_backward_returned_none(fast):
    class Forgetful(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, None

    inputs = [ag.randn(2, dtype=ag.float64, requires_grad=True) for _ in range(2)]
    with pytest.raises(RuntimeError, match=r"(?s)with respect to input 1,.*backward returned None for input 1, which requires grad"):
        ag.gradcheck(Forgetful.apply, inputs, fast_mode=fast)
    assert ag.gradcheck(lambda x, y: x * 2, inputs, fast_mode=fast)        # an input that is not used
    with pytest.raises(RuntimeError) as caught:
        ag.gradcheck(lambda x, y: x + Wrong.apply(y), inputs, fast_mode=fast)
    assert "None" not in str(caught.value)


class Wrong(ag.autograd.Function):
    """y, with zeros as its gradient."""

    @staticmethod
    def forward(ctx, y):
        return y * 1

    @staticmethod
    def backward(ctx, g):
        return g * 0
