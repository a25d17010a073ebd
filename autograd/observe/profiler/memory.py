"""The memory of arrays over time, by what it is for: the timeline of profile.export_memory_timeline(), and the peak.

What was there when a recording began, and what is left when it has ended, inventory.py finds by its holders. What an
allocation in between is for follows from the span in which it was made, and whether it outlived that: of a backward pass
gradients, or else gradients of activations; of an optimizer's step its state; of a wait for a DataLoader an input; of other
operations activations. What is released in the span that made it is temporary."""

from __future__ import annotations

import html
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...spans.spans import BACKWARD, FUNCTION, MEMORY, MODULE, OPERATION, PASS, names, number_of
from .chrome import open_text
from .collect import END, NUMBER, PARENT, SEQUENCE, START, A, Thread, links
from .inventory import USES, Claim, Holding, Inventory

# PyTorch's categories in the order of its files, with a colour each; the last one is "none of them"
CATEGORIES = {"PARAMETER": "#2e7d32", "OPTIMIZER_STATE": "#daa520", "INPUT": "#222222", "TEMPORARY": "#9370db",
              "ACTIVATION": "#d32f2f", "GRADIENT": "#1a3fb0", "AUTOGRAD_DETAIL": "#4f7fe0", "UNKNOWN": "#9e9e9e"}
INDEX = {name: place for place, name in enumerate(CATEGORIES)}
ON_THE_WAY, TEMPORARY = "gradients of activations", "temporary"
CATEGORY_OF = {"parameters": "PARAMETER", "buffers": "PARAMETER", "gradient buckets": "GRADIENT", "gradients": "GRADIENT",
               "optimizer state": "OPTIMIZER_STATE", "workspaces": "TEMPORARY", "activations": "ACTIVATION",
               "other tensors": "INPUT", "other arrays": "UNKNOWN", "freed memory": "TEMPORARY",
               ON_THE_WAY: "AUTOGRAD_DETAIL", TEMPORARY: "TEMPORARY"}
CERTAIN = tuple(USES)[:7]                            # uses known to an inventory, whichever operation created the array
ALLOCATION = number_of("[memory]", MEMORY)
PREEXISTING, CREATE, DESTROY = 1, 2, 4               # PyTorch's numbers of actions


class Recorded(NamedTuple):
    """One recording, with the memory before and after it."""

    threads: list[Thread]
    started: int
    stopped: int
    before: Inventory
    after: Inventory
    modules: dict[int, str]                          # full names, by id
    peak: int | None                                 # the maximum counted by the system during it; None: unknown
    pooled: list[tuple[int, int]]                    # when addresses were given to arrays in blocks


class Change(NamedTuple):
    """Bytes that were allocated or, negative, released at a time in nanoseconds."""

    time: int
    action: int
    size: int
    use: str
    label: tuple[str, ...]                           # of memory allocated in a span: module and operation
    place: tuple[int, int]                           # thread and row of the allocation, or (-1, -1)


class Peak(NamedTuple):
    """The moment at which arrays held most."""

    nbytes: int
    seconds: float                                   # since the recording began
    step: int                                        # number of completed optimizer steps
    phase: str                                       # forward, backward, optimizer, data, or "" outside of all
    module: str
    operation: str
    by_use: dict[str, int]                           # of arrays
    holdings: list[Holding]                          # by module and operation, the largest first
    resident: int | None                             # bytes of the process then, by its use at the beginning
    system_peak: int | None                          # the maximum counted by the system, if it was in this recording

    @property
    def moment(self) -> str:
        """When and where, in words."""
        where = f"{self.operation or 'no operation'}{f' of {self.module}' if self.module else ''}"
        phase = f"in {self.phase}, " if self.phase else ""
        return f"{self.seconds * 1e3:.1f} ms after the start, {phase}after {self.step} optimizer steps: {where}"

    def summary(self, rows: int = 10) -> str:
        """The peak as a text."""
        lines = [f"Peak of array memory: {in_mb(self.nbytes)}, {self.moment}"]
        lines += [f"  {use:<24} {in_mb(size):>12}" for use, size in self.by_use.items() if size]
        shown = [h for h in self.holdings if h.label][:rows]
        lines += ["of which were made by" if shown else "", *(
            f"  {in_mb(h.resident):>12}  {h.use}: {h.label[1]}{f' of {h.label[0]}' if h.label[0] else ''}" for h in shown)]
        if self.resident is not None:
            lines.append(f"The process then had about {in_mb(self.resident)} in RAM" + (
                f"; at most it had {in_mb(self.system_peak)}." if self.system_peak else "."))
        return "\n".join(line for line in lines if line)

    def __str__(self) -> str:
        return self.summary()


def in_mb(size: int) -> str:
    """Bytes in millions."""
    return f"{size / 1e6:,.2f} MB"


# --- allocations and releases ------------------------------------------------------------------------------------------

class Owner(NamedTuple):
    """The use of an allocation that outlives a span, and the end of the span."""

    use: str
    end: int
    label: tuple[str, ...]


