"""A collective Function of your own, written and tested in a page.

    python examples/custom_collective.py            ranks as threads, and local devices
    dprun -n 3 examples/custom_collective.py        real ranks

Shift passes each rank's tensor to the next rank in a ring. As a linear map it moves blocks of one long vector; its
adjoint moves them back. So the backward pass of a shift by k is a shift by -k: it calls Shift.apply, which records it
on every rank, and the second derivative is right without another line.
"""

import numpy as np

import autograd as ag
from dparallel import Collective, Devices, check_adjoint, run_ranks, world


class Shift(Collective):
    """x of every rank -> the x of the rank `by` before it, in a ring; all of one shape."""

    @staticmethod
    def forward(ctx, *xs, comm, by=1):
        ctx.settings = {"comm": comm, "by": -by}
        everyone = comm.allgather([x.array[None] for x in xs])
        out = tuple(ag.from_numpy(rows[(rank - by) % comm.size]) for rank, rows in zip(comm.held, everyone, strict=True))
        return out if len(out) > 1 else out[0]

    @staticmethod
    def backward(ctx, *gs):
        return Shift.apply(*gs, **ctx.settings)


class WrongShift(Shift):
    """The same with a mistake in backward: the gradient continues round the ring instead of going back."""

    @staticmethod
    def backward(ctx, *gs):
        return Shift.apply(*gs, comm=ctx.settings["comm"], by=-ctx.settings["by"])


def check(comm):
    """Called on every rank: the adjoint holds for random numbers that differ between ranks, twice over."""
    rng = np.random.default_rng([0, comm.rank])
    for by in range(comm.size + 1):
        check_adjoint(lambda *xs, by=by: Shift.apply(*xs, comm=comm, by=by),
                      [rng.standard_normal((2, 3)) for _ in comm.held], comm, rng)
    if comm.size > 2:                                  # on two ranks a step on and a step back are the same
        try:
            check_adjoint(lambda *xs: WrongShift.apply(*xs, comm=comm), [rng.standard_normal((2, 3)) for _ in comm.held],
                          comm, rng)
        except AssertionError as error:
            return f"right, and the wrong one is caught: {error}"
        raise SystemExit("the planted mistake was not caught")
    return "right"


def main():
    comm = world()
    if comm.kind == "mpi":
        verdict = check(comm)
        if comm.rank == 0:
            print(f"Shift on {comm.size} MPI ranks: {verdict}")
        return
    for size in (1, 2, 3):
        print(f"Shift on {size} ranks as threads: {run_ranks(size, check)[0]}")
        print(f"Shift on {size} local devices: {check(Devices(size))}")


if __name__ == "__main__":
    main()
