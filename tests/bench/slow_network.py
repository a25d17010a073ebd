"""Steps of data-parallel training over a slow network, by size of buckets: two ranks over TCP through a limited loopback.

    sudo tests/bench/slow_network.sh 4gbit [--case gpt] [--cap 0 --cap 25 --cap 1]

The script makes a network namespace whose loopback has that rate (`tc`), and runs this on two ranks in it. A cap of 0 is the
default, which fits the model. Prints the median time of a step, in ms, and the buckets.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

from models import MODELS, seeded

import autograd
from dparallel import DataParallel, world
from dparallel.comm.mpi.shared_sum import SharedSums

ROUNDS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", choices=list(MODELS), default="gpt")
    parser.add_argument("--cap", type=float, action="append", help="bucket_cap_mb; again for more")
    parser.add_argument("--steps", type=int, default=6, help="of each of four rounds, in which the caps take turns")
    options = parser.parse_args()
    SharedSums.vector = lambda *_: None              # type: ignore[method-assign]  # as if each rank had its own host
    comm, steps, times = world(), {}, {}
    for cap in options.cap or [0.0, 25.0, 1.0]:
        module, (x, y), loss_of, optimizer_of = MODELS[options.case](autograd, comm.rank, comm.size)
        model = DataParallel(seeded(autograd, module), comm=comm, bucket_cap_mb=cap or None)
        optimizer = optimizer_of(module.parameters())

        def step(model=model, optimizer=optimizer, x=x, y=y, loss_of=loss_of) -> float:      # type: ignore[no-untyped-def]
            start = time.perf_counter()
            optimizer.zero_grad()
            loss_of(model, x, y).backward()
            optimizer.step()
            return (time.perf_counter() - start) * 1e3

        steps[cap], times[cap] = (model, step), []
    for number in range(ROUNDS + 1):
        for cap, (_, step) in steps.items():
            comm.barrier()
            found = [step() for _ in range(options.steps)]
            times[cap] += found * (number > 0)       # the first round warms up
    if comm.rank == 0:
        for cap, (model, _) in steps.items():
            sizes = [round(n / 1024) for n in model.logging_data()["bucket_sizes"]]
            print(f"{options.case}, cap {cap or 'fitting'}: {median(times[cap]):.1f} ms, buckets of {sizes} KiB", flush=True)


if __name__ == "__main__":
    main()
