"""Programs of all kinds of operations against NumPy: random ones, fused and unfused, and the special cases of each kind."""

import numpy as np
import pytest
from programs import check, given, new, run, view

from autograd.compile.lowering.ir import Op, Ref
from autograd.compile.native import Native, available, build, unsupported

pytestmark = [pytest.mark.quick, pytest.mark.skipif(bool(available()), reason=available())]
RNG = np.random.default_rng(0)
UNARY = "negative absolute square tanh exp sign floor copy".split()
BINARY = "add subtract multiply maximum minimum less greater_equal".split()


def normal(*shape, dtype="f4"):
    return given(RNG.standard_normal(shape).astype(dtype))


def random_program(seed, count=25, sums=True):
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
            ops.append(Op("reduce", str(rng.choice(["add", "maximum", "minimum"] if sums else ["maximum", "minimum"])), [out], [x]))
        elif what == 9 and len(x.shape) == 2 and sums:
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
def test_random_programs(block, monkeypatch):
    """Fused and unfused native code against the reference; in one compilation for many programs."""
    ops, refs = [], []
    for seed in range(block * 12, block * 12 + 12):
        more, kept = random_program(seed)
        ops += more
        refs += kept
    touched = {s for op in ops for s in op.reads() | op.writes()}
    refs = [x for x in refs if x.storage in touched]
    fused = check(ops, refs, tolerance=200, contract=False)
    monkeypatch.setattr(build, "compile_in_child", lambda text, output: build.compiled(text, 1))      # a third of the time
    plain = check(ops, refs, tolerance=200, contract=False, fuse=False)
    assert sum(len(labels) for _, labels in fused.kinds) == sum(len(labels) for _, labels in plain.kinds)
    assert len(fused.kinds) < len(plain.kinds)


def column(x):
    """One number per row, as a column."""
    return view(x, lambda a: a[..., None])


def softmax(x):
    """The operations of a softmax, and its result."""
    top, total = new(x.shape[:-1], keep=False), new(x.shape[:-1], keep=False)
    less, power, out = new(x.shape, keep=False), new(x.shape, keep=False), new(x.shape)
    return [Op("reduce", "maximum", [top], [x]), Op("map", "subtract", [less], [x, column(top)]), Op("map", "exp", [power], [less]),
            Op("reduce", "add", [total], [power]), Op("map", "divide", [out], [power, column(total)])], out


def test_softmax_is_one_loop():
    ops, out = softmax(normal(7, 33))
    assert [len(labels) for _, labels in check(ops, [out]).kinds] == [5]


def test_chain_of_products_is_one_loop_without_memory():
    x = normal(8)
    ops = []
    for _ in range(100):
        y = new((8,), keep=False)
        ops.append(Op("map", "multiply", [y], [x, normal(8)]))
        x = y
    x.storage.keep = True
    native = check(ops, [x])
    assert len(native.kinds) == 1
    with pytest.raises(ValueError, match="keep"):
        native.array(ops[3].out)


def test_attention_joins_rows_of_heads():
    """A softmax of (batch, heads, rows, columns) whose argument lies in another order, with a mask broadcast over it."""
    x = view(normal(2, 5, 3, 6), lambda a: a.transpose(0, 2, 1, 3))
    mask = given(np.tril(np.ones((5, 6), bool)))
    scores = new(x.shape, keep=False)
    ops, out = softmax(scores)
    ops.insert(0, Op("map", "select", [scores], [mask, x, -np.inf]))
    assert len(check(ops, [out]).kinds) == 1


def test_sums_are_accurate():
    """Of ones and of numbers with a mean, as exact as NumPy's pairwise sums, over any axis."""
    for shape, kept in [((1, 1_000_003), 0), ((3, 100_000), 1), ((200_000,), 0), ((30_000, 7), 0)]:
        x = given(1 + 0.1 * RNG.random(shape).astype("f4"))
        out = new(shape[:kept])
        native, reference = run([Op("reduce", "add", [out], [x])])
        np.testing.assert_allclose(native.array(out), reference.view(out), rtol=2e-7)
    x = given(1 + 0.1 * RNG.random((30_003, 7)).astype("f4"))            # 4e-5 if rows are added one after the other
    out = new((7,))
    native, reference = run([Op("reduce", "add", [out], [view(x, lambda a: a.T)])])
    np.testing.assert_allclose(native.array(out), reference.view(out), rtol=2e-6)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logical_and", "logical_or"])
def test_reductions_of_every_dtype(name):
    ops, outs = [], []
    for kind in ("f4", "f8", "i8", "i4", "u1", "?"):
        dtype = "?" if name.startswith("logical") else kind
        if name in ("add", "multiply"):
            dtype = {"i4": "i8", "u1": "i8", "?": "i8"}.get(kind, kind)
        x = given((RNG.random((3, 4, 5, 6)) * (2 if kind == "?" else 9)).astype(kind))
        for axes in ((3, 2, 1, 0), (3,), (0,), (1,), (0, 2), (1, 3), (0, 1, 2), (2, 3)):
            kept = [d for d in range(4) if d not in axes]
            turned = view(x, lambda a, order=(*kept, *axes): a.transpose(order))
            outs.append(new(turned.shape[:len(kept)], dtype))
            ops.append(Op("reduce", name, [outs[-1]], [turned]))
    check(ops, outs, tolerance=64)


