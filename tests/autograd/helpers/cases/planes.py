"""Rows for convolution, pooling, interpolation and sampling of planes."""

import numpy as np

from .row import Case, F

CONV = [Case(f"conv{len(w) - 2}d {options} {x} {w}",
             lambda t, x, w, b, options=options: getattr(F(t), f"conv{w.ndim - 2}d")(x, w, b, **options), [x, w, w[:1]])
        for x, w, options in [
            ((2, 3, 5, 6), (4, 3, 3, 3), {}), ((2, 3, 5, 6), (4, 3, 3, 2), {"stride": 2, "padding": 1}),
            ((1, 4, 7, 7), (6, 2, 3, 3), {"groups": 2, "dilation": 2}), ((2, 2, 4, 5), (2, 1, 2, 3), {"groups": 2, "padding": (0, 2)}),
            ((2, 2, 5, 5), (3, 2, 3, 4), {"padding": "same"}), ((2, 6, 6), (3, 2, 1, 1), {"stride": (2, 3)}),
            ((1, 2, 6, 7), (3, 2, 2, 2), {"stride": (3, 2), "padding": "valid"}), ((0, 2, 5, 5), (3, 2, 3, 3), {}),
            ((2, 3, 7), (4, 3, 3), {"stride": 2, "padding": 1}), ((3, 6), (2, 3, 2), {"dilation": 3}), ((2, 4, 6), (4, 2, 2), {"padding": "same", "groups": 2}),
            ((1, 2, 4, 3, 4), (2, 2, 2, 2, 3), {"padding": 1, "stride": (2, 1, 2)}), ((2, 3, 3, 3), (2, 2, 2, 1, 2), {})]]

