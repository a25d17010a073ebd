"""Replays beside our own eager steps: `python tests/bench/replay.py [--rounds 5] [--case NAME] [--json FILE]`.

Processes of both in turn, one thread, processor time; a row gives medians and the median, least and largest ratio, and
fails unless the third step gives bitwise the same number in both.
"""

import argparse
import json
import statistics
from pathlib import Path

from runs import Run, measured

ALL = ["chain", "function chain", "mlp 64-128-64-10", "mlp 784-512-512-10", "lstm", "gpt", "cnn 28x28", "resnet-20"]
REACH = {"chain": 0.6, "function chain": 0.6, "mlp 64-128-64-10": 0.6}


def row(case, rounds):
    """The figures of one case."""
    pairs = [tuple(measured(Run(case, library), 1.0, busy=True) for library in ("autograd", "replayed")) for _ in range(rounds)]
    for eager, replayed in pairs:
        if eager["check"] != replayed["check"]:
            raise SystemExit(f"{case}: the results differ, {eager['check']} and {replayed['check']}")
    ratios = sorted(replayed["time"] / eager["time"] for eager, replayed in pairs)
    return {"case": case, "eager_us": statistics.median(e["time"] for e, _ in pairs) * 1e6,
            "replayed_us": statistics.median(r["time"] for _, r in pairs) * 1e6, "ratio": statistics.median(ratios),
            "low": ratios[0], "high": ratios[-1], "reach": REACH.get(case)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", action="append", choices=ALL)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    print(f"{'case':20} {'eager us':>10} {'replay us':>10} {'ratio':>7}  range        reach")
    rows = []
    for case in options.case or ALL:
        rows.append(row(case, options.rounds))
        r = rows[-1]
        print(f"{case:20} {r['eager_us']:10.1f} {r['replayed_us']:10.1f} {r['ratio']:7.2f}  {r['low']:.2f} to {r['high']:.2f}  "
              f"{r['reach'] or ''}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