class Places:
    """The module, operation and phase of each row of a recording."""

    def __init__(self, threads: list[Thread], modules: dict[int, str]) -> None:
        self.threads: list[Thread] = threads
        self.modules: dict[int, str] = modules
        self.made: dict[tuple[int, int], tuple[int, int]] = {ran: made for made, ran in links(threads)}

    def around(self, thread: int, row: int) -> Iterator[int]:
        """The rows of the enclosing spans of a row, the innermost first."""
        spans = self.threads[thread].spans
        row = int(spans[row, PARENT])
        while row >= 0:
            yield row
            row = int(spans[row, PARENT])

    def label(self, thread: int, row: int) -> tuple[str, str]:
        """The full name of the module, and the operation; of a node in backward those of its call, and its name."""
        spans = self.threads[thread].spans
        operation = ""
        for outer in self.around(thread, row):
            name, kind = names[spans[outer, NUMBER]]
            if kind == BACKWARD:
                made = self.made.get((thread, outer))
                return (self.label(*made)[0] if made is not None else ""), name
            if kind == MODULE:
                return self.modules.get(int(spans[outer, A]), ""), operation
            if kind in (OPERATION, FUNCTION) and not name.startswith("autograd::engine::"):
                operation = name
        return "", operation

    def owner(self, thread: int, row: int) -> Owner:
        """The use of an allocation in a row."""
        spans = self.threads[thread].spans
        owner = Owner("other arrays", 0, ())
        for outer in self.around(thread, row):
            name, kind = names[spans[outer, NUMBER]]
            end = int(spans[outer, END])
            if kind == PASS:
                return Owner("gradients", end, self.label(thread, row))
            if name.startswith("Optimizer.step#"):
                return Owner("optimizer state", end, ())
            if name.startswith("enumerate(DataLoader)#"):
                return Owner("other tensors", 0, ())
            if kind in (OPERATION, FUNCTION):
                owner = Owner("activations", end, self.label(thread, row))
        return owner

    def phase(self, thread: int, row: int) -> str:
        """The part of a step in which a row is."""
        spans = self.threads[thread].spans
        found = ""
        for outer in self.around(thread, row):
            name, kind = names[spans[outer, NUMBER]]
            if kind == PASS:
                return "backward"
            if name.startswith("Optimizer."):
                return "optimizer"
            if name.startswith("enumerate(DataLoader)#"):
                return "data"
            if kind in (OPERATION, FUNCTION, MODULE):
                found = "forward"
        return found


class Stretches:
    """The holders of addresses, by an inventory."""

    def __init__(self, inventory: Inventory) -> None:
        self.stretches: list[tuple[int, int, Claim]] = inventory.stretches
        self.starts: list[int] = [start for start, _, _ in self.stretches]

    def within(self, start: int, size: int) -> Iterator[tuple[int, Claim]]:
        """The holders of parts of a stretch, with the bytes of each."""
        place = max(bisect_right(self.starts, start) - 1, 0)
        for first, last, claim in self.stretches[place:]:
            if first >= start + size:
                return
            common = min(last, start + size) - max(first, start)
            if common > 0:
                yield common, claim


def changes(recorded: Recorded) -> list[Change]:
    """All changes of a recording, in order, after the memory that existed before."""
    threads = recorded.threads
    places = Places(threads, recorded.modules)
    before, after = Stretches(recorded.before), Stretches(recorded.after)
    rows = [(tuple(spans[row].tolist()), (number, int(row))) for number, thread in enumerate(threads)
            for spans in [thread.spans] for row in np.flatnonzero(spans[:, NUMBER] == ALLOCATION)]
    rows.sort(key=lambda pair: pair[0][START])
    there = [Change(recorded.started, PREEXISTING, end - start, claim.use, shown(claim.label), (-1, -1))
             for start, end, claim in recorded.before.stretches]
    found: list[Change] = []
    open_ones: dict[int, tuple[int, Owner]] = {}     # by address: its index in found, and the owner
    for row, place in rows:
        time, size, address = row[START], row[A], row[SEQUENCE]
        if size >= 0:
            owner = places.owner(*place)
            open_ones[address] = len(found), owner
            found.append(Change(time, CREATE, size, owner.use, owner.label, place))
            continue
        made = open_ones.pop(address, None)
        if made is None:
            left = -size
            for common, claim in before.within(address, -size):
                found.append(Change(time, DESTROY, -common, claim.use, shown(claim.label), place))
                left -= common
            if left:                                 # of memory without a known holder
                there.append(Change(recorded.started, PREEXISTING, left, "other arrays", (), (-1, -1)))
                found.append(Change(time, DESTROY, -left, "other arrays", (), place))
            continue
        number, owner = made
        if time <= owner.end:
            use = ON_THE_WAY if owner.use == "gradients" else TEMPORARY
            found[number] = found[number]._replace(use=use)
        found.append(Change(time, DESTROY, size, found[number].use, found[number].label, place))
    for address, (number, _) in open_ones.items():
        parts = Counter({claim.use: 0 for _, claim in after.within(address, found[number].size)})
        for common, claim in after.within(address, found[number].size):
            parts[claim.use] += common
        use = max(parts, key=parts.__getitem__, default="")
        if use in CERTAIN:
            found[number] = found[number]._replace(use=use)
    return there + found


