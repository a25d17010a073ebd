"""What dprun --survive costs a run in which nobody dies: python tests/survival/cost.py [--pairs 10] [--ranks 2].

The cases of tests/bench/models.py train in jobs without --survive, with it, and without again. The figure is a step's time
with it over the mean of the two beside it, the median of so many pairs, with the range of the middle eight tenths; the goal is
1.02. The last column, one without over the other, is what the machine adds. The script is the same in all, with
@dparallel.survive, keep() and step().
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parent.parent / "bench"
sys.path.insert(0, str(BENCH))

CASES = {"mlp 64-128-64-10": 1500, "mlp 784-512-512-10": 120, "cnn 28x28": 24, "gpt": 24}        # steps of a block
BLOCKS, GOAL = 5, 1.02


def timed(case: str, shard: int | None) -> None:
    """Train in blocks; print rank 0's seconds of a step in each."""
    from models import MODELS, seeded

    import autograd as ag
    import dparallel

    @dparallel.survive
    def train(run: Any) -> None:
        comm = dparallel.world()
        module, batch, loss, make = MODELS[case](ag, comm.rank, comm.size)
        model = dparallel.DataParallel(seeded(ag, module), comm=comm, shard=shard)
        optimizer = make(model.parameters())
        run.keep(model=model, optimizer=optimizer)
        times = []
        for _ in range(BLOCKS + 1):
            start = time.perf_counter()
            for _ in range(CASES[case]):
                optimizer.zero_grad()
                loss(model, *batch).backward()
                optimizer.step()
                run.step()
            times.append((time.perf_counter() - start) / CASES[case])
        if comm.rank == 0:
            print(json.dumps(times[1:]), flush=True)

    train()


def job(case: str, ranks: int, survive: bool, shard: int | None) -> float:
    """A step's seconds in one job: the median of its blocks."""
    command = [sys.executable, "-m", "launch", *["--survive"] * survive, "-q", "-n", str(ranks), "--threads", "1", __file__, "--timed", case,
               *([] if shard is None else ["--shard", str(shard)])]
    path = os.pathsep.join(filter(None, (str(BENCH.parent.parent), os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}, stdout=subprocess.PIPE, text=True, check=True,
                          timeout=600)
    return statistics.median(json.loads(done.stdout.splitlines()[-1]))


def spread(ratios: list[float]) -> str:
    """The median, and the range of the middle eight tenths."""
    from table import percentile

    return f"{percentile(ratios, 0.5):.3f} ({percentile(ratios, 0.1):.3f} to {percentile(ratios, 0.9):.3f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--cases", nargs="*", default=[*CASES])
    parser.add_argument("--shard", type=int, choices=(1, 2, 3))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--timed", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.timed:
        timed(options.timed, options.shard)
        return 0
    print(f"{options.ranks} ranks, {options.pairs} pairs of jobs, load {os.getloadavg()[0]:.1f}\n\n"
          "| case | a step, ms | with --survive / without | without / without |\n|---|---:|---:|---:|", flush=True)
    found = {}
    for case in options.cases:
        plain, surviving, again = [], [], []
        for pair in range(options.pairs):
            for kind in ("plain", "survive", "again") if pair % 2 else ("again", "survive", "plain"):
                seconds = job(case, options.ranks, kind == "survive", options.shard)
                {"plain": plain, "survive": surviving, "again": again}[kind].append(seconds)
        ratios = [2 * s / (p + a) for s, p, a in zip(surviving, plain, again, strict=True)]
        noise = [p / a for p, a in zip(plain, again, strict=True)]
        found[case] = {"step": statistics.median(plain), "ratios": ratios, "noise": noise}
        print(f"| {case} | {1e3 * found[case]['step']:.2f} | {spread(ratios)} | {spread(noise)} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found))
    return 0 if all(statistics.median(one["ratios"]) <= GOAL for one in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
