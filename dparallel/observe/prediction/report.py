"""A Prediction as text: a table with advice; and as a plot."""

from __future__ import annotations

import html as escaping
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .predict import Point, Prediction

MATTERS = 0.05                       # share of a step: a smaller gain is not worth a change
WIDTH, HEIGHT, EDGE = 460, 300, 56   # of a panel of the plot
COLOURS = ("#1f5fa8", "#c2571a")


def text(prediction: Prediction) -> str:
    """The table, its sources, and the advice."""
    trace = prediction.trace
    quiet = f"{trace.quiet} of {trace.steps} steps were quiet" if trace.quiet else f"none of {trace.steps} steps was quiet"
    parts = ", ".join(f"{name} {milliseconds(getattr(trace, name))}" for name in ("forward", "backward", "optimizer"))
    lines = [f"Traced on {trace.ranks} rank{'s' * (trace.ranks > 1)}: steps of {milliseconds(trace.measured)} ms, of these "
             f"computation {milliseconds(trace.compute)} ms ({parts}); gradients {size(trace.gradient_bytes)}; {quiet}. "
             "Rows a rank stay as they are.", ""]
    rows = [("ranks", "choice", "step, ms", "+-", "exposed, ms", "efficiency", "memory a rank", "costs are")]
    for ranks in prediction.sizes:
        best = prediction.best(ranks)
        for point in shown(prediction, ranks):
            mark = " *" if point is best and len(prediction.sizes) else ""
            rows.append((str(ranks), str(point.option) + mark, milliseconds(point.seconds), f"{point.error:.0%}",
                         milliseconds(point.exposed), f"{point.efficiency:.0%}", size(point.total_memory),
                         ", ".join(point.sources) or "none"))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        lines.append("  ".join(cell.ljust(w) if i in (1, 7) else cell.rjust(w)
                               for i, (cell, w) in enumerate(zip(row, widths, strict=True))).rstrip())
    largest = prediction.default(prediction.sizes[-1])
    causes = ", ".join(f"{name} {share:.1%}" for name, share in largest.errors.items() if share >= 0.0005)
    lines += ["", f"* recommended. Error bars, here at {largest.option.ranks} ranks: {causes}, as the root of the sum of "
                  "squares."]
    lines += [f"Assumed: {line}." for line in prediction.network.assumed]
    lines += [f"Note: {line}." for line in trace.notes]
    lines += [f"Not predicted: {option}: {why}" for why, option in prediction.refused.items()]
    return "\n".join([*lines, "", *advice(prediction)])


def shown(prediction: Prediction, ranks: int) -> list[Point]:
    """The rows of one number of ranks: the default, the best, and the best buckets of each hook and stage."""
    here = [p for p in prediction.points if p.option.ranks == ranks]
    rows = [prediction.default(ranks)]
    for hook, shard in dict.fromkeys((p.option.hook, p.option.shard) for p in here):
        alike = [p for p in here if (p.option.hook, p.option.shard) == (hook, shard)]
        rows.append(min(alike, key=lambda p: p.seconds))
    return list({str(p.option): p for p in [*rows, prediction.best(ranks)]}.values())


def advice(prediction: Prediction) -> list[str]:
    """The advice that follows from the numbers, one sentence per item."""
    out, sizes, least = [], [n for n in prediction.sizes if n > 1], prediction.least_efficiency
    if not sizes:
        return ["One rank does not communicate: predict more ranks."]
    good = [n for n in sizes if prediction.best(n).efficiency >= least]
    if good:
        best = prediction.best(good[-1])
        gain = good[-1] * best.efficiency
        out.append(f"Up to {good[-1]} ranks pay: {gain:.3g} times the rows a second of one rank, efficiency "
                   f"{best.efficiency:.0%} (at least {least:.0%} was requested), by {best.option}.")
    first = next((n for n in sizes if n not in good), None)
    if first is not None:
        best = prediction.best(first)
        why = "communication that nothing hides" if best.exposed > best.compute - prediction.trace.compute else (
            "ranks that share cores, or wait for the slowest")
        out.append(f"At {first} ranks efficiency falls to {best.efficiency:.0%}, by {why}: "
                   f"{milliseconds(best.seconds - prediction.trace.compute)} of {milliseconds(best.seconds)} ms"
                   + ("; more rows a rank, or gradients summed less often (no_sync), would help." if why[0] == "c" else "."))
    here = good[-1] if good else sizes[0]
    default, best = prediction.default(here), prediction.best(here)
    if best is not default and default.seconds > best.seconds * (1 + MATTERS):
        out.append(f"At {here} ranks take {best.option}: {milliseconds(best.seconds)} ms a step and not "
                   f"{milliseconds(default.seconds)}" + (" (a hook changes the gradients: see docs/comm_hooks.md)."
                                                         if best.option.hook else "."))
    else:
        out.append(f"At {here} ranks no other buckets, hook or sharding saves more than {MATTERS:.0%} of a step: leave them "
                   "as they are.")
    lean = min((p for p in prediction.points if p.option.ranks == here), key=lambda p: p.total_memory)
    if lean.option.shard and lean.total_memory < 0.8 * default.total_memory:
        out.append(f"If memory is short: {lean.option} takes {size(lean.total_memory)} a rank in place of "
                   f"{size(default.total_memory)}, and {milliseconds(lean.seconds)} ms a step.")
    return out