def shown(label: tuple[str, ...]) -> tuple[str, ...]:
    """A label of an inventory, if it names a module and an operation."""
    return label if len(label) == 2 else ()


def ended(found: list[Change], time: int) -> list[Change]:
    """The changes, and at the end the release of everything that remains, with which the next recording begins."""
    left: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for change in found:
        left[change.use, change.label] += change.size
    return found + [Change(time, DESTROY, -size, use, label, (-1, -1)) for (use, label), size in left.items() if size]


def all_changes(recordings: Sequence[Recorded]) -> list[Change]:
    """The changes of several recordings."""
    *first, last = recordings
    return [change for each in first for change in ended(changes(each), each.stopped)] + changes(last)


def peak_of(recorded: Recorded) -> Peak:
    """The moment of a recording at which arrays held most."""
    found = changes(recorded)
    held = np.cumsum([change.size for change in found]) if found else np.zeros(1, np.int64)
    started = sum(change.action == PREEXISTING for change in found)
    top = max(int(held[max(started - 1, 0):].argmax()) + max(started - 1, 0), 0)
    by_use: Counter[str] = Counter()
    sums: Counter[tuple[str, tuple[str, ...]]] = Counter()
    counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for change in found[:top + 1]:
        by_use[change.use] += change.size
        sums[change.use, change.label] += change.size
        counts[change.use, change.label] += 1 if change.size >= 0 else -1
    module, operation, phase, time = "", "", "", recorded.started
    if found:
        time = found[top].time
        if found[top].place[0] >= 0:
            places = Places(recorded.threads, recorded.modules)
            module, operation = places.label(*found[top].place)
            phase = places.phase(*found[top].place)
    steps = sum(int(end) <= time for thread in recorded.threads for number, end in thread.spans[:, [NUMBER, END]]
                if names[number][0].startswith("Optimizer.step#"))
    holdings = sorted((Holding(*key, size, size, counts[key]) for key, size in sums.items() if size > 0),
                      key=lambda holding: -holding.resident)
    before = recorded.before
    resident = None
    if before.resident is not None:
        arrays = sum(before.by_use[use] for use in USES)
        resident = before.resident - before.by_use["freed memory"] - arrays + int(held[top])
    by_use_in_order = {use: by_use[use] for use in (*USES, "freed memory", ON_THE_WAY, TEMPORARY) if by_use[use]}
    return Peak(int(held[top]), (time - recorded.started) / 1e9, steps, phase, module, operation, by_use_in_order, holdings,
                resident, recorded.peak)


# --- files --------------------------------------------------------------------------------------------------------------

def timeline(found: list[Change]) -> tuple[list[int], list[list[int]]]:
    """Times in microseconds, and at each time the bytes of each category, after a 0, as in PyTorch's files."""
    times: list[int] = []
    sizes: list[list[int]] = []
    for change in found:
        time = change.time // 1000
        if not times or time != times[-1]:
            times.append(time)
            sizes.append(sizes[-1].copy() if sizes else [0] * (len(CATEGORIES) + 1))
        sizes[-1][INDEX[CATEGORY_OF[change.use]] + 1] += change.size
    return times, sizes


def export(path: str, recordings: Sequence[Recorded]) -> None:
    """Write a timeline: a plot (.html), or JSON of points (.json, .json.gz) or single changes (.raw.json.gz)."""
    found = all_changes(recordings)
    with open_text(path) as file:
        if path.endswith(".html"):
            peaks = [peak_of(each) for each in recordings]
            file.write(page(*timeline(found), max(peaks, key=lambda p: p.nbytes).summary()))
        elif ".raw.json" in path:
            json.dump([(c.time, c.action, c.size, INDEX[CATEGORY_OF[c.use]]) for c in found], file)
        else:
            json.dump(timeline(found), file)


def page(times: list[int], sizes: list[list[int]], text: str) -> str:
    """A self-contained page with the timeline as stacked areas, and a description of its peak."""
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
    place = x[tops[:, -1].argmax()]
    line = f'<line x1="{place:.1f}" x2="{place:.1f}" y1="0" y2="{height}" stroke="black" stroke-dasharray="4"/>'
    moment = x[tops[:, -1].argmax()] / width * max(at[-1] - at[0], 1) / 1e3
    return (f'<!doctype html><meta charset="utf-8"><title>Memory of arrays</title><body style="font-family:sans-serif">'
            f"<h3>Memory of arrays: at most {peak / 1e6:.2f} MB, {moment:.3f} ms after the start</h3>"
            f'<svg viewBox="0 0 {width} {height}" width="100%">{"".join(areas)}{line}</svg><p>{"<br>".join(legend)}</p>'
            f"<pre>{html.escape(text)}</pre></body>\n")
