"""What a subclass of Module relies on: one body, run with our nn and with PyTorch's, must tell the same."""

import copy
import pickle

import numpy as np
import pytest

import autograd as ag

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch, the yardstick, is not installed")
BODIES = []


def body(function):
    BODIES.append(function)
    return function


def net(t):
    nn = t.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.register_buffer("mean", t.ones(3))
            self.register_buffer("scratch", t.zeros(1), persistent=False)
            self.register_parameter("absent", None)
            self.scale = nn.Parameter(t.full((3,), 2.0))
            self.shared = self.fc

        def forward(self, x, twice=False):
            return self.fc(x) * self.scale + self.mean * (2 if twice else 1)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.Sequential(Block(), Block())
            self.none = None
            self.head = nn.Linear(3, 2, bias=False)
            self.head_again = self.head

        def forward(self, x):
            return self.head(self.blocks(x))

    model = Net()
    for i, p in enumerate(model.parameters()):
        with t.no_grad():
            p.copy_(t.arange(p.numel()).reshape(p.shape) * 0.1 - i)
    return model


def names(pairs):
    return [(n, tuple(v.shape)) if hasattr(v, "shape") else (n, type(v).__name__) for n, v in pairs]


@body
def walking(t):
    m = net(t)
    return [names(m.named_parameters()), names(m.named_parameters(remove_duplicate=False)), names(m.named_buffers()), names(m.named_modules()),
            names(m.named_modules(remove_duplicate=False)), names(m.named_children()), len(list(m.children())), names(m.blocks[0].named_parameters(recurse=False)),
            names(m.named_parameters(prefix="p")), list(m.state_dict()), sorted(m.blocks[0]._parameters), sorted(m.blocks[0]._buffers),
            list(m._modules), m.blocks[0]._parameters["absent"], len(m.blocks._modules)]


@body
def finding(t):
    m = net(t)
    out = [type(m.get_submodule(n)).__name__ for n in ("", "blocks", "blocks.1.fc")]
    out += [tuple(m.get_parameter("blocks.0.fc.weight").shape), tuple(m.get_buffer("blocks.1.mean").shape)]
    for call in (lambda: m.get_submodule("blocks.7"), lambda: m.get_parameter("blocks.0.mean"), lambda: m.get_buffer("head.weight"), lambda: m.get_submodule("head.weight"),
                 lambda: m.nothing, lambda: m.register_buffer("a.b", None), lambda: m.register_buffer("", None), lambda: m.register_buffer("head", None),
                 lambda: m.register_parameter("x", t.ones(1)), lambda: m.add_module("x", t.ones(1)), lambda: m.register_buffer("x", 3), lambda: m.add_module("forward", None),
                 lambda: setattr(m.head, "weight", t.ones(2, 3)), lambda: setattr(m, "head", 3), lambda: setattr(m.blocks[0], "mean", 3), lambda: m.train(1)):
        try:
            call()
            out.append("no error")
        except Exception as error:
            out.append(type(error).__name__)
    return out


@body
def replacing(t):
    m = net(t)
    m.head = t.nn.Identity() if hasattr(t.nn, "Identity") else t.nn.Flatten(-1)
    m.blocks[0].scale = None
    m.blocks[1].mean = None
    m.blocks[1].scale = t.nn.Parameter(t.ones(1))
    del m.head_again
    m.extra = t.nn.Parameter(t.ones(2))
    m.blocks.add_module("last", None)
    m.blocks[0].mean = t.zeros(5)
    return [list(m.state_dict()), names(m.named_parameters()), "extra" in dict(m.named_parameters())]


@body
def states(t):
    a, b = net(t), net(t)
    with t.no_grad():
        for p in a.parameters():
            p.add_(7)
    out = [str(b.load_state_dict(a.state_dict()))]
    out += [bool((p == q).all()) for p, q in zip(a.parameters(), b.parameters())]
    state = a.state_dict()
    state.pop("blocks.0.mean")
    state["stranger"] = t.ones(1)
    state["blocks.9.x"] = t.ones(1)
    keys = b.load_state_dict(state, strict=False)
    out += [keys.missing_keys, keys.unexpected_keys]
    try:
        b.load_state_dict(state)
    except RuntimeError as error:
        out += ["stranger" in str(error), "blocks.0.mean" in str(error)]
    c = net(t)
    c.load_state_dict({k: v.clone() * 2 for k, v in a.state_dict().items()}, assign=True)
    out += [isinstance(c.head.weight, t.nn.Parameter), c.head.weight.requires_grad, float(c.head.weight.sum())]
    out += [list(a.state_dict(prefix="p.")), a.state_dict(keep_vars=True)["head.weight"] is a.head.weight]
    return out


@body
def state_hooks(t):
    m, log = net(t), []
    m.register_state_dict_pre_hook(lambda mod, prefix, keep: log.append(("pre", prefix, keep)))
    m.register_state_dict_post_hook(lambda mod, state, prefix, meta: log.append(state.pop("head.weight").sum().item()))
    m.blocks.register_load_state_dict_pre_hook(lambda mod, state, prefix, meta, strict, missing, unexpected, errors: log.append((prefix, strict)))
    m.register_load_state_dict_post_hook(lambda mod, keys: log.append(list(keys.missing_keys)) or keys.missing_keys.clear())
    state = m.state_dict()
    return [list(state), str(m.load_state_dict(state)), log]


@body
def extra_state(t):
    class Counter(t.nn.Linear):
        count = 3

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    a, b = t.nn.Sequential(Counter(1, 1)), t.nn.Sequential(Counter(1, 1))
    a[0].count = 9
    b.load_state_dict(a.state_dict())
    return [list(a.state_dict()), b[0].count]


