"""Gradients of collectives on two ranks: exact, PyTorch's (gloo), ours. Prints the table of docs/gradients.md.

    python tests/bench/gradients_vs_torch.py

Each rank r holds x_r and makes the loss <u_r, y_r> of its result y_r; the gradients are those of the sum of both losses.
Exact ones are central differences of what the collective is, in NumPy. Without PyTorch its column is empty.
"""

import argparse
import datetime
import importlib.util
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

import autograd as ag
from dparallel import AllGather, AllReduce, Broadcast, Reduce, ReduceScatter, run_ranks

RANKS = 2
EPS = 1e-6


class Case(NamedTuple):
    """A collective: of x_r's shape, as NumPy has it, as PyTorch is called (torch's names in `t`), and ours."""

    call: str                                        # PyTorch's call, as the table names it
    shape: tuple
    define: object                                   # arrays of all ranks -> arrays of all ranks
    theirs: object                                   # (t, x, rank) -> y
    ours: object                                     # (x, comm) -> y


def everywhere(y):
    return [y] * RANKS


def on_root(y):
    return [y] + [np.zeros_like(y)] * (RANKS - 1)


def pieces(y):
    return list(y.reshape(RANKS, -1))


def reduced(op):
    return lambda xs: everywhere(op(xs))


def theirs_reduced(op):
    return lambda t, x, rank: t.nn.all_reduce(x, getattr(t.dist.ReduceOp, op))


