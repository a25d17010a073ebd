"""jit.trace(): the graph says what is computed, calls give the function's values and gradients, and nothing else changes."""

import copy
import inspect
import pickle
import sys
import warnings

import pytest
import torch

import autograd as ag
import autograd.nn.functional as F
from autograd import nn
from autograd.compile import TraceError
from autograd.jit.traced import compare

pytestmark = pytest.mark.quick


def kinds(traced):
    return [node.kind() for node in traced.graph.nodes()]


def evaluated(graph, inputs):
    """The outputs of a graph by PyTorch's operations of the names in it."""
    values = dict(zip(graph.inputs(), inputs, strict=True))
    for node in graph.nodes():
        if node.kind() == "prim::Constant":
            values[node.outputs()[0]] = torch.tensor(node._settings["value"])
        else:
            args = [values.get(x, x) for x in node._args]
            values[node.outputs()[0]] = getattr(torch.ops.aten, node.kind().removeprefix("aten::"))(*args)
    return [values[x] for x in graph.outputs()]


def formula(x, y, w):
    z = (x * y - 1).exp().mm(w)
    u = z.tanh() / (z.sigmoid() + 2)
    u.relu_()
    return u, x.t(), u * (0.5 if isinstance(x, torch.Tensor) else ag.tensor(0.5))


def test_the_graph_computes_the_function():
    arrays = [ag.randn(2, 3), ag.randn(3), ag.randn(3, 2)]
    traced = ag.jit.trace(formula, tuple(arrays))
    theirs = [torch.tensor(x.numpy()) for x in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = torch.jit.trace(formula, tuple(theirs)).graph
    # relu_() is relu() and a write here, one operation there
    assert [kind for kind in kinds(traced) if "copy_" not in kind and "prim" not in kind] == [
        node.kind().replace("relu_", "relu") for node in graph.nodes() if "prim" not in node.kind()]
    assert [x.debugName() for x in traced.graph.inputs()] == [x.debugName() for x in graph.inputs()] == ["x", "y", "w"]
    assert {node.sourceRange().rpartition(":")[0] for node in traced.graph.nodes() if node.sourceRange()} == {__file__}
    for out, expected in zip(evaluated(traced.graph, theirs), formula(*theirs), strict=True):
        torch.testing.assert_close(out, expected)


def test_the_text_and_the_drawing():
    scale = ag.tensor([1.0, 2.0], requires_grad=True)

    def f(x, pair):
        low, place = (x * scale).min(1)
        return low.sum() + pair["a"], place

    traced = ag.jit.trace(f, (ag.ones(3, 2), {"a": ag.tensor(1)}))
    first = f.__code__.co_firstlineno
    assert str(traced.graph).replace(__file__, "here").replace(f":{first + 1}\n", ":+1\n").replace(f":{first + 2}\n", ":+2\n") == """\
graph(%x : Float(3, 2),
      %pair.a : Long()):
  %scale : Float(2, requires_grad=1) = prim::GetAttr(name='scale')
  %3 : Float(3, 2, requires_grad=1) = aten::mul(%x, %scale) # here:+1
  %4 : Float(3, requires_grad=1), %5 : Long(3) = aten::min(%3, dim=1, settings=(), keepdim=False) # here:+1
  %6 : Float(requires_grad=1) = aten::sum(%4, dims=(0,), keepdim=False) # here:+2
  %7 : Float(requires_grad=1) = aten::add(%6, %pair.a) # here:+2
  return (%7, %5)"""
    assert str(ag.draw(traced)) == str(ag.draw(traced.graph)) == """\
aten::add []
- aten::sum []
  aten::min [3], [3] #1
  aten::mul [3, 2]
  - x [3, 2]
  - scale [2]
- pair.a []
aten::min [3], [3] (above, #1)"""
    assert '[label="scale\\n[2]", style=filled' in ag.draw(traced, format="dot")


def network(t=ag):
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Linear(3, 8), t.nn.Tanh(), t.nn.Linear(8, 2))


