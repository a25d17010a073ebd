"""The memory of arrays over time, by what it is for: the timeline that profile.export_memory_timeline() writes.

What an allocation is for follows from the span in which it was made, and whether it outlived that: of a backward pass
gradients, or else details of autograd; of an optimiser's step its state; of a wait for a DataLoader an input; of other
operations activations. What is released in the span that made it is temporary. Releases of what was there before are of no
category, nor are allocations outside of all spans.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from ..core.spans import FUNCTION, MEMORY, OPERATION, PASS, names, number_of
from .chrome import open_text
from .collect import END, NUMBER, PARENT, SEQUENCE, START, A, Thread

# PyTorch's categories in the order of its files, with a colour each; the last one is "none of them"
CATEGORIES = {"PARAMETER": "#2e7d32", "OPTIMIZER_STATE": "#daa520", "INPUT": "#222222", "TEMPORARY": "#9370db",
              "ACTIVATION": "#d32f2f", "GRADIENT": "#1a3fb0", "AUTOGRAD_DETAIL": "#4f7fe0", "UNKNOWN": "#9e9e9e"}
INDEX = {name: place for place, name in enumerate(CATEGORIES)}
ALLOCATION = number_of("[memory]", MEMORY)
PREEXISTING, CREATE, DESTROY = 1, 2, 4               # PyTorch's numbers of actions
Owner = tuple[str, int]                              # what an allocation is for if it outlives a span, and the span's end


class Change(NamedTuple):
    """Bytes that were allocated or, negative, released at a time in nanoseconds."""

    time: int
    action: int
    size: int
    category: int


def changes(threads: list[Thread], since: int) -> list[Change]:
    """All changes, in order; what is released without having been allocated is there from `since` on."""
    rows = sorted((tuple(row), owner_of(thread, row)) for thread in threads
                  for row in thread.spans[thread.spans[:, NUMBER] == ALLOCATION].tolist())
    rows.sort(key=lambda pair: pair[0][START])
    found: list[Change] = []
    open_ones: dict[int, tuple[int, Owner]] = {}     # by address: its place in found, and the owner
    before: list[Change] = []
    for row, owner in rows:
        time, size, address = row[START], row[A], row[SEQUENCE]
        if size >= 0:
            open_ones[address] = len(found), owner
            found.append(Change(time, CREATE, size, INDEX[owner[0]]))
            continue
        made = open_ones.pop(address, None)
        if made is None:
            before.append(Change(since, PREEXISTING, -size, INDEX["UNKNOWN"]))
            found.append(Change(time, DESTROY, size, INDEX["UNKNOWN"]))
            continue
        place, (category, end) = made
        if time <= end:
            category = "AUTOGRAD_DETAIL" if category == "GRADIENT" else "TEMPORARY"
            found[place] = found[place]._replace(category=INDEX[category])
        found.append(Change(time, DESTROY, size, INDEX[category]))
    return before + found


def owner_of(thread: Thread, row: Any) -> Owner:
    """What an allocation in the span row[PARENT] is for, and when the span ends that made it."""
    owner: Owner = "UNKNOWN", 0
    place = row[PARENT]
    while place >= 0:
        span = thread.spans[place]
        name, kind = names[span[NUMBER]]
        if kind == PASS:
            return "GRADIENT", int(span[END])
        if name.startswith("Optimizer.step#"):
            return "OPTIMIZER_STATE", int(span[END])
        if name.startswith("enumerate(DataLoader)#"):
            return "INPUT", 0
        if kind in (OPERATION, FUNCTION):
            owner = "ACTIVATION", int(span[END])
        place = span[PARENT]
    return owner


def timeline(found: list[Change]) -> tuple[list[int], list[list[int]]]:
    """Times in microseconds, and at each the bytes of each category, after a 0, as PyTorch's files have them."""
    times: list[int] = []
    sizes: list[list[int]] = []
    for change in found:
        time = change.time // 1000
        if not times or time != times[-1]:
            times.append(time)
            sizes.append(sizes[-1].copy() if sizes else [0] * (len(CATEGORIES) + 1))
        sizes[-1][change.category + 1] += change.size
    return times, sizes


def export(path: str, found: list[Change]) -> None:
    """Write a timeline: a plot (.html), or JSON of points (.json, .json.gz) or single changes (.raw.json.gz)."""
    with open_text(path) as file:
        if path.endswith(".html"):
            file.write(page(*timeline(found)))
        elif ".raw.json" in path:
            json.dump(found, file)
        else:
            json.dump(timeline(found), file)


def page(times: list[int], sizes: list[list[int]]) -> str:
    """A page with the timeline as stacked areas; it needs no other file."""
    width, height = 1000, 400
    at = np.array(times or [0], float)
    held = np.array(sizes or [[0] * (len(CATEGORIES) + 1)], float)[:, 1:].clip(0)
    tops = held.cumsum(1)
    peak = max(tops[:, -1].max(), 1.0)
    x = (at - at[0]) / max(at[-1] - at[0], 1) * width
    bottom = np.zeros(len(x))
    areas, legend = [], []
    for place, (name, colour) in enumerate(CATEGORIES.items()):
        edge = [*zip(x, tops[:, place], strict=True), *zip(x[::-1], bottom[::-1], strict=True)]
        points = " ".join(f"{a:.1f},{height - b / peak * height:.1f}" for a, b in edge)
        areas.append(f'<polygon points="{points}" fill="{colour}"><title>{name}</title></polygon>')
        legend.append(f'<span style="color:{colour}">&#9632;</span> {name} (at most {held[:, place].max() / 1e6:.2f} MB)')
        bottom = tops[:, place]
    moment = x[tops[:, -1].argmax()] / width * max(at[-1] - at[0], 1) / 1e3
    return (f'<!doctype html><meta charset="utf-8"><title>Memory of arrays</title><body style="font-family:sans-serif">'
            f"<h3>Memory of arrays: at most {peak / 1e6:.2f} MB, {moment:.3f} ms after the start</h3>"
            f'<svg viewBox="0 0 {width} {height}" width="100%">{"".join(areas)}</svg><p>{"<br>".join(legend)}</p></body>\n')


__all__ = ["CATEGORIES", "Change", "changes", "export", "timeline"]
