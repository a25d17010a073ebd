"""What dprun --survive costs a run in which nobody dies: python tests/survival/cost.py [--pairs 10] [--ranks 2].

The cases of tests/bench/models.py train in jobs without --survive, with it, and without again. The figure is a step's time
with it over the mean of the two beside it, the median of so many pairs, with the range of the middle eight tenths; the goal is
1.02. A job's step is the median of its steps, or the fastest tenth of them, which says more on a busy machine (--busy). The
last column, one without over the other, is what the machine adds. The script is the same in all, with @dparallel.survive,
keep() and step().
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

CASES = {"mlp 64-128-64-10": 3000, "mlp 784-512-512-10": 400, "cnn 28x28": 100, "gpt": 100}        # steps
WARM_UP, GOAL = 0.2, 1.02            # part of the steps; ratio


def timed(case: str, shard: int | None) -> None:
    """Train; print the seconds of rank 0's steps."""
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
        for _ in range(CASES[case]):
            start = time.perf_counter()
            optimizer.zero_grad()
            loss(model, *batch).backward()
            optimizer.step()
            run.step()
            times.append(time.perf_counter() - start)
        if comm.rank == 0:
            print(json.dumps(times[int(WARM_UP * len(times)):]), flush=True)

    train()


def job(case: str, ranks: int, survive: bool, shard: int | None) -> tuple[float, float]:
    """A step's seconds in one job: the median, and the fastest tenth."""
    from table import percentile

    command = [sys.executable, "-m", "launch", *["--survive"] * survive, "-q", "-n", str(ranks), "--threads", "1", __file__, "--timed", case,
               *([] if shard is None else ["--shard", str(shard)])]
    path = os.pathsep.join(filter(None, (str(BENCH.parent.parent), os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}, stdout=subprocess.PIPE, text=True, check=True,
                          timeout=600)
    times = json.loads(done.stdout.splitlines()[-1])
    return percentile(times, 0.5), percentile(times, 0.1)


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
    parser.add_argument("--busy", action="store_true", help="judge by the fastest tenth of the steps")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--timed", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.timed:
        timed(options.timed, options.shard)
        return 0
    print(f"{options.ranks} ranks, {options.pairs} pairs of jobs, load {os.getloadavg()[0]:.1f}\n\n"
          "| case | a step, ms | with --survive / without: medians | fastest tenths | without / without: medians | fastest tenths |\n"
          "|---|---:|---:|---:|---:|---:|", flush=True)
    found = {}
    for case in options.cases:
        times: dict[str, list[tuple[float, float]]] = {"plain": [], "survive": [], "again": []}
        for pair in range(options.pairs):
            for kind in [*times] if pair % 2 else [*times][::-1]:
                times[kind].append(job(case, options.ranks, kind == "survive", options.shard))
        together = list(zip(times["survive"], times["plain"], times["again"], strict=True))
        ratios = [[2 * s[of] / (p[of] + a[of]) for s, p, a in together] for of in (0, 1)]
        noise = [[p[of] / a[of] for _, p, a in together] for of in (0, 1)]
        found[case] = {"times": times, "ratios": ratios, "noise": noise}
        step = statistics.median(one[0] for one in times["plain"])
        print(f"| {case} | {1e3 * step:.2f} | {' | '.join(map(spread, [*ratios, *noise]))} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found))
    return 0 if all(statistics.median(one["ratios"][options.busy]) <= GOAL for one in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
