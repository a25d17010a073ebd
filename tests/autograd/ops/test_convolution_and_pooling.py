"""Convolution, pooling, interpolation, sampling: errors, dtypes, ties and other corners that the table has no row for."""

import numpy as np
import pytest

import autograd as ag

F = ag.nn.functional


@pytest.mark.parametrize("call, error, words", [
    (lambda: F.conv1d(ag.ones(2, 3, 4), ag.ones(5, 3, 2), stride=0), RuntimeError, "non-positive stride"),
    (lambda: F.conv1d(ag.ones(2, 3, 4), ag.ones(5, 3, 2), padding=-1), RuntimeError, "negative padding"),
    (lambda: F.conv1d(ag.ones(2, 3, 4), ag.ones(5, 3, 2), stride=(1, 1)), RuntimeError, r"stride=\[1, 1\]"),
    (lambda: F.conv1d(ag.ones(2, 3, 4), ag.ones(5, 3, 2), stride=1.5), TypeError, "float"),
    (lambda: F.conv1d(ag.ones(2, 3, 4, 4), ag.ones(5, 3, 2)), RuntimeError, r"\[2, 3, 4, 4\]"),
    (lambda: F.conv2d(ag.ones(2, 3, 4, 4), ag.ones(5, 3, 2, 2), ag.ones(4)), RuntimeError, "5 elements"),
    (lambda: F.conv2d(ag.ones(2, 3, 4, 4), ag.ones(5, 1, 2, 2), groups=3), RuntimeError, "divisible by 3"),
    (lambda: F.conv2d(ag.ones(2, 3, 4, 4), ag.ones(5, 3, 2, 2), padding="same", stride=2), RuntimeError, "strided"),
    (lambda: F.conv2d(ag.ones(2, 3, 4, 4), ag.ones(5, 3, 2, 2), padding="full"), RuntimeError, "'full'"),
    (lambda: F.conv2d(ag.ones(2, 3, 4, 4), ag.ones(5, 3, 2, 2).double()), RuntimeError, "float32.*float64"),
    (lambda: F.conv_transpose1d(ag.ones(2, 3, 4), ag.ones(3, 4, 2), output_padding=1), RuntimeError, "smaller than"),
    (lambda: F.conv_transpose1d(ag.ones(2, 3, 4), ag.ones(4, 4, 2)), RuntimeError, "4 channels, but got 3"),
    (lambda: F.max_pool2d(ag.ones(1, 1, 4, 4), 2, padding=2), RuntimeError, "half of kernel size"),
    (lambda: F.max_pool2d(ag.ones(1, 1, 4, 4), (2, 2, 2)), RuntimeError, "tuple of 2 ints"),
    (lambda: F.max_pool3d(ag.ones(4, 4), 2), RuntimeError, r"\[4, 4\]"),
    (lambda: F.max_pool2d(ag.ones(1, 1, 4, 4, dtype=ag.bool), 2), NotImplementedError, "bool"),
    (lambda: F.avg_pool2d(ag.ones(1, 1, 4, 4), 2, divisor_override=0), RuntimeError, "not zero"),
    (lambda: F.avg_pool1d(ag.ones(1, 1, 4), 5), RuntimeError, r"\(1x4\)"),
    (lambda: F.adaptive_avg_pool2d(ag.ones(1, 1, 4, 4), (1, 2, 3)), RuntimeError, "output_size"),
    (lambda: F.adaptive_max_pool1d(ag.ones(1, 1, 4), -1), RuntimeError, "greater than or equal to 0"),
    (lambda: F.fractional_max_pool2d(ag.ones(1, 1, 4, 4), 2), ValueError, "output_size or an output_ratio"),
    (lambda: F.fractional_max_pool2d(ag.ones(1, 1, 4, 4), 2, 4), RuntimeError, "too large"),
    (lambda: F.max_unpool2d(ag.ones(1, 1, 1, 1), ag.tensor([[[[9]]]]), 2), RuntimeError, "9.*2x2"),
    (lambda: F.max_unpool2d(ag.ones(1, 1, 1, 1), ag.ones(1, 1, 1, 1), 2), RuntimeError, "int64"),
    (lambda: F.max_unpool2d(ag.ones(1, 1, 1, 1), ag.tensor([[[[0]]]]), 2, output_size=(5, 2)), ValueError, "between 0 and 4"),
    (lambda: F.interpolate(ag.ones(1, 1, 4)), ValueError, "either size or scale_factor"),
    (lambda: F.interpolate(ag.ones(1, 1, 4), 2, 2), ValueError, "only one of"),
    (lambda: F.interpolate(ag.ones(1, 1, 4), 2, mode="bilinear"), NotImplementedError, "4D"),
    (lambda: F.interpolate(ag.ones(1, 1, 4), 2, align_corners=True), ValueError, "align_corners"),
    (lambda: F.interpolate(ag.ones(1, 1, 4), 2, mode="linear", antialias=True), ValueError, "restricted"),
    (lambda: F.interpolate(ag.ones(1, 1, 4), 2.5), TypeError, "2.5"),
    (lambda: F.interpolate(ag.ones(1, 1, 4, 4), (2, 2, 2)), ValueError, r"\[2, 2, 2\]"),
    (lambda: F.grid_sample(ag.ones(1, 1, 4, 4), ag.ones(1, 2, 2, 3), align_corners=False), RuntimeError, "size 2 in last"),
    (lambda: F.grid_sample(ag.ones(1, 1, 4, 4), ag.ones(1, 2, 2, 2), "cubic"), ValueError, "cubic"),
    (lambda: F.affine_grid(ag.ones(1, 3, 3), (1, 1, 2, 2), False), ValueError, "Nx2x3"),
    (lambda: ag.pixel_shuffle(ag.ones(3, 2, 2), 2), RuntimeError, "divisible"),
    (lambda: ag.channel_shuffle(ag.ones(1, 3, 2), 2), RuntimeError, "3 channels and 2 groups"),
    (lambda: F.unfold(ag.ones(1, 1, 2, 2), 3), RuntimeError, r"\[0, 0\]"),
    (lambda: F.fold(ag.ones(1, 5, 4), 3, 2), RuntimeError, "divisible"),
])
def test_errors_name_what_is_wrong(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_maxima_of_ties_nan_and_padding():
    x = ag.tensor([[[1.0, 1, 0, 0], [0, 1, 2, 2]]])
    values, places = ag.max_pool2d(x, 2, return_indices=True)
    assert values.tolist() == [[[1, 2]]] and places.tolist() == [[[0, 6]]]
    nan, low = float("nan"), -float("inf")
    values, places = ag.max_pool1d(ag.tensor([[nan, 1, nan, 2, low, low]]), 3, return_indices=True)
    assert np.isnan(values.numpy()[0, 0]) and values.tolist()[0][1] == 2 and places.tolist() == [[2, 3]]
    values, places = ag.max_pool1d(ag.tensor([[low, low, low]]), 3, 1, 1, return_indices=True)
    assert values.tolist() == [[low] * 3] and places.tolist() == [[0, 0, 1]]
    values, places = F.adaptive_max_pool1d(ag.tensor([[3.0, 3, 1, nan]]), 2, return_indices=True)
    assert places.tolist() == [[0, 3]]


def test_an_inf_stays_in_its_window():
    x = np.ones((1, 1, 4, 4))
    x[0, 0, 0, 0] = np.inf
    for y in (F.avg_pool2d(ag.from_numpy(x), 2), F.adaptive_avg_pool2d(ag.from_numpy(x), 2), F.interpolate(ag.from_numpy(x), 2, mode="area")):
        assert y.tolist() == [[[[np.inf, 1], [1, 1]]]]


@pytest.mark.parametrize("shape", [(3, 1000, 5), (1, 2, 300)])
def test_blocks_of_a_batch_add_up(shape):
    """More images than fit one block, and fewer: the same as one image at a time."""
    rng = np.random.default_rng(0)
    n, length, channels = shape
    x = ag.from_numpy(rng.standard_normal((n * 7, channels, length))).requires_grad_()
    w = ag.from_numpy(rng.standard_normal((4, channels, 2))).requires_grad_()
    whole = ag.conv1d(x, w)
    parts = ag.cat([ag.conv1d(x[i:i + 1], w) for i in range(len(x))])
    np.testing.assert_allclose(whole.detach().numpy(), parts.detach().numpy(), rtol=1e-12, atol=1e-12)
    for a, b in zip(ag.grad((whole * whole).sum(), [x, w]), ag.grad((parts * parts).sum(), [x, w])):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-10, atol=1e-9)


