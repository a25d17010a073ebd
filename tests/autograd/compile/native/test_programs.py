"""Programs of all kinds of operations against NumPy: random ones, fused and unfused, and the special cases of each kind."""

import numpy as np
import pytest
from programs import check, given, new, view

from autograd.compile.ir import Op
from autograd.compile.native import available

pytestmark = [pytest.mark.quick, pytest.mark.skipif(bool(available()), reason=available())]
RNG = np.random.default_rng(0)
UNARY = "negative absolute square tanh exp sign floor copy".split()
BINARY = "add subtract multiply maximum minimum less greater_equal".split()


def normal(*shape, dtype="f4"):
    return given(RNG.standard_normal(shape).astype(dtype))


def random_program(seed, count=25):
    """Maps over views, broadcasting, reductions, takes and gathers, products and writes in place, on shapes that fit together."""
    rng = np.random.default_rng(seed)
    n, m, k = [int(x) for x in rng.integers(1, 9, 3)] if rng.random() < 0.7 else [int(x) for x in rng.integers(10, 70, 3)]
    shapes = [(n, m), (m,), (n, 1), (k, n, m), (1, 1, m), (), (m, n), (n, m, k)]
    kind = str(rng.choice(["f4", "f8"]))

    def fresh(shape):
        x = rng.standard_normal(shape).astype(kind)
        if rng.random() < 0.1 and x.size:
            x.flat[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -np.inf])
        return given(x)

    def shown(x):
        """x, or a view of it."""
        how = rng.integers(6)
        if len(x.shape) < 2 or how > 3:
            return x
        makes = [lambda a: a.swapaxes(-1, -2), lambda a: a[..., ::-1], lambda a: a[..., ::2, :], lambda a: a[..., 1:, :-1]]
        y = view(x, makes[how])
        return y if np.prod(y.shape) else x

    values = [fresh(s) for s in shapes]
    ops = []
    for _ in range(count):
        x = shown(values[rng.integers(len(values))])
        what = rng.integers(12)
        if what < 3:
            name = str(rng.choice(UNARY))
            out = new(x.shape, kind, bool(rng.integers(2)))
            ops.append(Op("map", name, [out], [x]))
        elif what < 7:
            y = shown(values[rng.integers(len(values))]) if rng.random() < 0.8 else float(rng.integers(-2, 3))
            try:
                shape = np.broadcast_shapes(x.shape, getattr(y, "shape", ()))
            except ValueError:
                continue
            name = str(rng.choice(BINARY))
            out = new(shape, "?" if name in ("less", "greater_equal") else kind, bool(rng.integers(2)))
            ops.append(Op("map", name, [out], [x, y]))
            if out.dtype == bool:
                chosen = new(shape, kind, True)
                ops.append(Op("map", "select", [chosen], [out, x, y]))
                out = chosen
        elif what < 9 and x.shape:
            dims = [int(d) for d in rng.permutation(len(x.shape))]
            kept = int(rng.integers(len(dims)))
            x = view(x, lambda a, dims=dims: a.transpose(dims))
            out = new(x.shape[:kept], kind, bool(rng.integers(2)))
            ops.append(Op("reduce", str(rng.choice(["add", "maximum", "minimum"])), [out], [x]))
        elif what == 9 and len(x.shape) == 2:
            y = normal(x.shape[1], int(rng.integers(1, 30)), dtype=kind)
            out = new((x.shape[0], y.shape[1]), kind)
            ops.append(Op("product", "", [out], [x, y, *([normal(y.shape[1], dtype=kind)] if rng.integers(2) else [])]))
        elif what == 10 and len(x.shape) == 2:
            index = given(rng.integers(0, x.shape[1], x.shape[0]))
            out = new(x.shape[:1], kind)
            ops.append(Op("take", "", [out], [x, index]))
        elif what == 11 and x.shape:
            target = values[rng.integers(len(values))]               # in place, a part of it
            if target.shape == x.shape:
                ops.append(Op("map", "add", [target], [target, x]))
            elif len(target.shape) > 1 and target.shape[-1] == x.shape[-1]:
                part = view(target, lambda a: a[(0,) * (a.ndim - 1)])
                last = view(x, lambda a: a[(-1,) * (a.ndim - 1)])
                ops.append(Op("map", "multiply", [part], [part, last]))
            continue
        else:
            continue
        values.append(out)
    return ops, [v for v in values if v.storage.keep]


@pytest.mark.parametrize("block", range(4))
def test_random_programs(block):
    """Fused and unfused native code against the reference; in one compilation for many programs."""
    ops, refs = [], []
    for seed in range(block * 30, block * 30 + 30):
        more, kept = random_program(seed)
        ops += more
        refs += kept
    touched = {s for op in ops for s in op.reads() | op.writes()}
    refs = [x for x in refs if x.storage in touched]
    fused = check(ops, refs, tolerance=200, contract=False)
    plain = check(ops, refs, tolerance=200, contract=False, fuse=False)
    assert sum(len(labels) for _, labels in fused.kinds) == sum(len(labels) for _, labels in plain.kinds)
    assert len(fused.kinds) < len(plain.kinds)
