"""DataParallel equals one process on the whole batch: gradients, five steps, uneven and empty shares, second derivatives."""

import threading

import numpy as np
import pytest
from raised import raises

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import (
    CollectiveError,
    DataParallel,
    Devices,
    assert_same_everywhere,
    gather,
    parallel_apply,
    run_ranks,
    scatter,
)

pytestmark = pytest.mark.quick
ROWS, FEATURES, CLASSES = 13, 6, 4
TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}


def batches(steps=5):
    rng = np.random.default_rng(0)
    return [(rng.standard_normal((ROWS, FEATURES)), rng.integers(0, CLASSES, ROWS)) for _ in range(steps)]


SEED = threading.Lock()              # ranks as threads share the default generator


def seeded(make):
    """A constructor that gives the same numbers to every rank."""
    def made():
        with SEED:
            ag.manual_seed(3)
            return make()

    made.__name__ = make.__name__
    return made


@seeded
def mlp():
    return nn.Sequential(nn.Linear(FEATURES, 8), nn.Tanh(), nn.Linear(8, CLASSES)).double()


@seeded
def convnet():
    return nn.Sequential(Images(), nn.Conv2d(1, 3, 2, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(6, CLASSES)).double()


class Images(nn.Module):
    def forward(self, x):
        return x.reshape(-1, 1, 2, 3)


def plain_loss(model, x, t):
    return F.cross_entropy(model(x), t)


def penalised_loss(model, x, t):
    """With a gradient penalty: the mean over rows of |d(sum of outputs)/dx|^2."""
    x = x.detach().requires_grad_()
    y = model(x)
    (g,) = ag.grad((y * y).sum(), x, create_graph=True)
    return F.cross_entropy(y, t) + (g * g).sum() / max(len(t), 1)


def train(model, params, optimizer, rows, loss_of, active=True):
    history = []
    for x, t in batches():
        optimizer.zero_grad()
        loss = loss_of(model, ag.from_numpy(x[rows]), ag.from_numpy(t[rows]))
        loss.backward()
        history += [None if p.grad is None else p.grad.numpy().copy() for p in params]
        optimizer.step()
    return history + [p.detach().numpy().copy() for p in params]


def compare(ours, expected):
    for a, b in zip(ours, expected, strict=True):
        np.testing.assert_allclose(a, b, **TOLERANCE)


def reference(make, optimizer, loss_of):
    model = make()
    params = list(model.parameters())
    return train(model, params, optimizer(params), slice(None), loss_of)


def share(comm, kind):
    """This rank's rows: even, uneven, or with a rank that has none."""
    if kind == "even":
        return slice(comm.rank, None, comm.size)
    sizes = [0] * comm.size
    sizes[-1] = ROWS
    for rank in range(comm.size - 1):
        sizes[rank] = 0 if kind == "empty" and rank == 0 else rank + 1
        sizes[-1] -= sizes[rank]
    start = sum(sizes[:comm.rank])
    return slice(start, start + sizes[comm.rank])


SGD = lambda params: optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.01)
ADAMW = lambda params: optim.AdamW(params, lr=0.02)


@pytest.mark.parametrize("make", [mlp, convnet])
@pytest.mark.parametrize("optimizer", [SGD, ADAMW], ids=["sgd", "adamw"])
@pytest.mark.parametrize("kind", ["even", "uneven", "empty"])
def test_own_batches(comm, make, optimizer, kind):
    model = DataParallel(make(), comm=comm, batch="own", bucket_cap_mb=0.0005)
    params = list(model.parameters())
    compare(train(model, params, optimizer(params), share(comm, kind), plain_loss), reference(make, optimizer, plain_loss))
    assert_same_everywhere(model, comm)


@pytest.mark.parametrize("kind", ["uneven", "empty"])
def test_gradient_penalty_with_own_batches(comm, kind):
    model = DataParallel(mlp(), comm=comm, batch="own")
    params = list(model.parameters())
    compare(train(model, params, SGD(params), share(comm, kind), penalised_loss), reference(mlp, SGD, penalised_loss))


