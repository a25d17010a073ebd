"""The scripts of test_loading_jobs.py: dprun -n 2 loading.py SCENARIO METHOD FILE. Each rank loads in two worker processes."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

import dparallel
from autograd.utils.data import DataLoader

ROWS = 48


class Rows:
    """Large items; `job` is what a worker process has of its job."""

    def __init__(self, asks=False, pause=0.0):
        self.array, self.asks, self.pause = np.arange(ROWS * 2000.0).reshape(ROWS, 2000), asks, pause

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        time.sleep(self.pause)
        mpi = sys.modules.get("mpi4py.MPI")
        return self.array[index], index, dparallel.world().rank if self.asks else mpi is not None and mpi.Is_initialized()


def workers(it):
    """Add the process ids of this rank's workers to FILE."""
    with open(sys.argv[3], "a") as file:
        file.write("".join(f"{process.pid}\n" for process in it.crew.processes))


def loader_of(data, comm):
    return DataLoader(data, batch_sampler=dparallel.GlobalBatchSampler(data, 8, comm=comm), num_workers=2,
                      multiprocessing_context=sys.argv[2])


def plain():
    """Both ranks together load every item once, and MPI is not started in workers; this module is their __main__."""
    comm = dparallel.world()
    it = iter(loader_of(Rows(), comm))
    workers(it)
    seen = np.zeros(ROWS)
    for rows, numbers, started in it:
        assert (rows.numpy()[:, 0] == numbers.numpy() * 2000.0).all() and not started.any()
        np.add.at(seen, numbers.numpy(), 1)
    total, = comm.allreduce([seen])
    assert (total == 1).all(), total


def asking():
    """A dataset that calls world() in a worker is an error."""
    next(iter(loader_of(Rows(asks=True), dparallel.world())))


def surviving():
    """Rank 1 is killed while its workers load; rank 0 loads what is left."""
    seen = []

    @dparallel.survive
    def train(run):
        comm = dparallel.world()
        loader = loader_of(Rows(), comm)
        run.keep(loader=loader, seen=seen)
        it = iter(loader)
        workers(it)
        for _, numbers, _ in it:
            comm.barrier()
            if comm.rank == 1 and run.steps == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            every = comm.allgather([numbers.numpy()])
            seen.extend(np.concatenate([np.ravel(part) for part in every[0]]).tolist())
            run.step()
        assert sorted(seen) == list(range(ROWS)), seen

    train()


def preempted():
    """A scheduler sends SIGTERM to all processes of the job: the ranks finish the step and save; the workers load on until then."""
    comm = dparallel.world()
    with dparallel.graceful_exit(save=lambda: print(f"saved after {step}", flush=True)) as stop:
        it = iter(loader_of(Rows(pause=0.01), comm))
        workers(it)
        for step, _ in enumerate(it):
            if step == 1:
                comm.barrier()
                for process in it.crew.processes:
                    os.kill(process.pid, signal.SIGTERM)
                time.sleep(0.3)
            if step == 3:
                os.kill(os.getpid(), signal.SIGTERM)
            if stop.requested():
                break


if __name__ == "__main__":
    {"plain": plain, "asking": asking, "surviving": surviving, "preempted": preempted}[sys.argv[1]]()
    if sys.argv[1] == "plain":
        Path(sys.argv[3] + ".well").touch()
