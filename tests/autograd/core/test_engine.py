"""backward() and grad(): order, retained and freed graphs, hooks, errors."""

import itertools
import threading

import numpy as np
import pytest

import autograd as ag
from autograd.core.engine import queue_callback
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
        expected_now = {32.0: 32.0, 48.0: 48.0, 24.0: 24.0}[expected]
        assert y.item() == pytest.approx(expected_now)


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
    with pytest.raises(RuntimeError, match="cannot be empty"):
        y.sum().backward(inputs=[])


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


def test_several_roots_and_seeds():
    x = leaf(1.0, 2.0)
    ag.backward([x * 2, (x * x).sum()], [ag.tensor([1.0, 10.0], dtype=ag.float64), None])
    assert x.grad.tolist() == [4, 24]


@pytest.mark.parametrize("make, words", [
    (lambda x: (x * 2).backward(), "only for scalar outputs"),
    (lambda x: ag.ones(1).backward(), "does not require grad"),
    (lambda x: (x * 2).backward(ag.ones(3, dtype=ag.float64)), r"shape of \[3\].*shape of \[2\]"),
    (lambda x: ag.grad(x.sum(), ag.ones(2)), "does not require grad"),
])
def test_errors(make, words):
    with pytest.raises(RuntimeError, match=words):
        make(leaf(1.0, 2.0))


def test_tensor_hooks_in_order_replacing_and_removed():
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    first = y.register_hook(lambda g: g * 3)
    y.register_hook(lambda g: seen.append(g.item()))
    y.sum().backward(retain_graph=True)
    assert seen == [1, 3] and x.grad.item() == 6
    first.remove()
    first.remove()
    y.sum().backward()
    assert seen == [1, 3, 1, 1] and x.grad.item() == 8
    x.grad = None
    with x.register_hook(lambda g: g + 1):
        (x * 5).sum().backward()
    assert x.grad.item() == 6
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        ag.ones(1).register_hook(lambda g: None)


@pytest.mark.parametrize("out, error, words", [
    (lambda g: 3, TypeError, "returned 'int'"), (lambda g: ag.ones(5), RuntimeError, "changed the size"),
    (lambda g: ag.ones(1, dtype=ag.float32), RuntimeError, "changed the type")])
def test_bad_hooks(out, error, words):
    x = leaf(1.0)
    x.register_hook(out)
    with pytest.raises(error, match=words):
        (x * 2).sum().backward()


def test_node_hooks():
    x = leaf(1.0, 2.0)
    y = x * 3
    log = []
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 2,))
    y.grad_fn.register_hook(lambda gi, go: log.append((gi[0].tolist(), gi[1], go[0].tolist())))
    handle = y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1, None))
    y.sum().backward(retain_graph=True)
    assert log == [([6, 6], None, [2, 2])] and x.grad.tolist() == [7, 7]
    handle.remove()
    y.grad_fn.register_hook(lambda gi, go: (gi[0],))
    with pytest.raises(RuntimeError, match="incorrect number of values"):
        y.sum().backward()


def test_retain_grad_and_hook_order():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    log = []
    y.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: log.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda p: log.append(("after", p.grad.item())))
    y.sum().backward()
    assert y.grad.item() == 2 and log == ["tensor", ("after", 6)]
    assert y.retains_grad
    with pytest.warns(UserWarning, match="not a leaf"):
        assert (x * 2).grad is None
    with pytest.raises(RuntimeError, match="non-leaf"):
        y.register_post_accumulate_grad_hook(lambda p: None)


def test_callbacks_run_once_at_the_end_of_the_innermost_pass():
    log = []
    x = leaf(1.0)
    y = order_recorder(log, "node")(x)
    y.register_hook(lambda g: queue_callback(lambda: log.append("end")))
    y.sum().backward()
    assert log == ["node", "end"]
    with pytest.raises(RuntimeError, match="during backward"):
        queue_callback(lambda: None)


def test_a_backward_inside_a_backward():
    class Inner(ag.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with ag.enable_grad():
                copy = x.detach().requires_grad_()
                (copy ** 3).sum().backward()
            return copy.grad * g

    x = leaf(2.0)
    (Inner.apply(x) * 2).sum().backward()
    assert x.grad.item() == 24


def test_an_exception_leaves_nothing_half_done():
    class Fails(ag.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise KeyError("planted")

    x = leaf(1.0)
    with pytest.raises(KeyError, match="planted"):
        Fails.apply(x).sum().backward()
    assert ag.is_grad_enabled() and x.grad is None
    (x * 2).sum().backward()
    assert x.grad.item() == 2


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
