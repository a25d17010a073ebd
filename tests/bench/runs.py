"""Starts one measurement, in fresh processes with one thread a rank, and returns the JSON line it prints."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
LIMIT = 600                                              # seconds for one measurement
STEPS = {"mlp 64-128-64-10": 600, "mlp 784-512-512-10": 60, "cnn 28x28": 10, "resnet-20": 8, "gpt": 10, "lstm": 120}
IMPORTS = "import time; start = time.perf_counter(); import {}; print('{{\"check\": [0], \"time\":', time.perf_counter() - start, '}}')"


class Run(NamedTuple):
    """What is measured: a case of trainings.py in a library, on so many ranks, with further options for trainings.py."""

    case: str
    library: str = "autograd"
    ranks: int = 1
    options: tuple[str, ...] = ()


class Failed(SystemExit):
    """A measurement that came to nothing: one message, and exit status 1."""


def environment() -> dict[str, str]:
    """One thread a rank; the packages of this folder."""
    threads = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")
    before = os.environ.get("PYTHONPATH", "")
    path = before if before.split(os.pathsep)[0] == str(ROOT) else os.pathsep.join(filter(None, (str(ROOT), before)))
    return {**os.environ, **threads, "PYTHONPATH": path}


def measured(run: Run, seconds: float = 0.5, busy: bool = False) -> dict[str, Any]:
    """One run: {"time", "check", "memory"}. Where several processes or threads work, processor time says nothing: on a busy
    machine the fastest tenth of the steps stands for the others. Ranks make equally many steps."""
    if run.case == "bare import":
        return last_line([sys.executable, "-c", IMPORTS.format(run.library)])
    command = [sys.executable, str(HERE / "trainings.py"), run.case, run.library, *run.options]
    if run.case in STEPS and (run.ranks > 1 or "--ranked" in run.options):
        steps = max(5, int(STEPS[run.case] * min(1.0, 2 * seconds)))
        command = [part for part in command if part != "--ranked"] + ["--steps", str(steps)]
    else:
        command += ["--seconds", str(seconds)]
    if busy:
        command.append("--fastest" if run.ranks > 1 or run.options else "--cpu")
    if run.ranks == 1:
        return last_line(command)
    command += ["--ranks", str(run.ranks)]
    return gloo(command, run.ranks) if run.library in ("torch", "tuned") else launched(command[1:], run.ranks)


class Live:
    """A run's process that stays: it warms up once, and measures each time that measure() is called."""

    def __init__(self, run: Run) -> None:
        self.command = [sys.executable, str(HERE / "trainings.py"), run.case, run.library, "--serve", "--cpu", *run.options]
        self.errors = tempfile.TemporaryFile("w+")   # noqa: SIM115 (close() closes it)
        self.process = subprocess.Popen(self.command, env=environment(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors)
        try:
            self.check: list[float] = self._line()["check"]
        except Failed:
            self.close()
            raise

    def measure(self, seconds: float) -> dict[str, Any]:
        """{"time": processor seconds of a step, "check", "memory"}."""
        assert self.process.stdin is not None
        print(seconds, file=self.process.stdin, flush=True)
        return self._line()

    def _line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):                 # libraries print too
                return json.loads(line)
        self.errors.seek(0)
        raise Failed(f"{' '.join(self.command)}\nended with exit status {self.process.wait()}:\n{self.errors.read()[-2000:]}")

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()
        self.errors.close()


def absent(library: str) -> str:
    """Why a library of trainings.py cannot run here; an empty text if it can."""
    if library == "jax" and importlib.util.find_spec("jax") is None:
        return "not installed"
    if library == "inductor" and not any(shutil.which(name) for name in (os.environ.get("CXX", "g++"), "clang++")):
        return "no C++ compiler"
    return ""


def launched(script: list[str], ranks: int) -> dict[str, Any]:
    """A script on MPI ranks."""
    return last_line([sys.executable, "-m", "launch", "-n", str(ranks), "--threads", "1", "--timeout", str(LIMIT), *script])


def last_line(command: list[str]) -> dict[str, Any]:
    """What a command's last line of output says."""
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=LIMIT + 30)
    if done.returncode or not done.stdout.strip():
        raise Failed(f"{' '.join(command)}\nended with exit status {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def gloo(command: list[str], size: int) -> dict[str, Any]:
    """The same of PyTorch's ranks, which meet in a file."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = [subprocess.Popen(command, env={**environment(), "BENCH_FILE": f"{folder}/meet", "BENCH_RANK": str(rank)},
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(size)]
        try:
            outputs = [rank.communicate(timeout=LIMIT) for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()
    if any(rank.returncode for rank in ranks):
        raise Failed(f"{' '.join(command)}\nfailed:\n" + "\n".join(error[-1000:] for _, error in outputs))
    return json.loads(outputs[0][0].splitlines()[-1])
