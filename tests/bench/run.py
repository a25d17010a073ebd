"""The benchmarks beside PyTorch, as ratios: `make bench`, or `python tests/bench/run.py [--quick] [--json FILE] [--write]`.

Each row runs in fresh processes, the two libraries in turn, one thread a rank; it gives the median of the rounds' ratios,
their 10th to 90th percentile, and the figure to reach (a star where it is not); for models on one rank also the ratio to
PyTorch tuned for the CPU (a fused optimiser, channels last in convolutional networks, small numbers flushed to zero). The
command fails if the libraries' results differ. Machines are shared and noisy: look at ratios, not at microseconds. About 6
minutes on two idle cores. --case takes any part of a row's name.

--write puts the tables into docs/benchmarks.md, in the section of this kind of processor ("AMD, AVX2"): what was measured on
other kinds stays there.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from machine import machine
from rows import TORCH, Row
from runs import ROOT, Run, measured
from table import HEAD, conditions, line, markdown, replaced, summary

PAGE = ROOT / "docs" / "benchmarks.md"
NEXT = "\n## Where a step's time goes\n"   # the section after those of processors
TUNED = ("PyTorch tuned: the same step with `fused=True` optimizers, convolutional networks with channels last,\n"
         "`torch.set_flush_denormal(True)`.")
GROUPS = {"one process": ("ours", "PyTorch", "ratio"), "two ranks": ("DataParallel", "DDP, gloo", "ratio")}


def figures_of(row: Row, rounds: int, seconds: float, busy: bool) -> dict[str, Any]:
    """One row, measured."""
    turns = [run for run in (row.first, row.second, row.tuned) if run is not None]
    runs: dict[Run, list[dict[str, Any]]] = {run: [] for run in turns}
    for number in range(rounds):
        for run in turns[::-1 if number % 2 else 1]:
            runs[run].append(measured(run, seconds, busy))
    return summary(row, runs[row.first], runs[row.second], None if row.tuned is None else runs[row.tuned])


def table(rows: Sequence[Row], rounds: int, seconds: float, busy: bool) -> dict[str, Any]:
    """All rows, measured and printed one by one."""
    result: dict[str, Any] = {"machine": machine(), "rounds": rounds, "busy": busy, "rows": []}
    print(conditions(result), f"\n\n{HEAD}", sep="\n", flush=True)
    for row in rows:
        result["rows"].append(figures_of(row, rounds, seconds, busy))
        print(line(result["rows"][-1]), flush=True)
    return result


def chosen(rows: Sequence[Row], parts: Sequence[str] | None) -> list[Row]:
    """The rows whose titles contain one of the parts; all without any. SystemExit if there are none."""
    found = [row for row in rows if not parts or any(part in row.title for part in parts)]
    if not found:
        raise SystemExit(f"no row has {' or '.join(parts or [])} in its name: " + "; ".join(row.title for row in rows))
    return found


def arguments(description: str | None) -> argparse.ArgumentParser:
    """What run.py and scaling.py both understand."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, help="default: 5; 2 with --quick")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and steps")
    parser.add_argument("--busy", action="store_true", help="for a busy machine: processor time; of ranks and threads, the "
                        "fastest tenth of their steps")
    parser.add_argument("--case", action="append", help="rows with this in their names (again for more)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser


def kind_of(about: dict[str, Any]) -> str:
    """The kind of processor, by which docs/benchmarks.md is divided: its maker and the width of its vectors."""
    if "vectors" not in about:
        raise SystemExit("these figures do not say which vectors their processor has: measure again")
    return f"{about['processor'].split()[0]}, {about['vectors']}"


def section(result: dict[str, Any]) -> str:
    """What docs/benchmarks.md says of one kind of processor."""
    tables = [markdown(result, group, headings) for group, headings in GROUPS.items()
              if any(r["group"] == group for r in result["rows"])]
    return "\n\n".join(["A star marks a missed goal. " * any("*" in text for text in tables) + TUNED, conditions(result), *tables])


def written(page: str, result: dict[str, Any]) -> str:
    """The page with this result in its processor's section, which is added if there is none."""
    kind = kind_of(result["machine"])
    begin, end = f"<!-- bench {kind}: begin -->", f"<!-- bench {kind}: end -->"
    if begin not in page:
        page = page.replace(NEXT, f"\n## {kind}\n\n{begin}\n{end}\n{NEXT}")
    return replaced(page, f"bench {kind}", section(result))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    parser.add_argument("--from", dest="known", type=Path, help="measure nothing: take the figures from this file")
    options = parser.parse_args()
    if options.write and options.case:
        raise SystemExit("--write wants all rows: leave out --case")
    if options.known:
        result = json.loads(options.known.read_text())
        print(HEAD, *(line(r) for r in result["rows"]), sep="\n")
    else:
        if importlib.util.find_spec("torch") is None:
            raise SystemExit("the benchmarks compare with PyTorch, which is not installed: pip install torch")
        rounds = options.rounds or (2 if options.quick else 5)
        result = table(chosen(TORCH, options.case), rounds, 0.15 if options.quick else 0.5, options.busy)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.write:
        PAGE.write_text(written(PAGE.read_text(), result))


if __name__ == "__main__":
    main()
