"""A run with everything that has a state, for the tests of checkpoints: it can stop after any step and go on elsewhere."""

import contextlib
import random
import shutil
import tempfile
import threading

import numpy as np

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.optim.lr_scheduler import OneCycleLR
from autograd.utils.data import DataLoader, TensorDataset
from dparallel import DataParallel, DistributedSampler, GlobalBatchSampler, ZeroRedundancyOptimizer
from dparallel.checkpoint import Checkpointer

ROWS, FEATURES, CLASSES, BATCH = 61, 6, 4, 13       # the last batch has a row for each of 8 ranks
SEED = threading.Lock()


class Running(nn.Module):
    """A running mean in a buffer, as batch norm has, for any number of rows."""

    def __init__(self, width):
        super().__init__()
        self.register_buffer("mean", ag.zeros(width))

    def forward(self, x):
        if len(x) and self.training:
            with ag.no_grad():
                self.mean.mul_(0.9).add_(x.mean(0).detach() * 0.1)
        return x - self.mean.clone() * 0.1


class Net(nn.Module):
    """A buffer, dropout if asked for (random streams), layers that do not divide evenly."""

    def __init__(self, dropout):
        super().__init__()
        self.first, self.norm, self.drop = nn.Linear(FEATURES, 7), Running(7), nn.Dropout(dropout)
        self.second, self.out = nn.Linear(7, 5), nn.Linear(5, CLASSES)

    def forward(self, x):
        return self.out(self.second(self.drop(self.norm(self.first(x)).tanh())).tanh())


@contextlib.contextmanager
def shared_folder(comm):
    """A new folder that all ranks know; removed at the end."""
    folder = tempfile.mkdtemp() if comm.rank == 0 else None
    folder = folder if comm.alone else comm.broadcast_object(folder, 0)
    try:
        yield folder
    finally:
        if not comm.alone:
            comm.barrier()
        if comm.rank == 0:
            shutil.rmtree(folder, ignore_errors=True)


class Run:
    """A model, its optimiser, scheduler, scaler, loader and counters, on this rank of comm."""

    def __init__(self, comm, folder, *, shard=None, sampler="global", dropout=0.0, noise=False, normalised=True, workers=0,
                 seed=0, batch=None, reproducible=None, optimizer=None, module=None, **options):
        self.comm, self.noise, self.reproducible = comm, noise, reproducible
        with SEED:
            ag.manual_seed(seed)
            net = (Net(dropout) if module is None else module()).double()
        if not normalised:
            net.norm = nn.Identity()
        more = {} if reproducible is None else {"reproducible": reproducible}
        self.model = DataParallel(net, comm=comm, shard=None if shard == "zero" else shard, bucket_cap_mb=0.0003, **more)
        make = optimizer or (lambda params: optim.AdamW(params, lr=0.02))
        if shard == "zero":
            self.optimizer = ZeroRedundancyOptimizer(self.model.parameters(), optim.AdamW, comm, lr=0.02)
        else:
            self.optimizer = make(self.model.parameters())
        self.scheduler = OneCycleLR(self.optimizer, 0.05, total_steps=100)
        self.scaler = ag.amp.GradScaler("cpu", init_scale=64.0, growth_interval=3)
        rng = np.random.default_rng(7)
        self.x, self.y = rng.standard_normal((ROWS, FEATURES)), rng.integers(0, CLASSES, ROWS)
        data = TensorDataset(ag.tensor(np.arange(ROWS)))
        if sampler == "global":
            self.sampler = GlobalBatchSampler(data, batch or BATCH, comm=comm, shards=reproducible)
            self.loader = DataLoader(data, batch_sampler=self.sampler, num_workers=workers)
        else:
            self.sampler = DistributedSampler(data, comm=comm, uneven=True)
            self.loader = DataLoader(data, batch or BATCH // comm.size, sampler=self.sampler, num_workers=workers)
        self.progress, self.seen = {"epoch": 0, "losses": []}, []
        self.checkpoint = Checkpointer(folder, model=self.model, optimizer=self.optimizer, scheduler=self.scheduler,
                                       loader=self.loader, scaler=self.scaler, comm=comm, progress=self.progress, **options)

    def steps(self, until, step=0, save_at=()):
        """Train until that many steps are done; save after those in save_at."""
        while step < until:
            self.sampler.set_epoch(self.progress["epoch"])
            for (numbers,) in self.loader:
                self.train(numbers.numpy())
                step += 1
                if step in save_at:
                    self.checkpoint.save(step)
                if step == until:
                    return self
            self.progress["epoch"] += 1
        return self

    def train(self, numbers):
        self.seen.append((self.progress["epoch"], numbers.tolist()))
        x, y = self.x[numbers], self.y[numbers]
        if self.noise:                               # of the streams that functions draw from
            x = x + 0.1 * np.random.standard_normal(x.shape) + 0.1 * random.random()
        self.optimizer.zero_grad()
        if self.reproducible:
            for xs, ys in self.model.shards(ag.tensor(x), ag.tensor(y)):
                F.cross_entropy(self.model(xs), ys).backward()
            self.optimizer.step()
        else:
            loss = F.cross_entropy(self.model(ag.tensor(x)), ag.tensor(y))
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.progress["losses"].append(loss.item())
        self.scheduler.step()

    def weights(self):
        return {name: t.numpy().copy() for name, t in self.model.state_dict().items()}

    def everything(self):
        """What must be bitwise the same in a run that was stopped and in one that was not."""
        state = self.optimizer.optim.state_dict() if isinstance(self.optimizer, ZeroRedundancyOptimizer) else self.optimizer.state_dict()
        found = {f"{n} {k}": v.numpy() if hasattr(v, "numpy") else v for n, of in state["state"].items() for k, v in of.items()}
        return {**self.weights(), **found, "lr": self.optimizer.param_groups[0]["lr"], "scale": self.scaler.state_dict(),
                "progress": self.progress, "draws": [np.random.random(), random.random()] if self.noise else None}


def same(a, b, exact=True):
    assert list(a) == list(b)
    for name in a:
        if not isinstance(a[name], np.ndarray):
            assert a[name] == b[name], name
        elif exact:
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)
        else:
            np.testing.assert_allclose(a[name], b[name], rtol=1e-10, atol=1e-12, err_msg=name)
