"""trace_step() under DataParallel: twenty replays are bitwise twenty steps, on every rank; buffers, buckets, collectives too."""

import threading

import numpy as np
import pytest
from raised import raises

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.compile import TraceError
from dparallel import AllReduce, DataParallel, Recv, Send, SyncBatchNorm, hooks

SEED = threading.Lock()              # ranks as threads share the default generator


def training(comm, *, extra=lambda loss: loss, convert=None, hook=None, **options):
    """A data-parallel model with batch norm, its optimiser, and a step on this rank's rows; bitwise alike each time."""
    with SEED:
        ag.manual_seed(3)
        net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4))
    model = DataParallel(net if convert is None else convert(net, comm), comm=comm, **options)
    if hook is not None:
        model.register_comm_hook(None, hook)
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)

    def step(x, y):
        optimizer.zero_grad()
        loss = extra(F.cross_entropy(model(x), y))
        loss.backward()
        optimizer.step()
        return loss

    return model, step


def batches(rank, steps=20):
    rng = np.random.default_rng(rank)
    return [(ag.tensor(rng.standard_normal((4 + rank, 6)).astype(np.float32)), ag.tensor(rng.integers(0, 4, 4 + rank)))
            for _ in range(steps)]


def state(model):
    return [np.array(t.detach().numpy()) for t in model.state_dict().values()] + [
        np.array(p.grad.numpy()) for p in model.parameters()]


OPTIONS = [{}, {"bucket_cap_mb": 0.0002}, {"average": "ranks"}, {"convert": SyncBatchNorm.convert_sync_batchnorm},
           {"shard": "optimizer"}, {"shard": "gradients"}, {"verify_every": 2}, {"hook": hooks.fp16_compress_hook}]


