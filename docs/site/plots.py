"""Draws the plots of docs/benchmarks.md from its tables and predicted.csv: `python docs/site/plots.py`.

A plot is an SVG file of 360 units' width, so that it can be read on a phone; its text is the same for the same tables, and
a test compares it (tests/test_site.py). What a plot shows is named by its function's docstring.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

DOCS = Path(__file__).parent.parent
WIDTH, LEFT, RIGHT = 360, 12, 348
COLORS = ("#1f5fbf", "#d9730d", "#2a8a4a")
Table = list[list[str]]


def tables(page: str, heading: str) -> list[Table]:
    """The tables below a heading of a page, without their first two lines."""
    text = (DOCS / page).read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"(?:^\|.*\n)+", text, flags=re.M)
    return [
        [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()] for table in found
    ]


def numbers(cell: str) -> list[float]:
    """The numbers of a cell: "0.54 to 0.56" has two."""
    return [float(number) for number in re.findall(r"(?<![\w-])[-+]?\d+(?:\.\d+)?", cell.replace(",", ""))]


class Plot:
    """An SVG text that grows downwards."""

    def __init__(self, title: str) -> None:
        self.parts: list[str] = []
        self.y = 20.0
        self.text(LEFT, self.y, title, size=13, weight="bold")
        self.y += 10

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: int = 11,
        anchor: str = "start",
        color: str = "#222",
        weight: str = "normal",
    ) -> None:
        """Words at a place."""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}" '
            f'font-weight="{weight}">{escape(words)}</text>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, color: str = "#999", width: float = 1, dash: str = ""
    ) -> None:
        """A line between two points."""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" '
            f'stroke-width="{width:g}"' + (f' stroke-dasharray="{dash}"' if dash else "") + "/>"
        )

    def dot(self, x: float, y: float, color: str, radius: float = 4) -> None:
        """A point."""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{color}" fill-opacity="0.8"/>')

    def bar(self, x: float, y: float, width: float, height: float, color: str) -> None:
        """A box."""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>')

    def legend(self, names: list[str]) -> None:
        """A line of a name for each colour."""
        for color, name in zip(COLORS, names, strict=False):
            self.y += 15
            self.dot(LEFT + 5, self.y - 4, color)
            self.text(LEFT + 15, self.y, name)
        self.y += 10

    def svg(self) -> str:
        """The whole picture."""
        height = math.ceil(self.y + 12)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'font-family="sans-serif" role="img">\n<rect width="100%" height="100%" fill="#fff"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


def scale(plot: Plot, least: float, most: float, ticks: list[float], unit: str, top: float) -> Callable[[float], float]:
    """A place for each value; ticks are drawn from `top` to where the plot is now."""

    def place(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * (min(max(value, least), most) - least) / (most - least)

    for tick in ticks:
        plot.line(place(tick), top, place(tick), plot.y, "#ddd")
        plot.text(
            place(tick),
            plot.y + 13,
            f"{tick:g}",
            anchor="middle" if least < tick < most else "start" if tick == least else "end",
            color="#555",
        )
    plot.y += 28
    plot.text((LEFT + RIGHT) / 2, plot.y, unit, anchor="middle", color="#555")
    return place


def one_to_two() -> str:
    """What two ranks do in the time of one, of two."""
    _, _, *rows = tables("benchmarks.md", "Scaling to two ranks")[0]
    plot = Plot("Two ranks, each with the rows of one")
    plot.legend(["with DataParallel", "two ranks without all-reduce"])
    top, marks = plot.y, []
    pairs = [row for row in rows if "devices" not in row[0]]
    for row in pairs:
        if "without" not in row[0]:
            plot.y += 18
            plot.text(LEFT, plot.y, row[0].partition(", 1 to")[0])
        plot.y += 10
        low, high = numbers(row[4])
        marks.append((plot.y, COLORS["without" in row[0]], numbers(row[3])[0], low, high))
    plot.y += 8
    body, plot.parts = plot.parts, []
    place = scale(plot, 0, 1.25, [0, 0.25, 0.5, 0.75, 1, 1.25], "one rank's time over two ranks' (1 is perfect)", top)
    plot.parts += body
    for y, color, value, low, high in marks:
        plot.bar(place(0), y - 4, place(value) - place(0), 8, color + "66")
        plot.line(place(low), y, place(high), y, color, 2)
        plot.dot(place(value), y, color, 3.5)
    return plot.svg()


def ddp() -> str:
    """A step of DataParallel on two ranks over one of PyTorch's DistributedDataParallel."""
    rows = [row for table in tables("benchmarks.md", "AMD, AVX-512") for row in table if row[0].endswith("2 ranks")]
    plot = Plot("A training step on two ranks, relative to DDP's")
    top, marks = plot.y, []
    for row in rows:
        plot.y += 18
        words = f"{row[0].partition(', 2 ranks')[0]}: {row[1]} ms; DDP {row[2]} ms"
        plot.text(LEFT, plot.y, words)
        plot.y += 10
        marks.append((plot.y, numbers(row[3])[0], *numbers(row[4])))
    plot.y += 8
    body, plot.parts = plot.parts, []
    place = scale(plot, 0, 1, [0, 0.25, 0.5, 0.75, 1], "time relative to PyTorch's DDP on gloo, with 10 to 90 %", top)
    plot.parts += body
    for y, value, low, high in marks:
        plot.bar(place(0), y - 4, place(value) - place(0), 8, COLORS[0] + "66")
        plot.line(place(low), y, place(high), y, COLORS[0], 2)
        plot.dot(place(value), y, COLORS[0], 3.5)
    return plot.svg()


def predicted() -> str:
    """Predicted steps over measured ones, in logarithms."""
    _, *rows = csv.reader((DOCS / "site/predicted.csv").read_text().splitlines())
    points = [(row[0], numbers(row[3])[0], numbers(row[5])[0]) for row in rows if "left out" not in row[4]]
    plot = Plot("Predicted and measured steps, ms")
    top, size = plot.y + 8, RIGHT - LEFT - 30
    low, high = 3.0, 300.0

    def at(value: float) -> float:
        return size * math.log(value / low) / math.log(high / low)

    left, bottom = LEFT + 30, top + size
    plot.line(left, bottom, left + size, top, "#999")
    for tick in (3, 10, 30, 100, 300):
        plot.line(left, bottom - at(tick), left + size, bottom - at(tick), "#ddd")
        plot.line(left + at(tick), bottom, left + at(tick), top, "#ddd")
        plot.text(left - 5, bottom - at(tick) + 4, f"{tick}", anchor="end", color="#555")
        plot.text(left + at(tick), bottom + 14, f"{tick}", anchor="middle" if tick < high else "end", color="#555")
    kinds = [
        ("one host", ("1 rank", "shared memory", "MPI's messages", "4 ranks on 2 cores")),
        ("TCP", ("TCP",)),
        ("a slow network", ()),
    ]
    for network, measured, value in points:
        kind = next((k for k, (_, names) in enumerate(kinds) if network in names), 2)
        plot.dot(left + at(measured), bottom - at(value), COLORS[kind], 3)
    plot.y = bottom + 30
    plot.text(left + size / 2, plot.y, "measured (across), predicted (up)", anchor="middle", color="#555")
    plot.legend([name for name, _ in kinds])
    return plot.svg()


PLOTS = {"ddp": ddp, "one_to_two": one_to_two, "predicted": predicted}

if __name__ == "__main__":
    for name, draw in PLOTS.items():
        path = DOCS / "pictures" / f"{name}.svg"
        path.write_text(draw())
        print(path)
