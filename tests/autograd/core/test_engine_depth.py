"""backward() and grad() in depth: every argument, passes inside passes, threads, big graphs, memory."""

import gc
import sys
import threading
import tracemalloc
import warnings
import weakref

import numpy as np
import pytest
from both import function, leaf

import autograd as ag
import autograd.nn.functional as F
from autograd.core.engine import current_pass, is_checkpoint_valid, queue_callback
from autograd.core.operation import OperationNode
from autograd.core.parallel import run_lanes


def ones(lib, *shape):
    return lib.ones(*shape, dtype=lib.float64)


# --- arguments ---------------------------------------------------------------------------------------------------------

def test_lists_of_roots_and_gradients(lib):
    x, w = leaf(lib, 1.0, 2.0), leaf(lib, 3.0, 4.0)
    lib.autograd.backward([x * 2, (x * w).sum()], [ones(lib, 2), None])
    assert x.grad.tolist() == [5, 6] and w.grad.tolist() == [1, 2]
    lib.autograd.backward((x * 2,), grad_tensors=ones(lib, 2))
    lib.autograd.backward([], [])
    assert x.grad.tolist() == [7, 8]
    assert lib.autograd.grad([x, x * 2], [x], [ones(lib, 2)] * 2)[0].tolist() == [3, 3]
    y = x * 2
    assert [g.tolist() for g in lib.autograd.grad(y, [y, x, x], ones(lib, 2))] == [[1, 1], [2, 2], [2, 2]]


def test_gradients_take_the_dtype_of_their_root(lib):
    x = lib.ones(2, requires_grad=True)
    (x * 2).backward(ones(lib, 2))
    assert x.grad.dtype == lib.float32 and x.grad.tolist() == [2, 2]
    (x * 2).backward(lib.ones(2, dtype=lib.int32))
    assert x.grad.tolist() == [4, 4]


@pytest.mark.parametrize("error, words, call", [
    (RuntimeError, "element 1 of tensors does not require grad",
     lambda lib, x: lib.autograd.backward([x.sum(), lib.ones(1)], [None, None])),
    (RuntimeError, "element 1 of tensors does not require grad",
     lambda lib, x: lib.autograd.backward([x.sum(), lib.ones(1)], [None, lib.ones(1)])),
    (RuntimeError, "got 2 tensors and 1 gradients", lambda lib, x: lib.autograd.backward([x, x], [x])),
    (TypeError, "not iterable", lambda lib, x: lib.autograd.backward(3)),
    (TypeError, "got int", lambda lib, x: lib.autograd.backward(x * 2, [3])),
    (RuntimeError, "element 0 of tensors does not require grad", lambda lib, x: lib.ones(1).backward()),
    (RuntimeError, r"Mismatch in shape: .*shape of .*\[1\].*shape of .*\[2\]", lambda lib, x: lib.autograd.backward(x * 2, ones(lib, 1))),
    (RuntimeError, "only for scalar outputs", lambda lib, x: (x * 2).backward()),
    (RuntimeError, r"`inputs` argument to `backward\(\)` cannot be empty", lambda lib, x: x.sum().backward(inputs=[])),
    (RuntimeError, "require", lambda lib, x: x.sum().backward(inputs=[lib.ones(1)])),
    (RuntimeError, "all inputs have to be Tensors or GradientEdges, but got int", lambda lib, x: x.sum().backward(inputs=[3])),
    (RuntimeError, r"`inputs` argument to `grad\(\)` cannot be empty", lambda lib, x: lib.autograd.grad(x.sum(), [])),
    (RuntimeError, "does not require grad", lambda lib, x: lib.autograd.grad(x.sum(), lib.ones(1))),
    (RuntimeError, "but got str", lambda lib, x: lib.autograd.grad(x.sum(), ["x"])),
    (RuntimeError, "index 0 appears to not have been used", lambda lib, x: lib.autograd.grad(x.sum(), leaf(lib, 1.0))),
    (ValueError, "allow_unused", lambda lib, x: lib.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True)),
    (RuntimeError, "both passed", lambda lib, x: lib.autograd.backward(x, x, grad_variables=x)),
])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_refused_arguments(lib, error, words, call):
    with pytest.raises(error, match=words):
        call(lib, leaf(lib, 1.0, 2.0))


