"""DistributedDataParallel's arguments: each does what PyTorch says, or names itself in an error."""

import dataclasses
import inspect
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from filled_models import filled
from raised import raises

import autograd as ag
from autograd import nn, optim
from dparallel import CollectiveError, DataParallel, Devices
from dparallel.comm import waiting
from dparallel.model import model_state
from dparallel.model.config import Config, MixedPrecision
from dparallel.model.skipping import Skipping
from dparallel.reduction import stats, unused

FEATURES = 4


class Net(nn.Module):
    """Used in another order than registered; one part used on demand, one never."""

    def __init__(self, never=False):
        self.last = nn.Linear(6, 2)
        self.middle = nn.Linear(6, 6)
        self.extra = nn.Linear(6, 6)
        if never:
            self.never = nn.Linear(2, 2)
        self.first = nn.Linear(FEATURES, 6)
        filled(self.double())

    def forward(self, x, extra=True):
        y = self.middle(self.first(x).tanh()).tanh()
        return self.last(self.extra(y) if extra else y)


def piece(rank, rows=3):
    return ag.from_numpy(np.random.default_rng(rank).standard_normal((rows, FEATURES)))


def loss_of(net, x, *args):
    return (net(x, *args) ** 2).sum() / len(x)


def same(model, one, skip=()):
    for (name, p), q in zip(model.named_parameters(), one.parameters(), strict=True):
        if name.split(".")[0] not in skip:
            np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-12, atol=1e-12)


def mean_of_all(one, size):
    one.zero_grad()
    (sum(loss_of(one, piece(r)) for r in range(size)) / size).backward()
    return one


# --- the signature ----------------------------------------------------------------------


@pytest.mark.parametrize("cls", [DataParallel, nn.DataParallel])
def test_the_signature_has_the_fields_of_config(cls):
    fields = [f for f in dataclasses.fields(Config) if f.init]
    _, *parameters = inspect.signature(cls.__init__).parameters.values()
    assert [(p.name, p.annotation, p.kind is p.KEYWORD_ONLY, p.default) for p in parameters] == [
        (f.name, f.type, f.kw_only, inspect.Parameter.empty if f.default is dataclasses.MISSING else f.default) for f in fields]
    assert all(f"    {f.name} ({f.type}): {f.metadata['doc']}" in cls.__init__.__doc__ for f in fields)


def test_each_argument_reaches_config(monkeypatch):
    given = {f.name: object() for f in dataclasses.fields(Config) if f.init}
    found = []

    def configured(*args, **kwargs):
        found.append(inspect.signature(Config).bind(*args, **kwargs).arguments)
        raise KeyError("enough")

    monkeypatch.setattr("dparallel.model.data_parallel.Config", configured)
    raises(KeyError, None, lambda: DataParallel(**given))
    assert found == [given]


# --- buckets ----------------------------------------------------------------------------------------------------------


def test_buckets_follow_the_order_in_which_gradients_came(comm):
    """Rank 0's order counts, also where another rank's was another one; gradients stay right, in the first step too."""
    model = DataParallel(Net(), comm=comm, batch="own", bucket_cap_mb=0.0002)
    if comm.size == 1:
        return
    before = model.logging_data()["bucket_parameters"]
    for step in range(3):
        model.zero_grad()
        loss_of(model, piece(comm.rank)).backward()
        same(model, mean_of_all(Net(), comm.size))
        data = model.logging_data()
        assert data["has_rebuilt_buckets"] and data["rebuilt_bucket_sizes"] == data["bucket_sizes"], step
    assert before[0][0].startswith("first") and data["bucket_parameters"][0][0].startswith("last")
    assert data["bucket_parameters"][-1][-1].startswith("first") and len(data["bucket_sizes"]) > 1
    assert comm.allgather_object([data["bucket_parameters"]]) == [data["bucket_parameters"]] * comm.size
    assert all(np.shares_memory(p.grad.array, b.buffer) for b in model._sum.reducer.buckets for p in b.params)
    optim.SGD(model.parameters(), lr=0.1).step()


