"""Trainings in which something is planted that makes ranks wait: what tests/timeline/blame.py lists, and the tests in short.

A Case says what is planted where, in ms a step, and which shares of the waiting are to be blamed on whom. Plants sleep, so that
a machine's other work is not counted as theirs; those that are to be seen by the system's counters work.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import autograd as ag
from autograd import nn
from autograd.autograd import Function
from autograd.utils.data import DataLoader, Dataset
from dparallel import DataParallel, Devices, Recv, Send, SyncBatchNorm, timeline

WARM, STEPS, THIEVES = 2, 8, 6


class Case(NamedTuple):
    """A training with plants. name: what it shows. ranks: how many it needs. expected: by (rank, part) the share of all
    waiting; {}: nobody is to blame for more than noise. plants: ms by (rank, part). train: the training, with `settings`."""

    name: str
    ranks: int
    expected: dict[tuple[int, str], float]
    plants: dict[tuple[int, str], Any]
    train: Callable[..., None] | None = None
    settings: dict[str, Any] = {}
    counted: bool = False                            # other processes' share of the waiting counts
    judge: str = "causes"                            # in the report's data


class Planted:
    """What sleeps in a rank. at(part): sleep now, as the plants say."""

    def __init__(self, rank: int, plants: dict[tuple[int, str], Any]) -> None:
        self.plants = {part: plant for (who, part), plant in plants.items() if who == rank}
        self.step = 0                                # 0 to WARM - 1 are not recorded

    def at(self, part: str, rows: int = 0) -> None:
        """Sleep, if something is planted."""
        plant = self.plants.get(part, 0.0)
        time.sleep((plant(self.step - WARM, rows) if callable(plant) else plant) / 1000)


class Pause(Function):
    """An identity that sleeps in forward and in backward, in replays, too."""

    @staticmethod
    def forward(ctx: Any, x: Any, planted: Any = None) -> Any:
        ctx.planted = planted
        planted.at("forward", len(x))
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        ctx.planted.at("backward", len(g))
        return g * 1.0, None


class Sleeps(nn.Module):
    """A layer that sleeps."""

    def __init__(self, planted: Planted) -> None:
        super().__init__()
        self.planted = planted

    def forward(self, x: Any) -> Any:
        return Pause.apply(x, planted=self.planted)


class SlowSGD(ag.optim.SGD):
    """An optimiser that sleeps."""

    planted: Any = None

    def step(self, closure: Any = None) -> Any:
        self.planted.at("optimizer")
        return super().step(closure)


class Rows(Dataset):
    """Numbers; the first of each batch takes its time."""

    def __init__(self, planted: Planted, rows: int, count: int, shape: tuple[int, ...]) -> None:
        self.planted, self.rows, self.count = planted, rows, count
        self.x = np.random.default_rng(0).standard_normal((rows, *shape)).astype(np.float32)

    def __len__(self) -> int:
        return self.count * self.rows

    def __getitem__(self, place: int) -> Any:
        if place % self.rows == 0:
            self.planted.at("loader")
        return self.x[place % self.rows]


class SlowFile(io.BytesIO):
    """A file on a slow disk."""

    def __init__(self, planted: Planted) -> None:
        super().__init__()
        self.planted, self.slept = planted, False

    def write(self, data: Any) -> int:
        if not self.slept:
            self.slept = True
            self.planted.at("checkpoint")
        return super().write(data)


class Garbage:
    """An object whose end takes its time; in a cycle, it ends in the collector."""

    def __init__(self, planted: Planted) -> None:
        self.planted, self.cycle = planted, self

    def __del__(self) -> None:
        self.planted.at("collector")


class Blocks(nn.Module):
    """A small GPT: two blocks of attention."""

    def __init__(self, middle: nn.Module, wide: int = 32) -> None:
        super().__init__()
        self.qkv, self.out, self.norm = nn.Linear(wide, 3 * wide), nn.Linear(wide, wide), nn.LayerNorm(wide)
        self.up, self.middle, self.down = nn.Linear(wide, 4 * wide), middle, nn.Linear(4 * wide, wide)

    def forward(self, x: Any) -> Any:
        q, k, v = self.qkv(self.norm(x)).split(x.shape[-1], dim=2)
        x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x + self.down(self.middle(nn.functional.gelu(self.up(x))))


def model_of(kind: str, planted: Planted) -> tuple[nn.Module, tuple[int, ...]]:
    """A model with a layer that sleeps, and the shape of a row."""
    ag.manual_seed(0)
    if kind == "mlp":
        return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), Sleeps(planted), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)), (64,)
    if kind == "plain":
        return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), Sleeps(planted), nn.Linear(64, 64)), (64,)
    if kind == "conv":
        return nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), Sleeps(planted), nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8),
                             nn.Flatten(), nn.Linear(8 * 64, 10)), (1, 12, 12)
    if kind == "gpt":
        return nn.Sequential(Blocks(nn.Identity()), Blocks(Sleeps(planted))), (16, 32)
    raise ValueError(kind)


def train(comm: Any, planted: Planted, recorded: Callable[[], Any], *, model: str = "mlp", rows: Any = 8, cap: float = 25.0,
          shard: Any = None, sync: bool = False, passes: int = 1, way: str = "", batch: str = "own", mix: bool = False,
          collect: bool = False, save: bool = False, **options: Any) -> None:
    """A training loop with every place at which something can be planted."""
    net, shape = model_of(model, planted)
    if sync:
        net = SyncBatchNorm.convert_sync_batchnorm(net)
    rows = rows[comm.rank] if isinstance(rows, (list, tuple)) else rows
    if batch == "root":
        options["batch"] = "root"
    net = DataParallel(net, comm=comm, bucket_cap_mb=cap, shard=shard, **options)
    optimizer = SlowSGD(net.parameters(), lr=1e-3)
    optimizer.planted = planted

    def forward(x: Any) -> Any:
        y = net(x)
        return (y * y).mean() if y.numel() else y.sum()

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        if way == "skipping":
            with net.skipping():
                loss = forward(x)
                loss.backward()
        else:
            for last in range(passes):
                with net.no_sync(last < passes - 1) if passes > 1 else contextlib.nullcontext():
                    loss = forward(x)
                    loss.backward()
        optimizer.step()
        slow.step()
        return loss

    def factor(_: int) -> float:
        planted.at("replay")
        return 1.0

    slow = ag.optim.lr_scheduler.LambdaLR(optimizer, factor)
    data: Any = DataLoader(Rows(planted, rows, WARM + STEPS, shape), batch_size=rows)
    run = ag.trace_step(step, (ag.zeros(rows, *shape),)) if way == "replay" else step
    batches = iter(data)
    short = 2 if way == "join" and comm.rank == 0 else 0         # rank 0 runs out of data
    gc.disable()
    with contextlib.ExitStack() as stack:
        for number in range(WARM + STEPS - short):
            if number == WARM:
                gc.collect()
                stack.enter_context(recorded())
                if way == "join":
                    stack.enter_context(net.join())
            planted.step = number
            run(next(batches))
            planted.at("script")
            if "collector" in planted.plants:
                Garbage(planted)
                gc.collect()
            if collect and (comm.rank == 1):
                kept = [[i] for i in range(60_000)]
                for item in kept:
                    item.append(item)                # type: ignore[arg-type]
                del kept, item
                gc.collect()
            if "checkpoint" in planted.plants or save:
                ag.save(dict(net.module.state_dict()), SlowFile(planted))
    gc.enable()


def stages(comm: Any, planted: Planted, recorded: Callable[[], Any], *, recorded_messages: bool = True) -> None:
    """A pipeline: each rank has a stage, whose input comes from the rank before and whose gradient from the one behind."""
    net, shape = model_of("plain", planted)
    optimizer = SlowSGD(net.parameters(), lr=1e-3)
    optimizer.planted = planted
    first, last = comm.rank == 0, comm.rank == comm.size - 1
    with contextlib.ExitStack() as stack:
        for number in range(WARM + STEPS):
            if number == WARM:
                stack.enter_context(recorded())
            planted.step = number
            optimizer.zero_grad()
            x = ag.ones(8, *shape) if first else ag.from_numpy(comm.recv(comm.rank - 1)).requires_grad_()
            y = net(x)
            if last:
                (y * y).mean().backward()
            else:
                comm.send(y.detach().numpy(), comm.rank + 1)
                y.backward(ag.from_numpy(comm.recv(comm.rank + 1)))
            if not first:
                comm.send(np.asarray(x.grad), comm.rank - 1)
            optimizer.step()
            planted.at("script")


def ring(comm: Any, planted: Planted, recorded: Callable[[], Any]) -> None:
    """Messages round a ring, recorded: Send and Recv in the model's forward, and back in backward."""
    net, shape = model_of("plain", planted)
    optimizer = SlowSGD(net.parameters(), lr=1e-3)
    optimizer.planted = planted
    with contextlib.ExitStack() as stack:
        for number in range(WARM + STEPS):
            if number == WARM:
                stack.enter_context(recorded())
            planted.step = number
            optimizer.zero_grad()
            y = net(ag.ones(8, *shape))
            if comm.rank == 0:
                token = Send.apply(y, dest=1, comm=comm)
                token.sum().backward()
            else:
                z = Recv.apply(source=0, comm=comm)
                ((y + z) ** 2).mean().backward()
            optimizer.step()


