"""SyncBatchNorm is BatchNorm of one process that has all rows: values, statistics, gradients of two orders."""

import contextlib
import copy

import numpy as np
import pytest
from raised import raises

import autograd as ag
from autograd import nn, optim
from autograd.utils.checkpoint import checkpoint
from dparallel import (
    CollectiveError,
    DataParallel,
    Devices,
    RankFailure,
    SyncBatchNorm,
    convert_sync_batchnorm,
    parallel_apply,
    run_ranks,
)

pytestmark = pytest.mark.quick
CHANNELS = 3
SHAPES = [(13, CHANNELS), (13, CHANNELS, 4), (13, CHANNELS, 2, 3), (13, CHANNELS, 2, 1, 2), (13, CHANNELS, 1, 2, 1, 2)]
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def cuts(comm, rows=13, empty=False):
    """This rank's rows: unequal, and none on the first of several where `empty`."""
    sizes = [0 if empty and rank == 0 else rank + 1 for rank in range(comm.size - 1)]
    start = sum(sizes[:comm.rank])
    return slice(start, start + sizes[comm.rank] if comm.rank < comm.size - 1 else rows)


def plain(shape, **options):
    """BatchNorm that takes any number of dimensions."""
    made = nn.BatchNorm1d(CHANNELS, dtype=ag.float64, **options)
    made._check_input_dim = lambda x: None
    return made


def ready(layer):
    for p, start in ((layer.weight, 1.5), (layer.bias, 0.3)):
        if p is not None:
            p.data = ag.tensor(start + np.arange(CHANNELS) / 7, dtype=p.dtype)
    return layer


def first_and_second(layer, x, u):
    """The output, gradients of the sum over all ranks of <y^2, u>, and that of the cubes of the input's."""
    x = ag.tensor(x, requires_grad=True)
    y = layer(x)
    params = [p for p in (layer.weight, layer.bias) if p is not None]
    g = ag.grad((y * y * ag.from_numpy(u)).sum(), [x, *params], create_graph=True)
    return y, g, ag.grad((g[0] ** 3).sum(), x)[0]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{len(s)}-d")
@pytest.mark.parametrize("empty", [False, True], ids=["uneven", "empty"])
def test_equals_one_process(comm, shape, empty):
    rng = np.random.default_rng(5)
    x, u = 3 + rng.standard_normal(shape), rng.standard_normal(shape)
    whole = ready(plain(shape))
    y, (gx, *gp), ggx = first_and_second(whole, x, u)
    mine = cuts(comm, empty=empty)
    layer = ready(SyncBatchNorm(CHANNELS, dtype=ag.float64, process_group=comm))
    yy, (hx, *hp), hhx = first_and_second(layer, x[mine], u[mine])
    np.testing.assert_allclose(yy.detach().numpy(), y.detach().numpy()[mine], **CLOSE)
    np.testing.assert_allclose(hx.detach().numpy(), gx.detach().numpy()[mine], **CLOSE)
    np.testing.assert_allclose(hhx.numpy(), ggx.numpy()[mine], rtol=1e-12, atol=1e-12 * np.abs(ggx.numpy()).max())
    for h, g in zip(hp, gp, strict=True):            # each rank has its rows' part
        np.testing.assert_allclose(comm.allreduce([h.detach().numpy()])[0], g.detach().numpy(), **CLOSE)
    for name in ("running_mean", "running_var"):
        np.testing.assert_allclose(getattr(layer, name).numpy(), getattr(whole, name).numpy(), **CLOSE)
    assert layer.num_batches_tracked.item() == 1


@pytest.mark.parametrize("options", [{"momentum": None}, {"affine": False}, {"track_running_stats": False}, {"bias": False},
                                     {"eps": 0.1, "momentum": 0.4}], ids=str)
def test_options(comm, options):
    x = np.random.default_rng(6).standard_normal((3, 13, CHANNELS))
    whole = ready(plain((13, CHANNELS), **options))
    layer = ready(SyncBatchNorm(CHANNELS, dtype=ag.float64, process_group=comm, **options))
    reference = copy.deepcopy(whole)
    reference._check_input_dim = lambda x: None
    for batch in x:
        y = reference(ag.from_numpy(batch))
        np.testing.assert_allclose(layer(ag.from_numpy(batch[cuts(comm)])).detach().numpy(),
                                   y.detach().numpy()[cuts(comm)], **CLOSE)
    assert list(layer.state_dict()) == list(reference.state_dict())
    for name, value in layer.state_dict().items():
        np.testing.assert_allclose(value.numpy(), reference.state_dict()[name].numpy(), **CLOSE)
    layer.eval(), reference.eval()
    if comm.rank == 0 and options != {"track_running_stats": False}:       # evaluation meets nobody
        np.testing.assert_allclose(layer(ag.from_numpy(x[0])).detach().numpy(),
                                   reference(ag.from_numpy(x[0])).detach().numpy(), **CLOSE)


