"""From measurements to figures, and from figures to text: medians, spread, what is reached, tables, parts of pages."""

from __future__ import annotations

import re
import statistics
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rows import OTHERS, OURS, Contest, Row

TOLERANCE = 1e-3                         # of results in float32 after three steps
HEAD = f"{'case':34} {'ours us':>10} {'other us':>10} {'ratio':>6}  {'10-90 %':12} {'to reach':>8}  memory"
CONTEST_HEAD = f"{'case':30} " + " ".join(f"{name:>13}" for name in [*OURS.values(), *OTHERS.values()]) + "  ratio  10-90 %       best, ms"


def percentile(values: Sequence[float], part: float) -> float:
    """Between the two nearest of the sorted values."""
    values = sorted(values)
    place = part * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def same(a: float, b: float) -> bool:
    """Whether two results agree as far as float32 lets them; nan agrees with nothing."""
    return abs(a - b) <= TOLERANCE * max(1.0, abs(b))


def check(title: str, a: Sequence[float], b: Sequence[float]) -> None:
    """SystemExit if the results of two runs differ."""
    if not all(same(x, y) for x, y in zip(a, b, strict=True)):
        raise SystemExit(f"{title}: the results differ, {a} and {b}")


def contest(row: Contest, found: dict[str, list[dict[str, Any]]], left_out: dict[str, str]) -> dict[str, Any]:
    """The figures of a row of one process: each library's median, and the ratios of the best of ours to the best other in each
    round. SystemExit if the results of the first steps differ, or no form of ours or no other runs the case."""
    if not (found.keys() & OURS.keys() and found.keys() & set(row.others)):
        raise SystemExit(f"{row.title}: nothing to compare: " + "; ".join(f"{name}: {reason}" for name, reason in left_out.items()))
    first = next(iter(found.values()))[0]["check"]
    for runs in found.values():
        check(row.title, runs[0]["check"], first)
    us = {library: statistics.median(run["time"] for run in runs) * 1e6 for library, runs in found.items()}
    ours, other = (min((library for library in names if library in us), key=us.__getitem__) for names in (OURS, row.others))
    pairs = list(zip(found[ours], found[other], strict=True))
    ratios = [a["time"] / b["time"] for a, b in pairs]
    return {"title": row.title, "group": "one process", "us": us, "left_out": left_out, "ours": ours, "other": other,
            "ratio": statistics.median(ratios), "low": percentile(ratios, 0.1), "high": percentile(ratios, 0.9), "rounds": len(ratios),
            "spread": {library: [percentile([run["time"] * 1e6 for run in runs], part) for part in (0.1, 0.9)] for library, runs in found.items()},
            "reach": 1.0, "at_least": False, "memory": pairs[-1][0]["memory"] / pairs[-1][1]["memory"], "memory_reach": 1.0}


def contest_line(r: dict[str, Any]) -> str:
    """A row of one process as text, ms of each library."""
    cells = [milliseconds(r["us"][name]) if name in r["us"] else "-" for name in [*OURS, *OTHERS]]
    return (f"{r['title']:30} " + " ".join(f"{cell:>13}" for cell in cells) + f" {r['ratio']:6.2f}{' ' if reached(r) else '*'} {spread(r):13} "
            f"{OURS[r['ours']]} / {OTHERS[r['other']]}" + "".join(f"\n  {name}: {reason}" for name, reason in r["left_out"].items()))


def contest_table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows of one process for the page, with the geometric mean of their ratios."""
    lines = ["| case | eager, ms | trace_step, ms | compiled, ms | best other, ms | which | ratio | 10-90 % |", "|---|---:|---:|---:|---:|---|---:|---|"]
    for r in rows:
        cells = [r["title"], *(milliseconds(r["us"][name]) if name in r["us"] else "" for name in OURS), milliseconds(r["us"][r["other"]]),
                 OTHERS[r["other"]], f"{r['ratio']:.2f}", spread(r)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, f"| **geometric mean** |  |  |  |  |  | **{statistics.geometric_mean(r['ratio'] for r in rows):.2f}** |  |"])


def summary(row: Row, firsts: Sequence[dict[str, Any]], seconds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The figures of a row of two runs. SystemExit if the results differ."""
    if row.same:
        for a, b in zip(firsts, seconds, strict=True):
            check(row.title, a["check"], b["check"])
    ratios = [a["time"] / b["time"] for a, b in zip(firsts, seconds, strict=True)]
    out = {"title": row.title, "group": row.group, "first_us": statistics.median(r["time"] for r in firsts) * 1e6,
           "second_us": statistics.median(r["time"] for r in seconds) * 1e6, "ratio": statistics.median(ratios),
           "low": percentile(ratios, 0.1), "high": percentile(ratios, 0.9), "rounds": len(ratios), "reach": row.reach,
           "at_least": row.at_least, "memory": None, "memory_reach": row.memory}
    if row.memory is not None:
        own, other = (statistics.median(r["memory"] for r in runs) for runs in (firsts, seconds))
        out |= {"memory": own / other, "first_mib": own, "second_mib": other}
    return out


