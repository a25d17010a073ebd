"""Every layer beside PyTorch's: what it holds and prints, and what it computes from the same weights."""

import copy
import inspect
import pickle
import warnings
from collections import OrderedDict

import numpy as np
import pytest
from nn_module_rows import DRAWN, ROWS

import autograd as ag

torch = pytest.importorskip("torch", reason="PyTorch, the yardstick, is not installed")


def made(t, call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(call, {"nn": t.nn, "t": t, "OrderedDict": OrderedDict}, dict(vars(t.nn)))


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def drawn(spec, rng):
    """A value for both sides, and whether it needs a gradient."""
    if isinstance(spec, tuple):
        return rng.standard_normal(spec), True
    return eval(spec.lstrip("*"), {"rng": rng, "np": np, "log_softmax": log_softmax}), spec.startswith("*")


def given(t, value, grad, dtype):
    if not isinstance(value, np.ndarray):
        return value
    x = t.from_numpy(value.astype(dtype) if value.dtype.kind == "f" else value.copy())
    return x.requires_grad_() if grad else x


def array(x):
    return None if x is None else x.detach().numpy()


def told(t, module, inputs, named, dtype, rng_state):
    """Outputs, gradients of inputs and parameters, and the state afterwards."""
    rng = np.random.default_rng(rng_state)
    args, kwargs = [given(t, *i, dtype) for i in inputs], {k: given(t, *i, dtype) for k, i in named.items()}
    leaves = [x for x in [*args, *kwargs.values()] if isinstance(x, t.Tensor) and x.requires_grad]
    args = [x * 1 if isinstance(x, t.Tensor) and x.requires_grad else x for x in args]      # what works in place must not meet a leaf
    for p in module.parameters():
        p.grad = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = module(*args, **kwargs)
    outs = out if isinstance(out, tuple) else (out,)
    floats = [o for o in outs if o.requires_grad]
    if floats:
        sum((o * t.from_numpy(rng.standard_normal(tuple(o.shape)).astype(dtype))).sum() for o in floats).backward()
    said = {f"out {i}": array(o) for i, o in enumerate(outs)}
    said.update({f"input {i}": array(x.grad) for i, x in enumerate(leaves)})
    said.update({f"grad {n}": array(p.grad) for n, p in module.named_parameters()})
    said.update({f"state {n}": array(v) for n, v in module.state_dict().items()})
    return said


def same(ours, theirs, tolerance):
    assert list(ours) == list(theirs)
    for name, want in theirs.items():
        got = ours[name]
        assert (got is None) == (want is None), name
        if want is not None:
            assert got.shape == want.shape and got.dtype == want.dtype, (name, got.shape, want.shape, got.dtype, want.dtype)
            np.testing.assert_allclose(got, want, tolerance, tolerance, err_msg=name)


def printed(module):
    return repr(module).replace("torch.", "").replace("autograd.", "")


def paired(call):
    """Both modules, with the same weights, after what can be compared before any use."""
    ours, theirs = made(ag, call), made(torch, call)
    assert printed(ours) == printed(theirs)
    for walk in ("named_parameters", "named_buffers", "named_modules"):
        a, b = ([(n, getattr(v, "requires_grad", None), tuple(getattr(v, "shape", ()))) for n, v in getattr(m, walk)()] for m in (ours, theirs))
        assert a == b
    assert [(k, str(v.dtype)) for k, v in ours.state_dict().items()] == [(k, str(v.dtype)) for k, v in theirs.state_dict().items()]
    for (name, a), b in zip(ours.named_buffers(), theirs.buffers()):
        np.testing.assert_array_equal(a.numpy(), b.numpy(), err_msg=name)
    ours.load_state_dict({k: ag.from_numpy(v.numpy().copy()) for k, v in theirs.state_dict().items()})
    return ours, theirs


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_like_pytorch(row):
    call, *specs = row
    ours, theirs = paired(call)
    rng = np.random.default_rng(len(call))
    inputs = [drawn(s, rng) for s in specs if not isinstance(s, dict)]
    named = {k: drawn(s, rng) for d in specs if isinstance(d, dict) for k, s in d.items()}
    if not any("float64" in str(p.dtype) for p in theirs.state_dict().values()):
        same(told(ag, ours, inputs, named, "float32", 0), told(torch, theirs, inputs, named, "float32", 0), 2e-4)
    ours.double(), theirs.double()
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    tolerance = 1e-7 if call.startswith("Hardsigmoid") else 1e-9            # PyTorch's 1/6 is in single precision there
    for seed in (1, 2):
        same(told(ag, ours, inputs, named, "float64", seed), told(torch, theirs, inputs, named, "float64", seed), tolerance)
    ours.eval(), theirs.eval()
    want = told(torch, theirs, inputs, named, "float64", 3)
    for module in (ours, copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert repr(module) == repr(ours)
        same(told(ag, module, inputs, named, "float64", 3), want, tolerance)


def twice(t, module, inputs, named):
    """Which first gradients of a plain sum are functions of something, and what a second pass leaves in .grad."""
    args, kwargs = [given(t, *i, "float64") for i in inputs], {k: given(t, *i, "float64") for k, i in named.items()}
    leaves = [x for x in [*args, *kwargs.values(), *module.parameters()] if isinstance(x, t.Tensor) and x.requires_grad]
    args = [x * 1 if isinstance(x, t.Tensor) and x.requires_grad else x for x in args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = module(*args, **kwargs)
    outs = [o for o in (out if isinstance(out, tuple) else (out,)) if o.requires_grad]
    if not outs or not leaves:
        return None
    for p in leaves:
        p.grad = None
    grads = t.autograd.grad(sum(o.sum() for o in outs), leaves, create_graph=True, allow_unused=True)
    tracked = [g for g in grads if g is not None and g.requires_grad]
    if tracked:
        sum((g**2).sum() for g in tracked).backward()
    return [None if g is None else g.requires_grad for g in grads], [
        None if p.grad is None else "zeros" if np.all(abs(p.grad.numpy(force=True)) < 1e-9) else "numbers" for p in leaves]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_second_derivatives_that_are_zero(row):
    """Under create_graph gradients are functions of what PyTorch's are functions of, be it with derivative zero."""
    call, *specs = row
    ours, theirs = (m.double() for m in paired(call))
    rng = np.random.default_rng(len(call))
    inputs = [drawn(s, rng) for s in specs if not isinstance(s, dict)]
    named = {k: drawn(s, rng) for d in specs if isinstance(d, dict) for k, s in d.items()}
    try:
        want = twice(torch, theirs, inputs, named)
    except RuntimeError as error:                    # PyTorch has no second derivative there
        assert "not implemented" in str(error) or "does not require grad" in str(error)
        return
    assert twice(ag, ours, inputs, named) == want


@pytest.mark.parametrize("row", DRAWN, ids=lambda row: row[0])
def test_random_ones_like_pytorch(row):
    call, shape = row
    ours, theirs = paired(call)
    inputs = [drawn(shape, np.random.default_rng(0))]
    assert made(ag, call)(ag.ones(shape)).shape == made(torch, call)(torch.ones(shape)).shape
    if call.startswith("Fractional"):
        return
    same(told(ag, ours.eval(), inputs, {}, "float64", 0), told(torch, theirs.eval(), inputs, {}, "float64", 0), 1e-12)
    shape = (40, 40, *shape[2:])
    first, second, want = array(ours.train()(-ag.ones(shape))), array(ours(-ag.ones(shape))), array(theirs.train()(-torch.ones(shape)))
    assert not np.array_equal(first, second)
    if call.startswith("RReLU"):
        assert -first.max() >= ours.lower and -first.min() <= ours.upper and abs(first.mean() - want.mean()) < 0.01
    else:
        (values, ours_n), (wanted, theirs_n) = (np.unique(a.round(5), return_counts=True) for a in (first, want))
        np.testing.assert_allclose(values, wanted, 1e-5)
        np.testing.assert_allclose(ours_n / first.size, theirs_n / first.size, atol=0.1)
        if "1d" in call or "2d" in call or "3d" in call or "Feature" in call:
            assert all(len(np.unique(channel)) == 1 for channel in first.reshape(1600, -1))


def test_cross_map_lrn():
    """PyTorch's keeps the first channel in its moving sum, and has the gradient of neither: compared where they agree."""
    x = np.random.default_rng(0).standard_normal((2, 3, 3, 3))
    for call in ("CrossMapLRN2d(5, 0.5, 0.6, 2)", "CrossMapLRN2d(6, 0.5)", "CrossMapLRN2d(1)"):
        ours, theirs = paired(call)
        np.testing.assert_allclose(array(ours(ag.from_numpy(x[:, :1] if "(1)" in call else x))), array(theirs(torch.from_numpy(x[:, :1] if "(1)" in call else x))), 1e-12)
    given = [(x, True)]
    same(told(ag, made(ag, "CrossMapLRN2d(3, 0.5)"), given, {}, "float64", 0), told(torch, made(torch, "LocalResponseNorm(3, 0.5)"), given, {}, "float64", 0), 1e-12)


def errors(t):
    """What each wrong call raises."""
    x = t.ones(2, 3, 4, 4)
    calls = {
        "Conv2d(3, 4, 3, groups=2)": None, "Conv2d(3, 4, 3, groups=0)": None, "Conv2d(3, 4, 3, padding='wrong')": None, "Conv2d(3, 4, 3, stride=2, padding='same')": None, "Conv2d(3, 4, 3, padding_mode='wrong')": None,
        "ConvTranspose2d(3, 4, 3, padding_mode='reflect')": None, "ConvTranspose2d(3, 4, 3, 2)": lambda m: m(x, output_size=(3, 3)), "GroupNorm(2, 3)": None, "BatchNorm1d(3)": lambda m: m(x), "BatchNorm2d(3)": lambda m: m(x[0]), "BatchNorm3d(3)": lambda m: m(x),
        "BatchNorm2d(4)": lambda m: m(x), "InstanceNorm2d(4, affine=True)": lambda m: m(x), "InstanceNorm1d(3)": lambda m: m(x), "Dropout(1.5)": None, "Dropout(-0.1)": None, "CircularPad1d(1)": lambda m: m(x), "Softmax2d()": lambda m: m(x[0, 0]), "Unflatten(1, 3)": None,
        "Unflatten(1, (1.5, 3))": None, "Hardtanh(1, 0)": None, "FractionalMaxPool2d(2)": None, "FractionalMaxPool2d(2, 3, 0.5)": None, "FractionalMaxPool2d(2, output_ratio=1.5)": None, "Embedding(3, 4, padding_idx=5)": None,
        "Embedding(3, 4, _weight=t.ones(3, 3))": None, "Embedding.from_pretrained(t.ones(3))": None, "Bilinear(0, 2, 3)": None, "TripletMarginLoss(margin=-1)": None, "MultiMarginLoss(p=3)": None, "MSELoss(reduction='wrong')": lambda m: m(x, x), "Module()": lambda m: m(x),
        "AdaptiveLogSoftmaxWithLoss(8, 20, [])": None, "AdaptiveLogSoftmaxWithLoss(8, 20, [5, 5])": None, "AdaptiveLogSoftmaxWithLoss(8, 20, [20])": None, "AdaptiveLogSoftmaxWithLoss(4, 9, [3])": lambda m: m(t.ones(1, 4), t.tensor([9])),
        "Linear(3, 4, typo=1)": None, "ReLU(1, 2)": None, "CrossMapLRN2d(3)": lambda m: m(x[0]), "Sigmoid(3)": None,
    }
    said = {}
    for call, use in calls.items():
        try:
            module = made(t, call)
            use and use(module)
            said[call] = "no error"
        except Exception as error:
            said[call] = type(error).__name__
    return said


def test_errors_like_pytorch():
    assert errors(ag) == errors(torch)


SIZES = {"Conv1d": "in_channels=3 out_channels=4 kernel_size=3 groups=1", "ConvTranspose2d": "in_channels=3 out_channels=4 kernel_size=3", "Linear": "in_features=3 out_features=4",
         "Bilinear": "in1_features=2 in2_features=3 out_features=4", "BatchNorm2d": "num_features=3", "InstanceNorm1d": "num_features=3", "GroupNorm": "num_groups=2 num_channels=4",
         "Embedding": "num_embeddings=3 embedding_dim=4", "EmbeddingBag": "num_embeddings=3 embedding_dim=4"}


@pytest.mark.parametrize("layer", SIZES)
def test_sizes_are_whole_numbers(layer):
    sizes = {name: int(size) for name, size in (pair.split("=") for pair in SIZES[layer].split())}
    assert getattr(ag.nn, layer)(**sizes) and getattr(ag.nn, layer)(**{name: np.int64(size) for name, size in sizes.items()})
    for name in sizes:
        for value in (None, "3", 3.0, True):
            with pytest.raises(TypeError, match=rf"{layer}\({name}={value!r}\): a whole number is needed"):
                getattr(ag.nn, layer)(**{**sizes, name: value})


def test_what_cannot_be_is_refused_by_name():
    for call, name in (("Linear(1, 1, device='cuda')", "device='cuda'"), ("BatchNorm1d(1, device='cuda')", "device='cuda'"), ("Unflatten('c', (1, 2))", "dim='c'")):
        with pytest.raises(NotImplementedError, match=name):
            made(ag, call)


def test_adaptive_softmax_log_prob_and_predict():
    ours, theirs = (m.double() for m in paired("AdaptiveLogSoftmaxWithLoss(8, 12, [3, 6])"))
    x = np.random.default_rng(0).standard_normal((20, 8)) * 3
    np.testing.assert_allclose(array(ours.log_prob(ag.from_numpy(x))), array(theirs.log_prob(torch.from_numpy(x))), 1e-10)
    np.testing.assert_array_equal(array(ours.predict(ag.from_numpy(x))), array(theirs.predict(torch.from_numpy(x))))


def test_old_states_without_a_count_of_batches_load():
    m = ag.nn.Sequential(ag.nn.BatchNorm1d(2))
    state = {"0.weight": ag.ones(2) * 3, "0.bias": ag.zeros(2), "0.running_mean": ag.zeros(2), "0.running_var": ag.ones(2)}
    assert str(m.load_state_dict(state)) == "<All keys matched successfully>" and m[0].weight.tolist() == [3, 3]


def test_names_that_model_code_imports():
    from autograd.nn import common_types, parameter
    from autograd.nn.modules import Conv2d, Module, utils
    from autograd.nn.modules.batchnorm import _BatchNorm
    from autograd.nn.modules.conv import _ConvNd
    from autograd.nn.modules.dropout import _DropoutNd
    from autograd.nn.modules.instancenorm import _InstanceNorm
    from autograd.nn.modules.loss import _Loss, _WeightedLoss
    from autograd.nn.modules.pooling import _MaxPoolNd
    from autograd.nn.modules.utils import _ntuple, _pair, _quadruple, _reverse_repeat_tuple, _single, _triple
    nn = ag.nn
    assert (_single(3), _pair(3), _triple("ab"), _quadruple(1), _ntuple(5)(0), _reverse_repeat_tuple((1, 2), 2)) == ((3,), (3, 3), ("a", "b"), (1,) * 4, (0,) * 5, (2, 2, 1, 1))
    for base, call in ((_BatchNorm, "BatchNorm2d(1)"), (_ConvNd, "ConvTranspose1d(1, 1, 1)"), (_DropoutNd, "Dropout2d()"), (_InstanceNorm, "InstanceNorm1d(1)"), (_Loss, "CTCLoss()"), (_WeightedLoss, "NLLLoss()"), (_MaxPoolNd, "MaxPool3d(1)")):
        assert isinstance(made(ag, call), base)
    assert parameter.Parameter is nn.Parameter and Module is nn.Module and Conv2d is nn.Conv2d and common_types._size_2_t
    state = {"module.a": 1, "b": 2}
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state.items()) == [("a", 1), ("b", 2)]


@pytest.mark.parametrize("row", [*ROWS, *DRAWN], ids=lambda row: row[0][:60])
def test_public_attributes(row):
    ours, theirs = made(ag, row[0]), made(torch, row[0])
    plain = lambda v: v is None or isinstance(v, (int, float, str, bool, tuple, list))
    for name, value in vars(theirs).items():
        if plain(value) and (not name.startswith("_") or name == "_reversed_padding_repeated_twice") and name != "call_super_init":
            assert getattr(ours, name) == value, name


def test_signatures():
    """Names, kinds, order and defaults of the arguments of every module made here, and of its forward."""
    def arguments(f):
        return [(p.name, p.kind.name, p.default) for p in inspect.signature(f).parameters.values()]

    classes = {type(made(torch, row[0])).__name__ for row in [*ROWS, *DRAWN]} | {"ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}
    wrong = []
    for name in sorted(classes):
        ours, theirs = getattr(ag.nn, name), getattr(torch.nn, name)
        for method in ("__init__", "forward", "from_pretrained", "insert", "append", "pop", "update", "reset_parameters"):
            f, g = getattr(ours, method, None), getattr(theirs, method, None)
            assert (f is None) == (g is None), (name, method)
            if f is None or g.__name__ == "_forward_unimplemented" or g is torch.nn.Module.__init__:
                continue
            if arguments(f) != arguments(g):
                wrong.append((name, method, arguments(f), arguments(g)))
    assert not wrong, "\n".join(map(str, wrong))
