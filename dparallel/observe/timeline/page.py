"""The report as a self-contained page, for light and dark mode, large screens and phones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from .phases import MEANING, PARTS
from .report import COLUMNS, text_of, told_of_ranks

MOST_BARS = 64                       # ranks with a bar each; if there are more, neighbours share one
MOST_COLUMNS = 16                    # of the table of who waited
MOST_LINES = 8                       # ranks with a line each; if there are more, quantiles
MOST_ROWS = 20                       # of causes, and of sums
MOST_LANES = 12                      # ranks on a critical path with a row each
LINE = 600                           # points of a line
WAITING, TRANSFER = "waiting", "transfer"
ORDER = [part for part in PARTS if part != "wait"]
COLOURS = {"start": "#8d99ae", "script": "#9a9a9a", "loader": "#e69f00", "forward": "#56b4e9", "backward": "#0072b2",
           "optimizer": "#009e73", "checkpoint": "#cc79a7", "collector": "#8c564b", "replay": "#7a5fb5", WAITING: "#d55e00",
           TRANSFER: "#e8d534", "other process": "#b22222", "rows": "#5f7d3b"}
MEANINGS = {**MEANING, WAITING: "waiting for another rank", TRANSFER: "communication that is not hidden",
            "wait": "messages that take longer", "optimizer": "optimizer", "checkpoint": "saving a checkpoint"}
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5fb5", "#8c564b")
STYLE = Path(__file__).with_name("page.css")


def page(data: dict[str, Any]) -> str:
    """The page of a report's data."""
    sections = (header, advice, bars, matrix, causes, series, paths, bandwidth)
    body = "\n".join(section(data) for section in sections)
    title = f"dparallel: {counted(data['ranks'], 'rank')}"
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<style>\n{STYLE.read_text(encoding='utf-8')}</style></head><body>\n{body}\n"
            "<details><summary>The report as text</summary>"
            f"<pre>{escape(text_of(data))}</pre></details>\n</body></html>\n")


# --- the sections ---------------------------------------------------------------------------------------------------------

def header(data: dict[str, Any]) -> str:
    """The recording in figures."""
    steps, hosts, rows = data["steps"], data["hosts"], data["per_rank"]
    found = [(str(data["ranks"]), f"rank{'s' * (data['ranks'] != 1)} on {counted(len(hosts), 'host')}"),
             (f"{data['recorded_s']:.1f} s", "recorded")]
    if steps["count"]:
        waiting = mean(row["waiting_ms"] for row in rows)
        found += [(str(steps["count"]), f"steps, {steps['first']} to {steps['last']}"),
                  (ms(steps["median_ms"]), "median step"), (ms(steps["worst_ms"]), f"worst step ({steps['worst']})"),
                  (ms(waiting), f"waiting in a step, {waiting / mean(row['step_ms'] for row in rows):.0%}"),
                  (ms(mean(row["exposed_ms"] for row in rows)), "communication not hidden")]
    if len(hosts) > 1:
        found.append((f"{data['clock_bound_us']:.1f} us", "clocks of hosts agree within"))
    tiles = "".join(f'<div class="tile"><b>{escape(figure)}</b><span>{escape(what)}</span></div>' for figure, what in found)
    missing = data["missing"]
    lacking = (f"<p><b>Nothing is here of {counted(len(missing), 'rank')}:</b> {escape(ranges(missing))}. They recorded "
               "nothing, or on a host whose files are elsewhere.</p>" if missing else "")
    told = "<br>".join(escape(line.strip()) for line in told_of_ranks(data) if line)
    return (f'<h1>Where the time of a training goes</h1><div class="tiles">{tiles}</div>{lacking}'
            + (f"<p>{told}</p>" if told else ""))


def advice(data: dict[str, Any]) -> str:
    """The list of advice, numbered."""
    return ('<h2>Advice</h2><div class="advice"><ol>' + "".join(f"<li>{escape(text)}</li>" for text in data["advice"])
            + "</ol></div>")


