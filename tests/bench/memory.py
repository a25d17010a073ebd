"""Memory beside the system's count: python tests/bench/memory.py [--ranks 2] [KIND:ROWS ...]

For each case two new processes (or dprun's ranks): one that trains the model (tests/autograd/helpers/memory_models.py), whose sum of all
uses is compared with what the system counts after the steps and after one more forward pass, and one that predicts its peak
from an eighth and a quarter of the rows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CASES = ["mlp:512", "mlp:2048", "mlp:8192", "wide:64", "wide:2048", "cnn:256", "cnn:512", "cnn:1024", "gpt:16", "gpt:32", "gpt:64"]
PREDICT = """
import sys; sys.path.insert(0, "tests/autograd/helpers")
from memory_models import *
from autograd.profiler import predict_memory
model, x = MODELS[{kind!r}](4)
if {ranks} > 1:
    from dparallel import DataParallel
    model = DataParallel(model)
ask = model.predict_memory if {ranks} > 1 else lambda *args, **more: predict_memory(model, *args, **more)
found = ask(x, lambda y: y.pow(2).mean(), optim.Adam(model.parameters()), batch_size={rows})
print(json.dumps({{"nbytes": found.nbytes}}))
"""


def lines(ranks, *args):
    """What one process, or each rank, prints as JSON."""
    start = [sys.executable] if ranks == 1 else [sys.executable, "-m", "launch", "-n", str(ranks), "--threads", "1"]
    done = subprocess.run([*start, *args], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--ranks", type=int, default=1)
    arguments = parser.parse_args()
    sums, peaks = [], []
    print("| model : rows | by the system, MB | sum of all uses | off | peak, MB | predicted | off |\n|---|---:|---:|---:|---:|---:|---:|")
    for case in arguments.cases:
        kind, rows = case.split(":")
        real = lines(arguments.ranks, "tests/autograd/helpers/memory_models.py", kind, rows)[0]
        last = real["snapshots"][-1]
        total = sum(last["by_use"].values())
        script = ROOT / "tests" / "bench" / "memory_predicted.tmp.py"
        script.write_text(PREDICT.format(kind=kind, rows=rows, ranks=arguments.ranks))
        try:
            predicted = lines(arguments.ranks, str(script))[0]["nbytes"]
        finally:
            script.unlink()
        sums += [abs(sum(one["by_use"].values()) / one["resident"] - 1) for one in real["snapshots"]]
        peaks.append(abs(predicted / real["peak"] - 1))
        print(f"| {case} | {last['resident'] / 1e6:.1f} | {total / 1e6:.1f} | {total / last['resident'] - 1:+.1%} | "
              f"{real['peak'] / 1e6:.1f} | {predicted / 1e6:.1f} | {predicted / real['peak'] - 1:+.1%} |", flush=True)
    print(f"\nsums, all snapshots: median {statistics.median(sums):.1%}, worst {max(sums):.1%}; "
          f"predictions: median {statistics.median(peaks):.1%}, worst {max(peaks):.1%}")


if __name__ == "__main__":
    main()