def test_the_first_bucket_is_small():
    from dparallel.reduction.buckets import assign_all

    def assign(named, cap, comm):
        return assign_all(named, cap, frozenset(), comm)

    named = [(str(n), ag.zeros(2**17)) for n in range(10)]            # half a MiB each
    assert [len(b.params) for b in assign(named, 2 * 2**20, Devices(1))] == [2, 4, 4]
    assert [len(b.params) for b in assign(named, 1, Devices(1))] == [1] * 10
    assert [b.names for b in assign(named, 2**30, Devices(1))] == [["9", "8"], [str(n) for n in range(7, -1, -1)]]


def test_delayed_parameters_leave_last(comm):
    net = Net()
    pairs = [(n, p) for n, p in net.named_parameters() if n.startswith("last")]
    model = DataParallel(net, comm=comm, batch="own", delay_all_reduce_named_params=pairs, bucket_cap_mb=0.0002,
                         param_to_hook_all_reduce=net.first.weight)
    for _ in range(2):
        model.zero_grad()
        loss_of(model, piece(comm.rank)).backward()
        same(model, mean_of_all(Net(), comm.size))
    if comm.size > 1:
        assert set(model.logging_data()["bucket_parameters"][-1]) == {"last.weight", "last.bias"}
    raises(ValueError, "need to be set at the same time", DataParallel, net, comm=comm, delay_all_reduce_named_params=pairs)
    with pytest.raises(ValueError, match="not in the module"):
        DataParallel(net, comm=comm, delay_all_reduce_named_params=[("x", ag.zeros(1))],
                     param_to_hook_all_reduce=net.first.weight)


# --- unused parameters ------------------------------------------------------------------------------------------------


def test_unused_parameters_are_named_in_the_same_backward(on_ranks, monkeypatch):
    told = []                                    # the ranks' threads share Python's filters of warnings
    monkeypatch.setattr(unused, "warnings", SimpleNamespace(warn=lambda text, *_, **__: told.append(text)))

    def check(comm):
        if comm.size == 1:
            return
        model = DataParallel(Net(never=True), comm=comm, batch="own")
        for _ in range(2):
            model.zero_grad()
            loss_of(model, piece(comm.rank), comm.rank == 0).backward()
        assert model.unused_parameters() == ["never.weight", "never.bias"]
        assert model.logging_data()["partly_used_parameters"] == {"extra.weight": 1, "extra.bias": 1}
        assert model.logging_data()["unused_parameter_size"] == 6 * 8
        comm.barrier()
        assert len(told) == (1 if comm.kind == "mpi" else comm.size)             # once on each rank
        assert "2 of 10 parameters got no gradient on any rank" in told[0] and "never.weight, never.bias" in told[0]
        assert f"extra.weight (on 1 of {comm.size})" in told[0]
        one = Net(never=True)
        (sum(loss_of(one, piece(r), r == 0) for r in range(comm.size)) / comm.size).backward()
        same(model, one, skip=["never"])
        assert model.module.never.weight.grad is None

    on_ranks(check)


def test_unused_parameters_that_are_meant_or_not_wanted(on_ranks, monkeypatch):
    told = []
    monkeypatch.setattr(unused, "warnings", SimpleNamespace(warn=lambda text, *_, **__: told.append(text)))

    def check(comm):
        if comm.size == 1:
            return
        model = DataParallel(Net(never=True), comm=comm, batch="own", find_unused_parameters=True)
        loss_of(model, piece(comm.rank), comm.rank == 0).backward()
        kept = model.module.never.weight
        kept.grad = ag.ones(2, 2, dtype=ag.float64) * comm.rank           # what nobody uses keeps what it had
        loss_of(model, piece(comm.rank), comm.rank == 0).backward()
        assert (kept.grad.numpy() == comm.rank).all() and not told
        strict = DataParallel(Net(never=True), comm=comm, batch="own", find_unused_parameters="error")
        raises(RuntimeError, "never.weight, never.bias", lambda: loss_of(strict, piece(comm.rank)).backward())

    on_ranks(check)


