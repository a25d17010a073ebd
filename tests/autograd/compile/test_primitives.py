"""Convolutions, pooling, normalization and recurrent layers as compiled steps: native, with the values and gradients of eager."""

import numpy as np
import pytest

import autograd as ag
from autograd import nn
from autograd.compile.checks.state import Snapshot
from autograd.compile.lowering.primitives import PRIMITIVES
from autograd.compile.native import available
from autograd.compile.programs.engines import NATIVE
from autograd.compile.recorded import Recorded
from autograd.compile.recording import apart
from autograd.compile.recording.nests import Nest
from autograd.kernels.loops import loops
from autograd.kernels.onednn import onednn
from autograd.nn import functional as F

pytestmark = pytest.mark.skipif(bool(available()) or onednn.library is None or loops.library is None,
                                reason=available() or "oneDNN or the compiled loops are not installed")


def numbers(*shape, dtype=ag.float32, grad=True):
    return ag.tensor(np.random.default_rng(sum(shape)).standard_normal(shape), dtype=dtype, requires_grad=grad)


def compare(function, leaves, buffers=(), tolerance=1e-4):
    """Recorded with some values, run three times with others: the program."""

    def step():
        for t in leaves:
            t.grad = None
        y = function()
        (y * y * 0.5).sum().backward()
        return y.detach()

    def state(y):
        return [y.copy(), *[None if t.grad is None else t.grad.array.copy() for t in leaves], *[b.array.copy() for b in buffers]]

    step()
    program = Recorded(step, Nest(()), Snapshot([step]), [step], NATIVE).make().program
    for _ in range(3):
        for t in leaves:
            t.array[...] = np.roll(t.array, 1) * t.dtype.type(0.9)
        before = [b.array.copy() for b in buffers]
        wanted = state(step().array)
        for b, contents in zip(buffers, before):
            b.array[...] = contents
        for t in leaves:
            t.grad = None
        for a, b in zip(state(program.run()[0]), wanted):
            assert (a is None) == (b is None)
            if a is not None:
                scale = np.abs(b[np.isfinite(b)]).max(initial=0)
                np.testing.assert_allclose(a, b, tolerance, tolerance * scale, equal_nan=True)
    return program


def is_native(program):
    """Whether a program is one stretch of native code with calls of libraries."""
    assert not program.python
    return len(program.native.parts) == 1 and "primitive" in [kind for kind, _ in program.native.kinds]


CONVOLUTIONS = {
    "plain": {}, "strides": {"stride": 2}, "dilation": {"dilation": 2}, "groups": {"groups": 2}, "depthwise": {"groups": 4},
    "padding": {"padding": 1}, "same": {"padding": "same"}, "without bias": {"bias": False},
    "two strides": {"stride": (2, 1), "padding": (0, 2)}, "reflect": {"padding": 1, "padding_mode": "reflect"},
    "circular": {"padding": 2, "padding_mode": "circular"}, "replicate": {"padding": 1, "padding_mode": "replicate"},
    "one place": {"kernel_size": 1}}


@pytest.mark.parametrize("settings", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolutions(settings):
    layer = nn.Conv2d(4, 8, **{"kernel_size": 3, **settings})
    x = numbers(3, 4, 9, 8)
    assert is_native(compare(lambda: F.relu(layer(x), inplace=True), [x, *layer.parameters()]))


@pytest.mark.parametrize("layer", [nn.Conv1d(4, 6, 3), nn.Conv3d(4, 6, 2), nn.ConvTranspose2d(4, 6, 3, 2)], ids=["1d", "3d", "transposed"])
def test_other_convolutions(layer):
    x = numbers(2, 4, *{3: (11,), 4: (5, 6), 5: (4, 5, 6)}[layer.weight.ndim])
    assert is_native(compare(lambda: layer(x), [x, *layer.parameters()]))


def test_layouts():
    """An input with its channels last, a transposed weight, and a gradient by rows."""
    x, w = numbers(3, 9, 8, 4), numbers(4, 6, 3, 3)
    assert is_native(compare(lambda: F.conv2d(x.permute(0, 3, 1, 2), w.transpose(0, 1)).flatten(1) * 2.0, [x, w]))


def test_parts_of_channels():
    """Channels joined in memory where they lie last; the gradient of a bias is the sum of a part of them."""
    up, x, y = nn.ConvTranspose2d(6, 4, 2, 2), numbers(2, 6, 8, 8), numbers(2, 4, 16, 16)
    norm, join = nn.BatchNorm2d(4), nn.Conv2d(8, 3, 3, padding=1)
    assert is_native(compare(lambda: join(ag.cat([norm(y), up(x)], 1)), [x, y, *up.parameters(), *norm.parameters(), *join.parameters()]))


def test_without_elements():
    x, w = numbers(0, 4, 9, 8), numbers(6, 4, 3, 3)
    compare(lambda: F.max_pool2d(F.conv2d(x, w), 2), [x, w])


def test_float64():
    """oneDNN has no float64."""
    x, w, norm = numbers(3, 4, 9, 8, dtype=ag.float64), numbers(6, 4, 3, 3, dtype=ag.float64), nn.BatchNorm2d(6, dtype=ag.float64)
    compare(lambda: F.max_pool2d(norm(F.conv2d(x, w)), 2), [x, w, *norm.parameters()], [norm.running_mean], 1e-10)


POOLS = {
    "maxima": lambda x: F.max_pool2d(x, 2), "overlapping maxima": lambda x: F.max_pool2d(x, 3, 2, 1),
    "maxima by rows": lambda x: F.max_pool2d(x.contiguous() * 2, (3, 2), ceil_mode=True),
    "means": lambda x: F.avg_pool2d(x, 2), "padded means": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, (2, 3)), "mean of planes": lambda x: F.adaptive_avg_pool2d(x, 1)}


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_pools(pool):
    x, w = numbers(3, 4, 10, 8), numbers(6, 4, 3, 3)
    assert is_native(compare(lambda: pool(F.conv2d(x, w)), [x, w]))


