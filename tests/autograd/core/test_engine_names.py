"""The names of PyTorch that texts about loss.backward() mention: each exists and does what it does there."""

import inspect
import pickle

import numpy as np
import pytest

import autograd as ag
from autograd import autograd as module
from autograd.autograd import Variable
from autograd.autograd.function import (
    BackwardCFunction,
    Function,
    FunctionCtx,
    FunctionMeta,
    InplaceFunction,
    NestedIOFunction,
    _ContextMethodMixin,
    once_differentiable,
)
from autograd.autograd.graph import get_gradient_edge
from autograd.autograd.variable import ImperativeEngine

engine = Variable._execution_engine


def setup(*, double=False):
    w = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    return w, (w * w).sum(), (ag.tensor(1.0, dtype=ag.float64),)


# --- the engine ------------------------------------------------------------------------------------------------------------

def test_run_backward_by_position_and_by_keyword():
    w, y, one = setup()
    assert engine.run_backward((y,), one, False, False, (), True, True) is None and w.grad.tolist() == [2.0, 4.0]
    w, y, one = setup()
    (g,) = engine.run_backward(tensors=(y,), grad_tensors=one, keep_graph=True, create_graph=True, inputs=(w,),
                               allow_unreachable=False, accumulate_grad=False)
    assert g.tolist() == [2.0, 4.0] and g.requires_grad and w.grad is None
    assert [x.tolist() for x in ag.grad(g.sum(), w)] == [[2.0, 2.0]]
    names = ["tensors", "grad_tensors", "keep_graph", "create_graph", "inputs", "allow_unreachable", "accumulate_grad"]
    assert list(inspect.signature(engine.run_backward).parameters) == names
    assert isinstance(engine, ImperativeEngine) and engine.is_checkpoint_valid()


def test_run_backward_keeps_the_graph_or_frees_it():
    w, y, one = setup()
    for keep in (True, False):
        engine.run_backward((y,), one, keep, False, accumulate_grad=True)
    assert w.grad.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="second time"):
        engine.run_backward((y,), one, False, False, accumulate_grad=True)


def test_run_backward_of_several_of_leaves_of_edges_and_into_results():
    w, y, one = setup()
    assert [g.tolist() for g in engine.run_backward((y, w * 3), (*one, ag.ones(2, dtype=ag.float64)), False, False, (w,))] == [[5, 7]]
    engine.run_backward((w,), (ag.ones(2, dtype=ag.float64),), False, False, (), True, True)
    assert w.grad.tolist() == [1.0, 1.0]
    w, y, one = setup()
    assert engine.run_backward((get_gradient_edge(y),), one, False, False, (get_gradient_edge(w),))[0].tolist() == [2.0, 4.0]
    w, _, one = setup()
    h = w * 2
    engine.run_backward(((h * h).sum(),), one, False, False, (h,), True, True)
    assert h.grad.tolist() == [4.0, 8.0] and w.grad is None
    other = ag.ones(1, requires_grad=True)
    w, y, one = setup()
    assert engine.run_backward((y,), one, False, False, (other,), True) == (None,)


def wrong_arguments(t, one, y, w):
    other = t.ones(1, requires_grad=True)
    return {
        "a list of tensors": (([y], one, False, False), "tensors argument is expected to be a tuple, but got list"),
        "a list of gradients": (((y,), list(one), False, False), "grad_tensors argument is expected to be a tuple, but got list"),
        "a tensor of inputs": (((y,), one, False, False, w), "inputs to run_backward must be a tuple"),
        "a list of inputs": (((y,), one, False, False, [w]), "inputs to run_backward must be a tuple"),
        "numbers as inputs": (((y,), one, False, False, (3,)), "all inputs have to be Tensors or GradientEdges, but got int"),
        "too few gradients": (((y,), (), False, False, (w,)), "got 1 tensors and 0 gradients"),
        "a number": (((3,), one, False, False, (w,)), "element 0 of tensors tuple is neither a Tensor nor a GradientEdge"),
        "a number as gradient": (((y,), (3,), False, False, (w,)), "element 0 of gradients tuple is not a Tensor or None"),
        "no gradient": (((y,), (None,), False, False, (w,)), "element 0 of gradients tuple is None, but the corresponding Tensor requires grad"),
        "no graph": (((t.ones(1),), one, False, False, (w,)), "element 0 of tensors does not require grad and does not have a grad_fn"),
        "input without grad": (((y,), one, False, False, (t.ones(1),)), "One of the differentiated Tensors does not require grad"),
        "unused": (((y,), one, False, False, (other,)), "index 0 appears to not have been used in the graph"),
    }


