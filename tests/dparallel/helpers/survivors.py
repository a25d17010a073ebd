"""The scripts of test_survive.py: dprun --survive -n N survivors.py SCENARIO. Ranks kill themselves at chosen places; what is
left is compared with one process that does the same in float64."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

import autograd as ag
import autograd.nn.functional as F
import dparallel
import dparallel.distributed as dist
from autograd import nn, optim
from autograd.utils.data import DataLoader, TensorDataset
from dparallel import DataParallel, Devices, GlobalBatchSampler, RankLost, evaluate
from dparallel.checkpoint import Checkpointer
from dparallel.hooks.local_sgd import PostLocalSGDState, post_localSGD_hook
from dparallel.hooks.model_averaging import PeriodicModelAverager, PostLocalSGDOptimizer
from dparallel.survival import run as survival

ROWS = 48
rng = np.random.default_rng(5)
X, Y = ag.tensor(rng.standard_normal((ROWS, 6))), ag.tensor(rng.integers(0, 3, ROWS))


def die() -> None:
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def net(seed: int = 0) -> nn.Module:
    ag.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).double()


def values(*models: nn.Module) -> list[np.ndarray]:
    return [value.detach().numpy().copy() for model in models for value in model.state_dict().values()]


def agree(got: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    """The weights are those of one process, and the same on all ranks."""
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a.reshape(-1), b.reshape(-1), rtol=0, atol=1e-12)


def share(run, comm, rows: int = 12) -> ag.Tensor:
    """This rank's rows of a step."""
    first = run.steps * rows % ROWS
    return X[first:first + rows].tensor_split(comm.size)[comm.rank]


class One:
    """One process: a run, and a communicator's rank and size."""

    steps, attempt, rank, size = 0, 1, 0, 1

    def step(self) -> None:
        self.steps += 1


# --- where ranks communicate within a step, and who dies there ---------------------------------------------------------------

def two_optimizers(run, comm, dies: bool, models) -> None:
    """The weights of the first have changed when a rank dies in the sum of the second's gradients."""
    a, b = models
    of_a, of_b = optim.AdamW(a.parameters(), lr=0.01), optim.AdamW(b.parameters(), lr=0.01)
    if not isinstance(run, One):
        run.keep(a=a, b=b, of_a=of_a, of_b=of_b)
    while run.steps < 7:
        x = share(run, comm)
        of_a.zero_grad()
        ((a(x) - 1) ** 2).mean().backward()
        of_a.step()
        if dies and run.attempt == 0 and run.steps in (0, 4) and comm.rank == 1:
            die()
        of_b.zero_grad()
        ((b(x) * a(x).detach()) ** 2).mean().backward()
        of_b.step()
        run.step()


def closure(run, comm, dies: bool, models) -> None:
    """A rank dies in the sum of the gradients, which runs within optimizer.step()."""
    model = models[0]
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    def loss() -> ag.Tensor:
        optimizer.zero_grad()
        value = (model(share(run, comm)) ** 2).mean()
        if dies and run.steps == 5 and comm.rank == 1:
            die()
        value.backward()
        return value

    if not isinstance(run, One):
        run.keep(model=model, optimizer=optimizer)
    while run.steps < 7:
        optimizer.step(loss)
        run.step()


def total_and_schedule(run, comm, dies: bool, models) -> None:
    """A rank dies in the sum of the losses, before the schedule's step."""
    model = models[0]
    optimizer = optim.AdamW(model.parameters(), lr=0.01)
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    losses: list[float] = []
    if not isinstance(run, One):
        run.keep(model=model, optimizer=optimizer, scheduler=schedule, losses=losses)
    while run.steps < 7:
        x = share(run, comm)
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        if dies and run.steps == 4 and comm.rank == 1:
            die()
        local = float(loss.detach()) * len(x)
        losses.append(local if isinstance(run, One) else comm.total(local))
        schedule.step()
        run.step()
    assert len(losses) == 7, losses


def windows() -> None:
    for train in (two_optimizers, closure, total_and_schedule):
        size = dparallel.world().size

        @dparallel.survive
        def surviving(run, train=train, size=size):
            comm, models = dparallel.world(), (DataParallel(net(1)), DataParallel(net(2)))
            train(run, comm, comm.size == size, models)
            return values(*models)

        got = surviving()
        assert dparallel.world().size == size - 1
        models = net(1), net(2)
        train(One(), One(), False, models)
        agree(got, values(*models))