def test_a_parameter_used_in_an_earlier_micro_batch_only(comm):
    model, one = DataParallel(Net(), comm=comm, batch="own", find_unused_parameters=True), Net()
    for number in range(2):
        with model.no_sync(number == 0):
            loss_of(model, piece(comm.rank), number == 0 and comm.rank == 0).backward()
    for number in range(2):
        (sum(loss_of(one, piece(r), number == 0 and r == 0) for r in range(comm.size)) / comm.size).backward()
    same(model, one)
    model.zero_grad()
    loss_of(model, piece(comm.rank)).backward()
    once = {n: p.grad.numpy().copy() for n, p in model.named_parameters()}
    loss_of(model, piece(comm.rank), False).backward()           # extra keeps what it had, bit for bit
    assert (model.module.extra.weight.grad.numpy() == once["extra.weight"]).all()
    loss_of(model, piece(comm.rank), comm.rank == 0).backward()
    assert (model.module.extra.weight.grad.numpy() != once["extra.weight"]).any()


def test_static_graph(comm):
    if comm.size == 1:
        return
    model = DataParallel(Net(), comm=comm, batch="own", static_graph=True, find_unused_parameters=True)
    for _ in range(2):
        model.zero_grad()
        loss_of(model, piece(comm.rank), False).backward()
    with pytest.raises(RuntimeError, match="training graph has changed.*extra.weight"):
        loss_of(model, piece(comm.rank), comm.rank == 0).backward()


# --- what is synchronised ---------------------------------------------------------------------------------------------


def test_ignored_parameters_and_buffers_stay_on_their_rank(comm):
    for marked in (True, False):
        net = nn.Sequential(nn.Linear(FEATURES, 3 + comm.rank), nn.Linear(3 + comm.rank, 2), nn.BatchNorm1d(2)).double()
        names = ["0.weight", "0.bias", "1.weight", "2.running_mean"]
        if marked:
            DataParallel._set_params_and_buffers_to_ignore_for_model(net, names)
        model = DataParallel(net, comm=comm, batch="own", parameters_to_ignore=() if marked else names)
        loss_of(model, piece(comm.rank)).backward()
        assert net[0].weight.grad.shape == (3 + comm.rank, FEATURES)
        for p in (net[1].bias, net[2].weight):
            np.testing.assert_array_equal(*[comm.allreduce([p.grad.numpy()], op)[0] for op in ("max", "min")])
        raises(ValueError, "nonsense", DataParallel, net, comm=comm, parameters_to_ignore=["nonsense"])


@pytest.mark.parametrize(("settings", "at_init", "in_forward"), [
    ({}, True, True), ({"broadcast_buffers": False}, False, False), ({"forward_sync_buffers": False}, True, False),
    ({"forward_sync_buffers": True, "broadcast_buffers": False}, True, True), ({"init_sync": False}, False, True)])
def test_buffers(comm, settings, at_init, in_forward):
    net = nn.Sequential(nn.Linear(FEATURES, 2), nn.BatchNorm1d(2)).double()
    net[1].running_mean.fill_(comm.rank)
    model = DataParallel(net, comm=comm, batch="own", **settings)
    assert net[1].running_mean.numpy().tolist() == [0.0 if at_init else comm.rank] * 2
    net[1].running_mean.fill_(comm.rank)
    net[1].momentum = 0.0
    model(piece(comm.rank))
    assert net[1].running_mean.numpy().tolist() == [0.0 if in_forward and comm.size > 1 else comm.rank] * 2


@pytest.mark.parametrize(("wire", "rtol"), [("float32", 1e-6), (np.dtype(np.float32), 1e-6), ("float16", 4e-3),
                                            (MixedPrecision(reduce_dtype="float16"), 4e-3), (ag.float32, 1e-6),
                                            (ag.bfloat16, 3e-2), ("fp16", 4e-3), ("bf16", 3e-2), (np.float16, 4e-3)])
def test_gradients_of_another_dtype_on_the_wire(comm, wire, rtol):
    model = DataParallel(Net(), comm=comm, batch="own", mixed_precision=wire)
    loss_of(model, piece(comm.rank)).backward()
    for p, q in zip(model.parameters(), mean_of_all(Net(), comm.size).parameters(), strict=True):
        assert p.grad.dtype == ag.float64
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=rtol, atol=rtol * 10)
    if rtol > 1e-3 and comm.size > 1:
        assert model.logging_data()["bytes_sent_last"] * 4 == model.logging_data()["total_parameter_size_bytes"]


