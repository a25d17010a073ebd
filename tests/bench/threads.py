"""Default threads beside one thread, on idle cores and on busy ones: python tests/bench/threads.py [--rounds 5] [--json FILE].

A training step runs in fresh processes, in turn with one thread (OMP_NUM_THREADS=1) and with the library's default; the results
of the first steps must be the same. A loop that is cut into pieces runs in one process, in turns of 20 ms; its results must have
the same bits. Both are measured as the machine is, then beside a busy process on every core. The figures are the ratios of
default threads to one thread: median, least and largest.
The aim: at most 1.5 on busy cores, and at most 1 on idle ones. --accelerators loops shows OpenBLAS's products.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from runs import HERE, ROOT
from table import check

CASES = ("gpt", "lstm", "mlp 784-512-512-10", "cnn 28x28", "resnet-20")
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
BUSY = "while True: pass"
LOOPS = """
import json, sys, time
import numpy as np
from functools import partial
import autograd as ag
from autograd.kernels import activations, group_norm, halves, layer_norm, optimizer_steps, softmax, sums
x, g, m, v = np.random.default_rng(0).standard_normal((4, 1 << int(sys.argv[2]))).astype(np.float32)
bounded = np.tanh(x)
rows, grads = x.reshape(-1, 256), g.reshape(-1, 256)
weight, bias = g[:256], m[:256]
images = x.reshape(16, 16, 16, -1).transpose(0, 3, 1, 2)
adam = ag.optim.Adam([ag.zeros(1, requires_grad=True)]).rates({"step": 1.0}, dict(lr=1e-3, betas=(0.9, 0.99), eps=1e-8, weight_decay=0, maximize=False), False)
_, means, scales = layer_norm.forward(rows, weight, bias, (256,), 1e-5, True)
call = {
    "relu": lambda: activations.forward("relu", x), "gelu": lambda: activations.forward("gelu", x),
    "silu backward": lambda: activations.backward("silu", g, x), "softmax": lambda: softmax.softmax(rows, 1),
    "layer norm": lambda: layer_norm.forward(rows, weight, bias, (256,), 1e-5, True)[0],
    "layer norm backward": lambda: layer_norm.backward(grads, rows, weight, means, scales, (256,), True, (True,) * 3)[1],
    "group norm": lambda: group_norm.forward(images, None, None, 4, 1e-5)[0], "cumsum": lambda: sums.running(rows, 1),
    "adam": lambda: optimizer_steps.adam(x, g, m, v, None, **adam), "float16": lambda: halves.converted(x, np.float16),
    "lgamma": lambda: activations.forward("log_gamma", x), "erfinv": lambda: activations.forward("inverse_error_function", bounded),
    "erf": lambda: activations.forward("error_function", x), "digamma": lambda: activations.forward("digamma", x),
    "log softmax": lambda: softmax.log_softmax(rows, 1)}[sys.argv[1]]
numbers = 1, ag.get_num_threads()
def turn(number, seconds):
    ag.set_num_threads(number)
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        call()
        calls += 1
    return (time.perf_counter() - start) / calls
results = [(ag.set_num_threads(n), call())[1] for n in numbers]
assert results[0] is None or results[0].tobytes() == results[1].tobytes()
found = [[turn(n, 0.02) for n in numbers] for _ in range(int(float(sys.argv[3]) / 0.04))]
print(json.dumps([sum(times) / len(times) for times in zip(*found)]))
"""
SIZES = {"relu": 22, "adam": 22, "float16": 22}          # bits of the number of elements; 20 for the other loops
OF_LOOPS = ("gelu", "silu backward", "softmax", "layer norm", "layer norm backward", "group norm", "cumsum", "lgamma",
            "digamma", "erf", "erfinv", "log softmax", *SIZES)


def step(case: str, one: bool, seconds: float, accelerators: str, root: Path) -> dict[str, float]:
    """The figures of one process: mean time of a step, and its result. The mean, since a step on a busy core either has the
    core or waits for it."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment |= {"PYTHONPATH": str(root), "AUTOGRAD_ACCELERATORS": accelerators}
    if one:
        environment |= dict.fromkeys(VARIABLES, "1")
    command = [sys.executable, str(HERE / "trainings.py"), case, "autograd", "--seconds", str(seconds), "--mean"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"{case}: {done.stderr[-1000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def loop(case: str, seconds: float, root: Path) -> tuple[float, float]:
    """A loop's mean time with one thread, and with default threads."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES} | {"PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", LOOPS, case, str(SIZES.get(case, 20)), str(seconds)], env=environment,
                          capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"{case}: {done.stderr[-1000:]}")
    one, default = json.loads(done.stdout)
    return one, default


def row(case: str, options: argparse.Namespace) -> dict[str, float]:
    """One thread and default threads in turn."""
    if case in OF_LOOPS:
        return figures([loop(case, options.seconds, options.root) for _ in range(options.rounds)])
    runs = [[step(case, one, options.seconds, options.accelerators, options.root) for one in (True, False)]
            for _ in range(options.rounds)]
    for one, default in runs:
        check(case, one["check"], default["check"])
    return figures([(one["time"], default["time"]) for one, default in runs])


def figures(times: list[tuple[float, float]]) -> dict[str, float]:
    """Medians, and the ratios' range, of times with one thread and with default threads."""
    ratios = sorted(default / one for one, default in times)
    return {"one_ms": statistics.median(one for one, _ in times) * 1e3,
            "default_ms": statistics.median(default for _, default in times) * 1e3,
            "ratio": statistics.median(ratios), "low": ratios[0], "high": ratios[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", choices=[*CASES, *OF_LOOPS], action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--accelerators", default="all")
    parser.add_argument("--cores", choices=["idle", "busy"], action="append", help="default: both")
    parser.add_argument("--root", type=Path, default=ROOT, help="another copy of the library, to compare with")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores, load {os.getloadavg()[0]:.1f} at the beginning\n\n"
          f"{'case':20} {'cores':5} {'one thread, ms':>15} {'default, ms':>12} {'ratio':>6}  range")
    found = []
    for kind in options.cores or ["idle", "busy"]:
        busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(cores if kind == "busy" else 0)]
        try:
            for case in options.case or [*CASES, *OF_LOOPS]:
                r = row(case, options)
                found.append({"case": case, "cores": kind, **r})
                print(f"{case:20} {kind:5} {r['one_ms']:15.2f} {r['default_ms']:12.2f} {r['ratio']:6.2f}  {r['low']:.2f} to "
                      f"{r['high']:.2f}", flush=True)
        finally:
            for process in busy:
                process.kill()
                process.wait()
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
