"""predict(): the step on other numbers of ranks, for each choice of buckets, comm hook and sharding, with error bars."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...model.data_parallel import DataParallel
from ...sharding.memory import model_memory
from . import report
from .hook_programs import HookProgram, builtin_programs
from .measure_step import STEPS, WARMUP, StepRecorder
from .measuring import measure_network
from .network import Cost, Network
from .simulate import STAGES, Option, Played, graph_of, play, slowdown, slowest
from .steps import StepTrace

HOOKS = ("", "fp16", "bf16")
MODEL_ERROR = 0.05                   # relative error of the replay itself: the median in docs/benchmarks.md
RESOLVED = 5e-5                      # seconds: the error of a trace, even for short steps
CROWDED = 0.10                       # of computation on a host with more ranks than traced, which share caches
ALIKE = 0.02                         # among options within this share of the fastest, the simplest is chosen


@dataclass(frozen=True)
class Point:
    """The prediction for one option."""

    option: Option
    seconds: float
    low: float
    high: float
    compute: float
    exposed: float
    efficiency: float
    memory: dict[str, int]
    errors: dict[str, float]
    sources: tuple[str, ...]

    @property
    def total_memory(self) -> int:
        """The bytes of all categories."""
        return sum(self.memory.values())

    @property
    def error(self) -> float:
        """Half the width of the error bar, relative."""
        return (self.high - self.low) / 2 / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Prediction:
    """The result of predict(); print() shows it as a table with advice."""

    trace: StepTrace
    network: Network
    points: Sequence[Point]
    least_efficiency: float
    refused: Mapping[str, str]

    def best(self, ranks: int) -> Point:
        """The fastest choice for a number of ranks; among those within 2 % of it, the one that changes least."""
        here = [p for p in self.points if p.option.ranks == ranks]
        if not here:
            raise ValueError(f"ranks={ranks!r} was not predicted; it was for {', '.join(map(str, self.sizes))}")
        fastest = min(p.seconds for p in here)
        return min((p for p in here if p.seconds <= fastest * (1 + ALIKE)), key=lambda p: simplicity(p.option))

    def default(self, ranks: int) -> Point:
        """The choice that changes least for a number of ranks: the model as traced, if that was predicted."""
        here = [p for p in self.points if p.option.ranks == ranks]
        return min(here, key=lambda p: simplicity(p.option))

    @property
    def sizes(self) -> list[int]:
        """The predicted numbers of ranks, in order."""
        return sorted({p.option.ranks for p in self.points})

    def recommendation(self) -> list[str]:
        """The advice, one sentence per item."""
        return report.advice(self)

    def as_dict(self) -> dict[str, Any]:
        """The prediction as a dict for JSON."""
        return {"trace": self.trace.as_dict(), "network": self.network.as_dict(),
                "points": [{**asdict(p), "option": asdict(p.option)} for p in self.points],
                "recommendation": self.recommendation(), "refused": dict(self.refused)}

    def save(self, path: str | Path) -> None:
        """Write the prediction in the format of the file's suffix."""
        kinds: dict[str, Callable[[], str]] = {
            ".json": lambda: json.dumps(self.as_dict(), indent=1), ".svg": lambda: report.svg(self),
            ".html": lambda: report.html(self)}
        suffix = Path(path).suffix
        if suffix not in kinds:
            raise ValueError(f"{str(path)!r}: a prediction is saved as {', '.join(kinds)}")
        Path(path).write_text(kinds[suffix]())

    def __str__(self) -> str:
        return report.text(self)


def simplicity(option: Option) -> tuple[int, int, int]:
    """A key that is smaller for options that change less."""
    return STAGES.index(option.shard), int(option.hook != ""), int(option.bucket_cap_mb is not None)


def predict(source: DataParallel | StepTrace | str | Path, step: Callable[[], object] | None = None, *,
            sizes: Sequence[int] = (8, 64, 512), network: Network | str | None = None,
            bucket_cap_mb: Sequence[float | None] = (None, 1.0, 25.0),
            hooks: Sequence[str] | Mapping[str, HookProgram] = HOOKS, shards: Sequence[str | None] = STAGES,
            steps: int = STEPS, warmup: int = WARMUP, least_efficiency: float = 0.8) -> Prediction:
    """Predict a training step on other numbers of ranks, with the present rows per rank."""
    check(sizes, least_efficiency)
    given = Network.parse(network) if isinstance(network, str) else network
    if given is not None and not isinstance(given, Network):
        raise TypeError(f"network= is a Network, a description or None, not {type(network).__name__}")
    if isinstance(source, StepTrace):
        trace = source
    elif isinstance(source, (str, Path)):
        trace = StepTrace.load(source)
    else:
        trace = record(source, step, steps, warmup)
        given = measure_network(source.comm, max(1 << 16, min(trace.gradient_bytes, 64 << 20)), given)
    programs = dict(hooks) if isinstance(hooks, Mapping) else {}
    return predicted(trace, given or Network(assumed=["the network: none was described or measured"]), sizes,
                     list(bucket_cap_mb), ["", *programs] if programs else list(hooks), list(shards), programs,
                     least_efficiency)