TRANSPOSED = [Case(f"conv_transpose{len(w) - 2}d {options} {x} {w}",
                   lambda t, x, w, b, options=options: getattr(F(t), f"conv_transpose{w.ndim - 2}d")(x, w, b, **options),
                   [x, w, (w[1] * options.get("groups", 1),)])
              for x, w, options in [
                  ((2, 3, 4), (3, 2, 3), {}), ((3, 4), (3, 2, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
                  ((2, 4, 3, 3), (4, 2, 2, 3), {"groups": 2, "stride": (2, 1), "output_padding": (1, 0)}),
                  ((1, 2, 3, 4), (2, 3, 2, 2), {"dilation": 3, "output_padding": (2, 1)}),
                  ((1, 2, 2, 3, 2), (2, 2, 2, 1, 2), {"stride": 2, "padding": (1, 0, 0)})]]

MAX = [Case(f"max_pool{len(shape) - 2}d {options}", lambda t, x, options=options: getattr(F(t), f"max_pool{x.ndim - 2}d")(x, **options),
            [shape], distinct=True) for shape, options in [
    ((2, 3, 6, 7), {"kernel_size": 2}), ((2, 3, 6, 7), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ((2, 3, 6, 7), {"kernel_size": (2, 3), "stride": (1, 2), "ceil_mode": True}), ((1, 2, 6, 7), {"kernel_size": 2, "stride": 1, "dilation": 2}),
    ((2, 3, 6, 7), {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}), ((2, 2, 9), {"kernel_size": 3, "stride": 2}),
    ((1, 2, 4, 5, 4), {"kernel_size": 2, "padding": 1})]]
MAX += [
    Case("max_pool2d unbatched", lambda t, x: F(t).max_pool2d(x, 2), [(2, 4, 5)], distinct=True),
    Case("adaptive_max_pool2d", lambda t, x: F(t).adaptive_max_pool2d(x, (3, None)), [(2, 2, 7, 5)], distinct=True),
    Case("adaptive_max_pool1d", lambda t, x: F(t).adaptive_max_pool1d(x, 1), [(2, 2, 7)], distinct=True),
    Case("adaptive_max_pool3d", lambda t, x: F(t).adaptive_max_pool3d(x, 2), [(1, 2, 3, 4, 3)], distinct=True),
    Case("fractional_max_pool2d", lambda t, x: F(t).fractional_max_pool2d(x, 2, (3, 4), _random_samples=samples(t, x)), [(2, 2, 6, 7)], distinct=True),
    Case("fractional_max_pool3d", lambda t, x: F(t).fractional_max_pool3d(x, 2, (3, 2, 3), _random_samples=samples(t, x)), [(2, 2, 5, 5, 6)], distinct=True),
    Case("max_unpool2d", lambda t, x: F(t).max_unpool2d(*F(t).max_pool2d(x, 2, return_indices=True), 2, output_size=(5, 5)), [(2, 2, 5, 5)], distinct=True),
    Case("max_unpool1d", lambda t, x: F(t).max_unpool1d(x, t.tensor([[[0, 3, 4]]]), 2), [(1, 1, 3)]),
    Case("max_unpool3d", lambda t, x: F(t).max_unpool3d(x, t.tensor([0, 7, 9, 2]).reshape(1, 1, 2, 1, 2), (1, 2, 3)), [(1, 1, 2, 1, 2)])]


def samples(t, x):
    return t.from_numpy(np.random.default_rng(5).random((2, 2, x.ndim - 2))).to(x.dtype)


AVERAGE = [Case(f"{name} {args} {options}", lambda t, x, name=name, args=args, options=options: getattr(F(t), name)(x, *args, **options),
                [shape], (0.5, 2.0)) for name, shape, args, options in [
    ("avg_pool1d", (2, 2, 7), (3,), {"stride": 2, "padding": 1}), ("avg_pool2d", (2, 2, 5, 6), (2,), {}),
    ("avg_pool2d", (2, 2, 5, 6), ((3, 2),), {"stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False}),
    ("avg_pool2d", (2, 5, 6), (3,), {"stride": 1, "divisor_override": 2}), ("avg_pool3d", (1, 2, 3, 4, 4), (2,), {"stride": 1, "padding": 1}),
    ("avg_pool2d", (1, 1, 9, 18), (9,), {}), ("adaptive_avg_pool1d", (2, 2, 7), (3,), {}), ("adaptive_avg_pool2d", (2, 2, 5, 6), ((None, 4),), {}),
    ("adaptive_avg_pool2d", (2, 2, 10, 9), (1,), {}), ("adaptive_avg_pool3d", (1, 2, 3, 4, 3), (2,), {}), ("adaptive_avg_pool2d", (2, 3, 4), ((2, 7),), {}),
    ("lp_pool1d", (2, 2, 6), (3, 2), {}), ("lp_pool2d", (2, 2, 4, 5), (2, (2, 3)), {"stride": 1}), ("lp_pool3d", (1, 1, 3, 3, 4), (3, 2), {"ceil_mode": True})]]

SIZES = [Case(f"interpolate {len(shape) - 2}d {options}", lambda t, x, options=options: F(t).interpolate(x, **options), [shape])
         for shape, options in [
    ((2, 2, 5), {"size": 8}), ((1, 2, 4, 5), {"scale_factor": (2, 1.7), "mode": "nearest"}), ((1, 2, 4, 5), {"size": (3, 7), "mode": "nearest-exact"}),
    ((2, 2, 5), {"scale_factor": 1.7, "mode": "linear"}), ((1, 2, 4, 5), {"size": (7, 3), "mode": "bilinear"}),
    ((1, 2, 4, 5), {"size": (7, 3), "mode": "bilinear", "align_corners": True}), ((1, 2, 4, 5), {"scale_factor": 1.6, "mode": "bicubic"}),
    ((1, 2, 4, 5), {"size": (2, 9), "mode": "bicubic", "align_corners": True}), ((1, 1, 3, 2, 3), {"size": (4, 3, 2), "mode": "trilinear"}),
    ((1, 2, 4, 5), {"size": (3, 7), "mode": "area"}), ((1, 2, 6, 7), {"size": (3, 4), "mode": "bilinear", "antialias": True}),
    ((1, 2, 6, 7), {"size": (3, 4), "mode": "bicubic", "antialias": True}),
    ((1, 2, 4, 5), {"scale_factor": 1.6, "mode": "bilinear", "recompute_scale_factor": True})]]

SAMPLED = [Case(f"grid_sample {mode} {padding} {align}", lambda t, x, g, how=(mode, padding, align): F(t).grid_sample(x, g, *how),
                [(2, 1, 3, 4), (2, 1, 2, 2)], (-1.4, 1.4), second=mode == "bilinear") for mode in ("bilinear", "nearest", "bicubic")
           for padding in ("zeros", "border", "reflection") for align in (False, True)]
SAMPLED += [
    Case("grid_sample 3d", lambda t, x, g: F(t).grid_sample(x, g, align_corners=False), [(1, 1, 3, 2, 3), (1, 2, 1, 1, 3)], (-1.4, 1.4)),
    Case("affine_grid", lambda t, x: F(t).affine_grid(x, (2, 1, 3, 4), False), [(2, 2, 3)]),
    Case("affine_grid 3d", lambda t, x: F(t).affine_grid(x, (1, 1, 2, 3, 2), True), [(1, 3, 4)])]

MOVED = [
    Case("unfold", lambda t, x: F(t).unfold(x, (2, 3), dilation=(2, 1), padding=1, stride=2), [(2, 2, 5, 6)]),
    Case("fold", lambda t, x: F(t).fold(x, (4, 5), (2, 3), padding=(1, 0)), [(2, 12, 15)]),
    Case("fold unbatched", lambda t, x: F(t).fold(x, 4, 2, stride=2), [(8, 4)]),
    Case("pixel_shuffle", lambda t, x: t.pixel_shuffle(x, 2), [(2, 8, 2, 3)]), Case("pixel_unshuffle", lambda t, x: t.pixel_unshuffle(x, 3), [(1, 3, 6)]),
    Case("channel_shuffle", lambda t, x: t.channel_shuffle(x, 3), [(2, 6, 2)])]

CASES = CONV + TRANSPOSED + MAX + AVERAGE + SIZES + SAMPLED + MOVED
