"""Kills ranks of jobs under dprun --survive, and checks what becomes of them: python tests/survival/kills.py [--kills 300].

MLP, CNN and GPT in float64, plain and in all stages of sharding, on 3 and 4 ranks, some of which are replaced (--grow). Ranks
are killed at random times, and at moments that they pass (killing.py); two at once; while the others recover; frozen. Of each
job it is checked that it goes on and ends, that each epoch has each sample once, and that the weights are those of one process
that took the same steps (1e-12). The tables are by moment and by job. What was wrong is told with its folder, which stays.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from killing import AGAIN, AT_A_MOMENT, IN_CHECKPOINTS, SPARE, Blow, Killer, Outcome, Plan, Recovery

TASKS, SHARDS = ("mlp", "cnn", "gpt"), ("none", "1", "2", "3", "zero")
GOALS = {"median": 0.3, "worst": 2.0, "grown": 5.0}          # seconds
KINDS = ("random time",) * 6 + AT_A_MOMENT + IN_CHECKPOINTS + AGAIN + ("two at once", "two at a moment") + ("during a recovery",) * 3 + ("frozen", "crash", "spare")
SIGNALS = {"random time": "SIGKILL", "frozen": "SIGSTOP", "crash": "SIGSEGV"}
UNTIMED = ("frozen", "first construction", "spare")
TWO = {*AGAIN, "two at once", "two at a moment", "during a recovery"}       # kinds that take two ranks


def blow(kind: str, size: int, rng: random.Random) -> Blow:
    """One of this kind, on so many ranks."""
    one, other = rng.sample(range(size), 2)
    times = rng.choice((0, 0, 1, 2, 3))
    if kind in SIGNALS:
        return Blow(kind, signals=[(0.0, one)], signal=SIGNALS[kind])
    if kind == "spare":
        return Blow(kind, signals=[(0.0, SPARE)])
    if kind == "two at once":
        return Blow(kind, signals=[(0.0, one), (0.0, other)])
    if kind == "two at a moment":
        moment = rng.choice(AT_A_MOMENT)
        return Blow(kind, orders=[{"moment": moment, "rank": rank} for rank in (one, other)])
    if kind == "during a recovery":
        return Blow(kind, signals=[(0.0, one), (rng.uniform(0, 0.25), other)])
    if kind in AGAIN:
        again = other if kind == "settling" else rng.randrange(size - 1)         # its rank before, or the new one
        return Blow(f"recovery: {kind}", orders=[{"moment": "batch", "rank": one, "times": 2}, {"moment": kind, "rank": again, "times": rng.randrange(2)}
                                                 if kind in ("settling", "putting back") else {"moment": kind, "rank": again}])
    return Blow(kind, orders=[{"moment": kind, "rank": one, "times": times}])


def plans(kills: int, seed: int, kinds: Iterable[str] = KINDS, grown: bool = True, tasks: Iterable[str] = TASKS,
          shards: Iterable[str] = SHARDS) -> list[Plan]:
    """Jobs with so many deaths in all: half of them in jobs that grow again."""
    rng = random.Random(seed)
    deck = shuffled([*kinds], rng)
    made, deaths = [], 0
    cases = list(itertools.product(tasks, shards))
    while deaths < kills:
        rng.shuffle(cases)
        for number, (task, shard) in enumerate(cases):
            grow = grown and (number + len(made) // len(cases)) % 4 == 3
            plan = Plan(task, shard, rng.choice((3, 4)), grow, rng.random() < 0.4, seed=rng.randrange(2**31))
            if grow and rng.random() < 0.3:
                plan.spares = 1
            fill(plan, 4 if grow else plan.size - 1, deck, rng)
            made.append(plan)
            deaths += plan.deaths
            if deaths >= kills:
                break
    return made


def fill(plan: Plan, deaths: int, deck: Iterator[str], rng: random.Random) -> None:
    """Give the plan blows with so many deaths in all."""
    if rng.random() < 0.15:
        plan.blows.append(Blow("first construction", orders=[{"moment": "construction", "rank": rng.randrange(plan.size)}]))
    while (left := deaths - plan.deaths) > 0:
        size = plan.size if plan.grow else left + 1
        kind = next(kind for kind in deck if (kind not in TWO or left > 1) and (kind not in IN_CHECKPOINTS or plan.checkpoints)
                    and (kind != "spare" or (plan.grow and plan.spares is None)))
        plan.blows.append(blow(kind, size, rng))


def short() -> list[Plan]:
    """Twelve deaths in four jobs, of most kinds, for the tests. The last one is left with one rank and no spare, and goes on in
    a new job, where a spare joins."""
    rng = random.Random(0)
    jobs = [(Plan("mlp", "none", 4), ("bucket in flight", "construction")),
            (Plan("gpt", "3", 3), ("frozen", "optimiser step")),
            (Plan("cnn", "zero", 4, checkpoints=True), ("two at once", "writing")),
            (Plan("mlp", "3", 3, grow=True, spares=1), ("random time", "construction", "between buckets"))]
    for plan, kinds in jobs:
        for kind in kinds:
            plan.blows.append(blow(kind, plan.size if plan.grow else plan.size - plan.deaths, rng))
    return [plan for plan, _ in jobs]


def shuffled(kinds: list[str], rng: random.Random) -> Iterator[str]:
    """All kinds in random order, again and again."""
    while True:
        yield from rng.sample(kinds, len(kinds))


# --- report -------------------------------------------------------------------------------------------------------------------


def milliseconds(values: Iterable[float], of: Callable[[list[float]], float]) -> str:
    """The median or the worst; nothing of nothing."""
    known = [value for value in values if np.isfinite(value)]
    return f"{1e3 * of(known):.0f}" if known else ""


def row(title: str, recoveries: list[Recovery], outcomes: list[Outcome]) -> str:
    """A line of a table."""
    deaths = [death for one in recoveries for death in one.deaths]
    seconds = [one.seconds for one in recoveries if one.grown == np.inf]
    hangs = sum(bool(one.hang) for one in outcomes)
    others = sum(bool(one.failed or one.problems) for one in outcomes)
    return (f"| {title} | {len(deaths)} | {sum(death.rank == 0 for death in deaths)} | {milliseconds(seconds, np.median)} | "
            f"{milliseconds(seconds, max)} | {milliseconds([one.grown for one in recoveries], max)} | {hangs} | {others} |")


def report(outcomes: list[Outcome]) -> str:
    """The tables, and the figures of the whole."""
    pairs = [(recovery, outcome) for outcome in outcomes for recovery in outcome.recoveries]
    heads = " | deaths | of rank 0 | recovery, ms, median | worst | as many ranks as before, worst | hangs | other mistakes |"
    lines = ["| moment" + heads, "|---|" + "---:|" * 7]
    # a job that failed did so at its last blow
    for name in sorted({recovery.name for recovery, _ in pairs}):
        mine = [(recovery, outcome) for recovery, outcome in pairs if recovery.name == name]
        lines.append(row(name, [recovery for recovery, _ in mine], [outcome for recovery, outcome in mine if recovery is outcome.recoveries[-1]]))
    lines += ["", "| job" + heads, "|---|" + "---:|" * 7]
    cases: dict[str, Callable[[Plan], Any]] = {"task": lambda p: p.task, "shard": lambda p: p.shard, "ranks": lambda p: p.size, "grow": lambda p: p.grow,
                                               "checkpoints": lambda p: p.checkpoints, "new jobs": lambda p: p.spares is not None}
    for name, of in cases.items():
        for value in sorted({of(outcome.plan) for outcome in outcomes}):
            mine = [outcome for outcome in outcomes if of(outcome.plan) == value]
            lines.append(row(f"{name} {value}", [one for outcome in mine for one in outcome.recoveries], mine))
    recoveries = [recovery for recovery, _ in pairs]
    lines.append(row("all", recoveries, outcomes))
    found = figures(outcomes)
    lines += ["", f"{found['jobs']} jobs, {found['deaths']} deaths, {found['hangs']} hangs, {found['failed']} other ends, {found['lost']} samples lost, "
              f"{found['doubled']} doubled; weights at most {found['distance']:.1e} away from those of one process ({found['wrong']} jobs "
              f"with mistakes); recovery {1e3 * found['median']:.0f} ms (median), {1e3 * found['worst']:.0f} ms (worst)"
              + (f", growing {found['grown']:.2f} s (worst)" if found["grown"] else "")]
    return "\n".join(lines)


def figures(outcomes: list[Outcome]) -> dict[str, Any]:
    """The figures of the whole. Not among the times of recovery are those from frozen ranks, which begin with the limit, first
    constructions, which end with all modules imported, and those in jobs that grow, where newcomers are waited for."""
    recoveries = [one for outcome in outcomes for one in outcome.recoveries]
    timed = [one.seconds for outcome in outcomes for one in outcome.recoveries if one.name not in UNTIMED and not outcome.plan.grow]
    ended = [outcome.distance for outcome in outcomes if not (outcome.hang or outcome.failed)]
    return {"jobs": len(outcomes), "deaths": sum(len(one.deaths) for one in recoveries), "hangs": sum(bool(o.hang) for o in outcomes),
            "failed": sum(bool(o.failed) for o in outcomes), "lost": sum(o.lost for o in outcomes), "doubled": sum(o.doubled for o in outcomes),
            "wrong": sum(bool(o.problems) for o in outcomes), "distance": max(ended, default=0.0),
            "median": float(np.median(timed)) if timed else 0.0, "worst": max(timed, default=0.0),
            "grown": max((one.grown for outcome in outcomes if outcome.plan.grow for one in outcome.recoveries if not np.isnan(one.grown)),
                         default=0.0)}


def reached(found: dict[str, Any]) -> bool:
    """Whether nothing was wrong, and the goals of time are reached."""
    right = not (found["hangs"] or found["failed"] or found["lost"] or found["doubled"] or found["wrong"])
    return right and all(found[name] < goal for name, goal in GOALS.items())


def told(outcome: Outcome) -> str:
    """A job in a line; what was wrong with it in more."""
    times = ", ".join(f"{one.name} {'+'.join(str(death.rank) for death in one.deaths)}: {1e3 * one.seconds:.0f}"
                      + (f" ({1e3 * one.grown:.0f})" if outcome.plan.grow else "") + " ms" for one in outcome.recoveries)
    wrong = [text for text in (outcome.failed, outcome.hang, *outcome.problems) if text]
    lines = [f"{'ok   ' if outcome.good else 'WRONG'} {outcome.plan.name}, {outcome.steps} steps, {outcome.seconds:.0f} s, "
             f"{outcome.distance:.0e}: {times}", *(f"      {text}" for text in wrong)]
    return "\n".join(lines + [f"      see {outcome.folder}"] * (not outcome.good))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300, help="deaths in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=[*KINDS], help=f"of {', '.join(dict.fromkeys(KINDS))}")
    parser.add_argument("--tasks", nargs="*", default=[*TASKS])
    parser.add_argument("--shards", nargs="*", default=[*SHARDS])
    parser.add_argument("--grow", action=argparse.BooleanOptionalAction, default=True, help="let a quarter of the jobs grow again")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    options = parser.parse_args()
    planned, outcomes = plans(options.kills, options.seed, options.kinds, options.grow, options.tasks, options.shards), []
    print(f"{len(planned)} jobs, {sum(plan.deaths for plan in planned)} deaths, seed {options.seed}, "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    begun = time.monotonic()
    for plan in planned:
        outcomes.append(Killer(plan).run())
        print(told(outcomes[-1]), flush=True)
        if options.json:
            options.json.write_text(json.dumps({"figures": figures(outcomes), "jobs": [one.as_json() for one in outcomes]}, default=str))
    print(f"\n{report(outcomes)}\n\n{time.monotonic() - begun:.0f} s")
    return 0 if reached(figures(outcomes)) else 1


if __name__ == "__main__":
    sys.exit(main())
