"""What each process of training.py writes down, and what follows from it: which steps are valid, and on which samples.

A process appends lines to a file of its own, NUMBER.lines, one write a line, so that what it wrote stays when it is killed:

    up       it begins                                   member   it begins an attempt as a rank of so many
    kept     it is where the last finished step left off: `first` is the number of the attempt's first step
    batch    it has the samples of a step                stepped  the step is finished
    end      all steps are done: how many

A step of an attempt is valid if its number is below the first steps of all later attempts: after a death the others do the
rest again. The valid steps of all attempts are the run.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Line = dict[str, Any]


class Journal:
    """Of this process."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / f"{os.getpid()}.lines", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def write(self, what: str, **fields: Any) -> None:
        """Append a line."""
        os.write(self._file, (json.dumps({"what": what, "time": time.monotonic(), **fields}) + "\n").encode())


class Reader:
    """The lines of all processes in a folder, as they are written."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lines, self.size = folder, [], 0
        self._read: Counter[Path] = Counter()        # bytes of each file

    def more(self) -> list[Line]:
        """The new lines. One that has no end yet waits."""
        new = []
        for path in self.folder.glob("*.lines"):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                file.seek(self._read[path])
                whole = file.read()
                whole = whole[:whole.rfind(b"\n") + 1]
                self._read[path] += len(whole)
                new += [{"process": int(path.stem), **json.loads(line)} for line in whole.splitlines()]
        self.lines += new
        return new


class Step(NamedTuple):
    """A valid step: its samples rank by rank, and the processes that were these ranks."""

    number: int
    attempt: int
    epoch: int
    shares: tuple[list[int], ...]
    processes: tuple[int, ...]


class History:
    """The run that the lines tell of. problems: what contradicts; lost and doubled: how many samples of an epoch were not
    used by a valid step, or more than once."""

    def __init__(self, lines: Iterable[Line], samples: int) -> None:
        self.lines, self.samples = sorted(lines, key=lambda line: line["time"]), samples
        self.problems: list[str] = []
        self.lost = self.doubled = 0
        self.first = {attempt: self._one(attempt, "kept", "first") for attempt in self.attempts("kept")}
        self.size = {attempt: self._one(attempt, "member", "size") for attempt in self.attempts("member")}
        self.ends = {line["steps"] for line in self.lines if line["what"] == "end"}
        if len(self.ends) != 1 or not all(self.ends):
            self.problems.append(f"the run ended after {sorted(self.ends) or 'no'} steps")
        self.steps = self._valid()
        self._samples_of_epochs()

    def attempts(self, what: str) -> list[int]:
        """The attempts of which there are such lines."""
        return sorted({line["attempt"] for line in self.lines if line["what"] == what})

    def of(self, attempt: int, what: str) -> list[Line]:
        """The lines of an attempt."""
        return [line for line in self.lines if line["what"] == what and line["attempt"] == attempt]

    def _one(self, attempt: int, what: str, name: str) -> int:
        """A number of an attempt that all its ranks must have alike."""
        found = {line[name] for line in self.of(attempt, what)}
        if len(found) > 1:
            self.problems.append(f"attempt {attempt}: ranks have {name} = {sorted(found)}")
        return min(found)

    def _valid(self) -> list[Step]:
        """The valid steps in order."""
        ends = {attempt: min([first for later, first in self.first.items() if later > attempt] + [max(self.ends, default=0)])
                for attempt in self.first}
        shares: dict[tuple[int, int], list[Line]] = {}
        for line in self.lines:
            if line["what"] == "batch" and line["step"] < ends.get(line["attempt"], 0):
                shares.setdefault((line["step"], line["attempt"]), []).append(line)
        steps = []
        for (number, attempt), found in sorted(shares.items()):
            found.sort(key=lambda line: line["rank"])
            ranks, of, epochs = [line["rank"] for line in found], {line["size"] for line in found}, {line["epoch"] for line in found}
            if len(of) != 1 or ranks != list(range(self.size[attempt])) or of != {self.size[attempt]} or len(epochs) != 1:
                self.problems.append(f"step {number} of attempt {attempt}: ranks {ranks} of {sorted(of)}, epochs {sorted(epochs)}")
            steps.append(Step(number, attempt, min(epochs), tuple(line["ids"] for line in found), tuple(line["process"] for line in found)))
        numbers = [step.number for step in steps]
        if numbers != list(range(max(self.ends, default=0))):
            wrong = sorted((Counter(numbers) - Counter(range(len(numbers)))) | (Counter(range(len(numbers))) - Counter(numbers)))
            self.problems.append(f"{len(numbers)} valid steps of {sorted(self.ends)}; wrong are {wrong[:5]}")
        return steps

    def _samples_of_epochs(self) -> None:
        """Whether each epoch has each sample once."""
        used: dict[int, Counter[int]] = {}
        for step in self.steps:
            used.setdefault(step.epoch, Counter()).update(number for share in step.shares for number in share)
        whole = Counter(range(self.samples))
        for epoch in range(max(used, default=0) + 1):
            lost, doubled = whole - used.get(epoch, Counter()), used.get(epoch, Counter()) - whole
            self.lost, self.doubled = self.lost + lost.total(), self.doubled + doubled.total()
            if lost or doubled:
                self.problems.append(f"epoch {epoch}: samples {sorted(lost)[:5]} are lost, {sorted(doubled)[:5]} doubled or unknown")

    def redone(self) -> int:
        """The most finished steps that were done again after a death."""
        found = [0]
        for attempt, first in self.first.items():
            before = [line["step"] for line in self.lines if line["what"] == "stepped" and line["attempt"] < attempt]
            found.append(max(before, default=-1) + 1 - first)
        return max(found)

    # --- times ------------------------------------------------------------------------------------------------------------

    def went_on(self, attempt: int) -> float:
        """When the last rank of an attempt was at work: it has its first batch, or all steps were done. inf if some never were."""
        members = {line["process"]: line["rank"] for line in self.of(attempt, "member")}
        begun: dict[int, float] = {}
        for line in self.of(attempt, "batch") + self.of(attempt, "end"):
            begun[line["process"]] = min(begun.get(line["process"], np.inf), line["time"])
        complete = len(members) == self.size.get(attempt) and set(begun) == set(members)
        return max(begun.values()) if complete else np.inf

    def recovery(self, process: int) -> tuple[int, float]:
        """The first attempt after those of a dead process in which all ranks were at work, and when; (-1, inf) if none."""
        was = max((line["attempt"] for line in self.lines if line["process"] == process and line["what"] == "member"), default=-1)
        for attempt in self.attempts("member"):
            if attempt > was and np.isfinite(at := self.went_on(attempt)):
                return attempt, at
        return -1, np.inf

    def growth(self, attempt: int, size: int) -> float:
        """When a later attempt (or this one) had so many ranks at work; inf if none had."""
        later = [self.went_on(a) for a in self.attempts("member") if a >= attempt and self.size[a] >= size]
        return min(later, default=np.inf)
