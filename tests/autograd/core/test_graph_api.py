"""autograd.graph as PyTorch's: edges, hooks for several tensors, versions, what nodes show."""

import gc
import weakref

import pytest
from both import LIBS, function, leaf

import autograd as ag


def graph(lib):
    return lib.autograd.graph


def test_names_and_modules():
    from autograd import autograd
    from autograd.graph import GradientEdge, Node, get_gradient_edge, saved_tensors_hooks
    assert autograd.graph.Node is Node and autograd.graph.saved_tensors_hooks is saved_tensors_hooks
    assert isinstance(get_gradient_edge(leaf(ag, 1.0)), GradientEdge)
    for name in ("backward", "grad", "Function", "Variable", "gradcheck", "gradgradcheck", "no_grad", "enable_grad",
                 "set_grad_enabled", "inference_mode", "set_multithreading_enabled", "is_multithreading_enabled",
                 "detect_anomaly", "set_detect_anomaly", "graph", "functional", "forward_ad", "grad_mode", "anomaly_mode"):
        for lib in LIBS:
            assert hasattr(lib.autograd, name), (lib, name)


def test_nodes(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    y = (x * w).exp()
    node = y.grad_fn
    assert isinstance(node, graph(lib).Node) and node.name() == "ExpBackward0"
    (mul, number), = node.next_functions
    assert mul.name() == "MulBackward0" and number == 0
    ends = [n for n, _ in mul.next_functions]
    assert [n.variable is t for n, t in zip(ends, (x, w))] == [True, True] and ends[0].next_functions == ()
    assert (x * 2).grad_fn.next_functions[1] == (None, 0)
    node.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1} and y.grad_fn is node and node._sequence_nr() > mul._sequence_nr()
    f = function(lib, lambda ctx, x: x * 1, lambda ctx, g: g)
    assert isinstance(f.apply(x).grad_fn, graph(lib).Node)


def test_edges_stand_for_tensors(lib):
    g = graph(lib)
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    edge, end = g.get_gradient_edge(y), g.get_gradient_edge(x)
    assert edge.node is y.grad_fn and edge.output_nr == 0 and end.node.variable is x
    assert isinstance(edge, g.GradientEdge) and repr(edge).startswith("GradientEdge(node=")
    one = lib.ones(2, dtype=lib.float64)
    grad = lib.autograd.grad
    assert [v.tolist() for v in grad((y * 3).sum(), [edge, end], retain_graph=True)] == [[3, 3], [6, 6]]
    assert grad(edge, x, one, retain_graph=True)[0].tolist() == [2, 2]
    assert grad(g.GradientEdge(y.grad_fn, 0), x, one, retain_graph=True)[0].tolist() == [2, 2]
    assert grad(g.get_gradient_edge(y.sum()), end)[0].tolist() == [2, 2]
    lib.autograd.backward(end, one)
    assert x.grad.tolist() == [1, 1]
    h = x * 2
    (h * 3).sum().backward(inputs=[g.get_gradient_edge(h), end])
    assert x.grad.tolist() == [7, 7]
    w = leaf(lib, 5.0)
    assert grad((w * 2).sum(), end, allow_unused=True) == (None,)


def test_an_edge_needs_no_tensor(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    z = (y * 3).sum()
    edge = graph(lib).get_gradient_edge(y)
    del y
    assert lib.autograd.grad(z, edge)[0].item() == 3


def test_edges_of_the_outputs_of_a_function(lib):
    f = function(lib, lambda ctx, x: (x * 2, x * 3), lambda ctx, a, b: 2 * a + 3 * b)
    x = leaf(lib, 1.0)
    a, b = f.apply(x)
    edge = graph(lib).get_gradient_edge(b)
    assert edge.output_nr == 1
    assert lib.autograd.grad((a * b).sum(), edge)[0].item() == 2


@pytest.mark.parametrize("words, call", [
    ("does not require gradients", lambda lib, x, e: graph(lib).get_gradient_edge(lib.ones(1))),
    ("only for scalar outputs", lambda lib, x, e: lib.autograd.grad(e, x)),
    ("Mismatch in shape", lambda lib, x, e: lib.autograd.backward(e, lib.ones(3, dtype=lib.float64))),
    ("materialize_grads cannot be used when the given input is a GradientEdge",
     lambda lib, x, e: lib.autograd.grad((x * 2).sum(), e, materialize_grads=True)),
])
def test_errors_of_edges(lib, words, call):
    x = leaf(lib, 1.0, 2.0)
    with pytest.raises(RuntimeError, match=words):
        call(lib, x, graph(lib).get_gradient_edge(x * 2))


def test_a_hook_for_all(lib):
    a, b = leaf(lib, 1.0), leaf(lib, 2.0)
    c, d = a * b, a * b
    log = []
    handle = graph(lib).register_multi_grad_hook((a, b, c, d), lambda grads: log.append([g is not None for g in grads]))
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=(a,), retain_graph=True)
    assert log == [[True, True, True, False], [True, False, True, False]]
    if lib is ag:                                    # PyTorch refuses leaves in grad()
        lib.autograd.grad((c + d).sum(), [a, b], retain_graph=True)
        assert log.pop() == [True] * 4
    handle.remove()
    c.sum().backward()
    assert len(log) == 2


