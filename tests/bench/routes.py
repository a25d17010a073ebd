"""Python calls and files on four routes through the code: `python tests/bench/routes.py [--list] [--before CHECKOUT] [--write]`.

a: y = x * w; y.sum(); backward. b: a 2-layer MLP under DataParallel, forward and backward on rank 0 of 2 ranks that are
threads. c: Scatter on rank 0 of the two, forward and backward. d: conv2d by NumPy, the kernel where oneDNN is not there.

Counted by sys.setprofile after a warm-up, from the sources (no compiled core) and without accelerators: calls of Python
functions whose file lies in autograd/ or dparallel/, in the thread that runs the route. Where ranks wait for each other
counts may differ by the number of looks at a handle; the smallest of several repeats is shown. --before counts another
checkout of this repository too (`git worktree add`), --write puts the table into ARCHITECTURE.md, --list shows each call.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
WARM, REPEATS = 3, 7


class Counter:
    """Counts calls in this thread while it is entered, as (file within the checkout, function)."""

    def __init__(self, root: Path) -> None:
        self.prefixes = tuple(f"{root / package}{os.sep}" for package in ("autograd", "dparallel"))
        self.start = len(str(root)) + 1
        self.calls: list[tuple[str, str]] = []

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(self.prefixes) and not code.co_name.startswith("<genexpr"):
            self.calls.append((code.co_filename[self.start:], getattr(code, "co_qualname", code.co_name)))

    def of(self, function: Callable[[], Any]) -> Any:
        """function()'s result, its calls counted."""
        self.calls = []
        sys.setprofile(self)
        try:
            return function()
        finally:
            sys.setprofile(None)


Calls = list[tuple[str, str]]


def fewest(found: dict[str, Calls], part: str, calls: Calls) -> None:
    """Keep the shortest list of a part's calls."""
    if part not in found or len(calls) < len(found[part]):
        found[part] = calls


def routes(root: Path) -> dict[str, Calls]:
    """The calls of each part of each route."""
    import numpy as np

    import autograd as ag
    from autograd import nn
    from dparallel import DataParallel, Scatter, run_ranks

    if not ag.__file__ or not Path(ag.__file__).is_relative_to(root):
        raise SystemExit(f"{ag.__file__} was imported, which is not in {root}")
    found: dict[str, Calls] = {}

    def product(count: Counter) -> None:
        x, w = (ag.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        y = count.of(lambda: x * w)
        fewest(found, "a: y = x * w", count.calls)
        loss = count.of(lambda: y.sum())
        fewest(found, "a: y.sum()", count.calls)
        count.of(lambda: loss.backward())
        fewest(found, "a: backward", count.calls)

    def reducer(comm: Any) -> None:
        count = Counter(root)
        ag.manual_seed(0)
        model = DataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), comm=comm)
        x = ag.from_numpy(np.ones((3, 4), np.float32))
        for number in range(WARM + REPEATS):
            model.zero_grad()
            y = count.of(lambda: model(x))
            forward, loss = count.calls, y.sum()
            count.of(lambda: loss.backward())
            if comm.rank == 0 and number >= WARM:
                fewest(found, "b: forward", forward)
                fewest(found, "b: backward", count.calls)

    def scatter(comm: Any) -> None:
        count = Counter(root)
        for number in range(WARM + REPEATS):
            x = ag.tensor([[1.0], [2.0]], requires_grad=True) if comm.rank == 0 else None
            y = count.of(lambda: Scatter.apply(x, comm=comm))
            forward, loss = count.calls, y.sum()
            count.of(lambda: loss.backward())
            if comm.rank == 0 and number >= WARM:
                fewest(found, "c: forward", forward)
                fewest(found, "c: backward", count.calls)

    def convolution(count: Counter) -> None:
        layer, x = convolution_layer
        count.of(lambda: layer(x))
        fewest(found, "d: conv2d", count.calls)

    for _ in range(WARM):
        product(Counter(root))
    found.clear()
    product(Counter(root))
    run_ranks(2, reducer)
    run_ranks(2, scatter)
    convolution_layer = nn.Conv2d(2, 3, 3), ag.ones(1, 2, 6, 6)
    for _ in range(WARM):
        convolution(Counter(root))
    del found["d: conv2d"]
    convolution(Counter(root))
    return found