# --- a model that changes ---------------------------------------------------------------------------------------------


def replaced(net):
    net.middle.weight = nn.Parameter(net.middle.weight.detach().clone())


def added(net):
    net.first.scale = nn.Parameter(ag.ones(1, dtype=ag.float64))


def other_module(net):
    net.middle = nn.Linear(6, 6).double()


def unfrozen(net):
    net.extra.weight.requires_grad_(True)


def converted(net):
    net.first.bias.data = net.first.bias.data.float()


@pytest.mark.parametrize(("change", "text"), [
    (replaced, "parameter middle.weight was replaced"), (added, "parameter first.scale was added"),
    (other_module, "parameter middle.weight was replaced"), (unfrozen, "extra.weight requires grad now"),
    (converted, "parameter first.bias is torch.float32 now but was torch.float64 when the model was wrapped")])
@pytest.mark.parametrize("everywhere", [True, False])
def test_a_model_changed_after_wrapping_is_an_error_on_all_ranks(comm, change, text, everywhere):
    if comm.size == 1:
        return
    net = Net()
    net.extra.weight.requires_grad_(False)
    model = DataParallel(net, comm=comm, batch="own", find_unused_parameters=True)
    loss_of(model, piece(comm.rank), True).backward()
    net.some_attribute = 3                       # no change that matters
    loss_of(model, piece(comm.rank), True).backward()
    if everywhere or comm.rank == comm.size - 1:
        change(net)
    raises(RuntimeError, f"rank {comm.size - 1}: {text}", lambda: loss_of(model, piece(comm.rank), True).backward())


def test_freezing(comm):
    """Some frozen: the others go on. All frozen, as a discriminator is in turns: nothing is summed."""
    net = Net()
    model = DataParallel(net, comm=comm, batch="own", find_unused_parameters=True)
    net.first.requires_grad_(False)
    loss_of(model, piece(comm.rank)).backward()
    same(model, mean_of_all(Net(), comm.size), skip=["first"])
    assert net.first.weight.grad is None
    net.requires_grad_(False)
    x = piece(comm.rank).requires_grad_()
    loss_of(model, x).backward()
    assert x.grad is not None
    net.requires_grad_(True)
    model.zero_grad()
    loss_of(model, piece(comm.rank)).backward()
    same(model, mean_of_all(Net(), comm.size))


# --- logging, and the rest --------------------------------------------------------------------------------------------


def test_logging_data(comm):
    model = DataParallel(Net(), comm=comm, batch="own", bucket_cap_mb=0.0002)
    for _ in range(3):
        loss_of(model, piece(comm.rank)).backward()
    data = model._get_ddp_logging_data()
    assert (data["world_size"], data["rank"], data["module_name"]) == (comm.size, comm.rank, "Net")
    assert data["total_parameter_size_bytes"] == sum(p.numel() for p in model.parameters()) * 8
    if comm.size == 1:
        return
    assert data["iteration"] == data["backward_passes_summed"] == 3 and data["comm_hook"] == ""
    assert data["bytes_sent"] == 3 * data["bytes_sent_last"] > 3 * data["total_parameter_size_bytes"]
    for phase in ("forward_compute", "backward_compute", "backward_comm", "backward_compute_comm_overlap"):
        assert data[f"{phase}_time"] > 0 and data[f"avg_{phase}_time"] > 0, phase
    assert data["backward_compute_comm_overlap_time"] <= data["backward_comm_time"]
    table = model.report()
    assert "avg backward comm" in table and " ms" in table and len(table.splitlines()) == len(data)
    model._set_ddp_runtime_logging_sample_rate(5)
    for _ in range(10):
        loss_of(model, piece(comm.rank)).backward()
    assert model._sum.reducer.stats.sampled == 10
    raises(ValueError, "equal or greater than 1", model._set_ddp_runtime_logging_sample_rate, 0)


