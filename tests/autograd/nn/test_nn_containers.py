"""Containers of modules and parameters: one body, run with our nn and with PyTorch's, must tell the same."""

import copy
import pickle
from collections import OrderedDict

import pytest

import autograd as ag

torch = pytest.importorskip("torch", reason="PyTorch, the yardstick, is not installed")
BODIES = []


def body(function):
    BODIES.append(function)
    return function


def told(call):
    """What a call gives, or which error it raises."""
    try:
        out = call()
        return out if isinstance(out, (int, str, list, tuple, bool)) or out is None else text(out)
    except Exception as error:
        return type(error).__name__


def text(x):
    return repr(x).replace("torch.FloatTensor", "float32").replace("torch.DoubleTensor", "float64").replace("torch.", "").replace("autograd.nn.modules.", "nn.modules.")


def layers(t, *sizes):
    return [t.nn.Linear(1, size) for size in sizes]


@body
def sequential(t):
    S = t.nn.Sequential
    a = S(*layers(t, 1, 2, 3, 4))
    out = [text(a), text(a[1:3]), text(a[-1]), text(a[::-2]), len(a), [m.out_features for m in a], list(a.state_dict())]
    a[1], a[-1] = layers(t, 7, 8)
    del a[0]
    out += [text(a), list(a.state_dict())]
    del a[1:]
    a.append(t.nn.ReLU()).extend([t.nn.Tanh(), t.nn.GELU()]).insert(1, t.nn.Sigmoid()).insert(-1, t.nn.SiLU()).insert(len(a), t.nn.ELU())
    out += [text(a), text(a.pop(0)), text(a.pop(-1)), text(a)]
    b = S(OrderedDict(x=t.nn.ReLU(), y=t.nn.Tanh(), z=t.nn.ELU()))
    out += [text(b), text(b[:2]), text(b.x), text(b + a), text(b * 2), text(2 * S(t.nn.ReLU()))]
    b += S(t.nn.Mish())
    out.append(text(b))
    del b[1]
    out.append(text(b))
    b *= 2
    return [*out, text(b), b[0] is b[3]]


@body
def sequential_errors(t):
    a, L = t.nn.Sequential(*layers(t, 1, 2)), t.nn.ReLU
    return [told(call) for call in (
        lambda: a + 1, lambda: a.__iadd__([L()]), lambda: a * 0, lambda: a * "a", lambda: a * 1.5, lambda: a[2], lambda: a[-3], lambda: a["0"], lambda: a.insert(3, L()), lambda: a.insert(0, 3),
        lambda: a.append(3), lambda: a.extend([3]), lambda: a.__setitem__(2, L()), lambda: a.__delitem__(2), lambda: a.pop(2), lambda: a.__setitem__(0, 3), lambda: t.nn.Sequential(3), lambda: t.nn.Sequential([L()]), lambda: len(a))]


@body
def module_list(t):
    M = t.nn.ModuleList
    a = M(layers(t, 1, 1, 2, 3, 3, 3))
    out = [text(a), text(a[1:4]), text(a[-1]), len(a), list(a.state_dict()), text(M()), text(M(None)), text(M(m for m in layers(t, 1)))]
    a[0] = t.nn.ReLU()
    a.append(t.nn.ELU())
    a.insert(1, t.nn.Tanh())
    a.insert(0, t.nn.SiLU())
    out += [text(a), text(a.pop(2)), text(a.pop(-1)), text(a)]
    del a[-1]
    del a[:2]
    a += layers(t, 9)
    out += [text(a), text(a + layers(t, 5)), text(a.extend(layers(t, 6))), list(a.state_dict()), t.nn.ReLU() in a, a[0] in a, text(list(reversed(a)))]
    out += [told(call) for call in (lambda: a[50], lambda: a.append(3), lambda: a.extend(3), lambda: a.extend([3]), lambda: a.pop(50), lambda: M(3), lambda: a.__setitem__(40, 3), lambda: a(1), lambda: a.__delitem__(40))]
    nested = t.nn.Sequential(M([M(layers(t, 1, 1)), t.nn.Sequential(*layers(t, 1, 1))]))
    return [*out, text(nested), list(nested.state_dict())]