@body
def loading_of_ones_own(t):
    class Old(t.nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *args):
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel")
            super()._load_from_state_dict(state_dict, prefix, *args)

    m = t.nn.Sequential(Old(2, 2))
    done = m.load_state_dict({"0.kernel": t.ones(2, 2), "0.bias": t.zeros(2)})
    return [str(done), m[0].weight.tolist()]


@body
def forward_hooks(t):
    m, log = net(t), []
    block, x = m.blocks[0], t.ones(1, 3)
    handles = [
        block.register_forward_pre_hook(lambda mod, args: log.append(("pre", len(args)))),
        block.register_forward_pre_hook(lambda mod, args, kwargs: (args, {**kwargs, "twice": True}), with_kwargs=True),
        block.register_forward_hook(lambda mod, args, out: log.append("post")),
        block.register_forward_hook(lambda mod, args, kwargs, out: out * 2 if kwargs.get("twice") else None, with_kwargs=True),
        block.register_forward_hook(lambda mod, args, out: log.append("first"), prepend=True),
        block.register_forward_hook(lambda mod, args, out: log.append(("always", out is None)), always_call=True)]
    out = [block(x).tolist()]
    try:
        block(t.ones(1, 4))
    except Exception:
        log.append("raised")
    for handle in handles:
        handle.remove()
    return [out, block(x).tolist(), log]


@body
def backward_hooks(t):
    log = []
    m = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Linear(2, 1))
    for p in m.parameters():
        t.nn.init.constant_(p, 0.5)
    shape = lambda gs: [None if g is None else (tuple(g.shape), float(g.sum())) for g in gs]
    m[0].register_full_backward_hook(lambda mod, gi, go: log.append(("0", shape(gi), shape(go))))
    m[1].register_full_backward_hook(lambda mod, gi, go: (gi[0] * 10,))
    m[1].register_full_backward_pre_hook(lambda mod, go: (go[0] * 3,))
    x = t.ones(4, 2)
    m(x).sum().backward()
    y = t.ones(4, 2, requires_grad=True)
    m(y).sum().backward()
    return [log, [p.grad.tolist() for p in m.parameters()], y.grad.tolist()]


@body
def casting_and_copies(t):
    m = net(t)
    m.register_buffer("whole", t.tensor([1]))
    m.double()
    out = [str(m.head.weight.dtype).split(".")[-1], str(m.whole.dtype).split(".")[-1], m.head is m.head_again]
    c = copy.deepcopy(m)
    with t.no_grad():
        c.head.weight.zero_()
    out += [c.head is c.head_again, float(m.head.weight.abs().sum()) > 0, c.blocks[0].fc is c.blocks[0].shared, list(c.state_dict()) == list(m.state_dict())]
    m.requires_grad_(False)
    out += [any(p.requires_grad for p in m.parameters()), m.eval().training, m.blocks[0].training, m.train().blocks[1].training]
    m.half()
    out.append(str(m.head.weight.dtype).split(".")[-1])
    seen = []
    m.apply(lambda mod: seen.append(type(mod).__name__))
    return [*out, seen]


@body
def printed(t):
    return [repr(net(t)), repr(t.nn.Sequential())]


@needs_torch
@pytest.mark.parametrize("function", BODIES, ids=lambda f: f.__name__)
def test_the_same_as_pytorch(function):
    ours, theirs = function(ag), function(torch)
    assert len(ours) == len(theirs)
    for number, (a, b) in enumerate(zip(ours, theirs)):
        assert a == b, number


@pytest.mark.parametrize("function", BODIES, ids=lambda f: f.__name__)
def test_without_pytorch(function):
    assert function(ag)


def test_nothing_is_loaded_if_anything_does_not_fit():
    m = net(ag)
    before = {k: v.tolist() for k, v in m.state_dict().items()}
    state = {k: v.clone() + 1 for k, v in m.state_dict().items()}
    state["head.weight"] = ag.ones(9)
    with pytest.raises(RuntimeError, match=r"size mismatch for head.weight: .*\[9\].*\[2, 3\]"):
        m.load_state_dict(state)
    assert {k: v.tolist() for k, v in m.state_dict().items()} == before


def test_pickling():
    m = ag.nn.Sequential(ag.nn.Linear(2, 3), ag.nn.ReLU())
    again = pickle.loads(pickle.dumps(m))
    x = ag.ones(1, 2)
    np.testing.assert_array_equal(again(x).detach().numpy(), m(x).detach().numpy())
    assert isinstance(again[0].weight, ag.nn.Parameter)


def test_buffers_by_assignment():
    m = ag.nn.Linear(1, 1)
    m.mean, m.scratch = ag.nn.Buffer(ag.zeros(2)), ag.nn.Buffer(ag.zeros(2), persistent=False)
    assert list(m.state_dict()) == ["weight", "bias", "mean"] and [n for n, _ in m.named_buffers()] == ["mean", "scratch"]


def test_sync_batch_norm_is_a_name_that_refuses(monkeypatch):
    monkeypatch.setattr(ag.nn.SyncBatchNorm, "working", None)        # as where nobody imported dparallel
    assert not isinstance(ag.nn.BatchNorm2d(3), ag.nn.SyncBatchNorm)
    for use in (lambda: ag.nn.SyncBatchNorm(3), lambda: ag.nn.SyncBatchNorm.convert_sync_batchnorm(ag.nn.BatchNorm2d(3))):
        with pytest.raises(NotImplementedError, match="import dparallel"):
            use()
