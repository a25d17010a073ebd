"""autograd.func: each result, and whether it requires a gradient, as torch.func's."""

import importlib

import numpy as np
import pytest
from both import LIBS

import autograd as ag


class Inputs:
    """Tensors of one library."""

    def __init__(self, lib):
        self.lib, self.f = lib, lib.func
        rng = np.random.default_rng(0)
        self.x, self.y = (lib.from_numpy(rng.uniform(0.5, 1.5, 3)) for _ in range(2))
        self.a, self.b = (lib.from_numpy(rng.uniform(0.5, 1.5, (4, 3))) for _ in range(2))
        self.w = lib.from_numpy(rng.uniform(0.5, 1.5, (3, 3))).requires_grad_()


def cubes(x):
    return (x ** 3).sum()


def inside(t, w):
    """A loss after a step of gradient descent, whose gradient goes through the step."""
    step = t.f.grad(lambda w, x: (w @ x).square().sum())(w, t.x)
    return ((w - 0.1 * step) @ t.y).sum()


def linear(t):
    layer = t.lib.nn.Linear(3, 2, dtype=t.lib.float64)
    with t.lib.no_grad():
        for p in layer.parameters():
            p.copy_(t.lib.arange(p.numel(), dtype=t.lib.float64).reshape(p.shape) / 5 - 0.3)
    return layer, {name: p.detach() for name, p in layer.named_parameters()}


def per_sample(t):
    layer, parameters = linear(t)

    def loss(p, x, y):
        return (t.f.functional_call(layer, p, (x,)) - y).square().sum()
    return t.f.vmap(t.f.grad(loss), in_dims=(None, 0, 0))(parameters, t.a, t.b[:, :2])


def ensemble(t):
    models = [linear(t)[0] for _ in range(3)]
    parameters, buffers = t.f.stack_module_state(models)
    return parameters, t.f.vmap(lambda p, b, x: t.f.functional_call(models[0], (p, b), (x,)), (0, 0, None))(parameters, buffers, t.a)


def in_no_grad(t):
    with t.lib.no_grad():
        return t.f.grad(lambda x: (t.w @ x).sum())(t.x), t.f.vmap(lambda x: t.w @ x)(t.a)


def pulled(t, func, *primals):
    out, pull = t.f.vjp(func, *primals)
    return out, pull(t.lib.ones_like(out)), pull(out.detach())


