"""What a subclass of Module relies on: one body, run with our nn and with PyTorch's, must tell the same."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from both import needs_torch, torch

import autograd as ag
from autograd.base import plugins

pytestmark = pytest.mark.quick

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
def backward_hooks_everywhere(t):
    """Double backward, inputs without a gradient, outputs nobody uses, dicts, the older form, and hooks of all modules."""
    log = []
    seen = lambda gs: [None if g is None else g.tolist() for g in gs]
    note = lambda name: lambda mod, gi, go: log.append((name, seen(gi), seen(go)))

    class Two(t.nn.Module):
        def forward(self, x, n=None, mask=None):
            return x * x, x * mask if isinstance(mask, t.Tensor) else x

    class Dict(t.nn.Module):
        def forward(self, x):
            return {"y": x * 3}

    m = Two()
    m.register_full_backward_hook(note("two"))
    m.register_full_backward_pre_hook(lambda mod, go: log.append(("before", seen(go))))
    x, mask = t.tensor([1.0, 2.0], requires_grad=True), t.tensor([1.0, 0.0])
    y, z = m(x, 3, mask)
    out = [y.requires_grad, z.requires_grad, mask.requires_grad]
    g, = t.autograd.grad(y.sum(), x, create_graph=True)
    (g * g).sum().backward()
    (m(x, mask=mask)[1]).sum().backward()
    with t.no_grad():
        m(x)
    log.append(x.grad.tolist())

    class Asks(t.nn.Module):
        def forward(self, x, mask):
            log.append(("inside", x.requires_grad, mask.requires_grad))
            return x * mask

    m = Asks()
    m.register_full_backward_hook(note("asks"))
    m(x, mask).sum().backward()
    w = t.nn.Parameter(t.ones(2))
    m(mask, mask * w).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = t.nn.Linear(2, 1)
        t.nn.init.ones_(m.weight)
        m.register_full_backward_hook(note("no input"))
        m(mask).sum().backward()
        d = Dict()
        d.register_backward_hook(lambda mod, gi, go: log.append(("old", seen(go))))
        d(x)["y"].sum().backward()
        d = Two()
        d.register_backward_hook(lambda mod, gi, go: (gi[0] * 10, *gi[1:]))
        x.grad = None
        d(x)[0].sum().backward()
        log.append(x.grad.tolist())
    for first, second in (("", "full_"), ("full_", "")):
        d = Dict()
        getattr(d, f"register_{first}backward_hook")(print)
        with pytest.raises(RuntimeError, match="Cannot use both"):
            getattr(d, f"register_{second}backward_hook")(print)
    names = lambda kind: lambda mod, *rest: log.append((kind, type(mod).__name__))
    h = t.nn.modules.module
    handles = [h.register_module_forward_pre_hook(names("pre")), h.register_module_forward_hook(names("post")),
               h.register_module_full_backward_pre_hook(names("back pre")), h.register_module_full_backward_hook(names("back"))]
    try:
        m = t.nn.Sequential(inner := t.nn.Identity(), t.nn.Tanh())
        inner.register_forward_hook(lambda mod, a, y: log.append("own"))
        m(x).sum().backward()
        with pytest.raises(RuntimeError, match="Cannot use both"):
            h.register_module_backward_hook(print)
    finally:
        for handle in handles:
            handle.remove()
    m(x).sum().backward()

    m = t.nn.Identity()
    m.register_forward_hook(lambda mod, args, kwargs, y: log.append(("always", len(args), list(kwargs), y is not None)),
                            with_kwargs=True, always_call=True)

    def fails(mod, a, y):
        raise KeyError("planted")

    m.register_forward_hook(fails, prepend=True)
    with pytest.raises(KeyError):
        m(x)
    return [out, log]


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


DTYPES = "complex64 complex128 float16 float32 float64 bfloat16 int64 bool".split()
CASTS = ["double", "float", "half", "bfloat16", *DTYPES[:6]]


@body
def casts(t):
    """Parameters and buffers of every dtype through every cast."""
    out = []
    for how in CASTS:
        m = t.nn.Module()
        for dtype in DTYPES:
            value = t.ones(2, dtype=getattr(t, dtype)) * (1 + 2j if "complex" in dtype else 1)
            m.register_buffer(f"b_{dtype}", value)
            if dtype not in ("int64", "bool"):
                m.register_parameter(f"p_{dtype}", t.nn.Parameter(value.clone()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")          # of imaginary parts that to() drops
            m.to(getattr(t, how)) if how in DTYPES and how != "bfloat16" else getattr(m, how)()
        out += [(how, name, str(v.dtype).removeprefix("torch."), complex(v.to(t.complex128)[0])) for name, v in m.state_dict().items()]
    return out


@body
def getattr_by_hand(t):
    """super().__getattr__(name), in a subclass that falls back on something else."""
    class Wrapper(t.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner
            self.own = t.nn.Parameter(t.ones(1))

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

        @property
        def fails(self):
            return self.nowhere

    m = Wrapper(t.nn.BatchNorm1d(3))
    norm = t.nn.BatchNorm1d(2)
    norm.register_buffer("none", None)
    norm.register_parameter("nothing", None)
    norm.act = t.nn.ReLU()
    out = [tuple(m.weight.shape), m.num_features, tuple(m.own.shape), m.inner is m.__getattr__("inner"),
           *[repr(t.nn.Module.__getattr__(norm, name)) for name in ("weight", "running_mean", "act", "none", "nothing")],
           hasattr(norm, "absent"), getattr(norm, "absent", 5), t.nn.Parameter().numel(), t.nn.Parameter().requires_grad,
           t.nn.Parameter(requires_grad=False).requires_grad, t.nn.Buffer().numel()]
    for ask in (lambda: norm.absent, lambda: norm.__getattr__("absent"), lambda: m.fails):
        try:
            ask()
        except AttributeError as error:
            out.append(str(error).split("'")[-2] if ask is not m else "")
    return out[:-1]


@body
def editing_the_dicts(t):
    """What code that knows the dicts of a module does: reading, writing and deleting in them is seen everywhere."""
    nn, x, log = t.nn, t.ones(2, 3), []
    m = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    linear, norm = m[0], m[1]
    dicts = [[c.__name__ for c in type(getattr(norm, name)).__mro__ if c.__module__ in ("builtins", "collections")] for name in (
        "_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "_forward_hooks", "_forward_pre_hooks_with_kwargs")]
    weight = linear._parameters.pop("weight")
    out = [dicts, hasattr(linear, "weight"), [n for n, _ in m.named_parameters()], list(m.state_dict())]
    linear.weight = weight * 0 + 2                   # a plain attribute, as of a computed weight
    out += [m(x).shape, "weight" in linear.__dict__, "weight" in dict(linear.named_parameters())]
    linear._parameters["weight"] = nn.Parameter(t.zeros(3, 3))
    out += [float(linear.weight.sum()), linear(x).tolist()[0] == linear.bias.tolist()]
    del linear.weight
    out += [float(linear.weight.detach().sum()), "weight" in linear.__dict__]
    norm._buffers["running_mean"] = t.full((3,), 7.0)
    norm._buffers["more"], norm._buffers["none"] = t.ones(1), None
    norm._non_persistent_buffers_set.add("more")
    out += [norm.running_mean.tolist(), [n for n, _ in norm.named_buffers()], list(norm.state_dict()), norm.none]
    m._modules["1"], m._modules["last"] = nn.Identity(), None
    out += [type(m[1]).__name__, repr(m), [n for n, _ in m.named_children()], len(m)]
    del m._modules["last"], norm.more, norm.weight
    out += [list(norm._buffers), list(norm._parameters), sorted(norm._non_persistent_buffers_set), len(m)]
    handles = [linear.register_forward_hook(lambda *a, name=name: log.append(name), always_call=True) for name in "ab"]
    linear._forward_hooks.move_to_end(handles[1].id, last=False)
    m(x)
    handles[0].remove()
    m(x)
    out += [log, list(linear._forward_hooks) == [handles[1].id] == list(linear._forward_hooks_always_called)]
    linear._forward_hooks.clear()
    m(x)
    return [*out, len(log)]


@body
def versions_in_the_state(t):
    """_metadata of a state: written, read by hooks and by loading, kept by consume_prefix and by copies."""
    nn, seen = t.nn, []

    class Old(nn.Module):
        _version = 3

        def __init__(self):
            super().__init__()
            self.norm, self.fc = nn.BatchNorm2d(2), nn.Linear(1, 1)

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            seen.append(local_metadata.get("version"))
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    m = nn.ModuleDict({"old": Old(), "act": nn.ReLU()})
    m.register_state_dict_post_hook(lambda module, state, prefix, local: local.update(note=1))
    state = m.state_dict()
    out = [{k: dict(v) for k, v in state._metadata.items()}, dict(copy.deepcopy(state)._metadata[""])]
    m.load_state_dict(state)
    m.load_state_dict(dict(state))                   # a plain dict knows no versions
    tracked = state.pop("old.norm.num_batches_tracked")
    try:
        m.load_state_dict(state)
    except RuntimeError as error:
        out.append("num_batches_tracked" in str(error))
    state._metadata["old.norm"]["version"] = 1       # of before there was num_batches_tracked
    m.load_state_dict(state)
    state["old.norm.num_batches_tracked"] = tracked
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "old.")
    return [*out, seen, list(state), list(state._metadata), [type(x).__name__ for x in (state, m.state_dict())]]


@body
def names_and_moves(t):
    nn, out = t.nn, []

    class Named:
        def __init__(self, word="none"):
            super().__init__()
            self.word = word

    class Both(nn.Module, Named):
        call_super_init = True

    class One(nn.Module, Named):
        pass

    class Calls(nn.Module):
        def __init__(self, *args, **kwargs):
            nn.Module.__init__(self, *args, **kwargs)

    out += [Both("given").word, Both(word="x").word, hasattr(One(), "word"), "0" in dir(nn.Sequential(nn.ReLU()))]
    m, f32, cpu = nn.Linear(2, 2), t.float32, t.device("cpu")
    m.five = 5
    m.weight.detach()
    version = m.weight._version
    m._apply(lambda x: x.add_(1))
    out.append(m.weight._version > version)
    attempts = [lambda: setattr(m, "five", nn.Buffer(t.ones(1))), lambda: setattr(m, "weight", nn.Buffer(t.ones(1))),
                lambda: Calls(1), lambda: Calls(a=1), lambda: m.to(cpu, True), lambda: m.to(None, True), lambda: m.to(f32, True),
                lambda: m.to(t.int64), lambda: m.to(cpu, t.int64, True), lambda: m.to("cpu", copy=True),
                lambda: m.to("cpu", f32, True, True), lambda: m.to(cpu, f32, True, False), lambda: m.to(m.weight, True),
                lambda: m.to("cpu", None, True), lambda: m.to(device="cpu", dtype=f32, non_blocking=True)]
    for attempt in attempts:
        try:
            attempt()
            out.append("done")
        except (KeyError, TypeError, RuntimeError) as error:
            out.append(type(error).__name__)
    conv = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).to(memory_format=t.channels_last)
    out += [conv[0].weight.stride(), conv[0].weight.is_contiguous(memory_format=t.channels_last),
            conv.to(memory_format=t.contiguous_format)[0].weight.stride()]
    return out


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


@pytest.mark.parametrize("change, words", [
    (lambda s: s.update({"head.weight": ag.ones(9)}), r"size mismatch for head.weight: .*\[9\].*\[2, 3\]"),
    (lambda s: s.update({"head.weight": np.ones(9)}), "size mismatch for head.weight"),
    (lambda s: s.pop("blocks.0.mean"), "Missing key"), (lambda s: s.update(stranger=1), "Unexpected key")])
def test_nothing_is_loaded_if_anything_does_not_fit(change, words):
    m = net(ag)
    before = {k: v.tolist() for k, v in m.state_dict().items()}
    state = {k: v.clone() + 1 for k, v in m.state_dict().items()}
    change(state)
    with pytest.raises(RuntimeError, match=words):
        m.load_state_dict(state)
    assert {k: v.tolist() for k, v in m.state_dict().items()} == before


def test_copies_share_tensors_but_no_dict():
    m = ag.nn.Sequential(ag.nn.BatchNorm1d(2))
    for twin in (copy.copy(m[0]), m[0]._replicate_for_data_parallel()):
        assert twin.weight is m[0].weight and type(twin) is ag.nn.BatchNorm1d
        twin.running_mean, twin.more = None, ag.nn.Buffer(ag.ones(1), persistent=False)
        del twin._parameters["bias"]
    assert list(m.state_dict()) == ["0.weight", "0.bias", "0.running_mean", "0.running_var", "0.num_batches_tracked"]
    assert not m[0]._non_persistent_buffers_set


def test_a_class_that_does_not_call_the_constructor():
    """PyTorch raises an error where such a module gets a parameter; here the dicts are created when they are first used."""
    class Scale(ag.nn.Module):
        def __init__(self):
            self.factor = ag.nn.Parameter(ag.ones(2))

    class Late(Scale):
        def __init__(self):
            super().__init__()
            ag.nn.Module.__init__(self)

    class Plain(ag.nn.Module):
        def __init__(self):
            self.by = 2

        def forward(self, x):
            return x * self.by

    assert list(Scale().state_dict()) == list(Late().state_dict()) == ["factor"]
    assert Plain()(ag.ones(1)).tolist() == [2] and not list(Plain().parameters()) and repr(Plain()) == "Plain()"


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
    monkeypatch.setattr(plugins, "_table", dict)            # as where there is no plugin
    assert not isinstance(ag.nn.BatchNorm2d(3), ag.nn.SyncBatchNorm)
    for use in (lambda: ag.nn.SyncBatchNorm(3), lambda: ag.nn.SyncBatchNorm.convert_sync_batchnorm(ag.nn.BatchNorm2d(3))):
        with pytest.raises(NotImplementedError, match="autograd_plugins"):
            use()


def test_a_property_that_fails_says_why():
    class M(ag.nn.Module):
        @property
        def depth(self):
            return self.layers

    with pytest.raises(AttributeError, match="'M' object has no attribute 'layers'"):
        _ = M().depth


@pytest.mark.parametrize("where", [0, "cuda", "cuda:1", "meta"])
def test_other_devices_are_named(where):
    with pytest.raises(NotImplementedError, match=rf"to\(device='{where}'\): modules live in the CPU's memory"):
        ag.nn.Linear(1, 1).to(where)
