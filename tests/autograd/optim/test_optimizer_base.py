"""What all optimisers share: groups, names, hooks, copies, pickles, subclasses in PyTorch's style."""

import copy
import importlib
import itertools
import pickle
import warnings

import numpy as np
import pytest
from both import needs_torch, torch
from optimizers import assert_same, give_gradients, ours, values

import autograd as ag
from autograd import nn, optim
from autograd.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
    required,
)

pytestmark = pytest.mark.quick

# --- groups -----------------------------------------------------------------------------------------------------------


@needs_torch
def test_named_parameters_and_groups_like_pytorch():
    packed = []
    for lib in (ag, torch):
        net = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.Linear(3, 1))
        o = lib.optim.AdamW(net.named_parameters(), lr=0.1)
        extra = lib.nn.Parameter(lib.ones(2))
        o.add_param_group({"params": [("extra", extra)], "lr": 0.5, "mine": "kept"})
        assert o.param_groups[1]["params"] == [extra] and o.param_groups[1]["weight_decay"] == 0.01
        for p in itertools.chain(net.parameters(), [extra]):
            p.grad = lib.ones_like(p)
        o.step()
        with pytest.raises(ValueError, match="with/without names"):
            o.add_param_group({"params": [lib.nn.Parameter(lib.ones(2))]})
        with pytest.raises(ValueError, match="Some param names are missing"):
            lib.optim.SGD([("a", extra), lib.nn.Parameter(lib.ones(1))])
        packed.append(o.state_dict())
        assert list(o.state) == [p for g in o.param_groups for p in g["params"]]
    a, b = packed
    assert repr(a["param_groups"]) == repr(b["param_groups"]) and a["param_groups"][1]["param_names"] == ["extra"]
    assert list(a["state"]) == list(b["state"]) == [0, 1, 2, 3, 4]


def test_misuse():
    w, b = nn.Parameter(ag.ones(2)), nn.Parameter(ag.ones(2))
    for error, bad in ((TypeError, lambda: optim.SGD(w)), (ValueError, lambda: optim.SGD([])), (TypeError, lambda: optim.SGD([3])),
                       (ValueError, lambda: optim.SGD([w * 1])), (ValueError, lambda: optim.SGD([{"params": [w]}, {"params": [w]}])), (TypeError, lambda: optim.SGD([{"params": {w, b}}])),
                       (TypeError, lambda: optim.SGD([w]).add_param_group([b])), (ValueError, lambda: optim.SGD([w]).add_param_group({"params": w}))):
        with pytest.raises(error):
            bad()
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([w, w])
    o = optim.Adam([w, b])
    state = o.state_dict()
    with pytest.raises(ValueError, match="number of parameter groups"):
        optim.Adam([{"params": [w]}, {"params": [b]}]).load_state_dict(state)
    with pytest.raises(ValueError, match="size of optimizer's group"):
        optim.Adam([w]).load_state_dict(state)
    w.grad = b.grad = ag.ones(2)
    o.step()
    before = [s["exp_avg"].tolist() for s in o.state.values()]
    wrong = copy.deepcopy(o.state_dict())
    wrong["state"][1]["exp_avg"] = ag.ones(5)
    wrong["state"][0]["exp_avg"] = ag.zeros(2)
    with pytest.raises(ValueError, match=r"exp_avg.*\[5\]"):
        o.load_state_dict(wrong)
    assert [s["exp_avg"].tolist() for s in o.state.values()] == before


@pytest.mark.filterwarnings("ignore:Using backward")
def test_zero_grad():
    w = nn.Parameter(ag.ones(2))
    o = optim.SGD([w])
    (w * w).sum().backward(create_graph=True)
    g = w.grad
    o.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0, 0] and not w.grad.requires_grad and (w.grad is g or w.grad.edge is None)
    o.zero_grad()
    assert w.grad is None


# --- state ------------------------------------------------------------------------------------------------------------