def reached(figures: dict[str, Any]) -> bool:
    """Whether the ratio is where it is to be."""
    if figures["reach"] is None:
        return True
    return figures["ratio"] >= figures["reach"] if figures["at_least"] else figures["ratio"] <= figures["reach"]


def line(r: dict[str, Any]) -> str:
    """A row as text."""
    memory = "" if r["memory"] is None else f"{r['memory']:.2f} ({r['memory_reach']})"
    return (f"{r['title']:34} {r['first_us']:10.1f} {r['second_us']:10.1f} {r['ratio']:6.2f}  {spread(r):12} "
            f"{bound(r):>8}{' ' if reached(r) else '*'} {memory}").rstrip()


def spread(r: dict[str, Any]) -> str:
    """The 10th to the 90th percentile; one round has none."""
    return f"{r['low']:.2f} to {r['high']:.2f}" if r["rounds"] > 1 else "one round"


def bound(r: dict[str, Any]) -> str:
    """The figure to reach."""
    return "" if r["reach"] is None else f"{'>=' if r['at_least'] else '<='} {r['reach']}"


def markdown(result: dict[str, Any], group: str, headings: tuple[str, str, str]) -> str:
    """The rows of a group, figures to reach that are not met with a star, times in ms."""
    rows = [r for r in result["rows"] if r["group"] == group]
    memory = any(r["memory"] is not None for r in rows)
    first, second, ratio = headings
    lines = [f"| case | {first}, ms | {second}, ms | {ratio} | 10-90 % | to reach |" + " memory |" * memory,
             "|---|---:|---:|---:|---|---|" + "---:|" * memory]
    for r in rows:
        cells = [r["title"], milliseconds(r["first_us"]), milliseconds(r["second_us"]),
                 f"{r['ratio']:.2f}" + " *" * (not reached(r)), spread(r), bound(r)]
        cells += [("" if r["memory"] is None else f"{r['memory']:.2f}" + " *" * (r["memory"] > r["memory_reach"]))] * memory
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def milliseconds(microseconds: float) -> str:
    """Three digits."""
    value = microseconds / 1e3
    return f"{value:.0f}" if value >= 99.95 else f"{value:#.3g}"


def conditions(result: dict[str, Any]) -> str:
    """Under what the figures were measured, in a few lines."""
    m = result["machine"]
    clock = "the fastest tenth of steps by the clock" if result["busy"] else "by the clock"
    text = (f"{m['processor']}, {m['cores']} cores; Python {m['python']}, NumPy {m['numpy']}, "
            f"PyTorch {m['torch']}, JAX {m['jax']}, {m['mpi']}; accelerators {m['accelerators']}; one thread per rank, alternating "
            f"processes, median of {result['rounds']} round{'s' * (result['rounds'] > 1)}, steps of one process in processor time, others "
            f"{clock}; {m['date']}, commit {m['commit']}.")
    if m["load"] > 0.5:
        text += (f" **Preliminary**: other processes used {m['load']:.1f} cores when this began, so figures of two ranks or devices are "
                 "unreliable.")
    return textwrap.fill(text, 125)


def replaced(text: str, name: str, body: str) -> str:
    """`text` with what stands between the markers of this name replaced. ValueError if it has none."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"no {begin} ... {end}")
    return pattern.sub(lambda _: f"{begin}\n{body}\n{end}", text)


def write_between(path: Path, name: str, body: str) -> None:
    """The same in a file."""
    path.write_text(replaced(path.read_text(), name, body))
