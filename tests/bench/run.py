"""Training steps beside PyTorch's, torch.compile's and JAX's: `make bench`, or `python tests/bench/run.py [--cases A B] [--rounds 3]`.

A row of one process divides the time of our best form (eager, trace_step, compiled) by the best other's. Each form has a process
that warms up once; then all measure in turn, one thread each, processor time. Rows of two ranks and of imports run in fresh
processes, by the clock. The command fails if the results of the first steps differ. torch.compile (which needs a C++ compiler)
and JAX are skipped where absent.

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
from rows import OURS, ROWS, Contest, Row
from runs import ROOT, Failed, Live, Run, absent, measured
from table import CONTEST_HEAD, HEAD, conditions, contest, contest_line, contest_table, line, markdown, replaced, summary

PAGE = ROOT / "docs" / "benchmarks.md"
NEXT = "\n## Where a step's time goes\n"   # the section after those of processors
GROUPS = {"import": ("ours", "PyTorch", "ratio"), "two ranks": ("DataParallel", "DDP, gloo", "ratio")}


def contest_of(row: Contest, rounds: int, seconds: float) -> dict[str, Any]:
    """A row of one process, measured; a form that is absent, or refuses the case, is left out, with the reason."""
    live: dict[str, Live] = {}
    left_out: dict[str, str] = {}
    try:
        for library in [*OURS, *row.others]:
            if reason := absent(library):
                left_out[library] = reason
                continue
            try:
                live[library] = Live(Run(row.case, library))
            except Failed as error:
                left_out[library] = str(error).strip().splitlines()[-1]
        found: dict[str, list[dict[str, Any]]] = {library: [] for library in live}
        for number in range(rounds):
            for library in [*live][::-1 if number % 2 else 1]:
                found[library].append(live[library].measure(seconds))
    finally:
        for process in live.values():
            process.close()
    return contest(row, found, left_out)


def figures_of(row: Row, rounds: int, seconds: float, busy: bool) -> dict[str, Any]:
    """A row of two runs, measured."""
    turns = (row.first, row.second)
    runs: dict[Run, list[dict[str, Any]]] = {run: [] for run in turns}
    for number in range(rounds):
        for run in turns[::-1 if number % 2 else 1]:
            runs[run].append(measured(run, seconds, busy))
    return summary(row, runs[row.first], runs[row.second])


def table(rows: Sequence[Row | Contest], rounds: int, seconds: float, busy: bool) -> dict[str, Any]:
    """All rows, measured and printed one by one."""
    result: dict[str, Any] = {"machine": machine(), "rounds": rounds, "busy": busy, "rows": []}
    print(conditions(result), flush=True)
    for kind, head in ((Contest, CONTEST_HEAD), (Row, HEAD)):
        for number, row in enumerate(row for row in rows if isinstance(row, kind)):
            if not number:
                print(f"\n{head}", flush=True)
            result["rows"].append(contest_of(row, rounds, seconds) if isinstance(row, Contest) else figures_of(row, rounds, seconds, busy))
            print((contest_line if kind is Contest else line)(result["rows"][-1]), flush=True)
    return result


def chosen(rows: Sequence[Any], parts: Sequence[str] | None) -> list[Any]:
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
    parser.add_argument("--busy", action="store_true", help="for a busy machine: of ranks and threads, the fastest tenth of their steps")
    parser.add_argument("--cases", nargs="+", action="extend", help="rows with one of these in their names")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser


def kind_of(about: dict[str, Any]) -> str:
    """The kind of processor, by which docs/benchmarks.md is divided: its maker and the width of its vectors."""
    if "vectors" not in about:
        raise SystemExit("these figures do not say which vectors their processor has: measure again")
    return f"{about['processor'].split()[0]}, {about['vectors']}"


def section(result: dict[str, Any]) -> str:
    """What docs/benchmarks.md says of one kind of processor."""
    contests = [r for r in result["rows"] if r["group"] == "one process"]
    tables = [contest_table(contests)] if contests else []
    tables += [markdown(result, group, headings) for group, headings in GROUPS.items() if any(r["group"] == group for r in result["rows"])]
    return "\n\n".join([conditions(result), *tables])


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
    if options.write and options.cases:
        raise SystemExit("--write requires all rows: leave out --cases")
    if options.known:
        result = json.loads(options.known.read_text())
        print(section(result))
    else:
        if importlib.util.find_spec("torch") is None:
            raise SystemExit("the benchmarks compare with PyTorch, which is not installed: pip install torch")
        rounds = options.rounds or (2 if options.quick else 5)
        result = table(chosen(ROWS, options.cases), rounds, 0.15 if options.quick else 0.5, options.busy)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.write:
        PAGE.write_text(written(PAGE.read_text(), result))


if __name__ == "__main__":
    main()
