"""autograd.func: each result, and whether it requires a gradient, as torch.func's."""

import functools
import importlib
import threading
import warnings

import numpy as np
import pytest
from both import LIBS
from cases import CASES as OPERATIONS
from cases.nn_functional import FIRST

import autograd as ag
from autograd.core.batching import Batched, said


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


# --- vmap ---------------------------------------------------------------------------------------------------------------

def plain_tensors(out):
    return [one for one in ([out] if isinstance(out, ag.Tensor) else out) if isinstance(one, ag.Tensor)]


def weighed(outs):
    """One number that depends on every element."""
    total = 0
    for one in outs:
        if one.dtype.kind in "fc":
            weights = np.cos(np.arange(one.numel())).reshape(one.shape)
            total = total + ((one.real if one.dtype.kind == "c" else one) * ag.from_numpy(weights)).sum()
    return total


def batches(case, samples=3):
    """(in_dims, arguments, the arguments of each sample): all mapped, and one at a time."""
    drawn = [case.inputs(seed) for seed in range(samples)]
    count = len(case.shapes)
    choices = [(0,) * count, *[tuple(0 if i == j else None for i in range(count)) for j in range(count) if count > 1]]
    for dims in choices:
        args = [ag.from_numpy(np.stack([one[i] for one in drawn]) if dim == 0 else drawn[0][i]) for i, dim in enumerate(dims)]
        yield dims, args, [[x[n] if dim == 0 else x for x, dim in zip(args, dims, strict=True)] for n in range(samples)]


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        other = np.stack([x.detach().numpy() for x in other])
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one.detach().numpy(), other, atol=1e-8)


# rows whose results differ in shape by sample, or that are no functions of tensors alone
NO_BATCHES = {"index bool", "getitem mask of two", "masked_select", "nonzero", "asarray"}
MAPPED = [case for case in [*OPERATIONS, *FIRST] if case.name not in NO_BATCHES]


@pytest.mark.filterwarnings("ignore:vmap. no batched rule")
@pytest.mark.parametrize("case", MAPPED, ids=str)
def test_every_operation_maps_as_a_loop(case):
    """Values, gradients by sample, gradients of tensors outside, and gradients of gradients."""
    def call(*xs):
        return tuple(plain_tensors(case.call(ag, *xs)))
    for dims, args, each in batches(case):
        same(ag.func.vmap(call, dims)(*args), list(zip(*[call(*xs) for xs in each], strict=True)))
        if not any(one.dtype.kind in "fc" for one in call(*each[0])):
            continue
        places = tuple(range(len(args)))
        by_sample = ag.func.grad(lambda *xs: weighed(call(*xs)), places)
        same(ag.func.vmap(by_sample, dims)(*args), list(zip(*[by_sample(*xs) for xs in each], strict=True)))

        def outside(*xs):
            return weighed(ag.func.vmap(call, dims)(*xs))

        def looped(*xs):
            rows = [call(*[x[n] if dim == 0 else x for x, dim in zip(xs, dims, strict=True)]) for n in range(3)]
            return weighed([ag.stack(column) for column in zip(*rows, strict=True)])
        for one, other in zip(ag.func.grad(outside, places)(*args), ag.func.grad(looped, places)(*args), strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), atol=1e-8)
    if case.second and case.shapes and args:
        dims, args, each = next(batches(case))
        twice = ag.func.grad(lambda *xs: ag.func.grad(lambda *ys: weighed(call(*ys)))(*xs).square().sum())
        same([ag.func.vmap(twice, dims)(*args)], [[twice(*xs) for xs in each]])


@pytest.mark.filterwarnings("ignore:vmap. no batched rule")
@pytest.mark.parametrize("case", [case for case in MAPPED if not case.name.startswith("as_strided")], ids=str)
def test_every_operation_maps_twice_and_vectors_map_through_a_graph(case):
    def call(*xs):
        return tuple(plain_tensors(case.call(ag, *xs)))
    _, args, each = next(batches(case))
    double = [ag.stack([x, x.flip(0)]) for x in args]
    expected = list(zip(*[call(*xs) for xs in each], strict=True))
    same([x[0] for x in ag.func.vmap(ag.func.vmap(call))(*double)], expected)
    same([x[1] for x in ag.func.vmap(ag.func.vmap(call))(*double)], [column[::-1] for column in expected])
    if any(one.dtype.kind not in "fc" for one in call(*each[0])):
        return
    outs, pull = ag.func.vjp(call, *each[0])
    rng = np.random.default_rng(0)
    vectors = tuple([ag.from_numpy(rng.standard_normal((2, *y.shape)).astype(y.dtype)) for y in outs])
    same(ag.func.vmap(pull)(vectors), list(zip(*[pull(tuple([v[n] for v in vectors])) for n in range(2)], strict=True)))


def layer(t, kind, *args, shape, dtype=None, **settings):
    """A layer in float64, parameters drawn, with an input of `shape` for each of 4 samples."""
    module = getattr(t.lib.nn, kind)(*args, **settings).to(t.lib.float64)
    rng = np.random.default_rng(len(kind))
    with t.lib.no_grad():
        for p in module.parameters():
            p.copy_(t.lib.from_numpy(rng.standard_normal(tuple(p.shape)) / 2))
    x = rng.integers(0, 5, (4, *shape)) if dtype else rng.standard_normal((4, *shape))
    return module, t.lib.from_numpy(x)


