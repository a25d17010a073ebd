"""A communicator of mpi4py wherever one is taken: of all ranks, and of a part of them."""

import inspect
import shutil
import tempfile
from types import SimpleNamespace

import numpy as np
import pytest

import autograd as ag
import dparallel
from autograd import nn, optim
from autograd.utils.data import Dataset
from dparallel import DataParallel, Join, Joinable, JoinHook, hooks, metrics, testing
from dparallel.observe.timeline.run import read

PARTS = {"world": lambda MPI: MPI.COMM_WORLD, "halves": lambda MPI: MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2),
         "reversed": lambda MPI: MPI.COMM_WORLD.Split(0, -MPI.COMM_WORLD.rank)}
NAMES = {"comm", "process_group", "group", "node", "subgroup"}       # what such arguments are called


class Rows(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, i):
        return np.full(3, float(i)), i % 2


def x(raw):
    return ag.tensor(np.arange(3.0) + raw.rank, requires_grad=True)


def function(name, **settings):
    def case(raw):
        y = getattr(dparallel, name).apply(x(raw), comm=raw, **settings)
        y.sum().backward()
    return case


def hook(make):
    """A model that is trained with a hook, which has a process group, or a state that has one."""
    def case(raw):
        model = DataParallel(nn.Linear(3, 2), comm=raw)
        model.register_comm_hook(*make(raw))
        for _ in range(3):
            model(x(raw).detach().float().reshape(1, 3)).sum().backward()
        (everyone,) = model.comm.allgather([model.module.weight.grad.array.reshape(1, -1)])
        assert (everyone == everyone[0]).all()
    return case


def sync_batch_norm(make):
    def case(raw):
        norm = make(raw)
        norm(ag.tensor(np.full((2, 3), raw.rank, np.float32))).sum().backward()
        np.testing.assert_allclose(norm.running_mean.array, 0.1 * (raw.size - 1) / 2)
    return case


def messages(send, recv):
    def case(raw):
        last, after = (raw.rank - 1) % raw.size, (raw.rank + 1) % raw.size
        sent, came = send(x(raw), after, raw), recv(last, raw)
        values = [v.wait() if hasattr(v, "wait") else v for v in (sent, came)]
        assert values[1].tolist() == [last, last + 1, last + 2]
        dparallel.join(values[1].sum(), values[0]).backward()
    return case


def graceful(raw):
    with dparallel.graceful_exit(raw) as stop:
        assert not stop.requested()


class Counting(Joinable):
    def __init__(self, raw):
        self.raw = raw

    def join_hook(self, **kwargs):
        return JoinHook()

    join_device = "cpu"
    join_process_group = property(lambda self: self.raw)


def joined(raw):
    one = Counting(raw)
    with Join([one, Counting(raw)]):
        for _ in range(raw.rank):
            Join.notify_join_context(one)


def step_of_zero(raw):
    p = nn.Parameter(ag.ones(5))
    optimizer = dparallel.ZeroRedundancyOptimizer([p], optim.SGD, process_group=raw, lr=1.0)
    p.grad = ag.ones(5)
    optimizer.step()
    assert p.tolist() == [0.0] * 5


def averaged(raw):
    p = nn.Parameter(np.full(2, float(raw.rank)))
    dparallel.PeriodicModelAverager(1, process_group=raw).average_parameters([p])
    assert p.tolist() == [(raw.size - 1) / 2] * 2


def evaluated(raw):
    model = nn.Linear(3, 2).double()
    found = dparallel.evaluate(model, Rows(), {"rows": lambda y, t: ag.ones(len(t))}, comm=raw)
    assert found == {"rows": 1.0}


def metric(make):
    def case(raw):
        found = make(raw)
        found.update(ag.tensor(np.eye(2)), ag.tensor([0, 1]))
        assert found.compute() == 1.0
    return case


def mean(raw):
    found = metrics.Mean(raw)
    found.update(float(raw.rank))
    assert found.compute() == (raw.size - 1) / 2


def whole(raw):
    """A module of the package, with its parameters cut over the ranks, as one sum."""
    y = dparallel.ReduceFromRanks.apply(dparallel.CopyToRanks.apply(x(raw), comm=raw), comm=raw)
    y.sum().backward()


