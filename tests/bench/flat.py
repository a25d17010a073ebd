"""Memory of a long training: resident after 200 and after 1,200 steps, and Python's blocks. `python tests/bench/flat.py`

A step that allocates more than it frees shows as growth: exit status 1 beyond 1 MiB or half a block a step. One
process a case; --steps for fewer of them (the fifth part is warm-up), --case for one.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from pathlib import Path
from typing import Any

from models import MODELS
from runs import last_line
from trainings import training

import autograd

MIB, BLOCKS = 1.0, 0.5                   # what free lists and allocators keep back: in all, and a step


def resident() -> float:
    """MiB now."""
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line) / 1024


def look() -> tuple[float, int]:
    """Resident memory and Python's blocks, without what only waits for the collector."""
    gc.collect()
    return resident(), sys.getallocatedblocks()


def grown(case: str, steps: int) -> dict[str, Any]:
    """One case, in this process."""
    autograd.manual_seed(0)
    step, batch = training(autograd, case, "autograd")
    for _ in range(steps // 5):
        step(*batch)
    before = look()
    for _ in range(steps):
        step(*batch)
    after = look()
    return {"case": case, "steps": steps, "before_mib": before[0], "after_mib": after[0], "blocks": after[1] - before[1]}


def flat(found: dict[str, Any]) -> bool:
    """Whether it stayed where it was."""
    return bool(found["after_mib"] - found["before_mib"] <= MIB and found["blocks"] <= BLOCKS * found["steps"])


def text(found: dict[str, Any]) -> str:
    """A row."""
    return (f"{found['case']:20} {found['steps']:5} steps: {found['before_mib']:7.1f} -> {found['after_mib']:7.1f} MiB, "
            f"{found['blocks']:+d} blocks{'' if flat(found) else '  GROWS'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--case", choices=list(MODELS))
    parser.add_argument("--here", action="store_true", help="print one case as JSON")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(grown(options.case, options.steps)))
        return 0
    rows = []
    for case in [options.case] if options.case else MODELS:
        rows.append(last_line([sys.executable, __file__, "--here", "--case", case, "--steps", str(options.steps)]))
        print(text(rows[-1]), flush=True)
    return 0 if all(map(flat, rows)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
