"""Initial values: those of nn.init, and those that each module starts with, beside PyTorch's."""

import warnings

import numpy as np
import pytest

import autograd as ag

torch = pytest.importorskip("torch", reason="PyTorch, the yardstick, is not installed")
FIXED = [("constant_", (2, 3), (2.5,)), ("constant_", (), (1,)), ("ones_", (2, 3), ()), ("zeros_", (2, 3), ()), ("eye_", (3, 5), ()), ("eye_", (5, 3), ()), ("dirac_", (4, 3, 3), ()), ("dirac_", (6, 2, 3, 4), (2,)), ("dirac_", (4, 2, 2, 3, 3), (4,)),
         ("constant", (2,), (3,)), ("eye", (2, 2), ()), ("dirac", (2, 2, 1), ())]
DRAWN = [("uniform_", (80, 90), {}), ("uniform_", (80, 90), {"a": -3, "b": 0.5}), ("normal_", (80, 90), {}), ("normal_", (80, 90), {"mean": 2, "std": 0.1}), ("trunc_normal_", (80, 90), {}), ("trunc_normal_", (80, 90), {"std": 0.02}),
         ("trunc_normal_", (80, 90), {"mean": 1.0, "std": 2.0, "a": 2.5, "b": 9.0}), ("trunc_normal_", (80, 90), {"a": 1.5, "b": 3.0}), ("trunc_normal_", (80, 90), {"a": -2.5, "b": -2.0}), ("xavier_uniform_", (60, 40, 3), {"gain": 2.0}), ("xavier_uniform_", (80, 90), {}),
         ("xavier_normal_", (60, 40, 3), {}), ("xavier_normal_", (80, 90), {"gain": 0.5}), ("kaiming_uniform_", (80, 90), {}), ("kaiming_uniform_", (60, 40, 3), {"a": 0.3, "mode": "fan_out"}), ("kaiming_uniform_", (80, 90), {"nonlinearity": "relu"}),
         ("kaiming_normal_", (60, 40, 3), {"mode": "fan_out", "nonlinearity": "relu"}), ("kaiming_normal_", (80, 90), {"nonlinearity": "tanh"}), ("orthogonal_", (80, 90), {}), ("orthogonal_", (90, 20, 2), {"gain": 3}), ("sparse_", (80, 90), {"sparsity": 0.3}),
         ("sparse_", (80, 90), {"sparsity": 0.05, "std": 2.0}), ("kaiming_normal", (80, 90), {}), ("uniform", (80, 90), {}), ("normal", (80, 90), {}), ("xavier_uniform", (80, 90), {}), ("orthogonal", (80, 90), {}), ("sparse", (80, 90), {"sparsity": 0.5})]
WRONG = [("eye_", (3,), ()), ("dirac_", (3, 3), ()), ("dirac_", (3, 3, 3), (2,)), ("xavier_uniform_", (3,), ()), ("kaiming_normal_", (3,), ()), ("kaiming_uniform_", (3, 3), (0, "wrong")), ("kaiming_uniform_", (3, 3), (0, "fan_in", "wrong")), ("orthogonal_", (3,), ()), ("sparse_", (3, 3, 3), (0.5,)),
         ("normal_", (3,), (0.0, -1.0)), ("uniform_", (3,), (1.0, 0.0))]
MODULES = ["Linear(60, 90)", "Bilinear(20, 30, 40)", "Conv1d(40, 60, 3)", "Conv2d(20, 60, 3, groups=2)", "Conv3d(20, 30, 2)", "ConvTranspose1d(40, 60, 3)", "ConvTranspose2d(20, 60, 3, groups=2)", "ConvTranspose3d(20, 30, 2)", "Embedding(50, 60, padding_idx=3)", "EmbeddingBag(50, 60)",
           "PReLU(3)", "BatchNorm2d(5)", "LayerNorm(5)", "GroupNorm(2, 4)", "RMSNorm(4)", "InstanceNorm1d(3, affine=True)", "AdaptiveLogSoftmaxWithLoss(64, 300, [50, 90])", "LinearCrossEntropyLoss(60, 90, bias=True)"]