def test_a_hook_for_any(lib):
    a, b, n = leaf(lib, 1.0), leaf(lib, 2.0), lib.ones(1)
    c = a * b
    log = []
    handle = graph(lib).register_multi_grad_hook((a, b, c, n), lambda g: log.append(g.item()), mode="any")
    (c * 7).sum().backward(retain_graph=True)
    (c * 8).sum().backward()
    assert log == [7, 8]
    handle.remove()
    with pytest.raises(ValueError, match="all.*any"):
        graph(lib).register_multi_grad_hook((a,), print, mode="some")
    with pytest.raises((RuntimeError, AssertionError)):
        graph(lib).register_multi_grad_hook((n,), print)


def test_a_hook_for_all_after_a_pass_that_failed(lib):
    a, b = leaf(lib, 1.0), leaf(lib, 2.0)
    c = a * b
    calls, fail = [], [True]

    def planted(g):
        if fail[0]:
            raise KeyError("planted")

    b.register_hook(planted)
    graph(lib).register_multi_grad_hook((a, b, c), calls.append)
    with pytest.raises(KeyError):
        c.sum().backward(retain_graph=True)
    fail[0] = False
    c.sum().backward()
    assert len(calls) == 1 and all(g is not None for g in calls[0])


def test_increment_version(lib):
    x = leaf(lib, 1.0)
    h, k = x * 1, x * 1
    y = (h * h).sum()
    graph(lib).increment_version(h)
    graph(lib).increment_version([h, k])
    assert h._version == 2 and k._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    with lib.inference_mode():
        n = lib.ones(1)
    graph(lib).increment_version(n)


def test_what_nodes_show_of_what_they_saved(lib):
    x, w = leaf(lib, 1.0, 2.0), leaf(lib, 3.0, 4.0)
    y = x * w
    assert y.grad_fn._saved_self is x and y.grad_fn._saved_other is w
    assert (x * lib.ones(2, dtype=lib.float64)).grad_fn._saved_self is None
    z = x.exp()
    assert z.grad_fn._saved_result.tolist() == z.tolist() and z.grad_fn._saved_result.grad_fn is z.grad_fn
    f = function(lib, lambda ctx, x: ctx.save_for_backward(x, x * 2) or x * 1, lambda ctx, g: g * ctx.saved_tensors[1])
    u = f.apply(x)
    assert u.grad_fn.saved_tensors[0] is x and len(u.grad_fn._raw_saved_tensors) == 2
    z.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        z.grad_fn._saved_result  # noqa: B018


def test_hooks_on_a_saved_tensor(lib):
    x = leaf(lib, 1.0, 2.0)
    log = []

    def pack(t):
        log.append(("pack", t.tolist()))
        return t.detach()

    def unpack(t):
        log.append(("unpack", t.tolist()))
        return t * 10

    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(pack, unpack)
    with pytest.raises(RuntimeError, match="already been set"):
        y.grad_fn._raw_saved_result.register_hooks(pack, unpack)
    y.sum().backward()
    assert [name for name, _ in log] == ["pack", "unpack"]
    assert x.grad.tolist() == [10 * v for v in y.tolist()]
    f = function(lib, lambda ctx, x: ctx.save_for_backward(x) or x * 1, lambda ctx, g: g * ctx.saved_tensors[0])
    x.grad = None
    u = f.apply(x)
    u.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: 5, lambda n: lib.ones(2, dtype=lib.float64) * n)
    u.sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_edges_and_multi_hooks_make_no_cycles():
    gc.disable()
    try:
        x = leaf(ag, 1.0)
        y = x * 2
        ref = weakref.ref(y.grad_fn)
        edge = ag.autograd.graph.get_gradient_edge(y)
        del y
        assert ref() is edge.node
        del edge
        assert ref() is None
    finally:
        gc.enable()
