"""Default threads beside one thread, on idle cores and on busy ones: python tests/bench/threads.py [--rounds 5] [--json FILE].

Each case of the table is one training step in fresh processes, in turn with one thread (OMP_NUM_THREADS=1) and as the library
chooses by itself, first as the machine is, then beside a loop on every core. The figures are the ratios of default threads to
one thread, median, least and largest; the result of the third step must be the same.
The aim: at most 1.5 on busy cores, and at most 1 on idle ones. --accelerators loops shows OpenBLAS's products.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from runs import HERE, ROOT
from table import same

CASES = ("gpt", "lstm", "mlp 784-512-512-10", "cnn 28x28", "resnet-20")
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
LOOP = "while True: pass"


def step(case: str, one: bool, seconds: float, accelerators: str, root: Path) -> dict[str, float]:
    """The figures of one process: mean time of a step, and its result. The mean, since a step on a busy core either has the
    core or waits for it."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment |= {"PYTHONPATH": str(root), "AUTOGRAD_ACCELERATORS": accelerators}
    if one:
        environment |= dict.fromkeys(VARIABLES, "1")
    command = [sys.executable, str(HERE / "cases.py"), case, "autograd", "--seconds", str(seconds), "--mean"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"{case}: {done.stderr[-1000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def row(case: str, options: argparse.Namespace) -> dict[str, float]:
    """One thread and default threads in turn."""
    runs = [[step(case, one, options.seconds, options.accelerators, options.root) for one in (True, False)]
            for _ in range(options.rounds)]
    for one, default in runs:
        if not same(one["check"], default["check"]):
            raise SystemExit(f"{case}: the results differ, {one['check']} and {default['check']}")
    ratios = sorted(default["time"] / one["time"] for one, default in runs)
    return {"one_ms": statistics.median(one["time"] for one, _ in runs) * 1e3,
            "default_ms": statistics.median(default["time"] for _, default in runs) * 1e3,
            "ratio": statistics.median(ratios), "low": ratios[0], "high": ratios[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--accelerators", default="all")
    parser.add_argument("--cores", choices=["idle", "busy"], action="append", help="default: both")
    parser.add_argument("--root", type=Path, default=ROOT, help="another copy of the library, to compare with")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores, load {os.getloadavg()[0]:.1f} at the beginning\n\n"
          f"{'case':20} {'cores':5} {'one thread, ms':>15} {'default, ms':>12} {'ratio':>6}  range")
    found = []
    for kind in options.cores or ["idle", "busy"]:
        loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(cores if kind == "busy" else 0)]
        try:
            for case in options.case or CASES:
                r = row(case, options)
                found.append({"case": case, "cores": kind, **r})
                print(f"{case:20} {kind:5} {r['one_ms']:15.2f} {r['default_ms']:12.2f} {r['ratio']:6.2f}  {r['low']:.2f} to "
                      f"{r['high']:.2f}", flush=True)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
