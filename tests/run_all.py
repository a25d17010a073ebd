"""The whole suite: without MPI, in two halves side by side, then on 1, 2 and 3 real ranks. `make test` runs this.

The tests of what may be compiled (autograd/compiled.py) run once more on its sources.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

PYTEST = [sys.executable, "-m", "pytest"]
APART = ["tests/dparallel", "tests/launch"]              # half of the time, much of it spent waiting for jobs that they start
CORE = [f"tests/autograd/test_{name}.py" for name in (
    "anomaly", "compiled", "engine", "engine_depth", "forward_ad", "function", "function_depth", "graph", "graph_api", "hooks",
    "modes", "saved_hooks", "tensor", "views")]
RANKS = [sys.executable, "-m", "launch", "--threads", "1", "--timeout", "3000"]


class Part:
    """A part of the suite under way. Its output waits in a file."""

    def __init__(self, title, command, **changes):
        self.title, self.start = title, time.monotonic()
        self.output = tempfile.NamedTemporaryFile("w+")      # noqa: SIM115
        self.process = subprocess.Popen(command, stdout=self.output, stderr=subprocess.STDOUT, env={**os.environ, **changes})

    def done(self, counts):
        """Show what it says until it ends, and add up its results; the exit code."""
        print(f"=== {self.title}", flush=True)
        code, last = None, ""
        with open(self.output.name) as said:
            while code is None:
                code = self.process.poll()
                for line in said:
                    print(line, end="", flush=True)
                    last = line if re.search(r"\d+ (passed|failed)", line) else last
                time.sleep(0.2 if code is None else 0)
        print(f"=== {self.title}: exit code {code} after {time.monotonic() - self.start:.0f} s", flush=True)
        for word in counts:
            found = re.search(rf"(\d+) {word}", last)
            counts[word] += int(found[1]) if found else 0
        counts["failed"] += bool(code) and "failed" not in last
        return code


def main() -> int:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    rest = Part("autograd and the rest", [*PYTEST, "tests", *[f"--ignore={path}" for path in APART]])
    codes = [Part("dparallel and launch", [*PYTEST, *APART]).done(counts), rest.done(counts),
             Part("the core's sources", [*PYTEST, *CORE], DPARALLEL_PURE="1").done(counts)]
    for n in (1, 2, 3):
        title = f"{n} MPI rank{'s' * (n > 1)}"
        codes.append(Part(title, [*RANKS, "-n", str(n), "-m", "pytest", "tests/dparallel"]).done(counts))
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
