"""What saves in the background cost training, and questions whether to end: python tests/bench/checkpoint.py [--ranks 2]
[--every 50] [--rounds 8].

The GPT case (models.py) trains in blocks of `every` steps; each second block begins with a save, and is compared with the
blocks beside it. Measured so: Checkpointer with weights, optimiser and random streams, on a disk, and in memory; PyTorch's
Distributed Checkpoint (async_save, of the same case under DDP on gloo), where torch is installed. The goal is 3 %. "calls"
is the part of it that the training thread waits in save().

In the same way `stop.requested()` of graceful_exit is measured, after each step of the small MLP, in 20 times as many blocks.

The last lines are a table, medians and 10-90 % ranges of the blocks' ratios. Beside it processor time, which says something
on busy machines, too: of the training thread in save() and of all other threads, over that of the steps. Where writers have
no idle core it is what training loses.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from table import percentile

HERE = Path(__file__).parent
KINDS = {"disk": "Checkpointer", "memory": "Checkpointer, memory only", "sync": "Checkpointer, background=False",
         "dcp": "PyTorch DCP, async_save", "stop": "graceful_exit, requested() after each step of the MLP"}
MORE = {"stop": 20}                      # blocks, times --rounds: those of the MLP are short, and what disturbs one is not in many


def saver(kind: str, model: Any, optimizer: Any, folder: str) -> Any:
    """(save(step), finish()) of one way to save; of the question, for "stop"."""
    if kind == "stop":
        from dparallel import graceful_exit
        block = graceful_exit().__enter__()
        return lambda step: block.requested(), lambda: block.__exit__(None, None, None)
    if kind != "dcp":
        from dparallel.checkpoint import Checkpointer
        checkpoint = Checkpointer(folder, model=model, optimizer=optimizer, memory=kind == "memory", background=kind != "sync")

        def finish() -> None:
            checkpoint.save(10**6)                   # on the disk as well, so that close() gives the memory back
            checkpoint.close()

        return lambda step: checkpoint.save(step, disk=kind != "memory"), finish
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import get_state_dict
    if not dist.is_initialized():
        dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
    under_way: list[Any] = []

    def save(step: int) -> None:
        if under_way:
            under_way.pop().result()
        weights, state = get_state_dict(model, optimizer)
        under_way.append(dcp.async_save({"model": weights, "optimizer": state}, checkpoint_id=f"{folder}/{step}"))

    return save, lambda: under_way and under_way.pop().result()


def timed(kind: str, every: int, rounds: int, ranks: int, folder: str) -> dict[str, Any]:
    """The times of blocks without and with a save, or a question after each step, and of the calls in a block."""
    from trainings import library

    t = library("torch" if kind == "dcp" else "autograd")
    step, model, optimizer = training_parts(t, ranks, "mlp 64-128-64-10" if kind == "stop" else "gpt")
    save, finish = saver(kind, model, optimizer, folder)
    for _ in range(20):
        step()
    save(0)
    for _ in range(every):
        step()
    blocks: dict[bool, list[float]] = {False: [], True: []}
    beside: dict[bool, list[float]] = {False: [], True: []}              # processor time of other threads
    calls, in_call, steps = [], [], []
    for number in range(2 * rounds + 1):
        saves = number % 2 == 1
        start, used, mine = time.perf_counter(), time.process_time(), time.thread_time()
        called = called_mine = 0.0
        for index in range(every):
            if saves and (kind == "stop" or index == 0):
                before, before_mine = time.perf_counter(), time.thread_time()
                save(number)
                called += time.perf_counter() - before
                called_mine += time.thread_time() - before_mine
            step()
        if saves:
            calls.append(called)
            in_call.append(called_mine)
        blocks[saves].append(time.perf_counter() - start)
        mine = time.thread_time() - mine
        beside[saves].append(time.process_time() - used - mine)
        if not saves:
            steps.append(mine)
    finish()
    size = sum(f.stat().st_size for f in Path(folder).rglob("*") if f.is_file())
    return {"plain": blocks[False], "saving": blocks[True], "calls": calls, "in_call": in_call, "steps": steps,
            "beside_plain": beside[False], "beside_saving": beside[True], "bytes": size}


def training_parts(t: Any, ranks: int, case: str) -> tuple[Any, Any, Any]:
    """The step of a case, its model and its optimiser."""
    from trainings import training

    def held(function: Any) -> dict[str, Any]:
        return dict(zip(function.__code__.co_freevars, (cell.cell_contents for cell in function.__closure__), strict=True))

    step, batch = training(t, case, t.__name__, ranks)
    return functools.partial(step, *batch), held(held(step)["loss"])["model"], held(step)["optimizer"]


def ratios(found: dict[str, Any]) -> list[float]:
    """Each block with a save over the mean of the blocks beside it."""
    plain, saving = found["plain"], found["saving"]
    return [with_save / ((plain[i] + plain[i + 1]) / 2) for i, with_save in enumerate(saving)]


def processor_share(found: dict[str, Any]) -> float:
    """The processor time of a save, of all threads, over that of a block's steps."""
    middle = {name: percentile(found[name], 0.5) for name in ("in_call", "steps", "beside_plain", "beside_saving")}
    return (middle["in_call"] + middle["beside_saving"] - middle["beside_plain"]) / middle["steps"]