def groups(comm: Any, planted: Planted, recorded: Callable[[], Any]) -> None:
    """Collectives of parts of the ranks: {0, 1}, then {1, 2}."""
    net, shape = model_of("plain", planted)
    optimizer = SlowSGD(net.parameters(), lr=1e-3)
    optimizer.planted = planted
    low, high = comm.split(0 if comm.rank < 2 else None), comm.split(0 if comm.rank > 0 else None)
    with contextlib.ExitStack() as stack:
        for number in range(WARM + STEPS):
            if number == WARM:
                stack.enter_context(recorded())
            planted.step = number
            optimizer.zero_grad()
            (net(ag.ones(8, *shape)) ** 2).mean().backward()
            for group in (low, high):
                if group is not None:
                    for p in net.parameters():
                        p.grad = ag.from_numpy(group.allreduce([p.grad.numpy()])[0])
            optimizer.step()
            planted.at("script")
    for group in (low, high):
        if group is not None:
            group.free()


@contextlib.contextmanager
def slow_sums(comm: Any, net: Any, seconds: float) -> Iterator[None]:
    """Each sum of this rank is complete so many seconds later: it is at the end of a slow link."""
    from dparallel.comm.mpi.shared_sum import SharedSum

    wait = SharedSum._wait

    def slow(self: Any) -> None:
        wait(self)
        time.sleep(seconds)

    SharedSum._wait = slow                           # type: ignore[method-assign]
    try:
        yield
    finally:
        SharedSum._wait = wait                       # type: ignore[method-assign]