def test_a_rank_that_waits_for_the_others_is_not_reported_as_slow(on_ranks, monkeypatch):
    """The clocks of forward and backward start when this rank has met the others. Time passes while ranks meet only."""
    here = threading.local()

    def meeting(owner, name):
        method = getattr(owner, name)

        def waits(*args, **kwargs):
            result = method(*args, **kwargs)
            here.now = getattr(here, "now", 0) + 10**9
            waiting.waiting.ns += 10**9
            return result
        monkeypatch.setattr(owner, name, waits)

    meeting(model_state, "broadcast_tensors")
    meeting(Skipping, "barrier")
    for module in (stats, waiting):
        monkeypatch.setattr(module, "perf_counter_ns", lambda: getattr(here, "now", 0))

    def check(comm):
        net = nn.Sequential(nn.Linear(FEATURES, 3), nn.BatchNorm1d(3)).double()
        model = DataParallel(net, comm=comm, batch="own")
        model._sum.needed_reducer()
        for _ in range(2):
            with model.skipping():
                loss_of(model, piece(comm.rank)).backward()
        assert here.now > 3 * 10**9
        known = model.logging_data()
        assert known["forward_compute_time"] == known["backward_compute_time"] == 0
        assert known["forward_wait_time"] >= 10**9

    on_ranks(check)


def test_reported_bytes_are_the_hooks(comm):
    def hook(state, bucket):
        bucket.bytes_sent = 7
        return bucket.buffer()

    model = DataParallel(Net(), comm=comm, batch="own")
    model.register_comm_hook(None, hook)
    loss_of(model, piece(comm.rank)).backward()
    data = model.logging_data()
    assert data["bytes_sent_last"] == 7 and "hook" in data["comm_hook"]


@pytest.mark.parametrize("name", ["device_mesh", "skip_all_reduce_unused_params", "bucket_cap_mb_list", "batched_grad_copy"])
def test_arguments_that_are_not_implemented(name):
    raises(NotImplementedError, name, lambda: DataParallel(Net(), **{name: True}))


def test_other_arguments(on_ranks):
    def check(comm):
        model = DataParallel(Net(), process_group=comm, gradient_as_bucket_view=True, device_ids=[] if comm.size > 1 else None)
        assert model.comm is comm and model.broadcast_buffers
        with pytest.raises(ValueError, match="two names for one argument"):
            DataParallel(Net(), process_group=comm, comm=comm.duplicate() if comm.kind == "mpi" else object())
        with pytest.raises(NotImplementedError, match="gradient_as_bucket_view=False"):
            DataParallel(Net(), comm=comm, gradient_as_bucket_view=False)
        with pytest.raises(NotImplementedError, match="param_dtype"):
            DataParallel(Net(), comm=comm, mixed_precision=MixedPrecision(param_dtype="float16"))
        raises(ValueError, "mixed_precision='int8'", lambda: DataParallel(Net(), comm=comm, mixed_precision="int8"))
        with pytest.raises(ValueError, match="find_unused_parameters='maybe'"):
            DataParallel(Net(), comm=comm, find_unused_parameters="maybe")

    on_ranks(check)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        DataParallel(Net(), devices=2, check_reduction=True)
    assert any("check_reduction" in str(w.message) for w in told)


@pytest.mark.parametrize(("name", "one", "other"), [
    ("average", "rows", "ranks"), ("bucket_cap_mb", 25.0, 1.0), ("static_graph", False, True), ("mixed_precision", None, "float16"),
    ("broadcast_buffers", True, False), ("init_sync", True, False), ("find_unused_parameters", True, "error")])
def test_other_arguments_on_one_rank(comm, name, one, other):
    """Mixed means, messages of other lengths, collectives that not all come to: told at construction, on all ranks alike."""
    last = comm.rank == comm.size - 1 > 0
    if comm.size == 1:
        return
    with pytest.raises(CollectiveError) as caught:
        DataParallel(Net(), comm=comm, batch="own", **{name: other if last else one})
    texts = comm.allgather_object([str(caught.value)])
    assert len(set(texts)) == 1 and f"on rank {comm.size - 1}" in texts[0] and repr(other) in texts[0]


