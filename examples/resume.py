"""A run that is killed and continues: at once on the surviving ranks, or later from its newest checkpoint.

    dprun --survive -n 3 examples/resume.py --kill-at 60            rank 2 is killed (SIGKILL) after step 60; two continue
    dprun --survive --grow -n 3 examples/resume.py --kill-at 60     and a spare process replaces it

    dprun -n 2 examples/resume.py --kill-at 60       without --survive the job ends with rank 1
    dprun -n 2 examples/resume.py                    continues after step 50: bitwise as if nothing had happened
    python examples/resume.py                        or on one process, or three: to rounding

A network learns to which of two spirals points belong. The Checkpointer has all state: the model, the optimizer with its
schedule, the position in the data, random streams (the noise), and a dict of the script.
"""

import argparse
import json
import os
import signal

import numpy as np

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.optim.lr_scheduler import CosineAnnealingLR
from autograd.utils.data import DataLoader, TensorDataset
from dparallel import DataParallel, GlobalBatchSampler, survive, world
from dparallel.checkpoint import Checkpointer


def spirals(count=600):
    """Points (count, 2) on two spirals, and which they are on."""
    which = np.arange(count) % 2
    turn = np.sqrt(np.random.default_rng(0).random(count)) * 2 * np.pi
    angle = turn + np.pi * which
    return TensorDataset(ag.tensor(np.stack([np.cos(angle), np.sin(angle)], 1) * turn[:, None] / 3), ag.tensor(which))


@survive                                             # when a rank has died the others call main(run) again
def main(run):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default="resume-checkpoints", help="where checkpoints are, for all ranks")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--every", type=int, default=25, help="steps from one checkpoint to the next")
    parser.add_argument("--kill-at", type=int, help="the step after which the last rank is killed")
    parser.add_argument("--noise", type=float, default=0.02, help="on the points; another on each rank")
    parser.add_argument("--curve", help="write the losses of all steps to this JSON file")
    options = parser.parse_args()

    comm = world()
    ag.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 2)).double()
    model = DataParallel(net, comm=comm)
    optimizer = optim.AdamW(model.parameters(), lr=0.02)
    scheduler = CosineAnnealingLR(optimizer, options.steps)
    data = spirals()
    sampler = GlobalBatchSampler(data, 60, comm=comm)                   # the same global batches on any number of ranks
    loader = DataLoader(data, batch_sampler=sampler)
    progress = {"losses": []}
    ag.manual_seed(comm.rank)

    with Checkpointer(options.folder, model=model, optimizer=optimizer, scheduler=scheduler, loader=loader,
                      progress=progress, comm=comm) as checkpoint:
        if run.keep(checkpoint) and comm.rank == 0:                     # what the others have in memory, else on the disk
            print(f"continues after step {run.steps}, on {comm.size} ranks")
        while run.steps < options.steps:
            for x, which in loader:                                     # the rest of the epoch that was under way
                noise = ag.randn(*x.shape, dtype=x.dtype) * options.noise
                loss = F.cross_entropy(model(x + noise), which)
                optimizer.zero_grad()
                loss.backward()
                rows = comm.total(len(x))
                progress["losses"].append(comm.total(loss.item() * len(x)) / rows)
                optimizer.step()                                        # from here to run.step() nothing communicates
                scheduler.step()
                step = run.step()
                checkpoint.every(step, steps=options.every)
                if step == options.kill_at and run.attempt == 0 and comm.rank == comm.size - 1:
                    os.kill(os.getpid(), signal.SIGKILL)
                if step == options.steps:
                    break
    if comm.rank == 0:
        print(f"{run.steps} steps; loss of the last {progress['losses'][-1]:.4f}, of the first {progress['losses'][0]:.4f}")
        if options.curve:
            with open(options.curve, "w") as file:
                json.dump(progress["losses"], file)


if __name__ == "__main__":
    main()
