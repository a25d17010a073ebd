"""Predicted steps beside measured ones: `python tests/bench/prediction.py [--quick] [--write] [--json FILE]`.

Traced on one rank and on two ranks through shared memory; measured on one rank, on two through shared memory, MPI's messages
and TCP, on a slow network of known speed (dparallel/testing/slow_network.py), and on four that share two cores (steps above
20 ms). Each case is listed. Beside each trace and each measurement is that of the bare module's step on as many processes at
once, without communication; the trace is scaled by their ratio, since processors are not equally fast all day. Steps that
lost their core to another process are left out: each rank asks schedstat, and for ranks that share cores the share of the
processors that went to others is asked. About 6 minutes; --write puts the tables into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from machine import machine
from runs import HERE, LIMIT, ROOT, Failed, environment
from table import write_between

PAGE = ROOT / "docs" / "benchmarks.md"
CASES = ROOT / "docs" / "site" / "predicted.csv"
MODELS = ("mlp 784-512-512-10", "cnn 28x28", "resnet-20", "gpt", "lstm")
LONG = 0.02                                              # seconds: shorter steps on shared cores follow the scheduler's ticks
CHOICES: dict[str, dict[str, Any]] = {                   # what DataParallel is asked for; a hook is registered
    "default": {}, "25 MiB": {"bucket_cap_mb": 25.0}, "1 MiB": {"bucket_cap_mb": 1.0}, "fp16": {"hook": "fp16"},
    "shard='optimizer'": {"shard": "optimizer"}, "shard='parameters'": {"shard": "parameters"}}
FEWER = ("mlp 784-512-512-10", "resnet-20", "gpt")       # models of the slow networks
ALSO = {"shared memory": ("mlp 784-512-512-10", "gpt"), "TCP": ("mlp 784-512-512-10", "gpt")}        # more than buckets
TCP = "--mca pml ob1 --mca btl tcp,self"
ENOUGH, PATIENCE = 10, 6.0                               # quiet steps of a case; seconds in which a model's cases take turns
FOREIGN = 0.05                                           # of the processors' time, that others may have in a round
SLOW = {"slow, 1 Gbit/s": (50e-6, 125e6), "slow, 4 Gbit/s": (30e-6, 500e6)}


class Job(NamedTuple):
    """Ranks, whether sums go through MPI's messages, arguments of mpirun, what the network is slowed down to."""

    ranks: int
    messages: bool = False
    mpi_args: str = ""
    slow: tuple[float, float] | None = None


JOBS = {"1 rank": Job(1), "shared memory": Job(2), "MPI's messages": Job(2, True), "TCP": Job(2, True, TCP),
        **{name: Job(2, slow=speed) for name, speed in SLOW.items()}, "4 ranks on 2 cores": Job(4)}
LIMITS = {"slow": (0.10, 0.20), "": (0.05, 0.15)}        # of the median and of the worst error


# --- on the ranks -----------------------------------------------------------------------------------------------------------

def busy() -> tuple[float, float]:
    """Seconds that all processors were busy, and that this process was."""
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / 100, time.process_time()


def measure(comm: Any, cases: dict[str, Any], steps: int, enough: int, shared: bool) -> dict[str, Any]:
    """Seconds of the undisturbed steps of each case, which take turns; the mean over ranks. shared: ranks share cores."""
    from dparallel.observe.prediction.quiet import quietest, stolen

    taken: dict[str, list[float]] = {name: [] for name in cases}
    lost: dict[str, list[float]] = {name: [] for name in cases}
    for step in cases.values():
        for _ in range(4):
            step()
    begin, over = time.perf_counter(), False
    while not over:
        for name, step in cases.items():
            comm.barrier()
            all_before, own_before = busy()
            times, stole = np.empty(steps), np.empty(steps)
            for number in range(steps):
                before, start = stolen(), time.perf_counter()
                step()
                times[number] = time.perf_counter() - start
                stole[number] = (stolen() - before) / 1e9
            if name == "bare" and not shared:            # nobody waits for anybody: what was lost can be subtracted
                times, stole = np.maximum(times - stole, 0.1 * times), 0.0 * stole
            times = comm.allreduce([times], op="sum")[0] / comm.size
            if shared:
                all_after, own_after = busy()
                ours = comm.allreduce([np.array(own_after - own_before)], op="sum")[0].item()
                foreign = comm.broadcast_object(max(0.0, all_after - all_before - ours) / max(times.sum() * 2, 0.02))
                stole = times * (0.0 if foreign < FOREIGN else foreign)
            else:
                stole = comm.allreduce([stole], op="max")[0]
            taken[name] += times.tolist()
            lost[name] += stole.tolist()
        fewest = min(len(quietest(taken[name], lost[name])[0]) * quietest(taken[name], lost[name])[1] for name in cases)
        over = comm.broadcast_object(fewest >= enough or time.perf_counter() - begin > PATIENCE)
    found = {}
    for name in cases:
        kept, quiet = quietest(taken[name], lost[name])
        found[name] = {"seconds": median([taken[name][i] for i in kept]), "quiet": len(kept) if quiet else 0,
                       "steps": len(taken[name])}
    return found


