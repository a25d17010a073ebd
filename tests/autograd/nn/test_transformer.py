"""MultiheadAttention and the transformers beside PyTorch's."""

import itertools
import warnings

import numpy as np
import pytest

import autograd as ag

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor", "ignore:Support for mismatched", "ignore:.*prototype stage")

RNG = np.random.default_rng(0)


def pair(make):
    """The same module twice, in double precision, with PyTorch's weights made larger, so that biases count."""
    theirs, mine = make(torch).double(), make(ag).double()
    assert list(mine.state_dict()) == list(theirs.state_dict())
    with torch.no_grad():
        for p in theirs.parameters():
            p.add_(torch.randn_like(p) * 0.2)
    mine.load_state_dict({k: ag.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    return mine, theirs


def leaf(values):
    """The same leaf, or mask, twice."""
    kind = values.dtype.kind == "f"
    return ag.tensor(values, requires_grad=kind), torch.tensor(values, requires_grad=kind)


def close(a, b, tolerance=1e-9):
    assert (a is None) == (b is None)
    if a is not None:
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=tolerance, atol=tolerance)


def compare(mine, theirs, inputs, call):
    """Outputs and all gradients of call(module, *inputs, the library)."""
    pairs = [leaf(x) for x in inputs]
    outs = call(mine, *[p[0] for p in pairs], ag), call(theirs, *[p[1] for p in pairs], torch)
    outs = [out if isinstance(out, tuple) else (out,) for out in outs]
    assert len(outs[0]) == len(outs[1])
    for a, b in zip(*outs):
        close(a, b)
    for n, library in enumerate((ag, torch)):
        sum((library.sin(out) * out).sum() for out in outs[n] if out is not None).backward()
    for a, b in pairs:
        close(a.grad, b.grad)
    named = dict(theirs.named_parameters())
    for name, p in mine.named_parameters():
        close(p.grad, named[name].grad)


def padding(n, length):
    """True for the last elements of all but the first sequence."""
    return np.arange(length) >= length - np.arange(n)[:, None]


ATTENTION = [{}, {"bias": False}, {"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 6, "vdim": 10}, {"kdim": 6},
             {"batch_first": True}, {"batch_first": True, "add_bias_kv": True, "add_zero_attn": True, "vdim": 3}]
MASKS = ["", "padding", "bool", "float", "three", "padding bool", "padding float"]


@pytest.mark.parametrize("kwargs", ATTENTION, ids=str)
@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("weights", [{}, {"need_weights": False}, {"average_attn_weights": False}], ids=str)
def test_attention(kwargs, masks, weights):
    mine, theirs = pair(lambda t: t.nn.MultiheadAttention(8, 2, **kwargs))
    n, length, keys = 3, 4, 5
    query, key, value = (RNG.standard_normal((size, n, features)) for size, features in
                         ((length, 8), (keys, kwargs.get("kdim", 8)), (keys, kwargs.get("vdim", 8))))
    if kwargs.get("batch_first"):
        query, key, value = (np.swapaxes(x, 0, 1) for x in (query, key, value))
    upper = np.triu(np.ones((length, keys), bool), 2)
    given = {}
    if "padding" in masks:
        given["key_padding_mask"] = padding(n, keys)
    if "bool" in masks:
        given["attn_mask"] = upper
    if "float" in masks:
        given["attn_mask"] = RNG.standard_normal((length, keys))
    if masks == "three":
        given["attn_mask"] = RNG.random((n * 2, length, keys)) > 0.8

    def call(module, q, k, v, t):
        return module(q, k, v, **{name: t.tensor(m) for name, m in given.items()}, **weights)

    compare(mine, theirs, [query, key, value], call)


@pytest.mark.parametrize("causal, need_weights", list(itertools.product([False, True], [False, True])))
@pytest.mark.parametrize("batched", [False, True])
def test_self_attention(causal, need_weights, batched):
    mine, theirs = pair(lambda t: t.nn.MultiheadAttention(8, 4, batch_first=True))
    x = RNG.standard_normal((2, 5, 8) if batched else (5, 8))

    def call(module, x, t):
        mask = t.nn.Transformer.generate_square_subsequent_mask(5).to(x.dtype)
        return module(x, x, x, attn_mask=mask if causal else None, is_causal=causal, need_weights=need_weights)

    compare(mine, theirs, [x], call)


def test_attention_starts_as_in_pytorch():
    ag.manual_seed(0), torch.manual_seed(0)
    mine, theirs = (t.nn.MultiheadAttention(64, 4, add_bias_kv=True) for t in (ag, torch))
    assert repr(mine) == repr(theirs)
    assert mine.in_proj_bias.abs().max() == 0 and mine.out_proj.bias.abs().max() == 0
    for (name, a), b in zip(mine.named_parameters(), theirs.parameters()):
        a, b = a.detach().numpy(), b.detach().numpy()
        assert abs(a.std() - b.std()) <= 0.3 * b.std(), name
        if "weight" in name:
            assert abs(np.abs(a).max() - np.abs(b).max()) < 0.02 * np.abs(b).max(), name


def test_attention_dropout():
    module = ag.nn.MultiheadAttention(8, 2, dropout=0.5)
    x = ag.randn(4, 3, 8)
    assert (module(x, x, x)[0] != module(x, x, x)[0]).any()
    module.eval()
    assert (module(x, x, x)[0] == module(x, x, x)[0]).all()


LAYERS = [{}, {"norm_first": True}, {"activation": "gelu", "batch_first": True}, {"bias": False}, {"layer_norm_eps": 0.1, "batch_first": True, "norm_first": True}]


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("masked", ["", "causal", "hint", "padding"])
@pytest.mark.parametrize("kwargs", LAYERS, ids=str)
def test_encoder(kwargs, masked, batched):
    def make(t):
        return t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(8, 2, 12, 0.0, **kwargs), 2, t.nn.LayerNorm(8) if masked else None)
    mine, theirs = pair(make)
    x = RNG.standard_normal(((3, 5, 8) if kwargs.get("batch_first") else (5, 3, 8)) if batched else (5, 8))

    def call(module, x, t):
        mask = t.nn.Transformer.generate_square_subsequent_mask(5, dtype=t.float64)
        padded = t.tensor(padding(3, 5) if batched else padding(2, 5)[1]) if masked == "padding" else None
        hint = {"is_causal": True} if masked == "hint" else {}
        return module(x, mask if masked in ("causal", "hint") else None, padded, **hint)

    compare(mine, theirs, [x], call)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kwargs", LAYERS, ids=str)
def test_decoder(kwargs, masked):
    mine, theirs = pair(lambda t: t.nn.TransformerDecoder(t.nn.TransformerDecoderLayer(8, 2, 12, 0.0, **kwargs), 2))
    tgt, memory = RNG.standard_normal((4, 3, 8)), RNG.standard_normal((5, 3, 8))
    if kwargs.get("batch_first"):
        tgt, memory = np.swapaxes(tgt, 0, 1), np.swapaxes(memory, 0, 1)

    def call(module, tgt, memory, t):
        if not masked:
            return module(tgt, memory)
        return module(tgt, memory, t.nn.Transformer.generate_square_subsequent_mask(4, dtype=t.float64),
                      t.tensor(np.triu(np.ones((4, 5), bool), 3)), t.tensor(padding(3, 4)), t.tensor(padding(3, 5)))

    compare(mine, theirs, [tgt, memory], call)


@pytest.mark.parametrize("kwargs", LAYERS, ids=str)
def test_transformer(kwargs):
    mine, theirs = pair(lambda t: t.nn.Transformer(8, 2, 1, 2, 12, 0.0, **kwargs))
    src, tgt = RNG.standard_normal((5, 3, 8)), RNG.standard_normal((4, 3, 8))
    if kwargs.get("batch_first"):
        src, tgt = np.swapaxes(src, 0, 1), np.swapaxes(tgt, 0, 1)

    def call(module, src, tgt, t):
        mask = t.nn.Transformer.generate_square_subsequent_mask(4, dtype=t.float64)
        return module(src, tgt, tgt_mask=mask, src_key_padding_mask=t.tensor(padding(3, 5)),
                      memory_key_padding_mask=t.tensor(padding(3, 5)), tgt_is_causal=True)

    compare(mine, theirs, [src, tgt], call)


def test_activations():
    x = RNG.standard_normal((4, 2, 8))
    for activation in (lambda t: t.tanh, lambda t: t.nn.functional.gelu, lambda t: t.nn.Tanh()):
        compare(*pair(lambda t: t.nn.TransformerEncoderLayer(8, 2, 12, 0.0, activation(t))), [x], lambda module, x, t: module(x))
        compare(*pair(lambda t: t.nn.TransformerDecoderLayer(8, 2, 12, 0.0, activation(t))), [x], lambda module, x, t: module(x, x))
    with pytest.raises(RuntimeError, match="relu/gelu"):
        ag.nn.TransformerEncoderLayer(8, 2, activation="tanh")


@pytest.mark.parametrize("norm, nested, right", list(itertools.product([False, True], [False, True], [True, False])))
def test_padding_in_evaluation(norm, nested, right):
    """Where PyTorch leaves padding out, its outputs there are 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, theirs = pair(lambda t: t.nn.TransformerEncoder(
            t.nn.TransformerEncoderLayer(8, 2, 12, batch_first=True), 2, t.nn.LayerNorm(8) if norm else None, nested))
        mask = padding(3, 5) if right else padding(3, 5)[:, ::-1].copy()
        x = RNG.standard_normal((3, 5, 8))
        with torch.no_grad(), ag.no_grad():
            theirs.eval()
            mine.eval()
            close(mine(ag.tensor(x), src_key_padding_mask=ag.tensor(mask)),
                  theirs(torch.tensor(x), src_key_padding_mask=torch.tensor(mask)), 1e-6)


@pytest.mark.parametrize("make", [
    lambda t: t.nn.MultiheadAttention(8, 3), lambda t: t.nn.MultiheadAttention(0, 1),
    lambda t: t.nn.MultiheadAttention(8, 2)(t.zeros(3, 8), t.zeros(3, 1, 8), t.zeros(3, 8)),
    lambda t: t.nn.MultiheadAttention(8, 2)(*[t.zeros(3, 1, 8)] * 3, attn_mask=t.zeros(2, 3)),
    lambda t: t.nn.MultiheadAttention(8, 2)(*[t.zeros(3, 1, 8)] * 3, attn_mask=t.zeros(3, 3, dtype=t.int64)),
    lambda t: t.nn.MultiheadAttention(8, 2)(*[t.zeros(3, 1, 8)] * 3, is_causal=True),
    lambda t: t.nn.Transformer(8, 2, 1, 1, 8)(t.zeros(3, 2, 8), t.zeros(3, 1, 8)),
    lambda t: t.nn.Transformer(8, 2, 1, 1, 8)(t.zeros(3, 2, 8), t.zeros(3, 2, 7)),
], ids=range(8))
def test_errors_are_of_the_same_class(make):
    with pytest.raises(Exception) as theirs:
        make(torch)
    with pytest.raises(theirs.type):
        make(ag)


def test_second_derivatives():
    module = ag.nn.TransformerEncoderLayer(4, 2, 6, 0.0, "gelu").double()
    x = ag.tensor(RNG.standard_normal((3, 2, 4)), requires_grad=True)
    assert ag.gradgradcheck(module, [x], fast_mode=True)
