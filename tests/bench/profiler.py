"""What the profiler costs: off, on, with shapes and stacks, a record_function; beside torch.profiler on the same chain.

    python tests/bench/profiler.py [--callgrind CHECKOUT]

A chain of 100 operations on 4 x 4 elements, forward and backward, alternates with recording off and on, so that what else
runs on the machine meets both; figures are medians of 200 pairs. --callgrind counts instructions with recording off, here
and in another checkout (one from before the profiler, with its core compiled): time cannot tell 1 % on a shared machine.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
OPERATIONS = 100
PADS = (0, 500, 1000, 2000, 4000)
CHAIN = """
import sys
pad = [f"name_{n}" for n in range(int(sys.argv[2]))]
import autograd as ag
x = ag.ones(4, 4, requires_grad=True)
for _ in range(int(sys.argv[1])):
    y = x
    for _ in range(50):
        y = (y * 1.01).tanh()
    y.sum().backward()
    x.grad = None
"""


def chain(lib):
    """A function that runs the chain once."""
    x = lib.ones(4, 4, requires_grad=True)

    def run():
        y = x
        for _ in range(OPERATIONS // 2):
            y = (y * 1.01).tanh()
        y.sum().backward()
        x.grad = None

    return run


def timed(run):
    """Nanoseconds of one run."""
    start = time.perf_counter_ns()
    run()
    return time.perf_counter_ns() - start


def compare(run, profile, events, rounds=40, **settings):
    """Medians of a run without and with a profiler, and what an event costs; events(prof): how many there are in a run."""
    off, on, recorded = [], [], 1
    run()
    for _ in range(rounds):
        off += [timed(run) for _ in range(5)]
        prof = profile(**settings)
        with prof:
            run()
            on += [timed(run) for _ in range(5)]
        recorded = events(prof) / 6
    without, with_it = statistics.median(off), statistics.median(on)
    return without / 1e3, with_it / 1e3, recorded, (with_it - without) / recorded


def spans(record_function, name="a block"):
    """Nanoseconds of `with record_function(...)`, the best of 20 rounds."""
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter_ns()
        for _ in range(1000):
            with record_function(name):
                pass
        best = min(best, (time.perf_counter_ns() - start) / 1000)
    return best


def instructions(checkout, steps, pad):
    """Instructions of a process that runs the chain some times, by callgrind; pad: strings made before, which move all
    later objects: Python's cache of methods is addressed by where names lie, and its collisions alone make up 2 %."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1",
                   "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", CHAIN,
                           str(steps), str(pad)], capture_output=True, text=True, env=environment, cwd=checkout, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def a_step(checkout):
    """Instructions of one chain, the least over some layouts of memory: that with the fewest collisions."""
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda job: instructions(checkout, *job), [(n, pad) for pad in PADS for n in (25, 5)])
        found = list(found)
    return min(long - short for long, short in zip(found[::2], found[1::2], strict=True)) / 20


def line(title, without, with_it, recorded, each):
    print(f"{title:34} {without:9.1f} {with_it:9.1f} {with_it / without:7.2f} {recorded:8.0f} {each:9.0f}")


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--callgrind", metavar="CHECKOUT", type=Path)
    options = parser.parse_args()
    import autograd as ag
    from autograd.profiler import profile, record_function
    print("compiled core:", ag.show_config()["compiled core"])
    print(f"{'chain of 100, forward and backward':34} {'off, us':>9} {'on, us':>9} {'ratio':>7} {'events':>8} {'ns each':>9}")
    settings = {"autograd": {}, "autograd, record_shapes": {"record_shapes": True},
                "autograd, profile_memory": {"profile_memory": True}, "autograd, with_stack": {"with_stack": True}}
    for title, kwargs in settings.items():
        line(title, *compare(chain(ag), profile, lambda p: sum(r.count for k in p._recorded for r in k.recorder.rings), **kwargs))
    off = spans(record_function)
    with profile():
        on = spans(record_function)
    print(f"record_function: off {off:.0f} ns, on {on:.0f} ns")
    with contextlib.suppress(ImportError):
        import torch
        settings = {"activities": [torch.profiler.ProfilerActivity.CPU], "acc_events": True}
        line("torch", *compare(chain(torch), torch.profiler.profile, lambda p: len(p.events()), 10, **settings))
        off = spans(torch.profiler.record_function)
        with torch.profiler.profile(**settings):
            on = spans(torch.profiler.record_function)
        print(f"torch's record_function: off {off:.0f} ns, on {on:.0f} ns")
    if options.callgrind:
        before, now = a_step(options.callgrind), a_step(ROOT)
        print(f"recording off, instructions of a chain: {before:.0f} in {options.callgrind.name}, {now:.0f} here: "
              f"{(now / before - 1) * 100:+.2f} %")


if __name__ == "__main__":
    main()