def milliseconds(seconds: float) -> str:
    """A time with three digits."""
    ms = seconds * 1e3
    return f"{ms:.3g}" if ms < 1000 else f"{ms:.0f}"


def size(nbytes: float) -> str:
    """A number of bytes with a unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if nbytes < 1024 or unit == "GiB":
            break
        nbytes /= 1024
    return f"{nbytes:.3g} {unit}" if nbytes < 1000 else f"{nbytes:.0f} {unit}"


# --- the plot -------------------------------------------------------------------------------------------------------------

def svg(prediction: Prediction) -> str:
    """Two panels over the number of ranks, default and recommended: the step's time with error bars, and the efficiency."""
    sizes = prediction.sizes
    lines = [("by default", [prediction.default(n) for n in sizes]), ("recommended", [prediction.best(n) for n in sizes])]
    top = max(p.high for _, points in lines for p in points) * 1e3 * 1.08
    panels = [panel(0, "step, ms", sizes, top, lines, lambda p: (p.seconds * 1e3, p.low * 1e3, p.high * 1e3)),
              panel(WIDTH, "efficiency, %", sizes, 105.0, lines,
                    lambda p: tuple(100 * min(1.0, p.efficiency * p.seconds / s) if s > 0 else 100.0
                                    for s in (p.seconds, p.high, p.low)))]
    compute = prediction.trace.compute * 1e3
    level = HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * compute / top
    bare = (f'<line x1="{EDGE}" x2="{WIDTH - EDGE / 2}" y1="{level:.1f}" y2="{level:.1f}" stroke="#888" '
            f'stroke-dasharray="4 3"/><text x="{WIDTH - EDGE / 2}" y="{level + 14:.1f}" text-anchor="end" fill="#666">'
            "computation as traced</text>")
    legend = "".join(f'<text x="{EDGE + 130 * i}" y="22" fill="{colour}">&#9679; {name}</text>'
                     for i, (colour, (name, _)) in enumerate(zip(COLOURS, lines, strict=True)))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" font-family="sans-serif" '
            f'font-size="12"><rect width="100%" height="100%" fill="white"/>{legend}{"".join(panels)}{bare}</svg>\n')


def panel(left: float, title: str, sizes: Sequence[int], top: float, lines: Sequence[tuple[str, Sequence[Point]]],
          value: object) -> str:
    """One panel: axes, and a line with error bars for each choice. value(point): (middle, low, high)."""
    low, high = math.log2(sizes[0]), math.log2(sizes[-1])

    def x(ranks: int) -> float:
        share = (math.log2(ranks) - low) / (high - low) if high > low else 0.5
        return left + EDGE + 12 + share * (WIDTH - 1.5 * EDGE - 24)

    def y(number: float) -> float:
        return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * min(number, top) / top

    step = nice(top / 4)
    out = [f'<text x="{left + EDGE}" y="44" fill="#333">{title}</text>']
    for i in range(int(top / step) + 1):
        at = y(i * step)
        out.append(f'<line x1="{left + EDGE}" x2="{left + WIDTH - EDGE / 2}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
                   f'<text x="{left + EDGE - 6}" y="{at + 4:.1f}" text-anchor="end">{i * step:g}</text>')
    for ranks in sizes:
        out.append(f'<text x="{x(ranks):.1f}" y="{HEIGHT - EDGE + 18}" text-anchor="middle">{ranks}</text>')
    out.append(f'<text x="{left + WIDTH / 2}" y="{HEIGHT - 14}" text-anchor="middle" fill="#333">ranks</text>')
    for shift, (colour, (_, points)) in enumerate(zip(COLOURS, lines, strict=True)):
        found = [(x(p.option.ranks) + 5 * shift, *value(p)) for p in points]         # type: ignore[operator]
        path = " ".join(f"{px:.1f},{y(middle):.1f}" for px, middle, *_ in found)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for px, middle, bottom, upper in found:
            out.append(f'<line x1="{px:.1f}" x2="{px:.1f}" y1="{y(bottom):.1f}" y2="{y(upper):.1f}" stroke="{colour}"/>'
                       f'<circle cx="{px:.1f}" cy="{y(middle):.1f}" r="3.5" fill="{colour}"/>')
    return "".join(out)


def nice(step: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(max(step, 1e-9)))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= step)


def html(prediction: Prediction) -> str:
    """A self-contained page: the plot, with the text below it."""
    return ("<!doctype html><meta charset='utf-8'><title>What more ranks would bring</title>"
            "<style>body{font-family:sans-serif;max-width:980px;margin:2em auto}pre{overflow-x:auto;font-size:13px}</style>"
            f"<h1>What more ranks would bring</h1>{svg(prediction)}<pre>{escaping.escape(text(prediction))}</pre>\n")