def check(sizes: Sequence[int], least_efficiency: float) -> None:
    """TypeError or ValueError for sizes that are not numbers of ranks."""
    if not isinstance(sizes, Collection) or isinstance(sizes, str) or not all(
            isinstance(n, int) and not isinstance(n, bool) for n in sizes):
        raise TypeError(f"sizes={sizes!r} must be a list of numbers of ranks")
    if not sizes or min(sizes) < 1:
        raise ValueError(f"sizes={sizes!r}: numbers of ranks, at least one of them, each at least 1")
    if isinstance(least_efficiency, bool) or not isinstance(least_efficiency, (int, float)):
        raise TypeError(f"least_efficiency={least_efficiency!r} must be a number above 0 and at most 1")
    if not 0 < least_efficiency <= 1:
        raise ValueError(f"least_efficiency={least_efficiency!r} must be above 0 and at most 1")


def record(model: DataParallel, step: Callable[[], object] | None, steps: int, warmup: int) -> StepTrace:
    """The trace of some training steps. Collective."""
    recorder = StepRecorder(model, steps, warmup)
    try:
        if not callable(step):
            raise TypeError("predict(model, step): step is a function that makes one training step, called on all ranks")
        for _ in itertools.count():
            step()
            if recorder.count == 0 and not recorder.stepped:
                raise ValueError("predict(model, step): step() made no backward pass that DataParallel sums")
            if recorder.done:
                return recorder.trace()
    finally:
        recorder.stop()
    raise AssertionError


def predicted(trace: StepTrace, network: Network, sizes: Sequence[int], caps: Sequence[float | None], hooks: Sequence[str],
              shards: Sequence[str | None], programs: Mapping[str, HookProgram], least_efficiency: float) -> Prediction:
    """Predict every choice."""
    known = {**builtin_programs(), **programs}
    points: list[Point] = []
    refused: dict[str, str] = {}
    for ranks in sorted(set(sizes)):
        for cap, hook, shard in itertools.product(caps, hooks, shards):
            if (hook and shard) or (ranks == 1 and any(p.option.ranks == 1 for p in points)):
                continue
            option = Option(ranks, cap, hook, shard)
            try:
                points.append(predict_one(trace, network, option, known))
            except NotImplementedError as error:
                refused[str(error)] = str(option)
    if missing := sorted(set(sizes) - {p.option.ranks for p in points}):
        why = "; ".join(refused) or "a hook and sharding do not go together, and each choice needs a value"
        raise ValueError(f"bucket_cap_mb={list(caps)}, hooks={list(hooks)}, shards={list(shards)} leave nothing to predict "
                         f"for {', '.join(map(str, missing))} ranks: {why}")
    return Prediction(trace, network, points, least_efficiency, refused)


def predict_one(trace: StepTrace, network: Network, option: Option, programs: Mapping[str, HookProgram]) -> Point:
    """One point with its error bar: the root of the sum of squares of the changes by each cause."""
    ranks = option.ranks
    factor = slowdown(trace, network, ranks)
    costs: dict[tuple[str, float], Cost] = {}

    def cost(collective: str, nbytes: float) -> Cost:
        key = collective, nbytes
        if key not in costs:
            costs[key] = network.cost(collective, ranks, nbytes)
        return costs[key]

    def played(slower: float, bound: int = 0) -> Played:
        """The played step. bound: 0 for middle costs, 1 for the lower bounds, 2 for the upper ones."""
        tasks = graph_of(trace, option, programs, slower)
        return play(tasks, lambda c, n: cost(c, n)._replace(seconds=cost(c, n)[:3][bound]))

    middle = played(factor)
    wrong = max(MODEL_ERROR * middle.seconds, RESOLVED)
    crowded = min(ranks, network.ranks_per_host) > trace.ranks_per_host
    bounds = {"spread of the traced steps": [played(factor * (1 + sign * trace.spread)).seconds for sign in (-1, 1)],
              "the network": [played(factor, 1).seconds, played(factor, 2).seconds],
              "the slowest of many ranks": [played(factor * (1 + sign * (slowest(trace, ranks) - 1) / 2)).seconds
                                            for sign in (-1, 1)],
              "more ranks on a host": [played(factor * (1 + sign * CROWDED * crowded)).seconds for sign in (-1, 1)],
              "the model": [middle.seconds - wrong, middle.seconds + wrong]}
    below = math.sqrt(sum(max(0.0, middle.seconds - min(pair)) ** 2 for pair in bounds.values()))
    above = math.sqrt(sum(max(0.0, max(pair) - middle.seconds) ** 2 for pair in bounds.values()))
    alone = trace.compute
    return Point(option, middle.seconds, max(0.0, middle.seconds - below), middle.seconds + above, middle.compute,
                 middle.exposed, alone / middle.seconds if middle.seconds else 1.0, memory_of(trace, option),
                 {name: (max(pair) - min(pair)) / 2 / middle.seconds if middle.seconds else 0.0
                  for name, pair in bounds.items()},
                 tuple(sorted({flight.source for flight in middle.flights})))


def memory_of(trace: StepTrace, option: Option) -> dict[str, int]:
    """Parameters, gradients and optimizer state as model_memory() counts them; activations as traced. "units on their way":
    the two units that stage 3 has gathered, and as many gradients that stages 2 and 3 have not sent yet."""
    shard = option.shard if option.ranks > 1 else None
    parameters = [p.named()[1] for p in trace.parameters]
    found = model_memory(parameters, None, world_size=option.ranks, shard=shard)
    state = trace.optimizer_bytes
    sizes = {p.name: p.nbytes for p in trace.parameters}
    units = sorted((sum(sizes[name] for name in unit) for unit in trace.units), reverse=True) or [sum(sizes.values())]
    ways = max(0, STAGES.index(shard) - 1)           # values and gradients, or gradients only
    return {**found, "optimizer state": -(-state // option.ranks) if shard else state,
            "units on their way": ways * sum(units[:2]), "activations and the rest": trace.other_bytes}
