"""What the compiled loops compute agrees with NumPy's reference: values, first and second derivatives, odd shapes, nan and inf;
and on all levels of processors with each other."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autograd as ag
from autograd import nn, optim
from autograd.base import extensions
from autograd.kernels import attention, group_norm, layer_norm, scatter, take_along
from autograd.kernels.loops import LEVELS, kernels_for, loops, translate
from autograd.kernels.memory_format import channels_last
from autograd.kernels.products import column_sums
from autograd.nn import functional as F

pytestmark = pytest.mark.skipif(loops.library is None, reason="loops are not compiled here, or switched off")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def numpy_only(monkeypatch):
    """A switch: after it is called NumPy does the work."""
    return lambda: monkeypatch.setattr(loops, "library", None)


def draw(*shape, seed=0, scale=2.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def run(function, *arrays):
    """Outputs' sum of squares' gradients, and the outputs."""
    inputs = [ag.tensor(a.copy(), requires_grad=True) for a in arrays]
    out = function(*inputs)
    weight = ag.tensor(draw(*out.shape, seed=9))
    return [out.detach().numpy(), *[g.numpy() for g in ag.grad((out * weight).sum(), inputs)]]


def norm(x, w, b):
    return F.layer_norm(x, (x.shape[-1],), w, b)


def targets(rows, classes):
    return ag.tensor(np.random.default_rng(1).integers(0, classes, rows))


ACTIVATIONS = {
    "relu": F.relu, "silu": F.silu, "mish": F.mish, "sigmoid": ag.sigmoid, "hardswish": F.hardswish, "relu6": F.relu6,
    "leaky_relu": lambda x: F.leaky_relu(x, -0.3), "hardtanh": lambda x: F.hardtanh(x, -0.5, 2), "softplus": F.softplus,
    "softplus of settings": lambda x: F.softplus(x, -1.5, 2.0), "elu": lambda x: F.elu(x, -0.7), "selu": F.selu,
    "celu": lambda x: F.celu(x, 2.0), "celu that grows": lambda x: F.celu(x, -2.0)}
def places(high, *shape):
    return ag.tensor(np.random.default_rng(2).integers(0, high, shape))


def spread(high, rows, columns):
    return places(high, rows)[:, None].expand(rows, columns)


CASES = {
    **{name: (function, [(67, 129)]) for name, function in ACTIVATIONS.items()},
    "rows added": (lambda x, y: x.index_add(0, places(40, 300), y), [(40, 7), (300, 7)]),
    "columns added": (lambda x, y: x.index_add(1, places(7, 300), y), [(40, 7), (40, 300)]),
    "numbers added": (lambda x, y: x.index_add(0, places(40, 3000), y), [(40,), (3000,)]),
    "rows looked up": (lambda x: x[places(50, 20, 13)], [(50, 65)]),
    "rows looked up from the end": (lambda x: x[places(50, 20, 13) - 50], [(50, 65)]),
    "places looked up": (lambda x: x[places(50, 1300), places(65, 1300)], [(50, 65)]),
    "embedding": (lambda x: F.embedding(places(50, 20, 13), x), [(50, 33)]),
    "bags": (lambda x: F.embedding_bag(places(50, 20, 13), x, mode="sum"), [(50, 33)]),
    "gather": (lambda x: x.gather(1, places(33, 50, 60)), [(50, 33)]),
    "gather from the middle": (lambda x: x.gather(1, places(11, 9, 20, 8)), [(9, 11, 8)]),
    "gather a part": (lambda x: x.gather(0, places(50, 60, 20)), [(50, 33)]),
    "gather rows": (lambda x: x.gather(0, spread(50, 60, 33)), [(50, 33)]),
    "scatter_add": (lambda x, y: x.scatter_add(1, places(11, 9, 20, 8), y), [(9, 11, 8), (9, 20, 8)]),
    "scatter_add to the last": (lambda x, y: x.scatter_add(1, places(33, 50, 60), y), [(50, 33), (50, 60)]),
    "scatter_add of rows": (lambda x, y: x.scatter_add(0, spread(50, 90, 33), y), [(50, 33), (90, 33)]),
    "scatter_add of columns": (lambda x, y: x.scatter_add(1, spread(33, 90, 50).T, y), [(50, 33), (50, 90)]),
    "largest of rows": (lambda x, y: x.scatter_reduce(0, spread(50, 90, 33), y, "amax"), [(50, 33), (90, 33)]),
    "smallest of places": (lambda x, y: x.scatter_reduce(1, places(33, 50, 60), y, "amin", include_self=False),
                           [(50, 33), (50, 60)]),
    "mean of rows": (lambda x, y: x.scatter_reduce(0, spread(50, 90, 33), y, "mean"), [(50, 33), (90, 33)]),
    "product of rows": (lambda x, y: x.scatter_reduce(0, spread(50, 90, 33), y, "prod"), [(50, 33), (90, 33)]),
    "sums of rows": (lambda x: x.sum(3), [(7, 11, 13, 5)]),
    "sums of columns": (lambda x: x.sum((0, 1, 2)), [(7, 11, 13, 5)]),
    "sums of both": (lambda x: x.sum((1, 3), keepdim=True), [(7, 11, 13, 5)]),
    "means here and there": (lambda x: x.mean((0, 2)), [(7, 11, 13, 5)]),
    "means of the middle": (lambda x: x.mean(1), [(17, 50, 6)]),
    "variances of short rows": (lambda x: x.var(-1), [(300, 7)]),
    "deviations here and there": (lambda x: x.std((0, 2), keepdim=True), [(7, 11, 13, 5)]),
    "broadcast": (lambda x, y, z: x * y + z, [(7, 11, 13, 5), (11, 1, 5), (7, 1, 13, 1)]),
    "running sums": (lambda x: x.cumsum(-1), [(40, 33)]),
    "running sums of the middle": (lambda x: x.cumsum(1), [(7, 30, 9)]),
    "largest of rows and columns": (lambda x: x.amax((1, 3)), [(7, 11, 13, 5)]),
    "smallest of the middle": (lambda x: x.amin(1, keepdim=True), [(17, 50, 6)]),
    "largest of short rows": (lambda x: x.amax(-1), [(300, 7)]),
    "logsumexp": (lambda x: ag.logsumexp(x, -1), [(100, 33)]),
    "logsumexp of the middle": (lambda x: ag.logsumexp(x, 1), [(16, 9, 23)]),
    "logsumexp of all": (lambda x: ag.logsumexp(x, (0, 1), keepdim=True), [(100, 33)]),
    "logsumexp over two": (lambda x: ag.logsumexp(x, (1, 2), keepdim=True), [(16, 9, 23, 3)]),
    "logsumexp here and there": (lambda x: ag.logsumexp(x, (0, 2)), [(16, 9, 23, 3)]),
    "gelu": (F.gelu, [(67, 129)]),
    "gelu tanh": (lambda x: F.gelu(x, approximate="tanh"), [(5000,)]),
    "softmax": (lambda x: F.softmax(x, -1), [(7, 11, 65)]),
    "softmax of one column": (lambda x: F.softmax(x, -1), [(5000, 1)]),
    "log_softmax": (lambda x: F.log_softmax(x, -1), [(100, 65)]),
    "softmax over another dimension": (lambda x: F.softmax(x, 0), [(65, 100)]),
    "layer_norm": (norm, [(100, 65), (65,), (65,)]),
    "layer_norm over two": (lambda x, w, b: F.layer_norm(x, (5, 13), w, b), [(100, 5, 13), (5, 13), (5, 13)]),
    "layer_norm without bias": (lambda x, w: F.layer_norm(x, (65,), w), [(100, 65), (65,)]),
    "layer_norm of nothing else": (lambda x: F.layer_norm(x, (65,)), [(100, 65)]),
    "rms_norm": (lambda x, w: F.rms_norm(x, (130,), w), [(40, 130), (130,)]),
    "group_norm": (lambda x, w, b: F.group_norm(x, 3, w, b), [(5, 6, 7, 11), (6,), (6,)]),
    "group_norm without bias": (lambda x, w: F.group_norm(x, 1, w), [(3, 300, 2), (300,)]),
    "group_norm of nothing else": (lambda x: F.group_norm(x, 5), [(6, 500)]),
    "batch_norm by running statistics": (lambda x, w, b: F.batch_norm(x, ag.arange(6.0), ag.arange(1.0, 7.0), w, b),
                                         [(9, 6, 11, 13), (6,), (6,)]),
    "batch_norm by running statistics, channels last": (
        lambda x, w, b: F.batch_norm(x.contiguous(memory_format=ag.channels_last), ag.arange(6.0), ag.arange(1.0, 7.0), w, b),
        [(9, 6, 11, 33), (6,), (6,)]),
    "batch_norm of rows by running statistics": (lambda x: F.batch_norm(x, ag.arange(65.0), ag.arange(1.0, 66.0)), [(150, 65)]),
    "instance_norm": (lambda x, w, b: F.instance_norm(x, weight=w, bias=b), [(2, 3, 4, 5, 67), (3,), (3,)]),
    "cross_entropy": (lambda x: F.cross_entropy(x, targets(200, 33)), [(200, 33)]),
    "binary cross entropy of logits": (lambda x: F.binary_cross_entropy_with_logits(x, ag.sigmoid(x.detach() * 3 + 1)), [(50, 41)]),
    "smooth_l1_loss": (lambda x, y: F.smooth_l1_loss(x, y, beta=0.7), [(67, 129), (67, 129)]),
    "smooth_l1_loss of few": (lambda x, y: F.smooth_l1_loss(x, y, reduction="sum"), [(3, 5), (3, 5)]),
    "smooth_l1_loss of columns": (lambda x, y: F.smooth_l1_loss(x.T, y, beta=2.0), [(129, 67), (67, 129)]),
    "cross_entropy one by one": (lambda x: F.cross_entropy(x, targets(200, 33), reduction="none"), [(200, 33)]),
    "cross_entropy of weights": (lambda x: F.cross_entropy(x, targets(200, 33), ag.arange(33).float()), [(200, 33)]),
    "causal attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
                         [(2, 3, 33, 8), (2, 3, 33, 8), (2, 3, 33, 9)]),
    "attention": (F.scaled_dot_product_attention, [(3, 40, 8), (3, 50, 8), (3, 50, 5)]),
    "more queries than keys": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=-0.3),
                               [(2, 90, 8), (2, 50, 8), (2, 50, 5)]),
    "linear": (F.linear, [(7, 50, 65), (40, 65), (40,)]),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_numpy(name, numpy_only):
    function, shapes = CASES[name]
    arrays = [draw(*shape, seed=k) for k, shape in enumerate(shapes)]
    quick = run(function, *arrays)
    numpy_only()
    for a, b in zip(quick, run(function, *arrays), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=3e-5, atol=3e-5)


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_rule_for_higher_orders(name):
    function, shapes = CASES[name]
    inputs = [ag.tensor(draw(*shape, seed=k), requires_grad=True) for k, shape in enumerate(shapes)]
    out = function(*inputs)
    g = ag.tensor(draw(*out.shape, seed=9))
    plain = ag.grad(out, inputs, g, retain_graph=True)
    composed = ag.grad(out, inputs, g, create_graph=True)
    for a, b in zip(plain, composed, strict=True):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=3e-5, atol=3e-5)


@pytest.mark.parametrize("name", ["gelu", "gelu tanh", "silu", "mish", "softplus", "elu", "softmax", "log_softmax", "layer_norm", "group_norm",
                                  "cross_entropy", "causal attention"])
def test_second_derivatives_are_those_of_double_precision(name):
    function, shapes = CASES[name]

    def second(dtype):
        inputs = [ag.tensor(draw(*shape, seed=k).astype(dtype), requires_grad=True) for k, shape in enumerate(shapes)]
        out = function(*inputs)
        first = ag.grad((out * out).sum(), inputs, create_graph=True)
        total = sum((g * g).sum() for g in first)
        return [g.numpy() for g in ag.grad(total, inputs)]

    for a, b in zip(second(np.float32), second(np.float64), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3 * np.abs(b).max())


@pytest.mark.parametrize("function", [*ACTIVATIONS.values(), F.gelu, lambda x: F.gelu(x, approximate="tanh"),
                                      lambda x: x.scatter_reduce(0, spread(100, 200, 64), ag.cat([x, -x]), "amax"),
                                      lambda x: x.scatter_reduce(0, places(100, 200, 64), ag.cat([x, -x]), "amin"),
                                      lambda x: F.softmax(x, -1), lambda x: F.log_softmax(x, -1),
                                      lambda x: F.layer_norm(x, (64,)),
                                      lambda x: F.binary_cross_entropy_with_logits(x, ag.ones_like(x), reduction="none"),
                                      lambda x: F.group_norm(x, 4), lambda x: F.instance_norm(x.reshape(100, 4, 16)),
                                      lambda x: x.reshape(800, 8).amax(1), lambda x: x.reshape(100, 8, 8).amin((0, 2)),
                                      lambda x: ag.logsumexp(x, 0), lambda x: ag.logsumexp(x, 1), lambda x: x.sum(1),
                                      lambda x: F.cross_entropy(x, targets(100, 64), reduction="none")])
def test_nan_and_infinities(function, numpy_only):
    x = draw(100, 64)
    x[0, 0], x[1, 3], x[2, 5], x[4] = np.nan, np.inf, -np.inf, -np.inf
    x[5], x[6], x[7] = 1e4, -1e4, 0
    x[8, :2] = -0.0, 1e-40
    with np.errstate(all="ignore"):
        quick = run(function, x)
        numpy_only()
        for a, b in zip(quick, run(function, x), strict=True):
            np.testing.assert_allclose(a, b, rtol=3e-5, atol=3e-5)


def test_gelu_of_double_precision(numpy_only):
    x = np.concatenate([np.linspace(-36, 36, 5000), np.geomspace(1e-300, 1e3, 500), [0.0, -0.0, np.inf, -np.inf, np.nan]])

    def both():
        given = ag.tensor(x, requires_grad=True)
        out = F.gelu(given)
        return out.detach().numpy(), ag.grad(out.sum(), given)[0].numpy()

    with np.errstate(all="ignore"):
        quick = both()
        assert kernels_for(x) is None and kernels_for(x, dtype=x.dtype) is not None
        numpy_only()
        expected = both()
    np.testing.assert_allclose(quick[0], expected[0], rtol=4e-15, atol=1e-280)
    np.testing.assert_allclose(quick[1], expected[1], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("function", [F.gelu, F.silu, F.relu6, ag.sigmoid])
def test_activations_of_channels_last(function, monkeypatch):
    """By the kernels, which NumPy's functions would show; the result lies as the input does."""
    x, g = ag.tensor(draw(2, 9, 9, 8)).permute(0, 3, 1, 2).requires_grad_(), ag.tensor(draw(2, 8, 9, 9, seed=1))
    rows = x.detach().contiguous().requires_grad_()
    expected = function(rows)
    expected.backward(g)
    for name in ("exp", "clip"):
        monkeypatch.setattr(np, name, None)
    out = function(x)
    out.backward(g)
    np.testing.assert_array_equal(out.detach().numpy(), expected.detach().numpy())
    np.testing.assert_array_equal(x.grad.numpy(), rows.grad.numpy())
    assert out.stride() == x.stride()


