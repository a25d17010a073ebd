"""The script that is killed: dprun --survive -n 4 tests/survival/training.py FOLDER TASK [--shard 3] [--checkpoints].

It trains a task of tasks.py until there is a file FOLDER/enough when an epoch ends, writes down what it does (journal.py),
and passes moments at which it may be told to die (moments.py).
"""

from __future__ import annotations

import argparse
import faulthandler
import functools
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
from journal import Journal
from moments import Moments
from tasks import TASKS, scheduled, start, state_of
from undisturbed import copies, total

import autograd as ag
import autograd.nn.functional as F
import dparallel
from autograd.utils.data import DataLoader, TensorDataset
from dparallel import DataParallel, GlobalBatchSampler, ZeroRedundancyOptimizer, evaluate
from dparallel.checkpoint import Checkpointer, checkpointer, writing
from dparallel.model import data_parallel
from dparallel.reduction.transport import AllReduceTransport
from dparallel.sharding.transport import ReduceScatterTransport

BUCKETS = 0.0005                     # MB: a layer's weight fills one
SAVE_EVERY = 7                       # steps
JOB = 1000                           # more than the attempts of a job
SHARDS: dict[str, Any] = {"none": None, "zero": None, "1": 1, "2": 2, "3": 3}


def job_number(folder: Path) -> int:
    """How many jobs of this run there were before the one that this process is of: dprun gives each a folder for reports."""
    mine = Path(os.environ.get("DPRUN_REPORT_DIR", "none")).name
    others = {path.name.split("-", 2)[2] for path in folder.glob("job-*")} - {mine}
    (folder / f"job-{len(others)}-{mine}").touch()
    return len(others)


