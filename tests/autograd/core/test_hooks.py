"""Hooks on tensors, leaves and nodes: what they see, in which order, what they may replace. All as in PyTorch."""

import pytest
from both import function, leaf, torch

import autograd as ag

pytestmark = pytest.mark.quick


def test_order_on_a_non_leaf(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    log = []
    y.retain_grad()
    y.register_hook(lambda g: log.append(("first", g.tolist())))
    y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: log.append(("third", g.tolist())))
    y.grad_fn.register_prehook(lambda gs: log.append(("pre", gs[0].tolist())))
    y.grad_fn.register_hook(lambda gi, go: log.append(("post", gi[0].tolist(), go[0].tolist())))
    y.sum().backward()
    assert log == [("first", [1, 1]), ("third", [2, 2]), ("pre", [2, 2]), ("post", [4, 4], [2, 2])]
    assert y.grad.tolist() == [2, 2] and x.grad.tolist() == [4, 4]


def test_order_on_a_leaf(lib):
    x = leaf(lib, 1.0, 2.0)
    end = (x * 1).grad_fn.next_functions[0][0]
    log = []
    end.register_hook(lambda gi, go: log.append(("post", gi, go[0].tolist())))
    end.register_prehook(lambda go: (go[0] * 5,))
    x.register_post_accumulate_grad_hook(lambda p: log.append(("accumulated", p.grad.tolist())))
    x.register_hook(lambda g: log.append(("tensor", g.tolist())))
    (x * 2).sum().backward()
    assert log == [("tensor", [2, 2]), ("accumulated", [10, 10]), ("post", (), [10, 10])] and x.grad.tolist() == [10, 10]
    log.clear()
    assert lib.autograd.grad((x * 2).sum(), x)[0].tolist() == [2, 2]           # nothing is accumulated
    assert log == [("tensor", [2, 2])]
    log.clear()
    (x * 2).sum().backward(inputs=[x])
    assert [name for name, *_ in log] == ["tensor", "accumulated", "post"]


def test_leaves_that_are_not_asked_for_stay_silent(lib):
    a, b = leaf(lib, 1.0), leaf(lib, 2.0)
    log = []
    for t, name in ((a, "a"), (b, "b")):
        t.register_hook(lambda g, name=name: log.append(name))
        t.register_post_accumulate_grad_hook(lambda p, name=name: log.append(name + "+"))
    (a * b).sum().backward(inputs=[a])
    assert log == ["a", "a+"] and b.grad is None


def test_hooks_act_on_what_grad_returns(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 100,))
    assert [g.item() for g in lib.autograd.grad(y.sum(), [y])] == [10]
    x.register_hook(lambda g: g + 1)
    assert lib.autograd.grad((x * 3).sum(), x)[0].item() == 4


