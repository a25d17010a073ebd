"""Tables of optimisers and their arguments, and the means to run one beside PyTorch's."""

import numpy as np
from both import torch

import autograd as ag
from autograd import nn, optim

SHAPES = [(4, 3), (3,), (2, 3, 2), (1,), (5, 2), ()]
MATRICES = [(4, 3), (3, 7), (5, 5)]

CASES = [("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}), ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "maximize": True}),
         ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}), ("SGD", {"weight_decay": 0.1, "foreach": True})]
for adam in ("Adam", "AdamW"):
    CASES += [(adam, {}), (adam, {"lr": 0.05, "betas": (0.5, 0.8), "eps": 1e-3, "weight_decay": 0.1}), (adam, {"lr": 0.1, "amsgrad": True, "maximize": True}),
              (adam, {"lr": 0.1, "amsgrad": True, "weight_decay": 0.2, "foreach": True})]
CASES += [
    ("Adam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}), ("Adam", {"lr": 0.1, "fused": True}),
    ("Adamax", {}), ("Adamax", {"lr": 0.1, "betas": (0.6, 0.7), "eps": 1e-2, "weight_decay": 0.1}), ("Adamax", {"lr": 0.1, "maximize": True}),
    ("NAdam", {}), ("NAdam", {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.1, "momentum_decay": 0.05}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("RAdam", {}), ("RAdam", {"lr": 0.1, "betas": (0.8, 0.95), "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}), ("RAdam", {"lr": 0.1, "betas": (0.9, 0.5)}),
    ("Adagrad", {}), ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3}),
    ("Adagrad", {"lr": 0.1, "maximize": True}), ("Adadelta", {}), ("Adadelta", {"lr": 0.5, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("RMSprop", {}), ("RMSprop", {"lr": 0.05, "alpha": 0.8, "eps": 1e-4, "weight_decay": 0.1, "momentum": 0.9, "centered": True}),
    ("RMSprop", {"centered": True, "maximize": True}), ("RMSprop", {"momentum": 0.5}),
    ("Rprop", {}), ("Rprop", {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (1e-2, 0.2), "maximize": True}),
    ("ASGD", {}), ("ASGD", {"lr": 0.1, "lambd": 0.01, "alpha": 0.5, "t0": 3, "weight_decay": 0.1}), ("ASGD", {"maximize": True, "t0": 1}),
    ("Adafactor", {}), ("Adafactor", {"lr": 0.1, "beta2_decay": -0.5, "eps": (1e-3, 1e-2), "d": 1.5, "weight_decay": 0.1, "maximize": True}),
    ("Muon", {}), ("Muon", {"lr": 0.1, "weight_decay": 0, "momentum": 0.5, "nesterov": False, "ns_steps": 3}),
    ("Muon", {"lr": 0.1, "adjust_lr_fn": "match_rms_adamw", "ns_coefficients": (3.0, -4.0, 2.0)})]
IDS = [f"{name}-{'-'.join(f'{k}={v}' for k, v in options.items())}" for name, options in CASES]


def shapes_of(name):
    return MATRICES if name == "Muon" else SHAPES


def values(shapes, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


def ours(name, shapes, groups=1, dtype=np.float64, **options):
    params = [nn.Parameter(ag.tensor(v)) for v in values(shapes, dtype=dtype)]
    return params, getattr(optim, name)(grouped(params, groups), **options)


def theirs(name, shapes, groups=1, dtype=np.float64, **options):
    params = [torch.nn.Parameter(torch.tensor(v)) for v in values(shapes, dtype=dtype)]
    return params, getattr(torch.optim, name)(grouped(params, groups), **options)


def grouped(params, groups):
    if groups == 1:
        return params
    return [{"params": params[:2]}, {"params": params[2:], "lr": 0.03}]


def give_gradients(step, *lists, dtype=np.float64, missing=True):
    """The same random gradients for the parameters of both libraries; on some steps some have none."""
    rng = np.random.default_rng(100 + step)
    for i, params in enumerate(zip(*lists, strict=True)):
        g = rng.standard_normal(tuple(params[0].shape)).astype(dtype)
        for p in params:
            if missing and ((step == 3 and i == 1) or (step in (5, 6) and i % 2 == 0) or (step == 0 and i == 2)):
                p.grad = None
            else:
                p.grad = ag.tensor(g) if isinstance(p, ag.Tensor) else torch.tensor(g)


def assert_same(p, q, tolerance=1e-10):
    for a, b in zip(p, q, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=tolerance, atol=tolerance)


def assert_same_state(mine, other, tolerance=1e-10):
    """Two state dicts: the same keys in the same order, the same types and values."""
    mine, other = mine.state_dict(), other.state_dict()
    assert list(mine["state"]) == list(other["state"])
    for k, state in mine["state"].items():
        assert list(state) == list(other["state"][k])
        for name, value in state.items():
            b = other["state"][k][name]
            assert isinstance(value, ag.Tensor) == torch.is_tensor(b), name
            if torch.is_tensor(b):
                assert tuple(value.shape) == tuple(b.shape) and str(value.dtype) == str(b.dtype), name
                np.testing.assert_allclose(value.numpy(), b.numpy(), rtol=tolerance, atol=tolerance, err_msg=name)
    assert len(mine["param_groups"]) == len(other["param_groups"])
    for a, b in zip(mine["param_groups"], other["param_groups"], strict=True):
        assert {k: repr(v) for k, v in a.items()} == {k: repr(v) for k, v in b.items()}
        assert list(a) == list(b)


def as_ours(state_dict):
    """A PyTorch state dict with its tensors converted."""
    def convert(x):
        if torch.is_tensor(x):
            return ag.tensor(x.numpy())
        if isinstance(x, dict):
            return {k: convert(v) for k, v in x.items()}
        return [convert(v) for v in x] if isinstance(x, list) else x
    return {"state": convert(state_dict["state"]), "param_groups": state_dict["param_groups"]}