@pytest.mark.parametrize("dtype, tolerance", [(np.float16, 4e-3), (np.float32, 3e-6)])
def test_narrow_dtypes(comm, dtype, tolerance):
    x, u = np.random.default_rng(7).standard_normal((2, 13, CHANNELS, 2)).astype(dtype)
    given = ag.tensor(x[cuts(comm)], requires_grad=True)
    y = SyncBatchNorm(CHANNELS, process_group=comm)(given)
    (g,) = ag.grad(y, given, ag.from_numpy(u[cuts(comm)]))
    whole = ag.tensor(x.astype(np.float64), requires_grad=True)
    expected = nn.BatchNorm1d(CHANNELS, dtype=ag.float64)(whole)
    (h,) = ag.grad(expected, whole, ag.from_numpy(u.astype(np.float64)))
    assert y.dtype == dtype and g.dtype == dtype
    np.testing.assert_allclose(y.detach().numpy(), expected.detach().numpy()[cuts(comm)], atol=tolerance, rtol=tolerance)
    np.testing.assert_allclose(g.numpy(), h.numpy()[cuts(comm)], atol=tolerance, rtol=tolerance)


def test_large_means_do_not_cancel(comm):
    x = (1e4 + np.random.default_rng(8).standard_normal((64, CHANNELS))).astype(np.float32)
    layer = SyncBatchNorm(CHANNELS, process_group=comm, momentum=1.0)
    layer(ag.from_numpy(x[cuts(comm, 64)]))
    np.testing.assert_allclose(layer.running_var.numpy(), x.astype(np.float64).var(0, ddof=1), rtol=1e-3)


def test_a_rank_that_needs_no_gradient_takes_part(comm):
    x = ag.tensor(np.arange(6.0).reshape(2, 3) * (comm.rank + 1), requires_grad=comm.rank == comm.size - 1)
    layer = SyncBatchNorm(3, affine=False, dtype=ag.float64, process_group=comm)
    (layer(x) ** 3).sum().backward()
    assert (x.grad is not None) == x.requires_grad


# --- in DataParallel ------------------------------------------------------------------------------------------------

class Net(nn.Module):
    """Two normalisations, the first of which has a layer with parameters before it."""

    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(9)
        self.first, self.norm = nn.Linear(4, CHANNELS), nn.BatchNorm1d(CHANNELS)
        self.second, self.last = nn.Linear(CHANNELS, 5), nn.BatchNorm1d(5)
        self.double()
        for p in self.parameters():
            p.data = ag.from_numpy(rng.standard_normal(p.shape))

    def forward(self, x):
        return self.last(self.second(self.norm(self.first(x)).tanh()))


def trained(model, rows, average="rows", steps=3):
    rng = np.random.default_rng(10)
    optimizer = optim.SGD(model.parameters(), lr=0.05 / (13 if average == "sum" else 1))
    for _ in range(steps):
        x, t = rng.standard_normal((13, 4)), rng.standard_normal((13, 5))
        optimizer.zero_grad()
        y = model(ag.from_numpy(x[rows]))
        if y.shape == (0,):                              # batch="root", off the root
            y.sum().backward()
        else:
            loss = ((y - ag.from_numpy(t[rows])) ** 4).sum(1)
            (loss.sum() if average == "sum" else loss.mean()).backward()
        optimizer.step()
    return model