def test_retain_grad(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    lib.autograd.grad((y * 3).sum(), x, retain_graph=True)
    assert y.grad.item() == 3 and y.retains_grad               # also in grad(), as in PyTorch
    (y * 3).sum().backward(retain_graph=True)
    assert y.grad.item() == 6
    x.retain_grad()
    assert not x.retains_grad and not (x * 2).retains_grad
    with pytest.warns(UserWarning, match="not a leaf"):
        assert (x * 2).grad is None
    with pytest.raises(RuntimeError, match="can't retain_grad"):
        lib.ones(1).retain_grad()


def test_inputs_that_are_no_leaves_get_a_grad(lib):
    x = leaf(lib, 1.0)
    h = x * 2
    total = (h * 3).sum()
    total.backward(inputs=[h], retain_graph=True)
    total.backward(inputs=[h])
    assert h.grad.item() == 6 and x.grad is None and h.retains_grad


def test_removing_and_adding_hooks_inside_a_hook(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    log, handles = [], []

    def first(g):
        log.append("first")
        handles[0].remove()
        handles[1].remove()

    handles.append(y.register_hook(first))
    handles.append(y.register_hook(lambda g: log.append("second")))
    y.register_hook(lambda g: (log.append("third"), y.register_hook(lambda g: log.append("new")))[0])
    total = y.sum()
    total.backward(retain_graph=True)
    assert log == ["first", "second", "third"]                 # the pass goes on with what it began with
    log.clear()
    total.backward(retain_graph=True)
    assert log == ["third", "new"]
    log.clear()
    z = x * 3

    def node_hook(gi, go):
        log.append("node")
        handles[2].remove()
        handles[3].remove()

    handles.append(z.grad_fn.register_hook(node_hook))
    handles.append(z.grad_fn.register_hook(lambda gi, go: log.append("other")))
    handles.append(z.grad_fn.register_prehook(lambda go: (log.append("pre"), handles[4].remove())[1]))
    z.sum().backward(retain_graph=True)
    z.sum().backward()
    assert log == ["pre", "node", "other"]
    with x.register_hook(lambda g: g + 1) as handle:
        assert handle is not None and lib.autograd.grad((x * 5).sum(), x)[0].item() == 6


def test_post_accumulate_hooks_remove_themselves(lib):
    x = leaf(lib, 1.0)
    log = []
    handle = x.register_post_accumulate_grad_hook(lambda p: (log.append(p is x), handle.remove())[1])
    for _ in range(2):
        (x * 2).sum().backward()
    handle.remove()
    assert log == [True] and x.grad.item() == 4


def test_node_hooks_replace_gradients(lib):
    x = leaf(lib, 1.0, 2.0)
    w = leaf(lib, 3.0, 4.0)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 0, gi[1] + 1))
    y.sum().backward()
    assert x.grad.tolist() == [0, 0] and w.grad.tolist() == [2, 3]
    x.grad = None
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (None, None))
    y.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("place, hook, error, words", [
    ("tensor", lambda g: 3, TypeError, "returned 'int'"),
    ("tensor", lambda g: g[:1], RuntimeError, "changed the size of value"),
    ("tensor", lambda g: g.float(), RuntimeError, "changed the type of value"),
    ("pre", lambda go: go[0], TypeError, "expected tuple"),
    ("pre", lambda go: (), RuntimeError, r"incorrect number of values \(got 0, but expected 1\)"),
    ("pre", lambda go: 3, TypeError, "expected tuple"),
    ("post", lambda gi, go: gi[0], TypeError, "expected tuple"),
    ("post", lambda gi, go: (gi[0],), RuntimeError, r"\(got 1, but expected 2\)"),
    ("post", lambda gi, go: (gi[0], gi[0]), RuntimeError, "can't replace a None gradient with a non-None value"),
    ("post", lambda gi, go: (gi[0][:1], None), RuntimeError, "changed the size of value"),
    ("accumulated", lambda p: p.grad, RuntimeError, "should return None"),
])
def test_what_hooks_must_not_return(lib, place, hook, error, words):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    {"tensor": y.register_hook, "pre": y.grad_fn.register_prehook, "post": y.grad_fn.register_hook,
     "accumulated": x.register_post_accumulate_grad_hook}[place](hook)
    with pytest.raises(error, match=words):
        y.sum().backward()


def test_where_hooks_can_not_be(lib):
    x = leaf(lib, 1.0)
    for register in (lib.ones(1).register_hook, lib.ones(1).register_post_accumulate_grad_hook):
        with pytest.raises(RuntimeError, match="doesn't require gradient"):
            register(lambda g: None)
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf"):
        (x * 2).register_post_accumulate_grad_hook(lambda p: None)