def late() -> None:
    """Ranks communicate in a late step for the first time, and one dies there: that is told, and the next death is exact."""
    @dparallel.survive
    def train(run):
        comm, model = dparallel.world(), DataParallel(net())
        optimizer, counted = optim.SGD(model.parameters(), lr=0.1), {"steps": 0}
        run.keep(model=model, optimizer=optimizer, counted=counted)
        while run.steps < 9:
            optimizer.zero_grad()
            (model(share(run, comm)) ** 2).mean().backward()
            optimizer.step()
            if run.steps in (3, 7):
                if (run.steps, run.attempt) in ((3, 0), (7, 1)) and comm.rank == 1:
                    die()
                comm.total(1.0)
            counted["steps"] += 1
            run.step()
        assert counted["steps"] == 8, counted        # the rest of step 4 is left out

    train()


def averaging() -> None:
    """A rank dies when the optimiser averages the weights for the first time: no step is lost but that one."""
    @dparallel.survive
    def train(run):
        comm, model = dparallel.world(), DataParallel(net())
        model.register_comm_hook(PostLocalSGDState(start_localSGD_iter=3), post_localSGD_hook)
        averager = PeriodicModelAverager(4, warmup_steps=3)
        optimizer = PostLocalSGDOptimizer(optim.SGD(model.parameters(), lr=0.1), averager)
        first = run.keep(model=model, optimizer=optimizer)
        assert first == (0 if run.attempt == 0 else 4), first
        while run.steps < 9:
            optimizer.zero_grad()
            (model(share(run, comm)) ** 2).mean().backward()
            if run.attempt == 0 and run.steps == 3:
                comm.barrier()
                if comm.rank == 1:
                    die()
            optimizer.step()
            run.step()

    train()


# --- what is each rank's own ---------------------------------------------------------------------------------------------------

def own() -> None:
    """Rank 1 dies at the end of a step that rank 2 has not seen finished: it draws no number twice, and leaves none out. The
    environment and the default process group follow the ranks."""
    draws, started = {}, []

    @dparallel.survive
    def train(run):
        dist.init_process_group("gloo")
        comm = dparallel.world()
        assert (dist.get_rank(), dist.get_world_size()) == (comm.rank, comm.size)
        assert (os.environ["RANK"], os.environ["WORLD_SIZE"], os.environ["LOCAL_RANK"]) == (str(comm.rank), str(comm.size), str(comm.rank))
        model = DataParallel(net(), process_group=dist.group.WORLD)
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        if not started:
            started.append(comm.rank)
            ag.manual_seed(100 + comm.rank)
        mine, numpys = ag.Generator().manual_seed(200 + started[0]), np.random.default_rng(started[0])
        run.keep(model=model, optimizer=optimizer, mine=mine, numpys=numpys)
        while run.steps < 6:
            draws[run.steps] = float(ag.rand(1)), float(ag.rand(1, generator=mine)), numpys.random()
            optimizer.zero_grad()
            (model(share(run, comm)) ** 2).mean().backward()
            if run.attempt == 0 and run.steps == 3:
                comm.barrier()
                if comm.rank == 1:
                    time.sleep(0.2)                  # in which rank 0 finishes the step
                    die()
                if comm.rank == 2:
                    time.sleep(0.5)
                    raise RankLost("as if this rank had not seen the end of the sum")
            optimizer.step()
            run.step()
        dist.destroy_process_group()

    train()
    ag.manual_seed(100 + started[0])
    mine, numpys = ag.Generator().manual_seed(200 + started[0]), np.random.default_rng(started[0])
    for step in range(6):
        assert draws[step] == (float(ag.rand(1)), float(ag.rand(1, generator=mine)), numpys.random()), step


def counted_differently() -> None:
    """Under join() ranks count different steps: rank 2, which has counted one less, has the newest state."""
    @dparallel.survive
    def train(run):
        comm, model = dparallel.world(), DataParallel(net())
        optimizer, progress = optim.AdamW(model.parameters(), lr=0.01), {"epoch": 0, "step": 0}
        run.keep(model=model, optimizer=optimizer, progress=progress)
        if run.attempt:
            assert (progress["epoch"], progress["step"]) == (1, 2), progress
        while progress["epoch"] < 3:
            with model.join():
                for step in range(progress["step"], 5 - (comm.rank == 2 and progress["epoch"] == 0)):
                    optimizer.zero_grad()
                    (model(X[step * 9 + comm.rank * 3:][:3]) ** 2).mean().backward()
                    if run.attempt == 0 and progress["epoch"] == 1 and step == 1:
                        comm.barrier()
                        if comm.rank == 1:
                            time.sleep(0.2)
                            die()
                        if comm.rank == 0:
                            time.sleep(0.5)
                            raise RankLost("as if this rank had not seen the end of the sum")
                    optimizer.step()
                    progress["step"] = step + 1
                    run.step()
            progress.update(epoch=progress["epoch"] + 1, step=0)
        mine = b"".join(value.tobytes() for value in values(model))
        assert len(set(comm.allgather_object([mine]))) == 1

    train()