def train_scattered(comm, make, optimizer, loss_of, count=ROWS):
    """Root's batch through every rank; other ranks only take part."""
    model = DataParallel(make(), comm=comm, batch="root")
    params = list(model.parameters())
    if 0 in comm.held:
        return train(model, params, optimizer(params), slice(None), loss_of)
    for _ in batches():
        x = ag.tensor(np.empty(0), requires_grad=loss_of is penalised_loss)
        y = model(x)
        if loss_of is penalised_loss:
            (g,) = ag.grad((y * y).sum(), x, create_graph=True)
            (y.sum() + (g * g).sum()).backward()
        else:
            y.sum().backward()
    return None


@pytest.mark.parametrize("make, optimizer, loss_of", [(mlp, SGD, plain_loss), (convnet, SGD, plain_loss), (mlp, ADAMW, plain_loss),
                                                      (convnet, ADAMW, plain_loss), (mlp, SGD, penalised_loss)])
@pytest.mark.devices
def test_batch_on_the_root_and_local_devices(comm, make, optimizer, loss_of):
    ours = train_scattered(comm, make, optimizer, loss_of)
    if ours is not None:
        compare(ours, reference(make, optimizer, loss_of))


@pytest.mark.devices
def test_fewer_rows_than_ranks(comm):
    model = DataParallel(mlp(), comm=comm, batch="root")
    x = ag.ones(2, FEATURES, dtype=ag.float64) if 0 in comm.held else None
    y = model(x)
    y.sum().backward()
    if 0 in comm.held:
        expected = mlp()
        z = expected(ag.ones(2, FEATURES, dtype=ag.float64))
        z.sum().backward()
        np.testing.assert_allclose(y.detach().numpy(), z.detach().numpy())
        for p, q in zip(model.parameters(), expected.parameters(), strict=True):
            np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), **TOLERANCE)


def test_accumulation_without_sync(comm):
    model = DataParallel(mlp(), comm=comm, batch="own")
    expected = mlp()
    for number, (x, t) in enumerate(batches(3)):
        rows = share(comm, "uneven")
        with model.no_sync(when=number < 2):
            (plain_loss(model, ag.from_numpy(x[rows]), ag.from_numpy(t[rows])) / 3).backward()
        (plain_loss(expected, ag.from_numpy(x), ag.from_numpy(t)) / 3).backward()
    for p, q in zip(model.parameters(), expected.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), **TOLERANCE)


def test_only_calls_that_a_backward_pass_comes_from_count(comm):
    """A forward without backward, such as a look at validation data, changes no weight; nor does a second output."""
    model = DataParallel(mlp(), comm=comm, batch="own")
    x, t = batches(1)[0]
    rows = share(comm, "uneven")
    model(ag.ones(comm.rank * 7 + 1, FEATURES, dtype=ag.float64))
    plain_loss(model, ag.from_numpy(x[rows]), ag.from_numpy(t[rows])).backward()
    expected = mlp()
    plain_loss(expected, ag.from_numpy(x), ag.from_numpy(t)).backward()
    for p, q in zip(model.parameters(), expected.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), **TOLERANCE)
    if comm.size > 1:
        raises(RuntimeError, "none of its outputs", lambda: sum((p * p).sum() for p in model.parameters()).backward())


def test_no_sync_counts_where_backward_is(comm):
    model = DataParallel(mlp(), comm=comm, batch="own")
    x = ag.ones(2, FEATURES, dtype=ag.float64) * (comm.rank + 1)
    loss = model(x).sum()
    with model.no_sync():
        loss.backward()
    local = mlp()
    local(x).sum().backward()
    for p, q in zip(model.parameters(), local.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), **TOLERANCE)


class Parts(nn.Module):
    def __init__(self):
        self.always, self.sometimes, self.never = (nn.Linear(3, 3).double() for _ in range(3))

    def forward(self, x, extra):
        y = self.always(x)
        return y + self.sometimes(x) if extra else y


@seeded
def Branches():
    return Parts()


def test_parameters_used_on_some_ranks_only(comm):
    model = DataParallel(Branches(), comm=comm, average="ranks")
    x = ag.ones(2, 3, dtype=ag.float64) * (comm.rank + 1)
    for _ in range(2):
        model.zero_grad()
        model(x, comm.rank == 0).sum().backward()
        one = Branches()
        (sum(one(ag.ones(2, 3, dtype=ag.float64) * (r + 1), r == 0).sum() for r in range(comm.size)) / comm.size).backward()
        for (name, p), q in zip(model.named_parameters(), one.parameters(), strict=True):
            if name.startswith("never"):
                assert p.grad is None
            else:
                np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), **TOLERANCE)


