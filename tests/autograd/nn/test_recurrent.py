"""RNN, LSTM, GRU, their cells and packed sequences beside PyTorch's; second derivatives against differences."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import autograd as ag
from autograd.nn.utils import rnn as packing
from autograd.ops.nn.rnn import recurrent

torch = pytest.importorskip("torch")
from torch.nn.utils import rnn as torch_packing  # noqa: E402

ARGUMENTS = {
    "RNN": [{}, {"num_layers": 2}, {"nonlinearity": "relu", "bidirectional": True}, {"bias": False, "batch_first": True},
            {"num_layers": 3, "bidirectional": True, "nonlinearity": "relu", "bias": False}],
    "GRU": [{}, {"num_layers": 2}, {"bidirectional": True}, {"bias": False, "batch_first": True},
            {"num_layers": 3, "bidirectional": True, "batch_first": True}],
    "LSTM": [{}, {"num_layers": 2}, {"bidirectional": True}, {"bias": False, "batch_first": True}, {"proj_size": 2},
             {"num_layers": 2, "bidirectional": True, "proj_size": 3, "bias": False},
             {"num_layers": 3, "bidirectional": True, "batch_first": True}],
}
LAYERS = [(name, kwargs) for name, rows in ARGUMENTS.items() for kwargs in rows]


def pair(name, *args, **kwargs):
    """The same module twice, in double precision, with PyTorch's weights."""
    theirs = getattr(torch.nn, name)(*args, **kwargs).double()
    mine = getattr(ag.nn, name)(*args, **kwargs).double()
    assert list(mine.state_dict()) == list(theirs.state_dict())
    mine.load_state_dict({k: ag.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    assert repr(mine) == repr(theirs)
    return mine, theirs


def both(shape, seed=0):
    """The same leaf twice."""
    values = np.random.default_rng(seed).standard_normal(shape)
    return ag.tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)


def flat(value):
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in flat(v)]
    return [] if value is None else [value]


def same(mine, theirs, tolerance=1e-10):
    mine, theirs = flat(mine), flat(theirs)
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs):
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=tolerance, atol=tolerance)


def same_gradients(mine, theirs, module, other, leaves, others):
    """Send weights of one and the same kind back through all outputs, and compare every gradient."""
    def loss(outs, sin):
        return sum((sin(out * (n + 1.5)) * out).sum() for n, out in enumerate(flat(outs)) if out.dtype not in (torch.int64, np.int64))
    loss(mine, ag.sin).backward()
    loss(theirs, torch.sin).backward()
    same([x.grad for x in leaves], [x.grad for x in others])
    named = dict(other.named_parameters())
    for name, p in module.named_parameters():
        same(p.grad, named[name].grad)


def states_for(module, batch, seed=5):
    count = module.num_layers * (2 if module.bidirectional else 1)
    sizes = [module.proj_size or module.hidden_size, module.hidden_size][:2 if module.mode == "LSTM" else 1]
    made = [both((count, *batch, size), seed + n) for n, size in enumerate(sizes)]
    mine, theirs = (tuple(m[i] for m in made) for i in range(2))
    return (mine, theirs) if module.mode == "LSTM" else (mine[0], theirs[0])


@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("name, kwargs", LAYERS, ids=str)
def test_layer(name, kwargs, batched, states):
    module, other = pair(name, 3, 4, **kwargs)
    shape = ((2, 5, 3) if kwargs.get("batch_first") else (5, 2, 3)) if batched else (5, 3)
    x, x2 = both(shape)
    hx, hx2 = states_for(module, (2,) if batched else ()) if states else (None, None)
    mine, theirs = module(x, hx), other(x2, hx2)
    assert isinstance(mine, tuple) and isinstance(mine[1], tuple) == isinstance(theirs[1], tuple)
    same(mine, theirs)
    same_gradients(mine, theirs, module, other, flat((x, hx)), flat((x2, hx2)))


