"""Rows for other names of operations, forms that copy, and what the families' own modules leave out."""

import numpy as np

from .row import Case, F

POSITIVE = (0.3, 3.0)


def square(t, x):
    """A matrix that is safely invertible."""
    return x @ x.mT + 3 * t.eye(x.shape[-1], dtype=x.dtype)


NAMES2 = [Case(name, lambda t, x, y, name=name: getattr(t, name)(x, y), [(3, 4), (4,)], POSITIVE)
          for name in ("multiply", "divide", "subtract")]
NAMES1 = [Case(name, lambda t, x, name=name: getattr(t, name)(x), [(3, 4)], domain, kinks=kinks) for name, domain, kinks in [
    ("arccos", (-0.8, 0.8), ()), ("arcsin", (-0.8, 0.8), ()), ("arctan", (-2, 2), ()), ("arcsinh", (-2, 2), ()), ("arctanh", (-0.8, 0.8), ()),
    ("arccosh", (1.2, 3), ()), ("atleast_1d", (-2, 2), ()),
    ("alias_copy", (-2, 2), ()), ("nuclear_norm", POSITIVE, ())]]
COPIES = [Case(name, call, [(2, 3, 4)]) for name, call in [
    ("permute_copy", lambda t, x: t.permute_copy(x, (2, 0, 1))), ("transpose_copy", lambda t, x: t.transpose_copy(x, 0, 1)),
    ("select_copy", lambda t, x: t.select_copy(x, 1, 2)), ("slice_copy", lambda t, x: t.slice_copy(x, 2, 0, 4, 2)),
    ("narrow_copy", lambda t, x: t.narrow_copy(x, 2, 1, 2)), ("diagonal_copy", lambda t, x: t.diagonal_copy(x, 0, 1, 2)),
    ("unsqueeze_copy", lambda t, x: t.unsqueeze_copy(x, 1)), ("squeeze_copy", lambda t, x: t.squeeze_copy(x[:1], 0)),
    ("expand_copy", lambda t, x: t.expand_copy(x, (5, 2, 3, 4))), ("view_copy", lambda t, x: t.view_copy(x, (6, 4))),
    ("unbind_copy", lambda t, x: t.unbind_copy(x, 1)[2]),
    ("split_with_sizes", lambda t, x: t.split_with_sizes(x, [1, 3], 2)[1]), ("split_with_sizes_copy", lambda t, x: t.split_with_sizes_copy(x, [1, 3], 2)[1]),
    ("unsafe_chunk", lambda t, x: t.unsafe_chunk(x, 2, 2)[1]), ("unsafe_split", lambda t, x: t.unsafe_split(x, 3, 2)[0]),
    ("unsafe_split_with_sizes", lambda t, x: t.unsafe_split_with_sizes(x, [3, 1], 2)[0]), ("constant_pad_nd", lambda t, x: t.constant_pad_nd(x, (1, 2, 0, 1), 0.5)),
    ("fill", lambda t, x: t.fill(x, 2.0) * x), ("upsample", lambda t, x: F(t).upsample(x, 6, mode="linear", align_corners=True)),
    ("max_pool1d", lambda t, x: F(t).max_pool1d(x * 10, 2))]]
JOINED = [
    Case("concat", lambda t, x, y: t.concat([x, y]), [(2, 3), (1, 3)]), Case("concatenate", lambda t, x, y: t.concatenate([x, y], 1), [(2, 3), (2, 1)]),
    Case("row_stack", lambda t, x, y: t.vstack([x, y]), [(2, 3), (3,)]), Case("ger", lambda t, x, y: t.ger(x, y), [(3,), (4,)]),
    Case("inverse", lambda t, x: t.inverse(square(t, x)), [(3, 3)]),
    Case("pinverse", lambda t, x: t.pinverse(x), [(4, 2)], second=False),
    Case("upsample_nearest", lambda t, x: F(t).upsample_nearest(x, scale_factor=2), [(1, 2, 3, 2)]),
    Case("upsample_bilinear", lambda t, x: F(t).upsample_bilinear(x, size=(5, 4)), [(1, 2, 3, 2)]),
    Case("max_pool3d", lambda t, x: F(t).max_pool3d(x, 2), [(1, 2, 4, 4, 2)], distinct=True, second=False),
    Case("conv3d", lambda t, x, w: t.conv3d(x, w, stride=(1, 2, 1)), [(1, 2, 3, 4, 3), (2, 2, 2, 2, 2)])]

CASES = NAMES2 + NAMES1 + COPIES + JOINED
assert np.unique([c.name for c in CASES]).size == len(CASES)
