"""compile(): programs do what the function does, for each form of its arguments; what can't be compiled runs eagerly."""

import copy
import logging
import pickle
import re
import threading
import warnings

import numpy as np
import pytest
from both import function

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.compile import TraceError
from autograd.compile.compiled import parts_of
from autograd.compile.native import available
from autograd.optim import lr_scheduler

LOG = logging.getLogger(__name__)
X = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)
Y = np.array([0, 2, 1, 0, 2])


@pytest.fixture(autouse=True)
def no_surprise():
    """A function that runs eagerly is an error, unless a test expects the warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "compile: ")
        yield


def compiled(function, **settings):
    return ag.compile(function, backend="python", **settings)


def batch(rows=5, scale=1.0):
    return ag.tensor(np.resize(X, (rows, 4)) * np.float32(scale)), ag.tensor(np.resize(Y, rows))


def network():
    ag.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(0.2), nn.Linear(6, 3))


class Training:
    def __init__(self):
        self.net = network()
        self.optimizer = optim.AdamW(self.net.parameters(), lr=0.01)
        self.scheduler = lr_scheduler.StepLR(self.optimizer, 3, 0.5)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.optimizer.step()
        return loss

    def state(self):
        return [np.array(t.detach().numpy()) for t in self.net.state_dict().values()]


def assert_equal(one, two):
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def trained(run, training, sizes=(5, 5, 3, 5, 3, 5)):
    """Losses and states after steps with batches of these sizes, with changes of the model between them."""
    ag.manual_seed(1)
    found = []
    for number, rows in enumerate(sizes):
        found.append(np.array(run(*batch(rows, 1 + number)).detach().numpy()))
        training.scheduler.step()
        if number == 3:
            training.net[0].weight.requires_grad = False
    return [*found, *training.state()]


def test_steps_are_those_of_the_function():
    plain, fast = Training(), Training()
    step = compiled(fast.step)
    assert_equal(trained(plain.step, plain), trained(step, fast))
    assert step.made == 4 and "Optimizer.zero_grad" in step.program() and not step.eager_calls


def test_as_decorator():
    @ag.compile(backend="python", fullgraph=True)
    def f(x):
        """Twice."""
        return x * 2

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(ag.ones(2))

        @ag.compile
        def forward(self, x):
            return (x * self.w).sum()

    assert f(ag.ones(2)).tolist() == f(ag.ones(2)).tolist() == [2, 2] and f.__doc__ == "Twice." and f.made == 1
    for model in (Model(), Model()):
        for _ in range(2):
            model.zero_grad()
            model(ag.tensor([1.0, 2.0])).backward()
            assert model.w.grad.tolist() == [1, 2]
    assert Model.forward.made == 2


def test_arguments_of_all_forms():
    def f(pair, *, scale, where=None):
        return {"sum": pair[0] * scale + pair[1]["b"], "n": 3}

    run = compiled(f)
    for scale in (2.0, 3.0, 2.0):
        for x in (1.0, 5.0):
            out = run((ag.full((2,), x), {"b": ag.ones(2)}), scale=scale)
            assert out["sum"].tolist() == [x * scale + 1] * 2 and out["n"] == 3
    assert run.made == 2
    run((ag.ones(2), {"b": ag.ones(2, dtype=ag.float64)}), scale=2.0)
    run((ag.ones(2), {"b": ag.ones(2)}), scale=2)
    assert run.made == 4


def test_too_many_programs():
    run = compiled(lambda x: x + 1)
    for n in range(1, 9):
        run(ag.zeros(n))
    with pytest.warns(UserWarning, match=r"compile: .*<lambda> runs eagerly: 8 programs .*other shapes"):
        assert run(ag.zeros(9)).tolist() == [1.0] * 9
    assert run(ag.zeros(10)).tolist() == [1.0] * 10 and run(ag.zeros(3)).tolist() == [1.0] * 3 and run.made == 8
    ag.compiler.reset()
    assert run.made == 0 and run(ag.zeros(9)).tolist() == [1.0] * 9 and run.made == 1


CHANGES = {
    "mode": lambda net: net.eval(),
    "hook": lambda net: net[0].weight.register_hook(lambda g: g * 2),
    "module hook": lambda net: net[2].register_forward_hook(lambda m, x, y: y * 2),
    "module": lambda net: net.__setitem__(2, nn.Tanh()),
    "dict": lambda net: net._modules.update({"2": nn.Tanh()}),
    "setting": lambda net: setattr(net[1], "eps", 0.5),
    "memory": lambda net: setattr(net[0].weight, "data", net[0].weight.data * 2),
    "parameter": lambda net: setattr(net[0], "bias", nn.Parameter(ag.ones(6))),
    "frozen": lambda net: net[0].requires_grad_(False),
    "loaded": lambda net: net.load_state_dict({k: v * 2 for k, v in net.state_dict().items()}, assign=True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_seen(name):
    """Each makes another program, or is right in the old one."""
    found = []
    for wrap in (compiled, lambda f: f):
        ag.manual_seed(0)
        net = network()

        def step(x, y, net=net):
            net.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            return loss, net[4].weight.grad

        run = wrap(step)
        for _ in range(2):
            run(*batch())
        CHANGES[name](net)
        for _ in range(2):
            found.append([np.array(t.detach().numpy()) for t in run(*batch())])
        found.append([0.0 if p.grad is None else p.grad.sum().item() for p in net.parameters()])
    for one, two in zip(found[:3], found[3:], strict=True):
        assert_equal(one, two)


def test_a_program_comes_back_with_its_mode():
    net = network()
    run = compiled(lambda x: net(x).sum())
    with ag.no_grad():
        for _ in range(3):
            net.train()
            run(batch()[0])
            net.eval()
            run(batch()[0])
    assert run.made == 2


scale = 2.0


def test_numbers_and_variables_that_the_function_reads():
    global scale
    config, power, holder = {"add": 1.0}, 2, Training()
    holder.rate = 3.0

    def f(x):
        return x ** power * scale + config["add"] + holder.rate

    run = compiled(f)
    for _ in range(2):
        for scale in (2.0, 4.0):                     # noqa: B007 - read by f
            assert run(ag.tensor([3.0])).tolist() == f(ag.tensor([3.0])).tolist()
        config["add"] += 1.0
        power += 1
    holder.rate = 5.0
    holder.other = 1
    assert run(ag.tensor([3.0])).tolist() == f(ag.tensor([3.0])).tolist()
    scale = 2.0


def test_modes_of_the_caller():
    w = ag.ones(2, requires_grad=True)
    run = compiled(lambda x: x * w)
    for _ in range(2):
        assert run(ag.ones(2)).requires_grad
        with ag.no_grad():
            assert not run(ag.ones(2)).requires_grad
        with ag.inference_mode():
            assert run(ag.ones(2)).is_inference()
        with ag.autocast("cpu", dtype=ag.bfloat16):
            assert compiled(lambda x: x @ x)(ag.ones(2, 2)).dtype == ag.bfloat16
    assert run.made == 3


@pytest.mark.parametrize("make", [network, lambda: nn.LSTM(4, 3, batch_first=True), lambda: nn.Sequential(
    nn.Unflatten(1, (1, 2, 2)), nn.Conv2d(1, 3, 2), nn.Flatten(), nn.GELU(), nn.Linear(3, 3))])
def test_models(make):
    """Forward and backward are programs; parameters, hooks, modes and state_dict() are the model's."""
    states = []
    for wrap in (compiled, lambda m: m):
        ag.manual_seed(0)
        model = make()
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        run = wrap(model)
        ag.manual_seed(1)
        for number in range(4):
            x = batch(scale=1 + number)[0].requires_grad_()
            out = run(x if not isinstance(model, nn.LSTM) else x[None])
            out = out[0] if isinstance(out, tuple) else out
            optimizer.zero_grad()
            out.square().sum().backward()
            optimizer.step()
            states.append([np.array(t.detach().numpy()) for t in (out, x.grad, *model.parameters(), *model.buffers())])
        run.eval()
        assert not model.training and list(run.state_dict()) == list(model.state_dict())
        assert isinstance(run, type(model)) and [*run.parameters()] == [*model.parameters()]
        if wrap is compiled:
            assert run._orig_mod is model and run._compiled.made == 1
    for one, two in zip(states[:4], states[4:], strict=True):
        assert_equal(one, two)


