"""Batch normalization, and max pooling by oneDNN, agree with NumPy's, in any order of memory."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import pytest
from test_convolution_layouts import close, in_order

import autograd as ag
from autograd.kernels import group_norm, threads
from autograd.kernels.loops import loops
from autograd.kernels.onednn import onednn
from autograd.kernels.onednn import pooling as onednn_pooling
from autograd.kernels.onednn import primitives as onednn_primitives
from autograd.kernels.onednn import resampling as onednn_resampling
from autograd.kernels.pooling import decoded, max_windows, pooled_size
from autograd.kernels.windows import WindowGeometry
from autograd.nn import functional as F

needs_onednn = pytest.mark.skipif(onednn.library is None, reason="oneDNN is not installed or switched off")
ORDERS = ["rows", "last", "part", "columns"]


def leaf(array):
    return ag.from_numpy(array).requires_grad_()


def normalized(x, g, w, b, order, create=False):
    """Result, gradients, running statistics."""
    x, vectors = leaf(in_order(x, order)), [None if v is None else leaf(v) for v in (w, b)]
    mean, var = ag.zeros(x.shape[1], dtype=x.dtype), ag.ones(x.shape[1], dtype=x.dtype)
    y = F.batch_norm(x, mean, var, *vectors, training=True)
    inputs = [x, *[v for v in vectors if v is not None]]
    grads = ag.autograd.grad(y, inputs, ag.from_numpy(in_order(g, order)), create_graph=create)
    return [v.detach().numpy() for v in (y, mean, var, *grads)]


@pytest.mark.parametrize("shape", [(5, 3), (16, 32), (4, 3, 7), (2, 16, 5, 5), (3, 10, 6, 4), (2, 64, 3, 3), (2, 4, 3, 3, 3)])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("affine", ["both", "weight", "bias", "none"])
@pytest.mark.parametrize("create", [False, True])
def test_batch_norm_agrees_with_float64(shape, order, affine, create):
    rng = np.random.default_rng(0)
    x, g = (rng.standard_normal(shape).astype(np.float32) * 3 + 20 * first for first in (1, 0))
    w = rng.standard_normal(shape[1]).astype(np.float32) if affine in ("both", "weight") else None
    b = rng.standard_normal(shape[1]).astype(np.float32) if affine in ("both", "bias") else None
    wide = [None if v is None else v.astype(np.float64) for v in (x, g, w, b)]
    for found, expected in zip(normalized(x, g, w, b, order, create), normalized(*wide, "rows")):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * max(1, np.abs(expected).max()))


@pytest.mark.skipif(loops.library is None, reason="loops are not compiled here, or switched off")
@pytest.mark.parametrize("shape", [(2, 16, 5, 7), (64, 3, 20, 20), (16, 200, 9, 9)])
@pytest.mark.parametrize("pieces", [1, 3])
def test_the_kernel_of_batch_norm_in_pieces(shape, pieces, monkeypatch):
    rng = np.random.default_rng(0)
    x, g = (in_order(rng.standard_normal(shape).astype(np.float32) + mean, "last") for mean in (3, 0))
    w = rng.standard_normal(shape[1]).astype(np.float32)
    monkeypatch.setattr(group_norm, "pieces_of", lambda *args: pieces)
    monkeypatch.setattr(threads.thread_settings, "number", pieces)
    out, mean, var, scale = group_norm.forward(x, w, None, group_norm.BATCH, 1e-5)
    gx, gw, gb = group_norm.backward(g, x, w, mean, scale)
    assert out.strides == x.strides == gx.strides
    wide, form = x.astype(np.float64), (1, -1, 1, 1)
    z = (wide - wide.mean((0, 2, 3), keepdims=True)) / np.sqrt(wide.var((0, 2, 3), keepdims=True) + 1e-5)
    h, dims = g * w.reshape(form).astype(np.float64), (0, 2, 3)
    back = (h - h.mean(dims, keepdims=True) - z * (h * z).mean(dims, keepdims=True)) * scale.reshape(form)
    for found, expected in ((mean, wide.mean(dims)), (var, wide.var(dims)), (out, z * w.reshape(form)), (gx, back),
                            (gw, (g * z).sum(dims)), (gb, g.sum(dims, dtype=np.float64))):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=2e-6 * np.abs(expected).max())


def test_batch_norm_second_derivative():
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(s) for s in [(3, 4, 5, 5), (4,), (4,)]]

    def seconds(dtype):
        leaves = [leaf(v.astype(dtype)) for v in values]
        y = F.batch_norm(leaves[0], None, None, *leaves[1:], training=True).pow(3).sum()
        grads = ag.autograd.grad(y, leaves, create_graph=True)
        return [g.numpy() for g in ag.autograd.grad(sum((g ** 2).sum() for g in grads), leaves[:2])]

    for a, b in zip(seconds(np.float32), seconds(np.float64)):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3 * np.abs(b).max())


def test_batch_norm_by_running_statistics_keeps_the_order_of_memory():
    x = in_order(np.random.default_rng(0).standard_normal((2, 6, 5, 5)).astype(np.float32), "last")
    out = F.batch_norm(ag.from_numpy(x), ag.ones(6), 2 * ag.ones(6), 3 * ag.ones(6), ag.ones(6))
    close(out.numpy(), (x - 1) / np.sqrt(2 + 1e-5) * 3 + 1)
    assert out.numpy().strides == x.strides


@pytest.mark.parametrize("seed", range(40))
def test_max_pooling_agrees_with_numpy(seed):
    rng = np.random.default_rng(seed)
    dims = 1 + seed % 3
    plane = [int(n) for n in rng.integers(4, 10, dims)]
    kernel, stride, dilation = (tuple(int(n) for n in rng.integers(1, top, dims)) for top in (4, 4, 3))
    padding = tuple(int(rng.integers(0, k // 2 + 1)) for k in kernel)
    out = tuple(pooled_size(*sizes, bool(seed % 2)) for sizes in zip(plane, kernel, stride, padding, dilation))
    if min(out) < 1:
        return
    geometry = WindowGeometry(kernel, stride, padding, dilation, out)
    values = rng.integers(-3, 4, (2, 5, *plane)).astype(np.float32)                      # many equal ones
    x = in_order(values, ORDERS[seed % 4])
    expected, places = max_windows(values, geometry)
    made = onednn_pooling.max_windows(x, geometry)
    if made is not None and np.isfinite(expected).all():
        assert (made[0] == expected).all() and (decoded(made[1], geometry, tuple(plane)) == places).all()
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[dims - 1]
    g = rng.standard_normal((2, 5, *out)).astype(np.float32)
    grads = []
    for create in (False, True):
        t = leaf(x)
        y = pool(t, kernel, stride, padding, dilation, ceil_mode=bool(seed % 2))
        assert (y.detach().numpy() == expected).all()
        grads.append(ag.autograd.grad(y, t, ag.from_numpy(g), create_graph=create)[0].detach().numpy())
        both, at = pool(t, kernel, stride, padding, dilation, ceil_mode=bool(seed % 2), return_indices=True)
        assert (both.detach().numpy() == expected).all() and (at.numpy() == places).all() and at.is_contiguous()
    close(*grads)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("order", ["rows", "last"])
def test_max_pooling_of_what_is_not_finite(special, order):
    x = np.full((2, 3, 6, 6), special, np.float32)
    x[0, :, :3] = np.arange(18).reshape(3, 6)
    expected = x.reshape(2, 3, 3, 2, 3, 2).max((3, 5))
    np.testing.assert_array_equal(F.max_pool2d(ag.from_numpy(in_order(x, order)), 2).numpy(), expected)


@pytest.mark.parametrize("seed", range(40))
def test_average_pooling_agrees_with_numpy(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    dims = 1 + seed % 3
    plane = [int(n) for n in rng.integers(4, 10, dims)]
    kernel, stride = (tuple(int(n) for n in rng.integers(1, top, dims)) for top in (5, 4))
    padding = tuple(int(rng.integers(0, k // 2 + 1)) for k in kernel)
    pool = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[dims - 1]
    how = kernel, stride, padding, bool(seed % 2), bool(seed % 5)
    x = in_order(rng.standard_normal((2, 5, *plane)).astype(np.float32), ORDERS[seed % 4])
    agree(lambda t: pool(t, *how), x, monkeypatch)


@pytest.mark.parametrize("plane, outs", [((8,), 2), ((6, 9), (3, 3)), ((7, 5), (1, 1)), ((4, 6), (None, 2)), ((7, 5), (3, 5)),
                                         ((4, 6, 2), (2, 3, 1))])
@pytest.mark.parametrize("order", ORDERS)
def test_adaptive_average_pooling_agrees_with_numpy(plane, outs, order, monkeypatch):
    pool = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[len(plane) - 1]
    x = in_order(np.random.default_rng(0).standard_normal((2, 5, *plane)).astype(np.float32), order)
    agree(lambda t: pool(t, outs), x, monkeypatch)


@pytest.mark.parametrize("shape, size, scale", [((2, 5, 9), 13, None), ((3, 4, 5, 6), (10, 12), None), ((2, 3, 7, 7), None, 2),
                                                ((2, 3, 7, 4), (3, 9), None), ((1, 2, 3, 4, 5), (5, 4, 3), None), ((2, 3, 7, 7), None, 1.3)])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("corners", [False, True])
def test_linear_interpolation_agrees_with_numpy(shape, size, scale, order, corners, monkeypatch):
    x = in_order(np.random.default_rng(0).standard_normal(shape).astype(np.float32), order)
    mode = {3: "linear", 4: "bilinear", 5: "trilinear"}[len(shape)]
    agree(lambda t: F.interpolate(t, size, scale, mode, corners), x, monkeypatch)


@needs_onednn
def test_linear_interpolation_is_oneDNNs():
    x = np.arange(6, dtype=np.float32).reshape(1, 1, 6)
    close(onednn_resampling.linear(x, (3,))[0, 0], [0.5, 2.5, 4.5])
    close(onednn_resampling.linear_back(x, (3,))[0, 0], [0.0 + 0.75 + 0.5, 0.25 + 1.5 + 2.25 + 1.0, 0.75 + 4 * 0.75 + 5.0])


def agree(call, x, monkeypatch):
    """The values and gradients that a call gives, by oneDNN, with a graph and by NumPy."""
    found = []
    for create in (False, True):
        t = leaf(x)
        y = call(t)
        g = ag.from_numpy(np.random.default_rng(1).standard_normal(y.shape).astype(np.float32))
        found.append((y.detach().numpy(), ag.autograd.grad(y, t, g, create_graph=create)[0].detach().numpy()))
    monkeypatch.setattr(onednn, "library", None)
    t = leaf(np.ascontiguousarray(x))
    y = call(t)
    for value, gradient in found:
        close(value, y.detach().numpy())
        close(gradient, ag.autograd.grad(y, t, g, retain_graph=True)[0].numpy())


@needs_onednn
def test_average_pooling_is_oneDNNs_and_keeps_the_order_of_memory():
    x = np.random.default_rng(0).standard_normal((2, 16, 6, 6)).astype(np.float32)
    geometry = WindowGeometry((2, 2), (2, 2), (0, 0), (1, 1), (3, 3))
    for order in ("rows", "last"):
        out, lies = onednn_pooling.mean_windows(in_order(x, order), geometry, onednn_pooling.OF_KERNEL)
        close(out, x.reshape(2, 16, 3, 2, 3, 2).mean((3, 5)))
        assert lies == order and out.strides == in_order(out, order).strides


def test_threads_that_come_first_share_one_engine(monkeypatch):
    """A primitive of one engine refuses memory of another: dnnl_invalid_arguments."""
    ready = threading.Barrier(4)

    def slowly():
        time.sleep(0.05)                                 # let the other threads come in between
        return object()

    def asks(_):
        ready.wait()
        return onednn_primitives.engine()

    monkeypatch.setattr(onednn_primitives, "_engine", lru_cache(maxsize=1)(slowly))
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(asks, range(4)))) == 1