def test_dicts_of_inputs(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 3.0)
    found = lib.autograd.grad((x * w).sum(), {"x": x, "w": w})
    assert list(found) == ["x", "w"] and found["x"].item() == 3
    (x * w).sum().backward(inputs={"x": x})
    assert x.grad.item() == 3 and w.grad is None
    with pytest.raises(TypeError, match="must be a dict"):
        from collections import OrderedDict
        lib.autograd.grad((x * w).sum(), OrderedDict(x=x))


def test_unused_and_materialized(lib):
    x, u = leaf(lib, 1.0, 2.0), leaf(lib, 5.0)
    assert lib.autograd.grad((x * 2).sum(), [u, x], allow_unused=True)[0] is None
    zeros, _ = lib.autograd.grad((x * 2).sum(), [u, x], materialize_grads=True)
    assert zeros.tolist() == [0] and not zeros.requires_grad
    zeros, _ = lib.autograd.grad((x * 2).sum(), [u, x], materialize_grads=True, create_graph=True)
    assert zeros.requires_grad


def test_deprecated_arguments(lib):
    x = leaf(lib, 1.0)
    with pytest.warns(FutureWarning, match="only_inputs"):
        assert lib.autograd.grad((x * 2).sum(), x, only_inputs=False)[0].item() == 2
    with pytest.warns(FutureWarning, match="grad_variables"):
        lib.autograd.backward((x * 2).sum(), grad_variables=lib.tensor(3.0, dtype=lib.float64))
    assert x.grad.item() == 6


def test_create_graph_in_backward_warns_of_the_cycle():
    x = leaf(ag, 1.0)
    with pytest.warns(UserWarning, match="reference cycle"):
        (x * x).sum().backward(create_graph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ag.grad((x * x).sum(), x, create_graph=True)


def test_a_stack_of_gradients(lib):
    x, w, u = leaf(lib, 1.0, 2.0), leaf(lib, 3.0, 4.0), leaf(lib, 1.0)
    eye = lib.eye(2, dtype=lib.float64)
    grad = lib.autograd.grad
    assert grad(x * 2, x, eye, is_grads_batched=True)[0].tolist() == [[2, 0], [0, 2]]
    gx, gw = grad([x * 2, x * w], [x, w], [eye, ones(lib, 2, 2)], is_grads_batched=True)
    assert gx.tolist() == [[5, 4], [3, 6]] and gw.tolist() == [[1, 2], [1, 2]]
    assert grad(x * 2, [x, u], eye, is_grads_batched=True, allow_unused=True)[1] is None
    (g,) = grad(x * x, x, eye, is_grads_batched=True, create_graph=True)
    assert grad(g.sum(), x)[0].tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="is_grads_batched=True.*first dimension"):
        grad(x * 2, x, lib.eye(3, dtype=lib.float64), is_grads_batched=True)
    with pytest.raises(ValueError, match=r"sizes \[2, 3\]"):
        grad([x * 2, x * w], [x], [eye, ones(lib, 3, 2)], is_grads_batched=True)


def test_retain_graph_defaults_to_create_graph(lib):
    x = leaf(lib, 2.0)
    y = (x * x).sum()
    lib.autograd.grad(y, x, create_graph=True)
    lib.autograd.grad(y, x, retain_graph=True)
    lib.autograd.grad(y, x, create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match="second time"):
        lib.autograd.grad(y, x)


# --- passes inside passes ----------------------------------------------------------------------------------------------

