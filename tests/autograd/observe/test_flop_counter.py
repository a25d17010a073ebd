"""FlopCounterMode counts what PyTorch's does, by module and operation; the same formulas are the profiler's."""

import pytest

import autograd as ag
from autograd import nn
from autograd.compile import trace_step
from autograd.core.parallel import run_lanes
from autograd.utils.checkpoint import checkpoint
from autograd.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula
from autograd.utils.module_tracker import ModuleTracker


def leaf(lib, *shape):
    return lib.ones(*shape, requires_grad=True)


def layer(kind, *args, x, tracked=True, **settings):
    """A case: one layer of lib.nn on ones of the shape x."""
    def case(lib):
        made, given = getattr(lib.nn, kind)(*args, **settings), lib.ones(*x, requires_grad=tracked)
        return lambda: made(given)

    return case


def operation(name, *shapes, **settings):
    return lambda lib: lambda: getattr(lib, name)(*[leaf(lib, *s) for s in shapes], **settings)


def attention(lib):
    made, x = lib.nn.MultiheadAttention(8, 2), leaf(lib, 5, 2, 8)
    return lambda: made(x, x, x)[0]


def small_cnn(lib):
    nn = lib.nn
    made = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Sequential(nn.Flatten(), nn.Linear(8 * 6 * 6, 10)))
    return lambda: made(lib.ones(2, 1, 8, 8))


CASES = {
    "linear": layer("Linear", 4, 5, x=(3, 4)), "linear of a vector": layer("Linear", 4, 5, x=(4,)),
    "linear of a sequence": layer("Linear", 4, 5, x=(2, 3, 4)),
    "linear of a leaf without gradient": layer("Linear", 4, 5, x=(2, 3, 4), tracked=False, bias=False),
    **{f"{kind}{d}d": layer(f"{kind}{d}d", 4, 6, 3, stride=2, padding=1, groups=2, x=(2, 4, *[7] * d))
       for kind in ("Conv", "ConvTranspose") for d in (1, 2, 3)},
    "convolution of data": layer("Conv2d", 4, 6, 3, x=(2, 4, 9, 9), tracked=False),
    "convolution without batch": layer("Conv2d", 4, 6, 3, x=(4, 9, 9)),
    "matmul": operation("matmul", (3, 4), (4, 5)), "matmul, many and one": operation("matmul", (2, 3, 4), (4, 5)),
    "matmul, one and many": operation("matmul", (3, 4), (2, 4, 5)),
    "matmul, broadcast": operation("matmul", (2, 1, 3, 4), (5, 4, 6)),
    "matrix and vector": operation("matmul", (3, 4), (4,)), "vectors": operation("matmul", (4,), (4,)),
    "bmm": operation("bmm", (2, 3, 4), (2, 4, 5)), "addmm": operation("addmm", (5,), (3, 4), (4, 5), beta=2),
    "baddbmm": operation("baddbmm", (2, 3, 5), (2, 3, 4), (2, 4, 5)),
    "einsum": lambda lib: lambda: lib.einsum("bij,bkj->bik", leaf(lib, 2, 3, 4), leaf(lib, 2, 5, 4)),
    "einsum that sums nothing": lambda lib: lambda: lib.einsum("ij,ik->ijk", leaf(lib, 2, 3), leaf(lib, 2, 5)),
    "RNN": lambda lib: (lambda made: lambda: made(leaf(lib, 5, 2, 3))[0])(lib.nn.RNN(3, 4)),
    "GRU": lambda lib: (lambda made: lambda: made(leaf(lib, 5, 2, 3))[0])(lib.nn.GRU(3, 4, num_layers=2, bidirectional=True)),
    "GRUCell": layer("GRUCell", 3, 4, x=(2, 3)), "a small CNN": small_cnn,
    "nothing": lambda lib: lambda: leaf(lib, 3) * 2,
}


def counted(lib, mode, case):
    """By module and operation, forward and backward, and the table."""
    forward = case(lib)
    with mode(display=False, depth=None) as counter:
        forward().sum().backward()
    counts = {module: {str(key): n for key, n in of.items()} for module, of in counter.get_flop_counts().items() if of}
    return counts, counter


@pytest.mark.parametrize("case", CASES)
def test_counts_are_pytorchs(case):
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode as TorchMode

    (theirs, their_counter), (ours, counter) = counted(torch, TorchMode, CASES[case]), counted(ag, FlopCounterMode, CASES[case])
    assert ours == theirs
    assert counter.get_total_flops() == their_counter.get_total_flops()


@pytest.mark.parametrize("case", ["linear", "Conv3d", "a small CNN", "matmul", "nothing"])
def test_the_table_is_pytorchs(case):
    torch = pytest.importorskip("torch")
    tabulate = pytest.importorskip("tabulate")       # which PyTorch's table needs
    if tuple(map(int, tabulate.__version__.split(".")[:2])) >= (0, 10):
        pytest.skip("tabulate 0.10 strips the indentation, whatever PyTorch asks of it")
    from torch.utils.flop_counter import FlopCounterMode as TorchMode

    theirs, ours = counted(torch, TorchMode, CASES[case])[1], counted(ag, FlopCounterMode, CASES[case])[1]
    assert [ours.get_table(d) for d in (None, 1, 2)] == [theirs.get_table(d) for d in (None, 1, 2)]