def test_reductions_with_nan_and_infinity():
    x = RNG.standard_normal((6, 40)).astype("f4")
    x[0, 3], x[1, 39], x[2, 0], x[3, 5], x[3, 6] = np.nan, np.inf, -np.inf, np.inf, -np.inf
    x = given(x)
    pairs = [(name, y) for name in ("add", "maximum", "minimum") for y in (x, view(x, lambda a: a.T))]
    outs = [new(y.shape[:1]) for _, y in pairs]
    check([Op("reduce", name, [out], [y]) for (name, y), out in zip(pairs, outs)], outs, tolerance=64)


def test_empty_arrays():
    x = given(np.zeros((0, 4), "f4"))
    total, sums, rows, copy, product = new(()), new((4,)), new((0,)), new((0, 4)), new((3, 4))
    index = given(np.zeros(0, int))
    table = new((5, 4))
    native = check([Op("reduce", "add", [total], [x]), Op("reduce", "add", [sums], [view(x, lambda a: a.T)]),
                    Op("reduce", "maximum", [rows], [x]), Op("map", "exp", [copy], [x]), Op("scatter", "", [table], [x, index]),
                    Op("product", "", [product], [given(np.zeros((3, 0), "f4")), x])], [total, sums, rows, copy, product, table])
    assert native.array(product).shape == (3, 4) and not native.array(product).any()
    Native([Op("map", "exp", [copy], [x])]).run()    # nothing to do


def test_views_that_overlap():
    """x[1:] = x[:-1] + 1, x[::-1] = x, and of a matrix x = x.T: as if the right side were read first."""
    x, y, z = normal(50), normal(51), normal(9, 9)
    check([Op("map", "add", [view(x, lambda a: a[1:])], [view(x, lambda a: a[:-1]), 1.0]),
           Op("map", "copy", [view(y, lambda a: a[::-1])], [y]), Op("map", "copy", [z], [view(z, lambda a: a.T)]),
           Op("reduce", "add", [view(z, lambda a: a[0])], [view(z, lambda a: a.T)])], [x, y, z], tolerance=16)


def test_writes_keep_their_order():
    """A value is read before memory from outside is overwritten, though the write needs nothing that is computed late."""
    x, out = normal(6, 30), new((6, 30))
    total = new((6,), keep=False)
    ops = [Op("reduce", "add", [total], [x]), Op("map", "multiply", [out], [x, column(total)]), Op("map", "copy", [x], [3.0]),
           Op("map", "add", [x], [x, column(total)])]
    check(ops, [x, out], tolerance=16)


def test_indices():
    """Rows of a table, single elements, elements per row; indices of several dtypes, negative ones among them."""
    table = normal(7, 5, 3)
    ops, outs = [], []
    for dtype in ("i8", "i4", "u1"):
        index = given(RNG.integers(-7 if dtype != "u1" else 0, 7, (4, 2)).astype(dtype))
        flat = view(normal(7), lambda a: a)
        rows, single, chosen, back = new((4, 2, 5, 3)), new((4, 2)), new((4, 2)), new((7, 3))
        scores = normal(4, 2, 7)
        ops += [Op("gather", "", [rows], [table, index]), Op("gather", "", [single], [flat, index]),
                Op("take", "", [chosen], [scores, index]), Op("scatter", "", [back], [normal(4, 2, 3), index])]
        outs += [rows, single, chosen, back]
    for name in ("copy", "add", "multiply", "maximum", "minimum"):             # some places repeat
        for values in (normal(4, 2, 3), 2.0):
            into = new((7, 3))
            ops += [Op("map", "copy", [into], [view(table, lambda a: a[:, 0])]), Op("update", name, [into], [values, index])]
            outs.append(into)
        for move in (lambda a: a, lambda a: a.T, lambda a: a[::-1], lambda a: a[:1]):
            along = normal(6, 5)
            ops.append(Op("scan", name, [view(along, move)], [view(normal(6, 5), move)]))
            outs.append(along)
        if name == "copy":
            del ops[-4:], outs[-4:]
    check(ops, outs, tolerance=16)
    assert "indices" in unsupported(Op("gather", "", [rows], [table, given(np.zeros((4, 2), "f4"))]))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products(dtype):
    """Matrices and stacks in every layout, small and large, with a bias, into parts and into transposed memory."""
    ops, outs = [], []
    makes = [lambda a: a, lambda a: a.swapaxes(-1, -2), lambda a: a[..., ::2, :], lambda a: a[..., ::2], lambda a: a[..., ::-1, :]]
    for m, k, n in [(1, 1, 1), (1, 40, 30), (40, 1, 30), (40, 30, 1), (3, 4, 5), (20, 33, 17)]:
        for number, make in enumerate(makes):
            shapes = [make(np.empty((k, m) if number == 1 else (m * (2 if number == 2 else 1), k * (2 if number == 3 else 1)))).base,
                      None]
            a = view(normal(*(shapes[0].shape if shapes[0] is not None else (m, k)), dtype=dtype), make)
            b = view(normal(*((n, k) if number == 1 else (k * (2 if number == 2 else 1), n * (2 if number == 3 else 1))), dtype=dtype), make)
            assert a.shape == (m, k) and b.shape == (k, n)
            outs += [new((m, n), dtype), new((n, m), dtype), new((m, 2 * n), dtype)]
            ops += [Op("product", "", [outs[-3]], [a, b, normal(n, dtype=dtype)]),
                    Op("product", "", [view(outs[-2], lambda x: x.T)], [a, b]),
                    Op("map", "copy", [outs[-1]], [0.0]), Op("product", "", [view(outs[-1], lambda x: x[:, ::2])], [a, b])]
    for left, right in [((2, 3, 6, 20), (20, 30)), ((6, 20), (4, 20, 30)), ((2, 1, 6, 20), (3, 20, 30)), ((5, 2, 3), (5, 3, 2))]:
        out = new((*np.broadcast_shapes(left[:-2], right[:-2]), left[-2], right[-1]), dtype)
        ops.append(Op("product", "", [out], [normal(*left, dtype=dtype), normal(*right, dtype=dtype)]))
        outs.append(out)
    check(ops, outs, tolerance=32)
    assert "product" in unsupported(Op("product", "", [new((2, 2), "i8")], [given(np.ones((2, 2), int))] * 2))


