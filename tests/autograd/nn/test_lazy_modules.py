"""Lazy layers and tensors without shape, beside PyTorch's."""

import copy
import io
import pickle

import numpy as np
import pytest

import autograd as ag

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Lazy modules are a new feature", "ignore::FutureWarning")
RNG = np.random.default_rng(0)

LAYERS = {                                           # name: arguments, shape of an input
    "Linear": ((4,), {}, (5, 6)), "Linear without bias": ((4,), {"bias": False}, (2, 5, 6)),
    "Conv1d": ((4, 3), {"padding": 1}, (2, 3, 8)), "Conv2d": ((4, 3), {"groups": 2}, (2, 4, 6, 5)),
    "Conv2d unbatched": ((4, 3), {"bias": False}, (3, 6, 5)), "Conv3d": ((2, 2), {"stride": 2}, (1, 3, 4, 4, 4)),
    "ConvTranspose1d": ((4, 3), {"stride": 2}, (2, 3, 5)), "ConvTranspose2d": ((4, (3, 2)), {"groups": 2}, (2, 4, 5, 5)),
    "ConvTranspose3d": ((2, 2), {}, (1, 3, 3, 3, 3)),
    "BatchNorm1d": ((), {}, (8, 3)), "BatchNorm2d": ((), {"affine": False}, (4, 3, 2, 2)),
    "BatchNorm3d": ((), {"track_running_stats": False}, (2, 3, 2, 2, 2)),
    "InstanceNorm1d": ((), {"affine": True, "track_running_stats": True}, (4, 3, 5)), "InstanceNorm2d": ((), {}, (4, 3, 2, 2)),
    "InstanceNorm3d": ((), {"affine": True, "track_running_stats": False}, (2, 3, 2, 2, 2)),
}


def layer(lib, name, lazy="Lazy", first=()):
    args, settings, _ = LAYERS[name]
    return getattr(lib.nn, lazy + name.split()[0])(*first, *args, **settings)


def kinds(module):
    """The class of every parameter and buffer that the state has."""
    return {name: type(value).__name__ for name, value in module.state_dict(keep_vars=True).items()}


def same(mine, theirs, tolerance=1e-9):
    np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", LAYERS)
