"""StepTrace: the computation of one typical training step of a rank, as times between the events that DataParallel sees."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...autograd import as_tensor

VERSION = 2


@dataclass(frozen=True)
class ParameterTrace:
    """A parameter: seconds from forward's start to its module's first use, and from backward's to its gradient (0: none)."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    used: float
    ready: float

    @property
    def nbytes(self) -> int:
        """The bytes of its values, which are also those of its gradient."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize

    def smaller(self, most: int) -> ParameterTrace:
        """The same parameter with dimensions of at most `most`."""
        return replace(self, shape=tuple(min(n, most) for n in self.shape))

    def named(self) -> tuple[str, Any]:
        """(name, parameter) for the functions that assign buckets. All elements are one element in memory."""
        return self.name, as_tensor(np.broadcast_to(np.zeros(1, self.dtype), self.shape)).requires_grad_()


class SyncTrace(NamedTuple):
    """A call of a SyncBatchNorm: its channels, the bytes of a number, and its time in forward (as ParameterTrace.used)."""

    channels: int
    itemsize: int
    used: float


class Task(NamedTuple):
    """One task of a rank's thread. kind: "compute" for `seconds`; "copy" nbytes, which a single rank would not; "start" or
    "wait" for the collective `name`; "call": both. "sum" is a bucket's collective, "meet" the comparison of calls before
    a checked one."""

    kind: str
    name: str = ""
    seconds: float = 0.0
    collective: str = ""
    nbytes: float = 0.0


@dataclass(frozen=True)
class StepTrace:
    """A step without communication, as one rank computes it. predict() records one."""

    ranks: int
    ranks_per_host: int
    forward: float
    backward: float
    finish: float
    after: float
    optimizer: float
    measured: float
    spread: float
    jitter: float
    quiet: int
    steps: int
    passes: int
    parameters: Sequence[ParameterTrace]
    units: Sequence[Sequence[str]] = ()
    syncs: Sequence[SyncTrace] = ()
    optimizers: Sequence[Sequence[str]] = ()
    optimizer_bytes: int = 0
    buffer_bytes: int = 0
    other_bytes: int = 0
    cap_mb: float | None = None
    fixed: bool = False
    hook: str = ""
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def compute(self) -> float:
        """The seconds of the whole step without communication."""
        return self.forward + self.backward + self.finish + self.after

    @property
    def gradient_bytes(self) -> int:
        """The bytes of all gradients."""
        return sum(p.nbytes for p in self.parameters)

    def scaled(self, factor: float) -> StepTrace:
        """The same step with all computation slower by a factor."""
        times = {name: getattr(self, name) * factor for name in ("forward", "backward", "finish", "after", "optimizer")}
        parameters = [replace(p, used=p.used * factor, ready=p.ready * factor) for p in self.parameters]
        return replace(self, **times, parameters=parameters, syncs=[s._replace(used=s.used * factor) for s in self.syncs])

    def as_dict(self) -> dict[str, Any]:
        """The trace as a dict for JSON."""
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StepTrace:
        """A StepTrace from what as_dict() returned."""
        data = dict(data)
        if data.pop("version", None) != VERSION:
            raise ValueError(f"a step trace of version {VERSION} is needed: record it again")
        parameters = [ParameterTrace(p["name"], tuple(p["shape"]), p["dtype"], p["used"], p["ready"])
                      for p in data.pop("parameters")]
        return cls(parameters=parameters, syncs=[SyncTrace(*s) for s in data.pop("syncs")], **data)

    def save(self, path: str | Path) -> None:
        """Write the trace as a JSON file."""
        Path(path).write_text(json.dumps(self.as_dict()))

    @classmethod
    def load(cls, path: str | Path) -> StepTrace:
        """A StepTrace from save()'s file."""
        text = Path(path).read_text(encoding="utf-8")
        try:
            return cls.from_dict(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{str(path)!r} is not a step trace written by StepTrace.save(): {error}") from error