def test_calls_split_the_program():
    """A call reads what ran before it in the memory of the program, and its writes are seen after it."""
    x, middle, out = normal(4, 5), new((4, 5)), new((4,))
    seen = []

    def function():
        array = native.array(middle)
        seen.append(array.copy())
        array *= 10
    native = Native([Op("map", "add", [middle], [x, 1.0]), Op("call", "", [middle], [middle], function=function, label="tenfold"),
                     Op("reduce", "add", [out], [middle])])
    assert [label for label, _ in native.parts] == ["native 0", "tenfold", "native 1"]
    native.run()
    np.testing.assert_allclose(native.array(out), 10 * (x.storage.array + 1).sum(1), rtol=1e-5)
    np.testing.assert_array_equal(seen[0], x.storage.array + 1)


def test_bind_and_array():
    """Other memory without compiling again; arrays that outlive the program."""
    x, out = normal(3, 4), new((3, 4))
    native = Native([Op("map", "multiply", [out], [x, 2.0])])
    native.run()
    array = native.array(out)
    np.testing.assert_array_equal(array, 2 * x.storage.array)
    other = np.arange(12, dtype="f4").reshape(3, 4)
    native.bind(x.storage, other)
    native.run()
    np.testing.assert_array_equal(array, 2 * other)
    assert native.array(x)[1, 1] == 5
    run_alone, before = native.run, array.copy()
    del native
    array[...] = 0
    run_alone()
    np.testing.assert_array_equal(array, before)
    with pytest.raises(ValueError, match="12 contiguous"):
        Native([Op("map", "multiply", [out], [x, 2.0])]).bind(x.storage, other[:2])


def test_equal_functions_are_one():
    """Loops of the same text over other memory, parts of larger storages too, are compiled once."""
    big, out = normal(1000), new((1000,))
    ops = []
    for start in range(0, 1000, 100):
        part, power = view(big, lambda a, s=start: a[s:s + 100]), new((100,), keep=False)
        ops += [Op("map", "exp", [power], [part]), Op("map", "add", [view(out, lambda a, s=start: a[s:s + 100])], [power, part])]
    native = check(ops, [out])
    assert native.text.count("define void @k") < len(native.kinds)


def test_fused_loops_have_the_same_bits():
    """Without contract, fusion changes no bit of maps and of maxima. Sums keep theirs where rows and columns are the same."""
    ops, refs = [], []
    for seed in range(200, 215):
        more, kept = random_program(seed, sums=False)
        ops += more
        refs += kept
    touched = {s for op in ops for s in op.reads() | op.writes()}
    start = {s: s.array.copy() for s in touched if s.outside}
    results = []
    for fuse in (True, False):
        for s, array in start.items():
            s.array[...] = array
        native = Native(ops, fuse=fuse, contract=False)
        native.run()
        results.append([native.array(x).tobytes() for x in refs if x.storage in touched])
    assert len(results[0]) > 20 and results[0] == results[1]


def test_threads_share_large_loops():
    """Maps of one row, rows with reductions and rows of strided memory: in pieces, to the same bits as by one thread."""
    x, y = normal(1000, 700), view(normal(700, 1000), lambda a: a.T)
    ops, soft = softmax(x)
    flat, turned = new((700_000,)), new(x.shape)
    kept = [soft, flat, turned]
    first = Ref(x.storage, 0, (700_000,), (1,))
    for _ in range(5):
        ops.append(Op("map", "tanh", [flat], [first]))
        first = flat
    ops += [Op("map", "add", [turned], [x, y])]
    results = []
    for threads in (1, 3):
        native = Native(ops, threads=threads)
        native.run()
        results.append([native.array(x).tobytes() for x in kept])
    assert "i64 %first" in native.text and results[0] == results[1]