CASES = {
    "grad": lambda t: t.f.grad(cubes)(t.x),
    "grad of grad": lambda t: t.f.grad(lambda x: t.f.grad(cubes)(x).square().sum())(t.x),
    "grad of a constant": lambda t: t.f.grad(lambda x: t.y.sum())(t.x),
    "grad of the input": lambda t: t.f.grad_and_value(lambda x: x)(t.x[0]),
    "argnums": lambda t: t.f.grad(lambda x, y: (x * y * y).sum(), argnums=(1, 0))(t.x, t.y),
    "the last argument": lambda t: t.f.grad(lambda x, y: (x * y * y).sum(), argnums=-1)(t.x, t.y),
    "trees": lambda t: t.f.grad(lambda p: (p["w"] * p["two"][1] + p["two"][0]).sum())({"w": t.x, "two": (t.y, t.x)}),
    "aux": lambda t: t.f.grad_and_value(lambda x: (cubes(x), {"square": x * x}), has_aux=True)(t.x),
    "aux of grad": lambda t: t.f.grad(lambda x, k: (k * cubes(x), x * 2), has_aux=True)(t.x, k=3.0),
    "a closure": lambda t: t.f.grad_and_value(lambda x: (t.w @ x).square().sum())(t.x),
    "a closure that does not matter": lambda t: t.f.grad(lambda x: (t.w.sum() + cubes(x)))(t.x),
    "a tracked input": lambda t: t.f.grad_and_value(lambda w: w.pow(3).sum())(t.w),
    "no_grad outside": in_no_grad,
    "a step inside": lambda t: (inside(t, t.w), t.f.grad(lambda w: inside(t, w))(t.w.detach())),
    "vjp": lambda t: pulled(t, lambda x, y: x * y.exp(), t.x, t.y),
    "vjp, tracked": lambda t: pulled(t, lambda w: w @ t.x, t.w),
    "vjp of several": lambda t: t.f.vjp(lambda x: {"a": x * x, "b": (x.exp(),)}, t.x)[1]({"a": t.x, "b": (t.y,)}),
    "jvp": lambda t: t.f.jvp(lambda x, y: x * y.exp(), (t.x, t.y), (t.y, t.x)),
    "jvp, tracked": lambda t: t.f.jvp(lambda x: t.w @ x * x, (t.x,), (t.y,)),
    "jvp of a linear function": lambda t: t.f.jvp(lambda x: (x * 3, {"c": x.sum()}), (t.x,), (t.y,)),
    "jvp, aux": lambda t: t.f.jvp(lambda x: (x * x, x + 1), (t.x,), (t.y,), has_aux=True),
    "jvp of jvp": lambda t: t.f.jvp(lambda x: t.f.jvp(lambda z: z ** 3, (x,), (t.y,))[1], (t.x,), (t.y,))[1],
    "linearize": lambda t: [t.f.linearize(lambda x: x * x.exp(), t.x)[1](v) for v in (t.x, t.y)],
    "jacrev": lambda t: t.f.jacrev(lambda x: x * x.sum())(t.x),
    "jacfwd": lambda t: t.f.jacfwd(lambda x: x * x.sum())(t.x),
    "jacobians of trees": lambda t: [jacobian(lambda x, y: {"p": x * y.sum(), "s": y.sum()}, argnums=(0, 1))(t.x, t.y)
                                     for jacobian in (t.f.jacrev, t.f.jacfwd)],
    "jacobians, aux": lambda t: [jacobian(lambda x: (x.exp(), x), has_aux=True)(t.x) for jacobian in (t.f.jacrev, t.f.jacfwd)],
    "jacobians, tracked": lambda t: [jacobian(lambda x: t.w @ x * x)(t.x) for jacobian in (t.f.jacrev, t.f.jacfwd)],
    "hessian": lambda t: t.f.hessian(lambda x: (x.exp() * x.sum()).sum())(t.x),
    "hessian of two": lambda t: t.f.hessian(lambda x, y: (x * x * y).sum(), argnums=(0, 1))(t.x, t.y),
    "vmap": lambda t: t.f.vmap(lambda x, y: x.dot(y))(t.a, t.b),
    "in_dims": lambda t: t.f.vmap(lambda x, p: x * p["k"] + p["c"][0], in_dims=(1, {"k": None, "c": (-1,)}))(t.a, {"k": 2.0, "c": (t.b,)}),
    "out_dims": lambda t: t.f.vmap(lambda x: (x, x.sum(), {"o": x * 2}), out_dims=(1, 0, -1))(t.a),
    "one out_dim": lambda t: t.f.vmap(lambda x: [x, x + 1], out_dims=1)(t.a),
    "keywords": lambda t: t.f.vmap(lambda x, y: x * y)(t.a, y=t.x),
    "vmap of vmap": lambda t: t.f.vmap(t.f.vmap(lambda x, y: x * y, (0, None)), (None, 0))(t.x, t.y),
    "vmap, tracked": lambda t: t.f.vmap(lambda x: t.w @ x, chunk_size=2)(t.a),
    "grad of vmap": lambda t: t.f.grad(lambda a: t.f.vmap(cubes)(a).sum())(t.a),
    "vmap of hessian": lambda t: t.f.vmap(t.f.hessian(lambda x: x.exp().prod()))(t.a),
    "vmap of jvp": lambda t: t.f.vmap(lambda x, v: t.f.jvp(lambda z: z ** 3, (x,), (v,))[1])(t.a, t.b),
    "gradients of samples": per_sample,
    "an ensemble": ensemble,
}


def plain(value):
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(plain, value)]
    return [value.requires_grad, list(value.shape), np.round(value.detach().numpy(), 9).tolist()]


@pytest.mark.parametrize("name", CASES)
def test_as_pytorch(name):
    ours, *theirs = [plain(CASES[name](Inputs(lib))) for lib in LIBS]
    assert all(ours == one for one in theirs), f"{ours}\n{theirs}"


def test_gradients_go_through_to_tensors_outside():
    """Of a leaf that requires a gradient, by backward(), as if the function's derivative had been written by hand."""
    t = Inputs(ag)
    inside(t, t.w).backward()
    assert ag.allclose(t.w.grad, t.f.grad(lambda w: inside(t, w))(t.w.detach()), atol=1e-12)
    assert t.x.grad is None and ag.autograd.gradcheck(lambda w: inside(t, w), t.w)