def test_an_exception_in_a_hook_leaves_a_working_graph(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    fail = [True]

    def hook(g):
        if fail[0]:
            raise KeyError("planted")

    h = x * 1
    h.register_hook(hook)
    y = h * w
    with pytest.raises(KeyError, match="planted"):
        y.sum().backward(retain_graph=True)
    assert x.grad is None and lib.is_grad_enabled()
    w.grad, fail[0] = None, False
    y.sum().backward()
    assert x.grad.item() == 2 and w.grad.item() == 1


def shown(value):
    """Gradients as numbers, None as it is."""
    if isinstance(value, (tuple, list)):
        return [shown(v) for v in value]
    return value if value is None or isinstance(value, str) else value.tolist()


def told(log, name):
    return lambda *args: log.append((name, *shown(args)))


def logged(log, tensor, name):
    """Put every kind of hook on a tensor and on its node."""
    tensor.register_hook(told(log, f"tensor {name}"))
    if tensor.grad_fn is None:
        tensor.register_post_accumulate_grad_hook(lambda t: log.append((f"accumulated {name}", shown(t.grad))))
        node = (tensor * 1).grad_fn.next_functions[0][0]
    else:
        node = tensor.grad_fn
    node.register_prehook(told(log, f"pre {name}"))
    node.register_hook(told(log, f"post {name}"))
    return node


def nothing_comes(t, log):
    """A Function that returns None: hooks behind it are called with None."""
    silent = function(t, lambda ctx, a: a.clone(), lambda ctx, g: None)
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    keep = logged(log, x, "x"), logged(log, y, "y")
    silent.apply(y).sum().backward()
    silent.apply(x).sum().backward()
    log.append(shown([x.grad]))
    del keep


def several_outputs(t, log):
    x = leaf(t, 1.0, 2.0, 3.0, 4.0)
    a, b = (x * 1).split(2)
    node = logged(log, a, "a")
    b.register_hook(told(log, "tensor b"))
    b.sum().backward(retain_graph=True)
    (a * b).sum().backward()
    for both in (t.var_mean, t.std_mean, lambda x: (x * 1).unbind()[:2]):
        first, mean = both(x)
        assert first.grad_fn is mean.grad_fn
        mean.grad_fn.register_prehook(lambda gs: tuple(None if g is None else 2 * g for g in gs))
        (first + mean).backward()
    log.append([round(v, 9) for v in shown(x.grad)])
    two = function(t, lambda ctx, a: (a * 2, a * 3), lambda ctx, g, h: 2 * g + 3 * h)
    y = two.apply(x)[0]
    y.grad_fn.register_prehook(told(log, "pre two"))
    y.grad_fn.register_hook(told(log, "post two"))
    y.retain_grad()
    y.sum().backward()
    log.append(shown(y.grad))
    del node


def asked_for(t, log):
    """backward(inputs=) and grad() of tensors that are no leaves: which hooks are called, and what is freed."""
    x = leaf(t, 1.0, 2.0)
    h = x * 2
    y = h.exp()
    keep = [logged(log, v, name) for v, name in ((x, "x"), (h, "h"), (y, "y"))]
    for inputs in ([h], [h, x], [x], [y]):
        y.sum().backward(inputs=inputs, retain_graph=True)
        log.append(("grads", *shown([h.grad, x.grad])))
        t.autograd.grad(y.sum(), inputs, retain_graph=True)
        log.append("grad()")
    y = (h * 3).exp()
    z = y * y
    z.sum().backward(inputs=[y])
    with pytest.raises(RuntimeError, match="second time"):
        z.sum().backward()
    h.grad_fn.register_prehook(lambda gs: (gs[0] * 100,))
    (h * 3).sum().backward(inputs=[h])
    log.append(shown(h.grad))
    del keep


def many_at_once(t, log):
    """register_multi_grad_hook, where one of the gradients does not come."""
    x, y = leaf(t, 1.0), leaf(t, 2.0)
    a, b = x * 2, y * 3
    silent = function(t, lambda ctx, a: a.clone(), lambda ctx, g: None)
    t.autograd.graph.register_multi_grad_hook([a, b], told(log, "all"))
    t.autograd.graph.register_multi_grad_hook([a, b], told(log, "any"), mode="any")
    (a * b).sum().backward(retain_graph=True)
    (a * 2).sum().backward(retain_graph=True)
    (silent.apply(a) + b).sum().backward(retain_graph=True)
    t.autograd.grad((a * b).sum(), [x], retain_graph=True)
    (a * b).sum().backward(inputs=[b])


@pytest.mark.skipif(torch is None, reason="PyTorch, the yardstick, is not installed")
@pytest.mark.parametrize("program", [nothing_comes, several_outputs, asked_for, many_at_once])
def test_called_as_in_pytorch(program):
    logs = []
    for t in (ag, torch):
        logs.append([])
        program(t, logs[-1])
    assert logs[0] == logs[1]
