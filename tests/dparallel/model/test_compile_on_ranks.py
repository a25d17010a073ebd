"""compile() under DataParallel: the steps of an eager model, and one decision of all ranks in each call."""

import threading
import warnings

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.autograd import Function
from autograd.compile import recorded
from autograd.compile.native import available
from autograd.compile.recorded import perturbed
from autograd.kernels.onednn import onednn
from dparallel import AllReduce, DataParallel

SEED = threading.Lock()              # ranks as threads share the default generator


def training(comm, extra=lambda loss: loss, **options):
    """A data-parallel model with batch norm, and a step on this rank's rows; alike each time."""
    with SEED:
        ag.manual_seed(3)
        net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
    model = DataParallel(net, comm=comm, **options)
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)

    def step(x, y):
        optimizer.zero_grad()
        loss = extra(F.cross_entropy(model(x), y))
        loss.backward()
        optimizer.step()
        return loss

    return model, step


def batches(rank, steps, odd=None):
    """This rank's batches; in steps from 5 on, rank `odd` has one row more in each third one."""
    rng = np.random.default_rng(rank)
    sizes = [4 + rank + (rank == odd and number >= 5 and number % 3 == 0) for number in range(steps)]
    return [(ag.tensor(rng.standard_normal((n, 6)).astype(np.float32)), ag.tensor(rng.integers(0, 4, n))) for n in sizes]


def state(model):
    return [np.array(t.detach().numpy()) for t in model.state_dict().values()] + [
        np.array(p.grad.numpy()) for p in model.parameters()]


