"""The whole suite: without MPI, then on 1, 2 and 3 real ranks. `make test` runs this.

The tests of what may be compiled (autograd/compiled.py) run once more on its sources.
"""

import os
import re
import subprocess
import sys
import time

SERIAL = [sys.executable, "-m", "pytest", "tests"]
CORE = [f"tests/autograd/test_{name}.py" for name in (
    "anomaly", "compiled", "engine", "engine_depth", "forward_ad", "function", "function_depth", "graph", "graph_api", "hooks",
    "modes", "saved_hooks", "tensor", "views")]
RANKS = [sys.executable, "-m", "launch", "--threads", "1", "--timeout", "600"]


def main() -> int:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    status = 0
    for title, command, changes in [
            ("without MPI", SERIAL, {}), ("the core's sources", [*SERIAL[:-1], *CORE], {"DPARALLEL_PURE": "1"}),
            *((f"{n} MPI rank{'s' * (n > 1)}", [*RANKS, "-n", str(n), "-m", "pytest", "tests/dparallel"], {})
              for n in (1, 2, 3))]:
        print(f"=== {title}", flush=True)
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **changes})
        last = ""
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line if re.search(r"\d+ (passed|failed)", line) else last
        code = process.wait()
        status = status or code
        for word in counts:
            found = re.search(rf"(\d+) {word}", last)
            counts[word] += int(found[1]) if found else 0
        if code and "failed" not in last:
            counts["failed"] += 1
        print(f"=== {title}: exit code {code} after {time.monotonic() - start:.0f} s", flush=True)
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return status


if __name__ == "__main__":
    sys.exit(main())
