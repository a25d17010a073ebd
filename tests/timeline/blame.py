"""Planted cases of ranks that make others wait: python tests/timeline/blame.py [--cases TEXT ...] [--repeat 4].

Each case is a training on 1 to 3 ranks with something planted that makes ranks wait (planted.py, planted_cases.py), recorded by
dparallel.timeline(). Its report must blame the right rank and part, with the right share: the largest share is that of the
largest planted cause, and each is met within 0.15 (of the waiting that is not laid at another process's door: these machines
are shared; the share of other processes is listed). A case that was disturbed is run again, up to --repeat times. Exit code:
1 if a case stayed wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from planted import Case, run  # noqa: E402
from planted_cases import CASES  # noqa: E402

WITHIN = 0.15                        # of an expected share
THIEVES = 0.4                        # of that of other processes, of which there are more than the planted one
NOISE = 2.0                          # ms a step that nobody has planted
STARTS = {                           # what dprun --timeline itself sees: name, script, (rank, part)
    "late start: rank 1 sleeps before world()": ("import time, os, dparallel\nif os.environ['RANK'] == '1': time.sleep(3)\n", (1, "start")),
    "late start: a heavy import on rank 0": ("import os\nif os.environ['RANK'] == '0':\n    import heavy\n", (0, "start"))}
SCRIPT = """
import autograd as ag
from autograd import nn
from dparallel import DataParallel, world
world().barrier()
net = DataParallel(nn.Linear(8, 8))
optimizer = ag.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad(); net(ag.ones(4, 8)).sum().backward(); optimizer.step()
"""


class Verdict(NamedTuple):
    """What the report said of a case: its causes' shares but for other processes', these, and whether it is right."""

    right: bool
    found: str
    other: float


def verdict(case: Case, data: dict[str, Any]) -> Verdict:
    """Whether a report blames whom it is to blame."""
    causes = {(cause["rank"], cause["part"]): cause["ms_per_step"] for cause in data["causes"]}
    total = sum(causes.values())
    other = sum(ms for (_, part), ms in causes.items() if part == "other process")
    if not case.counted:
        causes = {cause: ms for cause, ms in causes.items() if cause[1] != "other process"}
    whole = sum(causes.values()) or 1.0
    shares = {cause: ms / whole for cause, ms in sorted(causes.items(), key=lambda item: -item[1])}
    text = ", ".join(f"{rank} {part} {share:.2f} ({causes[rank, part]:.1f} ms)" for (rank, part), share in list(shares.items())[:3])
    if case.judge.startswith("lane"):
        _, rank, device, part = case.judge.split()
        lanes = data["lanes"]
        first: Any = lanes[0] if lanes else {"rank": -1, "device": -1, "part": "", "ms_per_step": 0.0}
        text = f"rank {first['rank']} device {first['device']} {first['part']} {first['ms_per_step']:.1f} ms"
        right = (first["rank"], first["device"], first["part"]) == (int(rank), int(device), part) and first["ms_per_step"] > 8
    elif case.judge == "transfer":
        exposed = min(row["exposed_ms"] for row in data["per_rank"])
        text = f"transfer {exposed:.1f} ms a step; {text}"
        right = exposed > 8 and whole < exposed
    elif case.judge.startswith("link"):
        _, source, dest = case.judge.split()
        link = next(iter(data["links"]), {"from": -1, "to": -1, "ms_per_step": 0.0})
        text = f"link {link['from']} to {link['to']}: {link['ms_per_step']:.1f} ms; {text}"
        right = (link["from"], link["to"]) == (int(source), int(dest)) and link["ms_per_step"] > 8
    elif not case.expected:
        steps = max(1, data["steps"]["count"])
        right = all(ms < NOISE for ms in causes.values()) and steps > 1
        text = ", ".join(f"{rank} {part} {ms:.2f} ms" for (rank, part), ms in causes.items()) or "nobody"
    else:
        largest = next(iter(shares), (-1, ""))
        within = THIEVES if case.counted else WITHIN
        most = max(case.expected.values())
        right = case.expected.get(largest, 0.0) > most - within / 2 and all(
            abs(shares.get(cause, 0.0) - share) <= within for cause, share in case.expected.items())
    return Verdict(right, text, other / total if total else 0.0)


# --- the ranks' side --------------------------------------------------------------------------------------------------------

def ranks(chosen: list[Case], repeat: int, folder: Path) -> None:
    """Run cases one after the other, each until it is right; rank 0 prints a line of JSON for each."""
    from dparallel import world
    from dparallel.observe.timeline.report import Report
    from dparallel.observe.timeline.run import read

    comm = world()
    for number, case in enumerate(chosen):
        for attempt in range(1, repeat + 1):
            path = folder / f"{comm.size}-{number}.json.gz"
            run(case, comm, path)
            right = True
            if comm.rank == 0:
                found = verdict(case, Report(read(path)).data)
                right = found.right
                if right or attempt == repeat:
                    print(json.dumps({"name": case.name, "attempt": attempt, **found._asdict()}), flush=True)
            if comm.broadcast_object(right):
                break


# --- the one command ----------------------------------------------------------------------------------------------------------

def dprun(size: int, *command: str, flags: tuple[str, ...] = (), timeout: float = 500.0, **extra: str) -> subprocess.CompletedProcess[str]:
    """A job of `size` ranks."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return subprocess.run([sys.executable, "-m", "launch", "-q", "-n", str(size), "--threads", "1", *flags, *command], stdout=subprocess.PIPE,
                          env={**os.environ, "PYTHONPATH": path, **extra}, text=True, timeout=timeout, check=False)