def compare(model, whole):
    for name, value in whole.state_dict().items():
        np.testing.assert_allclose(model.state_dict()[name].numpy(), value.numpy(), rtol=1e-11, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("average", ["rows", "sum"])
@pytest.mark.parametrize("empty", [False, True], ids=["uneven", "empty"])
def test_data_parallel_equals_one_process(on_ranks, average, empty):
    """Gradients cross ranks in the graph before they are weighted: uneven rows must come out right all the same."""
    whole = trained(Net(), slice(None), average)

    def check(comm):
        model = DataParallel(convert_sync_batchnorm(Net()), comm=comm, average=average, bucket_cap_mb=0.0001)
        compare(trained(model, cuts(comm, empty=empty), average), whole)

    on_ranks(check)


def test_scattered_batches_equal_one_process(on_all_kinds):
    """batch="root": on local devices the replicas' layers meet."""
    whole = trained(Net(), slice(None))

    def check(comm):
        model = DataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(Net()), comm=comm, batch="root")
        compare(trained(model, slice(None)), whole) if 0 in comm.held else trained(model, slice(None))

    on_all_kinds(check)


def test_second_derivatives_on_local_devices():
    x = np.random.default_rng(11).standard_normal((7, 4))

    def penalty(model):
        given = ag.tensor(x, requires_grad=True)
        (g,) = ag.grad((model(given) ** 3).sum(), given, create_graph=True)
        (g ** 2).sum().backward()
        return given.grad.numpy(), [p.grad.numpy() for p in model.parameters()]

    expected, theirs = penalty(Net())
    found, ours = penalty(DataParallel(convert_sync_batchnorm(Net()), devices=3))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def test_checkpointed_layers_meet_again(on_ranks):
    whole = Net()
    x = np.random.default_rng(12).standard_normal((13, 4))
    (whole(ag.from_numpy(x)) ** 4).mean().backward()

    class Again(nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, x):
            return checkpoint(self.net, x, use_reentrant=False)

    def check(comm):
        model = DataParallel(Again(convert_sync_batchnorm(Net())), comm=comm)
        (model(ag.from_numpy(x[cuts(comm)])) ** 4).mean().backward()
        for p, q in zip(model.parameters(), whole.parameters(), strict=True):
            np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-11, atol=1e-11)

    on_ranks(check)


# --- conversion -------------------------------------------------------------------------------------------------------

def test_convert():
    shared = nn.BatchNorm2d(2, momentum=None, eps=0.1)
    seen = []
    shared.register_forward_hook(lambda *_: seen.append(1))
    net = nn.ModuleDict({"a": shared, "inner": nn.Sequential(nn.ReLU(), shared, nn.BatchNorm1d(3, affine=False)),
                         "group": nn.GroupNorm(1, 2), "instance": nn.InstanceNorm1d(2)})
    net.eval()
    comm = Devices(1)
    before = net.state_dict()
    made = nn.SyncBatchNorm.convert_sync_batchnorm(net, comm)
    assert made is net and net["a"] is net["inner"][1] and type(net["a"]) is SyncBatchNorm is type(net["inner"][2])
    assert isinstance(net["a"], nn.SyncBatchNorm) and not isinstance(net["group"], nn.SyncBatchNorm)
    assert net["a"].weight is shared.weight and net["a"].running_var is shared.running_var and not net["a"].training
    assert net["a"].process_group is comm and net["a"].momentum is None and net["a"].eps == 0.1
    assert list(net.state_dict()) == list(before)
    net["a"](ag.ones(1, 2, 1, 1))
    assert seen and copy.deepcopy(net)["a"].process_group is comm
    assert type(convert_sync_batchnorm(nn.BatchNorm1d(2))) is SyncBatchNorm is type(nn.SyncBatchNorm(2))


def test_one_rank_is_batch_norm():
    layer, same = SyncBatchNorm(2), nn.BatchNorm1d(2)
    x = ag.from_numpy(np.random.default_rng(13).standard_normal((4, 2)).astype(np.float32))
    assert layer(x).tolist() == same(x).tolist() and layer.running_var.tolist() == same.running_var.tolist()
    raises(ValueError, "at least 2D input", lambda: layer(ag.ones(3)))


# --- mistakes ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("shape, words", [((4,), "at least 2D"), ((4, 2), "2 channels")])
def test_a_wrong_input_on_one_rank_is_an_error_on_all(comm, shape, words):
    layer = SyncBatchNorm(3, process_group=comm)
    with pytest.raises(CollectiveError if comm.size > 1 else (ValueError, RuntimeError), match=words):
        layer(ag.ones(*(shape if comm.rank == comm.size - 1 else (4, 3))))


def test_one_value_per_channel_in_all(comm):
    layer = SyncBatchNorm(3, process_group=comm)
    raises(ValueError, "more than 1 value per channel", lambda: layer(ag.ones(int(comm.rank == 0), 3)))
    assert layer(ag.ones(0, 3)).shape == (0, 3)      # no row anywhere: nothing to normalise
    if comm.size > 1:
        assert layer.running_var.tolist() == [1, 1, 1]