def test_users_may_write_to_the_state():
    """A state entry that is replaced or written to counts in the next step, and own entries do no harm."""
    for change in ("write", "replace", "clear", "number", "own"):
        p, o = ours("Adam", [(3,), (2,)], lr=0.1)
        q, single = zip(*((a, o) for a, o in (ours("Adam", [s], lr=0.1) for s in [(3,), (2,)])), strict=True)
        for (r,), original in zip(q, p, strict=True):
            r.data.copy_(original.detach())
        for step in range(6):
            give_gradients(9, p, [r for (r,) in q], missing=False)
            o.step()
            for s in single:
                s.step()
            if step == 2:
                for optimizer, x in ((o, p[0]), (single[0], q[0][0])):
                    state = optimizer.state[x]
                    assert state["step"].dtype == np.float32 and state["step"].shape == () and state["step"].item() == 3
                    if change == "write":
                        state["exp_avg"].mul_(2.0)
                    elif change == "replace":
                        state["exp_avg"] = state["exp_avg"] * 2
                    elif change == "clear":
                        optimizer.state[x] = {}
                    elif change == "number":
                        state["step"] += 5
                    else:
                        state["note"] = "mine"
        assert [a.tolist() for a in p] == [r.tolist() for (r,) in q], change
        steps = {"clear": 3, "number": 11}.get(change, 6)
        assert [o.state[x]["step"].item() for x in p] == [steps, 6]


def test_copies_and_pickles_go_on_alike():
    for name, options in (("AdamW", {"amsgrad": True}), ("SGD", {"momentum": 0.9}), ("NAdam", {}), ("Adafactor", {}), ("LAMB", {})):
        p, o = ours(name, [(3, 2), (2,)], **options)
        for step in range(3):
            give_gradients(step, p, missing=False)
            o.step()
        copied, loaded = copy.deepcopy(o), pickle.loads(pickle.dumps(o))
        lists = [p, *(other.param_groups[0]["params"] for other in (copied, loaded))]
        assert not {id(a) for a in lists[0]} & {id(a) for a in lists[1]}
        for step in range(3, 6):
            give_gradients(step, *lists, missing=False)
            for other in (o, copied, loaded):
                other.step()
        assert [a.tolist() for a in lists[0]] == [a.tolist() for a in lists[1]] == [a.tolist() for a in lists[2]], name
    net = nn.Linear(2, 2)
    net, o = copy.deepcopy((net, optim.SGD(net.parameters(), lr=1.0)))
    net.weight.grad = ag.ones(2, 2)
    before = net.weight.detach().clone()
    o.step()
    np.testing.assert_allclose(net.weight.detach().numpy(), before.numpy() - 1, atol=1e-6)


def test_flat_buffers_come_back_after_loading_and_serve_a_second_optimizer():
    p, o = ours("Adam", [(3,), (2, 2)])
    give_gradients(9, p, missing=False)
    o.step()
    o.load_state_dict(copy.deepcopy(o.state_dict()))
    o.step(), o.step()
    assert o.state[p[0]]["exp_avg"].array.base is o.state[p[1]]["exp_avg"].array.base is not None
    second = optim.SGD(p, momentum=0.9)
    second.step()
    assert p[0].array.base is p[1].array.base and len(second._flat_buffers[0][0].last_runs) == 1
    o.step()
    assert len(o._flat_buffers[0][0].last_runs) == 1


@pytest.mark.parametrize("alias", [lambda p: p.detach(), lambda p: p.data, lambda p: p.detach().numpy()])
def test_an_alias_of_a_parameter_is_not_left_behind(alias):
    """A parameter moves into the flat buffer only while nobody else holds its memory: base/references.py."""
    p, o = ours("SGD", [(3,), (2, 2), (4,)])
    held = alias(p[1])
    give_gradients(9, p, missing=False)
    o.step()
    assert p[0].array.base is p[2].array.base is not None and p[1].array.base is None
    assert (np.asarray(held) == p[1].detach().numpy()).all()
    del held
    o.step()
    assert p[0].array.base is p[1].array.base


