"""The whole suite: without MPI, in parts of which four run side by side, and on 1, 2 and 3 real ranks. `make test` runs this.

The tests of what may be compiled (autograd/base/extensions.py) run once more on its sources; those of what depends on the
processor's instructions once more with the widest switched off.

`make quick` runs `tests/run_all.py --quick`: unit tests that start no process and no MPI, of the core, operations, layers,
optimisers, data and of dparallel on two local devices and two threads, in two parts side by side.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__ as cpu_dispatch
from numpy._core._multiarray_umath import __cpu_features__ as cpu_features

PYTEST = [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest",        # importing hypothesis takes 1 s, in each process
          "-p", "no:logging"]                            # 0.5 ms for each of 18,000 tests: PyTorch has 400 loggers
FILES = sorted(Path("tests").rglob("test_*.py"))


def marked(mark):
    """The files whose `pytestmark` has this mark; pyproject.toml says what each mark means. pytest's `-m` imports all files for it."""
    return [path for path in FILES if re.search(rf"^pytestmark = .*\bpytest\.mark\.{mark}\b", path.read_text(), re.M)]


def inside(paths, *folders):
    """The paths that lie in one of the folders of tests/."""
    return [path for path in paths if any(Path("tests", folder) in path.parents for folder in folders)]


def without(paths, *others):
    """The paths that are in none of the others."""
    return [path for path in paths if not any(path in other for other in others)]


JOBS, YOUNG, LOCAL = marked("jobs"), marked("young"), marked("local")
COMMANDS = without([*inside(FILES, "launch"), *marked("commands")], JOBS)
DPARALLEL = without(inside(FILES, "dparallel"), JOBS, YOUNG, LOCAL)
FIRST_ROOMS = without(inside(FILES, *(f"autograd/{room}" for room in (
    "amp", "base", "compat", "compile", "core", "distributions", "integrations", "kernels", "modes", "nn", "ops"))), JOBS, YOUNG)     # half of the time
REST = without(FILES, JOBS, YOUNG, LOCAL, COMMANDS, DPARALLEL, FIRST_ROOMS)
QUICK_HALF = inside(marked("quick"), "dparallel", "autograd/core", "autograd/nn")                           # as long as the other
TWO_RANKS = " and ".join(f"not {kind}-{size}" for kind in ("devices", "threads") for size in (1, 3, 5))
RANKS = [sys.executable, "-m", "launch", "--threads", "1", "--timeout", "3000"]
SETTINGS = {"PYTHONDONTWRITEBYTECODE": "",               # the tests' byte code, too, is read by what comes later, instead of made again (6 s)
            "OPENBLAS_THREAD_TIMEOUT": "4",              # its threads sleep when idle: they would spin for 0.1 s, in each process that starts
            "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_threads_pthreads_yield_strategy": "nanosleep",
            "OMPI_MCA_threads_pthreads_nanosleep_time": "100000"}      # ns; waiting ranks sleep: half of their time would be spinning

SILENCE = 8                                              # seconds
NO_TORCH = re.compile(r"No module named 'torch'|PyTorch, the yardstick|compares with PyTorch")       # reasons to skip


class Part:
    """A part of the suite under way. Its output waits in a file. threads: they share a GIL, and need half of the processor
    time on one core. waits: it waits more than it works, and goes first when it does not; the others take what is left."""

    def __init__(self, title, command, threads=False, waits=False, **changes):
        self.title, self.start, self.code, self.cpu = title, time.monotonic(), None, 0.0
        self.output = tempfile.NamedTemporaryFile("w+")      # noqa: SIM115
        self.process = subprocess.Popen(list(map(str, command)), stdout=self.output, stderr=subprocess.STDOUT, env={**os.environ, **SETTINGS, **changes},
                                        preexec_fn=lambda: begin_part(threads, waits))

    def poll(self):
        """Its exit code if it has ended; with the processor time of all processes that it has waited for."""
        if self.code is None:
            pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.code = self.process.returncode = os.waitstatus_to_exitcode(status)
                self.cpu = used.ru_utime + used.ru_stime
        return self.code

    def done(self, counts, meanwhile=lambda: None):
        """Show what it says until it ends, calling meanwhile() now and then, and add up its results; the exit code."""
        print(f"=== {self.title}", flush=True)
        code, last, shown = None, "", time.monotonic()
        with open(self.output.name) as said:
            while code is None:
                code = self.poll()
                meanwhile()
                for line in said:
                    print("" if line.startswith("SKIPPED [") else line, end="", flush=True)      # quick() adds them up
                    shown = time.monotonic()
                    last = line if re.search(r"\d+ (passed|failed).* in [\d.]+s", line) else last
                if time.monotonic() - shown > SILENCE:           # jobs of ranks
                    shown = time.monotonic()
                    print(f"\n=== {self.title}: {shown - self.start:.0f} s", flush=True)
                time.sleep(0.2 if code is None else 0)
        print(f"=== {self.title}: exit code {code} after {time.monotonic() - self.start:.0f} s, {self.cpu:.0f} s of processor time", flush=True)
        for word in counts:
            found = re.search(rf"(\d+) {word}", last)
            counts[word] += int(found[1]) if found else 0
        counts["failed"] += bool(code) and "failed" not in last
        return code

    def reasons(self):
        """What a failed part said of its failures: pytest's short lines and what came after them, then its last lines."""
        lines = Path(self.output.name).read_text(errors="replace").splitlines()
        short = [line for line in lines if re.match(r"(FAILED|ERROR|E   )", line)]
        return [line[:300] for line in (*short[:20], "...", *lines[-20:])]


