"""Names that packages over torch use: they do what they do there. Each case runs with PyTorch too, where it is installed."""

import importlib
import io

import numpy as np
import pytest
from both import needs_torch

import autograd as ag
from autograd import nn


def module(t, name):
    """t's module of a name: torch.nn.grad, autograd.nn.grad."""
    return importlib.import_module(f"{t.__name__}.{name}")


def numbers(t, *shape, seed=0):
    return t.tensor(np.random.default_rng(seed).random(shape).tolist(), dtype=t.float64)


def fusion(t):
    found = []
    for layer, norm, x, transposed in ((t.nn.Conv2d(2, 3, 3), t.nn.BatchNorm2d(3), numbers(t, 1, 2, 5, 5), False),
                                       (t.nn.ConvTranspose2d(2, 3, 3, bias=False), t.nn.BatchNorm2d(3, affine=False), numbers(t, 1, 2, 5, 5), True),
                                       (t.nn.Linear(2, 3), t.nn.BatchNorm1d(3), numbers(t, 4, 2), None)):
        layer, norm = layer.double().eval(), norm.double().eval()
        for number, value in enumerate([*layer.state_dict().values(), *norm.state_dict().values()]):
            if value.is_floating_point():
                value.copy_(numbers(t, *value.shape, seed=number) + 0.5)
        u = module(t, "nn.utils.fusion")
        fused = u.fuse_linear_bn_eval(layer, norm) if transposed is None else u.fuse_conv_bn_eval(layer, norm, transposed)
        assert np.allclose(fused(x).detach().numpy(), norm(layer(x)).detach().numpy()) and type(fused) is type(layer)
        found += [fused.weight, fused.bias]
    return found


def gradients_of_convolutions(t):
    grad, found = module(t, "nn.grad"), []
    for n in (1, 2, 3):
        x, w = numbers(t, 2, 4, *[6] * n), numbers(t, 6, 2, *[3] * n, seed=1)
        settings = (2, 1, 1, 2)                      # stride, padding, dilation, groups
        y = getattr(t.nn.functional, f"conv{n}d")(x, w, None, *settings)
        found += [getattr(grad, f"conv{n}d_input")(x.shape, w, t.ones_like(y), *settings),
                  getattr(grad, f"conv{n}d_weight")(x, w.shape, t.ones_like(y), *settings)]
    return found


def foreach(t):
    a, b = ([numbers(t, 3, seed=s), numbers(t, 2, 2, seed=s + 1)] for s in (0, 2))
    calls = [("add", (b,), {"alpha": 2}), ("add", ([1.0, 2.0],), {}), ("mul", (2.0,), {}), ("div", (b,), {}), ("sqrt", (), {}), ("norm", (), {"ord": 1}),
             ("addcmul", (b, b), {"value": 0.5}), ("addcdiv", (b, b, [0.5, 0.2]), {}), ("lerp", (b, 0.3), {}), ("maximum", (0.4,), {}), ("pow", (b,), {})]
    found = [x for name, args, kwargs in calls for x in getattr(t, f"_foreach_{name}")(a, *args, **kwargs)]
    for name in ("mul_", "clamp_min_", "minimum_"):
        getattr(t, f"_foreach_{name}")(a, 0.5)
    t._foreach_zero_(b)
    return [*found, *t._foreach_pow(2.0, a), *a, *b]


def trees(t):
    p = module(t, "utils._pytree")
    tree = {"a": [1, (2, None)], "b": {"c": 3}}
    leaves, spec = p.tree_flatten(tree)
    return [leaves, p.tree_unflatten([10, 20, 30, 40], spec), p.tree_map(lambda x, y: (x, y), [1, [2]], [3, [4]]), spec.num_leaves,
            p.tree_map_only(int, lambda x: -x, tree), p.tree_leaves(tree, is_leaf=lambda x: isinstance(x, tuple)), p.tree_any(lambda x: x == 3, tree)]


def closeness(t):
    close, found = module(t, "testing").assert_close, []
    for a, b in ((t.tensor([1.0, 2.0]), t.tensor([1.0, 2.5])), (t.tensor([1.0]), t.tensor([1.0 + 1e-6])), (1.0, 1.5), (1, 2), ([1.0, 2.0], [1.0, 3.0]),
                 ({"a": 1}, {"b": 1}), (t.ones(2), t.ones(3)), (t.tensor([float("nan")]), t.tensor([float("nan")])), (None, 1), (1, 1.0)):
        try:
            close(a, b)
            found.append("close")
        except (AssertionError, TypeError) as error:
            found.append(f"{type(error).__name__}: {error}".replace("torch.", ""))
    return found