def on_ranks(options: argparse.Namespace) -> None:
    """Measure one job's cases; rank 0 prints a JSON line."""
    from models import MODELS as MAKE
    from models import seeded

    import autograd
    from dparallel import DataParallel, hooks, world
    from dparallel.comm.mpi.shared_sum import SharedSums
    from dparallel.observe.prediction.measure_step import StepRecorder
    from dparallel.prediction import measure_network
    from dparallel.testing import slow_network

    job, comm = JOBS[options.job], world()
    if job.messages:
        SharedSums.vector = lambda *_: None              # type: ignore[method-assign]  # as if each rank had its own host
    shared = comm.size > 2
    network = measure_network(comm, 5 << 20)
    found: dict[str, Any] = {"network": network.as_dict(), "models": {}}
    for name in [m for m in options.model if not job.slow or m in FEWER]:
        def stepping(wrap: Any, name: str = name) -> Any:
            module, (x, y), loss_of, optimizer_of = MAKE[name](autograd, comm.rank, comm.size)
            model = wrap(seeded(autograd, module))
            optimizer = optimizer_of(model.parameters())

            def step() -> None:
                optimizer.zero_grad()
                loss_of(model, x, y).backward()
                optimizer.step()

            step.model = model                           # type: ignore[attr-defined]
            return step

        def wrapped(module: Any, hook: str = "", **settings: Any) -> Any:
            model = DataParallel(module, comm=comm, **settings)
            if hook:
                model.register_comm_hook(None, hooks.fp16_compress_hook)
            if job.slow and comm.size > 1:
                slow_network(model, *job.slow)
            return model

        cases = {"bare": stepping(lambda module: module)}
        few = ["default", "25 MiB", "1 MiB"] if comm.size > 1 else ["default"]
        for choice in CHOICES if name in ALSO.get(options.job, ()) else few:
            cases[choice] = stepping(lambda module, choice=choice: wrapped(module, **CHOICES[choice]))
        step = cases["bare"]
        begin = time.perf_counter()
        step()
        step()
        once = comm.allreduce([np.array((time.perf_counter() - begin) / 2)], op="max")[0].item()
        if shared and once < LONG:
            continue
        steps = int(max(4, min(60, 0.25 / once)))
        row: dict[str, Any] = {"cases": measure(comm, cases, steps, 4 if options.quick else ENOUGH, shared)}
        if not shared and not job.slow and not job.messages:
            training = stepping(lambda module: DataParallel(module, comm=comm, batch="own"))
            recorder = StepRecorder(training.model, 12 if options.quick else 40, 4)
            while not recorder.done:
                training()
            row["trace"] = recorder.trace().as_dict()
            after = measure(comm, {"bare": step}, steps, 4, shared)["bare"]
            before = row["cases"]["bare"]
            row["beside"] = {"seconds": (before["seconds"] + after["seconds"]) / 2, "quiet": min(before["quiet"], after["quiet"])}
            recorder.stop()
        found["models"][name] = row
    if comm.rank == 0:
        print(json.dumps(found), flush=True)


# --- in front of them -------------------------------------------------------------------------------------------------------

