"""What recording a timeline costs: dprun -n 2 --threads 1 tests/bench/timeline.py [--pairs 20] [--cases TEXT ...].

The trainings of models.py run in blocks of steps, without and with the recording that `dprun --timeline` makes, in the order
off on on off, in one job: both meet what else the machine does. The figure is the step's time with it over that without it:
medians of the blocks' medians and of their fastest tenths (which say more on a busy machine), with the range of the middle
eight tenths of the pairs. The goal is 1.03. Beside it stands what the recorded spans should cost: how many there are in a
step, and in how many the system's counter is read, times what each takes in a loop. Weights are compared bitwise with
those of a run without recording: it must not change what is computed.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from models import MODELS, seeded
from table import percentile

import autograd
from autograd.spans.spans import USER, begin, end, number_of
from dparallel import DataParallel, world
from dparallel.observe.timeline.ring_files import SAMPLED, Part
from dparallel.observe.timeline.run import read_parts

CASES = "mlp 64-128-64-10", "mlp 784-512-512-10", "cnn 28x28", "gpt"
GOAL, WARM, BLOCK, FEWEST, COMPARED = 1.03, 10, 0.1, 5, 20       # BLOCK: seconds


def training(case: str, comm: Any) -> tuple[Callable[[], None], Any]:
    """One step as a function, and the model."""
    module, batch, loss_of, optimizer_of = MODELS[case](autograd, comm.rank, comm.size)
    model = DataParallel(seeded(autograd, module), comm=comm)
    optimizer = optimizer_of(model.parameters())

    def step() -> None:
        optimizer.zero_grad()
        loss_of(model, *batch).backward()
        optimizer.step()

    return step, model


def block(step: Callable[[], None], steps: int, comm: Any, part: Part | None) -> list[float]:
    """The seconds of each of so many steps, recorded if there is a part."""
    comm.barrier()
    if part is not None:
        part.start()
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    if part is not None:
        part.stop()
    return times


def of_one(folder: Path) -> tuple[float, float]:
    """Microseconds of a span, and of a look at the system's counter, in a loop."""
    part, number, rounds = Part(folder, 0, 1, steps=None, limit=None), number_of("a span of a loop", USER), 20_000
    part.start()
    loops = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(rounds):
            end(begin(number))
        loops.append((time.perf_counter() - start) / rounds)
    start = time.perf_counter()
    for _ in range(1000):
        part._sample()
    sample = (time.perf_counter() - start) / 1000
    part.stop()
    return min(loops) * 1e6, sample * 1e6


def measure(case: str, comm: Any, pairs: int, folder: Path) -> str:
    """The row of a case."""
    step, _ = training(case, comm)
    warm = [block(step, 1, comm, None)[0] for _ in range(WARM)]
    steps = comm.broadcast_object(max(FEWEST, round(BLOCK / statistics.median(warm[WARM // 2:]))))
    ratios: dict[float, list[float]] = {0.5: [], 0.1: []}
    offs = []
    for _ in range(pairs):
        blocks = []
        for on in (False, True, True, False):
            part = Part(folder, comm.rank, comm.size, steps=None, limit=None) if on else None
            blocks.append(block(step, steps, comm, part))
        for place, values in ratios.items():
            off1, on1, on2, off2 = (percentile(times, place) for times in blocks)
            values.append((on1 + on2) / (off1 + off2))
        offs += [percentile(blocks[0], 0.5), percentile(blocks[3], 0.5)]
    part = Part(folder, comm.rank, comm.size, steps=None, limit=None)
    block(step, steps, comm, part)
    comm.barrier()
    run = read_parts(folder)
    rows = run.ranks[comm.rank].main
    recorded = int((rows.name != run.numbers["[run delay]"]).sum()) / steps
    comm.barrier()
    weights = []
    for on in (False, True):
        other, model = training(case, comm)
        block(other, COMPARED, comm, Part(folder, comm.rank, comm.size, steps=None, limit=None) if on else None)
        weights.append([value.detach().numpy() for value in model.state_dict().values()])
    for a, b in zip(*weights, strict=True):
        np.testing.assert_array_equal(a, b)
    span, sample = of_one(folder / "loop")
    us = statistics.median(offs) * 1e6
    samples = min(2 * recorded, us * 1000 / SAMPLED)
    text = " ".join(f"{percentile(values, 0.5):.3f} ({percentile(values, 0.1):.3f} to {percentile(values, 0.9):.3f})"
                    for values in ratios.values())
    return (f"{case:20} {us:10.0f} {text} {recorded:6.1f} {samples:6.2f} {(recorded * span + samples * sample) / us:8.2%}   "
            f"({span:.2f} and {sample:.1f} us each)")


def main() -> None:
    """Print the table, on rank 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--cases", nargs="*", default=CASES, help="those whose names contain one of these")
    options = parser.parse_args()
    comm = world()
    if comm.rank == 0:
        print(f"goal {GOAL}; a step with recording over one without, of {comm.size} ranks\n"
              f"{'case':20} {'us a step':>10} {'by medians':24} {'by the fastest tenths':23} {'spans':>6} {'looks':>6} should be", flush=True)
    for case in CASES:
        if any(text in case for text in options.cases):
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(comm.broadcast_object(temporary))
                if comm.rank == 0:
                    (folder / "loop").mkdir()
                comm.barrier()
                row = measure(case, comm, options.pairs, folder)
                comm.barrier()
            if comm.rank == 0:
                print(row, flush=True)


if __name__ == "__main__":
    main()