def test_dtypes():
    assert ag.conv1d(ag.ones(1, 1, 3, dtype=ag.int64), ag.ones(1, 1, 2, dtype=ag.int64)).tolist() == [[[2, 2]]]
    assert ag.conv1d(ag.ones(1, 1, 3).half(), ag.ones(1, 1, 2).half()).dtype == ag.float16
    assert F.avg_pool2d(ag.tensor([[[-3, 0], [0, 0]]]), 2).tolist() == [[[0]]]
    assert F.max_pool2d(ag.tensor([[[-3, -5], [-4, -9]]]), 2).tolist() == [[[-3]]]
    assert F.interpolate(ag.tensor([[[1, 2]]], dtype=ag.uint8), 4).tolist() == [[[1, 1, 2, 2]]]
    y = F.interpolate(ag.tensor([[[[0, 100]]]], dtype=ag.uint8), (1, 4), mode="bilinear")
    assert y.dtype == ag.uint8 and y.tolist() == [[[[0, 25, 75, 100]]]]
    assert ag.pixel_shuffle(ag.tensor([[[True]], [[False]], [[False]], [[True]]]), 2).tolist() == [[[True, False], [False, True]]]


def test_results_do_not_share_memory_with_the_input():
    x = ag.ones(1, 4, 2, 2)
    for y in (ag.pixel_shuffle(x, 1), ag.channel_shuffle(x, 1), F.interpolate(x, 2), F.interpolate(x, 2, mode="bilinear"), F.avg_pool2d(x, 1)):
        assert not np.shares_memory(x.numpy(), y.numpy()) and y.tolist() == x.tolist()