def filled(t, name, shape, *args, dtype="float32", **kwargs):
    x = t.zeros(shape, dtype=getattr(t, dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert getattr(t.nn.init, name)(x, *args, **kwargs) is x
    return x.numpy()


def alike(a, b):
    """Whether two large samples look like draws from one distribution."""
    assert a.shape == b.shape and a.dtype == b.dtype
    if np.ptp(b) == 0 or a.size < 30:
        assert a.size < 30 or np.array_equal(a, b)
        assert np.abs(a).max() <= max(np.abs(b).max() * 1.7, 1e-9) * (1 if np.ptp(b) == 0 else 3)
        return
    points = np.quantile(b, np.linspace(0.1, 0.9, 9))
    distance = np.abs(np.searchsorted(np.sort(a, None), points) / a.size - np.searchsorted(np.sort(b, None), points) / b.size).max()
    assert distance < 2.2 / np.sqrt(a.size / 2), distance                 # Kolmogorov and Smirnov: once in 30,000 times
    np.testing.assert_allclose(a.std(), b.std(), 8 / np.sqrt(a.size))


@pytest.mark.parametrize("name, shape, args", FIXED)
def test_fixed_values(name, shape, args):
    np.testing.assert_array_equal(filled(ag, name, shape, *args), filled(torch, name, shape, *args))


@pytest.mark.parametrize("name, shape, kwargs", DRAWN)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_drawn_values(name, shape, kwargs, dtype):
    ag.manual_seed(len(name)), torch.manual_seed(0)
    a, b = filled(ag, name, shape, **kwargs, dtype=dtype), filled(torch, name, shape, **kwargs, dtype=dtype)
    if name.startswith("sparse"):
        assert ((a == 0).sum(0) == (b == 0).sum(0)).all()
        a, b = a[a != 0], b[b != 0]
    alike(a, b)
    if name.startswith(("uniform", "xavier_uniform", "kaiming_uniform", "trunc")):
        np.testing.assert_allclose([a.min(), a.max()], [b.min(), b.max()], atol=0.05 * np.ptp(b) if kwargs.get("std") is None else 0.3 * np.ptp(b))
    if name.startswith("orthogonal"):
        m = a.reshape(len(a), -1)
        m = m @ m.T if len(m) <= m.shape[1] else m.T @ m
        np.testing.assert_allclose(m, np.eye(len(m)) * kwargs.get("gain", 1) ** 2, atol=1e-4)


@pytest.mark.parametrize("name, shape, args", WRONG)
def test_errors(name, shape, args):
    with pytest.raises(Exception) as theirs:
        filled(torch, name, shape, *args)
    with pytest.raises(theirs.type):
        filled(ag, name, shape, *args)


def test_gains():
    for name in ("linear", "conv1d", "conv3d", "conv_transpose2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"):
        for param in (None, 0.3, 2):
            assert ag.nn.init.calculate_gain(name, param) == torch.nn.init.calculate_gain(name, param)
    for args in (("wrong",), ("leaky_relu", True), ("leaky_relu", "a")):
        with pytest.raises(ValueError):
            ag.nn.init.calculate_gain(*args)


def test_generator_and_views():
    a, b = (ag.nn.init.normal_(ag.zeros(3), generator=ag.Generator().manual_seed(4)).tolist() for _ in range(2))
    assert a == b
    p = ag.nn.Parameter(ag.zeros(6, 2))
    ag.nn.init.constant_(p[2:4], 1.0)
    ag.nn.init.orthogonal_(p.data[4:])
    assert p.sum(1).tolist()[:4] == [0, 0, 2, 2] and p.requires_grad and p.is_leaf and abs(float((p[4] ** 2).sum()) - 1) < 1e-6
    with pytest.warns(FutureWarning, match=r"nn\.init\.normal_"):
        ag.nn.init.normal(ag.zeros(2))
    with pytest.warns(UserWarning, match="zero-element"):
        ag.nn.init.kaiming_normal_(ag.zeros(0, 2))


@pytest.mark.parametrize("call", MODULES)
def test_modules_start_like_pytorchs(call):
    ag.manual_seed(0), torch.manual_seed(0)
    ours, theirs = (eval(call, dict(vars(t.nn))) for t in (ag, torch))
    for (name, a), b in zip(ours.named_parameters(), theirs.parameters()):
        a, b = a.detach().numpy(), b.detach().numpy()
        alike(a, b)
        if call.startswith("Embedding("):
            assert (a[3] == 0).all() and (b[3] == 0).all(), name
    before = {k: v.tolist() for k, v in ours.state_dict().items()}
    ours.reset_parameters() if hasattr(ours, "reset_parameters") else None
    assert hasattr(ours, "reset_parameters") == hasattr(theirs, "reset_parameters") and list(before) == list(ours.state_dict())