@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("lengths, is_sorted", [([5, 3, 3, 1], True), ([2, 5, 1, 4], False), ([3, 3, 3, 3], True)])
@pytest.mark.parametrize("name, kwargs", LAYERS, ids=str)
def test_packed(name, kwargs, lengths, is_sorted, states):
    module, other = pair(name, 3, 4, **kwargs)
    x, x2 = both((5, 4, 3))
    hx, hx2 = states_for(module, (4,)) if states else (None, None)
    mine = module(packing.pack_padded_sequence(x, lengths, enforce_sorted=is_sorted), hx)
    theirs = other(torch_packing.pack_padded_sequence(x2, lengths, enforce_sorted=is_sorted), hx2)
    assert isinstance(mine[0], packing.PackedSequence)
    same(mine, theirs)
    mine = (packing.pad_packed_sequence(mine[0], padding_value=0.5), mine[1])
    theirs = (torch_packing.pad_packed_sequence(theirs[0], padding_value=0.5), theirs[1])
    same(mine, theirs)
    same_gradients(mine, theirs, module, other, flat((x, hx)), flat((x2, hx2)))


@pytest.mark.parametrize("name, kwargs", [
    ("RNNCell", {}), ("RNNCell", {"nonlinearity": "relu", "bias": False}), ("LSTMCell", {}), ("LSTMCell", {"bias": False}),
    ("GRUCell", {}), ("GRUCell", {"bias": False})], ids=str)
@pytest.mark.parametrize("batched, states", list(itertools.product([False, True], [False, True])))
def test_cell(name, kwargs, batched, states):
    module, other = pair(name, 3, 4, **kwargs)
    x, x2 = both((2, 3) if batched else (3,))
    made = [both((2, 4) if batched else (4,), n + 1) for n in range(2 if name == "LSTMCell" else 1)]
    hx, hx2 = (tuple(m[i] for m in made) for i in range(2))
    hx, hx2 = (hx, hx2) if name == "LSTMCell" else (hx[0], hx2[0])
    hx, hx2 = (hx, hx2) if states else (None, None)
    mine, theirs = module(x, hx), other(x2, hx2)
    mine, theirs = module(x, mine), other(x2, theirs)
    same(mine, theirs)
    same_gradients(mine, theirs, module, other, flat((x, hx)), flat((x2, hx2)))


def arguments(cell, sizes, bias=True, projection=False, states=True, seed=0):
    """Leaves for the operation: n = 3, k = 2, four sequences."""
    gates, n, k = {"LSTM": 4, "GRU": 3}.get(cell, 1), 3, 2
    p = 2 if projection else n
    shapes = [(sum(sizes), k), (gates * n, k), (gates * n, p), *[(gates * n,) if bias else None] * 2,
              (p, n) if projection else None, (sizes[0], p) if states else None, (sizes[0], n) if states and cell == "LSTM" else None]
    rng = np.random.default_rng(seed)
    return [None if s is None else ag.tensor(rng.standard_normal(s), requires_grad=True) for s in shapes]


CASES = [(cell, reverse, more) for cell in ("LSTM", "GRU", "RNN_TANH", "RNN_RELU") for reverse in (False, True)
         for more in ({}, {"bias": False, "states": False})] + [("LSTM", False, {"projection": True}), ("LSTM", True, {"projection": True})]


@pytest.mark.parametrize("cell, reverse, more", CASES, ids=str)
def test_recorded_backward_agrees_with_the_kernels(cell, reverse, more):
    values = arguments(cell, (3, 3, 2, 1), **more)
    leaves = [v for v in values if v is not None]
    outs = recurrent(*values, cell=cell, sizes=(3, 3, 2, 1), reverse=reverse)
    seeds = [ag.tensor(np.random.default_rng(n).standard_normal(out.shape)) for n, out in enumerate(outs)]
    for some in ([0], [1], list(range(len(outs)))):              # gradients of some outputs only: the others' are None
        fused = ag.grad([outs[i] for i in some], leaves, [seeds[i] for i in some], retain_graph=True)
        recorded = ag.grad([outs[i] for i in some], leaves, [seeds[i] for i in some], create_graph=True)
        assert all(g.requires_grad for g in recorded)
        same(list(fused), list(recorded), 1e-12)


