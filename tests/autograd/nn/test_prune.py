"""nn.utils.prune beside PyTorch's; the random methods by what must hold of their masks."""

import pickle

import numpy as np
import pytest

import autograd as ag
from autograd.nn.utils import prune

torch = pytest.importorskip("torch")
import torch.nn.utils.prune as theirs  # noqa: E402

RNG = np.random.default_rng(0)


def layers():
    """The same convolution twice."""
    other = torch.nn.Conv2d(4, 6, 3).double()
    mine = ag.nn.Conv2d(4, 6, 3).double()
    mine.load_state_dict({k: ag.tensor(v.numpy()) for k, v in other.state_dict().items()})
    return mine, other


def same(mine, other):
    """State, parameters, and the output with its gradients."""
    assert [n for n, _ in mine.named_parameters()] == [n for n, _ in other.named_parameters()]
    assert [n for n, _ in mine.named_buffers()] == [n for n, _ in other.named_buffers()]
    x = RNG.standard_normal((2, 4, 5, 5))
    a, b = mine(ag.tensor(x)), other(torch.tensor(x))
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12)
    mine.zero_grad()
    other.zero_grad()
    (a ** 2).sum().backward()
    (b ** 2).sum().backward()
    for (name, p), (_, q) in zip(mine.named_parameters(), other.named_parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-9, atol=1e-12, err_msg=name)
    for (name, p), (_, q) in zip(mine.state_dict().items(), other.state_dict().items(), strict=True):
        np.testing.assert_allclose(p.numpy(), q.numpy(), err_msg=name)
    assert prune.is_pruned(mine) == theirs.is_pruned(other)
    assert [type(h).__name__ for h in mine._forward_pre_hooks.values()] == [
        type(h).__name__ for h in other._forward_pre_hooks.values()]


def both(change, mine, other):
    change(ag, prune, mine)
    change(torch, theirs, other)


STEPS = {
    "identity": lambda lib, p, m: p.identity(m, "weight"),
    "l1 fraction": lambda lib, p, m: p.l1_unstructured(m, "weight", amount=0.3),
    "l1 number": lambda lib, p, m: p.l1_unstructured(m, "bias", amount=2),
    "l1 none": lambda lib, p, m: p.l1_unstructured(m, "weight", amount=0),
    "l1 all": lambda lib, p, m: p.l1_unstructured(m, "weight", amount=1.0),
    "l1 scores": lambda lib, p, m: p.l1_unstructured(m, "weight", amount=0.5, importance_scores=lib.arange(
        m.weight.numel(), dtype=lib.float64).view(m.weight.shape)),
    "l2 channels": lambda lib, p, m: p.ln_structured(m, "weight", amount=0.5, n=2, dim=0),
    "l1 last dimension": lambda lib, p, m: p.ln_structured(m, "weight", amount=1, n=1, dim=-1),
    "max norm": lambda lib, p, m: p.ln_structured(m, "weight", amount=2, n=float("inf"), dim=1),
    "mask": lambda lib, p, m: p.custom_from_mask(m, "bias", lib.tensor([1, 0, 1, 1, 0, 1])),
}
CHAINS = [["l1 fraction"], ["l1 number"], ["l1 none"], ["l1 all"], ["l1 scores"], ["l2 channels"], ["l1 last dimension"],
          ["max norm"], ["mask"], ["identity"], ["identity", "l1 fraction", "l1 fraction"], ["l2 channels", "l1 fraction", "max norm"],
          ["l1 fraction", "l2 channels", "l2 channels"], ["l1 number", "mask", "l1 fraction", "l1 none"]]


@pytest.mark.parametrize("chain", CHAINS, ids=",".join)
def test_methods_one_after_another(chain):
    mine, other = layers()
    for name in chain:
        both(STEPS[name], mine, other)
        same(mine, other)
    both(lambda lib, p, m: lib.optim.SGD(m.parameters(), lr=0.1).step(), mine, other)
    same(mine, other)                                # the product is taken anew before each forward
    for name in ("weight", "bias"):
        if hasattr(mine, name + "_orig"):
            held = getattr(mine, name + "_orig")
            both(lambda lib, p, m, name=name: p.remove(m, name), mine, other)
            assert getattr(mine, name) is held       # an optimiser may hold it
    same(mine, other)
    assert not prune.is_pruned(mine)


def test_global_pruning_and_scores():
    for scores in (False, True):
        pairs = [layers(), layers()]

        def change(lib, p, first, second, scores=scores):
            given = {(first, "weight"): lib.ones(first.weight.shape, dtype=lib.float64)} if scores else None
            parameters = ((m, name) for m, name in [(first, "weight"), (second, "weight"), (second, "bias")])
            p.l1_unstructured(first, "weight", amount=0.2)
            p.global_unstructured(list(parameters), pruning_method=p.L1Unstructured, importance_scores=given, amount=0.4)

        change(ag, prune, pairs[0][0], pairs[1][0])
        change(torch, theirs, pairs[0][1], pairs[1][1])
        if not scores:                               # equal scores: which of them are kept is the library's choice
            same(*pairs[0])
            same(*pairs[1])
        counts = [[int((b == 0).sum()) for m in side for b in m.buffers()] for side in zip(*pairs, strict=True)]
        assert sum(counts[0]) == sum(counts[1])


