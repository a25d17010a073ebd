"""backward() and grad(): order, retained and freed graphs, lanes. Arguments and errors are in test_engine_depth, hooks in test_hooks."""

import itertools
import threading

import numpy as np
import pytest

import autograd as ag
from autograd.core.parallel import run_lanes

pytestmark = pytest.mark.quick


def leaf(*values):
    return ag.tensor(list(values), dtype=ag.float64, requires_grad=True)


def order_recorder(log, name):
    class Recorder(ag.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            log.append(name)
            return g

    return Recorder.apply


def test_nodes_run_newest_first_whatever_the_order_of_arguments():
    for swap in (False, True):
        log = []
        x = leaf(1.0)
        a = order_recorder(log, "a")(x)
        b = order_recorder(log, "b")(x)
        c = order_recorder(log, "c")(a)
        total = b + c if swap else c + b
        total.sum().backward()
        assert log == ["c", "b", "a"]


def test_a_leaf_is_delivered_as_soon_as_its_last_use_reported():
    log = []
    x, w = leaf(1.0), leaf(2.0)
    y = order_recorder(log, "old")(x)
    z = order_recorder(log, "new")(y * w)
    w.register_post_accumulate_grad_hook(lambda p: log.append("w"))
    z.sum().backward()
    assert log == ["new", "w", "old"]


def test_gradients_add_up_in_place_and_keep_their_memory():
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    first = x.grad
    (x * 4).sum().backward()
    assert x.grad is first and first.tolist() == [7, 7]
    x.grad = None
    (x * 5).sum().backward()
    assert first.tolist() == [7, 7] and x.grad.tolist() == [5, 5]


def test_leaves_never_share_a_gradient():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).backward(ag.ones(2, dtype=ag.float64))
    x.grad.add_(1)
    assert y.grad.tolist() == [1, 1]
    seed = ag.ones(2, dtype=ag.float64)
    x.grad = None
    x.backward(seed)
    x.grad.add_(5)
    assert seed.tolist() == [1, 1]
    kept = []

    class Keeps(ag.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            kept.append(g * 2)
            return kept[0]

    x.grad = None
    Keeps.apply(x).sum().backward()
    x.grad.add_(1)
    assert kept[0].tolist() == [2, 2]


def test_second_pass_through_a_freed_graph():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    z = (x + 1).sum()                                   # saved nothing: walking it twice is no error
    z.backward()
    z.backward()
    y = (x * x).sum()
    x.grad = None
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(RuntimeError, match="second time"):
        y.grad_fn.next_functions[0][0].apply(ag.ones(2))


def test_create_graph_to_the_third_order():
    x = leaf(2.0)
    y = x ** 4
    for expected in (32.0, 48.0, 48.0, 24.0):
        (y,) = ag.grad(y.sum(), x, create_graph=True)
        assert y.item() == pytest.approx(expected)


def test_backward_with_create_graph_keeps_a_graph_in_grad():
    x = leaf(3.0)
    (x ** 3).sum().backward(create_graph=True)
    first = x.grad
    x.grad = None
    first.sum().backward()
    assert first.item() == 27 and x.grad.item() == 18


def test_inputs_restrict_accumulation():
    x, w = leaf(2.0), leaf(5.0)
    h = x * 3
    y = h * w
    y.sum().backward(inputs=[x], retain_graph=True)
    assert x.grad.item() == 15 and w.grad is None
    y.sum().backward(inputs=[h, w])
    assert h._grad.item() == 5 and w.grad.item() == 6 and x.grad.item() == 15


def test_grad_returns_and_does_not_accumulate():
    x, w, unused = leaf(2.0), leaf(5.0), leaf(1.0)
    h = x * w
    y = (h * h).sum()
    gx, gh = ag.grad(y, [x, h], retain_graph=True)
    assert gx.item() == 100 and gh.item() == 20 and x.grad is None
    with pytest.raises(RuntimeError, match="index 1 appears to not have been used"):
        ag.grad(y, [x, unused], retain_graph=True)
    assert ag.grad(y, [x, unused], retain_graph=True, allow_unused=True)[1] is None
    assert ag.grad(y, [unused], materialize_grads=True)[0].item() == 0
    with pytest.raises(NotImplementedError, match="is_grads_batched"):
        ag.grad(y, x, is_grads_batched=True)


def test_lanes_run_at_once_with_the_callers_modes_and_backward_again():
    barrier = threading.Barrier(2, timeout=100)
    threads = []

    class Meets(ag.Function):
        @staticmethod
        def forward(ctx, x):
            barrier.wait()                           # both lanes are inside forward at the same time
            return x * 2

        @staticmethod
        def backward(ctx, g):
            barrier.wait()                           # and inside backward
            threads.append(threading.current_thread().name)
            return g * 2

    x, w = leaf(1.0), leaf(3.0)
    a, b = x * 1, x * 10
    ya, yb = run_lanes([lambda: Meets.apply(a) * w, lambda: Meets.apply(b) * w])
    (ya + yb).sum().backward()
    assert x.grad.item() == 66 and w.grad.item() == 22 and len(set(threads)) == 2
    with ag.no_grad():
        assert run_lanes([ag.is_grad_enabled] * 3) == [False] * 3
    with pytest.raises(ZeroDivisionError):
        run_lanes([lambda: 1, lambda: 1 / 0, lambda: 2])


def test_sums_of_lanes_do_not_depend_on_who_finishes_first():
    """Nor on who records first: each order of the three is made to come."""
    rng = np.random.default_rng(0)
    w = leaf(*rng.standard_normal(50))
    results = set()
    for order in itertools.permutations(range(3)):
        turns = [threading.Event() for _ in range(4)]
        turns[0].set()

        def lane(number, turns=turns, order=order):
            place = order.index(number)
            assert turns[place].wait(100)
            y = (w * (number + 1) / 10).exp().sum()
            turns[place + 1].set()
            return y

        w.grad = None
        sum(run_lanes([lambda number=number: lane(number) for number in range(3)])).backward()
        results.add(w.grad.numpy().tobytes())
    assert len(results) == 1