@body
def module_dict(t):
    D = t.nn.ModuleDict
    d = D({"b": t.nn.ReLU(), "a": t.nn.Linear(1, 2)})
    out = [text(d), list(d), list(d.keys()), text(list(d.items())), text(list(d.values())), len(d), "a" in d, "z" in d, text(d["a"]), text(d.a), list(d.state_dict())]
    d["c"] = t.nn.Tanh()
    d["b"] = t.nn.ELU()
    d.update([("e", t.nn.ReLU()), ("d", t.nn.ReLU())])
    d.update(D(OrderedDict(y=t.nn.ReLU(), x=t.nn.ReLU())))
    del d["c"]
    out += [text(d), text(d.pop("a")), text(d), text(D([["k", t.nn.ReLU()]])), text(D())]
    out += [told(call) for call in (lambda: d.update(3), lambda: d.update([1]), lambda: d.update([(1, 2, 3)]), lambda: d["q"], lambda: d.pop("q"), lambda: d.update({1: t.nn.ReLU()}), lambda: d.__setitem__("q", 3),
                                    lambda: d.__setitem__("keys", t.nn.ReLU()), lambda: d.__setitem__("a.b", t.nn.ReLU()), lambda: D(3), lambda: d(1), lambda: d.__delitem__("q"))]
    d.clear()
    return [*out, text(d), len(d)]


@body
def parameter_list(t):
    P = t.nn.ParameterList
    p = P([t.ones(2, 3), t.nn.Parameter(t.zeros(1), requires_grad=False), t.nn.Parameter(t.ones(())), "text", 3])
    out = [text(p), len(p), list(p.state_dict()), [n for n, _ in p.named_parameters()], [x.requires_grad for x in list(p)[:3]], text(p[1:3]), p[-1], p[3], text(P()), text(P(None)), text(P([t.ones(2)]))]
    p[0] = t.zeros(4)
    p.append(t.ones(1)).extend([t.ones(2), t.ones(3)])
    p += [t.ones(5)]
    out += [text(p), type(p[0]).__name__, len(list(p.parameters()))]
    out += [told(call) for call in (lambda: p[50], lambda: p[-50], lambda: p.extend(3), lambda: p.extend(t.ones(2)), lambda: P(t.ones(2)), lambda: p + [1], lambda: p(1), lambda: p.__setitem__(50, t.ones(1)), lambda: p.__setitem__(0, 3), lambda: p.pop())]
    out.append(text(t.nn.Sequential(P([t.ones(2)]), P([t.ones(1), t.ones(2)]))))
    return out


@body
def parameter_dict(t):
    D = t.nn.ParameterDict
    d = D({"b": t.ones(2), "a": t.nn.Parameter(t.zeros(3)), "c": 4})
    out = [text(d), list(d), list(d.keys()), text(list(d.items())), text(list(d.values())), len(d), "a" in d, "z" in d, text(d["a"]), text(d.b), list(d.state_dict()), list(reversed(d)), list(D(OrderedDict(z=t.ones(1), a=t.ones(1))))]
    d["n"] = t.ones(1)
    d["a"] = t.ones(7)
    d.update([("z", t.ones(1)), ("y", t.ones(1))])
    d.update(OrderedDict(q=t.ones(1), p=t.ones(1)))
    d.update({"v": t.ones(1), "u": t.ones(1)})
    d.update(D(OrderedDict(h=t.ones(1), g=t.ones(1))))
    del d["c"]
    out += [text(d), text(d.copy()), d.copy()["a"] is d["a"], text(d.pop("a")), d.popitem()[0], text(d.get("q")), d.get("none"), d.get("none", 5), text(d.setdefault("s", t.ones(2))), text(d.setdefault("s", 3)), d.setdefault("null"), text(d)]
    out += [text(D().fromkeys(["x", "y"], t.ones(1))), text(d | {"new": t.ones(1)}), text(sorted({"new": 3} | d)), text(D() | D({"k": t.ones(1)}))]
    d |= {"last": t.ones(1)}
    out += [told(call) for call in (lambda: d["none"], lambda: d[1], lambda: d.pop("none"), lambda: d.update(3), lambda: D(["a"]), lambda: D([("a",)]), lambda: d(1), lambda: d.__delitem__("none"))]
    d.clear()
    return [*out, text(d), len(d), told(d.popitem), list(d.parameters())]


@body
def copies(t):
    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = t.nn.ModuleDict({"x": t.nn.ModuleList(layers(t, 2, 3))})
            self.b = t.nn.ParameterDict({"p": t.ones(2), "q": t.ones(1)})
            self.c = t.nn.ParameterList([t.ones(3), self.b["p"]])

    net = Net()
    twin = copy.deepcopy(net)
    for m in (twin.a, twin.b, twin.c):
        m.double()
    out = [text(net), text(twin), list(twin.state_dict()), len(list(twin.parameters())), twin.c[1] is twin.b["p"], twin.c[1] is net.c[1], str(net.load_state_dict(twin.state_dict()))]
    return [*out, text(pickle.loads(pickle.dumps(net.a))), text(pickle.loads(pickle.dumps(net.b))), text(pickle.loads(pickle.dumps(net.c)))]


@pytest.mark.parametrize("function", BODIES, ids=lambda f: f.__name__)
def test_the_same_as_pytorch(function):
    ours, theirs = function(ag), function(torch)
    assert len(ours) == len(theirs)
    for number, (a, b) in enumerate(zip(ours, theirs)):
        assert a == b, number