def test_models_that_change_between_steps():
    """Casts, new memory, memory that is not contiguous, frozen parameters: the step goes on with what there is."""
    p, o = ours("Adam", [(3, 2), (2, 3), (4,)], lr=0.1)
    q, plain = ours("Adam", [(3, 2), (2, 3), (4,)], lr=0.1)
    held = [a.detach() for a in q]                              # one by one
    for step in range(8):
        if step == 2:
            for params in (p, q):
                params[1].data = ag.tensor(np.asfortranarray(params[1].detach().numpy()))
        if step == 4:
            for params in (p, q):
                for a in params:
                    a.grad = None
                    a.data = a.data.float()
        if step == 6:
            p[0].requires_grad = q[0].requires_grad = False
        give_gradients(20 + step, p, q, dtype=np.float64 if step < 4 else np.float32, missing=False)
        if step >= 6:
            p[0].grad = q[0].grad = None
        o.step(), plain.step()
    assert len(held) == 3 and [a.tolist() for a in p] == [a.tolist() for a in q] and p[0].dtype == np.float32


# --- hooks ------------------------------------------------------------------------------------------------------------


def hook_log(lib, register_pre, register_post):
    log = []
    w = lib.nn.Parameter(lib.ones(2))
    w.grad = lib.ones(2)
    o = lib.optim.SGD([w], lr=1.0)
    handles = [register_pre(lambda o, args, kwargs: log.append("global pre")), register_post(lambda o, args, kwargs: log.append("global post"))]
    o.register_step_pre_hook(lambda o, args, kwargs: log.append(("pre", len(args), sorted(kwargs))))
    o.register_step_pre_hook(lambda o, args, kwargs: ((args[0], lambda: log.append("closure") or 7), {}))
    o.register_step_post_hook(lambda o, args, kwargs: log.append(("post", len(args), w.tolist())))
    o.register_state_dict_pre_hook(lambda o: log.append("state pre"))
    o.register_state_dict_pre_hook(lambda o: log.append("state pre first"), prepend=True)
    o.register_state_dict_post_hook(lambda o, d: {**d, "extra": 1})
    o.register_load_state_dict_pre_hook(lambda o, d: log.append(sorted(d)) or {**d, "param_groups": [{**d["param_groups"][0], "lr": 0.25}]})
    handle = o.register_load_state_dict_post_hook(lambda o: log.append(("loaded", o.param_groups[0]["lr"])))
    log.append(o.step())
    state = o.state_dict()
    o.load_state_dict(state)
    handle.remove()
    for h in handles:
        h.remove()
    o.load_state_dict(state)
    o.step()
    o.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        o.step()
    return log


@needs_torch
def test_hooks_like_pytorch():
    other = importlib.import_module("torch.optim.optimizer")
    assert hook_log(ag, register_optimizer_step_pre_hook, register_optimizer_step_post_hook) == hook_log(
        torch, other.register_optimizer_step_pre_hook, other.register_optimizer_step_post_hook)


# --- subclasses -------------------------------------------------------------------------------------------------------


def make_lookalikes(lib, base, required):
    """Optimisers as repositories write them."""

    class Lion(base):
        def __init__(self, params, lr=1e-2, betas=(0.9, 0.99), weight_decay=0.1):
            super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))  # noqa: C408

        @lib.no_grad()
        def step(self, closure=None):
            loss = None
            if closure is not None:
                with lib.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    p.data.mul_(1 - group["lr"] * group["weight_decay"])
                    state = self.state[p]
                    if len(state) == 0:
                        state["exp_avg"] = lib.zeros_like(p)
                        state["step"] = 0
                    state["step"] += 1
                    beta1, beta2 = group["betas"]
                    update = state["exp_avg"].clone().mul_(beta1).add_(p.grad, alpha=1 - beta1).sign_()
                    p.add_(update, alpha=-group["lr"])
                    state["exp_avg"].mul_(beta2).add_(p.grad, alpha=1 - beta2)
            return loss

    class Clipped(lib.optim.Adam):
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.grad.data.clamp_(-0.5, 0.5)
            return super().step(closure)

    class Old(base):
        def __init__(self, params, lr=required):
            super().__init__(params, {"lr": lr})

        def __setstate__(self, state):
            super().__setstate__(state)
            for group in self.param_groups:
                group.setdefault("nesterov", False)

        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.data.add_(p.grad.data * -group["lr"])

    return Lion, Clipped, Old