def bars(data: dict[str, Any]) -> str:
    """How the time of a step is spent, by rank."""
    rows = data["per_rank"]
    if not data["steps"]["count"]:
        return ""
    groups = grouped(rows, MOST_BARS)
    shown = [part for part in (*ORDER, WAITING, TRANSFER) if any(times(row).get(part) for row in rows)]
    longest = max(mean(row["step_ms"] for row in group) for group in groups) or 1.0
    lines = []
    for group in groups:
        total, title = mean(row["step_ms"] for row in group), "ranks " * (len(group) > 1) + name(group)
        found = {part: mean(times(row).get(part, 0.0) for row in group) for part in shown}
        pieces = "".join(piece(part, f"width:{100 * found[part] / longest:.3f}%", f"{title}: {label(part)} "
                               f"{ms(found[part])}") for part in shown if found[part] > longest / 2000)
        lines.append(f'<div class="bar"><span title="{escape(hosts_of(group))}">{escape(name(group))}</span>'
                     f"<div>{pieces}</div><span>{escape(ms(total))}</span></div>")
    joined = "" if len(groups) == len(rows) else f" Each bar is the mean of up to {len(groups[0])} ranks."
    return ("<h2>What a step is spent on</h2><p>Means over all steps. What is computed while data travels counts as work."
            f"{joined}</p>{legend(shown)}{''.join(lines)}{table_of_ranks(rows)}")


def table_of_ranks(rows: list[dict[str, Any]]) -> str:
    """The same as figures: for each rank, or the distribution over many ranks."""
    head = [*(heading for heading, _ in HEADINGS), "rows"]
    if len(rows) <= MOST_BARS:
        body = [[f"rank {row['rank']}", *(f"{row[key]:.2f}" for _, key in HEADINGS),
                 "" if row["rows"] is None else f"{row['rows']:g}"] for row in rows]
    else:
        body = []
        for title, share in (("least", 0.0), ("a quarter below", 0.25), ("median", 0.5), ("a quarter above", 0.75),
                             ("most", 1.0)):
            body.append([title, *(f"{np.quantile([row[key] for row in rows], share):.2f}" for _, key in HEADINGS), ""])
        for heading, key in HEADINGS[1:4]:
            row = max(rows, key=lambda row: row[key])
            body.append([f"most {heading}: rank {row['rank']}", *(f"{row[key]:.2f}" for _, key in HEADINGS),
                         "" if row["rows"] is None else f"{row['rows']:g}"])
    opened = " open" if len(rows) <= 8 else ""
    return f"<details{opened}><summary>In figures (ms a step)</summary>{table(['', *head], body)}</details>"


def matrix(data: dict[str, Any]) -> str:
    """Which rank made which wait: a row for each late rank, a column for each waiting one."""
    total: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for cause in data["causes"]:
        for waiter, time in cause["waiting_ms"].items():
            total[cause["rank"]][int(waiter)] += time
    if not total:
        return "<h2>Who made whom wait</h2><p>Nobody waited for longer than 2 us.</p>"
    columns = grouped(data["per_rank"], MOST_COLUMNS)
    causing = sorted(total, key=lambda rank: -sum(total[rank].values()))[:MOST_ROWS]
    cells = {rank: [mean(total[rank].get(row["rank"], 0.0) for row in group) for group in columns] for rank in causing}
    most = max(max(row) for row in cells.values()) or 1.0
    body = "".join(f"<tr><th>rank {rank}</th>" + "".join(heat(value, most) for value in cells[rank]) + "</tr>"
                   for rank in sorted(causing))
    few = "" if len(causing) == len(total) else f" The {len(causing)} that cost most, of {len(total)}."
    joined = "" if len(columns) == len(data["per_rank"]) else " A column is the mean of several ranks."
    head = "".join(f"<th>{escape(name(group))}</th>" for group in columns)
    return (f"<h2>Who made whom wait</h2><p>Milliseconds a step. Rows: who caused it. Columns: who waited.{few}{joined}</p>"
            f'<div class="wide"><table><tr><th>by</th>{head}</tr>{body}</table></div>')


