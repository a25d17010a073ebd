"""A network in two stages on two ranks, with micro-batches: while one works on a batch, the other has the next.

    python examples/pipeline.py                     one process has both stages
    dprun -n 2 examples/pipeline.py                 rank 0 has the first stage, rank 1 the second

Rank 0 sends each micro-batch's features on and holds the tokens; rank 1 goes forward and back through each batch as it
comes, and its backward pass sends the gradient of the features to rank 0, whose own backward pass, from the token, waits
for it. On more ranks, pairs of ranks train on their shares of the data, and add their gradients up.
"""

import argparse
import json

import numpy as np

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import Recv, Send, world


def stages():
    ag.manual_seed(0)
    return (nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh()).double(),
            nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2)).double())


def data(step, rows):
    """Points of two spirals, and which spiral each is on."""
    rng = np.random.default_rng(step)
    label = rng.integers(0, 2, rows)
    angle = rng.random(rows) * 2 * np.pi
    points = (0.3 + angle / 6)[:, None] * np.stack([np.cos(angle + np.pi * label), np.sin(angle + np.pi * label)], 1)
    return ag.from_numpy(points), ag.from_numpy(label)


def first_stage(stage, batches, pair):
    """Forward through all batches, then back through each: the next rank has begun meanwhile."""
    tokens = [Send.apply(stage(x), dest=1, comm=pair) for x, _ in batches]
    for token in tokens:
        token.sum().backward()


def second_stage(stage, batches, pair):
    """Forward and back, batch by batch; the loss of all of them."""
    total = 0.0
    for _, y in batches:
        loss = F.cross_entropy(stage(Recv.apply(source=0, comm=pair)), y, reduction="sum")
        loss.backward()
        total += loss.item()
    return total


def both_stages(first, second, batches):
    """In one process."""
    total = 0.0
    for x, y in batches:
        loss = F.cross_entropy(second(first(x)), y, reduction="sum")
        loss.backward()
        total += loss.item()
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rows", type=int, default=96)
    parser.add_argument("--micro-batches", type=int, default=4)
    parser.add_argument("--curve", help="a JSON file for the loss of each step")
    options = parser.parse_args()
    comm = world()
    pairs = max(1, comm.size // 2)
    role = "both" if comm.size == 1 else "none" if comm.rank == 2 * pairs else ("first", "second")[comm.rank % 2]
    pair = comm.split(None if role == "none" else comm.rank // 2)                # two ranks, stage by stage
    alike = comm.split(None if role == "none" else comm.rank % 2)                # the ranks that have the same stage
    first, second = stages()
    mine = {"first": [first], "second": [second], "both": [first, second], "none": []}[role]
    parameters = [p for stage in mine for p in stage.parameters()]
    optimizer = optim.AdamW(parameters, lr=0.005) if parameters else None
    losses = []
    for step in range(options.steps):
        x, y = data(step, options.rows)
        total = 0.0
        if role != "none":
            x, y = x[comm.rank // 2::pairs], y[comm.rank // 2::pairs]
            batches = list(zip(*(rows.tensor_split(options.micro_batches) for rows in (x, y)), strict=True))
            optimizer.zero_grad()
            if role == "first":
                first_stage(first, batches, pair)
            elif role == "second":
                total = second_stage(second, batches, pair)
            else:
                total = both_stages(first, second, batches)
            for p in parameters:                                                 # of all rows: mean over pairs and batches
                p.grad.copy_(ag.from_numpy(alike.allreduce([p.grad.numpy()])[0]) / options.rows)
            optimizer.step()
        losses.append(comm.total(total) / options.rows)
        if comm.rank == 0 and step % 50 == 0:
            print(f"step {step:3d}: loss {losses[-1]:.4f}")
    if comm.rank == 0:
        print(f"{comm.size} ranks: loss of the last steps {np.mean(losses[-10:]):.4f}")
        if options.curve:
            with open(options.curve, "w") as file:
                json.dump(losses, file)


if __name__ == "__main__":
    main()