def assert_alike(eager, recorded, data):
    """Steps and the replays of another one, from the same start, give bitwise the same."""
    (plain, slow), (traced, step) = eager, recorded
    fast = ag.trace_step(step, data[0])
    for x, y in data:
        np.testing.assert_array_equal(slow(x, y).detach().numpy(), fast(x, y).numpy(), strict=True)
    for a, b in zip(state(plain), state(traced), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("options", OPTIONS)
def test_replays_are_the_steps(comm, options):
    assert_alike(training(comm, **options), training(comm, **options), batches(comm.rank))


def wrapped(comm, **options):
    with SEED:
        ag.manual_seed(3)
        net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
    model = DataParallel(net, comm=comm, **options)
    return model, optim.SGD(model.parameters(), lr=0.1)


@pytest.mark.parametrize("options", [{}, {"average": "ranks"}])
def test_replays_inside_no_sync(comm, options):
    """no_sync() stands around calls of a recorded step: the sum then has to know what the passes in it count."""
    results = []
    for traced in (False, True):
        model, optimizer = wrapped(comm, **options)

        def passed(x, y, model=model):
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss

        data = batches(comm.rank, 12)
        run = ag.trace_step(passed, data[0]) if traced else passed
        for number, (x, y) in enumerate(data):
            with model.no_sync(number % 3 < 2):
                run(x, y)
            if number % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
        results.append([np.array(t.detach().numpy()) for t in model.state_dict().values()])
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("average", ["rows", "ranks", "sum"])
def test_passes_that_collect_and_one_that_ends(comm, average):
    """The last one was recorded without gradients in its way: its replay adds to those that it finds."""
    results = []
    for traced in (False, True):
        model, optimizer = wrapped(comm, average=average)

        def passed(x, y, model=model):
            F.cross_entropy(model(x), y).backward()

        def last(x, y, passed=passed, optimizer=optimizer):
            passed(x, y)
            optimizer.step()
            optimizer.zero_grad()

        data = batches(comm.rank, 9)
        runs = [ag.trace_step(run, data[0]) if traced else run for run in (passed, last)]
        for number, (x, y) in enumerate(data):
            with model.no_sync(number % 3 < 2):
                runs[number % 3 == 2](x, y)
        results.append([np.array(t.detach().numpy()) for t in model.state_dict().values()])
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("shard", ["optimizer", "gradients"])
def test_replays_inside_no_sync_are_refused_with_shards(comm, shard):
    model, _ = training(comm, shard=shard)
    x, y = batches(comm.rank)[0]
    fast = ag.trace_step(lambda *batch: F.cross_entropy(model(batch[0]), batch[1]).backward(), (x, y))
    if comm.size > 1:
        with model.no_sync(), pytest.raises(NotImplementedError, match="with shard="):
            fast(x, y)


def test_users_collectives(comm):
    def extra(loss):
        return loss + 0.5 * AllReduce.apply(loss * loss, comm=comm)

    assert_alike(training(comm, extra=extra), training(comm, extra=extra), batches(comm.rank, 5))


def test_refused_inside(comm):
    model, step = training(comm)

    def weighted(x, y):
        with model.weighted(2.0):
            return step(x, y)

    if comm.size > 1:
        raises(TraceError, "weighted", lambda: ag.trace_step(weighted, batches(comm.rank)[0]))


@pytest.mark.parametrize("options", [{"shard": "parameters"}, {"reproducible": 4}, {"batch": "root"}])
def test_refused_models(comm, options):
    if comm.size == 2:
        _, step = training(comm, **options)
        raises(TraceError, f"{next(iter(options))}=.* can't be recorded", lambda: ag.trace_step(step, batches(comm.rank)[0]))


def test_a_hook_with_a_state_is_refused(comm):
    if comm.size > 1:
        model, step = training(comm)
        model.register_comm_hook(hooks.PowerSGDState(comm), hooks.powerSGD_hook)
        raises(TraceError, "PowerSGDState", lambda: ag.trace_step(step, batches(comm.rank)[0]))


def test_messages_are_refused(comm):
    w = ag.ones(3)

    def started(x):
        return AllReduce.start(x * w, comm=comm).wait().sum()

    def sending(x):
        if comm.rank == 0:
            Send.apply(x * w, dest=1, comm=comm)
        elif comm.rank == 1:
            return Recv.apply(source=0, comm=comm).sum()
        return x.sum()

    if comm.size > 1:
        raises(TraceError, "start", lambda: ag.trace_step(started, ag.ones(3)))
        if comm.rank < 2:
            raises(TraceError, "messages", lambda: ag.trace_step(sending, ag.ones(3)))


def test_replays_that_add_up(comm):
    """With other weights in each pass, and a parameter that only the loss uses: its gradient comes first."""
    def made():
        net = nn.Linear(6, 4, bias=False)
        net.weight.data = ag.tensor(np.random.default_rng(0).standard_normal((4, 6)), dtype=ag.float32)
        net.scale = nn.Parameter(ag.tensor(1.5))
        model = DataParallel(net, comm=comm)

        def step(x, y):
            loss = F.cross_entropy(model(x) * net.scale, y)
            loss.backward()
            return loss

        return model, step

    data = batches(comm.rank, 3)
    (plain, slow), (traced, step) = made(), made()
    fast = ag.trace_step(step, data[0])
    if comm.size == 1:                           # no reducer has been needed yet
        with pytest.raises(RuntimeError, match="once before trace"), traced.weighted(1):
            pass
        traced, step = made()
        with traced.weighted(1):
            pass
        fast = ag.trace_step(step, data[0])
    for model, once in ((plain, slow), (traced, fast)):
        for _ in range(2):
            model.zero_grad()
            for number, batch in enumerate(data):
                with model.no_sync(number < 2), model.weighted(comm.rank + 2 * number + 1):
                    once(*batch)
    for p, q in zip(plain.parameters(), traced.parameters(), strict=True):
        np.testing.assert_array_equal(p.grad.numpy(), q.grad.numpy())


def test_a_replay_tells_the_reducer_that_the_pass_has_begun_and_no_more(comm):
    """Of the identity at the module's door only its word to the reducer is left: no call of it, forward or backward."""
    _, step = training(comm)
    data = batches(comm.rank, 1)[0]
    text = ag.trace_step(step, data).program()
    assert ("backward_begins" in text) == (comm.size > 1) and "BackwardSignal" not in text, text