def test_a_model_in_place_copied_and_pickled():
    net = network().eval()
    expected = net(batch()[0]).tolist()
    wrapped = ag.compile(net, backend="python")
    again = copy.deepcopy(wrapped)
    assert again(batch()[0]).tolist() == wrapped(batch()[0]).tolist() == expected and again[0].weight is not net[0].weight
    assert pickle.loads(pickle.dumps(wrapped))(batch()[0]).tolist() == expected
    net.compile(backend="python")
    net(batch()[0])
    assert net(batch()[0]).tolist() == expected and net.forward.made == 1
    copied = copy.deepcopy(net)
    with ag.no_grad():
        copied[4].bias += 1
    assert copied(batch()[0]).tolist() != expected and net(batch()[0]).tolist() == expected


def test_pending_backward_passes():
    """Each has its memory: a second call before the backward pass of the first gets another program."""
    w = ag.tensor([1.0, 2.0], requires_grad=True)
    run = compiled(lambda x: (x * w).exp())
    for _ in range(3):
        one, two = run(ag.ones(2)), run(ag.full((2,), 2.0))
        one.sum().backward()
        two.sum().backward()
        np.testing.assert_allclose(w.grad.numpy(), np.exp([1, 2]) + 2 * np.exp([2, 4]), rtol=1e-6)
        w.grad = None
    assert run.made == 2


