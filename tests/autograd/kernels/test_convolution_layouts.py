"""Convolutions by oneDNN agree with the NumPy kernels, whatever the order of memory; what comes after them takes any."""

import threading
import tracemalloc

import numpy as np
import pytest

import autograd as ag
from autograd.kernels import convolution, convolution_channels_last
from autograd.kernels.memory_format import channels_last, empty_last
from autograd.kernels.onednn import convolution as onednn_convolution
from autograd.kernels.onednn import onednn
from autograd.kernels.windows import WindowGeometry
from autograd.nn import functional as F

needs_onednn = pytest.mark.skipif(onednn.library is None, reason="oneDNN is not installed or switched off")
AVX2 = 0x4                                           # of the bits of dnnl_cpu_isa_t


def geometry_of(rng, plane, kernel):
    dims = len(plane)
    stride, dilation = tuple(rng.integers(1, 4, dims)), tuple(rng.integers(1, 3, dims))
    before, after = tuple(rng.integers(0, 3, dims)), rng.integers(0, 3, dims)
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    out = [(n + b + a - s) // t + 1 for n, b, a, s, t in zip(plane, before, after, spans, stride)]
    if min(out) < 1:
        return None
    return WindowGeometry(*[tuple(int(v) for v in part) for part in (kernel, stride, before, dilation, out)])


def in_order(x, order):
    if order == "rows":
        return x
    if order == "last":
        out = empty_last(x.shape, x.dtype)
    elif order == "part":
        out = np.zeros([2 * n for n in x.shape], x.dtype)[tuple(slice(1, 2 * n, 2) for n in x.shape)]
    else:
        out = np.empty(x.shape[::-1], x.dtype).transpose()
    out[...] = x
    return out


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("seed", range(60))
def test_three_passes_agree_with_numpy(seed):
    rng = np.random.default_rng(seed)
    dims = int(rng.integers(1, 4))
    kernel = [(1,), (3,), (5,), (2,)][seed % 4] * dims
    plane = tuple(int(n) for n in rng.integers(3, 12 if dims < 3 else 7, dims))
    geometry = geometry_of(rng, plane, kernel)
    if geometry is None:
        return
    groups = int(rng.choice([1, 1, 2, 3, 8]))
    c, m = (groups * int(rng.integers(1, 6)) for _ in range(2))
    c, m = (groups, groups) if seed % 5 == 0 else (c, m)                     # depthwise
    n = int(rng.integers(1, 4))
    orders = rng.choice(["rows", "last", "part", "columns"], 3)
    x = in_order(rng.standard_normal((n, c, *plane)).astype(np.float32), orders[0])
    w = in_order(rng.standard_normal((m, c // groups, *kernel)).astype(np.float32), orders[1])
    g = in_order(rng.standard_normal((n, m, *geometry.out)).astype(np.float32), orders[2])
    b = rng.standard_normal(m).astype(np.float32)
    for bias in (None, b):
        close(convolution.conv(x, w, bias, geometry, groups), convolution._conv(x, w, bias, geometry, groups))
    close(convolution.conv_input(g, w, plane, geometry, groups), convolution._conv_input(g, w, plane, geometry, groups))
    close(convolution.conv_weight(g, x, geometry, groups), convolution._conv_weight(g, x, geometry, groups))
    found, total = convolution.conv_weight_bias(g, x, geometry, groups)
    close(found, convolution._conv_weight(g, x, geometry, groups))
    close(total, g.sum(tuple(i for i in range(g.ndim) if i != 1)))
    assert found.flags.c_contiguous


@pytest.mark.parametrize("seed", range(12))
def test_a_weights_gradient_as_a_product_agrees_with_numpy(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    dims = 1 + seed % 3
    kernel = tuple(int(k) for k in rng.integers(2, 4, dims))
    plane = tuple(int(n) for n in rng.integers(4, 40 if dims < 3 else 9, dims))
    geometry = geometry_of(rng, plane, kernel) or WindowGeometry(kernel, (1,) * dims, (1,) * dims, (1,) * dims, tuple(
        n - k + 2 for n, k in zip(plane, kernel)))
    n, c, m = int(rng.integers(1, 7)), int(rng.integers(24, 40)), int(rng.integers(64, 80))
    x, g = rng.standard_normal((n, c, *plane)), rng.standard_normal((n, m, *geometry.out))
    expected = convolution._conv_weight(g, x, geometry, 1)
    x, g = (in_order(a.astype(np.float32), order) for a, order in zip((x, g), rng.choice(["rows", "last", "part"], 2)))
    for found in (convolution_channels_last.conv_weight(g, x, geometry), convolution.conv_weight(g, x, geometry, 1)):
        close(found, expected)
        assert found.dtype == np.float32 and found.flags.c_contiguous
    monkeypatch.setattr(convolution.onednn, "conv_weight", lambda *_: None)          # as where oneDNN's own pass is slow
    monkeypatch.setattr(convolution, "_conv_weight", None)
    if onednn.library is not None:
        found, total = convolution.conv_weight_bias(g, x, geometry, 1)
        close(found, expected)
        close(total, g.sum((0, *range(2, g.ndim))))


@needs_onednn
def test_who_makes_a_weights_gradient_depends_on_the_processor():
    """With AVX2 alone oneDNN's pass is the slower one, unless channels are few or in groups."""
    def made(m, c, kernel, groups=1):
        geometry = WindowGeometry((kernel,) * 2, (1, 1), (0, 0), (1, 1), (9, 9))
        plan = onednn_convolution.planned("weight", (2, c, 8 + kernel, 8 + kernel), (m, c // groups, kernel, kernel), False,
                                          geometry, groups)
        return plan is not None

    library = onednn.library
    only_avx2 = library.dnnl_get_effective_cpu_isa() & AVX2 and not library.avx512
    assert made(64, 32, 3) is not bool(only_avx2)
    assert made(32, 32, 3) and made(64, 8, 3) and made(64, 32, 1) and made(64, 64, 3, groups=2)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("plane", [(6,), (4, 5)])
def test_windows_of_one_element_agree_with_the_general_way(groups, plane, monkeypatch):
    rng = np.random.default_rng(0)
    one = (1,) * len(plane)
    geometry = WindowGeometry(one, one, (0,) * len(plane), one, plane)
    x, w, g = (rng.standard_normal(s) for s in ((3, 4, *plane), (6, 4 // groups, *one), (3, 6, *plane)))
    b = rng.standard_normal(6)

    def passes():
        return (convolution._conv(x, w, b, geometry, groups), convolution._conv_input(g, w, plane, geometry, groups),
                convolution._conv_weight(g, x, geometry, groups))

    assert convolution.pointwise(geometry, plane)
    assert not any(convolution.pointwise(s, plane) for s in (geometry._replace(stride=(2,) * len(plane)), geometry._replace(before=one)))
    quick = passes()
    monkeypatch.setattr(convolution, "pointwise", lambda *_: False)
    for a, b_ in zip(quick, passes()):
        assert a.shape == b_.shape
        np.testing.assert_allclose(a, b_, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.int64])
def test_other_dtypes_are_numpys(dtype):
    x, w = (np.arange(2 * 3 * 5 * 5) % 7).reshape(2, 3, 5, 5).astype(dtype), np.ones((4, 3, 3, 3), dtype)
    out = F.conv2d(ag.from_numpy(x), ag.from_numpy(w))
    assert out.dtype == dtype and out.is_contiguous()


def test_an_empty_batch():
    w = ag.ones(4, 3, 3, 3, requires_grad=True)
    y = F.conv2d(ag.zeros(0, 3, 5, 5), w)
    y.sum().backward()
    assert y.shape == (0, 4, 3, 3) and (w.grad == 0).all()


@needs_onednn
def test_nans_stay_where_they_are_seen():
    x = np.ones((1, 2, 8, 8), np.float32)
    x[0, 1, 2, 2] = np.nan
    out = F.conv2d(ag.from_numpy(x), ag.ones(3, 2, 3, 3)).numpy()
    assert np.isnan(out[0, :, :3, :3]).all() and np.isfinite(out[0, :, 3:, 3:]).all()


@needs_onednn
def test_results_lie_channels_last_and_views_work():
    x, w = ag.randn(2, 3, 8, 8), ag.randn(5, 3, 3, 3, requires_grad=True)
    y = F.conv2d(x, w)
    assert y.shape == (2, 5, 6, 6) and channels_last(y.array)
    expected = y.detach().numpy().copy(order="C")
    flat = F.conv2d(x, w).view(2, -1)
    assert flat.is_contiguous() and (flat.detach().numpy() == expected.reshape(2, -1)).all()
    assert (y.detach().view(-1).numpy() == expected.reshape(-1)).all()            # shared: a copy
    assert (F.relu(y).view(-1).detach().numpy() == np.maximum(expected, 0).reshape(-1)).all()
    assert F.conv2d(x, w).detach().view(ag.int16).shape == (2, 5, 6, 12)
    assert (y.reshape(2, 5, 36).detach().numpy() == expected.reshape(2, 5, 36)).all()
    assert (y.flatten(1).detach().numpy() == expected.reshape(2, -1)).all()


@needs_onednn
def test_writes_through_a_view_of_a_result_are_seen():
    y = F.conv2d(ag.randn(2, 3, 8, 8), ag.randn(5, 3, 3, 3))
    y.view(2, -1)[:, 0] = 7.0
    assert (y[:, 0, 0, 0] == 7).all() and (y == 7).sum() == 2


@needs_onednn
@pytest.mark.parametrize("alias", [lambda y: y.numpy(), lambda y: y.data, lambda y: y.detach(), lambda y: np.from_dlpack(y),
                                   lambda y: y[0]], ids=["numpy", "data", "detach", "dlpack", "index"])
def test_memory_that_was_handed_out_does_not_move(alias):
    y = F.conv2d(ag.randn(2, 3, 8, 8), ag.randn(5, 3, 3, 3))
    array, given = y.array, alias(y)
    flat = y.view(2, -1)
    assert y.array is array and channels_last(array) and flat.is_contiguous()
    given[...] = 3.0
    assert (y[0] == 3).all() and not (flat == 3).any()                            # a copy


@needs_onednn
def test_who_else_holds_the_array_does_not_matter():
    w = ag.randn(5, 3, 3, 3, requires_grad=True)
    y = F.conv2d(ag.randn(2, 3, 8, 8), w)
    z = y * y                                        # saves y
    held = [y.array, y.array]                        # as a debugger might
    flat = y.view(2, -1)
    assert flat._base is y and not channels_last(y.array) and (held[0] == y.array).all()
    with ag.no_grad():
        flat.zero_()
    assert (y == 0).all()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_views_of_other_orders_still_fail():
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        ag.randn(2, 3, 4, 5).permute(0, 2, 3, 1).view(-1)


def test_threads_share_primitives():
    rng = np.random.default_rng(0)
    xs = [ag.from_numpy(rng.standard_normal((2, 8, 12, 12)).astype(np.float32)) for _ in range(4)]
    w = ag.from_numpy(rng.standard_normal((8, 8, 3, 3)).astype(np.float32))
    expected = [F.conv2d(x, w, padding=1).numpy() for x in xs]
    wrong = []

    def work(x, y):
        for _ in range(100):
            if (F.conv2d(x, w, padding=1).numpy() != y).any():
                wrong.append(1)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(xs, expected)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_first_and_second_derivatives_agree():
    """The fused backward of arrays, and the composed one of Tensors."""
    rng = np.random.default_rng(0)
    x, w, b = (ag.from_numpy(rng.standard_normal(s).astype(np.float32)).requires_grad_() for s in
               [(2, 4, 7, 7), (6, 2, 3, 3), (6,)])

    def loss():
        return F.conv2d(x, w, b, stride=2, padding=1, groups=2).pow(2).sum()

    plain = ag.autograd.grad(loss(), [x, w, b])
    graphed = ag.autograd.grad(loss(), [x, w, b], create_graph=True)
    for a, c in zip(plain, graphed):
        close(a.numpy(), c.detach().numpy())
    seconds = ag.autograd.grad(sum((g ** 2).sum() for g in graphed), [x, w, b])
    wide = [v.detach().double().requires_grad_() for v in (x, w, b)]
    first = ag.autograd.grad(F.conv2d(*wide, stride=2, padding=1, groups=2).pow(2).sum(), wide, create_graph=True)
    for a, c in zip(seconds, ag.autograd.grad(sum((g ** 2).sum() for g in first), wide)):
        np.testing.assert_allclose(a.numpy(), c.numpy(), rtol=1e-3, atol=1e-3 * float(c.abs().max()))


def test_shapes_of_results_that_lie_channels_last():
    """What users do with a convolution's result gives what it gives by rows."""
    y = F.conv2d(ag.randn(2, 3, 9, 9), ag.randn(4, 3, 2, 2))
    rows = y.contiguous()
    for call in (lambda t: t.sum(1), lambda t: t.mean((2, 3)), lambda t: t.flatten(), lambda t: F.pad(t, (1, 2, 0, 1), value=3.0),
                 lambda t: t[:, 1:3, ::2], lambda t: ag.cat([t, t], 1), lambda t: t.permute(0, 2, 3, 1).reshape(2, 64, 4),
                 lambda t: F.softmax(t, 1), lambda t: F.avg_pool2d(t, 2), lambda t: F.adaptive_avg_pool2d(t, 3),
                 lambda t: F.interpolate(t, scale_factor=2), lambda t: F.pixel_shuffle(t, 2), lambda t: F.group_norm(t, 2),
                 lambda t: t.unfold(2, 3, 1), lambda t: F.unfold(t, 3), lambda t: t.chunk(2, 1)[1], lambda t: t.sort(1)[0],
                 lambda t: t.max(1)[1], lambda t: t.cumsum(2), lambda t: t.clone(),
                 lambda t: t + ag.arange(8), lambda t: t.matmul(ag.ones(8, 2)), lambda t: t.transpose(1, 3).contiguous()):
        close(call(y).numpy(), call(rows).numpy())


def test_gradients_of_slices_and_paddings_of_results():
    x, w = ag.randn(2, 3, 8, 8), ag.randn(4, 3, 3, 3)

    def grads(order):
        a = w.clone().requires_grad_()
        y = F.conv2d(x, a)
        y = y.contiguous() if order == "rows" else y
        short = F.pad(y[:, :, ::2, ::2], (0, 0, 0, 0, 2, 2))
        (F.relu(y)[:, :, 1:4, 1:4].sum() + (short ** 2).sum() + y.flatten(1)[:, ::3].sum()).backward()
        return a.grad

    close(grads("last").numpy(), grads("rows").numpy())


@pytest.mark.parametrize("shape", [(3,), (40, 1000), (2, 3, 50, 60)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_relu_in_blocks(shape, dtype):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(dtype)
    if dtype is not np.int64:
        x.reshape(-1)[:3] = np.nan, np.inf, -np.inf
    for order in ("rows", "last", "part", "columns") if len(shape) > 2 else ("rows",):
        found = F.relu(ag.from_numpy(in_order(x, order))).numpy()
        np.testing.assert_array_equal(found, np.maximum(x, 0))


def test_memory_of_gradients_of_convolutions_with_one_element():
    """Each image's product is as large as the weight: 128 MB of them were there at once."""
    x, w = ag.randn(1000, 128, 1, dtype=ag.float64), ag.randn(128, 128, 1, dtype=ag.float64, requires_grad=True)
    out = F.conv1d(x, w)
    tracemalloc.start()
    try:
        out.backward(ag.ones_like(out))
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    close(w.grad.numpy(), np.tile(x.numpy().sum((0, 2))[None, :, None], (128, 1, 1)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_channels_last_stays(dtype):
    """What PyTorch hands on with the channels last, in planes of two and of three dimensions."""
    def lies(x):
        return x.is_contiguous(memory_format=ag.channels_last if x.ndim == 4 else ag.channels_last_3d)

    for dims, form in ((2, ag.channels_last), (3, ag.channels_last_3d)):
        x = ag.randn(2, 4, *[6] * dims, dtype=getattr(ag, dtype)).contiguous(memory_format=form)
        conv, back = getattr(F, f"conv{dims}d"), getattr(F, f"conv_transpose{dims}d")
        pool, adaptive = getattr(F, f"max_pool{dims}d"), [getattr(F, f"adaptive_{kind}_pool{dims}d") for kind in ("max", "avg")]
        weight = ag.randn(4, 4, *[3] * dims, dtype=x.dtype)
        for name, y in (("cat", ag.cat([x, x[:, :2]], 1)), ("cat of samples", ag.cat([x, x])), ("group_norm", F.group_norm(x, 2)),
                        ("batch_norm", F.batch_norm(x, None, None, training=True)), ("conv", conv(x, weight)), ("transposed", back(x, weight)),
                        ("max_pool", pool(x, 2)), ("overlapping", pool(x, 3, 2, 1)), ("with indices", pool(x, 2, return_indices=True)[0]),
                        ("recorded", pool(x.clone().requires_grad_(), 2, return_indices=True)[0]), ("adaptive max", adaptive[0](x, 2)),
                        ("adaptive avg", adaptive[1](x, 2)), ("dropout", F.dropout(x, 0.5)), ("flip", x.flip(2)), ("roll", x.roll(1, 2))):
            assert lies(y), (name, dims, y.stride())
            assert y.reshape(-1).tolist() == y.contiguous().reshape(-1).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("call", [
    *[lambda t, x, name=name: getattr(t, name)(x) for name in ("erf", "erfc", "lgamma", "digamma", "i0", "sigmoid", "exp2", "sgn", "nan_to_num")],
    *[lambda t, x, name=name: getattr(t.special, name)(x) for name in ("ndtr", "erfcx", "log_ndtr")],
    *[lambda t, x, name=name: getattr(t.nn.functional, name)(x) for name in ("gelu", "silu", "mish", "hardswish", "elu", "softplus", "relu6", "leaky_relu")],
    *[lambda t, x, mode=mode: t.nn.functional.pad(x, (1, 1, 2, 1), mode) for mode in ("constant", "reflect", "replicate")],
    lambda t, x: t.nn.functional.pixel_shuffle(x, 2), lambda t, x: t.nn.functional.pixel_unshuffle(x, 2), lambda t, x: t.nn.functional.channel_shuffle(x, 4),
    lambda t, x: x[[1, 0]], lambda t, x: x.index_fill(1, t.tensor([0]), 2), lambda t, x: x.index_put((t.tensor([0]),), t.tensor(0.0, dtype=x.dtype)),
    lambda t, x: t.nn.functional.batch_norm(x, t.zeros(8, dtype=x.dtype), t.ones(8, dtype=x.dtype)), lambda t, x: x + t.ones(1, 8, 1, 1, dtype=x.dtype),
    lambda t, x: t.where(x > 0, x, 0.0), lambda t, x: t.nn.functional.interpolate(x, scale_factor=2.0), lambda t, x: t.nn.functional.avg_pool2d(x, 2),
    lambda t, x: t.nn.functional.softmax(x, 1), lambda t, x: x.clamp(0, 1), lambda t, x: t.lerp(x, 2 * x, 0.5), lambda t, x: x.to(t.float64)])
def test_the_order_of_memory_is_pytorchs(call, dtype):
    """Results of x, and of a part of x, whose channels lie last."""
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(0).standard_normal((2, 16, 6, 4))
    for channels in (slice(0, 8), slice(None)):
        ours, theirs = (call(t, t.tensor(values.tolist(), dtype=getattr(t, dtype)).contiguous(memory_format=t.channels_last)[:, :8][:, channels].clone())
                        for t in (ag, torch))
        assert ours.stride() == theirs.stride()
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-5, atol=1e-5)