@pytest.mark.parametrize("padding", [0, 1])
def test_maxima_of_special_numbers(padding):
    """nan wins, the last of several; the first of equal numbers; -inf is more than padding. Recorded without such numbers."""
    x = numbers(2, 3, 6, 6)

    def step():
        x.grad = None
        y = F.max_pool2d(x, 2, 2, padding)
        (y * ag.arange(float(y.numel())).view(y.shape)).sum().backward()
        return y.detach()

    step()
    program = Recorded(step, Nest(()), Snapshot([step]), [step], NATIVE).make().program
    assert not program.python
    rng = np.random.default_rng(0)
    for _ in range(5):
        x.array[...] = rng.choice([np.nan, np.inf, -np.inf, 0.0, 1.0, 2.0], x.shape)
        wanted = step().array.copy(), x.grad.array.copy()
        x.grad = None
        np.testing.assert_array_equal(program.run()[0], wanted[0])
        np.testing.assert_array_equal(x.grad.array, wanted[1])


NORMS = {"batch": lambda: nn.BatchNorm2d(6), "averages": lambda: nn.BatchNorm2d(6, momentum=0.3), "without weight": lambda:
         nn.BatchNorm2d(6, affine=False), "without statistics": lambda: nn.BatchNorm2d(6, track_running_stats=False),
         "groups": lambda: nn.GroupNorm(2, 6), "instances": lambda: nn.InstanceNorm2d(6, affine=True, track_running_stats=True)}


@pytest.mark.parametrize("norm", NORMS.values(), ids=NORMS)
def test_norms(norm):
    """In training, with running statistics that are written in place; and the last two operations in place."""
    layer, x, w = norm(), numbers(4, 4, 9, 8), numbers(6, 4, 3, 3)
    buffers = list(layer.buffers())
    program = compare(lambda: F.relu(layer(F.conv2d(x, w)).mul_(2.0), inplace=True), [x, w, *layer.parameters()], buffers)
    assert is_native(program)


@pytest.mark.parametrize("shape", [(4, 6, 7, 5), (64, 6, 12, 12), (9, 6)], ids=["small", "large", "vectors"])
def test_norms_in_evaluation(shape):
    layer = nn.BatchNorm2d(6) if len(shape) > 2 else nn.BatchNorm1d(6)
    layer.running_mean.array[...], layer.running_var.array[...] = np.arange(6) / 3, np.arange(1, 7) / 2
    layer.eval()
    x = numbers(*shape)
    assert not compare(lambda: layer(x), [x, *layer.parameters()], [layer.running_mean, layer.running_var]).python


@pytest.mark.parametrize("settings", [{}, {"batch_first": True}, {"bidirectional": True, "num_layers": 2}, {"bias": False}],
                         ids=["plain", "batch first", "two directions", "without bias"])
@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU])
def test_recurrent(cell, settings):
    """Outputs and last states, with first states and without."""
    layer, x = cell(5, 6, **settings), numbers(7, 3, 5)
    states = [numbers(layer.num_layers * (2 if layer.bidirectional else 1), 7 if layer.batch_first else 3, 6) for _ in range(2)]
    given = tuple(states) if cell is nn.LSTM else states[0]

    def function(*first):
        y, last = layer(x, *first)
        return y.sum() + sum((part * part).sum() for part in (last if cell is nn.LSTM else (last,)))

    assert is_native(compare(function, [x, *layer.parameters()]))
    assert is_native(compare(lambda: function(given), [x, *layer.parameters(), *states[:2 if cell is nn.LSTM else 1]]))


def test_two_threads():
    """Primitives that are made for two threads; for another number there is another program."""
    before = ag.get_num_threads()
    ag.set_num_threads(2)
    try:
        layers = nn.Sequential(nn.Conv2d(8, 32, 3, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.MaxPool2d(2))
        x = numbers(16, 8, 24, 24)
        assert is_native(compare(lambda: layers(x), [x, *layers.parameters()], list(layers.buffers())))
        compiled = ag.compile(lambda x: layers(x).sum())
        compiled(x.detach())
        ag.set_num_threads(1)
        compiled(x.detach())
        assert compiled.made == 2
    finally:
        ag.set_num_threads(before)


def test_model():
    """A model whose backward pass is another program reads what its primitives have kept."""
    make = lambda: nn.Sequential(nn.Conv2d(3, 6, 3, bias=False), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                 nn.Linear(54, 4))
    model, other = make(), make()
    other.load_state_dict(model.state_dict())
    compiled = ag.compile(model)
    for k in range(3):
        x = ag.tensor(np.random.default_rng(k).standard_normal((5, 3, 8, 8)), dtype=ag.float32)
        for one in (compiled, other):
            one(x).square().sum().backward()
    for (name, p), q in zip(model.named_parameters(), other.parameters()):
        np.testing.assert_allclose(p.grad.array, q.grad.array, 1e-3, 1e-3, err_msg=name)
    np.testing.assert_allclose(model[1].running_var.array, other[1].running_var.array, 1e-5)


def test_what_is_recorded_whole_is_what_can_be_lowered():
    assert PRIMITIVES.keys() == apart.LIBRARY
