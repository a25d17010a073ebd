"""Loading with two workers beside PyTorch's DataLoader: `python tests/bench/loader.py [--rounds 5] [--workers 2] [--reach 1.1]`.
Exit status 1 if a ratio of the faster kind of worker is above --reach.

Rows: items made in Python, items made by NumPy, and large items that are only copied. Each kind of worker (PyTorch's processes,
ours: threads, forkserver, spawn) has a process with persistent workers. They take turns; a figure is the median ratio of the
times of a pass by the clock. The last row is a first pass, in which the workers start; its median is of fresh processes.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
KINDS = ("torch", "threads", "forkserver", "spawn")


class InPython:
    """Tokens of a text, some of them masked."""

    rows, batch = 384, 32

    def __len__(self):
        return self.rows

    def __getitem__(self, index):
        generator = random.Random(index)
        numbers = [103 if generator.random() < 0.15 else token * 31 % 30000 for token in range(index, index + 4000)]
        return np.array(numbers), index % 10


class ByNumpy:
    """A normalized crop of an image of 256 x 256."""

    rows, batch = 192, 32

    def __init__(self):
        self.images = np.random.default_rng(0).integers(0, 256, (8, 256, 256, 3), np.uint8)

    def __len__(self):
        return self.rows

    def __getitem__(self, index):
        crop = self.images[index % 8, 16:240, 8:232].astype(np.float32)
        crop = (crop / 255 - np.float32(0.45)) / np.float32(0.225)
        return np.ascontiguousarray(np.sqrt(np.abs(crop)).transpose(2, 0, 1)), index % 10


class Copied(ByNumpy):
    """A normalized image that is in memory."""

    def __init__(self):
        self.images = np.random.default_rng(0).standard_normal((8, 3, 224, 224)).astype(np.float32)

    def __getitem__(self, index):
        return self.images[index % 8], index % 10


CASES = {"Python": InPython, "NumPy": ByNumpy, "copies": Copied}


def serve(kind: str, case: str, workers: int) -> None:
    """Load a pass for each line of input, and print its seconds."""
    if kind == "torch":
        from torch.utils.data import DataLoader
    else:
        from autograd.utils.data import DataLoader
    context = kind if kind in ("forkserver", "spawn") else None
    data = CASES[case]()
    loader = DataLoader(data, data.batch, num_workers=workers, multiprocessing_context=context, persistent_workers=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        total = 0.0
        for batch, _ in loader:
            total += float(batch.reshape(-1)[0])             # the batch has arrived, and is freed
        print(time.perf_counter() - start, total, flush=True)


class Live:
    """A process that serves one kind of worker."""

    def __init__(self, kind: str, case: str, workers: int) -> None:
        self.process = subprocess.Popen([sys.executable, "-W", "ignore", __file__, "--serve", kind, case, str(workers)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def load(self) -> tuple[float, float]:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seconds, total = map(float, self.process.stdout.readline().split())
        return seconds, total

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def measured(case: str, workers: int, rounds: int) -> dict[str, tuple[list[float], float]]:
    """Seconds of passes of each kind, and those of its first."""
    live = {kind: Live(kind, case, workers) for kind in KINDS}
    try:
        first = {kind: live[kind].load() for kind in KINDS}
        if len({total for _, total in first.values()}) > 1:
            raise SystemExit(f"{case}: the batches differ: {first}")
        times: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for number in range(rounds):
            for kind in KINDS[::-1 if number % 2 else 1]:
                times[kind].append(live[kind].load()[0])
        return {kind: (times[kind], first[kind][0]) for kind in KINDS}
    finally:
        for process in live.values():
            process.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--reach", type=float, default=1.1)
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve[:2], int(options.serve[2]))
        return 0
    print(f"| {options.workers} workers | PyTorch | " + " | ".join(KINDS[1:]) + " |\n|---|---|" + "---|" * len(KINDS[1:]))
    firsts: dict[str, list[float]] = {kind: [] for kind in KINDS}
    worst = 0.0
    for case in CASES:
        found = measured(case, options.workers, options.rounds)
        ratios = [statistics.median(a / b for a, b in zip(found[kind][0], found["torch"][0], strict=True)) for kind in KINDS[1:]]
        worst = max(worst, min(ratios))
        print(f"| {case} | {statistics.median(found['torch'][0]):.3f} s | " + " | ".join(f"{r:.2f}" for r in ratios) + " |", flush=True)
        for kind in KINDS:
            firsts[kind].append(found[kind][1] - statistics.median(found[kind][0]))
    print("| first pass longer by | " + " | ".join(f"{statistics.median(firsts[kind]):.2f} s" for kind in KINDS) + " |")
    return int(worst > options.reach)


if __name__ == "__main__":
    raise SystemExit(main())