def late_start(name: str, folder: Path) -> dict[str, Any]:
    """A case of dprun's own --timeline, which records from the start of the processes."""
    planted, cause = STARTS[name]
    script = folder / "late.py"
    (folder / "heavy.py").write_text("import time\ntime.sleep(3)\n")
    script.write_text(planted + SCRIPT)
    out = folder / "late.json.gz"
    dprun(2, str(script), flags=("--timeline", str(out), "--report", "--json", str(folder / "late.json")))
    data = json.loads((folder / "late.json").read_text())
    found = data["before_first_step"]
    other = sum(c["share"] for c in found if c["part"] == "other process")
    rest = [c for c in found if c["part"] != "other process"]
    text = ", ".join(f"{c['rank']} {c['part']} {c['share']:.2f}" for c in rest[:3])
    return {"name": name, "right": bool(rest) and (rest[0]["rank"], rest[0]["part"]) == cause and rest[0]["ms_per_step"] > 1000,
            "found": text, "other": other}


def main() -> int:
    """Run all cases, print a table; 1 if one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=[], metavar="TEXT", help="those whose names contain one of these")
    parser.add_argument("--repeat", type=int, default=4)
    parser.add_argument("--folder", type=Path, help="keep the timelines there")
    parser.add_argument("--ranks", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    wanted = [case for case in CASES if not options.cases or any(text in case.name for text in options.cases)]
    if options.ranks:
        from dparallel import world
        ranks([case for case in wanted if case.ranks == world().size], options.repeat, options.folder)
        return 0
    began = time.perf_counter()
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for size in sorted({case.ranks for case in wanted}):
            filters = ["--cases", *options.cases] if options.cases else []
            done = dprun(size, __file__, "--ranks", "--repeat", str(options.repeat), "--folder", str(folder), *filters)
            for line in done.stdout.splitlines():
                if line.startswith("{"):
                    results.append(json.loads(line))
                    show(len(results), results[-1], next(case for case in wanted if case.name == results[-1]["name"]).expected)
        for name in STARTS:
            if not options.cases or any(text in name for text in options.cases):
                attempt, result = 1, late_start(name, folder)
                while attempt < options.repeat and not result["right"]:
                    attempt, result = attempt + 1, late_start(name, folder)
                results.append({**result, "attempt": attempt})
                show(len(results), results[-1], {STARTS[name][1]: 1.0})
    right = sum(result["right"] for result in results)
    planned = len(wanted) + sum(not options.cases or any(text in name for text in options.cases) for name in STARTS)
    print(f"\n{right} of {planned} right, {time.perf_counter() - began:.0f} s")
    return int(right != planned)


def show(number: int, result: dict[str, Any], expected: dict[tuple[int, str], float]) -> None:
    """A line of the table."""
    wanted = ", ".join(f"{rank} {part}" + (f" {share:.2f}" if share < 1 else "") for (rank, part), share in expected.items())
    print(f"{number:3} {'right' if result['right'] else 'WRONG'} {result['name'][:64]:64} expected {wanted or '-':40} found "
          f"{result['found']} (others' {result['other']:.0%}, run {result['attempt']})", flush=True)


if __name__ == "__main__":
    sys.exit(main())