def test_forms_that_differ_by_namespace():
    x = ag.tensor([[[1.0, 3, 2, 0]]])
    assert F.adaptive_max_pool1d(x, 2).tolist() == [[[3, 2]]]
    assert [v.tolist() for v in ag.adaptive_max_pool1d(x, 2)] == [[[[3, 2]]], [[[1, 2]]]]
    assert [v.tolist() for v in ag.max_pool1d_with_indices(x, 2)] == [[[[3, 2]]], [[[1, 2]]]]
    assert ag.max_pool1d(x, 2).tolist() == [[[3, 2]]]
    with pytest.warns(UserWarning, match="deprecated"):
        assert F.upsample(x, 8).shape == (1, 1, 8)


def test_fractional_pooling_draws_from_the_generator():
    x = ag.arange(98.0).reshape(1, 2, 7, 7)
    ag.manual_seed(3)
    first = F.fractional_max_pool2d(x, 2, output_ratio=(0.6, 0.6))
    ag.manual_seed(3)
    assert first.tolist() == F.fractional_max_pool2d(x, 2, output_size=4).tolist() and first.shape == (1, 2, 4, 4)


def test_gradient_of_a_layer_that_only_needs_part():
    x, w = ag.ones(1, 1, 3, 3), ag.ones(1, 1, 2, 2, requires_grad=True)
    ag.conv2d(x, w).sum().backward()
    assert w.grad.tolist() == [[[[4, 4], [4, 4]]]]
    with ag.no_grad():
        assert not ag.max_pool2d(w, 2).requires_grad
    values, places = F.max_pool2d(w, 2, return_indices=True)
    assert values.requires_grad and not places.requires_grad and values.grad_fn.name() == "MaxPool2DWithIndicesBackward0"


@pytest.mark.parametrize("call", [
    lambda x: F.interpolate(x, size=(3, 5), mode="bilinear"), lambda x: F.interpolate(x, scale_factor=2, mode="bicubic", antialias=True),
    lambda x: F.interpolate(x, scale_factor=1.5), lambda x: F.interpolate((x * 100).to(ag.uint8), size=(3, 5), mode="bilinear"),
    lambda x: F.adaptive_avg_pool2d(x, (2, 3)), lambda x: F.avg_pool2d(x, 2), lambda x: F.adaptive_max_pool2d(x, 3), lambda x: F.max_pool2d(x, 2),
    lambda x: F.lp_pool2d(x, 2, 2)])
@pytest.mark.parametrize("shape", [(2, 3, 6, 8), (1, 3, 6, 8)])
def test_results_lie_in_memory_as_their_inputs_do(call, shape):
    x = ag.tensor(np.random.default_rng(0).random(shape))
    last = x.contiguous(memory_format=ag.channels_last)
    assert call(x).is_contiguous() and call(last).is_contiguous(memory_format=ag.channels_last)
    np.testing.assert_allclose(call(last).numpy(), call(x).numpy(), rtol=1e-12)
    leaf = last.clone().requires_grad_()
    y = call(leaf)
    if y.requires_grad and y.grad_fn.name().startswith("Upsample"):
        y.backward(ag.ones(y.shape, dtype=y.dtype).contiguous(memory_format=ag.channels_last))
        assert leaf.grad.is_contiguous(memory_format=ag.channels_last)