def on_ranks(n):
    """The suite on real ranks begins."""
    return Part(f"{n} MPI rank{'s' * (n > 1)}", [*RANKS, "-n", str(n), *PYTEST[1:], "tests/dparallel"])


def begin_part(threads, waits):
    """In a part's process: what it may have of the processors."""
    if not waits:
        os.nice(5 if threads else 10)                # on one core: the others have two
    if threads and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})      # the first core that there is


def quick() -> int:
    """The quick suite; the exit code."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    beside = [Part("dparallel on two ranks, core, nn", [*PYTEST, "-rs", *QUICK_HALF, "-k", TWO_RANKS], threads=True),
              Part("autograd", [*PYTEST, "-rs", *without(marked("quick"), QUICK_HALF)])]
    codes = [part.done(counts) for part in beside]
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    print(left_out([Path(part.output.name).read_text(errors="replace") for part in beside]))
    return next((code for code in codes if code), 0)


def left_out(outputs):
    """One line of why tests were skipped, from the ends of what `pytest -rs` said, and how to run them."""
    reasons = Counter()
    for text in outputs:
        for count, reason in re.findall(r"^SKIPPED \[(\d+)\] [^ ]+: (.*)", text, re.M):
            reasons["without PyTorch" if NO_TORCH.search(reason) else reason] += int(count)
    parts = [f"{count} {reason}" + " (`make yardstick` installs it)" * (reason == "without PyTorch") for reason, count in reasons.most_common()]
    return "skipped: " + "; ".join(parts or ["none"])


def older_processor():
    """The variables with which NumPy, OpenBLAS, oneDNN, compiled loops and PyTorch compute as on an older processor: with AVX2 where
    this one has AVX-512, else without AVX2; nothing where it is another kind of processor."""
    if platform.machine() != "x86_64":
        return {}
    wide = [name for name, found in cpu_features.items() if found and re.match("AVX512|X86_V4", name)]
    isa, core, loops, torch = ("AVX2", "Haswell", "avx2", "avx2") if wide else ("SSE41", "Nehalem", "baseline", "default")
    off = [name for name in cpu_dispatch if name in wide or not wide]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(off), "OPENBLAS_CORETYPE": core, "ONEDNN_MAX_CPU_ISA": isa,
            "AUTOGRAD_LOOPS": loops, "ATEN_CPU_CAPABILITY": torch, "MKL_ENABLE_INSTRUCTIONS": {"AVX2": "AVX2", "SSE41": "SSE4_2"}[isa]}


def queued(begin, counts):
    """Begin each part when fewer than its number of others run; their exit codes. begin: the numbers, and what begins a part."""
    parts, codes = [], []

    def fill():
        while len(parts) < len(begin) and sum(part.poll() is None for part in parts) < begin[len(parts)][0]:
            parts.append(begin[len(parts)][1]())

    while len(codes) < len(begin):
        fill()
        codes.append(parts[len(codes)].done(counts, fill))
    for part in parts:                               # last, for those who see the end of the output only
        if part.code:
            print(f"=== {part.title} failed:", *part.reasons(), sep="\n")
    return codes


def main() -> int:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    codes = queued([
        (4, lambda: Part("dparallel", [*PYTEST, *DPARALLEL], threads=True)),
        (4, lambda: Part("jobs and local devices", [*PYTEST, *YOUNG, *JOBS, *LOCAL], waits=True)),
        (4, lambda: Part("dprun and examples", [*PYTEST, *COMMANDS], waits=True)),
        (4, lambda: Part("autograd, amp to ops", [*PYTEST, *FIRST_ROOMS])),
        (4, lambda: Part("autograd, observe to utils, and tests of all packages", [*PYTEST, *REST])),
        (3, lambda: on_ranks(3)),                    # beside the jobs, which wait more than they work
        (3, lambda: on_ranks(2)),
        (4, lambda: Part("the core's sources", [*PYTEST, *inside(FILES, "autograd/core", "autograd/modes")], DPARALLEL_PURE="1")),
        (4, lambda: Part("as on an older processor", [*PYTEST, *marked("processor")], **older_processor())),
        (4, lambda: on_ranks(1))], counts)         # the shortest last, so that both cores are busy to the end
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(quick() if sys.argv[1:] == ["--quick"] else main())