def test_gradcheck_is_a_function_whatever_was_imported():
    importlib.import_module("autograd.autograd.gradcheck")
    assert ag.autograd.gradcheck is ag.gradcheck


WRONG = {
    "no scalar": (lambda t: t.f.grad(lambda x: x)(t.x), RuntimeError, "scalar Tensor, got tensor with 1 dims"),
    "no tensor": (lambda t: t.f.grad(lambda x: 1.0)(t.x), RuntimeError, "Expected f.* to return a Tensor"),
    "no aux": (lambda t: t.f.grad(cubes, has_aux=True)(t.x), RuntimeError, "should be a tuple: .output, aux. if has_aux"),
    "argnums": (lambda t: t.f.grad(cubes, argnums=1)(t.x), RuntimeError, "Got argnum=1, but only 1 positional inputs"),
    "integers": (lambda t: t.f.grad(cubes)(t.lib.arange(3)), RuntimeError, "loating point"),
    "tangents": (lambda t: t.f.jvp(cubes, (t.x,), (t.a,)), RuntimeError, "size|structure and shapes"),
    "primals": (lambda t: t.f.jvp(cubes, t.x, t.x), RuntimeError, "Expected primals to be a tuple"),
    "strict": (lambda t: t.f.jvp(lambda x: t.y, (t.x,), (t.x,), strict=True), RuntimeError, "strict"),
    "sizes": (lambda t: t.f.vmap(lambda x, y: x)(t.a, t.x), ValueError, "same size in the mapped dimension, got sizes .4, 3."),
    "dimension": (lambda t: t.f.vmap(cubes, in_dims=2)(t.a), ValueError, "Got in_dim=2 for some input"),
    "structure": (lambda t: t.f.vmap(cubes, in_dims=(0, 0))(t.a), ValueError, "in_dims"),
    "nothing mapped": (lambda t: t.f.vmap(cubes, in_dims=(None,))(t.a), ValueError, "Expected at least one Tensor to vmap over"),
    "no in_dims": (lambda t: t.f.vmap(cubes, in_dims=None)(t.a), ValueError, "expected `in_dims` to be int or a .potentially nested"),
    "a number mapped": (lambda t: t.f.vmap(lambda x, y: x)(t.a, 2.0), ValueError, "but the input is of type"),
    "a number out": (lambda t: t.f.vmap(lambda x: 1.0)(t.a), ValueError, "must only return Tensors, got type"),
    "randomness": (lambda t: t.f.vmap(lambda x: t.lib.rand(2))(t.a), RuntimeError, "random operation while in randomness error mode"),
    "mode": (lambda t: t.f.vmap(cubes, randomness="some")(t.a), RuntimeError, "Only allowed values for randomness"),
    "chunks": (lambda t: t.f.jacrev(cubes, chunk_size=0)(t.x), ValueError, "`chunk_size` should be greater than 0"),
    "no models": (lambda t: t.f.stack_module_state([]), RuntimeError, "Expected at least one model, got 0"),
    "two kinds": (lambda t: t.f.stack_module_state([t.lib.nn.ReLU(), t.lib.nn.Tanh()]), RuntimeError, "to be of the same class"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_of_pytorch(name):
    call, error, said = WRONG[name]
    for lib in LIBS:
        with pytest.raises(error, match=said):
            call(Inputs(lib))


def test_random_numbers_of_vmap():
    x = ag.zeros(4)
    ag.manual_seed(0)
    expected = ag.rand(4).tolist()
    ag.manual_seed(0)
    assert ag.func.vmap(lambda v: v + ag.rand(()), randomness="different")(x).tolist() == expected
    ag.manual_seed(0)
    assert ag.func.vmap(lambda v: v + ag.rand(()), randomness="same")(x).tolist() == expected[:1] * 4


def test_vmap_may_look_at_values():
    """What PyTorch's can't do."""
    relu = ag.func.vmap(lambda v: v if v.item() > 0 else 0 * v)
    assert relu(ag.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
    with pytest.raises(NotImplementedError, match="0 samples"):
        relu(ag.zeros(0))