def test_double_backward_and_retained_graphs():
    run = compiled(lambda a, b: (a * b).sin().sum())
    for _ in range(2):
        a = ag.ones(3, dtype=ag.float64).requires_grad_()
        b = ag.arange(3.0, dtype=ag.float64)
        (g,) = ag.grad(run(a, b), a, create_graph=True)
        (h,) = ag.grad(g.sum(), a)
        np.testing.assert_allclose(h.numpy(), -b.numpy() ** 2 * np.sin(b.numpy()))
        out = run(a, b)
        out.backward(retain_graph=True)
        run(a, 2 * b).backward()
        out.backward()
        np.testing.assert_allclose(a.grad.numpy(), 2 * b.numpy() * np.cos(b.numpy()) + 2 * b.numpy() * np.cos(2 * b.numpy()))
    drop = nn.Dropout(0.5)
    noisy = compiled(lambda x: drop(x) * x)
    x = ag.ones(3, requires_grad=True)
    noisy(x)
    with pytest.raises(RuntimeError, match="can't be differentiated twice"):
        ag.grad(noisy(x).sum(), x, create_graph=True)


def double_product(ctx, g):
    x, = ctx.saved_tensors
    return 2 * x * g


Square = function(ag, lambda ctx, x: ctx.save_for_backward(x) or x * x, double_product)


def penalty(net, x, y):
    """Of the gradient with respect to the input, as in WGAN-GP."""
    g, = ag.grad(net(x).sum(), x, create_graph=True)
    return F.cross_entropy(net(x), y) + ((g.norm(dim=1) - 1) ** 2).mean()


def residual(net, x, y):
    """Of Burgers' equation: first and second derivatives with respect to inputs."""
    u = net(x)[:, :1]
    d, = ag.grad(u.sum(), x, create_graph=True)
    second, = ag.grad(d[:, 0].sum(), x, create_graph=True)
    return ((d[:, 1:2] + u * d[:, :1] - 0.1 * second[:, :1]) ** 2).mean()


def of_a_function(net, x, y):
    g, = ag.grad(Square.apply(net(x)).sum(), [net[0].weight], create_graph=True)
    return (g ** 2).sum()


@pytest.mark.parametrize("backend", ["python", "native"])
@pytest.mark.parametrize("loss_of", [penalty, residual, of_a_function])
def test_derivatives_in_the_loss(loss_of, backend):
    if backend == "native" and available():
        pytest.skip(available())

    def training():
        ag.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
        optimizer = optim.Adam(net.parameters(), lr=0.01)

        def step(x, y):
            optimizer.zero_grad()
            loss = loss_of(net, x.detach().requires_grad_(), y)
            loss.backward()
            optimizer.step()
            return loss

        return net, step

    (net, step), (other, fast) = training(), training()
    fast = ag.compile(fast, fullgraph=True, backend="python" if backend == "python" else "inductor")
    for scale in (1.0, -0.5, 2.0, 0.1):
        np.testing.assert_allclose(fast(*batch(5, scale)).detach().numpy(), step(*batch(5, scale)).detach().numpy(), 2e-5)
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), 2e-4, 1e-6)