def test_a_loss_that_reaches_no_parameter_on_one_rank(comm):
    model = DataParallel(mlp(), comm=comm, average="ranks")
    y = model(ag.ones(2, FEATURES, dtype=ag.float64))
    (y.sum() * 1.0 if comm.rank == 0 else (y * 0).sum()).backward()
    one = mlp()
    (one(ag.ones(2, FEATURES, dtype=ag.float64)).sum() / comm.size).backward()
    for p, q in zip(model.parameters(), one.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), **TOLERANCE)


@pytest.mark.parametrize("average", ["ranks", "sum"])
def test_other_averages(comm, average):
    model = DataParallel(mlp(), comm=comm, batch="own", average=average)
    x = ag.ones(comm.rank + 1, FEATURES, dtype=ag.float64)
    model(x).sum().backward()
    one = mlp()
    total = sum(one(ag.ones(r + 1, FEATURES, dtype=ag.float64)).sum() for r in range(comm.size))
    (total / comm.size if average == "ranks" else total).backward()
    for p, q in zip(model.parameters(), one.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), **TOLERANCE)


def test_parameters_are_broadcast_and_verified(comm):
    net = nn.Linear(3, 2)
    net.weight.data = net.weight.detach() * (comm.rank + 1)
    model = DataParallel(net, comm=comm)
    assert_same_everywhere(model, comm)
    if comm.size > 1:
        other = nn.Linear(3, 2 + (comm.rank == comm.size - 1))
        raises(CollectiveError, f"weight.*rank {comm.size - 1}", DataParallel, other, comm=comm)
        fewer = nn.Linear(3, 2, bias=comm.rank == 0)
        raises(CollectiveError, "rank 1 has 1 parameters", DataParallel, fewer, comm=comm)


def test_allreduce_starts_while_backward_still_runs():
    """The bucket of the last layer leaves before the gradient of the first is there."""
    events = []

    def body(comm):
        model = DataParallel(mlp(), comm=comm, batch="own", bucket_cap_mb=0.0001)
        reducer = model._sum.reducer
        assert len(reducer.buckets) > 1
        start = reducer.comm.start_sum_in_place
        reducer.comm.start_sum_in_place = lambda arrays: (events.append(("leaves", comm.rank)), start(arrays))[1]
        model.module[0].weight.register_hook(lambda g: events.append(("first layer", comm.rank)))
        model(ag.ones(2, FEATURES, dtype=ag.float64)).sum().backward()

    run_ranks(2, body)
    mine = [event for event, rank in events if rank == 0]
    assert mine.index("leaves") < mine.index("first layer") and mine.count("leaves") > 1


def test_gradients_live_in_buckets_and_are_divided_once(comm):
    if comm.size == 1:
        return
    model = DataParallel(mlp(), comm=comm, batch="own")
    bucket = model._sum.reducer.buckets[0]
    model(ag.ones(2, FEATURES, dtype=ag.float64)).sum().backward()
    assert all(np.shares_memory(p.grad.array, bucket.buffer) for p in model.parameters())
    first = [p.grad.numpy().copy() for p in model.parameters()]
    model(ag.ones(2, FEATURES, dtype=ag.float64)).sum().backward()      # without zero_grad: adds up
    for p, g in zip(model.parameters(), first, strict=True):
        np.testing.assert_allclose(p.grad.numpy(), 2 * g, rtol=1e-12)


class Nest(nn.Module):
    def __init__(self):
        self.w = nn.Parameter(ag.tensor([2.0], dtype=ag.float64))

    def forward(self, batch, scale=1.0, *, flag):
        assert flag == "kept"
        return {"y": batch["x"] * self.w * scale, "pair": (batch["x"].sum(), None)}


@pytest.mark.devices
def test_nested_inputs_and_outputs(comm):
    model = DataParallel(Nest(), comm=comm, batch="root")
    x = ag.arange(6, dtype=ag.float64) if 0 in comm.held else ag.tensor(np.empty(0))
    out = model({"x": x}, 3.0, flag="kept")
    assert out["pair"][1] is None
    if 0 in comm.held:
        assert out["y"].tolist() == [0, 6, 12, 18, 24, 30]
        assert out["pair"][0].sum().item() == 15 and out["pair"][0].shape in ((comm.size,), ())
    (out["y"].sum() + out["pair"][0].sum()).backward()
    if 0 in comm.held:
        assert model.module.w.grad.item() == 45