@needs_torch
def test_subclasses_in_pytorchs_style():
    mine = make_lookalikes(ag, Optimizer, required)
    other = make_lookalikes(torch, torch.optim.Optimizer, importlib.import_module("torch.optim.optimizer").required)
    for a, b in zip(mine, other, strict=True):
        p = [nn.Parameter(ag.tensor(v)) for v in values([(3, 2), (2,)])]
        q = [torch.nn.Parameter(torch.tensor(v)) for v in values([(3, 2), (2,)])]
        o, r = a(p, lr=0.1), b(q, lr=0.1)
        schedules = optim.lr_scheduler.StepLR(o, 2), torch.optim.lr_scheduler.StepLR(r, 2)
        log = []
        o.register_step_post_hook(lambda o, args, kwargs: log.append(1))
        for step in range(6):
            give_gradients(9 + step, p, q, missing=False)
            assert (o.step(lambda: 5), r.step(lambda: 5))[0] in (5, None)
            for s in schedules:
                s.step()
            if step == 3:
                state = o.state_dict()
                hooks = o._optimizer_step_post_hooks
                o = a(p, lr=7.0)
                o.load_state_dict(state)
                o._optimizer_step_post_hooks = hooks
                schedules[0].optimizer = o
        assert_same(p, q)
        assert len(log) == 6
    with pytest.raises(ValueError, match="required optimization parameter lr"):
        mine[2]([nn.Parameter(ag.ones(1))])
    with pytest.raises(NotImplementedError):
        Optimizer([nn.Parameter(ag.ones(1))], {}).step()


def test_closures_record_inside_no_grad():
    w = nn.Parameter(ag.ones(2))
    o = optim.SGD([w], lr=0.5)

    def closure():
        o.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with ag.no_grad():
        assert o.step(closure).item() == 2
    assert w.tolist() == [0, 0]


# --- optimisers around optimisers --------------------------------------------------------------------------------------


def make_wrappers(lib):
    """Optimisers around optimisers: SAM (arXiv:2010.01412) and Lookahead (arXiv:1907.08610), as they are usually written."""

    class SAM(lib.optim.Optimizer):
        def __init__(self, params, base, rho=0.05, **options):
            super().__init__(params, {"rho": rho, **options})
            self.base = base(self.param_groups, **options)
            self.param_groups = self.base.param_groups
            self.defaults.update(self.base.defaults)

        @lib.no_grad()
        def step(self, closure=None):
            closure = lib.enable_grad()(closure)
            closure()
            norm = sum((p.grad ** 2).sum() for g in self.param_groups for p in g["params"]) ** 0.5
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p]["old_p"] = p.data.clone()
                    p.add_(p.grad * (group["rho"] / (norm + 1e-12)))
            self.zero_grad()
            loss = closure()
            for group in self.param_groups:
                for p in group["params"]:
                    p.data = self.state[p]["old_p"]
            self.base.step()
            self.zero_grad()
            return loss

    class Lookahead(lib.optim.Optimizer):
        def __init__(self, base, every=3, alpha=0.5):
            self.base, self.every, self.alpha, self.count = base, every, alpha, 0
            super().__init__(base.param_groups, base.defaults)
            self.param_groups = base.param_groups
            self.slow = [[p.clone().detach() for p in g["params"]] for g in self.param_groups]

        def step(self, closure=None):
            loss = self.base.step(closure)
            self.count += 1
            if self.count % self.every == 0:
                for group, slow in zip(self.param_groups, self.slow, strict=True):
                    for p, q in zip(group["params"], slow, strict=True):
                        q.data.add_(p.data - q.data, alpha=self.alpha)
                        p.data.copy_(q.data)
            return loss

    return (lambda p: SAM(p, lib.optim.AdamW, lr=0.05, weight_decay=0.1)), (lambda p: SAM(p, lib.optim.SGD, rho=0.3, lr=0.05, momentum=0.9)), (
        lambda p: Lookahead(lib.optim.Adam(p, lr=0.1)))


