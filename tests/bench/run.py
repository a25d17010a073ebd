"""The benchmarks beside PyTorch, as ratios: `make bench`, or `python tests/bench/run.py [--rounds 7] [--json FILE]`.

Each case runs in fresh processes, the two libraries in turn, one thread a rank; a row gives the median of the rounds, the
10th to 90th percentile of the ratios, and fails if the results of the libraries differ. Machines are shared and noisy:
look at ratios, not at microseconds.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = Path(__file__).with_name("cases.py")
SCALE = {"chain": 100, "function chain": 100}             # shown per multiplication
ALL = ["import", "chain", "function chain", "mlp", "mlp on 2 ranks"]
REACH = {"import": 0.1, "chain": 0.6, "function chain": 0.35, "mlp": 0.9, "mlp on 2 ranks": 0.5}
ENV = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def once(case, library):
    """One run: {"time", "check"}."""
    command = [sys.executable, str(CASES), case, library]
    if case != "mlp on 2 ranks":
        return json.loads(subprocess.run(command, env=ENV, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    if library == "autograd":
        command = [sys.executable, "-m", "launch", "-n", "2", *command[1:]]
        return json.loads(subprocess.run(command, env=ENV, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    with tempfile.TemporaryDirectory() as folder:
        ranks = [subprocess.Popen(command, env={**ENV, "BENCH_FILE": f"{folder}/meet", "BENCH_RANK": str(rank)}, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for rank in range(2)]
        outputs = [rank.communicate(timeout=120)[0] for rank in ranks]
    return json.loads(outputs[0].splitlines()[-1])


def row(case, rounds):
    """The figures of one case over all rounds."""
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(once(case, "autograd"))
        theirs.append(once(case, "torch"))
        a, b = ours[-1]["check"], theirs[-1]["check"]
        if abs(a - b) > 1e-3 * max(1.0, abs(b)):
            raise SystemExit(f"{case}: the results differ, {a} and {b}")
    ratios = sorted(a["time"] / b["time"] for a, b in zip(ours, theirs, strict=True))
    scale = 1e6 / SCALE.get(case, 1)
    return {"case": case, "ours_us": statistics.median(r["time"] for r in ours) * scale,
            "torch_us": statistics.median(r["time"] for r in theirs) * scale, "ratio": statistics.median(ratios),
            "low": ratios[int(0.1 * len(ratios))], "high": ratios[min(len(ratios) - 1, int(0.9 * len(ratios)))],
            "reach": REACH[case]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", action="append", choices=ALL)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        raise SystemExit("the benchmarks compare with PyTorch: pip install torch") from None
    core = subprocess.run([sys.executable, "-c", "import autograd; print(autograd.show_config()['compiled core'])"], env=ENV,
                          check=True, capture_output=True, text=True).stdout.strip()
    print(f"Python {platform.python_version()}, torch {torch.__version__}, {platform.machine()}, {os.cpu_count()} cores, "
          f"compiled core: {core}")
    print(f"{'case':16} {'ours us':>10} {'torch us':>10} {'ratio':>7}  {'10-90 %':13} reach")
    rows = []
    for case in options.case or ALL:
        r = row(case, options.rounds)
        rows.append(r)
        print(f"{case:16} {r['ours_us']:10.2f} {r['torch_us']:10.2f} {r['ratio']:7.2f}  {r['low']:.2f} to {r['high']:.2f}  "
              f"{r['reach']}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"python": platform.python_version(), "torch": torch.__version__,
                                                  "machine": platform.machine(), "cores": os.cpu_count(), "compiled core": core == "True",
                                                  "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