def test_a_traced_mlp_is_the_module():
    net, theirs = network(), network(torch)
    theirs.load_state_dict({name: torch.tensor(x.numpy()) for name, x in net.state_dict().items()})
    x = ag.randn(5, 3)
    traced = ag.jit.trace(net, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        their_trace = torch.jit.trace(theirs, torch.tensor(x.numpy()))
    assert isinstance(traced, ag.jit.ScriptModule) and isinstance(traced, nn.Sequential) and len(traced) == 3
    assert traced.state_dict().keys() == their_trace.state_dict().keys()
    assert [p is q for p, q in zip(traced.parameters(), net.parameters(), strict=True)] == [True] * 4
    named = {node.outputs()[0].debugName() for node in traced.graph.nodes() if node.kind() == "prim::GetAttr"}
    assert named == dict(net.named_parameters()).keys()
    assert traced.graph.inputs()[0].debugName() == "input"
    for rows in (5, 5, 2):
        x = ag.randn(rows, 3, requires_grad=True)
        y = torch.tensor(x.detach().numpy(), requires_grad=True)
        wanted = ag.grad(net(x).square().sum(), [x, *net.parameters()])
        found = ag.grad(traced(x).square().sum(), [x, *traced.parameters()])
        theirs_found = torch.autograd.grad(their_trace(y).square().sum(), [y, *theirs.parameters()])
        for one, two, three in zip(wanted, found, theirs_found, strict=True):
            assert (one == two).all()
            torch.testing.assert_close(torch.tensor(two.numpy()), three, rtol=1e-4, atol=1e-5)
    with ag.no_grad():
        net[0].weight.mul_(2)                        # parameters are shared
    assert (traced(x) == net(x)).all()
    assert (ag.jit.trace(net.forward, x)(x) == net(x)).all()
    assert "tanh" in traced.code and traced.inlined_graph is traced.graph
    assert "0.weight" in ag.draw(traced)


class Cube(ag.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        return x * x * x, x * factor

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return 100 * x * g + h, None                 # 100 x: not the derivative, so that this rule is seen to be used


def test_a_function_is_one_node_with_its_own_rule():
    traced = ag.jit.trace(lambda x: Cube.apply(x.exp(), 2.0)[0].sum(), ag.ones(3))
    assert kinds(traced) == ["aten::exp", "Cube", "aten::sum"]
    assert len(traced.graph.nodes()[1].outputs()) == 2 and "Cube(%1, 2.0)" in str(traced.graph)
    x = ag.tensor([0.0, 0.5, 1.0], requires_grad=True)
    (g,) = ag.grad(traced(x), x)
    assert (g == ag.grad(Cube.apply(x.exp(), 2.0)[0].sum(), x)[0]).all()
    torch.testing.assert_close(torch.tensor(g.numpy()), torch.tensor((100 * (2 * x).exp()).detach().numpy()))


def test_a_step_shows_its_backward_pass():
    net = network()
    optimizer = ag.optim.SGD(net.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    before = copy.deepcopy(net.state_dict())
    traced = ag.jit.trace(step, ag.ones(4, 3))
    assert all((net.state_dict()[name] == x).all() for name, x in before.items())
    named = [kind for kind in kinds(traced) if "prim" not in kind]
    assert named[:5] == ["SGD.zero_grad", "aten::addmm", "aten::tanh", "aten::addmm", "aten::pow"]
    assert named[5:] == ["aten::sum", "SumBackward0", "PowBackward0", "AddmmBackward0", "AccumulateGrad", "AccumulateGrad",
                         "TanhBackward0", "AddmmBackward0", "AccumulateGrad", "AccumulateGrad", "SGD.step"]
    x = ag.randn(4, 3)
    losses = traced(x).item(), traced(x).item()
    changed = net.state_dict()["0.weight"].clone()
    net.load_state_dict(before)
    assert losses == (step(x).item(), step(x).item()) and (net.state_dict()["0.weight"] == changed).all()


def test_tracing_leaves_state_as_it_was():
    seen = []
    net = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))
    net[0].register_forward_hook(lambda *call: None)
    before = copy.deepcopy(net.state_dict())

    def f(x):
        return net(x) * (2 if ag.jit.is_tracing() else 3)

    ag.manual_seed(3)
    traced = ag.jit.trace(f, ag.randn(4, 3))
    after = ag.rand(2)
    ag.manual_seed(3)
    ag.randn(4, 3)
    assert (after == ag.rand(2)).all() and not ag.jit.is_tracing() and not seen
    assert all((net.state_dict()[name] == x).all() for name, x in before.items())
    x = ag.randn(4, 3)
    ag.manual_seed(4)
    one = traced(x)
    ag.manual_seed(4)
    assert ag.allclose(one, net(x) * 2)              # the program has the branch of the recording
    assert net[0].num_batches_tracked.item() == 2    # replays and calls count


def test_arguments():
    def f(x, *, scale):
        return x * scale, [x]

    x, scale = ag.ones(2), ag.tensor(3.0)
    given = {"x": x, "scale": scale}
    with pytest.raises(RuntimeError, match=r"f returns a list.*strict=False"):
        ag.jit.trace(f, example_kwarg_inputs=given)
    traced = ag.jit.trace(f, example_kwarg_inputs=given, strict=False, check_inputs=[{"x": ag.ones(3), "scale": scale}],
                          _store_inputs=False)
    assert [v.debugName() for v in traced.graph.inputs()] == ["x", "scale"]
    assert traced(x=x, scale=2 * scale)[0].tolist() == [6, 6] and traced.name.endswith("f")
    assert len(traced._compiled.programs) == 2       # check_inputs have run
    assert ag.jit.trace(ag.relu, [x], check_trace=False)(x).tolist() == [1, 1]
    for name in ("_force_outplace", "_module_class", "_compilation_unit"):
        with pytest.raises(NotImplementedError, match=rf"jit\.trace\({name}="):
            ag.jit.trace(f, x, **{name: True})
    with pytest.warns(FutureWarning, match="optimize"):
        ag.jit.trace(ag.relu, x, True)
    with pytest.warns(UserWarning, match="traced already"):
        assert ag.jit.trace(traced, x) is traced
    for wrong in ({}, {"example_inputs": x, "example_kwarg_inputs": given}):
        with pytest.raises(RuntimeError, match="either example_inputs or example_kwarg_inputs"):
            ag.jit.trace(f, **wrong)
    with pytest.raises(RuntimeError, match="should be a dict"):
        ag.jit.trace(f, example_kwarg_inputs=[x])
    for thing in (traced, ag.jit.trace(nn.Linear(2, 1), x)):
        for use in (pickle.dumps, copy.deepcopy, lambda t: t.save("file")):
            with pytest.raises(NotImplementedError):
                use(thing)
    assert set(inspect.signature(ag.jit.trace).parameters) == set(inspect.signature(torch.jit.trace).parameters)


def test_writes_whose_rules_read_the_old_values():
    def function(x):
        y = x.clone()
        y.mul_(x)
        y.view(3, 1).mul_(x.view(3, 1))
        return y.add_(x)

    traced = ag.jit.trace(function, ag.ones(3, requires_grad=True))
    (x, ours), (z, theirs) = ((leaf, f(leaf)) for f in (traced, function) for leaf in [ag.tensor([1.0, 2.0, 3.0], requires_grad=True)])
    ours.sum().backward()
    theirs.sum().backward()
    assert ours.tolist() == theirs.tolist() == [2.0, 10.0, 30.0] and x.grad.tolist() == z.grad.tolist() == [4.0, 13.0, 28.0]
    assert kinds(traced).count("aten::clone") == 3


def test_what_cannot_be_traced_names_the_line():
    def reads(x):
        return x * x.sum().item()

    line = reads.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=rf"jit\.trace: .*reads can't be traced: .*test_jit_trace\.py:{line}: .*item"):
        ag.jit.trace(reads, ag.ones(2))
    assert not ag.jit.is_tracing()
    sys.setprofile(lambda *event: None)
    try:
        with pytest.raises(RuntimeError, match="was not recorded"):
            ag.jit.trace(ag.relu, ag.ones(2))
    finally:
        sys.setprofile(None)
    compare("f", ag.ones(2), ag.tensor([1.0, 1.001]), 1e-2)
    with pytest.raises(TraceError, match=r"result 0 of the traced f differs .* 0\.001"):
        compare("f", ag.ones(2), ag.tensor([1.0, 1.001]), 1e-5)