def deep(lib, body=None):
    """A Function whose backward records the same on one less, and goes back through it."""
    class Deep(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with lib.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            if ctx.x.item() > 0:
                with lib.enable_grad():
                    Deep.apply(ctx.x).sum().backward()
            elif body is not None:
                body()
            return g

    return Deep.apply


@pytest.mark.parametrize("depth", [3, 100, 1000])
def test_passes_inside_passes(lib, depth):
    seen = []
    v = lib.tensor(float(depth), requires_grad=True)
    deep(lib, lambda: seen.append(lib.is_grad_enabled()))(v).sum().backward()
    assert v.grad.item() == 1 and seen == [False]


def test_deep_passes_see_the_callers_modes_and_their_own_errors():
    seen, log = [], []

    def body():
        seen.append((ag.is_multithreading_enabled(), is_checkpoint_valid()))
        queue_callback(lambda: log.append("end"))

    v = ag.tensor(400.0, requires_grad=True)
    with ag.set_multithreading_enabled(False):
        ag.grad(deep(ag, body)(v).sum(), v)
    assert seen == [(False, False)] and log == ["end"]

    def fail():
        raise KeyError("planted")

    with pytest.raises(KeyError, match="planted"):
        deep(ag, fail)(v).sum().backward()
    assert v.grad is None and current_pass() is None and ag.is_grad_enabled()
    deep(ag)(v).sum().backward()
    assert v.grad.item() == 1


def test_a_grad_inside_a_backward(lib):
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with lib.enable_grad():
            copy = x.detach().requires_grad_()
            (inner,) = lib.autograd.grad((copy ** 3).sum(), copy)
        return inner * g

    cube = function(lib, lambda ctx, x: ctx.save_for_backward(x) or x ** 3, backward)
    x = leaf(lib, 2.0)
    (cube.apply(cube.apply(x)) * 2).sum().backward()
    assert x.grad.item() == 2 * 9 * 2.0 ** 8


def test_the_same_leaf_in_an_inner_pass(lib):
    w = leaf(lib, 3.0)

    def backward(ctx, g):
        with lib.enable_grad():
            (w * 10).sum().backward()
        return g

    f = function(lib, lambda ctx, x: x * 1, backward)
    (f.apply(w) * 2).sum().backward()
    assert w.grad.item() == 12


def test_callbacks(lib):
    queue = lib.autograd.Variable._execution_engine.queue_callback
    log = []

    def backward(ctx, g):
        queue(lambda: log.append(("end", x.grad.item())))
        queue(lambda: queue(lambda: log.append("of the end")))
        return g * 2

    f = function(lib, lambda ctx, x: x * 2, backward)
    x = leaf(lib, 1.0)
    f.apply(x).sum().backward()
    assert log == [("end", 2), "of the end"]
    with pytest.raises(RuntimeError, match="during backward pass"):
        queue(lambda: None)


def test_whether_a_checkpoint_is_valid(lib):
    seen = []
    f = function(lib, lambda ctx, x: x * 1, lambda ctx, g: (seen.append(lib.autograd._is_checkpoint_valid()), g)[1])
    x = leaf(lib, 1.0)
    f.apply(x).sum().backward()
    f.apply(x).sum().backward(inputs=[x])
    lib.autograd.grad(f.apply(x).sum(), x)
    assert seen == [True, False, False]


# --- errors leave no half-state ----------------------------------------------------------------------------------------

def test_an_exception_in_backward(lib):
    fails = function(lib, lambda ctx, x: x * 1, lambda ctx, g: 1 / 0)
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    y = fails.apply(x) * w
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    assert x.grad is None and w.grad.item() == 1                # what came before has been delivered
    assert lib.is_grad_enabled()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    (x * w).sum().backward()
    assert x.grad.item() == 2 and w.grad.item() == 2


# --- threads -----------------------------------------------------------------------------------------------------------

def in_threads(count, work):
    errors = []

    def run(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors


def test_threads_share_leaves(lib):
    w = lib.zeros(20_000, dtype=lib.float64, requires_grad=True)

    def work(number):
        for _ in range(20):
            (w * (number + 1)).sum().backward()

    in_threads(4, work)
    assert set(w.grad.tolist()) == {200.0}


def test_threads_share_a_graph():
    x = ag.tensor(np.random.default_rng(0).standard_normal((150, 150)), requires_grad=True)
    y = (x @ x).log_softmax(1)
    (y * 2).sum().backward(retain_graph=True)
    once = x.grad.numpy() * 60
    x.grad = None
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        in_threads(4, lambda number: [(y * 2).sum().backward(retain_graph=True) for _ in range(15)])
    finally:
        sys.setswitchinterval(interval)
    np.testing.assert_allclose(x.grad.numpy(), once)


SHARED = {                                           # of nodes that keep settings, arrays of their own, several outputs
    "layer_norm": lambda x, w: F.layer_norm((x @ w).softmax(1), (6,)) * w,
    "conv2d": lambda x, w: F.max_pool2d(F.conv2d(x.view(1, 1, 6, 6), w[:3, :3].reshape(1, 1, 3, 3), padding=1), 2),
    "batch_norm": lambda x, w: F.batch_norm(x, None, None, w[0], w[1], training=True),
    "group_norm": lambda x, w: F.group_norm(x, 2, w[0]), "linalg": lambda x, w: ag.linalg.inv(x @ x.T + ag.eye(6)) @ w,
    "losses": lambda x, w: F.cross_entropy(x, w.softmax(1)) + x.var() + w.norm() + x.logsumexp(1).std(),
    "parts": lambda x, w: sum(a.cumsum(0).prod() for a in x.split(2)) + w.sort(1).values[:, 1] + w.max(1).values,
    "attention": lambda x, w: F.scaled_dot_product_attention(x[None], w[None], x[None]),
    "points": lambda x, w: F.gelu(x) * F.silu(w) + F.softplus(x) / (w * w + 1) + x.clamp(-0.5, 0.5) ** 3,
}


@pytest.mark.parametrize("name", SHARED)
def test_every_node_can_run_in_two_threads(name):
    """Of two threads in one node the second works on a twin: here all nodes look as if another thread were in them."""
    x, w = (ag.tensor(np.random.default_rng(n).standard_normal((6, 6)), requires_grad=True) for n in (0, 1))
    y = (SHARED[name](x, w) ** 2).sum()
    y.backward(retain_graph=True)
    alone = x.grad.numpy().copy(), w.grad.numpy().copy()
    x.grad = w.grad = None
    found, ahead = set(), [y.grad_fn]
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.add(node)
            if isinstance(node, OperationNode):
                vars(node)["values"] = ["of another thread"]
            ahead += [n for n, _ in node.next_functions if n is not None]
    y.backward(retain_graph=True)
    np.testing.assert_array_equal(x.grad.numpy(), alone[0])
    np.testing.assert_array_equal(w.grad.numpy(), alone[1])


def test_threads_take_turns_at_every_step():
    """As test_threads_share_a_graph; threads change as often as can be, and a collection runs at each allocation."""
    x, w = (ag.tensor(np.random.default_rng(n).standard_normal((6, 6)), requires_grad=True) for n in (0, 1))
    y = (SHARED["layer_norm"](x, w) * SHARED["losses"](x, w)).sum()
    once = [g.numpy() for g in ag.autograd.grad(y, (x, w), retain_graph=True)]
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(1)
    try:
        in_threads(4, lambda number: [y.backward(retain_graph=True) for _ in range(12)])
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*threshold)
    np.testing.assert_allclose(x.grad.numpy(), once[0] * 48)
    np.testing.assert_allclose(w.grad.numpy(), once[1] * 48)


def test_threads_meet_one_accumulator():
    for _ in range(20):
        w = ag.ones(3, requires_grad=True)
        barrier = threading.Barrier(4)
        ends = []

        def work(number):
            barrier.wait()
            ends.append((w * 2).grad_fn.next_functions[0][0])

        in_threads(4, work)
        assert len(set(ends)) == 1


def test_modes_belong_to_threads(lib):
    seen = []
    with lib.no_grad(), lib.autograd.set_multithreading_enabled(False):
        in_threads(1, lambda n: seen.extend([lib.is_grad_enabled(), lib.autograd.is_multithreading_enabled()]))
    assert seen == [True, True]


def test_lanes_one_by_one_without_multithreading():
    threads = []
    f = function(ag, lambda ctx, x: x * 2, lambda ctx, g: (threads.append(threading.current_thread()), g * 2)[1])
    x = leaf(ag, 1.0)
    a, b = x * 1, x * 10
    outs = run_lanes([lambda: f.apply(a), lambda: f.apply(b)])
    with ag.set_multithreading_enabled(False):
        (outs[0] + outs[1]).sum().backward()
    assert x.grad.item() == 22 and set(threads) == {threading.current_thread()}


# --- big graphs --------------------------------------------------------------------------------------------------------

MANY = 100_000


def test_a_chain_of_built_ins():
    x = ag.tensor(1.0, dtype=ag.float64, requires_grad=True)
    y = x
    for _ in range(MANY):
        y = y * 1.0
    y.backward()
    assert x.grad.item() == 1
    del y
    y = x
    for number in range(MANY // 2):
        y = y.exp() if number % 2 else y.log()
    del y                                            # never walked, with its saved values
    gc.collect()


def test_a_chain_of_user_functions():
    f = function(ag, lambda ctx, x: ctx.save_for_backward(x) or x * 1, lambda ctx, g: g)
    x = ag.tensor(1.0, dtype=ag.float64, requires_grad=True)
    y = x
    for _ in range(MANY):
        y = f.apply(y)
        y.grad_fn.note = [y.grad_fn.next_functions]             # attributes of ctx, tuples in between
    y.backward(retain_graph=True)
    assert x.grad.item() == 1
    last = weakref.ref(y.grad_fn)
    del y
    assert last() is None


def test_a_chain_with_hooks_views_and_packed_values():
    x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    y = x
    with ag.autograd.graph.saved_tensors_hooks(lambda t: [t.detach()], lambda p: p[0]):
        for _ in range(20_000):
            y = (y * x).reshape(2)
            y.register_hook(lambda g: None)
    del y
    y = x * 1
    for _ in range(20_000):
        y = y[:]
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_memory_is_freed_as_the_pass_goes():
    size, depth = 100_000, 40                        # 0.8 MB each
    x = ag.tensor(np.ones(size), requires_grad=True)
    f = function(ag, lambda ctx, a: ctx.save_for_backward(a) or a * 1, lambda ctx, g: (ctx.saved_tensors, g * 1)[1])
    for step in (lambda y: y.exp(), lambda y: y * y, f.apply):
        levels = []
        tracemalloc.start()
        try:
            kept = ag.tensor(np.ones(size))          # a measure of one array
            one = tracemalloc.get_traced_memory()[0]
            y = x * 0
            hold = [y]
            for number in range(depth):
                hold[0] = step(hold[0])
                if number % 10 == 0:
                    hold[0].register_hook(lambda g: levels.append(tracemalloc.get_traced_memory()[0]))
            total = hold.pop().sum()
            built = tracemalloc.get_traced_memory()[0]
            total.backward()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert kept is not None and built > (depth - 2) * one
        assert levels == sorted(levels, reverse=True) and levels[-1] < built / 3    # newest first: less and less
        assert peak < built + 8 * one
        x.grad = None


def test_gradients_that_are_refused():
    x = ag.ones(1, requires_grad=True)
    z = x * 0.5j
    for run, match in ((lambda: z.backward(), "only for real scalar outputs"), (lambda: ag.grad(z, x), "only for real scalar outputs"),
                       (lambda: ag.grad(x * 2, x, ag.ones(1, dtype=ag.complex64)), "required to have the same dtype"),
                       (lambda: ag.grad(z, x, ag.ones(1)), "required to have the same dtype"),
                       (lambda: ag.grad(ag.graph.get_gradient_edge(z), x, ag.ones(1)), "required to have the same dtype"),
                       (lambda: setattr(x, "data", ag.ones(1, dtype=ag.int64)), "floating point or complex dtype")):
        with pytest.raises(RuntimeError, match=match):
            run()
    with pytest.raises(TypeError, match="data must be a Tensor"):
        x.data = None
    assert x.tolist() == [1]


@pytest.mark.parametrize(("arguments", "match"), [((), "expected 1 arguments, got 0"), (2, "expected 1 arguments, got 2"),
                                                  ((1,), "argument 0 is not a"), ((None,), "argument 0 is not a"), (1, "")])
@pytest.mark.parametrize("call", [lambda x: x * 2, lambda x: x.exp(), lambda x: x.sum(0)])
def test_nodes_are_called_with_one_tensor_for_each_output(call, arguments, match):
    y = call(ag.ones(2, requires_grad=True))
    arguments = (ag.ones_like(y),) * arguments if isinstance(arguments, int) else arguments
    if match:
        with pytest.raises(TypeError, match=match):
            y.grad_fn(*arguments)
    else:
        y.grad_fn(*arguments)