def theirs_scattered(op):
    return lambda t, x, rank: t.nn.reduce_scatter(t.empty(x.numel() // RANKS), list(x.reshape(RANKS, -1)), getattr(t.dist.ReduceOp, op))


def ours_scattered(op):
    return lambda x, comm: ReduceScatter.apply(x, comm=comm, op=op)


def masked(y, rank):
    """A reduce's result, which is the root's alone."""
    return y if rank == 0 else y * 0


def raw_all_reduce(t, x, rank):
    y = x * 1
    t.dist.all_reduce(y)
    return y


def total(xs):
    return sum(xs)


def mean(xs):
    return sum(xs) / RANKS


def largest(xs):
    return np.maximum.reduce(xs)


CASES = [
    Case("nn.all_reduce(x)", (2,), reduced(total), theirs_reduced("SUM"), lambda x, c: AllReduce.apply(x, comm=c)),
    Case("nn.all_reduce(x, AVG)", (2,), reduced(mean), theirs_reduced("AVG"), lambda x, c: AllReduce.apply(x, comm=c, op="mean")),
    Case("nn.all_reduce(x, MAX)", (2,), reduced(largest), theirs_reduced("MAX"), lambda x, c: AllReduce.apply(x, comm=c, op="max")),
    Case("nn.all_reduce(x, MIN)", (2,), reduced(np.minimum.reduce), theirs_reduced("MIN"), lambda x, c: AllReduce.apply(x, comm=c, op="min")),
    Case("nn.all_reduce(x, PRODUCT)", (2,), reduced(np.multiply.reduce), theirs_reduced("PRODUCT"), lambda x, c: AllReduce.apply(x, comm=c, op="prod")),
    Case("_functional_collectives.all_reduce(x, 'max')", (2,), reduced(largest), lambda t, x, rank: t.functional.all_reduce(x, "max", t.dist.group.WORLD) * 1,
         lambda x, c: AllReduce.apply(x, comm=c, op="max")),
    Case("dist.all_reduce(x * 1)", (2,), reduced(total), raw_all_reduce, lambda x, c: AllReduce.apply(x, comm=c)),
    Case("nn.reduce(x, 0)", (2,), lambda xs: on_root(total(xs)), lambda t, x, rank: masked(t.nn.reduce(x, 0), rank),
         lambda x, c: Reduce.apply(x, comm=c)),
    Case("nn.reduce(x, 0, MAX)", (2,), lambda xs: on_root(largest(xs)), lambda t, x, rank: masked(t.nn.reduce(x, 0, t.dist.ReduceOp.MAX), rank),
         lambda x, c: Reduce.apply(x, comm=c, op="max")),
    Case("nn.broadcast(x, 0)", (2,), lambda xs: everywhere(xs[0]), lambda t, x, rank: t.nn.broadcast(x, 0), lambda x, c: Broadcast.apply(x, comm=c)),
    Case("_functional_collectives.broadcast(x, 0)", (2,), lambda xs: everywhere(xs[0]),
         lambda t, x, rank: t.functional.broadcast(x, 0, t.dist.group.WORLD) * 1, lambda x, c: Broadcast.apply(x, comm=c)),
    Case("nn.reduce_scatter(.., x)", (4,), lambda xs: pieces(total(xs)), theirs_scattered("SUM"), lambda x, c: ReduceScatter.apply(x, comm=c)),
    Case("nn.reduce_scatter(.., x, AVG)", (4,), lambda xs: pieces(mean(xs)), theirs_scattered("AVG"), ours_scattered("mean")),
    Case("nn.reduce_scatter(.., x, MAX)", (4,), lambda xs: pieces(largest(xs)), theirs_scattered("MAX"), ours_scattered("max")),
    Case("cat(nn.all_gather(x))", (1, 3), lambda xs: everywhere(np.concatenate(xs)), lambda t, x, rank: t.cat(t.nn.all_gather(x)),
         lambda x, c: AllGather.apply(x, comm=c)),
    Case("[y.t() for y in nn.all_gather(x)]", (2, 3), lambda xs: everywhere(np.concatenate([x.T for x in xs])),
         lambda t, x, rank: t.cat([y.t() for y in t.nn.all_gather(x)]), lambda x, c: AllGather.apply(x.t(), comm=c)),
]


def inputs(case):
    """x of each rank: small numbers, no two of them equal in one place."""
    size = int(np.prod(case.shape))
    rows = np.array([[1.0, 5, 2, 7, 3, 6], [4.0, 2, 6, 3, 8, 1]])
    return [row[:size].reshape(case.shape) for row in rows]


def weights(case):
    """u of each rank, in its result's shape: 1, 2, 3, ... and 10, 20, 30, ..."""
    return [np.arange(1.0, y.size + 1).reshape(y.shape) * 10 ** rank for rank, y in enumerate(case.define(inputs(case)))]


def exact(case):
    """The gradient on each rank by central differences."""
    xs, us = inputs(case), weights(case)

    def loss(moved):
        return sum(np.vdot(u, y) for u, y in zip(us, case.define(moved), strict=True))

    grads = []
    for rank, x in enumerate(xs):
        grad = np.zeros(x.shape)
        for index in np.ndindex(*x.shape):
            ends = []
            for sign in (1, -1):
                moved = [other.copy() for other in xs]
                moved[rank][index] += sign * EPS
                ends.append(loss(moved))
            grad[index] = (ends[0] - ends[1]) / (2 * EPS)
        grads.append(np.round(grad, 6) + 0.0)
    return grads


def ours(case):
    """dparallel's gradient on each rank, ranks as threads."""
    def rank(comm):
        x = ag.tensor(inputs(case)[comm.rank], requires_grad=True)
        y = case.ours(x, comm)
        if y.numel():
            (y * ag.tensor(weights(case)[comm.rank])).sum().backward()
        else:
            y.sum().backward()                       # not the root: an empty tensor
        return x.grad.numpy()

    return run_ranks(RANKS, rank)


class Torch:
    """PyTorch's names, imported in the processes that need them."""

    def __init__(self):
        import torch
        import torch.distributed as dist
        import torch.distributed._functional_collectives as functional
        import torch.distributed.nn.functional as nn
        self.torch, self.dist, self.functional, self.nn = torch, dist, functional, nn
        self.cat = torch.cat

    def empty(self, *shape):
        return self.torch.empty(*shape, dtype=self.torch.float64)


def worker(rank, path, numbers):
    """One gloo process: its gradients, or what was raised, are left in a file."""
    t = Torch()
    t.torch.set_num_threads(1)
    t.dist.init_process_group("gloo", init_method=f"file://{path}/store", rank=rank, world_size=RANKS,
                              timeout=datetime.timedelta(seconds=60))
    found, warned = [], []
    for number in numbers:
        case = CASES[number]
        x = t.torch.tensor(inputs(case)[rank], requires_grad=True)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                y = case.theirs(t, x, rank)
                (y * t.torch.tensor(weights(case)[rank])).sum().backward()
                found.append(x.grad.numpy().copy())
            except RuntimeError as error:
                found.append(f"{type(error).__name__}: {error}")
        warned.append(any("autograd kernel was not registered" in str(w.message) for w in said))
        t.dist.barrier()
    np.save(f"{path}/{rank}.npy", np.array([*zip(found, warned), None], dtype=object), allow_pickle=True)
    t.dist.destroy_process_group()


def theirs():
    """PyTorch's gradients on each rank for all cases, or what it raises, and whether it warned; None without PyTorch."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch.multiprocessing as mp
    with tempfile.TemporaryDirectory() as path:
        mp.spawn(worker, (path, list(range(len(CASES)))), nprocs=RANKS)
        ranks = [np.load(f"{path}/{rank}.npy", allow_pickle=True) for rank in range(RANKS)]
    return [[rank[number][0] for rank in ranks] for number in range(len(CASES))], [ranks[0][number][1] for number in range(len(CASES))]


def verdict(found, right, warned=False):
    """In a word."""
    if any(isinstance(g, str) for g in found):
        return "refused"
    if all(np.allclose(a, b, atol=1e-6) for a, b in zip(found, right, strict=True)):
        return "right"
    return "wrong, with a warning" if warned else "silently wrong"


def shown(grads):
    """Both ranks' gradients in a cell of the table."""
    if any(isinstance(g, str) for g in grads):
        return str(grads[0]).partition(":")[0]
    return "; ".join(np.array2string(np.asarray(g) + 0.0, separator=", ", formatter={"float": lambda v: f"{v:g}"}).replace("\n", "")
                     for g in grads)


def table():
    """The rows of docs/gradients.md: the call, and for each side the verdict and the gradients of rank 0; rank 1."""
    other = theirs()
    rows = []
    for number, case in enumerate(CASES):
        right, mine = exact(case), ours(case)
        row = [f"`{case.call}`", shown(right)]
        for found, warned in ((None, False) if other is None else (other[0][number], other[1][number]), (mine, False)):
            word = "" if found is None else verdict(found, right, warned)
            row.append(word if word in ("", "right") else f"**{word}**: {shown(found)}")
        rows.append(row)
    return rows


def markdown(rows):
    """The table as text."""
    lines = ["| PyTorch's call | exact (rank 0; rank 1) | PyTorch | dparallel |", "|---|---|---|---|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", help="write the table here instead")
    options = parser.parse_args()
    text = markdown(table())
    if options.out:
        Path(options.out).write_text(text + "\n")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