def test_a_profiler_may_run():
    with ag.profiler.profile() as prof:
        traced = ag.jit.trace(lambda x: F.softmax(x, -1), ag.ones(2))
        traced(ag.ones(2))
    assert kinds(traced) == ["aten::softmax"] and any(event.name == "aten::softmax" for event in prof.events())


class Reads(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
        self.words = nn.Embedding(10, 8)
        self.recurrent = nn.GRU(8, 4)

    def forward(self, x, words):
        y = self.encoder(x + self.words(words))
        out, last = self.recurrent(y)
        return out.sum(), last.bfloat16() if ag.is_grad_enabled() else last


def test_larger_models_with_several_outputs():
    model = Reads()
    x, words = ag.randn(5, 2, 8), ag.tensor([1, 2])
    traced = ag.jit.trace(model, (x, words))
    x = 0.5 * x
    outs, found = model(x, words), traced(x, words)
    assert all((a == b).all() for a, b in zip(outs, found, strict=True))
    parameters = list(model.parameters())
    for a, b in zip(ag.grad(outs[0], parameters), ag.grad(found[0], parameters), strict=True):
        assert ag.allclose(a, b, atol=1e-5)
    assert {"aten::embedding", "aten::native_layer_norm", "aten::relu"} <= {*kinds(traced)}
    assert "BFloat16(1, 2, 4, requires_grad=1) = aten::_to_copy" in str(traced.graph) and "dtype=bfloat16" in str(traced.graph)
    with ag.no_grad():                               # another mode: recorded at its first call
        assert traced(x, words)[1].dtype == ag.float32 and not traced(x, words)[0].requires_grad
    assert model.encoder in traced.modules()