def causes(data: dict[str, Any]) -> str:
    """The causes of waiting."""
    out = ["<h2>Causes of waiting</h2>", "<p>In a step, of all waiting ranks together.</p>" if data["causes"] else
           "<p>Nobody waited in the steps.</p>", cause_table(data["causes"])]
    if data["before_first_step"]:
        out += ["<h3>Before the first step, in all</h3>", cause_table(data["before_first_step"])]
    if data["lanes"]:
        rows = [[f"rank {lane['rank']}", f"device {lane['device']}", label(lane["part"]), ms(lane["ms_per_step"])]
                for lane in data["lanes"][:MOST_ROWS]]
        out += ["<h3>Local devices that end after the others of their rank</h3>", table(["", "", "in", "a step"], rows)]
    return "".join(out)


def series(data: dict[str, Any]) -> str:
    """The steps in sequence."""
    found = data["series"]
    numbers = found["step"]
    if len(numbers) < 2:
        return ""
    out = ["<h2>Steps one by one</h2><h3>Length of a step (ms)</h3>",
           plot(numbers, [("a step, from the first rank's begin to the last one's end", found["ms"])])]
    ranks = list(found["waiting_ms"])
    if len(ranks) <= MOST_LINES:
        lines = [(f"rank {rank}", found["waiting_ms"][rank]) for rank in ranks]
    else:
        waiting = np.array([found["waiting_ms"][rank] for rank in ranks])
        lines = [(title, np.quantile(waiting, share, axis=0).tolist()) for title, share in
                 (("the rank that waits least", 0.0), ("median of the ranks", 0.5), ("the rank that waits most", 1.0))]
    return "".join([*out, "<h3>Waiting for others, in each step (ms)</h3>", plot(numbers, lines)])


def paths(data: dict[str, Any]) -> str:
    """The critical paths."""
    out = []
    for kind, path in data["critical_path"].items():
        segments = path["segments"]
        if not segments:
            continue
        ranks = sorted({segment["rank"] for segment in segments})
        lanes: dict[int, list[str]] = {rank: [] for rank in ranks} if len(ranks) <= MOST_LANES else {-1: []}
        whole, at = sum(segment["ms"] for segment in segments) or 1.0, 0.0
        for segment in segments:
            width = 100 * segment["ms"] / whole
            if width > 0.05:
                lanes[segment["rank"] if segment["rank"] in lanes else -1].append(piece(
                    segment["part"], f"left:{at:.3f}%;width:{width:.3f}%",
                    f"rank {segment['rank']}: {label(segment['part'])} {ms(segment['ms'])}"))
            at += width
        strips = "".join(f'<div class="path"><span>{"all ranks" if rank < 0 else f"rank {rank}"}</span><div class="lane">'
                         f"{''.join(pieces)}</div></div>" for rank, pieces in lanes.items())
        words = " → ".join(f"rank {rank} {part} {time:.2f}" for rank, part, time in joined(segments)
                           if time >= path["ms"] / 50)
        shown = [part for part in (*ORDER, TRANSFER) if any(segment["part"] == part for segment in segments)]
        out.append(f"<h3>The {escape(kind)} step: {path['step']}, {escape(ms(path['ms']))}</h3>{legend(shown)}{strips}"
                   f'<p class="words">{escape(words)}</p>')
    intro = ("<p>The chain of work and transfers that determines when a step ends: a change that shortens none of it does "
             "not shorten the step.</p>")
    return f"<h2>Critical path</h2>{intro}{''.join(out)}" if out else ""