def passing(owner: Any, name: str, moments: Moments, before: str = "", after: str = "") -> None:
    """Have a function of the library pass a moment before it, or after it."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def passed(*args: Any, **kwargs: Any) -> Any:
        if before:
            moments.at(before)
        result = function(*args, **kwargs)
        if after:
            moments.at(after)
        return result

    setattr(owner, name, passed)


def dying(kind: type[Any], moments: Moments) -> type[Any]:
    """The optimiser, which passes a moment when it has changed what lies here, before slices are gathered."""
    class Dying(kind):  # type: ignore[misc]
        def update(self, *vectors: Any, **rates: Any) -> None:
            super().update(*vectors, **rates)
            moments.at("optimiser step")

    return Dying


class Head:
    """last_state.HEAD, which passes a moment when the head of a slot is written: first that it is not complete, then that it is."""

    def __init__(self, head: Any, moments: Moments) -> None:
        self.head, self.moments, self.size, self.unpack_from = head, moments, head.size, head.unpack_from

    def pack_into(self, *args: Any) -> None:
        self.head.pack_into(*args)
        self.moments.at("in run.step()")


def passing_in_recoveries(moments: Moments) -> None:
    """Moments in the work of run.step() and of a recovery; mpi4py must have been started by the library."""
    from dparallel.comm.mpi.membership import Membership
    from dparallel.survival import last_state, recovery

    passing(last_state.LiveState, "commit", moments, before="in run.step()", after="in run.step()")
    passing(Membership, "_together", moments, before="settling", after="settling")
    passing(recovery, "_put", moments, before="putting back", after="putting back")
    last_state.HEAD = Head(last_state.HEAD, moments)


def watched(net: ag.nn.Module, inner: str, moments: Moments) -> None:
    """Pass moments in the middle of forward and of backward."""
    def output(module: ag.nn.Module, inputs: Any, result: ag.Tensor) -> None:
        if result.requires_grad:
            result.register_hook(lambda g: moments.at("between buckets"))

    layer = net.get_submodule(inner)
    layer.register_forward_pre_hook(lambda *_: moments.at("forward"))
    layer.register_forward_hook(output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("task", choices=[*TASKS])
    parser.add_argument("--shard", choices=[*SHARDS], default="none")
    parser.add_argument("--checkpoints", action="store_true", help="save in the background, and keep by the Checkpointer")
    parser.add_argument("--workers", type=int, default=0, help="processes that load data")
    options = parser.parse_args()
    folder, task = options.folder, TASKS[options.task]
    journal, moments = Journal(folder), Moments(folder)
    journal.write("up", rank=os.environ.get("RANK", ""))
    before = JOB * job_number(folder)                # attempts are numbered through all jobs of the run
    moments.look()
    faulthandler.register(signal.SIGUSR2, open(folder / f"{os.getpid()}.stack", "w"), all_threads=True)  # noqa: SIM115
    for transport in (AllReduceTransport, ReduceScatterTransport):
        passing(transport, "start", moments, after="bucket in flight")
    passing(data_parallel, "verify", moments, before="construction")
    passing(checkpointer, "share_out", moments, before="saving")
    passing(writing.Writer, "_write_shard", moments, before="writing")
    patched: list[bool] = []
    optimizer_class = dying(task.optimizer, moments)

    @dparallel.survive
    def train(run: Any) -> None:
        comm = dparallel.world()
        moments.rank, moments.size, moments.steps, attempt = comm.rank, comm.size, run.steps, before + run.attempt
        journal.write("member", attempt=attempt, rank=comm.rank, size=comm.size)
        if not patched:
            passing_in_recoveries(moments)
            patched.append(True)
        moments.look()
        moments.at("begin")
        net, inputs, targets = start(options.task)
        watched(net, task.inner, moments)
        model = DataParallel(net, comm=comm, shard=SHARDS[options.shard], bucket_cap_mb=BUCKETS)
        if options.shard == "zero":
            optimizer: Any = ZeroRedundancyOptimizer(model.parameters(), optimizer_class, comm, **task.options)
        else:
            optimizer = optimizer_class(model.parameters(), **task.options)
        scheduler, progress = scheduled(optimizer), {"epoch": 0}
        data = TensorDataset(ag.tensor(np.arange(len(inputs))))
        loader = DataLoader(data, batch_sampler=GlobalBatchSampler(data, task.batch, comm=comm), num_workers=options.workers)
        parts: dict[str, Any] = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "loader": loader, "progress": progress}
        saved = Checkpointer(folder / "checkpoints", **parts, comm=comm) if options.checkpoints else None
        moments.at("keep")
        first = run.keep(saved) if saved is not None else run.keep(**parts)
        journal.write("kept", attempt=attempt, rank=comm.rank, first=first, buffers=total(copies(net.named_buffers())))

        def loss_of(ids: np.ndarray) -> ag.Tensor:
            return F.cross_entropy(model(ag.tensor(inputs[ids])), ag.tensor(targets[ids]))

        def metric(output: ag.Tensor, target: ag.Tensor) -> ag.Tensor:
            moments.at("evaluation")
            return F.cross_entropy(output, target)

        while not comm.any((folder / "enough").exists()):
            for (ids,) in loader:
                ids = ids.numpy()
                journal.write("batch", attempt=attempt, step=run.steps, rank=comm.rank, size=comm.size, epoch=progress["epoch"],
                              ids=ids.tolist())
                moments.steps = run.steps
                moments.look()
                moments.at("batch")
                optimizer.zero_grad()
                loss_of(ids).backward()
                moments.at("end of backward")
                optimizer.step()
                scheduler.step()
                moments.at("end of the step")
                run.step()
                moments.at("after the step")
                journal.write("stepped", attempt=attempt, step=run.steps - 1, rank=comm.rank)
                if saved is not None and run.steps % SAVE_EVERY == 0:
                    saved.save(run.steps)
            progress["epoch"] += 1
            moments.at("end of the epoch")
            rows = slice(None, 40)
            evaluate(model, TensorDataset(ag.tensor(inputs[rows]), ag.tensor(targets[rows])), {"loss": metric}, batch_size=8)
        if saved is not None:
            saved.close()
        moments.at("end")
        if options.shard == "zero":
            optimizer.consolidate_state_dict(to=0)
        state = state_of(optimizer.state_dict()) if options.shard != "zero" or comm.rank == 0 else {}
        np.savez(folder / f"{os.getpid()}.npz", **{name: value.numpy() for name, value in model.state_dict().items()}, **state)
        journal.write("end", attempt=attempt, steps=run.steps, rank=comm.rank)

    train()


if __name__ == "__main__":
    main()