@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if name != "celu that grows"])
def test_activations_are_exact_everywhere(name):
    """To a few units in the last place, also near 0 and far from it, where results are small."""
    near = np.geomspace(1e-6, 80, 3000)
    x = np.concatenate([-near, near]).astype(np.float32)
    quick, wide = (ACTIVATIONS[name](ag.tensor(x.astype(dtype))).numpy() for dtype in (np.float32, np.float64))
    np.testing.assert_allclose(quick, wide, rtol=5e-6, atol=2e-37)


@pytest.mark.parametrize("shape, groups", [((2, 8, 9, 9), 4), ((1, 3, 400), 3), ((3, 4, 2, 3, 64), 1), ((2, 520, 2), 2)])
def test_group_norm_of_channels_last_and_of_parts(shape, groups):
    """The result lies channels last, and is the same however the input lies; the variances are as exact as the means."""
    x = draw(*shape) + 30
    out, means, variances, _ = group_norm.forward(x, None, None, groups, 1e-5)
    wide = x.astype(np.float64).reshape(shape[0], groups, -1)
    np.testing.assert_allclose(means, wide.mean(-1), rtol=1e-5)
    np.testing.assert_allclose(variances, wide.var(-1), rtol=1e-4)
    assert channels_last(out)
    holes = np.zeros((*shape[:-1], 2 * shape[-1]), np.float32)[..., ::2]
    holes[...] = x
    for other in (np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1), holes, x.copy(order="F")):
        np.testing.assert_array_equal(group_norm.forward(other, None, None, groups, 1e-5)[0], out)