def test_attention():
    """Through one product for all three projections: as many as PyTorch's, which splits linear() into mm and add there."""
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode as TorchMode
    from torch.utils.flop_counter import sdpa_backward_flop_count, sdpa_flop_count

    theirs, ours = counted(torch, TorchMode, attention)[0], counted(ag, FlopCounterMode, attention)[0]
    assert {k: sum(v.values()) for k, v in ours.items()} == {k: sum(v.values()) for k, v in theirs.items()}
    q, k, v = (2, 4, 5, 8), (2, 4, 6, 8), (2, 4, 6, 3)
    for mask in (None, ag.ones(5, 6, dtype=ag.bool)):
        fused = counted(ag, FlopCounterMode, lambda lib, mask=mask: lambda: nn.functional.scaled_dot_product_attention(
            leaf(ag, *q), leaf(ag, *k), leaf(ag, *v), mask))[0]
        assert fused["Global"] == {"aten._scaled_dot_product_flash_attention": sdpa_flop_count(q, k, v),
                                   "aten._scaled_dot_product_flash_attention_backward":
                                   sdpa_backward_flop_count((2, 4, 5, 3), q, k, v)}


def test_lstm():
    """2 for each weight and row, forward; in backward twice that, without the first state's gradient: (16, 2) of 2 rows."""
    made = nn.LSTM(3, 4, proj_size=2)
    with FlopCounterMode(display=False) as counter:
        made(leaf(ag, 5, 2, 3))[0].sum().backward()
    forward = 2 * 5 * 2 * (16 * 3 + 16 * 2 + 2 * 4)
    assert counter.get_flop_counts()["LSTM"] == {"aten.addmm": forward, "aten.mm": 2 * forward - 2 * 2 * 16 * 2}


def test_the_table(capsys):
    with FlopCounterMode() as counter:
        small_cnn(ag)().sum().backward()
    table = """\
Module                            FLOP    % Total
-----------------------------  -------  ---------
Sequential                     55.296K    100.00%
 - aten.convolution            10.368K     18.75%
 - aten.addmm                  11.520K     20.83%
 - aten.mm                     23.040K     41.67%
 - aten.convolution_backward   10.368K     18.75%
 Sequential.0                  20.736K     37.50%
  - aten.convolution           10.368K     18.75%
  - aten.convolution_backward  10.368K     18.75%
 Sequential.2                  34.560K     62.50%
  - aten.addmm                 11.520K     20.83%
  - aten.mm                    23.040K     41.67%
"""
    assert capsys.readouterr().out == table          # depth=2: without Sequential.2.1
    assert "Sequential.2.1 " in counter.get_table(3) and "Sequential.0" not in counter.get_table(1)
    with FlopCounterMode(display=False) as empty:
        pass
    assert empty.get_table() == "Module      FLOP    % Total\n--------  ------  ---------\nGlobal         0         0%"


def test_only_backward_and_again():
    x, y = leaf(ag, 3, 4), leaf(ag, 4, 5)
    z = (x @ y).sum()
    with FlopCounterMode(display=False) as counter:
        z.backward(retain_graph=True)
    assert counter.get_flop_counts() == {"Global": {"aten.mm": 240}}
    with counter:
        ag.autograd.grad(z, x)                       # rules give the gradients of all inputs that need one
    assert counter.get_total_flops() == 240
    with ag.no_grad(), counter:
        x @ y
    assert counter.get_total_flops() == 120


def test_packed_values_are_not_unpacked_to_count():
    """Noted when the call is made: hooks on saved tensors may compute them anew."""
    unpacked = []
    x, y = leaf(ag, 3, 4), leaf(ag, 4, 5)
    with FlopCounterMode(display=False) as counter, ag.autograd.graph.saved_tensors_hooks(
            lambda t: t.numpy(), lambda a: unpacked.append(1) or ag.tensor(a)):
        (x @ y).sum().backward()
    assert counter.get_total_flops() == 360 and len(unpacked) == 2


def test_checkpoint_counts_the_second_forward():
    model, x = nn.Linear(4, 5, bias=False), leaf(ag, 3, 4)
    with FlopCounterMode(display=False) as counter:
        checkpoint(lambda x: model(x).square(), x, use_reentrant=False).sum().backward()
    assert counter.get_flop_counts()["Global"] == {"aten.mm": 4 * 120}
    assert counter.get_flop_counts()["Linear"] == {"aten.mm": 4 * 120}