def objects(raw):
    def fill(call, items=None):
        items = [None] * raw.size if items is None else items
        call(items)
        return items

    assert fill(lambda items: dparallel.all_gather_object(items, raw.rank, raw)) == list(range(raw.size))
    assert fill(lambda items: dparallel.broadcast_object_list(items, 0, raw), [raw.rank]) == [0]
    fill(lambda items: dparallel.gather_object(raw.rank, items if raw.rank == 0 else None, 0, raw))
    assert fill(lambda items: dparallel.scatter_object_list(items, list(range(raw.size)), 0, raw), [None]) == [raw.rank]


def containers(raw):
    (mine,) = dparallel.scatter({"x": ag.ones(2 * raw.size, 3)}, raw)
    assert mine["x"].shape == (2, 3)
    (args,), (kwargs,) = dparallel.scatter_kwargs((ag.ones(raw.size),), {"y": 1}, raw)
    assert args[0].shape == (1,) and kwargs == {"y": 1}
    (same,) = dparallel.broadcast([ag.full((2,), float(raw.rank))], raw)
    assert same[0].tolist() == [0.0, 0.0]
    rows = dparallel.gather([mine["x"]], raw)
    assert rows.shape == ((2 * raw.size, 3) if raw.rank == 0 else (0,))
    ((copy,),) = dparallel.broadcast_coalesced([x(raw)], raw)
    assert copy.tolist() == [0.0, 1.0, 2.0]
    total = dparallel.reduce_add([ag.ones(2)], raw)
    (other,) = dparallel.reduce_add_coalesced([[ag.ones(2)]], raw)
    assert total.tolist() == other.tolist() == ([raw.size] * 2 if raw.rank == 0 else [])


def checks(raw):
    dparallel.assert_same_everywhere([1, 2], raw)
    dparallel.verify(nn.Linear(2, 2), raw)
    dparallel.check_adjoint(lambda x: dparallel.AllReduce.apply(x, comm=raw), [np.ones(3)], raw)
    testing.gradcheck(lambda x: dparallel.AllReduce.apply(x, comm=raw), [x(raw)], raw)
    testing.gradgradcheck(lambda x: dparallel.AllReduce.apply(x * x, comm=raw), [x(raw)], comm=raw)
    if raw.size > 1:
        with pytest.raises(AssertionError, match="differs between rank 0 and rank 1"):
            dparallel.assert_same_everywhere(raw.rank, raw)


def hierarchical(raw):
    comm = dparallel.Hierarchical(raw, raw)
    assert comm.allreduce([np.ones(2)])[0].tolist() == [raw.size] * 2
    comm.free()
    assert dparallel.choose_allreduce(raw, 10, repeats=1, node=raw).total(1.0) == raw.size


def clipped(raw):
    p = nn.Parameter(ag.zeros(1))
    p.grad = ag.ones(1)
    assert dparallel.clip_grad_norm_([p], 1.0, comm=raw).item() == pytest.approx(raw.size ** 0.5)


