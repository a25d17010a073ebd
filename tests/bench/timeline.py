"""One step of a data-parallel model as a timeline: when its buckets are on the way, beside forward and backward.

    dprun -n 2 --threads 1 tests/bench/timeline.py [--case gpt] [--out timeline.json]

Open the file in chrome://tracing or ui.perfetto.dev. A bucket's bar ends when somebody has waited for it, the only moment
at which its end is known. Prints how much of the time of communication passed while gradients were still computed.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from models import MODELS, seeded

import autograd
from dparallel import DataParallel, world

WARM = 5


class Watched:
    """A reducer's transport that notes when buckets leave and are back."""

    def __init__(self, transport: Any) -> None:
        self.transport, self.left, self.bars = transport, [], []         # type: ignore[var-annotated]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)

    def start(self, bucket: Any, weight: float, index: int, last: bool) -> None:
        """A bucket leaves."""
        self.left.append((f"bucket {index}, {bucket.buffer.nbytes:,} bytes", time.perf_counter()))
        self.transport.start(bucket, weight, index, last)

    def collect(self, buckets: Any) -> Any:
        """All are waited for."""
        begin = time.perf_counter()
        result = self.transport.collect(buckets)
        end = time.perf_counter()
        self.bars = [(name, left, end, 1 + i) for i, (name, left) in enumerate(self.left)] + [("waiting", begin, end, 0)]
        self.left = []
        return result


def timeline(case: str, comm: Any) -> list[tuple[str, float, float, int]]:
    """(name, begin, end, lane) of one step."""
    module, (x, y), loss_of, optimizer_of = MODELS[case](autograd, comm.rank, comm.size)
    model = DataParallel(seeded(autograd, module), comm=comm)
    optimizer = optimizer_of(model.parameters())
    reducer: Any = model._reducer
    reducer.departure.transport = watched = Watched(reducer.transport)
    marks = [0.0]
    for _ in range(WARM + 1):
        optimizer.zero_grad()
        comm.barrier()
        marks = [time.perf_counter()]
        loss = loss_of(model, x, y)
        marks.append(time.perf_counter())
        loss.backward()
        marks.append(time.perf_counter())
        optimizer.step()
        marks.append(time.perf_counter())
    names = ("forward", "backward", "optimizer")
    return [(name, *marks[i:i + 2], 0) for i, name in enumerate(names)] + watched.bars


def overlap(bars: list[tuple[str, float, float, int]]) -> tuple[float, float]:
    """(ms that buckets were on the way, ms of it before the waiting began)."""
    begin = min(bar[1] for bar in bars if bar[0].startswith("bucket"))
    waiting, end = next(bar[1:3] for bar in bars if bar[0] == "waiting")
    return (end - begin) * 1e3, (waiting - begin) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", choices=list(MODELS), default="gpt")
    parser.add_argument("--out", type=Path, default=Path("timeline.json"))
    options = parser.parse_args()
    comm = world()
    if comm.size == 1:
        raise SystemExit("one rank has nothing to send: dprun -n 2 tests/bench/timeline.py")
    bars = timeline(options.case, comm)
    everyone = comm.allgather_object([bars])
    if comm.rank == 0:
        start = min(bar[1] for bar in bars)
        events = [{"name": name, "ph": "X", "pid": rank, "tid": lane, "ts": (begin - start) * 1e6, "dur": (end - begin) * 1e6}
                  for rank, own in enumerate(everyone) for name, begin, end, lane in own]
        options.out.write_text(json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}))
        whole, hidden = overlap(bars)
        print(f"{options.case}: buckets on the way for {whole:.2f} ms, {hidden:.2f} of them during backward; {options.out}")


if __name__ == "__main__":
    main()