@pytest.mark.parametrize("amount, zeros", [(0.25, 54), (7, 7), (0, 0), (0.0, 0), (1.0, 216), (216, 216)])
def test_random_elements(amount, zeros):
    module = ag.nn.Conv2d(4, 6, 3)
    prune.random_unstructured(module, "weight", amount)
    assert int((module.weight_mask == 0).sum()) == zeros
    assert ((module.weight == 0) == (module.weight_mask == 0)).all()


def test_random_elements_again_are_drawn_from_those_left():
    module = ag.nn.Linear(10, 10)
    prune.random_unstructured(module, "weight", 0.5)
    before = module.weight_mask.clone()
    prune.random_unstructured(module, "weight", 0.5)
    assert int((module.weight_mask == 0).sum()) == 75
    assert (module.weight_mask <= before).all()
    assert len(module._forward_pre_hooks) == 1


@pytest.mark.parametrize("amount, channels", [(0.5, 3), (2, 2), (0, 0)])
def test_random_channels(amount, channels):
    module = ag.nn.Conv2d(4, 6, 3)
    prune.random_structured(module, "weight", amount, dim=0)
    gone = (module.weight_mask == 0).view(6, -1)
    assert sorted(gone.sum(1).tolist()) == [0] * (6 - channels) + [36] * channels
    prune.random_structured(module, "weight", 1, dim=0)
    assert sorted((module.weight_mask == 0).view(6, -1).sum(1).tolist()).count(36) == channels + 1


ERRORS = {
    "amount's type": lambda lib, p: p.L1Unstructured(amount="yes"),
    "negative": lambda lib, p: p.RandomUnstructured(amount=-1),
    "fraction": lambda lib, p: p.RandomStructured(amount=1.1),
    "too many": lambda lib, p: p.l1_unstructured(lib.nn.Linear(2, 2), "weight", amount=5),
    "too many channels": lambda lib, p: p.ln_structured(lib.nn.Linear(2, 2), "weight", amount=5, n=2, dim=0),
    "channels of a vector": lambda lib, p: p.random_structured(lib.nn.Linear(2, 2), "bias", amount=1, dim=0),
    "dimension": lambda lib, p: p.ln_structured(lib.nn.Linear(2, 2), "weight", amount=1, n=2, dim=2),
    "remove": lambda lib, p: p.remove(lib.nn.Linear(2, 2), "weight"),
    "global of nothing": lambda lib, p: p.global_unstructured(1, p.L1Unstructured),
    "global scores": lambda lib, p: p.global_unstructured([], p.L1Unstructured, importance_scores=[]),
    "global structured": lambda lib, p: p.global_unstructured([(lib.nn.Linear(2, 2), "weight")], p.LnStructured, amount=1, n=2),
    "no method": lambda lib, p: p.PruningContainer().add_pruning_method(3),
    "scores' shape": lambda lib, p: p.l1_unstructured(lib.nn.Linear(2, 2), "weight", 1, importance_scores=lib.ones(3)),
    "mask's shape": lambda lib, p: p.custom_from_mask(lib.nn.Linear(2, 2), "weight", lib.ones(3)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    raised = []
    for lib, p in ((ag, prune), (torch, theirs)):
        with pytest.raises((TypeError, ValueError, IndexError, AssertionError)) as error:
            ERRORS[name](lib, p)
        raised.append((error.type, str(error.value).replace("torch.", "").replace("autograd.", "")))
    assert raised[0][0] is raised[1][0]
    if "method" not in name and "structured" not in name:
        assert raised[0][1] == raised[1][1]


def test_after_an_error_the_module_is_as_before():
    class Failing(prune.L1Unstructured):
        def compute_mask(self, t, default_mask):
            raise RuntimeError("no mask")

    module = ag.nn.Linear(3, 2)
    weight = module.weight
    with pytest.raises(RuntimeError, match="no mask"):
        Failing.apply(module, "weight", amount=1)
    assert module.weight is weight
    assert sorted(module.state_dict()) == ["bias", "weight"]
    assert not prune.is_pruned(module)


def test_tensors_are_pruned_without_a_module():
    values = RNG.standard_normal((5, 4))
    for method in ("L1Unstructured", "LnStructured"):
        settings = {"amount": 2} if method == "L1Unstructured" else {"amount": 2, "n": 2, "dim": 0}
        results = []
        for lib, p in ((ag, prune), (torch, theirs)):
            mask = lib.ones(5, 4, dtype=lib.float64)
            mask[0] = 0
            results.append(getattr(p, method)(**settings).prune(lib.tensor(values), default_mask=mask).numpy())
        np.testing.assert_array_equal(*results)


def test_states_and_methods_are_saved():
    mine, other = layers()
    both(STEPS["l1 fraction"], mine, other)
    again = ag.nn.Conv2d(4, 6, 3).double()
    prune.identity(again, "weight")
    again.load_state_dict(mine.state_dict())
    x = ag.tensor(RNG.standard_normal((1, 4, 5, 5)))
    np.testing.assert_array_equal(again(x).detach().numpy(), mine(x).detach().numpy())
    method = next(iter(mine._forward_pre_hooks.values()))
    assert pickle.loads(pickle.dumps(method)).amount == 0.3


def test_a_method_that_was_never_applied():
    method, module = prune.L1Unstructured(amount=1), ag.nn.Linear(2, 2)
    with pytest.raises(AssertionError, match="has to be pruned before pruning can be removed"):
        method.remove(module)
    with pytest.raises(AssertionError, match="has to be pruned"):
        method.apply_mask(module)