def bandwidth(data: dict[str, Any]) -> str:
    """The bandwidth that the sums achieved, beside the possible one."""
    network = data["network"]
    if not network["sums"]:
        return ""
    possible = network["possible_GB_per_s"]
    fastest = possible or max((row["GB_per_s"] or 0.0 for row in network["sums"]), default=0.0) or 1.0
    rows = []
    for row in network["sums"][:MOST_ROWS]:
        rate = row["GB_per_s"]
        bar = share(min(1.0, (rate or 0.0) / fastest)) + ("" if rate is None else escape(f" {significant(rate)}"))
        rows.append([escape(row["name"]), escape(size(row["bytes"])), str(row["count"]), f"{row['transfer_us']:.1f}",
                     f"{row['queued_us']:.1f}", bar])
    unit = f"GB/s of {significant(possible)}" if possible else "GB/s"
    head = ["", "bytes", "times", "us on the way", "us queued", unit]
    measured = (f" An undisturbed sum over all ranks, of at most 8 MiB, at the start, ran at {significant(possible)} GB/s."
                if possible else "")
    links = [[f"rank {link['from']} to {link['to']}", ms(link["ms_per_step"])] for link in data["links"][:MOST_ROWS]]
    title = "<h3>Messages that were waited for after they had been sent</h3>"
    messages = title + table(["", "a step"], links) if links else ""
    left = len(network["sums"]) - MOST_ROWS
    more = f"<p>And {left} others.</p>" if left > 0 else ""
    return (f"<h2>Network</h2><p>{escape(size(network['bytes_per_step']))} a step and rank.{escape(measured)} On the way: "
            f"from when the last rank was there.</p>{table(head, rows, escaped=True, left=(0, 5))}{more}{messages}")


# --- their parts ----------------------------------------------------------------------------------------------------------

SHOWN = {"exposed": "transfer", "overlap": "overlapped"}
HEADINGS = [(SHOWN.get(key, key), f"{key}_ms") for key, _ in COLUMNS]


def cause_table(found: list[dict[str, Any]]) -> str:
    """A table of causes, the largest first."""
    if not found:
        return ""
    rows = [[f"rank {cause['rank']}", escape(label(cause["part"])), escape(ms(cause["ms_per_step"])),
             f"{share(cause['share'])} {cause['share']:.0%}"] for cause in found[:MOST_ROWS]]
    rest = found[MOST_ROWS:]
    if rest:
        rows.append([f"{len(rest)} others", "", escape(ms(sum(cause["ms_per_step"] for cause in rest))),
                     f"{share(sum(cause['share'] for cause in rest))} {sum(cause['share'] for cause in rest):.0%}"])
    return table(["", "by", "waiting", "share"], rows, escaped=True, left=(0, 1, 3))


