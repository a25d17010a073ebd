"""One benchmark case in one library: `python trainings.py CASE LIBRARY [--ranks 2]` prints a JSON line. run.py starts it.

{"time": seconds of a step (median), "check": results of the first steps, which must be the same in all libraries, "memory" and
"resident": MiB that were resident at most, and at the end}. With --serve it prints a line after warming up, and one for each line that it reads, so that run.py
can measure several libraries in turn.

A fast wrong answer is not a result: run.py compares the checks.
"""

import argparse
import functools
import inspect
import json
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from models import ALONE, FLOAT64, INFERENCE, LOCAL, VARIATIONS, seeded

WARM_UP = 20                         # steps, or half a second of them
CHECKED = 5                          # steps whose results are compared
BLOCK = 1e-3                         # seconds of the steps that one reading of the clock covers
LIBRARIES = {"autograd": "", "replayed": "autograd.trace_step(step)", "compiled": "autograd.compile(step)", "torch": "",
             "tuned": "torch with fused optimizers, channels last, small numbers flushed to zero",
             "inductor": "tuned, and the loss under torch.compile", "jax": "the step under jax.jit"}


def library(name):
    """autograd or torch, with one thread. JAX's cases take weights and data from autograd."""
    if name in ("torch", "tuned", "inductor"):
        import torch
        torch.set_num_threads(1)
        torch.set_flush_denormal(name != "torch")
        return torch
    import autograd
    return autograd


def chain(t, multiply, wrap):
    """100 multiplications of 8 numbers, forward and backward; wrap compiles the forward pass, if anything."""
    start = np.linspace(0.9, 1.1, 8).astype(np.float32)
    x, w = (t.tensor(start, requires_grad=True) for _ in range(2))

    @wrap
    def forward(x, w):
        y = x
        for _ in range(100):
            y = multiply(y, w)
        return y.sum()

    def step():
        x.grad = w.grad = None
        forward(x, w).backward()
        return w.grad.sum()

    return step


def builtin_chain(t, wrap):
    return chain(t, lambda a, b: a * b, wrap)


