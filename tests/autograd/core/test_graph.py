"""The graph as users walk it: nodes, edges, leaves, and the two different things called apply."""

import gc
import weakref

import numpy as np
import pytest

import autograd as ag

pytestmark = pytest.mark.quick


class Square(ag.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


def test_the_classic_walk():
    a, b, d = (ag.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))
    c = a + b
    e = c * d
    assert e.grad_fn.name() == "MulBackward0" and type(e.grad_fn).__name__ == "MulBackward0"
    (add, zero), (leaf, _) = e.grad_fn.next_functions
    assert add is c.grad_fn and zero == 0 and add.name() == "AddBackward0"
    assert leaf.name() == "AccumulateGrad" and leaf.variable is d
    assert [n.variable is t for (n, _), t in zip(add.next_functions, (a, b), strict=True)] == [True, True]
    assert leaf.next_functions == ()
    with pytest.raises(AttributeError, match="variable"):
        add.variable  # noqa: B018
    assert (a * 2).grad_fn.next_functions[1] == (None, 0)
    assert e.grad_fn.next_functions[1][0] is leaf        # one accumulator for a leaf
    assert a.is_leaf and not c.is_leaf and a.grad_fn is None
    e.backward()
    assert (a.grad.item(), b.grad.item(), d.grad.item()) == (4, 4, 5)


def test_static_apply_records_and_the_nodes_apply_runs_backward():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = Square.apply(x)
    assert type(y.grad_fn).__name__ == "SquareBackward" and isinstance(y.grad_fn, Square.node)
    g = ag.tensor([1.0, 10.0])
    assert y.grad_fn.apply(g).tolist() == [2, 40] and y.grad_fn(g).tolist() == [2, 40]
    assert x.grad is None                                # nothing was accumulated
    z = x * 3
    assert [v if v is None else v.tolist() for v in z.grad_fn(g)] == [[3, 30], None]
    assert "SquareBackward" in repr(y) and repr(x).endswith("requires_grad=True)")


def test_each_function_has_its_own_node_class():
    class Cube(Square):
        pass

    assert Cube.node is not Square.node and Cube.node.__name__ == "CubeBackward"


def test_every_kind_of_node_is_callable():
    x = ag.randn(3, 4, dtype=ag.float64, requires_grad=True)
    for y in (x.exp(), x @ x.t(), x.sum(1), x[1:], ag.cat([x, x]), x.reshape(-1), x.log_softmax(1)):
        g = ag.randn(y.shape, dtype=ag.float64)
        out = y.grad_fn(g)
        first = out[0] if isinstance(out, tuple) else out
        (expected,) = ag.grad(y, x, g) if not isinstance(out, tuple) else (None,)
        if expected is not None:
            np.testing.assert_allclose(first.detach().numpy(), expected.numpy())


def test_the_graph_is_freed_without_the_collector():
    gc.disable()
    try:
        x = ag.ones(1000, requires_grad=True)
        y = (x.exp() * x).tanh()
        node = weakref.ref(y.grad_fn)
        inner = weakref.ref(y.grad_fn.next_functions[0][0])
        del y
        assert node() is None and inner() is None
        z = Square.apply(x)
        z.sum().backward()
        ref = weakref.ref(z.grad_fn)
        del z
        assert ref() is None
        leaf = weakref.ref(x)
        del x
        assert leaf() is None
    finally:
        gc.enable()


def test_numbers_decrease_on_the_way_back_and_leaves_come_first():
    x = ag.tensor(1.0, requires_grad=True)
    y = x * 2
    z = y * 3
    assert z.grad_fn.seq > y.grad_fn.seq
    assert y.grad_fn.next_functions[0][0].seq == 2**64 - 1
    z.grad_fn.metadata["note"] = 5
    assert z.grad_fn.metadata == {"note": 5}