@pytest.mark.parametrize(("wrong", "error"), [
    ({"average": "bogus"}, ValueError), ({"bucket_cap_mb": -1}, ValueError), ({"mixed_precision": "int3"}, ValueError),
    ({"device_mesh": 1}, NotImplementedError), ({"parameters_to_ignore": ["nobody"]}, ValueError)])
def test_bad_arguments_on_one_rank_are_told_to_all(comm, wrong, error):
    bad = comm.rank == comm.size - 1
    with pytest.raises(error if bad else CollectiveError, match=None if bad else f"{error.__name__}: "):
        DataParallel(Net(), comm=comm, batch="own", **(wrong if bad else {}))
    raises(error, None, lambda: DataParallel(Net(), comm=comm, batch="own", **wrong))
    comm.barrier()


class Odd:
    """Of no type that an argument takes."""


WRONG = {"module": [None, 2, "net", Odd()], "device_ids": [2, True, "01", [0, "b"], Odd(), ag.ones(2)],
         "output_device": ["0", 0.5, Odd(), ag.ones(2)], "dim": [None, "0", 0.5, True, ag.ones(2)],
         "comm": [2, "world", [0, 1], Odd(), ag.ones(2)], "process_group": [2, Odd()], "batch": [1, {}, ag.ones(2)],
         "average": [None, 1, ag.ones(2)], "bucket_cap_mb": ["25", True, [25], ag.ones(2)],
         "parameters_to_ignore": ["first.weight", 2, [1, "first.weight"], ag.ones(2)],
         **{name: ["yes", 2, 0.5, Devices(2), ag.ones(2)] for name in ("broadcast_buffers", "init_sync", "static_graph",
                                                                       "check_reduction", "forward_sync_buffers")}}


@pytest.mark.parametrize("name", WRONG)
def test_an_argument_of_another_type_is_named(name):
    for value in WRONG[name]:
        raises(TypeError, rf"\b{name}\b", lambda: DataParallel(**{"module": Net(), name: value}))


def test_a_communicator_in_the_place_of_device_ids(on_ranks):
    """PyTorch's second argument is device_ids; who writes DataParallel(net, comm) means comm."""
    def check(comm):
        assert DataParallel(Net(), comm).comm is comm
        raises(TypeError, "two communicators", lambda: DataParallel(Net(), comm, comm=comm))
        bad = comm.rank == comm.size - 1             # mistakes beside it are told on it
        with pytest.raises(ValueError if bad else CollectiveError, match="bucket_cap_mb=-1"):
            DataParallel(Net(), comm, bucket_cap_mb=-1 if bad else 1)

    on_ranks(check)
    local, x = Devices(2), piece(0)
    model, one = DataParallel(Net(), local), Net()
    assert model.comm is local and model.devices is local
    np.testing.assert_allclose(model(x).detach().numpy(), one(x).detach().numpy(), rtol=1e-12)


def test_one_process_finds_what_many_would_when_it_is_asked_to():
    net = nn.ModuleDict({"used": nn.Linear(3, 3), "unused": nn.Linear(3, 3)})
    net.forward = lambda x: net["used"](x)
    model = DataParallel(net, comm=Devices(1), find_unused_parameters="error")
    with pytest.raises(RuntimeError, match="2 of 4 parameters got no gradient on any rank.*unused.weight, unused.bias"):
        model(ag.ones(2, 3)).sum().backward()
    model = DataParallel(net, comm=Devices(1), static_graph=True)
    with pytest.warns(UserWarning, match="2 of 4 parameters got no gradient"):
        model(ag.ones(2, 3)).sum().backward()
    net.forward = lambda x: net["unused"](x)
    raises(RuntimeError, "static_graph", lambda: model(ag.ones(2, 3)).sum().backward())
    for wanted in ({"find_unused_parameters": "error"}, {"static_graph": True}):
        with pytest.raises(NotImplementedError, match="find_unused_parameters='error' and static_graph=True"):
            DataParallel(net, comm=Devices(2), **wanted)