@pytest.mark.parametrize("name", wrong_arguments(ag, (), None, None))
def test_run_backward_refuses_what_pytorch_refuses(name):
    w, y, one = setup()
    arguments, text = wrong_arguments(ag, one, y, w)[name]
    with pytest.raises(RuntimeError, match=text):
        engine.run_backward(*arguments)
    torch = pytest.importorskip("torch")
    w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    arguments, text = wrong_arguments(torch, (torch.tensor(1.0, dtype=torch.float64),), (w * w).sum(), w)[name]
    with pytest.raises(RuntimeError, match=text):
        torch.autograd.Variable._execution_engine.run_backward(*arguments)


def test_run_backward_needs_to_know_where_gradients_go():
    w, y, one = setup()
    with pytest.raises(RuntimeError, match="name inputs"):
        engine.run_backward((y,), one, False, False)
    with pytest.raises(TypeError, match="keep_graph"):
        engine.run_backward((y,), one)
    with pytest.raises(RuntimeError, match="shape"):
        engine.run_backward((y,), (ag.ones(2),), False, False, (w,))


def test_backward_step_by_step_as_in_pytorchs_source():
    """What torch.autograd.backward() does, written out."""
    w, y, _ = setup()
    grads = module._tensor_or_tensors_to_tuple(None, 1)
    assert grads == (None,) and module._tensor_or_tensors_to_tuple(y, 1) == (y,) and module._tensor_or_tensors_to_tuple([y], 1) == (y,)
    (one,) = module._make_grads((y,), grads, is_grads_batched=False)
    assert one.item() == 1.0 and one.dtype == ag.float64
    assert module.graph._engine_run_backward is module._engine_run_backward
    assert module._engine_run_backward([y], (one,), False, False, (), allow_unreachable=True, accumulate_grad=True) is None
    assert w.grad.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="scalar outputs"):
        module._make_grads((w * 2,), (None,))
    parameters = list(inspect.signature(ag.backward).parameters)
    assert parameters == ["tensors", "grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs"]


def test_callbacks_queued_in_a_pass_run_at_its_end():
    seen = []
    w, y, one = setup()
    w.register_hook(lambda g: engine.queue_callback(lambda: seen.append(w.grad.tolist())))
    engine.run_backward((y,), one, False, False, accumulate_grad=True)
    assert seen == [[2.0, 4.0]]


# --- Functions and their nodes --------------------------------------------------------------------------------------------

class Scaled(Function):
    @staticmethod
    def forward(ctx, factor, x, y):
        ctx.save_for_backward(x)
        ctx.factor = factor
        assert isinstance(ctx, Scaled._backward_cls)
        return factor * x * x + y

    @staticmethod
    def backward(ctx, g):
        assert isinstance(ctx, Scaled._backward_cls)
        return None, 2 * ctx.factor * ctx.saved_tensors[0] * g, g


def test_the_metaclass_builds_a_node_class_for_each_function():
    node = Scaled._backward_cls
    assert type(Scaled) is type(Function) is FunctionMeta
    assert node.__name__ == "ScaledBackward" and node._forward_cls is Scaled and issubclass(node, BackwardCFunction)
    assert Function._backward_cls is BackwardCFunction and issubclass(BackwardCFunction, FunctionCtx)
    assert _ContextMethodMixin is FunctionCtx and module.function.FunctionMeta is FunctionMeta
    assert issubclass(NestedIOFunction, Function) and issubclass(InplaceFunction, Function)

    class Derived(Scaled):
        pass

    made = FunctionMeta("Made", (Scaled,), {})
    assert Derived._backward_cls is not node and Derived._backward_cls._forward_cls is Derived
    assert made._backward_cls.__name__ == "MadeBackward" and type(made) is FunctionMeta
    x = ag.ones(2, requires_grad=True)
    assert type(Derived.apply.__self__) is FunctionMeta and made.apply(3, x, x).grad_fn.name() == "MadeBackward"