def test_a_replica_that_fails_or_stays_away_ends_the_meeting():
    norm = SyncBatchNorm(2)

    def fails(x):
        raise KeyError("planted")

    x = ag.ones(3, 2)
    raises(KeyError, "replica 1 on device 1.*planted", parallel_apply, [norm, fails], [x, x])
    raises(RankFailure, "has returned", lambda: parallel_apply([norm, lambda x: x], [x, x]))


def test_checkpoint_on_local_devices_is_refused():
    model = DataParallel(nn.Sequential(Checkpointed(SyncBatchNorm(2, dtype=ag.float64))), devices=2)
    x = ag.tensor(np.random.default_rng(14).standard_normal((4, 2)), requires_grad=True)
    raises(NotImplementedError, "checkpoint", lambda: model(x).sum().backward())


class Checkpointed(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return checkpoint(lambda x: self.layer(x.exp()), x, use_reentrant=False)


def test_ranks_as_threads_find_their_own_communicator():
    """Without process_group, inside DataParallel: its communicator, and not the process's world()."""
    x = np.arange(12.0).reshape(6, 2)

    def check(comm):
        model = DataParallel(SyncBatchNorm(2, dtype=ag.float64), comm=comm)
        return model(ag.from_numpy(x[comm.rank::2])).detach().numpy()

    a, b = run_ranks(2, check)
    np.testing.assert_allclose(np.stack([a, b], 1).reshape(6, 2), nn.BatchNorm1d(2, dtype=ag.float64)(ag.from_numpy(x)).detach().numpy(), **CLOSE)


@pytest.mark.parametrize("where", ["forward", "backward", "both"])
def test_weights_of_the_step(comm, where):
    """Tokens instead of rows: the gradient of the weighted mean over all ranks, also through the statistics."""
    x, t = np.random.default_rng(15).standard_normal((2, 13, 4))
    t = np.concatenate([t, t[:, :1]], 1)
    counts = [2.0 + r * r for r in range(comm.size)]
    whole, model = Net(), DataParallel(convert_sync_batchnorm(Net()), comm=comm)
    losses = ((whole(ag.from_numpy(x)) - ag.from_numpy(t)) ** 4).sum(1)
    ranks = [range(13)[r::comm.size] for r in range(comm.size)]
    (sum(losses[list(rows)].mean() * w for rows, w in zip(ranks, counts, strict=True)) / sum(counts)).backward()
    mine = list(ranks[comm.rank])
    nothing = contextlib.nullcontext()
    for _ in range(2):
        model.zero_grad()
        model.module.load_state_dict(Net().state_dict())
        with model.weighted(counts[comm.rank]) if where != "backward" else nothing:
            loss = ((model(ag.from_numpy(x[mine])) - ag.from_numpy(t[mine])) ** 4).sum(1).mean()
        with model.weighted(counts[comm.rank]) if where != "forward" else nothing:
            loss.backward()
    for p, q in zip(model.parameters(), whole.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-10, atol=1e-10)


def test_grad_of_parameters_and_micro_batches(comm):
    x = np.random.default_rng(16).standard_normal((2, 13, 4))
    whole, model = Net(), DataParallel(convert_sync_batchnorm(Net()), comm=comm)
    rows = cuts(comm)
    expected = ag.grad((whole(ag.from_numpy(x[0])) ** 4).mean(), list(whole.parameters()))
    for g, h in zip(ag.grad((model(ag.from_numpy(x[0][rows])) ** 4).mean(), list(model.parameters())), expected, strict=True):
        np.testing.assert_allclose(g.numpy(), h.numpy(), rtol=1e-10, atol=1e-10)
    for batch in x:
        (whole(ag.from_numpy(batch)) ** 4).mean().backward()
    with model.no_sync():
        (model(ag.from_numpy(x[0][rows])) ** 4).mean().backward()
    (model(ag.from_numpy(x[1][rows])) ** 4).mean().backward()
    for p, q in zip(model.parameters(), whole.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-10, atol=1e-10)


def test_join_is_refused_in_time(comm):
    model = DataParallel(convert_sync_batchnorm(Net()), comm=comm)
    if comm.size > 1:
        raises(NotImplementedError, "throw_on_early_termination", model.join)
        with model.join(throw_on_early_termination=True):
            pass