def sampled(raw):
    assert len(dparallel.DistributedSampler(Rows(), comm=raw)) == -(-24 // raw.size)
    shares = dparallel.GlobalBatchSampler(Rows(), 12, comm=raw)
    assert dparallel.comm.communicator(raw).total(sum(map(len, shares))) == 24


def wrapped(**settings):
    def case(raw):
        model = DataParallel(nn.Linear(3, 2), **{key: raw if value is None else value for key, value in settings.items()})
        assert model.comm is dparallel.comm.communicator(raw)
        model(ag.ones(1, 3)).sum().backward()
    return case


def replicated(raw):
    (copy,) = dparallel.replicate(nn.Linear(3, 2), raw)
    assert copy.weight.shape == (2, 3)


CASES = {
    **{name: function(name) for name in ("AllGather", "AllReduce", "Broadcast", "Gather", "Reduce", "Scan", "SendRecv")},
    "Scatter": lambda raw: dparallel.Scatter.apply(ag.ones(raw.size), comm=raw),
    "ReduceScatter": lambda raw: dparallel.ReduceScatter.apply(ag.ones(raw.size), comm=raw),
    "AllToAll": lambda raw: dparallel.AllToAll.apply(ag.ones(raw.size), comm=raw),
    "Permute": lambda raw: dparallel.Permute.apply(x(raw), comm=raw, pairs=[(0, 0)]),
    "Barrier": lambda raw: dparallel.Barrier.apply(x(raw), comm=raw),
    "CopyToRanks": whole, "ReduceFromRanks": whole,
    "start": lambda raw: dparallel.AllReduce.start(x(raw), comm=raw).wait().sum().backward(),
    "Send": messages(lambda x, to, raw: dparallel.Send.apply(x, dest=to, comm=raw),
                     lambda source, raw: dparallel.Recv.apply(source=source, comm=raw)),
    "Isend": messages(lambda x, to, raw: dparallel.Isend.apply(x, dest=to, comm=raw),
                      lambda source, raw: dparallel.Irecv.apply(source=source, comm=raw)),
    "DataParallel": wrapped(comm=None), "process_group": wrapped(process_group=None), "shard": wrapped(comm=None, shard=2),
    "root": lambda raw: DataParallel(nn.Linear(3, 2), comm=raw, batch="root")(ag.ones(4, 3)).sum().backward(),
    "ZeroRedundancyOptimizer": step_of_zero, "PeriodicModelAverager": averaged, "evaluate": evaluated, "Join": joined,
    "SyncBatchNorm": sync_batch_norm(lambda raw: dparallel.SyncBatchNorm(3, process_group=raw)),
    "convert_sync_batchnorm": sync_batch_norm(lambda raw: dparallel.convert_sync_batchnorm(nn.BatchNorm1d(3), raw)),
    "Accuracy": metric(metrics.Accuracy), "Mean": mean,
    "reduce_metrics": lambda raw: metrics.reduce_metrics({"loss": 1.0}, comm=raw),
    "objects": objects, "containers": containers, "checks": checks, "Hierarchical": hierarchical, "clip_grad_norm_": clipped,
    "graceful_exit": graceful, "samplers": sampled, "replicate": replicated, "from_mpi": lambda raw: dparallel.from_mpi(raw).free(),
    "allreduce_hook": hook(lambda raw: (raw, hooks.allreduce_hook)),
    "fp16_compress_hook": hook(lambda raw: (raw, hooks.fp16_compress_hook)),
    "bf16_compress_hook": hook(lambda raw: (raw, hooks.bf16_compress_hook)),
    "fp16_compress_wrapper": hook(lambda raw: (raw, hooks.fp16_compress_wrapper(hooks.allreduce_hook))),
    "quantization_pertensor_hook": hook(lambda raw: (raw, hooks.quantization_pertensor_hook)),
    "quantization_perchannel_hook": hook(lambda raw: (raw, hooks.quantization_perchannel_hook)),
    "QuantizationState": hook(lambda raw: (hooks.QuantizationState(raw), hooks.quantization_hook)),
    "TopKState": hook(lambda raw: (hooks.TopKState(0.5, raw), hooks.topk_hook)),
    "PowerSGDState": hook(lambda raw: (hooks.PowerSGDState(raw, start_powerSGD_iter=2, min_compression_rate=0.1), hooks.powerSGD_hook)),
    "HierarchicalState": hook(lambda raw: (hooks.HierarchicalState(raw), hooks.hierarchical_hook)),
    "PostLocalSGDState": hook(lambda raw: (hooks.PostLocalSGDState(raw, raw, 1), hooks.post_localSGD_hook)),
}


def logs(raw):
    with dparallel.Logger(comm=raw, every=1, console=False) as log:
        assert log.now(loss=raw.rank, rows=1) == {"loss": (raw.size - 1) / 2}


def records(raw):
    folder = raw.bcast(tempfile.mkdtemp() if raw.rank == 0 else None)
    with dparallel.timeline(f"{folder}/run.json", comm=raw):
        raw.Barrier()
    if raw.rank == 0:
        assert read(f"{folder}/run.json").size == raw.size
        shutil.rmtree(folder)


def first_here(raw):
    with dparallel.main_process(raw) as main:
        assert bool(main) == (raw.rank == 0)
    dparallel.print_once(comm=raw)
    assert dparallel.on_main_process(lambda: 1, raw)() == (1 if raw.rank == 0 else None)
    assert dparallel.gather_for_metrics(ag.tensor([raw.rank]), comm=raw).tolist() == list(range(raw.size))


def saved(raw):
    folder, net = raw.bcast(tempfile.mkdtemp() if raw.rank == 0 else None), nn.Linear(2, 2)
    dparallel.save_all(folder, net, comm=raw, step=4)
    assert dparallel.load_all(folder, net, comm=raw) == 4
    raw.Barrier()
    if raw.rank == 0:
        shutil.rmtree(folder)


def measured(raw):
    for made, value in ((metrics.R2Score(raw), 1.0), (metrics.AUROC(raw), 1.0), (metrics.F1Score(2, raw), 1.0)):
        made.update(np.array([0, 1]), np.array([0, 1]))
        assert made.compute() == value


def estimated(raw):
    pytest.importorskip("sklearn")
    net = dparallel.NeuralNetRegressor(nn.Linear(3, 1), comm=raw, max_epochs=1).fit(np.eye(3 * raw.size)[:, :3], np.ones(3 * raw.size))
    dparallel.assert_same_everywhere(net.module_.weight, raw)


def tried(raw):
    trial = dparallel.DistributedTrial(SimpleNamespace(number=3) if raw.rank == 0 else None, raw)
    assert trial.number == 3


CASES |= {"Logger": logs, "timeline": records, "main_process": first_here, "save_all": saved, "metrics": measured,
          "NeuralNetRegressor": estimated, "DistributedTrial": tried}
TOGETHER = {"all_gather_object": "objects", "broadcast_object_list": "objects", "gather_object": "objects",
            "scatter_object_list": "objects", "scatter": "containers", "gather": "containers", "broadcast": "containers",
            "scatter_kwargs": "containers", "broadcast_coalesced": "containers", "reduce_add": "containers",
            "reduce_add_coalesced": "containers", "assert_same_everywhere": "checks", "verify": "checks",
            "check_adjoint": "checks", "gradcheck": "checks", "gradgradcheck": "checks", "choose_allreduce": "Hierarchical",
            "DistributedSampler": "samplers", "GlobalBatchSampler": "samplers", "Recv": "Send", "Irecv": "Isend",
            "Metric": "Mean", "Sum": "Mean", "on_main_process": "main_process", "rank_zero_only": "main_process",
            "print_once": "main_process", "gather_for_metrics": "main_process", "load_all": "save_all",
            "NeuralNetClassifier": "NeuralNetRegressor",
            **dict.fromkeys(("AUROC", "ConfusionMatrix", "F1Score", "MeanAbsoluteError", "MeanSquaredError", "Precision",
                             "R2Score", "Recall"), "metrics")}
OWN = {"Communicator", "Collective", "Joinable", "Network", "NetworkError", "GradBucket",     # bases, or made by the package
       "DistributedDataParallel"}                    # takes the groups of dparallel.distributed, as PyTorch's does


@pytest.mark.mpi
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", CASES)
def test_an_mpi4py_communicator_stands_wherever_one_is_taken(name, part):
    from mpi4py import MPI
    raw = PARTS[part](MPI)
    CASES[name](raw)
    if raw is not MPI.COMM_WORLD:
        raw.Free()


def test_all_that_takes_a_communicator_is_among_them():
    public = {name: getattr(place, name) for place in (dparallel, hooks, metrics, testing) for name in place.__all__}
    found = set()
    for name, thing in public.items():
        calls = [thing, getattr(thing, "apply", None), getattr(thing, "forward", None)] if callable(thing) else []
        for call in filter(None, calls):
            try:
                taken = set(inspect.signature(call).parameters) & NAMES
            except ValueError:
                continue
            if taken:
                found.add(name)
    assert len(found) > 50
    assert found - set(CASES) - set(TOGETHER) - OWN == set()