def test_a_first_forward_makes_it_ordinary(name):
    shape = LAYERS[name][2]
    x = RNG.standard_normal(shape)
    mine, theirs = layer(ag, name).double(), layer(torch, name).double()
    assert repr(mine) == repr(theirs)
    assert kinds(mine) == kinds(theirs)
    assert mine.has_uninitialized_params() == theirs.has_uninitialized_params()
    weights = list(mine.parameters())
    theirs(torch.tensor(x))
    out = mine(ag.tensor(x))
    assert type(mine).__name__ == type(theirs).__name__ == name.split()[0]
    assert repr(mine) == repr(theirs)
    assert {k: tuple(v.shape) for k, v in mine.state_dict().items()} == {k: tuple(v.shape) for k, v in
                                                                         theirs.state_dict().items()}
    assert all(a is b for a, b in zip(weights, mine.parameters(), strict=True))     # an optimiser may hold them
    assert all(type(p) is ag.nn.Parameter and p.dtype == ag.float64 for p in weights)
    assert not mine._forward_pre_hooks and not mine._forward_pre_hooks_with_kwargs
    mine.load_state_dict({k: ag.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    out = mine(ag.tensor(x))
    same(out, theirs(torch.tensor(x)))
    if weights:
        out.sum().backward()
        assert weights[0].grad.shape == weights[0].shape


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"])
def test_copies_are_lazy_too_and_apart(name, copied):
    x = ag.tensor(RNG.standard_normal(LAYERS[name][2]), dtype=ag.float32)
    mine = layer(ag, name)
    other = copied(mine)
    assert kinds(other) == kinds(mine)
    other(x)
    assert not isinstance(other, type(mine))
    assert isinstance(mine, ag.nn.modules.lazy.LazyModuleMixin)
    mine(x)
    assert kinds(copied(mine)) == kinds(mine) == kinds(other)


@pytest.mark.parametrize("name", ["Linear", "Conv2d", "ConvTranspose1d", "BatchNorm1d", "InstanceNorm1d"])
def test_states(name):
    first = {"Linear": (6,), "Conv2d": (4,), "ConvTranspose1d": (3,)}.get(name, (3,))
    x = ag.tensor(RNG.standard_normal(LAYERS[name][2]), dtype=ag.float32)
    ordinary, lazy = layer(ag, name, "", first), layer(ag, name)
    state = lazy.state_dict()
    with pytest.raises(RuntimeError, match="shape of an uninitialized parameter or buffer"):
        ordinary.load_state_dict(state)
    lazy.load_state_dict(layer(ag, name).state_dict())
    assert lazy.has_uninitialized_params()                                          # nothing was there to load
    lazy.load_state_dict(ordinary.state_dict())
    assert not lazy.has_uninitialized_params()
    assert type(lazy).__name__.startswith("Lazy")
    np.testing.assert_array_equal(lazy(x).detach().numpy(), ordinary(x).detach().numpy())
    assert repr(lazy) == repr(ordinary)


def test_a_state_of_another_number_of_features():
    for lib in (ag, torch):
        lazy = lib.nn.LazyLinear(4)
        lazy.load_state_dict(lib.nn.Linear(6, 4).state_dict())
        with pytest.raises(AssertionError, match="The in_features inferred from input: 5 is not equal to in_features from "
                                                 "self.weight: 6"):
            lazy(lib.ones(2, 5))


@pytest.mark.parametrize("form", ["ours", "theirs"])
def test_files(form):
    """Our own files keep the dtype; PyTorch's keep requires_grad alone."""
    file = io.BytesIO()
    if form == "ours":
        ag.save(ag.nn.LazyBatchNorm2d(dtype=ag.float64).state_dict(), file)
    else:
        torch.save(torch.nn.LazyBatchNorm2d().state_dict(), file)
    file.seek(0)
    state = ag.load(file)
    assert [type(v).__name__ for v in state.values()] == ["UninitializedParameter"] * 2 + ["UninitializedBuffer"] * 2 + ["Tensor"]
    assert [v.requires_grad for v in state.values()] == [True] * 2 + [False] * 3
    assert state["weight"].dtype == (ag.float64 if form == "ours" else ag.float32)
    ag.nn.LazyBatchNorm2d().load_state_dict(state)


USES = {
    "add": lambda lib, p: lib.add(p, p), "operator": lambda lib, p: p + p, "empty_like": lambda lib, p: lib.empty_like(p),
    "mm": lambda lib, p: lib.mm(p, p), "sum": lambda lib, p: p.sum(), "detach": lambda lib, p: p.detach(),
    "clone": lambda lib, p: p.clone(), "index": lambda lib, p: p[0], "numel": lambda lib, p: p.numel(),
    "sigmoid": lambda lib, p: lib.sigmoid(p), "linear": lambda lib, p: lib.nn.functional.linear(lib.ones(2, 2), p),
    "uniform_": lambda lib, p: lib.nn.init.uniform_(p), "tolist": lambda lib, p: p.tolist(), "exp": lambda lib, p: p.exp(),
    "einsum": lambda lib, p: lib.einsum("i->i", p), "relu": lambda lib, p: lib.relu(p), "T": lambda lib, p: p.T,
    "item": lambda lib, p: p.item(), "view": lambda lib, p: p.view(-1), "zero_": lambda lib, p: p.zero_(),
    "silu": lambda lib, p: lib.nn.functional.silu(p), "len": lambda lib, p: len(p),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("cls", ["UninitializedParameter", "UninitializedBuffer"])
def test_what_has_no_shape_refuses_to_be_used(use, cls):
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
        USES[use](ag, getattr(ag.nn, cls)())


def test_what_can_be_asked():
    for lib in (ag, torch):
        for cls in (lib.nn.UninitializedParameter, lib.nn.UninitializedBuffer):
            p = cls(dtype=lib.float64)
            assert p.dtype == lib.float64
            assert p.requires_grad == (cls is lib.nn.UninitializedParameter)
            assert repr(p) == f"<{cls.__name__}>"
            assert p.is_floating_point()
            assert p.grad is None
            with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
                p.shape  # noqa: B018
            with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter or buffer"):
                p.share_memory_()
            p.materialize((2, 3), dtype=lib.float32)
            assert (tuple(p.shape), p.dtype) == ((2, 3), lib.float32)
            assert type(p) is (lib.nn.Parameter if cls is lib.nn.UninitializedParameter else lib.Tensor)


def test_modules_cast_what_has_no_shape():
    for lib in (ag, torch):
        module = lib.nn.Sequential(lib.nn.LazyLinear(2), lib.nn.LazyBatchNorm1d())
        module.half().to(lib.float64)
        assert {v.dtype for v in module.state_dict().values()} == {lib.float64, lib.int64}
        assert isinstance(module[1].running_mean, lib.nn.UninitializedBuffer)
        assert module(lib.ones(3, 4).double()).dtype == lib.float64


def test_a_chain_and_an_optimiser_made_before():
    results = []
    for lib in (ag, torch):
        net = lib.nn.Sequential(lib.nn.LazyLinear(8), lib.nn.ReLU(), lib.nn.LazyLinear(1))
        optimizer = lib.optim.Adam(net.parameters(), lr=0.1)
        net(lib.ones(5, 3))
        for p in net.parameters():
            p.data = lib.linspace(-1, 1, p.numel()).reshape(p.shape)
        (net(lib.ones(5, 3)) ** 2).sum().backward()
        optimizer.step()
        results.append([p.detach().numpy() for p in net.parameters()])
        with pytest.raises(ValueError, match="ninitialized parameter"):
            lib.optim.Adagrad(lib.nn.LazyLinear(2).parameters())
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


def test_a_lazy_module_of_ones_own():
    for lib in (ag, torch):
        seen = []

        class Scale(lib.nn.modules.lazy.LazyModuleMixin, lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = lib.nn.UninitializedParameter()
                self.spare = lib.nn.UninitializedBuffer(persistent=False)

            def initialize_parameters(self, x, *, scale):
                self.weight.materialize(x.shape[-1:])
                lib.nn.init.constant_(self.weight, scale)
                if scale != 3:
                    self.spare.materialize((1,))

            def forward(self, x, *, scale):
                return x * self.weight

        module = Scale()
        module.register_forward_pre_hook(lambda m, args: seen.append(tuple(m.weight.shape)))
        assert list(module.state_dict()) == ["weight"]
        assert module(lib.ones(2, 4), scale=2).sum() == 16
        assert seen == [(4,)]
        assert isinstance(module, Scale)                                            # no cls_to_become
        assert module(lib.ones(4), scale=5).sum() == 8
        with pytest.raises(RuntimeError, match="module Scale has not been fully initialized"):
            Scale()(lib.ones(2), scale=3)
        bare = type("Bare", (lib.nn.modules.lazy.LazyModuleMixin, lib.nn.Module), {})()
        with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for Bare"):
            bare(lib.ones(2))


@pytest.mark.parametrize("name", ["WeightNorm", "SpectralNorm"])
def test_norms_want_a_forward_first(name):
    for lib in (ag, torch):
        with pytest.raises(ValueError, match=f"The module passed to `{name}` can't have uninitialized parameters"):
            (lib.nn.utils.weight_norm if name == "WeightNorm" else lib.nn.utils.spectral_norm)(lib.nn.LazyLinear(7))


def test_wrong_inputs():
    for lib in (ag, torch):
        with pytest.raises(RuntimeError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d, but got input "
                                               r"of size: .*\[3\]"):
            lib.nn.LazyConv2d(4, 3)(lib.ones(3))
        with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
            lib.nn.LazyConv2d(4, 3, groups=2)(lib.ones(1, 3, 5, 5))
