"""The whole suite: without MPI, then on 1, 2 and 3 real ranks. `make test` runs this."""

import re
import subprocess
import sys
import time

SERIAL = [sys.executable, "-m", "pytest", "tests"]
RANKS = [sys.executable, "-m", "launch", "--threads", "1", "--timeout", "600"]


def main() -> int:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    status = 0
    for title, command in [("without MPI", SERIAL),
                           *((f"{n} MPI rank{'s' * (n > 1)}", [*RANKS, "-n", str(n), "-m", "pytest", "tests/dparallel"])
                             for n in (1, 2, 3))]:
        print(f"=== {title}", flush=True)
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
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