def files(*parts: Calls) -> list[str]:
    """The files of these calls, each once, in the order of the first call."""
    return list(dict.fromkeys(file for calls in parts for file, _ in calls))


def rows(found: dict[str, Calls]) -> list[tuple[str, int, int]]:
    """(part, calls, files) of each part, and of route a as a whole."""
    whole = [calls for part, calls in found.items() if part.startswith("a:")]
    parts = [(part, len(calls), len(files(calls))) for part, calls in found.items()]
    return [*parts[:len(whole)], ("a: the three together", sum(map(len, whole)), len(files(*whole))), *parts[len(whole):]]


def by_room(found: dict[str, Calls]) -> str:
    """For each route the files that it touches, by room, in the order of the first call."""
    lines = []
    for route in dict.fromkeys(part[0] for part in found):
        rooms: dict[str, list[str]] = {}
        for file in files(*(calls for part, calls in found.items() if part[0] == route)):
            package, *folders, name = file.removesuffix(".py").split("/")
            rooms.setdefault("/".join([package, *folders[:1]]), []).append("/".join([*folders[1:], name]))
        lines.append(f"- **{route}**: " + "; ".join(f"`{room}`: {', '.join(names)}" for room, names in rooms.items()) + ".")
    return "\n".join(textwrap.fill(line, 120, subsequent_indent="  ", break_on_hyphens=False) for line in lines)


def commit(root: Path) -> str:
    """The commit of a checkout, with a + where files differ from it."""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty=+", "--exclude=*"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "unknown"


def table(found: list[tuple[str, int, int]], root: Path, before: list[Any] | None, before_root: Path | None) -> str:
    """The rows, those of another checkout beside them where there is one."""
    if before is None or before_root is None:
        return "\n".join([f"| route | calls, {commit(root)} | files |", "|---|---:|---:|",
                          *(f"| {part} | {calls} | {count} |" for part, calls, count in found)])
    return "\n".join([f"| route | calls, {commit(before_root)} | files | calls, {commit(root)} | files |", "|---|---:|---:|---:|---:|",
                      *(f"| {part} | {old[1]} | {old[2]} | {calls} | {count} |"
                        for (part, calls, count), old in zip(found, before, strict=True))])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout of this repository")
    parser.add_argument("--before", type=Path, help="a checkout whose figures are to stand beside these")
    parser.add_argument("--list", action="store_true", help="each call, in order")
    parser.add_argument("--json", action="store_true", help="the rows as JSON")
    parser.add_argument("--write", action="store_true", help="put the table into ARCHITECTURE.md")
    options = parser.parse_args()
    os.environ.update(DPARALLEL_PURE="1", AUTOGRAD_ACCELERATORS="off", OMP_NUM_THREADS="1")
    root = options.root.resolve()
    sys.path.insert(0, str(root))
    found = routes(root)
    if options.json:
        print(json.dumps(rows(found)))
        return
    if options.list:
        for part, calls in found.items():
            print(f"\n{part}", *(f"    {file}: {name}" for file, name in calls), sep="\n")
        print("\na touches", *files(*(calls for part, calls in found.items() if part.startswith("a:"))), sep="\n    ")
    before = None
    if options.before:
        command = [sys.executable, __file__, "--json", "--root", str(options.before)]
        before = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1])
    text = table(rows(found), root, before, options.before)
    print(text)
    if options.write:
        from table import write_between
        write_between(ROOT / "ARCHITECTURE.md", "routes", f"{text}\n\nThe files, by room, in the order of the first call:\n\n{by_room(found)}")


if __name__ == "__main__":
    main()