def by_hand() -> None:
    """Shares that a script has cut by rank and size, with the same seeds on all ranks."""
    @dparallel.survive
    def train(run):
        comm, model = dparallel.world(), DataParallel(net())
        random.seed(0), np.random.seed(0), ag.manual_seed(0)
        optimizer = optim.SGD(model.parameters(), lr=0.01)
        loader = DataLoader(TensorDataset(X[comm.rank::comm.size]), batch_size=2)
        run.keep(model=model, optimizer=optimizer, loader=loader)
        for (x,) in loader:
            (model(x) ** 2).mean().backward()
            if run.steps == 2 and comm.rank == 1:
                die()
            optimizer.step()
            run.step()
        print("well")

    train()


# --- a whole script ---------------------------------------------------------------------------------------------------------------

def training(comm, run=None, deaths=(), rows: int = 47, **settings) -> tuple[list[np.ndarray], list[float]]:
    """Three epochs with workers, two batches to a step, a limit on gradients, a schedule, an evaluation after each epoch."""
    module = net()
    model = DataParallel(module, comm=comm, **settings)
    optimizer = optim.AdamW(model.parameters(), lr=0.01)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=30)
    data = TensorDataset(X[:rows], Y[:rows])
    loader = DataLoader(data, batch_sampler=GlobalBatchSampler(data, 8, comm=comm), num_workers=2 if run and rows < ROWS else 0)
    progress = {"epoch": 0, "evaluations": []}
    if run:
        run.keep(model=model, optimizer=optimizer, scheduler=schedule, loader=loader, progress=progress)
    steps = run.steps if run else 0

    def at(where: str) -> None:
        if run and (where, steps, comm.rank, run.attempt) in deaths:
            die()

    def metric(output: ag.Tensor, target: ag.Tensor) -> ag.Tensor:
        at("evaluation")
        return F.cross_entropy(output, target)

    while progress["epoch"] < 3:
        batches = iter(loader)
        for first in batches:
            pair = [batch for batch in (first, next(batches, None) if rows < ROWS else None) if batch is not None]
            optimizer.zero_grad()
            for number, (x, y) in enumerate(pair):
                with model.no_sync() if number < len(pair) - 1 else contextlib.nullcontext():
                    (F.cross_entropy(model(x), y) / len(pair)).backward()
            at("backward")
            dparallel.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            schedule.step()
            at("end")
            steps += 1
            if run:
                run.step()
        progress["epoch"] += 1
        at("epoch")
        if rows < ROWS:
            progress["evaluations"].append(float(evaluate(model, TensorDataset(X[:20], Y[:20]), {"loss": metric}, batch_size=4)["loss"]))
    return values(model), progress["evaluations"]


def whole() -> None:
    """A death in the last, short batch of an epoch, between two epochs, in an evaluation."""
    deaths = {("backward", 2, 1, 0), ("epoch", 6, 0, 1), ("evaluation", 9, 1, 2)}
    got, evaluations = dparallel.survive(lambda run: training(dparallel.world(), run, deaths))()
    assert dparallel.world().size == 1
    wanted, expected = training(Devices(1))
    agree(got, wanted)
    np.testing.assert_allclose(evaluations, expected, rtol=0, atol=1e-12)


def reproducible() -> None:
    """On 2 ranks, then on 2 of which one is new, then on 1: every bit is that of one process."""
    deaths = {("backward", 2, 1, 0), ("end", 9, 0, 1)}
    got, _ = dparallel.survive(lambda run: training(dparallel.world(), run, deaths, ROWS, reproducible=4))()
    assert dparallel.world().size == 1
    wanted, _ = training(Devices(1), None, (), ROWS, reproducible=4)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(got, wanted, strict=True))


def trained_alone(model: nn.Module) -> nn.Module:
    """The model after 9 steps of one process."""
    run, optimizer = One(), optim.AdamW(model.parameters(), lr=0.01)
    while run.steps < 9:
        optimizer.zero_grad()
        (model(share(run, One())) ** 2).mean().backward()
        optimizer.step()
        run.step()
    return model


# --- newcomers -----------------------------------------------------------------------------------------------------------------------

