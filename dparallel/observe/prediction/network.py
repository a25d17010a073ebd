"""Network: the links of a cluster, and the cost of a collective on them.

A network is described (latency and bandwidth, Hockney 1994; optionally LogGP's overhead, hosts, a topology), measured as
tables of seconds by bytes (measuring.py), or both. A collective's table holds for the number of ranks it was measured on;
for others, the cost is that of a schedule of rounds (schedules.py) plus the library's own work.

Such sums neglect that messages of different hosts share links, up to a factor of six on a torus. So the cost is multiplied
by a ratio of simulated to computed time from contention.json, made by SimGrid (tests/bench/simulated_network.py).
"""

from __future__ import annotations

import functools
import json
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from ...comm.header import HEADER
from .schedules import ALGORITHMS, IMPLEMENTATIONS, Round, chosen, schedule

TOPOLOGIES = ("fat-tree", "torus", "unknown")
FORMULA_HOLDS = 0.05                 # the formula is named as the source if simulation agrees within this
UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9,
         "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9,
         "bit/s": 0.125, "kbit/s": 125.0, "Mbit/s": 125e3, "Gbit/s": 125e6}
TIMES, RATES = ("latency", "overhead", "call", "local_latency"), ("bandwidth", "local_bandwidth", "reduction", "copy")
KNOWN = {"measured": 0.25, "formula": FORMULA_HOLDS, "simulated": 0.10, "extrapolated": 0.20, "described": 0.25}


class Point(NamedTuple):
    """A measured collective: the median and quartiles of the seconds that it adds to a step that waits for it. cpu: the
    share of `seconds` that it adds to a step that computes meanwhile (above 1 if the collective also evicts the cache)."""

    nbytes: float
    seconds: float
    low: float
    high: float
    cpu: float = 0.0


class Cost(NamedTuple):
    """The cost of a collective, with bounds; the share of it that computation loses (Point.cpu); source: a key of KNOWN."""

    seconds: float
    low: float
    high: float
    cpu: float
    source: str