def slow_link(comm: Any, planted: Planted, recorded: Callable[[], Any]) -> None:
    """Sums that take longer: on all ranks, or on one, whose link is slow."""
    with slow_sums(comm, None, planted.plants.get("link", 0.0) / 1000):
        train(comm, planted, recorded)


def slow_messages(comm: Any, planted: Planted, recorded: Callable[[], Any]) -> None:
    """Messages from the rank before take longer."""
    received = type(comm)._receive_message
    delay = planted.plants.get("link", 0.0) / 1000

    def slow(self: Any, *args: Any) -> Any:
        handle = received(self, *args)
        source = args[1]
        finish = handle._finish

        def later() -> Any:
            value = finish()
            if source < comm.rank:
                time.sleep(delay)
            return value

        handle._finish = later
        return handle

    type(comm)._receive_message = slow
    try:
        stages(comm, planted, recorded)
    finally:
        type(comm)._receive_message = received


def stolen_core(comm: Any, planted: Planted, recorded: Callable[[], Any], *, whose: int) -> None:
    """Other processes run on the core of one rank: more than may run there anyway."""
    cores = sorted(os.sched_getaffinity(0))
    core = cores[comm.rank % len(cores)]
    before, thieves = os.sched_getaffinity(0), []
    os.sched_setaffinity(0, {core})
    try:
        if comm.rank == whose:
            thieves = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(THIEVES)]
            for thief in thieves:
                os.sched_setaffinity(thief.pid, {core})
        train(comm, planted, recorded, model="gpt", rows=64)
    finally:
        for thief in thieves:
            thief.kill()
            thief.wait()
        os.sched_setaffinity(0, before)


def devices(comm: Any, planted: Planted, recorded: Callable[[], Any], *, whose: int, device: int, part: str) -> None:
    """Local devices, of which one is slow: half of the batch's rows are marked."""
    ag.manual_seed(0)

    class Slow(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, mark: Any = None) -> Any:
            ctx.slow = comm.rank == whose and float(mark.detach().numpy().flat[0]) == device
            if ctx.slow and part == "forward":
                time.sleep(0.012)
            return x * 1.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if ctx.slow and part == "backward":
                time.sleep(0.012)
            return g * 1.0, None

    class Marked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            return Slow.apply(self.layer(x), mark=x)

    x = ag.from_numpy(np.repeat(np.arange(2, dtype=np.float32), 8)[:, None] * np.ones((1, 64), np.float32))
    net = DataParallel(Marked(), devices=2, batch="root") if comm.size == 1 else DataParallel(Marked(), comm=comm, devices=2)
    optimizer = ag.optim.SGD(net.parameters(), lr=1e-3)
    with contextlib.ExitStack() as stack:
        for number in range(WARM + STEPS):
            if number == WARM:
                stack.enter_context(recorded())
            optimizer.zero_grad()
            y = net(x)
            (y * y).mean().backward()
            optimizer.step()


def run(case: Case, comm: Any, path: Any) -> None:
    """Run a case on the ranks of comm, recorded into a file."""
    planted = Planted(comm.rank, case.plants)
    comm.barrier()
    (case.train or train)(comm, planted, lambda: timeline(path, comm=comm), **case.settings)


__all__ = ["Case", "Devices", "Planted", "run"]