def assert_alike(comm, data, **options):
    """Eager and compiled steps, from the same start, give bitwise the same. Returns the compiled step."""
    (plain, slow), (fast, step) = training(comm, **options), training(comm, **options)
    run = ag.compile(step, backend="python")
    for x, y in data:
        np.testing.assert_array_equal(slow(x, y).detach().numpy(), run(x, y).detach().numpy(), strict=True)
    for a, b in zip(state(plain), state(fast), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
    return run


@pytest.mark.parametrize("options", [{}, {"bucket_cap_mb": 0.0002}, {"average": "ranks"}, {"shard": "optimizer"},
                                     {"extra": None}])
def test_steps(comm, options):
    if "extra" in options:
        options = {"extra": lambda loss: loss + 0.5 * AllReduce.apply(loss * loss, comm=comm)}
    assert assert_alike(comm, batches(comm.rank, 6), **options).made == 1


@pytest.mark.parametrize("odd", [0, 1])
def test_one_rank_meets_another_shape(comm, odd):
    """It runs eagerly until a call in which ranks agree, the 8th or 16th, and all record again."""
    run = assert_alike(comm, batches(comm.rank, 20, odd), )
    if odd < comm.size > 1:
        assert 1 <= run.made <= 4 and not run.eager_calls
        assert run._calls == 19


def test_one_rank_can_not_be_compiled(comm):
    """A value that one rank reads makes all of them run eagerly."""
    def extra(loss):
        if comm.rank == comm.size - 1 and loss.item() > 1e9:
            raise AssertionError
        return loss

    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        run = assert_alike(comm, batches(comm.rank, 5), extra=extra)
    reasons = list(run.eager_calls.values())
    assert len(reasons) == 1 and ("item()" in reasons[0]) == (comm.rank == comm.size - 1)
    assert run.made == 1 and not any(run.programs.values())


@pytest.mark.parametrize("options", [{}, {"bucket_cap_mb": 0.0002}, {"average": "ranks"}])
@pytest.mark.parametrize("backend", ["python", "inductor"])
def test_accumulation_inside_of_a_step(comm, options, backend):
    """no_sync() around all passes of a step but the last: one program, and bitwise the eager step with the plain back end. Inside
    of no_sync() around a call, no pass is summed."""
    states = []
    for wrap in (lambda f: f, lambda f: ag.compile(f, backend=backend)):
        with SEED:
            ag.manual_seed(3)
            net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
        model = DataParallel(net, comm=comm, **options)
        optimizer = optim.AdamW(model.parameters(), lr=1e-2)

        def passes(parts, model=model):
            for number, (x, y) in enumerate(parts):
                with model.no_sync(number + 1 < len(parts)):
                    loss = F.cross_entropy(model(x), y)
                    loss.backward()
            return loss

        def step(parts, passes=passes, optimizer=optimizer):
            optimizer.zero_grad()
            loss = passes(parts)
            optimizer.step()
            return loss

        run, alone = wrap(step), wrap(passes)
        losses, data = [], batches(comm.rank, 3)
        for number in range(4):
            losses += [np.array(run(data[:n]).detach().numpy()) for n in (3, 2)]
            optimizer.zero_grad()
            with model.no_sync():
                alone(data[number % 2:2])
            alone(data[1:])
            optimizer.step()
        states.append([*losses, *state(model)])
    for a, b in zip(*states, strict=True):
        if backend == "python":
            np.testing.assert_array_equal(a, b, strict=True)
        else:
            np.testing.assert_allclose(a, b, 1e-4, 1e-6)
    assert not run.eager_calls and not alone.eager_calls and run.made == 2 and alone.made >= 1


@pytest.mark.skipif(bool(available()), reason=available())
@pytest.mark.threads(3)
def test_native_steps_leave_the_same_bits_on_all_ranks(comm):
    """Programs of ranks with other batches differ, one of them of as many elements as a weight; verify_every compares weights."""
    states = []
    for native in (False, True):
        with SEED:
            ag.manual_seed(3)
            net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
        model = DataParallel(net, comm=comm, verify_every=1, bucket_cap_mb=1e-4)
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def micro(x, y, model=model):
            F.cross_entropy(model(x), y).backward()

        def step(x, y, micro=micro, model=model, optimizer=optimizer):
            micro(x, y)
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad()

        runs = [ag.compile(f) if native else f for f in (micro, step)]
        for number, (x, y) in enumerate(batches(comm.rank, 6)):
            last = number % 3 == 2
            with model.no_sync(not last):
                runs[last](x, y)
        states.append([np.array(t.detach().numpy()) for t in model.state_dict().values()])
    for a, b in zip(*states, strict=True):
        np.testing.assert_allclose(a, b, 1e-4, 1e-5)
    assert runs[1].program().startswith("# native") and not runs[1].eager_calls


@pytest.mark.skipif(bool(available()) or onednn.library is None, reason=available() or "oneDNN is not installed")
@pytest.mark.parametrize("options", [{}, {"bucket_cap_mb": 0.0002}], ids=["one bucket", "buckets"])
def test_images_natively(comm, options):
    """oneDNN's primitives write gradients to buckets; beside native code, Python counts those that are complete."""
    states = []
    for native in (False, True):
        with SEED:
            ag.manual_seed(3)
            net = nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(54, 4))
        model = DataParallel(net, comm=comm, **options)
        optimizer = optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)

        def step(x, y, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        run = ag.compile(step) if native else step
        rng = np.random.default_rng(comm.rank)
        for _ in range(4):
            run(ag.tensor(rng.standard_normal((5, 3, 8, 8)).astype(np.float32)), ag.tensor(rng.integers(0, 4, 5)))
        states.append(state(model))
    for a, b in zip(*states, strict=True):
        np.testing.assert_allclose(a, b, 1e-3, 1e-4)
    [[program]] = run.programs.values()
    assert not {label for label in program.program.python if "Conv" in label or "Pool" in label or "Norm" in label}


def test_a_module_inside_the_model(comm):
    """The backward pass of a compiled module gives all gradients at once; they are averaged as ever."""
    states = []
    for wrap in (lambda m: m, lambda m: ag.compile(m, backend="python")):
        with SEED:
            ag.manual_seed(0)
            net = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4))
        model = DataParallel(wrap(net), comm=comm)
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        for x, y in batches(comm.rank, 4):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        states.append([np.array(p.detach().numpy()) for p in model.parameters()])
    for a, b in zip(*states, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def test_a_forward_pass_of_the_model_alone(comm):
    with SEED:
        ag.manual_seed(0)
        net = nn.Linear(6, 4)
    model = ag.compile(DataParallel(net, comm=comm), backend="python")
    x, y = batches(comm.rank, 1)[0]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(2):
            model.zero_grad()
            F.cross_entropy(model(x), y).backward()
    assert comm.size == 1 or not seen or "compile the whole step" in str(seen[0].message)
    eager = DataParallel(nn.Linear(6, 4), comm=comm)
    eager.load_state_dict(model.state_dict())
    F.cross_entropy(eager(x), y).backward()
    for p, q in zip(model.parameters(), eager.parameters(), strict=True):
        np.testing.assert_array_equal(p.grad.numpy(), q.grad.numpy())


@pytest.mark.parametrize("always", [False, True], ids=["other values", "any values"])
@pytest.mark.parametrize("where", ["before", "inside", "after"])
def test_one_rank_fails_while_it_records(comm, where, always, monkeypatch):
    """Before, inside or after the backward pass: the others fail there too, and all record with other values or run eagerly."""
    here = threading.local()             # of a rank

    def note(array):
        here.others = True
        return perturbed(array)

    monkeypatch.setattr(recorded, "perturbed", note)

    def check():
        if ag.compiler.is_compiling() and comm.rank == comm.size - 1 and (always or getattr(here, "others", False)):
            here.others = False
            raise ValueError("not these values")

    class Picky(Function):
        @staticmethod
        def forward(ctx, x):
            if where != "inside":
                check()
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if where == "inside":
                check()
            return g * 1

    def trained(wrap):
        with SEED:
            ag.manual_seed(0)
            net = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 5), nn.Linear(5, 4))
        model = DataParallel(net, comm=comm, bucket_cap_mb=1e-4)
        optimizer = optim.SGD(model.parameters(), lr=0.1)

        def step(x, y):
            optimizer.zero_grad()
            z = model(x)
            loss = F.cross_entropy(z if where == "after" else Picky.apply(z), y)
            loss.backward()
            optimizer.step()
            return Picky.apply(loss.detach()) if where == "after" else loss.detach()

        run = wrap(step)
        return [run(x, y).numpy() for x, y in batches(comm.rank, 4)] + state(model), run

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (wanted, _), (got, run) = trained(lambda f: f), trained(lambda f: ag.compile(f, backend="python"))
    for a, b in zip(wanted, got, strict=True):
        np.testing.assert_array_equal(a, b)
    assert bool(run.eager_calls) == always and bool(any(run.programs.values())) != always, run.program()
