"""MPI matches collectives of one communicator by their order alone. So on each MPI communicator every rank must start the
same collectives in the same order, however fast the ranks are and whatever parameters they use: all that DataParallel
starts is written down here, below dparallel, and compared."""

import contextlib
import time

import numpy as np
import pytest

import autograd as ag
from autograd import nn
from dparallel import DataParallel, Hierarchical, from_mpi, functions, hooks
from dparallel.comm import launched_size
from dparallel.sharding.zero import ZeroRedundancyOptimizer

pytestmark = pytest.mark.mpi

if launched_size():
    from mpi4py import MPI

    COLLECTIVES = [name for name in dir(MPI.Intracomm) if name.lower().lstrip("i") in {
        "barrier", "bcast", "reduce", "allreduce", "allgather", "allgatherv", "gather", "gatherv", "scatter", "scatterv",
        "alltoall", "alltoallv", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"}]

    class Logged(MPI.Intracomm):
        """A communicator that writes down the collectives that start on it, and so do those that are made of it."""

        def derived(self, name, made):
            self.log.append(name)
            if made != MPI.COMM_NULL:
                made = Logged(made)
                made.log, made.family, made.name_in_family = [], self.family, (*self.name_in_family, len(self.log))
                self.family.append(made)
            return made

        def Dup(self, info=None):
            return self.derived("Dup", super().Dup(info))

        def Split(self, color=0, key=0):
            return self.derived("Split", super().Split(color, key))

        def Split_type(self, split_type, key=0, info=MPI.INFO_NULL):
            return self.derived("Split_type", super().Split_type(split_type, key, info))

        def Free(self):
            self.log.append("Free")
            super().Free()

    def logs(name):
        def call(self, *args, **kwargs):
            self.log.append(name)
            return getattr(MPI.Intracomm, name)(self, *args, **kwargs)
        return call

    for name in COLLECTIVES:
        setattr(Logged, name, logs(name))


@pytest.fixture
def comm():
    """All ranks, logged; when the test has ended, the logs are compared."""
    first = Logged(MPI.COMM_WORLD)
    first.log, first.family, first.name_in_family = [], [], ()
    made = from_mpi(first)
    yield made
    made.free()
    found = {c.name_in_family: c.log for c in (first, *first.family)}
    everyone = MPI.COMM_WORLD.allgather(found)
    assert sum(map(len, found.values())) > 5 or made.size == 1
    for rank, theirs in enumerate(everyone):
        for name, log in theirs.items():
            other = everyone[0].get(name, log)       # a group that rank 0 is not in
            where = next((i for i, pair in enumerate(zip(log, other, strict=False)) if pair[0] != pair[1]), None)
            assert log == other, (f"communicator {name}: rank {rank} started {len(log)} collectives, rank 0 {len(other)}; "
                                  f"they part at number {where}: {log[where or 0:][:5]}, {other[where or 0:][:5]}")


class Late(ag.Function):
    """The identity; backward takes another time on each rank, so that sums have come further on some."""

    @staticmethod
    def forward(ctx, x, rng):
        ctx.rng = rng
        return x * 1

    @staticmethod
    def backward(ctx, g):
        time.sleep(ctx.rng.choice([0, 0, 2e-4, 2e-3]))
        return g * 1, None


class Net(nn.Module):
    """A sum of means of parameters of several dtypes and sizes; odd ranks do not use each third one."""

    def __init__(self, comm, dtypes, sizes=(3, 2000, 17, 1), norm=False):
        super().__init__()
        self.rng, self.odd, self.comm = np.random.default_rng((comm.rank, 7)), comm.rank % 2, comm
        self.weights = nn.ParameterList([nn.Parameter(ag.ones(n).to(getattr(ag, d))) for n in sizes for d in dtypes])
        self.norm = nn.SyncBatchNorm(4) if norm else nn.BatchNorm1d(4)
        self.meets = False                           # whether there is a collective in forward

    def forward(self, x):
        for i, w in enumerate(self.weights):
            if i == len(self.weights) // 2 and self.meets:
                x = x + functions.AllReduce.apply(x.mean(0), comm=self.comm)
            if not (self.odd and i % 3 == 1):
                x = Late.apply(x * w.float().mean(), self.rng)
        return self.norm(x)


MIXED = ["float16", "float32", "float64", "bfloat16", "float32"]


def trained(comm, dtypes=("float32", "float64"), steps=4, hook=None, around=None, net=None, optimizer=None, loss=None,
            **settings):
    model = DataParallel(net or Net(comm, dtypes), comm=settings.pop("over", comm), bucket_cap_mb=1e-3, find_unused_parameters=True, **settings)
    if hook:
        model.register_comm_hook(*hook)
    parameters = list(model.parameters())
    step_with = (optimizer or ag.optim.SGD)(parameters, lr=1e-3)
    for step in range(steps):
        x = ag.ones(2 + comm.rank, 4) * ag.arange(1.0, 3 + comm.rank).reshape(-1, 1)
        with (around or (lambda model, step: contextlib.nullcontext()))(model, step):
            (loss or (lambda model, x: (model(x) * x).sum()))(model, x).backward()
        if not (around and "no_sync" in str(around)):
            step_with.step()
            step_with.zero_grad()
    return model


def no_sync(model, step):
    return model.no_sync() if step % 3 else contextlib.nullcontext()


def failing(model, x):
    """One rank does not finish its second step."""
    model.tries = getattr(model, "tries", 0) + 1
    y = model(x)
    if model.tries == 2 and model.comm.rank == model.comm.size - 1:
        raise MemoryError("planted")
    return y.sum()


def regularised(model, x):
    """A loss that uses parameters by itself, on odd ranks, beside the model and a collective behind it."""
    y = functions.AllReduce.apply(model(x).sum(0), comm=model.comm)
    extra = sum((p.float() ** 2).sum() for p in model.module.weights) if model.comm.rank % 2 else 0.0
    return y.sum() + extra


def with_meeting(comm, dtypes=("float32", "float32")):
    """A bucket for each parameter, and a collective between: on odd ranks the first bucket is full at the end only."""
    net = Net(comm, dtypes, sizes=(700, 700, 700, 700))
    net.meets = True
    return net


OPTIONS = {
    "plain": lambda c: {},
    "mixed dtypes": lambda c: {"dtypes": MIXED, "average": "ranks"},
    "float16": lambda c: {"dtypes": ["float16"]},
    "fp16 hook": lambda c: {"hook": (None, hooks.fp16_compress_hook)},
    "bf16 hook, collective inside": lambda c: {"hook": (None, hooks.bf16_compress_hook), "net": with_meeting(c)},
    "powerSGD": lambda c: {"hook": (hooks.PowerSGDState(None, start_powerSGD_iter=2), hooks.powerSGD_hook)},
    "mixed_precision": lambda c: {"mixed_precision": "bfloat16"},
    "hierarchical": lambda c: {"over": Hierarchical(c), "net": with_meeting(c)},
    "hierarchical, mixed dtypes": lambda c: {"over": Hierarchical(c), "net": with_meeting(c, MIXED), "average": "ranks"},
    "collective inside": lambda c: {"net": with_meeting(c)},
    "SyncBatchNorm": lambda c: {"net": Net(c, ["float32", "float64"], norm=True)},
    "SyncBatchNorm, float16": lambda c: {"net": Net(c, MIXED, norm=True), "average": "ranks"},
    "no_sync": lambda c: {"around": no_sync, "dtypes": MIXED},
    "skipping": lambda c: {"around": lambda model, step: model.skipping(), "loss": failing},
    "skipping, mixed dtypes": lambda c: {"around": lambda model, step: model.skipping(), "loss": failing, "dtypes": MIXED},
    "skipping, a leaf first": lambda c: {"around": lambda model, step: model.skipping(), "loss": regularised},
    "skipping, a leaf first, mixed dtypes": lambda c: {"around": lambda model, step: model.skipping(),
                                                       "loss": regularised, "dtypes": MIXED},
    "average sum, broadcast": lambda c: {"average": "sum", "broadcast_buffers": True},
    "verify_every": lambda c: {"verify_every": 2},
    "create_graph": lambda c: {"loss": lambda model, x: sum((g ** 2).sum() for g in ag.autograd.grad(
        (model(x) ** 2).sum(), list(model.parameters()), create_graph=True, allow_unused=True) if g is not None)},
    "ZeRO": lambda c: {"optimizer": lambda params, lr: ZeroRedundancyOptimizer(
        params, ag.optim.SGD, process_group=c, lr=lr)},
    **{f"shard={stage}": lambda c, stage=stage: {"shard": stage} for stage in (1, 2, 3)},
    **{f"shard={stage}, float16": lambda c, stage=stage: {"shard": stage, "mixed_precision": "float16"}
       for stage in (1, 2, 3)},
    "shard=2, collective inside": lambda c: {"shard": 2, "net": with_meeting(c)},
    "shard=3, collective inside": lambda c: {"shard": 3, "net": with_meeting(c)},
    "shard=3, SyncBatchNorm": lambda c: {"shard": 3, "net": Net(c, ["float32", "float64"], norm=True)},
}


@pytest.mark.parametrize("options", OPTIONS)
def test_ranks_start_the_same_collectives(comm, options):
    trained(comm, **OPTIONS[options](comm))


@pytest.mark.parametrize("dtypes", [["float32", "float64"], MIXED], ids=["wide", "mixed"])
def test_also_where_calls_are_compared(comm, dtypes, monkeypatch):
    """In check mode ranks meet where a sum starts: none may wait there for one that is in a collective of the module."""
    from dparallel.comm.mpi.shared_sum import SharedSums
    monkeypatch.setattr(SharedSums, "vector", lambda *_: None)       # as between hosts
    monkeypatch.setattr(comm.watch.settings, "check", True)
    trained(comm, net=with_meeting(comm, dtypes), average="ranks")


@pytest.mark.parametrize("seed", range(3))
def test_gradients_of_mixed_dtypes(comm, seed):
    """The mean over ranks, in each dtype, whichever sum has come how far on which rank."""
    rng = np.random.default_rng(seed)
    sizes = [int(n) for n in rng.choice([1, 3, 17, 1000, 4000, 70_000], 4)]
    net = Net(comm, [str(d) for d in rng.permutation(MIXED)], sizes)
    net.rng, net.odd, net.norm = np.random.default_rng((comm.rank, seed)), False, nn.Identity()
    model = DataParallel(net, comm=comm, bucket_cap_mb=float(rng.choice([1e-5, 1e-3, 1])), average="ranks")
    for step in range(6):
        for p in model.parameters():
            p.grad = None
        model(ag.full((2,), float(comm.rank + step))).sum().backward()
        mean = 2 * np.mean([rank + step for rank in range(comm.size)])
        for p in model.parameters():
            assert p.grad.dtype == p.dtype
            np.testing.assert_allclose(p.grad.double().numpy() * p.numel(), mean, rtol=1e-2 if p.dtype.itemsize < 4 else 1e-5,
                                       err_msg=f"{p.dtype} {p.shape}, step {step}")