@dataclass(frozen=True)
class Network:
    """A cluster. Times in seconds, rates in bytes a second; parse() takes units."""

    latency: float = 10e-6
    bandwidth: float = 25e9 / 8
    overhead: float = 1e-6
    ranks_per_host: int = 1
    cores_per_host: int | None = None
    local_latency: float = 1e-6
    local_bandwidth: float = 4e9
    reduction: float = 8e9
    copy: float = 4e9
    call: float = 20e-6
    calls: Mapping[str, float] = field(default_factory=dict)
    topology: str = "unknown"
    mpi: str = "openmpi"
    exchange: Sequence[tuple[float, float]] = ()
    measured: Mapping[str, Mapping[int, Sequence[Point]]] = field(default_factory=dict)
    assumed: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in (*TIMES, *RATES):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
                unit = "seconds" if name in TIMES else "bytes a second"
                raise ValueError(f"network: {name}={value!r} must be a number of {unit}")
            if name in RATES and not value:
                raise ValueError(f"network: {name}=0: no message would ever arrive")
        for name in ("ranks_per_host", "cores_per_host"):
            count = getattr(self, name)
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
                raise ValueError(f"network: {name}={count!r} must be a whole number of at least 1")
        if self.topology not in TOPOLOGIES:
            raise ValueError(f"network: topology={self.topology!r} must be one of {', '.join(TOPOLOGIES)}")
        if self.mpi not in IMPLEMENTATIONS:
            raise ValueError(f"network: mpi={self.mpi!r} must be one of {', '.join(IMPLEMENTATIONS)}")

    # --- formats --------------------------------------------------------------------------------------------------------

    def as_dict(self) -> dict[str, Any]:
        """The network as a dict for JSON."""
        tables = {collective: {str(ranks): [list(p) for p in points] for ranks, points in table.items()}
                  for collective, table in self.measured.items()}
        return {**asdict(self), "measured": tables}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Network:
        """A Network from what as_dict() returned, or from a hand-written dict."""
        known = {f.name for f in fields(cls)}
        if not isinstance(data, Mapping):
            raise ValueError(f"network: a description is a JSON object of names and values, not {data!r:.60}")
        if wrong := sorted(set(map(str, data)) - known):
            raise ValueError(f"network: {', '.join(map(repr, wrong))} not known; a description has "
                             f"{', '.join(sorted(known))}")
        values: dict[str, Any] = {
            name: quantity(value, name) if name in (*TIMES, *RATES) else value for name, value in data.items()}
        for name, (read, form) in TABLES.items():
            if name in values:
                try:
                    values[name] = read(values[name])
                except (TypeError, ValueError, AttributeError, KeyError) as error:
                    raise ValueError(f"network: {name} is {form}, as measure_network() writes it, not {values[name]!r:.60} "
                                     f"({error})") from error
        return cls(**values)

    @classmethod
    def parse(cls, text: str) -> Network:
        """A Network from a line of text, or from a JSON file."""
        if text.endswith(".json"):
            try:
                return cls.from_dict(json.loads(Path(text).read_text(encoding="utf-8")))
            except (OSError, ValueError) as error:
                raise ValueError(f"network file {text!r}: {str(error).removeprefix('network: ')}") from error
        data: dict[str, Any] = {}
        for item in filter(None, (part.strip() for part in text.split(","))):
            name, equals, value = item.partition("=")
            if not equals:
                raise ValueError(f"network: {item!r} is neither NAME=VALUE nor the path of a .json file")
            if name.strip() in data:
                raise ValueError(f"network: {name.strip()} is there twice")
            data[name.strip()] = int(value) if value.strip().isdigit() and name.endswith("_host") else value.strip()
        return cls.from_dict(data)

    # --- costs ----------------------------------------------------------------------------------------------------------

    def hosts(self, ranks: int) -> int:
        """The number of hosts for a number of ranks."""
        return -(-ranks // self.ranks_per_host)

    def cost(self, collective: str, ranks: int, nbytes: float, algorithm: str | None = None) -> Cost:
        """A collective's (seconds, low, high, cpu, source), from the table of this number of ranks or from its schedule."""
        if collective == "copy":
            return Cost(nbytes / self.copy, nbytes / self.copy, nbytes / self.copy, 1.0, "measured")
        if ranks == 1:
            return Cost(0.0, 0.0, 0.0, 0.0, "measured")
        tables = self.measured.get(collective, {})
        if algorithm is None and ranks in tables:
            return self._measured(tables[ranks], nbytes)
        if collective == "meet":
            found, call = self._scheduled("allgather", ranks, HEADER.size * ranks, None), self._call("meet")
            return Cost(found.seconds + call, found.low + call, found.high + call, 1.0, found.source)
        found = self._scheduled("allreduce" if collective == "sum" else collective, ranks, nbytes, algorithm)
        ratio, call, source = 1.0, 0.0 if algorithm else self._call(collective), found.source
        alike = max((n for n in tables if (self.hosts(n) > 1) == (self.hosts(ranks) > 1)), default=0)
        share = found.cpu
        if alike and not algorithm:                  # the schedule is corrected by its error at the measured size
            here, computed = self._measured(tables[alike], nbytes), self._scheduled(
                "allreduce" if collective == "sum" else collective, alike, nbytes, None)
            ratio, source = max(here.seconds - call, 0.1 * here.seconds) / computed.seconds, "extrapolated"
            share = max(share, here.cpu)
        error, seconds = KNOWN[source], found.seconds * ratio
        whole = seconds + call
        return Cost(whole, seconds * (1 - error) * (found.low / found.seconds) + call,
                    seconds * (1 + error) * (found.high / found.seconds) + call, (share * seconds + call) / whole, source)

    def _scheduled(self, collective: str, ranks: int, nbytes: float, algorithm: str | None) -> Cost:
        """The time of a collective's messages by its schedule. low, high: the bounds of contention()."""
        name = algorithm or chosen(collective, ranks, nbytes, self.mpi)
        rounds = schedule(collective, ranks, nbytes, name)
        seconds = sum(self.round_seconds(r, ranks) for r in rounds)
        busy = sum(r.times * (r.reduced / self.reduction + r.at_once * self.overhead) for r in rounds)
        hosts, source = self.hosts(ranks), "described"
        ratio = low = high = 1.0
        if hosts > 1:
            size = nbytes / max(self.latency * self.bandwidth, 1.0)
            ratio, low, high, source = contention(self.topology, name, hosts, size)
        seconds = max(seconds * ratio, 1e-12)
        return Cost(seconds, seconds * low, seconds * high, min(1.0, busy / seconds), source)

    def _call(self, collective: str) -> float:
        """The seconds of a collective's work in the library, beside its messages."""
        return self.calls.get(collective, self.call)

    def calls_of(self, tables: Mapping[str, Sequence[Point]], ranks: int) -> dict[str, float]:
        """`calls` from tables for a number of ranks: the time of the shortest vectors minus that of the schedule."""
        found = {}
        for collective, table in tables.items():
            least = table[0]
            name = {"sum": "allreduce", "meet": "allgather"}.get(collective, collective)
            messages = self._scheduled(name, ranks, HEADER.size * ranks if collective == "meet" else least.nbytes, None)
            found[collective] = max(0.0, least.seconds - messages.seconds)
        return found

    def round_seconds(self, r: Round, ranks: int) -> float:
        """The seconds of one kind of round, without contention between hosts."""
        per_host = min(self.ranks_per_host, ranks)
        if ranks <= per_host or (r.xor and per_host % (2 * r.distance) == 0):
            crossing = 0
        else:
            crossing = per_host if r.xor else min(r.distance, per_host)
        reduction = r.reduced / self.reduction
        local = self.local_latency + r.at_once * r.nbytes / self.local_bandwidth
        if not crossing:
            return r.times * (local + reduction)
        far = self.pair_exchange(r.nbytes) + (r.at_once * crossing - 1) * r.nbytes / self.bandwidth
        far += (r.at_once - 1) * self.overhead
        return r.times * (max(far, local if crossing < per_host else 0.0) + reduction)

    def pair_exchange(self, nbytes: float) -> float:
        """The seconds in which two ranks of different hosts exchange nbytes."""
        if self.exchange:
            return interpolated(self.exchange, nbytes)
        return self.latency + nbytes / self.bandwidth

    def _measured(self, points: Sequence[Point], nbytes: float) -> Cost:
        """The time from a table."""
        seconds, low, high, cpu = (interpolated([(p.nbytes, p[i]) for p in points], nbytes) for i in range(1, 5))
        if points[-1].nbytes < nbytes:               # beyond the table the share is that of the last point
            cpu = points[-1].cpu
        error = KNOWN["measured"]                    # jobs differ by more than the quartiles of one job
        return Cost(seconds, min(low, seconds * (1 - error)), max(high, seconds * (1 + error)), max(0.0, cpu), "measured")


def quantity(value: Any, name: str = "") -> float:
    """A number, or a text of a number and a unit, in seconds or bytes per second."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    found = re.fullmatch(r"\s*([\d.]+(?:[eE][+-]?\d+)?)\s*([a-zA-Zµ/]*)\s*", str(value))
    unit = found[2] if found else "?"
    per_second = unit.endswith("/s")
    if found is None or unit not in UNITS or (name in TIMES and per_second) or (name in RATES and unit and not per_second):
        known = [u for u in UNITS if u and (not name or u.endswith("/s") == (name in RATES))]
        raise ValueError(f"network: {name}={value!r} must be a number with one of the units {', '.join(known)}")
    return float(found[1]) * UNITS[unit]


def interpolated(points: Sequence[tuple[float, float]], at: float) -> float:
    """A table's value, linear between points and beyond the last two, constant before the first."""
    xs = [x for x, _ in points]
    if at <= xs[0] or len(points) == 1:
        return points[0][1]
    i = min(bisect_left(xs, at), len(points) - 1)
    (x0, y0), (x1, y1) = points[i - 1], points[i]
    return y0 + (y1 - y0) * (at - x0) / (x1 - x0)


def read_points(table: Any) -> tuple[tuple[float, float], ...]:
    """(bytes, seconds) in increasing order of bytes."""
    points = tuple((positive(n), positive(s)) for n, s in table)
    if list(points) != sorted(points):
        raise ValueError("bytes must rise")
    return points


def read_measured(tables: Any) -> dict[str, dict[int, list[Point]]]:
    """Tables of collectives by ranks."""
    known = {"sum", "meet", *ALGORITHMS}
    if wrong := sorted(set(tables) - known):
        raise ValueError(f"{', '.join(map(repr, wrong))} is none of {', '.join(sorted(known))}")
    out = {name: {int(ranks): [Point(*map(positive, p)) for p in points] for ranks, points in table.items()}
           for name, table in tables.items()}
    for table in out.values():
        for points in table.values():
            if not points or [p.nbytes for p in points] != sorted(p.nbytes for p in points):
                raise ValueError("a table has points of rising bytes")
    return out


def positive(value: Any) -> float:
    """A number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise ValueError(f"{value!r} is not a number of at least 0")
    return float(value)


def read_texts(lines: Any) -> tuple[str, ...]:
    """A list of texts."""
    if isinstance(lines, str) or not all(isinstance(line, str) for line in lines):
        raise TypeError("no list of texts")
    return tuple(lines)


TABLES: dict[str, tuple[Callable[[Any], Any], str]] = {          # how to read fields that are not a single number
    "exchange": (read_points, "a list of [bytes, seconds]"), "assumed": (read_texts, "a list of texts"),
    "measured": (read_measured, "{collective: {ranks: [[bytes, seconds, low, high, share], ...]}}"),
    "calls": (lambda calls: {str(name): positive(value) for name, value in calls.items()}, "{collective: seconds}")}


# --- contention -----------------------------------------------------------------------------------------------------------

ALIKE = {"recursive halving": "rabenseifner", "pairwise": "ring", "tree and scatter": "recursive doubling",
         "binomial": "recursive doubling"}             # for topologies without a simulation: whose ratios they use


@functools.cache
def simulated() -> dict[str, Any]:
    """The content of contention.json."""
    data: dict[str, Any] = json.loads((Path(__file__).parent / "contention.json").read_text())
    return data


def contention(topology: str, algorithm: str, hosts: int, size: float) -> tuple[float, float, float, str]:
    """Simulated over computed time, the factors of its lowest and highest likely value, and how it is known.

    size: bytes / (latency * bandwidth). If the topology is unknown: full bisection's value, with a torus's as the upper
    bound.
    """
    if topology == "unknown":
        ratio, *_ = contention("fat-tree", algorithm, hosts, size)
        worst, *_ = contention("torus", algorithm, hosts, size)
        return ratio, 1.0, max(1.0, worst / ratio), "described"
    table = simulated()["ratios"][topology]
    name = algorithm if algorithm in table else ALIKE.get(algorithm, "rabenseifner")
    by_hosts = []
    for count, points in sorted((int(h), p) for h, p in table[name].items()):
        by_size = [(math.log(x), math.log(ratio)) for x, ratio in points]
        alike = size * count / hosts if name == "ring" else size         # this ratio depends on the size of the messages
        edge = min(max(math.log(max(alike, 1e-3)), by_size[0][0]), by_size[-1][0])
        by_hosts.append((math.log(count), interpolated(by_size, edge)))
    log_ratio = interpolated(by_hosts, min(max(math.log(hosts), by_hosts[0][0]), by_hosts[-1][0]))
    ratio = math.exp(log_ratio)
    holds = algorithm in table and abs(ratio - 1) <= FORMULA_HOLDS
    outside = algorithm not in table or (name != "ring" and hosts > math.exp(by_hosts[-1][0]) * 1.01)
    return ratio, 1.0, 1.0, "extrapolated" if outside else "formula" if holds else "simulated"