def function_chain(t, wrap):
    class Multiply((t.autograd if hasattr(t, "autograd") else t).Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    return chain(t, Multiply.apply, wrap)


def linear_algebra(t, wrap):
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


def training(t, case, library, ranks=1, devices=None):
    """(step, its arguments) of a model's training: zero_grad, forward, loss, backward, optimizer; under data parallelism on several
    ranks or local devices. Of inference: the forward pass in evaluation mode."""
    rank, wrap = placed(t, ranks, devices)
    name = case.removesuffix(INFERENCE).removesuffix(FLOAT64)
    model, batch, loss_of, optimizer_of = {**ALONE, **LOCAL}[name](t, rank, ranks)
    seeded(t, model)
    if case.endswith(FLOAT64):
        model, batch = model.double(), [x.double() if x.is_floating_point() else x for x in batch]
    model = wrap(model.eval() if case.endswith(INFERENCE) else model)
    optimizer = optimizer_of(model.parameters())
    if library == "jax":
        import jax_models
        return jax_models.training(name, model, batch, optimizer)
    if library in ("tuned", "inductor"):
        model, batch, optimizer = tune(t, model, batch, optimizer)

    def loss(*batch):
        return loss_of(model, *batch)

    def training_step(*batch):
        optimizer.zero_grad()
        value = loss(*batch)
        value.backward()
        optimizer.step()
        return value

    def inference_step(*batch):
        with t.inference_mode():
            return model(*batch[:-1])

    if library == "inductor":
        model, loss = t.compile(model), t.compile(loss)
    return inference_step if case.endswith(INFERENCE) else training_step, batch


def tune(t, model, batch, optimizer):
    """PyTorch's own ways to be quicker on the CPU without another model: the fused optimizer, and for convolutional networks
    weights and images whose channels lie last. library() has small numbers flushed to zero."""
    if any(p.ndim == 4 for p in model.parameters()):
        model = model.to(memory_format=t.channels_last)
        batch = [x.to(memory_format=t.channels_last) if x.ndim == 4 else x for x in batch]
    known = inspect.signature(type(optimizer)).parameters
    settings = {name: value for name, value in optimizer.defaults.items() if name in known} | {"fused": True, "foreach": False}
    return model, batch, type(optimizer)(model.parameters(), **settings)


def prepared(t, options):
    """The step of the command line's case and library, without arguments."""
    case, name = options.case, options.library
    if name == "jax" and case in CHAINS:
        import jax_models
        return jax_models.chain(case == "function chain")
    if case in CHAINS:
        step, batch = CHAINS[case](t, t.compile if name == "inductor" else lambda forward: forward), ()
    else:
        t.manual_seed(0)
        step, batch = training(t, case, name, 1 if options.alone else options.ranks, options.devices)
    if options.alone:
        return alone(lambda: step(*batch))
    step = t.trace_step(step, batch) if name == "replayed" else t.compile(step) if name == "compiled" else step
    return functools.partial(step, *batch)


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


def checked(step):
    """The mean magnitude of the results of the first steps."""
    results = [step() for _ in range(CHECKED)]
    return [float(abs(np.asarray(z.detach() if hasattr(z, "detach") else z)).mean()) for z in results]


def warm(step, count):
    """Steps that are not measured; a fixed count of them where ranks must make equally many."""
    end = time.perf_counter() + 0.5
    for number in range(WARM_UP if count is None else max(3, count // 10)):
        if count is None and number >= 3 and time.perf_counter() > end:
            break
        step()


def measure(step, seconds, count, clock):
    """Times of single steps; means of blocks of steps that are shorter than a reading of the clock is precise."""
    start = clock()
    step()
    block = 1 if count is not None else max(1, min(1000, int(BLOCK / max(clock() - start, 1e-9))))
    times = []
    end = time.perf_counter() + seconds
    while len(times) < count if count is not None else (time.perf_counter() < end or len(times) < 3) and len(times) < 2000:
        start = clock()
        for _ in range(block):
            step()
        times.append((clock() - start) / block)
    return times


def resident(name="VmHWM:"):
    """MiB, at most or (VmRSS) now. Not ru_maxrss, which begins at what the process that started this one had."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith(name))) / 1024
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=[*CHAINS, *ALONE, *VARIATIONS, *LOCAL, "import"])
    parser.add_argument("library", choices=list(LIBRARIES), help="; ".join(f"{name}: {text}" for name, text in LIBRARIES.items() if text))
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--devices", type=int, help="local devices")
    parser.add_argument("--alone", action="store_true", help="ranks that each train for themselves, and meet after each step")
    parser.add_argument("--steps", type=int, help="a fixed number of steps")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--serve", action="store_true", help="measure once for each line read: the seconds of the measurement")
    parser.add_argument("--cpu", action="store_true", help="processor time, for a busy machine")
    parser.add_argument("--fastest", action="store_true", help="of the fastest tenth of steps, for ranks on a busy machine")
    parser.add_argument("--mean", action="store_true", help="the mean of all steps, not their median")
    options = parser.parse_args()
    start = time.perf_counter()
    clock = time.process_time if options.cpu else time.perf_counter
    t = library(options.library)
    if options.case == "import":
        print(json.dumps({"time": time.perf_counter() - start, "check": [0.0]}))
        return
    step = prepared(t, options)
    steps = options.steps if options.steps is not None or options.ranks == 1 else 200
    check = checked(step)
    warm(step, steps)

    def figures(seconds):
        times = measure(step, seconds, steps, clock)
        found = float(np.percentile(times, 5)) if options.fastest else (statistics.mean if options.mean else statistics.median)(times)
        return json.dumps({"time": found, "check": check, "memory": resident(), "resident": resident("VmRSS:")})

    if options.serve:
        print(json.dumps({"check": check}), flush=True)
        for line in sys.stdin:
            print(figures(float(line)), flush=True)
        return
    text = figures(options.seconds)
    if int(os.environ.get("BENCH_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", 0))) == 0:
        print(text)
    sys.stdout.flush()
    if options.library == "torch" and options.ranks > 1:
        os._exit(0)                                  # gloo's threads sometimes bring down a process that ends in order


if __name__ == "__main__":
    main()