@pytest.mark.parametrize("cell, reverse, more", CASES, ids=str)
def test_derivatives_against_differences(cell, reverse, more):
    values = arguments(cell, (2, 1), **more)

    def function(*leaves):
        given = iter(leaves)
        return recurrent(*(None if v is None else next(given) for v in values), cell=cell, sizes=(2, 1), reverse=reverse)

    leaves = [v for v in values if v is not None]
    assert ag.gradcheck(function, leaves)
    assert ag.gradgradcheck(function, leaves, fast_mode=True)


def test_second_derivatives_beside_torch():
    module, other = pair("LSTM", 3, 4, num_layers=2, bidirectional=True)
    x, x2 = both((3, 2, 3))
    (g,) = ag.grad(module(x)[0].sum(), [x], create_graph=True)
    (g2,) = torch.autograd.grad(other(x2)[0].sum(), [x2], create_graph=True)
    (g ** 2).sum().backward()
    (g2 ** 2).sum().backward()
    same([p.grad for p in module.parameters()], [p.grad for p in other.parameters()])


def test_float32_and_long_sequences():
    ours, theirs = ag.nn.LSTM(8, 16, 2), torch.nn.LSTM(8, 16, 2)
    ours.load_state_dict({k: ag.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    x = np.random.default_rng(0).standard_normal((100, 3, 8)).astype("float32") * 3
    same(ours(ag.tensor(x)), theirs(torch.tensor(x)), 2e-5)


def test_dropout_between_layers_only():
    layer = ag.nn.GRU(3, 4, 2, dropout=0.5)
    x = ag.randn(5, 2, 3)
    assert (layer(x)[0] != layer(x)[0]).any()
    assert (layer.eval()(x)[0] == layer(x)[0]).all()
    with pytest.warns(UserWarning, match="num_layers greater than 1"):
        ag.nn.LSTM(3, 4, dropout=0.5)
    whole = ag.nn.RNN(3, 4, 2, dropout=1.0)          # the second layer sees zeros
    same(whole(x)[0], whole(x * 2)[0], 0)


def test_writing_to_outputs_does_not_change_gradients():
    module, other = pair("GRU", 3, 4)
    x, x2 = both((4, 2, 3))
    y, y2 = module(x)[0], other(x2)[0]
    y.mul_(2)
    y2.mul_(2)
    same_gradients(y, y2, module, other, [x], [x2])


def test_weights_can_be_replaced_shared_copied_and_pickled():
    module, other = pair("LSTM", 3, 4)
    for twin in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert list(twin.state_dict()) == list(module.state_dict())
    raw, raw2 = module.weight_hh_l0, other.weight_hh_l0       # as weight-dropping wrappers do
    del module.weight_hh_l0, other.weight_hh_l0
    module.raw, other.raw = raw, raw2
    module.weight_hh_l0, other.weight_hh_l0 = raw * 0.5, raw2 * 0.5
    x, x2 = both((4, 2, 3))
    same(module(x), other(x2))
    module.flatten_parameters()
    assert [len(names) for names in module.all_weights] == [4]
    assert module.all_weights[0][1] is module.weight_hh_l0


ERRORS = [
    lambda t: t.nn.LSTM(3, 4)(t.zeros(5)), lambda t: t.nn.GRU(3, 4)(t.zeros(5, 2, 4)),
    lambda t: t.nn.LSTM(3, 4)(t.zeros(5, 2, 3), (t.zeros(1, 4), t.zeros(1, 4))),
    lambda t: t.nn.RNN(3, 4)(t.zeros(5, 3), t.zeros(1, 2, 4)), lambda t: t.nn.GRU(3, 4)(t.zeros(5, 2, 3), t.zeros(1, 3, 4)),
    lambda t: t.nn.LSTM(3, 4)(t.zeros(5, 2, 3), (t.zeros(1, 2, 4), t.zeros(1, 2, 3))),
    lambda t: t.nn.GRU(3, 4)(t.zeros(5, 2, 3).double()), lambda t: t.nn.GRU(3, 4, proj_size=2),
    lambda t: t.nn.LSTM(3, 4, proj_size=4), lambda t: t.nn.LSTM(3, 4, dropout=2), lambda t: t.nn.LSTM(3, 4, bias=1),
    lambda t: t.nn.LSTM(3, 0), lambda t: t.nn.LSTM(3.0, 4), lambda t: t.nn.RNN(3, 4, nonlinearity="gelu"),
    lambda t: t.nn.LSTM(3, 4, batch_first=1), lambda t: t.nn.LSTM(3, 4, num_layers=0),
    lambda t: t.nn.RNNCell(3, 4)(t.zeros(2, 2, 3)), lambda t: t.nn.LSTMCell(3, 4)(t.zeros(2, 4)),
    lambda t: t.nn.GRUCell(3, 4)(t.zeros(2, 3), t.zeros(1, 4)), lambda t: t.nn.GRUCell(3, 4)(t.zeros(2, 3), t.zeros(2, 5)),
    lambda t: t.nn.RNNCell(3, 4, nonlinearity="gelu")(t.zeros(2, 3)),
    lambda t: t.nn.utils.rnn.pack_padded_sequence(t.zeros(3, 2), [1, 2]),
    lambda t: t.nn.utils.rnn.pack_padded_sequence(t.zeros(3, 2), [1, 0]),
    lambda t: t.nn.utils.rnn.pack_padded_sequence(t.zeros(3, 2), [1]),
    lambda t: t.nn.utils.rnn.pack_padded_sequence(t.zeros(0, 0), []),
    lambda t: t.nn.utils.rnn.pad_packed_sequence(t.nn.utils.rnn.pack_sequence([t.zeros(3)]), total_length=2),
    lambda t: t.nn.utils.rnn.pad_sequence(3), lambda t: t.nn.utils.rnn.pad_sequence([t.zeros(2)], padding_side="top"),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors_are_of_the_same_class(number):
    with pytest.raises(Exception) as theirs:
        ERRORS[number](torch)
    with pytest.raises(theirs.type):
        ERRORS[number](ag)


@pytest.mark.parametrize("batch_first, side, trailing", list(itertools.product([False, True], ["left", "right"], [(), (2,), (2, 3)])))
def test_padding(batch_first, side, trailing):
    leaves, others = zip(*(both((n, *trailing), n) for n in (2, 4, 1)))
    mine = packing.pad_sequence(leaves, batch_first, -1.0, side)
    theirs = torch_packing.pad_sequence(list(others), batch_first, -1.0, side)
    same(mine, theirs)
    (mine ** 2).sum().backward()
    (theirs ** 2).sum().backward()
    same([x.grad for x in leaves], [x.grad for x in others])
    if side == "right":
        lengths = [2, 4, 1]
        same(packing.unpad_sequence(mine, ag.tensor(lengths), batch_first), list(leaves))


@pytest.mark.parametrize("batch_first", [False, True])
def test_packing(batch_first):
    mine, theirs = both((4, 3, 2))
    lengths = [1, 3, 2, 2] if batch_first else [2, 4, 1]
    packed = packing.pack_padded_sequence(mine, ag.tensor(lengths), batch_first, False)
    other = torch_packing.pack_padded_sequence(theirs, torch.tensor(lengths), batch_first, False)
    assert packed._fields == other._fields
    for a, b in zip(packed, other):
        assert a.tolist() == b.tolist()
    for more in ({}, {"padding_value": 2.0, "total_length": 6}):
        same(packing.pad_packed_sequence(packed, batch_first, **more), torch_packing.pad_packed_sequence(other, batch_first, **more))
    same(packing.unpack_sequence(packed), torch_packing.unpack_sequence(other))
    assert packed.float().data.dtype == np.float32 and packed.double() is packed
    order = ag.tensor([2, 0, 1])
    assert packing.invert_permutation(order).tolist() == [1, 2, 0] and packing.invert_permutation(None) is None


def test_packing_integers_and_lists():
    lists = [[1, 2, 3], [4, 5], [6]]
    packed = packing.pack_sequence([ag.tensor(x) for x in lists])
    assert packed.data.tolist() == [1, 4, 6, 2, 5, 3] and packed.batch_sizes.tolist() == [3, 2, 1]
    assert [x.tolist() for x in packing.unpack_sequence(packed)] == lists