def test_instance_norm_tells_its_statistics(numpy_only):
    def statistics():
        norm = nn.InstanceNorm2d(5, track_running_stats=True)
        norm(ag.tensor(draw(3, 5, 9, 11) + 7))
        return norm.running_mean.numpy(), norm.running_var.numpy()

    quick = statistics()
    numpy_only()
    for a, b in zip(quick, statistics(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)


def test_a_row_that_sees_no_key_is_zero():
    q = draw(2, 64, 64)
    q[:, 3] = -np.inf
    k = np.abs(draw(2, 64, 64))
    with np.errstate(all="ignore"):
        out = F.scaled_dot_product_attention(*map(ag.tensor, (q, k, k)))
    assert (out.numpy()[:, 3] == 0).all()


@pytest.mark.parametrize("causal", [True, False])
def test_blocks_of_attention_agree_with_the_whole(causal, monkeypatch):
    q, k, v, g = (draw(2, 3, n, 16, seed=n) for n in (70, 50, 50, 70))
    whole, kept = attention.forward(q, k, v, causal, 0.2)
    gradients = attention.backward(g, q, k, v, kept, causal, 0.2)
    monkeypatch.setattr(attention, "WHOLE", 0)
    monkeypatch.setattr(attention, "BLOCK", 1024)
    parts, kept = attention.forward(q, k, v, causal, 0.2)
    assert kept[0] is None and sum(a.size for a in kept[1:]) == 2 * 2 * 3 * 70
    np.testing.assert_allclose(parts, whole, rtol=1e-5, atol=1e-5)
    for a, b in zip(attention.backward(g, q, k, v, kept, causal, 0.2), gradients, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


OPTIMIZERS = {
    "AdamW": (optim.AdamW, {}), "Adam": (optim.Adam, {"weight_decay": 0.1, "maximize": True}),
    "AMSGrad": (optim.Adam, {"amsgrad": True}), "AdamW without decay": (optim.AdamW, {"weight_decay": 0.0}),
    "SGD": (optim.SGD, {"lr": 0.1, "weight_decay": 0.1}), "momentum": (optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    "Nesterov": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    "dampened": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "maximize": True}),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_optimizers(name, numpy_only):
    kind, options = OPTIMIZERS[name]

    def train():
        p = nn.Parameter(ag.tensor(draw(70, 101)))
        optimizer = kind([p], **options)
        for step in range(4):
            p.grad = ag.tensor(draw(70, 101, seed=step))
            optimizer.step()
        return p.detach().numpy(), [s.numpy() for s in optimizer.state[p].values() if isinstance(s, ag.Tensor)]

    quick, state = train()
    numpy_only()
    plain, expected = train()
    np.testing.assert_allclose(quick, plain, rtol=1e-5, atol=2e-6)
    for a, b in zip(state, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("packed", [True, False])
def test_recurrent_layers(kind, bias, packed, numpy_only):
    layer = kind(19, 23, bias=bias, bidirectional=True)
    x = draw(12, 17, 19, scale=1.0)

    def outputs():
        given = ag.tensor(x, requires_grad=True)
        y = nn.utils.rnn.pack_padded_sequence(given, list(range(12, 3, -1)) + [3] * 8) if packed else given
        out = layer(y)[0]
        out = out.data if packed else out
        return [out.detach().numpy(), *[g.numpy() for g in ag.grad((out * out).sum(), [given, *layer.parameters()])]]

    quick = outputs()
    numpy_only()
    for a, b in zip(quick, outputs(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * max(1, np.abs(b).max()))


def test_numbers_of_rows_are_looked_at():
    x, rows = np.zeros((40, 65), np.float32), np.arange(40)
    for wrong in (rows + 1, rows - 41):
        with pytest.raises(IndexError):
            scatter.add_rows(x, wrong, x + 1)
        with pytest.raises(RuntimeError, match="out of bounds"):
            take_along.gather_along(x, np.broadcast_to(wrong[:, None], (40, 65)).copy(), 0)
    assert not x.any()
    for dtype, dim, n, stray in itertools.product((np.float32, np.float64), (0, 1), (3, 5000), (-1, 2 ** 62, -2 ** 63, None)):
        x = np.zeros((n, 7) if dim else (7, n), dtype)
        index = np.full(x.shape, x.shape[dim] - 1)
        index[-1, -1] = x.shape[dim] if stray is None else stray
        for call in (lambda: take_along.gather_along(x, index, dim), lambda: scatter.added(x, index, x + 1, dim),
                     lambda: scatter.scatter_copy(x, index, x + 1, dim), lambda: scatter.scatter_copy(x, index, 1, dim)):
            with pytest.raises(RuntimeError, match="out of bounds"):
                call()


def test_what_they_take():
    x = draw(100, 100)
    assert kernels_for(x) is loops.library and kernels_for(x, None, x) is not None
    for other in (x.astype(np.float64), x.T, x[::2], x[:0], x.astype(">f4")):
        assert kernels_for(other) is None
    x.flags.writeable = False
    assert kernels_for(x) is None
    assert layer_norm.forward(draw(0, 128), None, None, (128,), 1e-5, True) is None


def test_sums_of_columns():
    for x in (draw(300, 7), draw(0, 7), draw(300, 7).astype(np.float64), np.ones((3, 4), np.int32)):
        np.testing.assert_allclose(column_sums(x), x.sum(0), rtol=1e-4, atol=1e-4)
        assert column_sums(x).dtype == x.dtype


# --- levels: the same bits, and errors against float64 ---------------------------------------------------------------------

def exact(name, x, *_):
    """A function of one number in float64."""
    w = x.astype(np.float64)
    special = pytest.importorskip("scipy.special") if name in SPECIAL else None
    with np.errstate(all="ignore"):
        e = np.exp(-np.abs(w))
        s = np.where(w < 0, e, 1) / (1 + e)
        if name in SPECIAL:
            return getattr(special, SPECIAL[name])(w)
        return {"sigmoid": lambda: s, "silu": lambda: w * s, "mish": lambda: w * np.tanh(np.logaddexp(0, w)),
                "gelu_tanh": lambda: 0.5 * w * (1 + np.tanh(0.7978845608028654 * (w + 0.044715 * w ** 3))),
                "softplus": lambda: np.logaddexp(0, w), "elu": lambda: np.where(w > 0, w, np.expm1(w)),
                "hardswish": lambda: w * np.clip(w + 3, 0, 6) / 6, "relu": lambda: np.maximum(w, 0)}[name]()


def by_rows(name, x, *more):
    """A function of rows in float64."""
    w = x.astype(np.float64)
    y = more[0].astype(np.float64) if more else None
    e = np.exp(w - w.max(1, keepdims=True))
    return {"softmax": lambda: e / e.sum(1, keepdims=True), "softmax_backward": lambda: w * (y - (w * y).sum(1, keepdims=True)),
            "log_softmax": lambda: w - w.max(1, keepdims=True) - np.log(e.sum(1, keepdims=True)),
            "layer_norm": lambda: (w - w.mean(1, keepdims=True)) / np.sqrt(w.var(1, keepdims=True) + 1e-5)}[name]()


SPECIAL = {"error_function": "erf", "inverse_error_function": "erfinv", "complementary_error_function": "erfc", "log_gamma": "gammaln",
           "digamma": "digamma"}                 # of float64, too
# the loop: the largest error, in units of the last place of the largest of 1 and the result. Loops with exponentials or
# polynomials round otherwise on the baseline, which has no fused multiply-add
ONE_BY_ONE = {"sigmoid": 2, "silu": 4, "mish": 4, "gelu_tanh": 8, "softplus": 3, "elu": 3, "hardswish": 2, "relu": 0, **dict.fromkeys(SPECIAL, 0.6),
              "error_function": 3}
ROWS = {"softmax": 8, "softmax_backward": 64, "log_softmax": 4, "layer_norm": 16}
OF_ROWS = [*ROWS, "log_softmax_backward", "layer_norm_backward"]
OF_ROWS += [f"{name}_double" for name in OF_ROWS]
SAME_EVERYWHERE = {"relu", "hardswish", "softmax_backward", "layer_norm", "layer_norm_backward", "softmax_backward_double", "layer_norm_double",
                   "layer_norm_backward_double", "to_half", "from_half", "to_half_double", "from_half_double",
                   "to_bfloat16", "from_bfloat16", "remainders", "adam", "sgd", "running_sums", "extremes", "gather", "words"}


def levels():
    return [loops.module(level) for level in LEVELS[:loops.module(LEVELS[0]).level_of_processor() + 1]]


def calls(name):
    """Arguments of the loop, the outputs last to be compared."""
    x, y, rows = draw(3333), draw(3333, seed=1), draw(100, 33)
    if name in ONE_BY_ONE:
        x[:8] = np.nan, np.inf, -np.inf, 0, -0.0, 1e-40, 88.5, -88.5
        x = np.tanh(x) if name == "inverse_error_function" else x
        more = {"softplus": (1.0, 20.0), "elu": (1.0, 1.0, 1.0)}.get(name, ())
        return lambda out: (x, out, x.size, *more), np.empty_like(x)
    rows = rows.astype(np.float64 if name in OF_ROWS and name.endswith("_double") else np.float32)
    tops, sums, room, zeros = [np.zeros(n, rows.dtype) for n in (100, 100, 5000, 33)]
    return {
        "softmax": lambda: (lambda out: (rows, out, 100, 33), np.empty_like(rows)),
        "softmax_backward": lambda: (lambda out: (rows, rows[::-1].copy(), out, 100, 33), np.empty_like(rows)),
        "log_softmax": lambda: (lambda out: (rows, room, out, 100, 33), np.empty_like(rows)),
        "log_softmax_backward": lambda: (lambda out: (rows, rows[::-1].copy(), out, 100, 33), np.empty_like(rows)),
        "layer_norm": lambda: (lambda out: (rows, rows, rows, out, tops, sums, 100, 33, 1, 1e-5), np.empty_like(rows)),
        "layer_norm_backward": lambda: (lambda out: (rows, rows[::-1].copy(), rows, tops + 1, tops + 2, out, zeros, zeros.copy(), np.zeros(66), 100, 33,
                                             59), np.empty_like(rows)),
        "to_half": lambda: (lambda out: (x, out, x.size), np.empty(x.size, np.uint16)),
        "from_half": lambda: (lambda out: (np.arange(1 << 16, dtype=np.uint16), out, 1 << 16), np.empty(1 << 16, np.float32)),
        "to_half_double": lambda: (lambda out: (x.astype(float), room, out, x.size), np.empty(x.size, np.uint16)),
        "from_half_double": lambda: (lambda out: (np.arange(1 << 16, dtype=np.uint16), room, out, 1 << 16), np.empty(1 << 16)),
        "to_bfloat16": lambda: (lambda out: (x, out, x.size), np.empty(x.size, np.uint16)),
        "from_bfloat16": lambda: (lambda out: (np.arange(1 << 16, dtype=np.uint16), out, 1 << 16), np.empty(1 << 16, np.float32)),
        "remainders": lambda: (lambda out: (x, y, out, np.zeros(1, np.int64), x.size, 1, 1), np.empty_like(x)),
        "adam": lambda: (lambda out: (out, y, x * 0, abs(x), x.size, .999, .01, 1., .9, .1, .999, .001, 1., 1e-8, 1e-3), np.ones_like(x)),
        "sgd": lambda: (lambda out: (out, y, x.size, .1, .01, 1.), np.ones_like(x)),
        "running_sums": lambda: (lambda out: (rows, np.empty(33), out, 1, 100, 33, 0), np.empty_like(rows)),
        "extremes": lambda: (lambda out: (rows, out, 1, 100, 33, 1.0), np.empty(33, np.float32)),
        "gather": lambda: (lambda out: (rows, (np.abs(rows) * 7).astype(np.int64), out, 1, 100, 100, 33), np.empty_like(rows)),
        "words": lambda: (lambda out: (rows, out, 100, 33, 0), np.empty((100, 33), np.int64)),
    }[name.removesuffix("_double") if name in OF_ROWS else name]()


@pytest.mark.parametrize("name", [*ONE_BY_ONE, *OF_ROWS, *sorted(SAME_EVERYWHERE - {*ONE_BY_ONE, *OF_ROWS})])
def test_levels_compute_the_same_bits(name):
    found = []
    for module in levels():
        arguments, out = calls(name)
        getattr(module, name)(*arguments(out))
        found.append(out)
    for one in found if name in SAME_EVERYWHERE else found[1:]:
        assert np.array_equal(one.view(np.uint8), found[-1].view(np.uint8))


@pytest.mark.parametrize("name", [*ONE_BY_ONE, *ROWS, *[f"{name}_double" for name in ROWS]])
def test_errors_of_all_levels_are_bounded(name):
    known = name.removesuffix("_double")
    for module in levels():
        arguments, out = calls(name)
        given = arguments(out)
        getattr(module, name)(*given)
        expected = exact(name, given[0]) if name in ONE_BY_ONE else by_rows(known, *given[:1 + (known == "softmax_backward")])
        with np.errstate(over="ignore"):
            finite = np.isfinite(expected.astype(out.dtype))
        assert (np.isfinite(out) == finite).all()
        errors = np.abs(out[finite] - expected[finite]) / np.maximum(np.abs(expected[finite]), 1)
        unit = np.finfo(out.dtype).eps
        assert errors.max() <= {**ONE_BY_ONE, **ROWS}[known] * unit, errors.max() / unit


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_of_doubles(name):
    x = np.concatenate([np.random.default_rng(0).standard_normal(3000) * 5, np.geomspace(1e-300, 1e5, 500), [np.inf, np.nan, 1.0, 2.0, 0.0]])
    x = np.tanh(x) if name == "inverse_error_function" else x
    with np.errstate(invalid="ignore"):
        x = x[np.abs(x - np.rint(x)) > 1e-3] if name in ("log_gamma", "digamma") else x      # near poles x itself is worth many digits
    expected, found = exact(name, x), []
    for module in levels():
        out = np.empty_like(x)
        getattr(module, f"{name}_double")(x, out, x.size)
        finite = np.isfinite(expected)
        assert (np.isfinite(out) == finite).all()
        assert (np.abs(out[finite] - expected[finite]) <= 3e-14 * np.maximum(np.abs(expected[finite]), 1)).all()
        found.append(out)
    assert all(np.array_equal(out, found[-1], equal_nan=True) for out in found[1:])


# --- loading ---------------------------------------------------------------------------------------------------------------

SCRIPT = """
import autograd as ag
import autograd.nn.functional as F
y = F.gelu(ag.ones(100, 100))
from autograd.kernels.loops import loops
print(loops.state(), round(y[0, 0].item(), 6))
"""


def started(**environment):
    return subprocess.run([sys.executable, "-c", SCRIPT], env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
                          capture_output=True, text=True)


@pytest.mark.parametrize(("variables", "state"), [
    ({"AUTOGRAD_LOOPS": "baseline"}, "in use, baseline"), ({"AUTOGRAD_ACCELERATORS": "off"}, "not used (switched off"),
    ({"DPARALLEL_PURE": "1"}, "not used (DPARALLEL_PURE is set"), ({"AUTOGRAD_ACCELERATORS": "onednn"}, "not used (switched off")])
def test_what_chooses_them(variables, state):
    done = started(**variables)
    assert done.stdout.startswith(state) and done.stdout.endswith("0.841345\n") and not done.stderr, done


def test_a_level_that_does_not_exist():
    assert "AUTOGRAD_LOOPS='avx3' is not one of baseline, avx2, avx512" in started(AUTOGRAD_LOOPS="avx3").stdout


def test_nothing_is_written_at_run_time(tmp_path):
    done = started(HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path), TMPDIR=str(tmp_path))
    assert done.stdout.startswith("in use") and not list(tmp_path.iterdir())


@pytest.mark.parametrize("make", [lambda p: optim.SGD(p, lr=0.1), lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
                                  lambda p: optim.Adam(p), lambda p: optim.AdamW(p, weight_decay=0.1)])
def test_steps_leave_infinite_weights_infinite(make):
    """Without weight decay nothing is added: 0 times infinity would make nan of a mask of -inf, with gradient 0."""
    p = ag.tensor(draw(3000), requires_grad=True)
    with ag.no_grad():
        p[::3] = -np.inf
    optimizer = make([p])
    for _ in range(3):
        p.grad = ag.where(p.detach() == -np.inf, 0.0, ag.ones(3000))
        optimizer.step()
    assert (p.detach().numpy()[::3] == -np.inf).all() and np.isfinite(p.detach().numpy()[1::3]).all()


def test_an_infinite_gradient_makes_an_infinite_step():
    p = ag.zeros(3000, requires_grad=True)
    optimizer = optim.SGD([p], lr=0.1, momentum=0.9)
    p.grad = ag.full((3000,), np.inf)
    optimizer.step()
    assert (p.detach().numpy() == -np.inf).all()


LARGE = {"cumsum": lambda x, y: x.cumsum(1), "cumprod": lambda x, y: x.cumprod(1), "cummax": lambda x, y: x.cummax(1),
         "cummin of columns": lambda x, y: x.reshape(-1, 100, 10).cummin(1), "max": lambda x, y: x.max(1), "softmax": lambda x, y: x.softmax(1),
         "min of columns": lambda x, y: x.reshape(-1, 100, 10).min(1), "log_softmax": lambda x, y: x.log_softmax(1),
         "gather": lambda x, y: x.gather(1, y), "scatter": lambda x, y: x.scatter(1, y, x), "scatter_add": lambda x, y: x.scatter_add(1, y, x),
         "topk": lambda x, y: x[:, :20].topk(3), "median": lambda x, y: x.reshape(-1, 20).median(1), "mode": lambda x, y: x.reshape(-1, 20).mode(1)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LARGE)
def test_arrays_that_are_cut_have_the_same_results(name, dtype):
    """From WIDE elements on NAME_of() calls the loop in pieces."""
    x, y = ag.tensor(draw(600, 1000).astype(dtype)), places(1000, 600, 1000)
    halves = [LARGE[name](x[k:k + 300], y[k:k + 300]) for k in (0, 300)]
    whole = LARGE[name](x, y)
    for k in range(len(whole) if isinstance(whole, tuple) else 1):
        a, *b = [out[k] if isinstance(whole, tuple) else out for out in (whole, *halves)]
        assert a.numpy().tobytes() == ag.cat(b).numpy().tobytes()


def test_float32_loops_compute_nothing_in_double_precision():
    """Half the numbers in a vector, and another rounding: what Cython would make of a literal or of a sum that begins with 0."""
    folder = ROOT / "autograd" / "kernels" / "loops"
    blocks = translate.translated(folder, extensions.LOOPS)[0].split("\ncdef ")[1:]
    kinds = {re.search(r"(\w+)(?: \"\w+\")?\(", block)[1]: block for block in blocks if "noexcept" in block}
    assert len(kinds) > 100 and "loop_adam" in kinds and "loop_adam_double" in kinds
    for name, block in kinds.items():
        head, _, body = block.partition("\n")
        single = "double" not in head + "".join(re.findall(r"    cdef .*", body))
        if single:
            assert not re.search(r"\d\.\d", re.sub(r"f32\(-?[\d.e-]+\)", "", body)), name
        elif name.startswith("loop_") and "double" not in head:
            source = "".join((folder / f"{module}.py").read_text() for module in extensions.LOOPS)
            assert "double" in source.partition(f"def {name[5:]}(")[2].partition("\ndef ")[0], name