@pytest.mark.parametrize("case", ["matmul", "convolution", "attention"])
def test_second_derivatives(case):
    """Operations that a rule calls to be differentiated are counted one by one, with PyTorch's sums."""
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode as TorchMode

    found = []
    for lib, mode in ((ag, FlopCounterMode), (torch, TorchMode)):
        x = lib.eye(4).requires_grad_()
        with mode(display=False) as counter:
            z = (x @ x if case == "matmul" else lib.nn.functional.conv2d(x.reshape(1, 2, 2, 4), x.reshape(4, 2, 1, 2))
                 if case == "convolution" else lib.softmax(x @ x, -1) @ x)
            g, = lib.autograd.grad((z ** 2).sum(), x, create_graph=True)
        first = counter.get_total_flops()
        with counter:
            g.sum().backward()
        found.append((first, counter.get_total_flops()))
    assert found[0] == found[1]


def test_nested_counters_and_a_profiler():
    x = ag.ones(3, 4)
    with FlopCounterMode(display=False) as outer:
        x @ x.T
        with ag.profiler.profile(with_flops=True) as prof, FlopCounterMode(display=False) as inner:
            x @ x.T
    assert (outer.get_total_flops(), inner.get_total_flops()) == (144, 72)
    assert {e.key: e.flops for e in prof.key_averages() if e.flops} == {"aten::mm": 72}


def test_lanes_are_other_threads():
    """All but the first, which runs in this one."""
    with FlopCounterMode(display=False) as counter:
        run_lanes([lambda: (leaf(ag, 3, 4) @ leaf(ag, 4, 5)).sum().backward()] * 3)
    assert counter.get_total_flops() == 360


def test_a_step_that_is_recorded_is_refused():
    def step(x):
        with FlopCounterMode(display=False):
            return x * 2

    with pytest.raises(RuntimeError, match="can't count inside a step that is being recorded"):
        trace_step(step, (ag.ones(2),))


class Cube(ag.Function):
    @staticmethod
    def forward(ctx, x, times=1):
        return x ** 3 * times

    @staticmethod
    def backward(ctx, g):
        return g, None


def test_custom_formulas():
    seen = []

    def cube(shape, times, *, out_shape):
        seen.append((tuple(shape), times, tuple(out_shape)))
        return 7

    def raw(x, *rest, out_val, **settings):
        return x.numel() + out_val.numel()

    raw._get_raw = True
    x = ag.ones(2, 3)
    mapping = {Cube: cube, "aten.mm": lambda x, y, out_shape: 1, "aten.softmax": raw}
    with FlopCounterMode(display=False) as outer, FlopCounterMode(display=False, custom_mapping=mapping) as counter:
        Cube.apply(x, 5)
        x @ x.T
        x.softmax(-1)
    assert seen == [((2, 3), 5, (2, 3))]
    assert counter.get_flop_counts()["Global"] == {Cube: 7, "aten.mm": 1, "aten.softmax": 12}
    assert " - Cube" in counter.get_table() and outer.get_total_flops() == 24
    try:
        register_flop_formula(Cube)(cube)
        with pytest.raises(RuntimeError, match="duplicate registrations"):
            register_flop_formula([Cube])(cube)
        with FlopCounterMode(display=False) as counter:
            Cube.apply(x, 5)
        assert counter.get_total_flops() == 7
    finally:
        flop_registry.clear()
    for key, error in (("mm", ValueError), (3, ValueError), ("aten.mul", NotImplementedError),
                       ("aten.add", NotImplementedError), ("aten.add_", NotImplementedError),
                       ("aten.ones", NotImplementedError)):
        with pytest.raises(error):
            FlopCounterMode(custom_mapping={key: cube})
    with FlopCounterMode(display=False, custom_mapping={"aten.bmm": lambda x, y, out_shape: 5}) as counter:
        ag.ones(2, 3, 3) @ ag.bmm(ag.ones(2, 3, 3), ag.ones(2, 3, 3)) @ ag.ones(3, 4)
    assert counter.get_flop_counts()["Global"] == {"aten.bmm": 10, "aten.mm": 144}
    with pytest.raises(TypeError, match="'aten.mm': 3"):
        FlopCounterMode(custom_mapping={"aten.mm": 3})
    with pytest.warns(UserWarning, match="mods argument is not needed"):
        FlopCounterMode(nn.Linear(2, 2))


def test_names_of_modules():
    """After an error, too, and in backward those of the call that made the node."""
    seen = []

    class Tell(nn.Module):
        def forward(self, x):
            seen.append((set(tracker.parents), tracker.is_bw))
            if not x.requires_grad:
                raise ValueError("no")
            x.register_hook(lambda g: None)
            out = x * 2
            out.grad_fn.register_prehook(lambda g: seen.append((set(tracker.parents), tracker.is_bw)))
            return out

    model = nn.Sequential(nn.Identity(), nn.Sequential(Tell()))
    with ModuleTracker() as tracker:
        with pytest.raises(ValueError, match="no"):
            model(ag.ones(2))
        assert tracker.parents == {"Global"}
        model(leaf(ag, 2)).sum().backward()
        assert tracker.parents == {"Global"}
    names = {"Global", "Sequential", "Sequential.1", "Sequential.1.0"}
    assert seen[:2] == [(names, False)] * 2 and seen[2][1]