def registration_hooks(t):
    m, seen = t.nn.modules.module, []
    handles = [getattr(m, f"register_module_{kind}_registration_hook")(lambda module, name, value, kind=kind: seen.append((kind, name)))
               for kind in ("parameter", "buffer", "module")]
    t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
    replaced = m.register_module_parameter_registration_hook(lambda module, name, value: t.nn.Parameter(value.detach() * 0 + 3))
    net = t.nn.Module()
    net.bias = t.nn.Parameter(t.ones(2))
    for handle in (*handles, replaced):
        handle.remove()
    t.nn.Linear(1, 1)                                # no hook sees this
    return [sorted(seen), net.bias]


def modules(t):
    net = t.nn.Sequential(t.nn.ReLU(), t.nn.Linear(2, 3))
    shapes = [tuple(p.shape) for p in net.to_empty(device="cpu").parameters()]
    return [[name for name, _ in reversed(net._modules.items())], shapes, net.compile(), module(t, "nn.modules.activation").MultiheadAttention is t.nn.MultiheadAttention,
            module(t, "nn.modules.batchnorm").LazyBatchNorm1d is t.nn.LazyBatchNorm1d, module(t, "nn.modules.conv").LazyConv2d is t.nn.LazyConv2d,
            type(net.load_state_dict(net.state_dict())) is module(t, "nn.modules.module")._IncompatibleKeys]


def storages(t):
    x = t.arange(6.0).reshape(2, 3)
    s, part = x.storage(), x[1].untyped_storage()
    return [s.tolist(), len(s), s.size(), s.nbytes(), part.nbytes(), part.size(), part.data_ptr() == x.data_ptr(), isinstance(part, t.UntypedStorage), part[4:8].tolist()]


def flags(t):
    c = t.backends.cudnn
    before, found = (c.enabled, c.deterministic), []
    with c.flags(enabled=True, deterministic=True):
        found.append((c.enabled, c.deterministic))
    return [*found, before == (c.enabled, c.deterministic), t.overrides.has_torch_function((x := t.ones(1), 1)), t.overrides.is_tensor_like(x),
            isinstance(x, t.cuda.Stream), isinstance(t.cuda.CUDAGraph, type)]


def errors(t):
    found = []
    for name in ("_check", "_check_index", "_check_value", "_check_type"):
        try:
            getattr(t, name)(False, lambda name=name: f"said by {name}")
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


def operators(t):
    square = t.library.custom_op(f"names_{t.__name__}::square", mutates_args=())(_square(t))
    square.register_autograd(lambda ctx, g: 3 * g * ctx.saved_tensors[0], setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    x = t.tensor([3.0], requires_grad=True)
    y = square(x)
    y.backward()
    return [y.detach(), x.grad]


def _square(t):
    def square(x: t.Tensor) -> t.Tensor:
        return x * x
    return square


CASES = [fusion, gradients_of_convolutions, foreach, trees, closeness, registration_hooks, modules, storages, flags, errors, operators]


def plain(value):
    return value.detach().tolist() if hasattr(value, "detach") else value


@needs_torch
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_same_as_pytorch(case):
    import torch
    for ours, theirs in zip(map(plain, case(ag)), map(plain, case(torch)), strict=True):
        if isinstance(ours, list) and np.asarray(theirs, object).dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=1e-10)
        elif isinstance(theirs, (list, float)) and not isinstance(theirs, bool) and theirs and isinstance(np.ravel(np.array(theirs, object))[0], float):
            np.testing.assert_allclose(np.array(ours, float), np.array(theirs, float), rtol=1e-10)
        else:
            assert ours == theirs


def test_parameters_in_one_memory_have_storages_of_their_own():
    """Packages that save models drop parameters with the same storage; optimisers lay them into one memory."""
    net = nn.Linear(3, 2)
    optimizer = ag.optim.AdamW(net.parameters())
    net(ag.ones(1, 3)).sum().backward()
    optimizer.step()
    assert net.weight.untyped_storage().nbytes() == 24 and net.bias.untyped_storage().nbytes() == 8
    assert len({value.untyped_storage().data_ptr() for value in net.state_dict().values()}) == 2


def test_weights_by_url_are_those_of_the_file_that_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    url = "https://example.org/models/net-0123abcd.pt"
    with pytest.raises(NotImplementedError, match="nothing is downloaded; put the file into .*checkpoints"):
        ag.hub.load_state_dict_from_url(url)
    (tmp_path / "hub" / "checkpoints").mkdir(parents=True)
    file = io.BytesIO()
    ag.save({"w": ag.ones(2)}, file)
    (tmp_path / "hub" / "checkpoints" / "net-0123abcd.pt").write_bytes(file.getvalue())
    assert ag.hub.load_state_dict_from_url(url)["w"].tolist() == [1, 1]
    assert ag.hub.HASH_REGEX.search(url)[1] == "0123abcd" and ag.hub.urlparse(url).netloc == "example.org"