LAYERS = {
    "Linear": lambda t: layer(t, "Linear", 3, 2, shape=(3,)),
    "Linear of rows": lambda t: layer(t, "Linear", 3, 2, shape=(5, 3)),
    "Linear without bias": lambda t: layer(t, "Linear", 3, 2, False, shape=(2, 5, 3)),
    "Conv1d": lambda t: layer(t, "Conv1d", 2, 3, 3, padding=1, shape=(1, 2, 6)),
    "Conv2d": lambda t: layer(t, "Conv2d", 2, 4, 3, stride=2, padding=1, shape=(1, 2, 6, 5)),
    "Conv2d of several": lambda t: layer(t, "Conv2d", 4, 4, 3, groups=2, dilation=2, shape=(3, 4, 6, 7)),
    "Conv2d unbatched": lambda t: layer(t, "Conv2d", 2, 3, 2, shape=(2, 4, 4)),
    "Conv3d": lambda t: layer(t, "Conv3d", 1, 2, 2, shape=(1, 1, 3, 4, 3)),
    "ConvTranspose2d": lambda t: layer(t, "ConvTranspose2d", 2, 3, 3, stride=2, shape=(2, 2, 3, 3)),
    "BatchNorm1d": lambda t: layer(t, "BatchNorm1d", 3, track_running_stats=False, shape=(5, 3)),
    "BatchNorm2d": lambda t: layer(t, "BatchNorm2d", 3, track_running_stats=False, shape=(2, 3, 3, 2)),
    "BatchNorm2d, eval": lambda t: (lambda m, x: (m.eval(), x))(*layer(t, "BatchNorm2d", 3, shape=(2, 3, 3, 2))),
    "LayerNorm": lambda t: layer(t, "LayerNorm", (3, 4), shape=(2, 3, 4)),
    "RMSNorm": lambda t: layer(t, "RMSNorm", 4, shape=(2, 3, 4)),
    "GroupNorm": lambda t: layer(t, "GroupNorm", 2, 4, shape=(2, 4, 3)),
    "InstanceNorm1d": lambda t: layer(t, "InstanceNorm1d", 4, affine=True, shape=(2, 4, 3)),
    "Embedding": lambda t: layer(t, "Embedding", 5, 3, padding_idx=1, shape=(4,), dtype=int),
    "PReLU": lambda t: layer(t, "PReLU", 3, shape=(2, 3)),
    "Bilinear": lambda t: (lambda m, x: (Twin(t, m), x))(*layer(t, "Bilinear", 3, 3, 2, shape=(2, 3))),
    "MultiheadAttention": lambda t: (lambda m, x: (Attends(t, m), x))(*layer(t, "MultiheadAttention", 4, 2, shape=(3, 4))),
    "TransformerEncoderLayer": lambda t: layer(t, "TransformerEncoderLayer", 4, 2, 8, 0.0, batch_first=True, shape=(1, 3, 4)),
    "LSTM": lambda t: (lambda m, x: (First(t, m), x))(*layer(t, "LSTM", 3, 2, shape=(4, 3))),
}


def Twin(t, module):
    return wrapped(t, module, lambda m, x: m(x, x))


def Attends(t, module):
    return wrapped(t, module, lambda m, x: m(x, x, x)[0])


def First(t, module):
    return wrapped(t, module, lambda m, x: m(x)[0])


def wrapped(t, module, call):
    class Wrapped(t.lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, x):
            return call(self.inner, x)
    return Wrapped()


@pytest.mark.filterwarnings("ignore:vmap. no batched rule", "ignore:There is a performance drop")
@pytest.mark.parametrize("name", LAYERS)
def test_gradients_of_layers_by_sample(name):
    """Of parameters and inputs; of a gradient's square; and of models side by side: as a loop, and as PyTorch."""
    everything = []
    for lib in LIBS:
        t = Inputs(lib)
        module, x = LAYERS[name](t)
        parameters = {key: p.detach() for key, p in module.named_parameters()}
        inputs = (0, 1) if x.dtype == lib.float64 else 0

        def loss(p, x):
            return t.f.functional_call(module, p, (x,)).pow(3).sum()

        def squares(p, x):
            return sum(g.square().sum() for g in t.f.grad(loss)(p, x).values())
        models = {key: lib.stack([p, p * 2, p - 1]) for key, p in parameters.items()}
        calls = [lambda: t.f.vmap(t.f.grad(loss, inputs), (None, 0))(parameters, x),
                 lambda: t.f.vmap(t.f.grad(squares), (None, 0))(parameters, x),
                 lambda: t.f.vmap(lambda p, x: t.f.functional_call(module, p, (x,)), (0, None))(models, x[0]),
                 lambda: t.f.vmap(t.f.vmap(t.f.grad(loss), (None, 0)), (0, None))(models, x)]
        found = []
        for call in calls:
            try:
                found.append(values_of(call()))
            except (RuntimeError, NotImplementedError):
                assert lib is not ag                 # PyTorch has no rules for LSTM, PReLU, second derivatives of attention
                found.append(None)
        if lib is ag:
            for number, function in enumerate((t.f.grad(loss, inputs), t.f.grad(squares))):
                rows = [values_of(function(parameters, one)) for one in x]
                for value, *others in zip(found[number], *rows, strict=True):
                    np.testing.assert_allclose(value, np.stack(others), atol=1e-9)
        everything.append(found)
    for theirs in everything[1:]:
        assert theirs[0] is not None or name == "LSTM"
        for one, other in zip(everything[0], theirs, strict=True):
            for a, b in zip(one, one if other is None else other, strict=True):
                np.testing.assert_allclose(a, b, atol=1e-9)


