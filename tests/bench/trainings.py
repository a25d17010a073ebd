"""One benchmark case in one library: `python trainings.py CASE LIBRARY [--ranks 2]` prints a JSON line. run.py starts it, often.

{"time": seconds of a step (median), "check": a number that must be the same in both libraries, "memory": MiB, the most that
was resident}.

A fast wrong answer is not a result: run.py compares the checks.
"""

import argparse
import inspect
import json
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from models import LOCAL, MODELS, seeded

WARM_UP = 20                         # steps, or half a second of them


def library(name):
    """autograd (also for "replayed") or torch (also for "tuned"), one thread."""
    if name in ("torch", "tuned"):
        import torch
        torch.set_num_threads(1)
        if name == "tuned":
            torch.set_flush_denormal(True)
        return torch
    import autograd
    return autograd


def chain(t, multiply):
    """100 multiplications of 8 numbers, forward and backward."""
    start = np.linspace(0.9, 1.1, 8).astype(np.float32)
    x, w = (t.tensor(start, requires_grad=True) for _ in range(2))

    def step():
        x.grad = w.grad = None
        y = x
        for _ in range(100):
            y = multiply(y, w)
        y.sum().backward()
        return w.grad.sum()

    return step


def builtin_chain(t):
    return chain(t, lambda a, b: a * b)


def function_chain(t):
    class Multiply((t.autograd if hasattr(t, "autograd") else t).Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    return chain(t, Multiply.apply)


def linear_algebra(t):
    """LU factors, systems solved with them, triangular systems, QR factors and products of reflections: 200 x 200, float64."""
    rng = np.random.default_rng(0)
    a, b = (t.tensor(rng.standard_normal((200, 200)) + 20 * np.eye(200)) for _ in range(2))
    reflections = t.geqrf(a)

    def step():
        factors, pivots = t.linalg.lu_factor(a)
        x = t.linalg.lu_solve(factors, pivots, b)
        y = t.linalg.solve_triangular(factors, b, upper=True)
        z = t.linalg.qr(a)[1].diagonal().abs()
        return x.sum() + y.sum() + z.sum() + t.linalg.householder_product(*reflections).abs().sum()

    return step


CHAINS = {"chain": builtin_chain, "function chain": function_chain, "linear algebra": linear_algebra}


def training(t, case, ranks, devices=None, tuned=False):
    """A step of a model's training: zero_grad, forward, loss, backward, optimizer; under data parallelism on several ranks
    or local devices. tuned: as a careful user of PyTorch writes it for the CPU, see tune()."""
    rank, wrap = placed(t, ranks, devices)
    model, (x, y), loss_of, optimizer_of = {**MODELS, **LOCAL}[case](t, rank, ranks)
    seeded(t, model)
    model = wrap(model)
    optimizer = optimizer_of(model.parameters())
    if tuned:
        model, x, optimizer = tune(t, model, x, optimizer)

    def step():
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def tune(t, model, x, optimizer):
    """PyTorch's own ways to be quicker on the CPU without another model: the fused optimiser, and for convolutional networks
    weights and images whose channels lie last. library() has small numbers flushed to zero."""
    if any(p.ndim == 4 for p in model.parameters()):
        model, x = model.to(memory_format=t.channels_last), x.to(memory_format=t.channels_last)
    known = inspect.signature(type(optimizer)).parameters
    settings = {name: value for name, value in optimizer.defaults.items() if name in known} | {"fused": True, "foreach": False}
    return model, x, type(optimizer)(model.parameters(), **settings)


def placed(t, ranks, devices):
    """This process's rank, and what makes a module data-parallel."""
    if devices:
        from dparallel import DataParallel
        return 0, lambda model: DataParallel(model, devices=devices)
    if ranks == 1:
        return 0, lambda model: model
    if t.__name__ == "torch":
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel
        dist.init_process_group("gloo", init_method=f"file://{os.environ['BENCH_FILE']}", rank=int(os.environ["BENCH_RANK"]),
                                world_size=ranks)
        return dist.get_rank(), DistributedDataParallel
    from dparallel import DataParallel, world
    comm = world()
    return comm.rank, lambda model: DataParallel(model, comm=comm)


def alone(step):
    """A step, and then a barrier over MPI's ranks."""
    from mpi4py import MPI

    def met():
        loss = step()
        MPI.COMM_WORLD.Barrier()
        return loss

    return met


def measure(step, seconds, count, clock):
    """(times of single steps, the third step's result); a fixed count of steps where ranks must make equally many."""
    check = [float(step().detach()) for _ in range(3)][-1]
    warm = time.perf_counter() + 0.5
    for number in range(WARM_UP if count is None else max(3, count // 10)):
        if count is None and number >= 3 and time.perf_counter() > warm:
            break
        step()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < count if count is not None else (time.perf_counter() < end or len(times) < 8) and len(times) < 2000:
        start = clock()
        step()
        times.append(clock() - start)
    return times, check


def most_resident():
    """MiB. Not ru_maxrss, which begins at what the process that started this one had."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:"))) / 1024
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=[*CHAINS, *MODELS, *LOCAL, "import"])
    parser.add_argument("library", choices=["autograd", "torch", "tuned", "replayed"],
                        help="tuned: torch with a fused optimiser and channels last; replayed: autograd.trace_step(step)")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--devices", type=int, help="local devices")
    parser.add_argument("--alone", action="store_true", help="ranks that each train for themselves, and meet after each step")
    parser.add_argument("--steps", type=int, help="a fixed number of steps")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--cpu", action="store_true", help="processor time, for a busy machine")
    parser.add_argument("--fastest", action="store_true", help="of the fastest tenth of steps, for ranks on a busy machine")
    parser.add_argument("--mean", action="store_true", help="the mean of all steps, not their median")
    options = parser.parse_args()
    start = time.perf_counter()
    clock = time.process_time if options.cpu else time.perf_counter
    t = library(options.library)
    if options.case == "import":
        print(json.dumps({"time": time.perf_counter() - start, "check": 0.0}))
        return
    if options.case not in CHAINS:
        t.manual_seed(0)
    if options.case in CHAINS:
        step = CHAINS[options.case](t)
    elif options.alone:
        step = alone(training(t, options.case, 1, None))
    else:
        step = training(t, options.case, options.ranks, options.devices, options.library == "tuned")
    if options.library == "replayed":
        step = t.trace_step(step)
    steps = options.steps if options.steps is not None or options.ranks == 1 else 200
    times, check = measure(step, options.seconds, steps, clock)
    if int(os.environ.get("BENCH_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", 0))) == 0:
        found = float(np.percentile(times, 5)) if options.fastest else (statistics.mean if options.mean else statistics.median)(times)
        print(json.dumps({"time": found, "check": check, "memory": most_resident()}))
    sys.stdout.flush()
    if options.library == "torch" and options.ranks > 1:
        os._exit(0)                                  # gloo's threads sometimes bring down a process that ends in order


if __name__ == "__main__":
    main()