def launched(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """What a job found."""
    job = JOBS[name]
    command = [sys.executable, "-m", "launch", "-q", "-n", str(job.ranks), "--threads", "1", "--timeout", str(LIMIT),
               *(["--mpi-args", job.mpi_args] if job.mpi_args else []), str(HERE / "prediction.py"), "--job", name,
               *(["--quick"] if options.quick else [])]
    for model in options.model:
        command += ["--model", model]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=LIMIT + 30)
    if done.returncode:
        raise Failed(f"{' '.join(command)}\nended with exit status {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def network_of(name: str, found: dict[str, Any]) -> Any:
    """The network that a job measured; slowed down, the one it was slowed down to."""
    from dparallel.observe.prediction.network import Network, Point

    network, speed = Network.from_dict({**found["network"], "cores_per_host": None}), JOBS[name].slow
    if speed is None:
        return network
    latency, bandwidth = speed
    slowed = []
    for p in network.measured["sum"][2]:
        seconds = max(p.seconds, latency + p.nbytes / bandwidth)
        slowed.append(Point(p.nbytes, seconds, seconds, seconds, min(1.0, p.cpu * p.seconds / seconds)))
    return Network.from_dict({**network.as_dict(), "measured": {**network.as_dict()["measured"], "sum": {"2": slowed}}})


def rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each measured case: its prediction from the trace on one rank, and from that on two."""
    from dparallel.observe.prediction.hook_programs import builtin_programs
    from dparallel.observe.prediction.predict import predict_one
    from dparallel.prediction import Option, StepTrace

    out, programs = [], builtin_programs()
    for name, job in found.items():
        for model, row in job["models"].items():
            for case, measured in row["cases"].items():
                bare = row["cases"]["bare"]
                if case == "bare":
                    continue
                if JOBS[name].ranks > 2 and measured["seconds"] < LONG:
                    continue
                line: dict[str, Any] = {"job": name, "model": model, "choice": case, "measured": measured["seconds"],
                                        "quiet": min(measured["quiet"], bare["quiet"]), "steps": measured["steps"]}
                for source in ("1 rank", "shared memory"):
                    traced = found.get(source, {}).get("models", {}).get(model)
                    if traced is None:
                        continue
                    factor = bare["seconds"] / traced["beside"]["seconds"]
                    trace = StepTrace.from_dict(traced["trace"]).scaled(factor)
                    option = Option(JOBS[name].ranks, **CHOICES[case])
                    point = predict_one(trace, network_of(name, job), option, programs)
                    line[source] = {"seconds": point.seconds, "low": point.low, "high": point.high, "factor": factor,
                                    "error": point.seconds / measured["seconds"] - 1}
                out.append(line)
    return out


def limits(job: str) -> tuple[float, float]:
    """The median and the worst error that are asked for."""
    return next(value for key, value in LIMITS.items() if job.startswith(key))


def text(lines: list[dict[str, Any]]) -> str:
    """The table: a summary by job."""
    out = ["| network | trace on | cases | median error | worst | within the error bar |", "|---|---|---:|---:|---:|---:|"]
    kept = [line for line in lines if line["quiet"]]
    for job in dict.fromkeys(line["job"] for line in lines):
        for source, shown in (("1 rank", "1 rank"), ("shared memory", "2 ranks")):
            here = [line for line in kept if line["job"] == job and source in line]
            if here:
                errors = [abs(line[source]["error"]) for line in here]
                inside = sum(line[source]["low"] <= line["measured"] <= line[source]["high"] for line in here)
                good = median(errors) <= limits(job)[0] and max(errors) <= limits(job)[1]
                out.append(f"| {job} | {shown} | {len(here)} | {median(errors):.1%}{'' if good else ' *'} | {max(errors):.1%} | "
                           f"{inside} of {len(here)} |")
    return "\n".join(out)


def cases(lines: list[dict[str, Any]]) -> str:
    """Each case, as the text of docs/site/predicted.csv."""
    out = ["network,model,choice,measured ms,quiet steps,predicted from 1 rank,error,from 2 ranks,error"]
    for line in lines:
        cells = [f"{line[s]['seconds'] * 1e3:.3g},{line[s]['error']:+.1%}" if s in line else "," for s in ("1 rank", "shared memory")]
        quiet = f"{line['quiet']} of {line['steps']}" if line["quiet"] else "none: left out"
        job = line["job"].replace(",", "")
        out.append(f"{job},{line['model']},{line['choice']},{line['measured'] * 1e3:.3g},{quiet},{','.join(cells)}")
    return "\n".join([*out, ""])


def conditions(m: dict[str, Any]) -> str:
    """Under what the figures were measured."""
    return textwrap.fill(f"{m['processor']}, {m['cores']} cores; Python {m['python']}, NumPy {m['numpy']}, {m['mpi']}; one thread a "
                         f"rank; {m['date']}, commit {m['commit']}; other processes used {m['load']:.1f} cores when this began.", 125)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    parser.add_argument("--json", type=Path, help="all figures")
    parser.add_argument("--model", action="append", choices=MODELS, help="again for more (default: all)")
    parser.add_argument("--only", action="append", choices=list(JOBS), help="these jobs, beside those that are traced")
    parser.add_argument("--job", choices=list(JOBS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.model = options.model or list(MODELS)
    if options.job:
        on_ranks(options)
        return
    about = machine()
    start, found = time.perf_counter(), {}
    for name in JOBS:
        if not options.only or name in options.only or name in ("1 rank", "shared memory"):
            found[name] = launched(name, options)
            print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
            if options.json:
                options.json.write_text(json.dumps({"found": found, "rows": rows(found)}, indent=1))
    lines = rows(found)
    print(text(lines), cases(lines), sep="\n\n")
    if options.write:
        CASES.write_text(cases(lines))
        write_between(PAGE, "prediction", f"{conditions(about)}\n\n{text(lines)}")


if __name__ == "__main__":
    main()