def test_a_parameter_written_before_backward():
    w = ag.ones(2, requires_grad=True)
    run = compiled(lambda x: x * w * w)
    run(ag.ones(2)).sum().backward()
    out = run(ag.ones(2))
    with ag.no_grad():
        w += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_the_step_of_an_optimizer():
    states = []
    for wrap in (compiled, lambda f: f):
        net = network()
        optimizer = optim.Adam(net.parameters(), lr=0.1)
        run = wrap(optimizer.step)
        for number in range(4):
            optimizer.zero_grad()
            F.cross_entropy(net.eval()(batch()[0]), batch()[1]).backward()
            optimizer.param_groups[0]["lr"] = 0.1 / (1 + number)
            run()
        states.append([np.array(p.detach().numpy()) for p in net.parameters()])
    assert_equal(*states)


def reading(net, losses):
    return lambda x, y: net(x).sum().item()


def branching(net, losses):
    return lambda x, y: net(x) if net(x).sum() > 0 else -net(x)


def printing(net, losses):
    return lambda x, y: print(net(x).sum().shape)


def counting(net, losses):
    count = 0

    def step(x, y):
        nonlocal count
        count += 1
        return net(x) * count
    return step


def appending(net, losses):
    def step(x, y):
        losses.append(net(x).sum().detach())
        return y * 2
    return step


def keeping(net, losses):
    holder = Training()

    def step(x, y):
        holder.last = net(x).detach()
        return holder.last * 2
    return step


def writing(net, losses):
    return lambda x, y: x.mul_(2)


def from_numpy(net, losses):
    return lambda x, y: x + ag.from_numpy(np.sqrt(np.abs(x.array)))


def iterating(net, losses):
    numbers = iter(range(1000))
    return lambda x, y: x * next(numbers)