def test_nodes_of_functions_and_leaves():
    x, y = ag.tensor([1.0, 2.0], requires_grad=True), ag.ones(2)
    out = Scaled.apply(3.0, x, y)
    node = out.grad_fn
    assert type(node) is Scaled._backward_cls and isinstance(node, BackwardCFunction) and node.name() == "ScaledBackward"
    (leaf, number), nothing = node.next_functions    # of Tensors among the arguments only
    assert leaf.variable is x and leaf.name().endswith("AccumulateGrad") and number == 0 and nothing == (None, 0)
    assert node.needs_input_grad == (False, True, False) and node.saved_tensors[0] is x
    assert [g if g is None else g.tolist() for g in node.apply(ag.ones(2))] == [None, [6.0, 12.0], [1.0, 1.0]]
    assert x.expand_as(x).grad_fn.next_functions[0][0].variable is x
    with pytest.warns(DeprecationWarning, match="saved_tensors"):
        assert node.saved_variables[0] is x

    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return g * 2

    (g,) = ag.grad(Once.apply(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_nodes_by_the_names_of_torch_c():
    from autograd import _C

    x = ag.ones(2, requires_grad=True)
    assert type((x * 2).grad_fn.next_functions[0][0]) is _C._functions.AccumulateGrad
    y = x * 1
    y[:1] = 3.0
    assert isinstance(y.grad_fn, _C._functions.CopySlices) and isinstance(engine, _C._ImperativeEngine)
    (_C._functions.UndefinedGrad()(x) + 2 * x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert isinstance(Scaled.apply(3.0, x, x).grad_fn, _C._FunctionBase) and isinstance(x, _C._TensorBase) and _C.Size is ag.Size
    _C._set_grad_enabled(False)
    assert not ag.is_grad_enabled() and _C.Generator is ag.Generator
    _C._set_grad_enabled(True)
    out = _C._functions.DelayedError("not twice", 1)(x * 2)
    assert out.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="not twice"):
        out.sum().backward()


def test_jit_names_compile():
    for name in ("trace_module", "freeze", "optimize_for_inference"):
        with pytest.raises(NotImplementedError, match=rf"jit\.{name}\(\).*compile\(model\)"):
            getattr(ag.jit, name)(ag.nn.Linear(1, 1), ag.ones(1))


# --- between devices -----------------------------------------------------------------------------------------------------

def test_functions_between_devices_have_pytorchs_arguments():
    """Values and gradients of first and second order, by hand: torch's own need GPUs."""
    from autograd.nn.parallel._functions import Broadcast, Gather, ReduceAddCoalesced, Scatter

    from autograd.nn.parallel import comm

    rng = np.random.default_rng(0)
    x, w, y = (ag.tensor(rng.standard_normal(shape), requires_grad=True) for shape in ((5, 2), (3,), (1, 2)))
    calls = [(lambda x: Scatter.apply([0, 1, 2], None, 0, x), (x,), [x[:2], x[2:4], x[4:]]),
             (lambda x: Scatter.apply((4, 7), (1, 1), -1, x), (x,), [x[:, :1], x[:, 1:]]),
             (lambda x, w: Broadcast.apply([0, 1], x, w), (x, w), [x, w, x, w]),
             (lambda x, y: Gather.apply(0, 0, x, y), (x, y), [ag.cat([x, y])]),
             (lambda x: Gather.apply("cpu", 1, x, x), (x,), [ag.cat([x, x], 1)]),
             (lambda x, w: ReduceAddCoalesced.apply(0, 2, x, w, x, w), (x, w), [2 * x, 2 * w])]
    for call, inputs, expected in calls:
        found = call(*inputs)
        found = (found,) if isinstance(found, ag.Tensor) else found
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy())
        assert ag.gradcheck(call, inputs) and ag.gradgradcheck(call, inputs)
    assert Broadcast.apply([0, 1]) == ()
    with pytest.warns(UserWarning, match="scalars"):
        joined = Gather.apply(0, 0, ag.tensor(1.0, requires_grad=True), ag.tensor(2.0))
    assert joined.tolist() == [1.0, 2.0] and joined.grad_fn.name() == "GatherBackward"
    first, _, *_ = Broadcast.apply([0, 1], w, ag.ones(1))
    assert first.requires_grad and not Broadcast.apply([0, 1], w, ag.ones(1))[1].requires_grad
    assert [t.tolist() for t in comm.scatter(ag.arange(3), [0, 1], [1, 2])] == [[0], [1, 2]]
    out = [ag.zeros(1, dtype=ag.int64), ag.zeros(2, dtype=ag.int64)]
    assert comm.scatter(ag.arange(3), out=out)[1] is out[1] and out[1].tolist() == [1, 2]
    assert comm.gather([ag.zeros(1), ag.ones(2)]).tolist() == [0, 1, 1] and comm.gather([ag.ones(1)] * 2, out=ag.zeros(2)).tolist() == [1, 1]
    assert comm.reduce_add([ag.ones(2), ag.ones(2)], 0).tolist() == [2, 2]
    assert comm.broadcast(ag.ones(1), [0, 1])[1].tolist() == [1]
    assert [t.tolist() for t in comm.reduce_add_coalesced([[ag.ones(1), ag.ones(2)]] * 2, 1)] == [[2], [2, 2]]
    assert len(comm.broadcast_coalesced([ag.ones(1), ag.zeros(2)], [0, 1, 2])) == 3
    for wrong in (lambda: comm.broadcast(ag.ones(1)), lambda: comm.scatter(ag.ones(1)), lambda: comm.gather([ag.ones(1)], 0, 0, out=ag.ones(1)),
                  lambda: comm.scatter(ag.ones(1), [0], out=[ag.ones(1)])):
        with pytest.raises(RuntimeError, match="specified"):
            wrong()


def test_scatter_replicate_apply_and_gather_as_the_texts_do_it():
    """The data-parallel step of PyTorch's tutorials, by hand: the gradients of the whole batch on the module."""
    from autograd import nn

    net = nn.Linear(3, 2)
    batch = ag.ones(5, 3)
    devices = [0, 1]
    inputs = nn.parallel.scatter(batch, devices)
    replicas = nn.parallel.replicate(net, devices[:len(inputs)])
    outputs = nn.parallel.parallel_apply(replicas, inputs)
    for target in (0, 1, -1, "cpu", ag.device("cpu")):
        out = nn.parallel.gather(outputs, target)
        assert out.shape == (5, 2)
    out.sum().backward()
    assert net.weight.grad.tolist() == [[5.0] * 3] * 2 and net.bias.grad.tolist() == [5.0] * 2
    (first, scale), (_, again) = nn.parallel.scatter((batch, 2.0), target_gpus=devices, dim=0)
    assert first.shape == (3, 3) and scale == again == 2.0
    assert nn.parallel.scatter_gather.scatter is nn.parallel.scatter
    assert nn.parallel.distributed.DistributedDataParallel is nn.parallel.DistributedDataParallel
    both = nn.parallel.parallel_apply([net, net], [(batch,), (batch,)], [{}, {}], devices)
    assert [y.shape for y in both] == [(5, 2)] * 2


@pytest.mark.parametrize("rows, devices", [(1, 4), (2, 4), (5, 4), (6, 4), (7, 4), (9, 4), (0, 3), (5, 2)])
def test_scatter_cuts_as_chunk_does(rows, devices):
    """A part has a row at least, so that a small batch reaches fewer devices: replicas = replicate(module, devices[:len(inputs)])."""
    from autograd.nn.parallel import _functions, comm, scatter

    x = ag.arange(2.0 * rows).reshape(rows, 2)
    names = list(range(devices))
    expected = [part.tolist() for part in (x.chunk(devices) if rows else [x] * devices)]
    for parts in (scatter(x, names), scatter(x, [f"cuda:{n}" for n in names]), scatter(x, [ag.device("cpu")] * devices),
                  _functions.Scatter.apply(names, None, 0, x), comm.scatter(x, names), _functions.comm.scatter(x, names)):
        parts = (parts,) if isinstance(parts, ag.Tensor) else parts
        assert [part.tolist() for part in parts] == expected
    assert _functions._get_stream(ag.device("cpu")) is None


def test_scatter_cuts_each_tensor_of_a_tree_by_itself():
    from collections import OrderedDict, namedtuple

    from autograd.nn.parallel.scatter_gather import scatter, scatter_kwargs

    Pair = namedtuple("Pair", "x mask")
    x, mask = ag.arange(6).reshape(3, 2), ag.ones(2)
    parts = scatter((Pair(x, mask), OrderedDict(a=[x, 2.0], b=None), ag.tensor(3)), [0, 1])
    assert [type(p[0]) for p in parts] == [Pair] * 2 and [type(p[1]) for p in parts] == [OrderedDict] * 2
    assert [p[0].x.tolist() for p in parts] == [[[0, 1], [2, 3]], [[4, 5]]] and [p[0].mask.tolist() for p in parts] == [[1], [1]]
    assert [p[1]["a"][1] for p in parts] == [2.0] * 2 and [p[2].item() for p in parts] == [3] * 2
    args, kwargs = scatter_kwargs((x,), None, [0, 1])
    assert len(args) == len(kwargs) == 2 and kwargs == ({}, {})
    args, kwargs = scatter_kwargs((), {"x": x}, [0, 1, 2])
    assert args == ((), (), ()) and [k["x"].tolist() for k in kwargs] == [[[0, 1]], [[2, 3]], [[4, 5]]]


# --- pickles --------------------------------------------------------------------------------------------------------------

def test_a_tensor_with_a_graph_is_pickled_as_a_leaf():
    import multiprocessing.reduction
    from copy import deepcopy

    import autograd.multiprocessing

    w = ag.tensor([1.0, 2.0], requires_grad=True)
    for x in (w, w * 2, w[:1], (w * 2)[1:], (w * w).sum(), (w * 2).detach(), ag.nn.Parameter(ag.ones(1))):
        twin = pickle.loads(pickle.dumps({"x": x}))["x"]
        assert twin.tolist() == x.tolist() and type(twin) is type(x)
        assert twin.requires_grad == x.requires_grad and twin.is_leaf and twin.grad_fn is None
    x = w * 2
    with pytest.raises(RuntimeError, match="graph leaves"):
        deepcopy({"x": x})
    send = multiprocessing.reduction.ForkingPickler.dumps
    assert autograd.multiprocessing and pickle.loads(send(w)).requires_grad and pickle.loads(send(x.detach())).tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        send(x)
