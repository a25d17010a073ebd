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
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__ as cpu_dispatch
from numpy._core._multiarray_umath import __cpu_features__ as cpu_features

PYTEST = [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest"]        # importing hypothesis takes 1 s, in each process
JOBS = [f"tests/{name}" for name in (                    # start jobs, and spend most of their time waiting for them
    "dparallel/test_comm_job.py", "dparallel/test_docs_testing.py", "dparallel/test_misuse.py", "dparallel/test_pytest_plugin.py",
    "dparallel/test_survive.py", "launch/test_kills.py", "beside/test_notebook_launcher.py", "test_recipes.py")]
MORE_JOBS = ["tests/launch", "--ignore=tests/launch/test_kills.py", "tests/test_examples.py", "tests/test_tutorial.py"]    # take as long
YOUNG = ["tests/autograd/test_loader_resume.py", "tests/autograd/test_loader_workers.py", "tests/dparallel/test_memory_of_ranks.py",
         *map(str, sorted(Path("tests/autograd").glob("test_memory*.py")))]     # they fork, or look at all objects: cheap where
                                                                                # little is imported yet
LOCAL = ["tests/dparallel/test_local_devices.py", "tests/dparallel/test_local_models.py"]         # on as many cores as there are
CORE = [f"tests/autograd/test_{name}.py" for name in (
    "anomaly", "compiled", "engine", "engine_depth", "forward_ad", "function", "function_depth", "graph", "graph_api", "hooks",
    "modes", "saved_hooks", "tensor", "views")]
QUICK = [f"tests/autograd/test_{name}.py" for name in (
    "anomaly", "checkpoint", "creation", "data", "elementwise", "engine", "function", "functional", "graph", "hooks", "index",
    "lr_scheduler", "modes", "module", "nn_functional", "numpy_protocol", "optimizer_base", "optimizers", "random", "reductions",
    "save_load", "saved_hooks", "shape", "tensor")] + ["tests/test_layers.py"]
QUICK_TOO = [f"tests/dparallel/test_{name}.py" for name in (
    "buckets", "checkers", "comm_errors", "comm_handles", "comm_threads", "comm_values", "data_parallel", "evaluation", "functions",
    "graph_passes", "groups", "join", "messages", "sync_batch_norm", "verification", "weights")] + [
    f"tests/autograd/test_{name}.py" for name in ("nn", "views")]                                # so that both halves take as long
FIRST_HALF = [path for path in sorted(Path("tests/autograd").glob("test_*.py"))
              if path.name < "test_o" and str(path) not in YOUNG]                               # about as long
PROCESSOR = ["tests/test_public_docstrings.py", "tests/autograd/test_accuracy.py", "tests/beside/test_estimators.py"]
TWO_RANKS = " and ".join(f"not {kind}-{size}" for kind in ("devices", "threads") for size in (1, 3, 5))
RANKS = [sys.executable, "-m", "launch", "--threads", "1", "--timeout", "3000"]
BYTE_CODE = {"PYTHONDONTWRITEBYTECODE": ""}              # the tests', too: read by what comes later, instead of made again (6 s)


class Part:
    """A part of the suite under way. Its output waits in a file. threads: they share a GIL, and need half of the processor
    time on one core. waits: it waits more than it works, and goes first when it does not; the others take what is left."""

    def __init__(self, title, command, threads=False, waits=False, **changes):
        self.title, self.start = title, time.monotonic()
        self.output = tempfile.NamedTemporaryFile("w+")      # noqa: SIM115
        self.process = subprocess.Popen(command, stdout=self.output, stderr=subprocess.STDOUT, env={**os.environ, **BYTE_CODE, **changes},
                                        preexec_fn=lambda: begin_part(threads, waits))

    def done(self, counts, meanwhile=lambda: None):
        """Show what it says until it ends, calling meanwhile() now and then, and add up its results; the exit code."""
        print(f"=== {self.title}", flush=True)
        code, last = None, ""
        with open(self.output.name) as said:
            while code is None:
                code = self.process.poll()
                meanwhile()
                for line in said:
                    print(line, end="", flush=True)
                    last = line if re.search(r"\d+ (passed|failed).* in [\d.]+s", line) else last
                time.sleep(0.2 if code is None else 0)
        print(f"=== {self.title}: exit code {code} after {time.monotonic() - self.start:.0f} s", flush=True)
        for word in counts:
            found = re.search(rf"(\d+) {word}", last)
            counts[word] += int(found[1]) if found else 0
        counts["failed"] += bool(code) and "failed" not in last
        self.code = code
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
        os.nice(10)
    if threads and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})      # the first core that there is


def quick() -> int:
    """The quick suite; the exit code."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    beside = [Part("dparallel on two ranks, nn, views", [*PYTEST, *QUICK_TOO, "-k", TWO_RANKS], threads=True),
              Part("autograd", [*PYTEST, *QUICK])]
    codes = [part.done(counts) for part in beside]
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return next((code for code in codes if code), 0)


def older_processor():
    """The variables with which NumPy, OpenBLAS, oneDNN, compiled loops and PyTorch compute as on an older processor: with AVX2 where
    this one has AVX-512, else without AVX2; nothing where it is another kind of processor."""
    if platform.machine() != "x86_64":
        return {}
    wide = [name for name, found in cpu_features.items() if found and re.match("AVX512|X86_V4", name)]
    isa, core, loops, torch = ("AVX2", "Haswell", "avx2", "avx2") if wide else ("SSE41", "Nehalem", "baseline", "default")
    off = [name for name in cpu_dispatch if name in wide or not wide]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(off), "OPENBLAS_CORETYPE": core, "ONEDNN_MAX_CPU_ISA": isa,
            "AUTOGRAD_LOOPS": loops, "ATEN_CPU_CAPABILITY": torch}


def queued(begin, counts):
    """Begin each part when fewer than its number of others run; their exit codes. begin: the numbers, and what begins a part."""
    parts, codes = [], []

    def fill():
        while len(parts) < len(begin) and sum(part.process.poll() is None for part in parts) < begin[len(parts)][0]:
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
    without = [f"--ignore={path}" for path in (*YOUNG, *JOBS, *MORE_JOBS, *LOCAL) if path.startswith("tests/")]
    codes = queued([
        (4, lambda: Part("dparallel", [*PYTEST, "tests/dparallel", *without], threads=True)),
        (4, lambda: Part("jobs and local devices", [*PYTEST, *YOUNG, *JOBS, *LOCAL], waits=True)),
        (4, lambda: Part("dprun and examples", [*PYTEST, *MORE_JOBS], waits=True)),
        (4, lambda: Part("autograd, o to z, and the rest", [*PYTEST, "tests", "--ignore=tests/dparallel", *without,
                                                            *(f"--ignore={path}" for path in FIRST_HALF)])),
        (4, lambda: Part("autograd, a to n", [*PYTEST, *map(str, FIRST_HALF)])),
        (4, lambda: Part("the core's sources", [*PYTEST, *CORE], DPARALLEL_PURE="1")),
        (4, lambda: Part("as on an older processor", [*PYTEST, *PROCESSOR], **older_processor())),
        (4, lambda: on_ranks(1)),
        (3, lambda: on_ranks(2)),                    # beside the jobs, which wait more than they work
        (3, lambda: on_ranks(3))], counts)
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(quick() if sys.argv[1:] == ["--quick"] else main())