def own_rate(net, losses):
    optimizer = optim.SGD(net.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        optimizer.param_groups[0]["lr"] *= 0.9
    return step


@ag.compiler.disable
def outside(x):
    return x + 1


def logging_a_line(net, losses):
    return lambda x, y: LOG.warning("a line") or net(x)


EAGER = {logging_a_line: r"test_compile\.py:\d+: .*\(\) has an effect", reading: r"test_compile\.py:\d+: item\(\)", branching: r"test_compile\.py:\d+: a branch", printing: r":\d+: print\(\)",
         counting: "changes count in Python", appending: "changes losses.1. in Python", keeping: "changes holder.last in Python",
         writing: "writes to an argument", from_numpy: "outside of recorded calls", iterating: "reaches an iterator .numbers",
         own_rate: "changes 'lr' .*in Python", (lambda net, losses: lambda x, y: outside(x)): r":\d+: outside\(\), which"}


@pytest.mark.parametrize("make", EAGER)
def test_what_runs_eagerly(make, capsys):
    """With one line, and the function's own results, state and output; fullgraph=True raises it instead."""
    results = []
    for wrap in (lambda f: f, compiled):
        net, losses = network(), []
        run = wrap(make(net, losses))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            found = [run(*batch(scale=1 + number)) for number in range(3)]
        found = [out.tolist() if isinstance(out, ag.Tensor) else out for out in found]
        assert len(seen) == (wrap is compiled)
        for line in seen:
            assert re.match(f"compile: .* (runs eagerly|runs in Python): .*{EAGER[make]}", str(line.message)), line
            assert line.filename == __file__
        results.append((found, [p.tolist() for p in net.parameters()], [t.tolist() for t in losses], capsys.readouterr().out))
    assert results[0] == results[1]
    net, losses = network(), []
    before = [np.array(p.detach().numpy()) for p in net.parameters()]
    with pytest.raises(TraceError, match=f"can't be compiled as a whole: .*{EAGER[make]}"):
        compiled(make(net, losses), fullgraph=True)(*batch())
    assert_equal(before, [p.detach().numpy() for p in net.parameters()])
    assert not losses


def test_a_test_of_values_that_comes_out_otherwise():
    """cross_entropy asks whether targets are ignored: a batch with such targets makes a program of the general kind."""
    plain, fast = Training(), Training()
    step = compiled(fast.step)
    for run in (plain.step, step):
        ag.manual_seed(0)
        for number in range(4):
            x, y = batch()
            y[0] = -100 if number % 2 else 1
            run(x, y)
    assert_equal(plain.state(), fast.state())


def test_inside_of_another():
    inner = compiled(lambda x: x.exp())
    outer = compiled(lambda x: inner(x) * 2)
    assert outer(ag.zeros(2)).tolist() == outer(ag.zeros(2)).tolist() == [2, 2]
    assert inner.made == 0 and "exp" in outer.program()
    assert ag.trace_step(lambda x: inner(x), ag.zeros(2))(ag.zeros(2)).tolist() == [1, 1]
    assert ag.func.vmap(compiled(lambda x: x.sum()))(ag.ones(2, 3)).tolist() == [3, 3]


def test_is_compiling():
    seen = []

    def f(x):
        seen.append(ag.compiler.is_compiling())
        return x * 1

    with pytest.warns(UserWarning, match="changes seen"):
        compiled(f)(ag.ones(1))
    assert seen == [False] and not ag.compiler.is_compiling()
    flagged = compiled(lambda x: x * (2 if ag.compiler.is_compiling() else 2.0))
    assert flagged(ag.ones(1)).item() == 2


def test_threads_share_a_function():
    w = ag.tensor([1.0, 2.0], requires_grad=True)
    run, errors = compiled(lambda x: (x * w).exp().sum()), []

    def work(number):
        for _ in range(50):
            x = ag.full((2,), float(number))
            (g,) = ag.grad(run(x), w)
            if not np.allclose(g.numpy(), number * np.exp([number, 2 * number])):
                errors.append(g)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not errors


def test_settings():
    def f(x):
        return x

    assert ag.compile(f, disable=True) is f and ag.compile(f, backend="eager") is f
    assert ag.compile(ag.compile(f)).function is f
    for mode in ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"):
        assert ag.compile(f, mode=mode)(ag.ones(1)).item() == 1
    for error, settings, text in [
            (NotImplementedError, {"dynamic": True}, "dynamic=True"), (NotImplementedError, {"backend": print}, "callable"),
            (ValueError, {"backend": "tvm"}, "'tvm'"), (ValueError, {"mode": "fast"}, "'fast'"),
            (RuntimeError, {"options": {"x": 1}}, "unknown option 'x'"),
            (RuntimeError, {"options": {"x": 1}, "mode": "default"}, "Either mode or options")]:
        with pytest.raises(error, match=text):
            ag.compile(f, **settings)


class Reading(Training):
    """Steps that read, print, count and keep something in the middle of them."""

    def __init__(self):
        super().__init__()
        self.count, self.total = 0, 0.0

    def at_the_end(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def counted(self, x, y):
        self.count += 1
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        if self.count % 2 == 1:
            print(self.count, float(loss))
        return loss

    def before_backward(self, x, y):
        out = self.net(x)
        loss = F.cross_entropy(out, y)
        self.total += loss.item()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        hits = (out.argmax(1) == y).sum()
        return hits, self.total


@pytest.mark.parametrize("name", ["at_the_end", "counted", "before_backward"])
def test_functions_in_parts(name, capsys):
    """The line that reads a value runs in Python; what is before and after it is compiled."""
    found = []
    for wrap in (lambda f: f, compiled):
        training = Reading()
        run = wrap(getattr(training, name))
        ag.manual_seed(1)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            outs = [run(*batch(scale=1 + n)) for n in range(5)]
        outs = [[o.detach().tolist() if isinstance(o, ag.Tensor) else o for o in (out if isinstance(out, tuple) else (out,))]
                for out in outs]
        found.append((outs, [a.tolist() for a in training.state()], training.count, training.total, capsys.readouterr().out))
    assert found[0] == found[1]
    assert len(seen) == 1 and "is compiled in parts, since a line of it runs in Python" in str(seen[0].message)
    assert "def replay" in run.program() and run.made == 1
    assert any(part.programs for part in parts_of(run.parts))


def test_a_copy_that_the_core_keeps_of_an_overwritten_tensor():
    """mul_() keeps the former values for backward, which no recorded call makes: they must not be those of the recording."""
    w = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def step():
        w.grad = None
        y = (w * 2).add_(1).mul_(w)
        y.sum().backward()
        return y.detach()

    compiled = ag.compile(step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(4):
            w.array[...] = k + np.arange(3)
            got = compiled().array.copy(), w.grad.array.copy()
            wanted = step().array, w.grad.array
            assert (got[0] == wanted[0]).all() and (got[1] == wanted[1]).all()


def test_arrays_of_numpy_give_one_notice():
    """Each call has another array: the first says why such calls are eager, and the others run at once."""
    step = compiled(lambda x, scale: x * ag.from_numpy(scale))
    with pytest.warns(UserWarning, match="NumPy array: pass a tensor"):
        step(ag.ones(2), np.ones(2, np.float32))
    for n in range(10):
        assert step(ag.ones(2), np.full(2, n, np.float32)).tolist() == [n, n]
    assert step.made == len(step.eager_calls) == 1
