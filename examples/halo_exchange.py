"""A 1-D stencil with ghost cells, trained end to end: how well does each cell of a rod conduct heat?

    python examples/halo_exchange.py                one process has the whole rod
    dprun -n 3 examples/halo_exchange.py            each rank has a piece, and exchanges borders in each step

Heat flows by u' = u + k[i] (u[i-1] - u[i]) + k[i+1] (u[i+1] - u[i]), k the conductivity of each wall between cells. From the
temperatures after some steps we learn k by gradients through all steps: each step sends the border cells to both
neighbours, and backward sends their gradients back. A rank's first and last cell are needed by its neighbours only through
what Send took: its token is dropped, and yet no gradient is lost.
"""

import argparse
import json

import numpy as np

import autograd as ag
from autograd import optim
from dparallel import AllReduce, Recv, Send, world
from dparallel.comm import even_split


def neighbours(u, comm):
    """The cell before this rank's first one, and the one after its last; at the ends of the rod, the end cell itself."""
    left, right = u[:1], u[-1:]
    if comm.rank > 0:
        Send.apply(u[:1], dest=comm.rank - 1, tag=0)
    if comm.rank < comm.size - 1:
        Send.apply(u[-1:], dest=comm.rank + 1, tag=1)
        right = Recv.apply(source=comm.rank + 1, tag=0, like=u[:1])
    if comm.rank > 0:
        left = Recv.apply(source=comm.rank - 1, tag=1, like=u[:1])
    return left, right


def after(u, k, steps, comm):
    """The temperatures after some steps. u: this rank's n cells; k: their n + 1 walls, the first and last shared."""
    for _ in range(steps):
        left, right = neighbours(u, comm)
        flow = k * (ag.cat([u, right]) - ag.cat([left, u]))      # through each wall, to the left
        u = u + flow[1:] - flow[:-1]
    return u


def walls(mine, comm):
    """This rank's conductivities with, as its last wall, the first one of the next rank."""
    if comm.rank > 0:
        Send.apply(mine[:1], dest=comm.rank - 1, tag=2)
    last = mine[-1:] * 0 if comm.rank == comm.size - 1 else Recv.apply(source=comm.rank + 1, tag=2)
    return ag.cat([mine, last])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=24)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--curve", help="a JSON file for the loss of each epoch")
    options = parser.parse_args()
    comm, n = world(), options.cells
    if n < 2 * comm.size:
        parser.error(f"--cells {n}: at least two for each of the {comm.size} ranks")
    rng = np.random.default_rng(0)
    starts, truth = rng.standard_normal((6, n)), 0.1 + 0.3 * rng.random(n)
    sizes = even_split(n, comm.size)
    mine = slice(sum(sizes[:comm.rank]), sum(sizes[:comm.rank + 1]))
    starts, truth = ag.from_numpy(starts[:, mine]), ag.from_numpy(truth[mine])
    with ag.no_grad():                                           # what was measured
        measured = [after(u, walls(truth, comm), 8, comm) for u in starts]

    raw = ag.zeros(sizes[comm.rank], dtype=ag.float64, requires_grad=True)
    optimizer = optim.Adam([raw], lr=0.1)
    losses = []
    for epoch in range(options.epochs):
        k = walls(0.5 * ag.sigmoid(raw), comm)
        loss = sum(((after(u, k, 8, comm) - v) ** 2).sum() for u, v in zip(starts, measured, strict=True))
        optimizer.zero_grad()
        loss.backward()                                          # of the sum of all ranks' losses
        optimizer.step()
        losses.append(AllReduce.apply(loss.detach(), comm=comm).item())
        if comm.rank == 0 and epoch % 20 == 0:
            print(f"epoch {epoch:3d}: squared error {losses[-1]:.5f}")
    found = 0.5 * ag.sigmoid(raw.detach())
    wrong = (found - truth).abs()[int(comm.rank == 0):].max()         # the first wall has nothing before it
    worst = AllReduce.apply(wrong, comm=comm, op="max")
    if comm.rank == 0:
        print(f"{comm.size} ranks: squared error {losses[-1]:.5f}; conductivities found to within {worst.item():.3f}")
        if options.curve:
            with open(options.curve, "w") as file:
                json.dump(losses, file)


if __name__ == "__main__":
    main()
