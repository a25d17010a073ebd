"""einops as it is published, on Tensors: values and gradients as with PyTorch's tensors, or NumPy's arrays."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import autograd as ag

einops = pytest.importorskip("einops", reason="einops is not installed")
A = np.random.default_rng(0).uniform(0.7, 1.3, (2, 4, 3))
REDUCTIONS = ("min", "max", "sum", "mean", "prod")
CALLS = [
    *(f"reduce(x, 'a b c -> {left}', '{op}')" for op in REDUCTIONS for left in ("", "b", "c a", "a 1 c")),
    *(f"reduce(x, 'a (b 2) (c k) -> a b c', '{op}', k=3)" for op in REDUCTIONS),
    "rearrange(x, 'a b c -> c b a')", "rearrange(x, 'a (h w) c -> (a h) w c', h=2)", "rearrange(x, '... c -> c ...')",
    "rearrange([x[0], x[1], x[0]], 'n h w -> h (n w)')", "rearrange(x, 'a b c -> (a b c)')", "rearrange(x, 'a b c -> a 1 b c 1')",
    "repeat(x, 'a b c -> a k b c', k=3)", "repeat(x, 'a b c -> (a 2) b (3 c)')", "repeat(x[0, 0, :1], '1 -> h w', h=2, w=3)",
    "reduce(x, 'a b c -> a c', np_or_ag.sum)", "einsum(x, x, 'a b c, d b c -> a d')", "einsum(x, 'a b c -> b')", "einsum(x, x, '... c, ... c -> ...')",
    "pack([x, x[:, 0]], 'a * c')[0]", "unpack(x, [(2,), (), (1,)], 'a * c')[0]", "unpack(pack([x, x[0]], '* c')[0], [(2, 4), (4,)], '* c')[1]",
]


@pytest.mark.parametrize("text", CALLS)
def test_values_and_gradients(text):
    def call(x, home):
        return eval(text, {**vars(einops), "x": x, "np_or_ag": home})

    x = ag.tensor(A, requires_grad=True)
    found, expected = call(x, ag), call(A, np)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12)
    assert type(found) is ag.Tensor and found.requires_grad
    assert ag.gradcheck(lambda x: call(x, ag), [x]) and ag.gradgradcheck(lambda x: call(x, ag), [x])


def test_what_is_no_float():
    flags = ag.tensor([[True, False], [True, True]])
    assert einops.reduce(flags, "a b -> a", "any").tolist() == [True, True] and einops.reduce(flags, "a b -> b", "all").tolist() == [True, False]
    numbers = ag.arange(6).reshape(2, 3)
    assert einops.reduce(numbers, "a b -> a", "max").tolist() == [2, 5] and einops.reduce(numbers, "a b -> a", "sum").dtype == ag.int64
    with pytest.raises(NotImplementedError, match="reduce_mean"):
        einops.reduce(numbers, "a b -> a", "mean")
    with pytest.raises(einops.EinopsError, match="can't divide"):
        einops.rearrange(numbers, "a (b c) -> a b c", c=2)
    assert type(einops.asnumpy(numbers * ag.ones(3, requires_grad=True))) is np.ndarray and einops.parse_shape(numbers, "a b") == {"a": 2, "b": 3}
    assert einops.repeat(ag.nn.Parameter(ag.ones(2)), "a -> a b", b=3).requires_grad
    views = einops.repeat(ag.zeros(2), "a -> b a", b=1000)
    assert views.stride() == (0, 1)                                       # nothing is copied
    with ag.autocast("cpu"):
        assert einops.einsum(ag.ones(2, 3), ag.ones(3, 2), "a b, b c -> a c").dtype == ag.bfloat16


def test_layers():
    from einops.layers.autograd import EinMix, Rearrange, Reduce
    x = ag.tensor(A, dtype=ag.float32, requires_grad=True)
    net = ag.nn.Sequential(Rearrange("a (b h) c -> a b h c", h=2), Reduce("a b h c -> a b c", "max"), EinMix("a b c -> a b d", "c d", "d", c=3, d=5),
                           EinMix("a b d -> a (b e)", "d e", d=5, e=2))
    for same in (net, copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert same(x).shape == (2, 4) and [name for name, _ in same.named_parameters()] == ["2.weight", "2.bias", "3.weight"]
        assert ag.equal(same(x), net(x))
    net(x).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in net.parameters())
    assert repr(net[0]) == "Rearrange('a (b h) c -> a b h c', h=2)"
    weight, bias = net[2].weight.detach().numpy(), net[2].bias.detach().numpy()
    np.testing.assert_allclose(net[2](x).detach().numpy(), A @ weight + bias, rtol=1e-5, atol=1e-6)
    assert abs(weight).max() <= (3 / 3) ** 0.5 and abs(bias).max() <= (1 / 3) ** 0.5 and weight.std() > 0.1
    torch = pytest.importorskip("torch")
    from einops.layers.torch import EinMix as Theirs
    theirs = Theirs("a b c -> a b d", "c d", "d", c=3, d=5)
    theirs.load_state_dict({name: torch.from_dlpack(value.detach()) for name, value in net[2].state_dict().items()})
    np.testing.assert_allclose(theirs(torch.tensor(A, dtype=torch.float32)).detach().numpy(), net[2](x).detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("first", ["import einops, autograd as ag", "import autograd as ag; assert not any('einops' in m for m in sys.modules); import einops"],
                         ids=["einops first", "autograd first"])
def test_it_registers_itself(first):
    code = f"import sys; {first}; assert einops.rearrange(ag.zeros(2, 3), 'a b -> b a').shape == (3, 2); import einops._backends as b; assert b.__loader__ is " \
           "b.__spec__.loader and type(b.__loader__).__name__ == 'SourceFileLoader'"
    subprocess.run([sys.executable, "-c", code], check=True)
