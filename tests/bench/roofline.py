"""How much of a training step is matrix products and convolutions alone, and what the rest is: a part of docs/benchmarks.md.

    python tests/bench/roofline.py [--case gpt] [--busy] [--print]

One step's calls of the kernels are caught with their arguments and timed by themselves, in the same order, in turn with
whole steps; products inside compiled code, of recurrent layers, as products of the same shapes. The roof is one figure for all
cases: the fastest product of 512 x 512 that was seen in this run, before, between and after them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from caught import Call, catching
from hotspots import hottest
from machine import machine
from models import MODELS, seeded
from runs import ROOT, Run, environment, measured
from table import conditions, milliseconds, write_between

import autograd
from autograd.kernels.products import product

PAGE = ROOT / "docs" / "benchmarks.md"
PHASES = ("forward", "backward", "optimizer")


class Phased:
    """A training step in its phases, and the kernels' calls of one such step."""

    def __init__(self, case: str, clock: Callable[[], float]) -> None:
        autograd.manual_seed(0)
        module, self.batch, self.loss_of, optimizer_of = MODELS[case](autograd, 0, 1)
        self.model = seeded(autograd, module)
        self.optimizer, self.clock = optimizer_of(self.model.parameters()), clock
        for _ in range(5):
            self.step()
        self.calls: dict[str, list[Call]] = {phase: [] for phase in PHASES}
        with catching() as caught:
            self.step(lambda phase: self.calls[phase].extend(caught.taken()))

    def step(self, after: Callable[[str], Any] = lambda phase: None) -> list[float]:
        """One step: the time at its beginning and after each phase."""
        marks = [self.clock()]
        self.optimizer.zero_grad()
        loss = self.loss_of(self.model, *self.batch)
        marks.append(self.clock())
        after("forward")
        loss.backward()
        marks.append(self.clock())
        after("backward")
        self.optimizer.step()
        marks.append(self.clock())
        after("optimizer")
        return marks

    def alone(self) -> list[float]:
        """The kernels' calls by themselves, in the same form."""
        marks = [self.clock()]
        for calls in self.calls.values():
            for call in calls:
                call.repeat()
            marks.append(self.clock())
        return marks


def peak(clock: Callable[[], float]) -> float:
    """FLOP/s of a product of 512 x 512."""
    x = np.ones((512, 512), np.float32)
    times = []
    for _ in range(30):
        start = clock()
        product(x, x)
        times.append(clock() - start)
    return 2 * 512**3 / min(times)


def analysed(case: str, seconds: float, busy: bool) -> dict[str, Any]:
    """One case: seconds of each phase, of its kernels alone, their arithmetic, and where the rest is."""
    clock = time.process_time if busy else time.perf_counter
    phased = Phased(case, clock)
    steps, alone = [], []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(steps) < 5:
        steps.append(np.diff(phased.step()))
        alone.append(np.diff(phased.alone()))
    calls = [call for found in phased.calls.values() for call in found]
    speed = peak(clock)
    torch = None
    if importlib.util.find_spec("torch") is not None:
        torch = statistics.median(measured(Run(case, "tuned"), seconds / 3, busy)["time"] for _ in range(3))
    return {"case": case, "step": medians(steps), "alone": medians(alone), "calls": len(calls), "torch": torch,
            "flops": sum(call.flops for call in calls), "hottest": hottest(phased.step), "peak": max(speed, peak(clock))}


def medians(marks: list[Any]) -> list[float]:
    """Of each phase."""
    return np.median(np.array(marks), axis=0).tolist()


def row(found: dict[str, Any], roof: float) -> str:
    """Of the page's table. roof: FLOP/s."""
    step, alone = sum(found["step"]), sum(found["alone"])
    rest = [max(0.0, a - b) for a, b in zip(found["step"], found["alone"], strict=True)]
    torch = "" if found["torch"] is None else f"{step / found['torch']:.2f} | {alone / found['torch']:.2f}"
    cells = [found["case"], milliseconds(step * 1e6), f"{milliseconds(alone * 1e6)} ({alone / step:.0%})",
             milliseconds(found["flops"] / roof * 1e6), str(found["calls"]), *(milliseconds(r * 1e6) for r in rest)]
    return "| " + " | ".join(cells) + f" | {torch or ' | '} |"


def page(found: list[dict[str, Any]], conditions: str) -> str:
    """The page's part."""
    roof = max(f["peak"] for f in found)
    lines = [conditions, "",
             "*Kernels alone* are the matrix products and convolutions of one step, also those inside compiled recurrent layers, "
             f"called again by themselves. *At the roof* is their arithmetic at {roof / 1e9:.0f} GFLOP/s, the fastest product of "
             "512 x 512 in this run. The rest of a step is elementwise arithmetic, reductions, copies and the graph. The last column "
             "is the ratio to PyTorch that the kernels alone would give.", "",
             "| case | step, ms | kernels alone, ms | at the roof, ms | calls | rest of forward, ms | of backward | of optimizer | ratio to "
             "PyTorch | kernels alone |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|", *(row(f, roof) for f in found), "",
             "Most of the time outside these kernels, by cProfile (own time of the file's functions with their NumPy calls, "
             "as a share of the time outside kernels):", ""]
    return "\n".join([*lines, *(f"- {f['case']}: {', '.join(f'{name} {share:.0%}' for name, share in f['hottest'])}" for f in found)])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", choices=list(MODELS), action="append")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--busy", action="store_true", help="processor time, for a busy machine")
    parser.add_argument("--print", action="store_true", help="only print")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if environment() != dict(os.environ):            # one thread, for which libraries read the environment as they start
        os.execve(sys.executable, [sys.executable, *sys.argv], environment())
    about = machine() | {"rounds": 3}
    found = [analysed(case, options.seconds, options.busy) for case in options.case or MODELS]
    text = page(found, conditions({"machine": about, "rounds": 3, "busy": options.busy}))
    print(text)
    if options.json:
        options.json.write_text(json.dumps({"machine": about, "rows": found}, indent=1) + "\n")
    if not options.print and not options.case:
        write_between(PAGE, "roofline", text)


if __name__ == "__main__":
    main()