def test_a_wrapper_need_not_call_the_base_class():
    class Lookahead(optim.Optimizer):
        def __init__(self, base):
            self.base, self.param_groups, self.state = base, base.param_groups, base.state

        def step(self, closure=None):
            return self.base.step(closure)

    class Lars(optim.Optimizer):
        def __init__(self, base):
            self.base = base

        param_groups = property(lambda self: self.base.param_groups)
        state = property(lambda self: self.base.state)
        step = Lookahead.step

    for wrapper in (Lookahead, Lars):
        p = nn.Parameter(ag.tensor([1.0, 2.0]))
        o = wrapper(optim.SGD([p], lr=0.1, momentum=0.9))
        schedule = optim.lr_scheduler.StepLR(o, 1, 0.5)
        called = []
        handles = [o.register_step_pre_hook(lambda *a: called.append("pre")), o.register_step_post_hook(lambda *a: called.append("post"))]
        for _ in range(2):
            o.zero_grad()
            (p * p).sum().backward()
            o.step()
            schedule.step()
        assert called == ["pre", "post"] * 2 and np.allclose(p.tolist(), [0.63, 1.26])
        assert o.state_dict()["param_groups"][0]["lr"] == 0.025 and type(o).__name__ in repr(o)
        handles[0].remove()
        o.load_state_dict(o.state_dict())
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            _ = o.nonsense


@needs_torch
def test_optimizers_around_optimizers():
    for a, b in zip(make_wrappers(ag), make_wrappers(torch), strict=True):
        p = [nn.Parameter(ag.tensor(v)) for v in values([(3, 2), (2,)])]
        q = [torch.nn.Parameter(torch.tensor(v)) for v in values([(3, 2), (2,)])]
        for lib, params, make in ((ag, p, a), (torch, q, b)):
            o = make(params)
            schedule = lib.optim.lr_scheduler.CosineAnnealingLR(o, 10)

            def closure():
                o.zero_grad()
                loss = ((params[0] ** 2).sum(0) - lib.cos(params[1])).pow(2).sum()
                loss.backward()
                return loss

            for _ in range(8):
                o.step(closure)
                schedule.step()
        assert_same(p, q)


# --- a first step without gradients -----------------------------------------------------------------------------------

def warned(call):
    """The texts of the warnings, which are at the call's own line."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    assert all(w.category is UserWarning and w.filename == __file__ for w in seen)
    return [str(w.message) for w in seen]


@pytest.mark.parametrize("kind", [optim.SGD, optim.AdamW, optim.Adagrad, optim.Muon, optim.Rprop])
def test_a_first_step_without_gradients_warns_once(kind):
    net = nn.Linear(3, 2, bias=False)
    optimizer, other, first = (kind(model.parameters()) for model in (net, copy.deepcopy(net), copy.deepcopy(net)))
    (text,) = warned(lambda: first.step())
    assert "loss.backward() before" in text
    loss = net(ag.ones(4, 3)).sum()
    (text,) = warned(lambda: optimizer.step())
    assert text.startswith(f"{kind.__name__}.step(): none of the 1 parameters has a gradient") and "loss.backward() before" in text
    assert warned(lambda: optimizer.step()) == []
    loss.backward()
    (text,) = warned(lambda: other.step())
    assert text.startswith(f"{kind.__name__}.step(): none of the 1 parameters was used in a computation") and "of a copy" in text
    assert warned(lambda: other.step()) == []


def test_right_first_steps_do_not_warn():
    plotted = optim.SGD([nn.Parameter(ag.ones(2))], lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(plotted, 1)
    assert warned(lambda: (plotted.step(), scheduler.step())) == []

    class Evolution(Optimizer):
        """It needs no gradients."""

        def step(self, closure=None):
            pass

    net = nn.Linear(3, 2)

    def closure():
        optimizer.zero_grad()
        loss = net(ag.ones(4, 3)).sum()
        loss.backward()
        return loss

    for optimizer in (optim.LBFGS(net.parameters()), optim.SGD(net.parameters(), lr=0.1)):
        net.zero_grad()
        assert warned(lambda o=optimizer: o.step(closure)) == []
    net.zero_grad()
    assert warned(lambda: Evolution(net.parameters(), {}).step()) == []
    net(ag.ones(4, 3))[:, 0].sum().backward()
    optimizer = optim.Adam([{"params": [nn.Parameter(ag.ones(2))]}, {"params": net.parameters()}])
    assert warned(lambda: optimizer.step()) == []
    optimizer.zero_grad()
    assert warned(lambda: optimizer.step()) == []                          # later steps are not looked at
