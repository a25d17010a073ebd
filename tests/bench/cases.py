"""One benchmark case in one library: `python cases.py CASE LIBRARY` prints a JSON line. run.py starts it, many times.

Every case gives a number that must be the same in both libraries: a fast wrong answer is not a result.
"""

import argparse
import json
import os
import statistics
import sys
import time

import numpy as np


def library(name):
    """autograd or torch, one thread."""
    if name == "torch":
        import torch
        torch.set_num_threads(1)
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
        return w.grad

    return step, lambda: float(step().sum())


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


def mlp_parts(t, rows=64, rank=0, size=1):
    """MLP 64-128-64-10, AdamW, and this rank's share of the rows; weights and data are the same in both libraries."""
    rng = np.random.default_rng(0)
    model = t.nn.Sequential(t.nn.Linear(64, 128), t.nn.ReLU(), t.nn.Linear(128, 64), t.nn.ReLU(), t.nn.Linear(64, 10))
    model.load_state_dict({k: t.tensor((rng.standard_normal(tuple(v.shape)) / 8).astype(np.float32))
                           for k, v in model.state_dict().items()})
    x, y = rng.standard_normal((rows * size, 64)).astype(np.float32), rng.integers(0, 10, rows * size)
    return model, t.from_numpy(x[rank::size].copy()), t.from_numpy(y[rank::size].copy())


def mlp_step(t, model, parameters, x, y):
    optimizer = t.optim.AdamW(parameters, lr=1e-3)

    def step():
        optimizer.zero_grad()
        loss = t.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def mlp(t):
    model, x, y = mlp_parts(t)
    step = mlp_step(t, model, model.parameters(), x, y)
    first = [float(step()) for _ in range(10)][-1]
    return step, lambda: first


def parallel_mlp(t):
    """The MLP on two ranks, 64 rows each, gradients averaged in backward."""
    if t.__name__ == "torch":
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel
        dist.init_process_group("gloo", init_method=f"file://{os.environ['BENCH_FILE']}", rank=int(os.environ["BENCH_RANK"]),
                                world_size=2)
        model, x, y = mlp_parts(t, rank=dist.get_rank(), size=2)
        model = DistributedDataParallel(model)
    else:
        from dparallel import DataParallel, world
        comm = world()
        model, x, y = mlp_parts(t, rank=comm.rank, size=2)
        model = DataParallel(model, comm=comm)
    step = mlp_step(t, model, model.parameters(), x, y)
    first = [float(step()) for _ in range(10)][-1]
    return step, lambda: first


CASES = {"chain": builtin_chain, "function chain": function_chain, "mlp": mlp, "mlp on 2 ranks": parallel_mlp}


def measure(step, seconds):
    """Median of the times of single steps, after a warm-up."""
    for _ in range(20):
        step()
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 30:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
        if len(times) == 2000:
            break
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=[*CASES, "import"])
    parser.add_argument("library", choices=["autograd", "torch"])
    options = parser.parse_args()
    if options.case == "import":
        start = time.perf_counter()
        library(options.library)
        print(json.dumps({"time": time.perf_counter() - start, "check": 0.0}))
        return
    step, check = CASES[options.case](library(options.library))
    if options.case == "mlp on 2 ranks":                 # a fixed number: the ranks must make as many steps
        for _ in range(50):
            step()
        times = []
        for _ in range(600):
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        value = statistics.median(times)
    else:
        value = measure(step, 0.7)
    if int(os.environ.get("BENCH_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", 0))) == 0:
        print(json.dumps({"time": value, "check": check()}))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
