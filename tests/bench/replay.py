"""Replays beside our own eager steps: `python tests/bench/replay.py [--rounds 5] [--case NAME] [--write] [--json FILE]`.

Processes of both in turn, one thread, processor time; a row gives medians, the median, least and largest ratio, and the ratio
of the most memory that was resident. It fails unless the third step gives bitwise the same number in both. --write puts the
table into docs/benchmarks.md.
"""

import argparse
import json
import statistics
from pathlib import Path

from machine import machine
from runs import ROOT, Run, measured
from table import conditions, milliseconds, write_between

PAGE = ROOT / "docs" / "benchmarks.md"
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
            "low": ratios[0], "high": ratios[-1], "reach": REACH.get(case),
            "memory": statistics.median(replayed["memory"] / eager["memory"] for eager, replayed in pairs)}


def page(rows, about, rounds):
    """The page's part."""
    lines = [conditions({"machine": about, "rounds": rounds, "busy": True}), "",
             "| case | eager, ms | replay, ms | ratio | least to largest | memory, ratio |", "|---|---:|---:|---:|---|---:|"]
    return "\n".join([*lines, *(f"| {r['case']} | {milliseconds(r['eager_us'])} | {milliseconds(r['replayed_us'])} | "
                               f"{r['ratio']:.2f} | {r['low']:.2f} to {r['high']:.2f} | {r['memory']:.2f} |" for r in rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", action="append", choices=ALL)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    options = parser.parse_args()
    if options.write and options.case:
        raise SystemExit("--write wants all cases: leave out --case")
    about = machine()
    print(f"{'case':20} {'eager us':>10} {'replay us':>10} {'ratio':>7}  range         memory  reach")
    rows = []
    for case in options.case or ALL:
        rows.append(row(case, options.rounds))
        r = rows[-1]
        print(f"{case:20} {r['eager_us']:10.1f} {r['replayed_us']:10.1f} {r['ratio']:7.2f}  {r['low']:.2f} to {r['high']:.2f}  "
              f"{r['memory']:6.2f}  {r['reach'] or ''}", flush=True)
    if options.write:
        write_between(PAGE, "replay", page(rows, about, options.rounds))
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
