"""What each stage of sharding costs: dprun -n 2 --threads 1 tests/bench/sharding.py [--cases gpt] [--rounds 30].

Each case is trained in stages 0 to 3 in one job, which take turns: a step of each in every round, in changing order. Shown are
the wall and the processor time of a step on the slower rank, each divided by stage 0's of the same round: the median and the
middle half. Memory is that of rank 0: parameters, gradients and optimizer state after a step, and the most gathered at once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from models import MODELS, gpt, seeded
from sharding_memory import STAGES, held

import autograd as ag
from dparallel import DataParallel, world

CASES = {"gpt": MODELS["gpt"],
         "gpt, 8 layers, 256 wide": lambda t, rank, size: gpt(t, rank, size, layers=8, wide=256)}


def prepared(comm: Any, case: str, stage: Any) -> tuple[DataParallel, Any, Callable[[], None]]:
    """A case's model in one stage, its optimizer, and a step."""
    module, (x, y), loss_of, optimizer_of = CASES[case](ag, comm.rank, comm.size)
    model = DataParallel(seeded(ag, module), comm=comm, shard=stage, bucket_cap_mb=8)
    optimizer = optimizer_of(model.parameters())

    def step() -> None:
        optimizer.zero_grad()
        loss_of(model, x, y).backward()
        optimizer.step()

    return model, optimizer, step


def measure(comm: Any, steps: list[Callable[[], None]], rounds: int) -> Any:
    """(rounds, stages, 2) wall and processor seconds of a step, on the slower rank."""
    times = np.empty((rounds, len(steps), 2))
    for number in range(rounds):
        for stage in np.roll(range(len(steps)), number):
            comm.barrier()
            wall, processor = time.perf_counter(), time.process_time()
            steps[stage]()
            times[number, stage] = time.perf_counter() - wall, time.process_time() - processor
    return comm.allreduce([times], "max")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    comm = world()
    for case in options.cases:
        runs = [prepared(comm, case, stage) for stage in STAGES]
        for _ in range(3):                           # the order of gathers is known after the first step
            for *_, step in runs:
                step()
        times = measure(comm, [step for *_, step in runs], options.rounds)
        if comm.rank:
            continue
        print(f"\n{case}, {comm.size} ranks, {options.rounds} rounds\n\n| shard | wall, ms | over stage 0 | middle half "
              "| processor, ms | over stage 0 | middle half | memory, MB | gathered, MB |\n|---|---|---|---|---|---|---|---|---|")
        for stage, (model, optimizer, _) in enumerate(runs):
            cells = []
            for kind in (0, 1):
                low, middle, high = np.percentile(times[:, stage, kind] / times[:, 0, kind], (25, 50, 75))
                cells += [f"{1e3 * np.median(times[:, stage, kind]):.1f}", f"{middle:.2f}", f"{low:.2f} to {high:.2f}"]
            gathering = getattr(model._sum.reducer, "gathering", None)
            memory = f"{sum(held(model, optimizer)) / 1e6:.1f}"
            print(f"| {STAGES[stage]} | {' | '.join(cells)} | {memory} | {gathering.peak / 1e6 if gathering else 0:.1f} |", flush=True)


if __name__ == "__main__":
    main()