def values_of(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [x for one in tree for x in values_of(one)] if isinstance(tree, (list, tuple)) else [tree.detach().numpy()]


LOSSES = {
    "cross_entropy": lambda F, x, y: F.cross_entropy(x, y),
    "cross_entropy, ignored": lambda F, x, y: F.cross_entropy(x, y, ignore_index=1, label_smoothing=0.1),
    "cross_entropy, summed": lambda F, x, y: F.cross_entropy(x, y, reduction="sum"),
    "nll_loss": lambda F, x, y: F.nll_loss(F.log_softmax(x, 1), y),
    "mse_loss": lambda F, x, y: F.mse_loss(x[:, 0], y * 0.5),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_by_sample(name):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((4, 5, 3)), rng.integers(0, 3, (4, 5))
    found = []
    for lib in LIBS:
        def loss(x, y):
            return LOSSES[name](lib.nn.functional, x, y)
        a, b = lib.from_numpy(x), lib.from_numpy(y)
        by_sample = lib.func.grad_and_value(loss)
        gradients, values = lib.func.vmap(by_sample)(a, b)
        for n in range(4):
            one, value = by_sample(a[n], b[n])
            np.testing.assert_allclose(gradients[n].numpy(), one.numpy(), atol=1e-12)
            np.testing.assert_allclose(values[n].numpy(), value.numpy(), atol=1e-12)
        found.append((gradients.numpy(), values.numpy()))
    for theirs in found[1:]:
        for a, b in zip(found[0], theirs, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)


def test_a_batch_without_counted_targets_gives_what_a_loop_gives():
    """The mean of nothing is nan, without a gradient."""
    x, y = ag.ones(2, 3, 4), ag.tensor([[-100, -100, -100], [0, 1, -100]])
    found, value = ag.func.vmap(ag.func.grad_and_value(ag.nn.functional.cross_entropy))(x, y)
    assert value[0].isnan() and not found[0].any() and ag.equal(found[1], ag.func.grad(ag.nn.functional.cross_entropy)(x[1], y[1]))


def test_running_statistics_need_samples_of_their_own():
    """As PyTorch; with stacked buffers each model moves its own."""
    models = [ag.nn.BatchNorm1d(3) for _ in range(2)]
    x = ag.randn(2, 5, 3)
    with pytest.raises(RuntimeError, match="running_mean or running_var, which will be updated in place, were not batched"):
        ag.func.vmap(models[0])(x)
    parameters, buffers = ag.func.stack_module_state(models)
    out = ag.func.vmap(lambda p, b, x: ag.func.functional_call(models[0], (p, b), (x,)))(parameters, buffers, x)
    for n, model in enumerate(models):
        assert ag.allclose(out[n], model(x[n]), atol=1e-6)
        for name, buffer in model.named_buffers():
            assert ag.allclose(buffers[name][n].float(), buffer.float(), atol=1e-6), name


def clamped(x, i):
    y = x.new_zeros(x.shape) if x.ndim else x
    y.copy_(x * 2)
    y.clamp_(-1, 1)
    return y.mul_(x)


OWN_VALUES = {
    "an index": lambda x, i: x[i], "of a later dimension": lambda x, i: x[:, i], "before a list": lambda x, i: x[i, :, [0, 1]],
    "between": lambda x, i: x[[0, 1], i], "after dots": lambda x, i: x[..., i], "twice": lambda x, i: x[i, None, 1:, i],
    "int32": lambda x, i: x[i.int(), 0], "negative": lambda x, i: x[-1 - i], "zeros_like": lambda x, i: x.new_zeros(2).add_(x[0, 0]),
    "written": clamped, "full": lambda x, i: x.new_full((2, 2), 3.0).mul_(x[0, :2, :2])}


@pytest.mark.parametrize("name", OWN_VALUES)
def test_samples_have_indices_and_new_tensors_of_their_own(name):
    """An integer for each sample indexes as an int does; what is made like a sample can be written to."""
    x, i, function = ag.randn(3, 2, 2, 2, dtype=ag.float64), ag.tensor([0, 1, 1]), OWN_VALUES[name]
    slope = ag.func.grad(lambda x, i: function(x, i).square().sum())
    for f in (function, slope):
        assert ag.equal(ag.func.vmap(f)(x, i), ag.stack([f(*one) for one in zip(x, i, strict=True)]))


def test_writes():
    """To views of samples they reach the samples; to what is one for all they are refused, as in PyTorch."""
    for lib in LIBS:
        def write(x, y):
            z = x * 1
            z[1] = y
            z.view(3, 1)[2].mul_(2)
            z += y
            z[0].zero_()
            return z
        x, y = lib.ones(2, 3, requires_grad=True), lib.tensor([10.0, 20.0], requires_grad=True)
        out = lib.func.vmap(write)(x, y)
        assert out.tolist() == [[0, 20, 12], [0, 40, 22]]
        out.sum().backward()
        assert x.grad.tolist() == [[0, 0, 2], [0, 0, 2]] and y.grad.tolist() == [3, 3]
        shared = lib.zeros(3)
        with pytest.raises(RuntimeError, match="vmap|match the broadcast shape"):
            lib.func.vmap(lambda x: shared.add_(x))(x.detach())
        given = lib.zeros(2, 3)
        lib.func.vmap(lambda x: x.add_(1))(given)
        assert given.tolist() == [[1, 1, 1], [1, 1, 1]]


VALUES = {"item": lambda x: x.item(), "bool": lambda x: x if x > 0 else -x, "float": lambda x: x * float(x)}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_samples_are_refused_as_in_pytorch(name):
    for lib in LIBS:
        with pytest.raises(RuntimeError, match="vmap: It looks like you're"):
            lib.func.vmap(VALUES[name])(lib.ones(2))
    kept = []
    ag.func.vmap(lambda x: kept.append(x) or x)(ag.ones(2))
    with pytest.raises(RuntimeError, match="vmap.* call that has ended"):
        kept[0] + 1


def test_what_has_no_rule_loops_and_says_so_once():
    def quantiles(x):
        return ag.quantile(x, 0.3)
    x = ag.randn(4, 3)
    said.clear()
    with pytest.warns(UserWarning, match="vmap: no batched rule for '.*': it is called for each sample"):
        found = ag.func.vmap(quantiles)(x)
    assert ag.equal(found, ag.stack([quantiles(one) for one in x]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ag.equal(ag.func.vmap(quantiles, chunk_size=3)(x), found)
        assert ag.func.vmap(lambda v: v * 2)(ag.zeros(0, 3)).shape == (0, 3)
        with pytest.raises(NotImplementedError, match="0 samples"):
            ag.func.vmap(quantiles)(ag.zeros(0, 3))


def middle(w, x, scale=1.0):
    """Quantiles have no rule for batches: the function is called for each sample."""
    return ag.quantile((w["a"] * x).tanh() * scale, 0.3) + w["b"] * x.sum()


def recursive(w, x):
    def again(w, times=2):
        return again(w, times - 1) * x.sum() if times else middle(w, x)
    return again


class Holder:
    def __init__(self, x):
        self.x = x

    def __call__(self, w):
        return middle(w, self.x)


LOOPED = {
    "grad": lambda v: v(ag.func.grad(middle), (None, 0)),
    "of both": lambda v: v(ag.func.grad(middle, (0, 1)), (None, 0)),
    "value": lambda v: v(ag.func.grad_and_value(middle), (None, 0)),
    "keywords": lambda v: v(lambda w, x: ag.func.grad(middle)(w, x, scale=x[0]), (None, 0)),
    "aux": lambda v: v(ag.func.grad(lambda w, x: (middle(w, x), x * 2), has_aux=True), (None, 0)),
    "other aux": lambda v: v(lambda w, x: ag.func.grad(lambda w, x: (middle(w, x), "words"), has_aux=True)(w, x)[0], (None, 0)),
    "a closure": lambda v: v(lambda w, x: ag.func.grad(lambda w: middle(w, x))(w), (None, 0)),
    "closures in a closure": lambda v: v(lambda w, x: (lambda f, xs: ag.func.grad(lambda w: f(w) * xs["x"][0][0])(w))(
        lambda w: middle(w, x), {"x": [x * 2]}), (None, 0)),
    "a partial": lambda v: v(lambda w, x: ag.func.grad(functools.partial(lambda y, w, *, z: middle(w, y) * z, x, z=x.sum()))(w), (None, 0)),
    "defaults": lambda v: v(lambda w, x: ag.func.grad(lambda w, x=x, *, y=x * 2: middle(w, x + y))(w), (None, 0)),
    "computed in a closure": lambda v: v(lambda w, x: ag.func.grad(lambda y: middle(w, y * x))(x.cos()), (None, 0)),
    "recursion": lambda v: v(lambda w, x: ag.func.grad(recursive(w, x))(w), (None, 0)),
    "an attribute": lambda v: v(lambda w, x: ag.func.grad(Holder(x))(w), (None, 0)),
    "a shape in a closure": lambda v: v(lambda w, x: ag.func.grad(lambda w, y: middle(w, y) * x.shape[0])(w, x), (None, 0)),
    "jacrev": lambda v: v(ag.func.jacrev(lambda w, x: ag.stack([middle(w, x), x[0] * w["b"]])), (None, 0)),
    "jacfwd": lambda v: v(ag.func.jacfwd(middle, 1), (None, 0)),
    "hessian": lambda v: v(ag.func.hessian(middle, 1), (None, 0)),
    "twice": lambda v: v(ag.func.grad(lambda w, x: ag.func.grad(middle, 1)(w, x).square().sum()), (None, 0)),
    "jvp": lambda v: v(lambda w, x: ag.func.jvp(lambda x: middle(w, x), (x,), (x * 2,))[1], (None, 0)),
    "vjp": lambda v: v(lambda w, x: ag.func.vjp(lambda x: middle(w, x), x)[1](x.sum())[0], (None, 0)),
    "after work": lambda v: v(lambda w, x: ag.func.grad(middle)({"a": w["a"].exp(), "b": w["b"]}, x * 3)["a"] * x, (None, 0)),
    "from outside": lambda v: (lambda w, x: ag.func.grad(lambda w: v(ag.func.grad(middle, 1), (None, 0))(w, x).square().sum())(w)),
}


@pytest.mark.filterwarnings("ignore:vmap. no batched rule")
@pytest.mark.parametrize("name", LOOPED)
def test_derivatives_of_functions_that_are_called_for_each_sample(name):
    """As a loop: the first call, which finds it out, and the next; in parts; and inside another vmap()."""
    def by_hand(f, dims):
        def looped(w, x):
            return stacked([f(w, one) for one in x])
        return looped

    def stacked(outs):
        if isinstance(outs[0], dict):
            return {key: stacked([out[key] for out in outs]) for key in outs[0]}
        if isinstance(outs[0], tuple):
            return tuple(stacked(list(column)) for column in zip(*outs, strict=True))
        return ag.stack(outs)

    def flat(out):
        return [one for part in (out.values() if isinstance(out, dict) else out) for one in flat(part)] if isinstance(
            out, (dict, tuple)) else [out]
    w = {"a": ag.randn(4, dtype=ag.float64), "b": ag.tensor(0.5, dtype=ag.float64)}
    x = ag.randn(5, 4, dtype=ag.float64)
    expected = flat(LOOPED[name](by_hand)(w, x))
    mapped = LOOPED[name](ag.func.vmap)
    for found in (mapped(w, x), mapped(w, x), LOOPED[name](functools.partial(ag.func.vmap, chunk_size=2))(w, x)):
        for one, other in zip(flat(found), expected, strict=True):
            assert one.shape == other.shape and ag.allclose(one, other)
    if name in ("grad", "a closure", "closures in a closure", "a partial", "defaults", "computed in a closure", "recursion", "an attribute"):
        calls = []

        def counting(f, dims):
            return ag.func.vmap(lambda *args: (calls.append(f), f(*args))[1], dims)
        mapped_too = LOOPED[name](counting)
        mapped_too(w, x), calls.clear(), mapped_too(w, x)
        assert len(calls) == (5 if name == "an attribute" else 1)            # or one backward pass for each sample
    if name != "from outside":
        y = ag.randn(2, 5, 4, dtype=ag.float64)
        for one, other in zip(flat(ag.func.vmap(mapped, (None, 0))(w, y)), flat(stacked([mapped(w, each) for each in y])), strict=True):
            assert ag.allclose(one, other)


@pytest.mark.filterwarnings("ignore:vmap. no batched rule")
def test_random_numbers_of_functions_that_are_called_for_each_sample():
    def draws(x):
        return ag.quantile(x, 0.5) + ag.rand(())
    x = ag.zeros(6, 3)
    for f in (draws, ag.func.grad(lambda x: draws(x) * x.sum() + x.sum() * ag.rand(()))):
        with pytest.raises(RuntimeError, match="randomness error mode"):
            ag.func.vmap(f)(x)
        for _ in range(2):
            same, different = (ag.func.vmap(f, randomness=kind)(x).reshape(6, -1)[:, 0].tolist() for kind in ("same", "different"))
            assert len(set(same)) == 1 and len(set(different)) > 1


def test_a_loop_does_not_repeat_writes():
    count = ag.zeros(1)

    def counts(x):
        count.add_(1)
        return ag.quantile(x, 0.5)
    with pytest.raises(RuntimeError, match="has no batched rule, and a loop over the samples would repeat"):
        ag.func.vmap(counts)(ag.ones(2, 3))


def test_backward_inside_loops():
    """Derivatives that a function takes itself, which PyTorch's vmap refuses."""
    def own(x):
        y = x.detach().requires_grad_() if not isinstance(x, Batched) else x
        return ag.grad((y ** 3).sum(), y)[0]
    x = ag.ones(2, 3)
    with pytest.warns(UserWarning, match="vmap: no batched rule for 'backward") if said.clear() is None else None:
        assert ag.func.vmap(own)(x).tolist() == [[3, 3, 3]] * 2


def test_functions_with_a_rule_of_their_own(lib):
    class Scale(lib.autograd.Function):
        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

        @staticmethod
        def vmap(info, in_dims, x, y):
            assert in_dims == (0, None) and info.batch_size == 2 and info.randomness == "error"
            return Scale.apply(x, y), 0
    x, y = lib.tensor([[1.0, 2.0], [3.0, 4.0]]), lib.tensor([5.0, 6.0])
    assert lib.func.vmap(Scale.apply, (0, None))(x, y).tolist() == [[5, 12], [15, 24]]
    Scale.vmap, Scale.generate_vmap_rule = lib.autograd.Function.vmap, True
    if lib is ag:
        assert ag.func.vmap(ag.func.grad(lambda x: Scale.apply(x, y).sum()))(x).tolist() == [[5, 6], [5, 6]]


def test_gradcheck_of_batched_gradients():
    class Twice(ag.Function):
        factor = 2

        @staticmethod
        def forward(x):
            return 2 * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return Twice.apply(g)

        @staticmethod
        def vmap(info, in_dims, x):
            return Twice.factor * x, 0
    x = ag.randn(3, dtype=ag.float64, requires_grad=True)
    w = ag.randn(2, 3, dtype=ag.float64, requires_grad=True)
    assert ag.gradcheck(Twice.apply, x, check_batched_grad=True)
    for f, given in ((ag.nn.functional.linear, (x, w)), (lambda x: (x.sort()[0], x.sum()), (x,)), (lambda x, w: x * 2, (x, w))):
        assert ag.gradcheck(f, given, check_batched_grad=True) and ag.gradgradcheck(f, given, check_batched_grad=True)
    Twice.factor = 3
    assert ag.gradcheck(Twice.apply, x)
    with pytest.raises(ag.GradcheckError, match="Batched gradients mismatch for output 0 with respect to input 0"):
        ag.gradcheck(Twice.apply, x, check_batched_grad=True)


def test_random_numbers_of_vmap():
    x = ag.zeros(4)
    ag.manual_seed(0)
    expected = ag.rand(4).tolist()
    ag.manual_seed(0)
    assert ag.func.vmap(lambda v: v + ag.rand(()), randomness="different")(x).tolist() == expected
    ag.manual_seed(0)
    assert ag.func.vmap(lambda v: v + ag.rand(()), randomness="same")(x).tolist() == expected[:1] * 4


DRAWS = {
    "dropout": lambda t, x: t.nn.functional.dropout(x, 0.5), "rand_like": lambda t, x: x + t.rand_like(x),
    "randn": lambda t, x: x + t.randn(20), "bernoulli": lambda t, x: t.bernoulli(x * 0 + 0.5),
    "uniform_": lambda t, x: (x * 1).uniform_(), "multinomial": lambda t, x: t.multinomial(x, 15),
    "a generator": lambda t, x: x + t.rand(20, generator=t.Generator())}


@pytest.mark.filterwarnings("ignore:vmap. no batched rule", "ignore:There is a performance drop")
@pytest.mark.parametrize("name", DRAWS)
def test_randomness(name):
    for lib in LIBS:
        def call(x):
            return DRAWS[name](lib, x)
        x = lib.ones(3, 20)
        with pytest.raises(RuntimeError, match="random"):
            lib.func.vmap(call)(x)
        if name != "a generator" or lib is ag:
            different = lib.func.vmap(call, randomness="different")(x).tolist()
            assert different[0] != different[1] != different[2]
        if (name, lib is ag) not in (("uniform_", False), ("bernoulli", False), ("multinomial", False), ("a generator", True),
                                     ("a generator", False)):
            one, *others = lib.func.vmap(call, randomness="same")(x).tolist()
            assert all(other == one for other in others)


def test_threads_and_what_records():
    """One thread in vmap() leaves others alone; a profiler and a recorded step see the operations on whole batches."""
    seen = []

    def outside():
        seen.append((ag.ones(3) * 2).tolist())

    def call(x):
        other = threading.Thread(target=outside)
        other.start()
        other.join()
        return (x @ x).exp()
    x = ag.ones(5, 3)
    with ag.profiler.profile() as prof:
        out = ag.func.vmap(call)(x)
    assert seen == [[2, 2, 2]] and ag.allclose(out, ag.full((5,), 3.0).exp())
    assert sum(event.name == "aten::exp" for event in prof.events()) == 1

    step = ag.trace_step(lambda x: ag.func.vmap(ag.func.grad(lambda v: (v.exp() * v).sum()))(x), ag.ones(2, 3))
    for value in (1.0, 1.0, 2.0, 3.0):
        x = ag.full((2, 3), value)
        assert ag.allclose(step(x), x.exp() * (x + 1))


def test_jacobians_in_pieces():
    x = ag.randn(5)
    for jacobian in (ag.func.jacrev, ag.func.jacfwd):
        assert ag.allclose(jacobian(lambda v: v.exp() * v.sum(), chunk_size=2)(x), jacobian(lambda v: v.exp() * v.sum())(x))


def test_forward_mode_inside_and_outside():
    for lib in LIBS:
        fwad, x = lib.autograd.forward_ad, lib.arange(6.0).reshape(2, 3)

        def inside(v):
            return fwad.unpack_dual(fwad.make_dual(v, v * 0 + 1) ** 3).tangent
        with fwad.dual_level():
            if lib is ag:                            # PyTorch: no batching rule for _make_dual
                assert lib.func.vmap(inside)(x).tolist() == (3 * x ** 2).tolist()
            out = lib.func.vmap(lambda v: v ** 3)(fwad.make_dual(x, lib.ones(2, 3)))
            assert fwad.unpack_dual(out).tangent.tolist() == (3 * x ** 2).tolist()


def test_what_vmap_returns():
    """A result without samples is repeated, or with out_dims=None given as it is."""
    for lib in LIBS:
        x, w = lib.ones(2, 3), lib.arange(3.0)
        out = lib.func.vmap(lambda v: (v.sum(), w * 1), out_dims=(0, 0))(x)
        assert out[0].tolist() == [3, 3] and out[1].tolist() == [[0, 1, 2]] * 2
        assert lib.func.vmap(lambda v: (v, w), out_dims=(0, None))(x)[1].shape == (3,)
        with pytest.raises(ValueError, match="BatchedTensor when out_dim is None"):
            lib.func.vmap(lambda v: v, out_dims=None)(x)


def x_of(l, *shape):
    return l.arange(float(np.prod(shape))).reshape(shape) / 10


# what a table of operations does not reach: which arguments have samples, and how forms of calls go together
FORMS = {
    "index batched tensor": lambda l: l.func.vmap(lambda v, i:v[i])(x_of(l, 3,4),l.tensor([[0,1],[1,2],[3,3]])),
    "index shared by batched": lambda l: l.func.vmap(lambda i, v:v[:,i],in_dims=(0,None))(l.tensor([[0,1],[1,2],[3,3]]),x_of(l, 2,4)),
    "two indices": lambda l: l.func.vmap(lambda v,i,j:v[i,:,j])(x_of(l, 3,4,2,5),l.tensor([[0,1],[1,2],[3,3]]),l.tensor([[0,1],[1,2],[3,3]])),
    "nonadjacent unbatched idx": lambda l: l.func.vmap(lambda v:v[l.tensor([0,1]),:,l.tensor([1,2])])(x_of(l, 3,4,2,5)),
    "gather": lambda l: l.func.vmap(lambda v, i:l.gather(v,0,i))(x_of(l, 3,4),l.tensor([[0,1],[1,2],[3,3]])),
    "where scalar": lambda l: l.func.vmap(lambda v:l.where(v>0.3,v,0.))(x_of(l, 3,4)),
    "int div": lambda l: l.func.vmap(lambda a:a//2)(l.arange(6).reshape(3,2)),
    "cat mixed": lambda l: l.func.vmap(lambda a:l.cat([a,l.zeros(2)]))(x_of(l, 3,4)),
    "stack": lambda l: l.func.vmap(lambda a, b:l.stack([a,b],1),in_dims=(0,None))(x_of(l, 3,4),x_of(l, 4)),
    "einsum": lambda l: l.func.vmap(lambda a, b:l.einsum('ij,jk->ki',a,b),in_dims=(0,None))(x_of(l, 3,4,2),x_of(l, 2,5)),
    "sort": lambda l: l.func.vmap(lambda a:l.sort(a,descending=True)[0])(x_of(l, 3,4)),
    "topk idx": lambda l: l.func.vmap(lambda a:l.topk(a,2)[1])(x_of(l, 3,4)),
    "argmax all": lambda l: l.func.vmap(lambda a:a.argmax())(x_of(l, 3,4,2)),
    "argmax dim": lambda l: l.func.vmap(lambda a:a.argmax(1))(x_of(l, 3,4,2)),
    "any": lambda l: l.func.vmap(lambda a:(a>0.5).any())(x_of(l, 3,4)),
    "sum int": lambda l: l.func.vmap(lambda a:a.sum())(l.arange(6).reshape(3,2)),
    "one_hot": lambda l: l.func.vmap(lambda a:l.nn.functional.one_hot(a,5))(l.tensor([[0,1],[2,3]])),
    "isclose": lambda l: l.func.vmap(lambda a, b:l.isclose(a,b),in_dims=(0,None))(x_of(l, 3,4),x_of(l, 4)),
    "x.T": lambda l: l.func.vmap(lambda a:a.T)(x_of(l, 3,4,2)),
    "t()": lambda l: l.func.vmap(lambda a:a.t())(x_of(l, 3,4,2)),
    "view": lambda l: l.func.vmap(lambda a:a.view(-1,2))(x_of(l, 3,4,2)),
    "in_dims=1 view": lambda l: l.func.vmap(lambda a:a.reshape(-1),in_dims=1)(x_of(l, 3,4,2)),
    "expand": lambda l: l.func.vmap(lambda a:a.expand(3,2,4))(x_of(l, 3,4)),
    "iter": lambda l: l.func.vmap(lambda a:sum(r*r for r in a))(x_of(l, 3,4)),
    "unbatched out": lambda l: l.func.vmap(lambda a:l.ones(2))(x_of(l, 3,4)),
    "shape": lambda l: l.func.vmap(lambda a:a*a.shape[0]+a.numel()+a.dim())(x_of(l, 3,4)),
    "new_zeros": lambda l: l.func.vmap(lambda a:a.new_zeros(2)+a[:2])(x_of(l, 3,4)),
    "zeros_like": lambda l: l.func.vmap(lambda a:l.zeros_like(a)+1)(x_of(l, 3,4)),
    "masked_fill": lambda l: l.func.vmap(lambda a:a.masked_fill(a>0.5,0))(x_of(l, 3,4)),
    "masked_fill_": lambda l: l.func.vmap(lambda a:a.clone().masked_fill_(a>0.5,0))(x_of(l, 3,4)),
    "scatter_": lambda l: l.func.vmap(lambda a, i:a.clone().scatter_(0,i,9.))(x_of(l, 3,4),l.tensor([[0,1],[1,2],[3,3]])),
    "index_add": lambda l: l.func.vmap(lambda a:a.index_add(0,l.tensor([0,0]),l.ones(2)))(x_of(l, 3,4)),
    "clamp_": lambda l: l.func.vmap(lambda a:a.clone().clamp_(0.1,0.5))(x_of(l, 3,4)),
    "setitem tensor idx": lambda l: l.func.vmap(lambda a:(lambda b:(b.__setitem__(l.tensor([0,2]),1.),b)[1])(a.clone()))(x_of(l, 3,4)),
    "norm": lambda l: l.func.vmap(lambda a:a.norm())(x_of(l, 3,4)),
    "std": lambda l: l.func.vmap(lambda a:a.std())(x_of(l, 3,4)),
    "cumsum": lambda l: l.func.vmap(lambda a:a.cumsum(-1))(x_of(l, 3,4)),
    "det": lambda l: l.func.vmap(l.linalg.det)(x_of(l, 3,2,2)),
    "solve vec": lambda l: l.func.vmap(lambda a, b:l.linalg.solve(a+l.eye(2),b),in_dims=(None,0))(x_of(l, 2,2),x_of(l, 3,2)),
    "solve": lambda l: l.func.vmap(lambda a:l.linalg.solve(a+l.eye(2),l.ones(2)))(x_of(l, 3,2,2)),
    "inv": lambda l: l.func.vmap(lambda a:l.linalg.inv(a+l.eye(2)))(x_of(l, 3,2,2)),
    "svdvals": lambda l: l.func.vmap(lambda a:l.linalg.svdvals(a))(x_of(l, 3,2,2)),
    "fft": lambda l: l.func.vmap(lambda a:l.fft.fft(a).abs())(x_of(l, 3,4)),
    "hessian": lambda l: l.func.vmap(l.func.hessian(lambda a:(a**3).sum()*a[0]))(x_of(l, 3,4)),
    "hessian of vmap": lambda l: l.func.hessian(lambda w:l.func.vmap(lambda a:(a*w).sin().sum())(x_of(l, 3,4)).sum())(x_of(l, 4)),
    "jacfwd(vmap)": lambda l: l.func.jacfwd(lambda w:l.func.vmap(lambda a:(a*w).sin().sum())(x_of(l, 3,4)))(x_of(l, 4)),
    "vmap(jvp)": lambda l: l.func.vmap(lambda a, v:l.func.jvp(lambda z:z.sin()*z,(a,),(v,))[1])(x_of(l, 3,4),x_of(l, 3,4)),
    "vmap(vjp fn)": lambda l: (lambda p: l.func.vmap(p)(l.eye(4))[0])(l.func.vjp(lambda a:a.sin()*a.sum(),x_of(l, 4))[1]),
    "jacrev aux chunk": lambda l: l.func.jacrev(lambda a:(a.sin(),a),has_aux=True,chunk_size=2)(x_of(l, 4))[0],
    "3 levels": lambda l: l.func.vmap(l.func.vmap(l.func.vmap(lambda a, b:a*b,(None,0)),(0,None)))(x_of(l, 2,3),x_of(l, 2,4)),
    "MAML": lambda l: l.func.grad(lambda w:l.func.vmap(lambda a, b:((w-0.1*l.func.grad(lambda u:((u*a)**2).sum())(w))*b).sum()**2)(x_of(l, 3,4),x_of(l, 3,4)).mean())(x_of(l, 4)),
    "bn eval": lambda l: l.func.vmap(l.nn.BatchNorm1d(4).eval())(x_of(l, 3,5,4)),
    "interp": lambda l: l.func.vmap(lambda a:l.nn.functional.interpolate(a[None],scale_factor=2,mode="bilinear"))(x_of(l, 3,2,4,4)),
    "pad": lambda l: l.func.vmap(lambda a:l.nn.functional.pad(a,(1,2)))(x_of(l, 3,4)),
    "unfold": lambda l: l.func.vmap(lambda a:a.unfold(0,2,1))(x_of(l, 3,4)),
    "bmm": lambda l: l.func.vmap(l.bmm,in_dims=(0,None))(x_of(l, 3,2,4,5),x_of(l, 2,5,3)),
    "addmm": lambda l: l.func.vmap(l.addmm,in_dims=(None,0,0))(x_of(l, 3),x_of(l, 2,4,5),x_of(l, 2,5,3)),
    "cosine": lambda l: l.func.vmap(lambda a, b:l.nn.functional.cosine_similarity(a,b,dim=0))(x_of(l, 3,4)+1,x_of(l, 3,4)+2),
    "cdist": lambda l: l.func.vmap(lambda a:l.cdist(a,a+1))(x_of(l, 3,4,2)),
    "logsumexp": lambda l: l.func.vmap(lambda a:l.logsumexp(a,0))(x_of(l, 3,4)),
    "softmax grads": lambda l: l.func.vmap(l.func.jacrev(lambda a:l.softmax(a,0)))(x_of(l, 3,4)),
    "maxpool idx": lambda l: l.func.vmap(lambda a:l.nn.functional.max_pool2d(a,2,return_indices=True)[1])(x_of(l, 3,2,4,4)),
    "complex": lambda l: l.view_as_real(l.func.vmap(lambda a:a*(1+2j))(x_of(l, 3,4))),
    "dict": lambda l: l.func.vmap(lambda d:d["a"]*d["b"],in_dims=({"a":0,"b":None},))({"a":x_of(l, 3,4),"b":x_of(l, 4)}),
    "0 batch": lambda l: l.func.vmap(lambda a:a.sum())(l.zeros(0,4)),
    "out_dims neg": lambda l: l.func.vmap(lambda a:a*2,out_dims=-1)(x_of(l, 3,4,2)),
}


@pytest.mark.filterwarnings("ignore:vmap. no batched rule", "ignore:There is a performance drop")
@pytest.mark.parametrize("name", FORMS)
def test_forms_as_pytorch(name):
    ours, *theirs = [FORMS[name](lib).detach().numpy() for lib in LIBS]
    for other in theirs:
        assert ours.shape == other.shape
        np.testing.assert_allclose(ours, other, atol=1e-5)