def row(kind: str, found: dict[str, Any], every: int) -> str:
    """A line of the table."""
    cost = [100 * (ratio - 1) for ratio in ratios(found)]
    step = percentile(found["plain"], 0.5) / every
    return (f"| {KINDS[kind]} | {percentile(cost, 0.5):.2f} ({percentile(cost, 0.1):.1f} to {percentile(cost, 0.9):.1f}) | "
            f"{100 * processor_share(found):.2f} | {1e3 * percentile(found['calls'], 0.5):.1f} | "
            f"{1e3 * percentile(found['in_call'], 0.5):.1f} | {1e3 * step:.{1 if step >= 1e-3 else 3}f} |")


def launch(kind: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure in processes of their own; rank 0's figures."""
    folder = tempfile.mkdtemp(dir=arguments.folder)
    command = [str(Path(__file__)), "--kind", kind, "--every", str(arguments.every), "--rounds",
               str(arguments.rounds * MORE.get(kind, 1)), "--ranks", str(arguments.ranks), "--folder", folder]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "BENCH_FILE": f"{folder}/store"}
    try:
        if kind == "dcp":
            processes = [subprocess.Popen([sys.executable, *command], env={**environment, "BENCH_RANK": str(rank)}, cwd=HERE.parent.parent,
                                          stdout=subprocess.PIPE, text=True) for rank in range(arguments.ranks)]
            outputs = [process.communicate()[0] for process in processes]
        else:
            before = ["-m", "launch", "-n", str(arguments.ranks), "--threads", "1"] if arguments.ranks > 1 else []
            outputs = [subprocess.run([sys.executable, *before, *command], env=environment, cwd=HERE.parent.parent, stdout=subprocess.PIPE,
                                      text=True, check=True).stdout]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return next(json.loads(line) for output in outputs for line in output.splitlines() if line.startswith('{"plain"'))


def main() -> None:
    """Measure each way in turn, and print the table; in a process that launch() started, measure one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--every", type=int, default=50, help="steps from one save to the next")
    parser.add_argument("--rounds", type=int, default=8, help="blocks with a save")
    parser.add_argument("--folder", help="where checkpoints are written")
    parser.add_argument("--kinds", nargs="*", default=[*KINDS])
    parser.add_argument("--kind", choices=[*KINDS], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.kind:
        found = timed(arguments.kind, arguments.every, arguments.rounds, arguments.ranks, arguments.folder)
        print(json.dumps(found), flush=True)
        return
    print(f"GPT, {arguments.ranks} ranks, one save every {arguments.every} steps\n")
    print("| | cost, % of the time (10-90 %) | of the processor time | calls in a block, ms | of the processor | step, ms |\n|---|---:|---:|---:|---:|---:|")
    for kind in arguments.kinds:
        if kind == "dcp":
            try:
                import torch  # noqa: F401
            except ImportError:
                continue
        print(row(kind, launch(kind, arguments), arguments.every), flush=True)


if __name__ == "__main__":
    main()
