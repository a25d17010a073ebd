"""Interceptors: told of calls that become nodes, and around nodes that run; in this thread and its lanes, or in all threads."""

import threading

import pytest

import autograd as ag
from autograd.core import interceptors
from autograd.core.interceptors import Interceptor, install, remove
from autograd.core.modes import GRAD, WATCH, modes
from autograd.core.parallel import run_lanes


class Watching(Interceptor):
    def __init__(self, name="", log=None):
        self.name, self.log = name, [] if log is None else log

    def recorded(self, node, inputs, outputs):
        assert all(out.grad_fn is node for out in outputs)
        self.log.append(f"{self.name}+{node.name()}")

    def running(self, node, g, create, run):
        self.log.append(f"{self.name}>{node.name()}")
        grads = run(node, g, create)
        self.log.append(f"{self.name}<{node.name()}")
        return grads


@pytest.fixture
def x():
    return ag.ones(2, requires_grad=True)


class Double(ag.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


CALLS = {"unary": lambda x: x.exp(), "binary": lambda x: x * x, "linear": lambda x: x.transpose(0, 0), "Operation": lambda x: x.sum(),
         "Function": Double.apply, "several outputs": lambda x: x.split(1)[0]}


@pytest.mark.parametrize("call", CALLS)
def test_every_kind_of_call_is_told_once(call, x):
    watching = Watching()
    install(watching)
    try:
        y = CALLS[call](x)
    finally:
        remove(watching)
    CALLS[call](x)
    assert watching.log == [f"+{y.grad_fn.name()}"] and modes.recording == GRAD


def test_the_last_installed_is_the_first_told_and_the_innermost_around_a_node(x):
    log = []
    first, second = Watching("1", log), Watching("2", log)
    install(first)
    install(second)
    try:
        y = x.exp()
        y.sum().backward()
        with ag.no_grad():
            x.exp()                                  # no node
    finally:
        remove(second)
        remove(first)
    assert log == ["2+ExpBackward0", "1+ExpBackward0", "2+SumBackward0", "1+SumBackward0",
                   "1>SumBackward0", "2>SumBackward0", "2<SumBackward0", "1<SumBackward0",
                   "1>ExpBackward0", "2>ExpBackward0", "2<ExpBackward0", "1<ExpBackward0"]


def test_lanes_and_other_threads(x):
    mine, everywhere = Watching("mine"), Watching("all")
    install(mine)
    install(everywhere, all_threads=True)
    try:
        run_lanes([x.exp, x.exp])
        other = threading.Thread(target=x.tanh)
        other.start()
        other.join()
    finally:
        remove(everywhere, all_threads=True)
        remove(mine)
    assert mine.log == ["mine+ExpBackward0"] * 2
    assert sorted(everywhere.log) == ["all+ExpBackward0"] * 2 + ["all+TanhBackward0"]
    assert modes.recording == GRAD


def test_an_interceptor_of_calls():
    """It is told of operations, draws, reads and assignments of .grad, tracked or not, in its thread only."""
    seen = []

    class Calls(Interceptor):
        sees_calls = True

        def computed(self, forward, arrays, inputs, out):
            seen.append(("computed", out.array.tolist()))

        def operated(self, operation, node, args, arrays, settings, out):
            seen.append(("operated", operation.__name__))

        def primitive(self, function, args, kwargs):
            seen.append(("primitive", function.__name__))
            with interceptors.without_watcher():
                return super().primitive(function, args, kwargs)

        def value_read(self, what):
            seen.append(("read", what))

        def grad_assigned(self, leaf, value):
            seen.append(("assigned", value))

    x = ag.tensor([1.0, 2.0], requires_grad=True)
    watcher = Calls()
    install(watcher)
    try:
        y = (x * 3).sum()
        y.backward()                                 # by a BackwardPass of its own: the default
        y.item()
        x.grad = None
        ag.bernoulli(ag.tensor([1.0]))
        with interceptors.without_watcher():
            x + 1
        thread = threading.Thread(target=lambda: x + 1)
        thread.start()
        thread.join()
    finally:
        remove(watcher)
    x + 1
    assert [event for event in seen if event[0] != "primitive"] == [
        ("computed", [3.0, 6.0]), ("operated", "Sum"), ("read", "item() or float()"), ("assigned", None),
        ("operated", "Bernoulli")]
    assert [event[0] for event in seen].count("primitive") == 1
    assert not interceptors.process.call_watchers


def test_interceptors_of_calls_nest_and_may_see_nodes():
    class Calls(Watching):
        sees_calls = True

        def computed(self, forward, arrays, inputs, out):
            self.log.append(f"{self.name}:computed")

    outer, inner = Calls("outer"), Calls("inner")
    x = ag.tensor([1.0], requires_grad=True)
    install(outer)
    try:
        install(inner)
        try:
            x * 2
        finally:
            remove(inner)
        x * 2
    finally:
        remove(outer)
    x * 2
    assert inner.log == ["inner+MulBackward0", "inner:computed"]
    assert outer.log == ["outer+MulBackward0", "outer+MulBackward0", "outer:computed"]


def test_what_begins_inside_a_block_goes_on_after_it(x):
    """no_grad's end, and a backward pass's, restore recording, and nothing else."""
    watching = Watching()
    hooks = ag.graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    with ag.no_grad():
        install(watching)
    try:
        y = x * 2
        assert watching.log == ["+MulBackward0"]
    finally:
        remove(watching)
    y.register_hook(lambda g: hooks.__enter__())
    y.sum().backward()
    try:
        assert modes.interceptors == (hooks,) and modes.recording & WATCH
    finally:
        hooks.__exit__(None, None, None)
    assert not modes.recording & ~GRAD