def growing() -> None:
    """While a newcomer gets its state it dies, and so does the rank that has sent it; then there are no spares left, and one
    more dies. The state is a few MB, some of it in slices."""
    put_back, process = survival.put_back, os.environ["DPRUN_RANK"]

    def putting_back(parts, left, everyone):
        if process == "3" and left.offer.steps < 0:
            die()
        if process == "0" and dparallel.world().rank == 0 and len(everyone) == 3:
            die()
        return put_back(parts, left, everyone)

    survival.put_back = putting_back

    @dparallel.survive
    def train(run):
        comm, model = dparallel.world(), DataParallel(net(), shard=3)
        optimizer, big = optim.AdamW(model.parameters(), lr=0.01), ag.zeros(500_000)
        run.keep(model=model, optimizer=optimizer, big=big)
        while run.steps < 9:
            optimizer.zero_grad()
            (model(share(run, comm)) ** 2).mean().backward()
            if (run.attempt == 0 and run.steps == 3 and comm.rank == 1) or (run.steps == 6 and comm.size == 3):
                die() if comm.rank == 1 else None
            optimizer.step()
            big += 1
            run.step()
        assert float(big.min()) == float(big.max()) == 9
        return values(model)

    got = train()
    assert dparallel.world().size == 2
    agree(got, values(trained_alone(net())))


def another_job() -> None:
    """Two ranks crash, and there is one spare: a new job goes on, which has nobody to crash."""
    @dparallel.survive
    def train(run):
        comm, model = dparallel.world(), DataParallel(net())
        optimizer = optim.AdamW(model.parameters(), lr=0.01)
        run.keep(model=model, optimizer=optimizer)
        while run.steps < 9:
            optimizer.zero_grad()
            (model(share(run, comm)) ** 2).mean().backward()
            if (run.attempt, run.steps) in ((0, 3), (1, 6)) and comm.rank == 1:
                os.kill(os.getpid(), signal.SIGSEGV)
            optimizer.step()
            run.step()
        return values(model)

    got = train()
    agree(got, values(trained_alone(net())))


# --- ends ---------------------------------------------------------------------------------------------------------------------------

def short(body) -> None:
    """A training in which body(run) is called after each step."""
    @dparallel.survive
    def train(run):
        comm, model = dparallel.world(), DataParallel(net())
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        run.keep(model=model, optimizer=optimizer)
        while run.steps < 200:
            optimizer.zero_grad()
            (model(share(run, comm)) ** 2).mean().backward()
            optimizer.step()
            run.step()
            if run.attempt == 0 and run.steps == 3 and comm.rank == 1 and sys.argv[1] != "error":
                die()
            if body(run):
                return

    train()


def error() -> None:
    """One rank's own mistake."""
    def body(run):
        if run.steps == 5 and dparallel.world().rank == 1:
            raise ValueError("a mistake")

    short(body)


def ended_by_c() -> None:
    """A C library ends one rank, of which MPI tells nobody."""
    def body(run):
        if run.steps == 5 and dparallel.world().rank == 1:
            ctypes.CDLL(None)._exit(3)

    short(body)


def outside() -> None:
    """A communicator that was made outside of the function."""
    comm = dparallel.world()
    short(lambda run: comm.total(1.0) and run.steps == 6)


def twice() -> None:
    """keep() is called twice."""
    short(lambda run: run.steps == 5 and run.keep(other={}))


def leaving() -> None:
    """sys.exit(0) on all ranks, after a death."""
    short(lambda run: run.steps == 6 and sys.exit(0))


def never() -> None:
    """A script without survive()."""
    comm, model = dparallel.world(), DataParallel(net())
    for step in range(5):
        if step == 3 and comm.rank == 1:
            die()
        (model(X[:4]) ** 2).mean().backward()


def asked() -> None:
    """The job is asked to end, after a death."""
    with dparallel.graceful_exit() as stop:
        def body(run):
            if run.steps == 5 and dparallel.world().rank == 0:
                Path(sys.argv[2]).touch()
            time.sleep(0.01)
            return stop.requested()

        short(body)


def restarted() -> None:
    """Too few are left, and another job goes on from the checkpoint."""
    @dparallel.survive
    def train(run):
        comm, model, again = dparallel.world(), DataParallel(net(1)), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
        optimizer = optim.AdamW(model.parameters(), lr=0.01)
        saved = Checkpointer(sys.argv[2], model=model, optimizer=optimizer, background=False)
        first = run.keep(saved)
        if comm.rank == 0:
            print("job", again, "of", comm.size, "from", first, flush=True)
        while run.steps < 9:
            optimizer.zero_grad()
            (model(share(run, comm)) ** 2).mean().backward()
            if (again, run.attempt, run.steps, comm.rank) in {(0, 0, 3, 1), (0, 1, 7, 0), (1, 0, 7, 2)}:
                die()
            optimizer.step()
            run.step()
            if run.steps % 2 == 0:
                saved.save(run.steps)
        saved.close()
        return values(model)

    got = train()
    agree(got, values(trained_alone(net(1))))


globals()[sys.argv[1]]()
print("well", flush=True)