def test_tensors_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match=r"\['a'\] has 4 rows along dim 0, \['b'\] has 3"):
        scatter({"a": ag.ones(4), "b": ag.ones(3)}, Devices(2))
    a, b = scatter((ag.ones(3, 2), "text", [ag.tensor(1.0)]), Devices(2))
    assert a[0].shape == (2, 2) and b[0].shape == (1, 2) and a[1] == "text" and b[2][0].item() == 1
    raises(TypeError, "not int", lambda: gather([1, 2], Devices(2)))


def test_replicas_share_buffers_of_the_first_device_and_keep_modes():
    class Counts(nn.Module):
        def __init__(self):
            self.register_buffer("seen", ag.zeros(1))
            self.layer = nn.Linear(2, 2)
            self.again = self.layer

        def forward(self, x):
            self.seen.add_(float(len(x)))
            assert self.again is self.layer and len(list(self.parameters())) == 2
            return self.layer(x)

    net = Counts()
    model = DataParallel(net, devices=3)
    y = model(ag.ones(7, 2))
    assert net.seen.item() == 3 and y.requires_grad and y.shape == (7, 2)
    with ag.no_grad():
        assert not model(ag.ones(7, 2)).requires_grad


def test_a_failing_replica_is_named():
    def fails(x):
        raise KeyError("planted")

    with pytest.raises(KeyError, match="replica 1 on device 1.*planted") as caught:
        parallel_apply([lambda x: x, fails], [(1,), (2,)])
    assert isinstance(caught.value.__cause__, KeyError)
    raises(ValueError, "number of inputs 1", parallel_apply, [fails, fails], [1])


def test_state_under_the_modules_own_names():
    net = mlp()
    model = DataParallel(net, devices=2)
    assert list(model.state_dict()) == list(net.state_dict())
    state = {f"module.{k}": v.numpy() * 0 for k, v in net.state_dict().items()}
    model.load_state_dict(state)
    assert net[0].weight.sum().item() == 0
    assert [n for n, _ in model.named_parameters()] == [n for n, _ in net.named_parameters()]
    model.eval()
    assert not net.training


def test_names_of_parameters_and_buffers_have_no_prefix_those_of_modules_are_paths():
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    for model in (DataParallel(net, devices=2), DataParallel(net, comm=Devices(1)), DataParallel(net)):
        assert [n for n, _ in model.named_parameters()] == [n for n, _ in net.named_parameters()]
        assert [n for n, _ in model.named_buffers()] == [n for n, _ in net.named_buffers()]
        assert [n for n, _ in model.named_buffers("x")] == [f"x.{n}" for n, _ in net.named_buffers()]
        assert sorted([n for n, _ in [*model.named_parameters(), *model.named_buffers()]]) == sorted(model.state_dict())
        assert [id(b) for b in model.buffers()] == [id(b) for b in net.buffers()]
        assert [n for n, _ in model.named_modules()] == ["", "module", "module.0", "module.1"]
        assert model.get_submodule("module.1") is net[1] and model.get_buffer("module.1.running_mean") is net[1].running_mean


@pytest.mark.parametrize("make", [
    lambda: DataParallel(mlp(), devices=2, batch="own"), lambda: DataParallel(mlp(), devices=2, comm=Devices(2)),
    lambda: DataParallel(mlp(), batch="elsewhere"), lambda: DataParallel(mlp(), average="median"),
    lambda: DataParallel(mlp(), device_ids=[3, 3]),
    lambda: DataParallel(mlp(), devices=2, output_device=2), lambda: DataParallel(mlp(), devices=2, device_ids=[0, 1]), lambda: DataParallel(mlp(), bucket_cap_mb=0)])
def test_bad_arguments(make):
    raises(ValueError, None, make)


def test_refusals():
    def body(comm):
        raises(RuntimeError, "doesn't have any parameter", lambda: DataParallel(nn.ReLU(), comm=comm))

    run_ranks(1, lambda comm: None)
    run_ranks(2, body)