def plot(numbers: Sequence[int], lines: Sequence[tuple[str, Sequence[float]]]) -> str:
    """Lines over the numbers of steps. A few values far above all others are cut off and named."""
    highest = np.array([line for _, line in lines], np.float64).max(0)
    top, usual = float(highest.max()), float(np.sort(highest)[-1 - max(1, len(highest) // 50)])
    shown = nice(1.2 * usual) if 0 < 3 * usual < top else nice(top)
    cut = int((highest > shown).sum())
    marks = []
    for (title, line), colour in zip(lines, LINES, strict=False):
        points = " ".join(f"{1000 * x:.1f},{100 - 100 * min(y, shown) / shown:.2f}" for x, y in thinned(line))
        marks.append(f'<polyline points="{points}" stroke="{colour}"><title>{escape(title)}</title></polyline>')
    note = f"<p>{counted(cut, 'step')} above {significant(shown)} are cut off; the longest is {ms(top)}.</p>" if cut else ""
    names = "".join(f'<span><i class="swatch" style="background:{colour}"></i>{escape(title)}</span>'
                    for (title, _), colour in zip(lines, LINES, strict=False))
    return (f'<figure><div class="legend">{names}</div><div class="plot"><div class="axis"><span>{significant(shown)}</span>'
            f"<span>{significant(shown / 2)}</span><span>0</span></div>"
            f'<svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img">{"".join(marks)}</svg>'
            f'<div class="under"><span>step {numbers[0]}</span><span>step {numbers[-1]}</span></div></div>{note}</figure>')


def joined(segments: Sequence[dict[str, Any]]) -> list[tuple[int, str, float]]:
    """(rank, part, ms) of a critical path, without its short pieces."""
    least, found = sum(segment["ms"] for segment in segments) / 200, list[tuple[int, str, float]]()
    for segment in segments:
        key = segment["rank"], segment["part"]
        if found and found[-1][:2] == key:
            found[-1] = (*key, found[-1][2] + segment["ms"])
        elif segment["ms"] >= least:
            found.append((*key, segment["ms"]))
    return found


def thinned(line: Sequence[float]) -> list[tuple[float, float]]:
    """At most LINE points (x from 0 to 1, y) of a line; of points with the same x the highest."""
    n = len(line)
    width = -(-n // LINE)
    return [(min(n - 1, at + width / 2 if width > 1 else at) / max(1, n - 1), max(line[at:at + width]))
            for at in range(0, n, width)]


def piece(part: str, style: str, title: str) -> str:
    """A coloured piece of a bar."""
    hatch = ' class="hatch"' if part in (WAITING, TRANSFER) else ""
    return f'<i{hatch} style="{style};background-color:{COLOURS.get(part, "#777")}" title="{escape(title)}"></i>'


def legend(parts: Iterable[str]) -> str:
    """The legend of the colours."""
    items = []
    for part in parts:
        hatch = " hatch" if part in (WAITING, TRANSFER) else ""
        items.append(f'<span><i class="swatch{hatch}" style="background-color:{COLOURS.get(part, "#777")}"></i>'
                     f"{escape(label(part))}</span>")
    return f'<div class="legend">{"".join(items)}</div>'


def heat(value: float, most: float) -> str:
    """A cell of the matrix."""
    if not value:
        return "<td></td>"
    return f'<td style="background:rgba(var(--heat),{0.08 + 0.6 * value / most:.3f})">{value:.2f}</td>'


def share(part: float) -> str:
    """A short bar."""
    return f'<i class="share" style="width:{6 * part:.3f}em"></i>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], escaped: bool = False, left: Sequence[int] = (0,)) -> str:
    """A table of texts; escaped: they are HTML already."""
    show: Callable[[str], str] = str if escaped else escape

    def cells(kind: str, texts: Sequence[str]) -> str:
        return "".join(f"<{kind}{' class=left' if at in left else ''}>{show(text)}</{kind}>"
                       for at, text in enumerate(texts))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{cells("th", head)}</tr>{body}</table></div>'


def times(row: dict[str, Any]) -> dict[str, float]:
    """The time of each part in a rank's step, waiting and transfer too; the times of all add up to the step's."""
    return {**row["parts_ms"], WAITING: row["waiting_ms"], TRANSFER: row["exposed_ms"]}


def grouped(rows: list[dict[str, Any]], most: int) -> list[list[dict[str, Any]]]:
    """Ranks in order, in at most so many groups of neighbours."""
    together = max(1, -(-len(rows) // most))
    return [rows[at:at + together] for at in range(0, len(rows), together)]


def name(group: list[dict[str, Any]]) -> str:
    """The name of some ranks."""
    first, last = group[0]["rank"], group[-1]["rank"]
    return f"rank {first}" if len(group) == 1 else f"{first}-{last}"


def hosts_of(group: list[dict[str, Any]]) -> str:
    """The hosts of some ranks."""
    return ", ".join(sorted({row["host"] for row in group}))


def label(part: str) -> str:
    """The label of a part."""
    return MEANINGS.get(part, part)


def ranges(numbers: Sequence[int]) -> str:
    """Ranges of numbers: 0-3, 7 for 0, 1, 2, 3, 7."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def mean(values: Iterable[float]) -> float:
    """The mean of some numbers; 0 of none."""
    found = list(values)
    return math.fsum(found) / len(found) if found else 0.0


def counted(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number} {what}{'s' * (number != 1)}"


def ms(value: float) -> str:
    """A time in ms as text."""
    return f"{value:.2f} ms" if value < 1000 else f"{value / 1000:.2f} s"


def significant(value: float) -> str:
    """A number with three digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def size(nbytes: float) -> str:
    """Bytes in a suitable unit."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= scale:
            return f"{nbytes / scale:.2f} {unit}"
    return f"{nbytes:.0f} B"


def nice(value: float) -> float:
    """The next larger 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if factor * power >= value * (1 - 1e-9))
