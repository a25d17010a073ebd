"""A fault on one rank is an error on every rank that takes part, and the group goes on: each collective, each kind of fault.

In a row the first function is called on the ranks without fault, the second on the rank with it. Only rank 0 can do what a
root does.
"""

import contextlib
import threading

import numpy as np
import pytest
from raised import raises

import autograd as ag
import dparallel
import dparallel.distributed as dist
from dparallel import CollectiveError
from dparallel.distributed import ReduceOp
from dparallel.distributed import nn as recorded


class Unpicklable:
    def __reduce__(self):
        raise KeyError("not to be pickled")


def explode(rank):
    if rank is None or dist.get_rank() == rank:
        raise OSError("not to be made again")
    return "made again"


class Unmakeable:
    """What can be pickled, and not be unpickled: on one rank, or on any (None)."""

    def __init__(self, rank=None):
        self.rank = rank

    def __reduce__(self):
        return explode, (self.rank,)


def x(*shape, dtype=ag.float32):
    return ag.ones(shape or (2,), dtype=dtype)


def xs(n, *shape, dtype=ag.float32):
    return [x(*shape, dtype=dtype) for _ in range(n)]


def read_only(*shape):
    array = np.ones(shape, np.float32)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        return ag.from_numpy(array)


def expanded(*shape):
    return ag.ones(1).expand(*shape)


F64, I64, MAX = ag.float64, ag.int64, ReduceOp.MAX
NO_TENSORS = {"a number": 1.0, "an array": np.ones(2), "None": None, "a list": [1.0, 1.0], "a string": "x"}
# collective: (healthy call of rank r of n, {fault: faulty call of rank r of n})
CALLS = {
    "all_reduce": (lambda r, n: dist.all_reduce(x()), {
        "dtype": lambda r, n: dist.all_reduce(x(dtype=F64)),
        "shape": lambda r, n: dist.all_reduce(x(3)),
        "shape of as many elements": lambda r, n: dist.all_reduce(x(1, 2)),
        "op": lambda r, n: dist.all_reduce(x(), MAX),
        "no op": lambda r, n: dist.all_reduce(x(), "sum"),
        "bits of floats": lambda r, n: dist.all_reduce(x(), ReduceOp.BAND),
        "read-only": lambda r, n: dist.all_reduce(read_only(2)),
        "expanded": lambda r, n: dist.all_reduce(expanded(2)),
        "one of several views of a graph": lambda r, n: dist.all_reduce((ag.ones(4, requires_grad=True) * 2).chunk(2)[0]),
        "dtype that can't be sent": lambda r, n: dist.all_reduce(ag.ones(2).to(ag.complex64), MAX),
        "another collective": lambda r, n: dist.barrier(),
        "tangent": lambda r, n: in_level(lambda: dist.all_reduce(dual())),
        **{f"{name} for a tensor": lambda r, n, v=v: dist.all_reduce(v) for name, v in NO_TENSORS.items()}}),
    "all_reduce, async": (lambda r, n: dist.all_reduce(x(), async_op=True).wait(), {
        "dtype": lambda r, n: dist.all_reduce(x(dtype=F64), async_op=True).wait(),
        "read-only": lambda r, n: dist.all_reduce(read_only(2), async_op=True).wait(),
        "None": lambda r, n: dist.all_reduce(None, async_op=True).wait()}),
    "all_reduce_coalesced": (lambda r, n: dist.all_reduce_coalesced([x(2), x(3)]), {
        "dtype": lambda r, n: dist.all_reduce_coalesced([x(2, dtype=F64), x(3, dtype=F64)]),
        "dtypes": lambda r, n: dist.all_reduce_coalesced([x(2), x(3, dtype=F64)]),
        "shapes that add up": lambda r, n: dist.all_reduce_coalesced([x(3), x(2)]),
        "one shape": lambda r, n: dist.all_reduce_coalesced([x(2, 1), x(3)]),
        "list length": lambda r, n: dist.all_reduce_coalesced([x(5)]),
        "empty list": lambda r, n: dist.all_reduce_coalesced([]),
        "read-only": lambda r, n: dist.all_reduce_coalesced([x(2), read_only(3)]),
        "a tensor": lambda r, n: dist.all_reduce_coalesced(x(5))}),
    "reduce": (lambda r, n: dist.reduce(x(), 0), {
        "dtype": lambda r, n: dist.reduce(x(dtype=F64), 0),
        "shape": lambda r, n: dist.reduce(x(3), 0),
        "root": lambda r, n: dist.reduce(x(), n - 1 if n > 1 else 7),
        "root out of range": lambda r, n: dist.reduce(x(), n),
        "root negative": lambda r, n: dist.reduce(x(), -1),
        "root no number": lambda r, n: dist.reduce(x(), "zero"),
        "no root": lambda r, n: dist.reduce(x()),
        "two roots": lambda r, n: dist.reduce(x(), 0, group_dst=0),
        "None": lambda r, n: dist.reduce(None, 0)}),
    "broadcast": (lambda r, n: dist.broadcast(x(), 0), {
        "dtype": lambda r, n: dist.broadcast(x(dtype=I64), 0),
        "size": lambda r, n: dist.broadcast(x(3), 0),
        "empty": lambda r, n: dist.broadcast(x(0), 0),
        "root": lambda r, n: dist.broadcast(x(), n - 1 if n > 1 else 7),
        "root out of range": lambda r, n: dist.broadcast(x(), n),
        "root a fraction": lambda r, n: dist.broadcast(x(), 0.5),
        "None": lambda r, n: dist.broadcast(None, 0)}),
    "broadcast, async": (lambda r, n: dist.broadcast(x(), 0, async_op=True).wait(), {
        "dtype": lambda r, n: dist.broadcast(x(dtype=I64), 0, async_op=True).wait(),
        "size": lambda r, n: dist.broadcast(x(3), 0, async_op=True).wait()}),
    "all_gather": (lambda r, n: dist.all_gather(xs(n), x()), {
        "dtype of the list": lambda r, n: dist.all_gather(xs(n, dtype=F64), x()),
        "dtype of the tensor": lambda r, n: dist.all_gather(xs(n), x(dtype=F64)),
        "dtype of both": lambda r, n: dist.all_gather(xs(n, dtype=F64), x(dtype=F64)),
        "shape of the list": lambda r, n: dist.all_gather(xs(n, 3), x()),
        "shape of both": lambda r, n: dist.all_gather(xs(n, 3), x(3)),
        "list too long": lambda r, n: dist.all_gather(xs(n + 1), x()),
        "list empty": lambda r, n: dist.all_gather([], x()),
        "list of numbers": lambda r, n: dist.all_gather([1.0] * n, x()),
        "read-only": lambda r, n: dist.all_gather([read_only(2) for _ in range(n)], x()),
        "no list": lambda r, n: dist.all_gather(None, x())}),
    "all_gather_into_tensor": (lambda r, n: dist.all_gather_into_tensor(x(2 * n), x()), {
        "size": lambda r, n: dist.all_gather_into_tensor(x(2 * n + 1), x()),
        "dtype": lambda r, n: dist.all_gather_into_tensor(x(2 * n, dtype=F64), x()),
        "dtype of both": lambda r, n: dist.all_gather_into_tensor(x(2 * n, dtype=F64), x(dtype=F64)),
        "size of both": lambda r, n: dist.all_gather_into_tensor(x(3 * n), x(3)),
        "expanded": lambda r, n: dist.all_gather_into_tensor(expanded(2 * n), x()),
        "None": lambda r, n: dist.all_gather_into_tensor(None, x())}),
    "all_gather_coalesced": (lambda r, n: dist.all_gather_coalesced([[x(2), x(3)] for _ in range(n)], [x(2), x(3)]), {
        "shapes that add up": lambda r, n: dist.all_gather_coalesced([[x(3), x(2)] for _ in range(n)], [x(3), x(2)]),
        "dtype": lambda r, n: dist.all_gather_coalesced([[x(2), x(3, dtype=F64)] for _ in range(n)], [x(2), x(3)]),
        "list length": lambda r, n: dist.all_gather_coalesced([[x(2)] for _ in range(n)], [x(2), x(3)]),
        "no list": lambda r, n: dist.all_gather_coalesced(None, [x(2), x(3)])}),
    "gather": (lambda r, n: dist.gather(x(), xs(n) if r == 0 else None, 0), {
        "dtype": lambda r, n: dist.gather(x(dtype=F64), xs(n, dtype=F64) if r == 0 else None, 0),
        "dtype of the list": lambda r, n: dist.gather(x(), xs(n, dtype=F64), 0),
        "shape": lambda r, n: dist.gather(x(3), xs(n, 3) if r == 0 else None, 0),
        "shape of the list": lambda r, n: dist.gather(x(), xs(n, 3), 0),
        "list length": lambda r, n: dist.gather(x(), xs(n + 1), 0),
        "list missing or too many": lambda r, n: dist.gather(x(), None if r == 0 else xs(n), 0),
        "root": lambda r, n: dist.gather(x(), xs(n), n - 1 if n > 1 else 7),
        "root out of range": lambda r, n: dist.gather(x(), None, n),
        "list no list": lambda r, n: dist.gather(x(), 5, 0),
        "None": lambda r, n: dist.gather(None, xs(n) if r == 0 else None, 0)}),
    "scatter": (lambda r, n: dist.scatter(x(), xs(n) if r == 0 else None, 0), {
        "dtype of the tensor": lambda r, n: dist.scatter(x(dtype=F64), xs(n) if r == 0 else None, 0),
        "size of the tensor": lambda r, n: dist.scatter(x(3), xs(n) if r == 0 else None, 0),
        "dtype of both": lambda r, n: dist.scatter(x(dtype=F64), xs(n, dtype=F64) if r == 0 else None, 0),
        "shape of both": lambda r, n: dist.scatter(x(3), xs(n, 3) if r == 0 else None, 0),
        "list length": lambda r, n: dist.scatter(x(), xs(n + 1), 0),
        "list missing or too many": lambda r, n: dist.scatter(x(), None if r == 0 else xs(n), 0),
        "root out of range": lambda r, n: dist.scatter(x(), None, n),
        "read-only": lambda r, n: dist.scatter(read_only(2), xs(n) if r == 0 else None, 0),
        "None": lambda r, n: dist.scatter(None, xs(n) if r == 0 else None, 0)}),
    "reduce_scatter": (lambda r, n: dist.reduce_scatter(x(), xs(n)), {
        "dtype of the list": lambda r, n: dist.reduce_scatter(x(), xs(n, dtype=F64)),
        "dtype of both": lambda r, n: dist.reduce_scatter(x(dtype=F64), xs(n, dtype=F64)),
        "shape": lambda r, n: dist.reduce_scatter(x(3), xs(n)),
        "list length": lambda r, n: dist.reduce_scatter(x(), xs(n + 1)),
        "op": lambda r, n: dist.reduce_scatter(x(), xs(n), MAX),
        "read-only": lambda r, n: dist.reduce_scatter(read_only(2), xs(n)),
        "list of None": lambda r, n: dist.reduce_scatter(x(), [None] * n)}),
    "reduce_scatter_tensor": (lambda r, n: dist.reduce_scatter_tensor(x(), x(2 * n)), {
        "size": lambda r, n: dist.reduce_scatter_tensor(x(), x(2 * n + 1)),
        "dtype": lambda r, n: dist.reduce_scatter_tensor(x(), x(2 * n, dtype=F64)),
        "size of both": lambda r, n: dist.reduce_scatter_tensor(x(3), x(3 * n)),
        "None": lambda r, n: dist.reduce_scatter_tensor(x(), None)}),
    "all_to_all": (lambda r, n: dist.all_to_all(xs(n), xs(n)), {
        "dtype": lambda r, n: dist.all_to_all(xs(n, dtype=F64), xs(n)),
        "dtype of both": lambda r, n: dist.all_to_all(xs(n, dtype=F64), xs(n, dtype=F64)),
        "room": lambda r, n: dist.all_to_all(xs(n, 3), xs(n)),
        "sent": lambda r, n: dist.all_to_all(xs(n), xs(n, 3)),
        "list length": lambda r, n: dist.all_to_all(xs(n + 1), xs(n)),
        "read-only": lambda r, n: dist.all_to_all([read_only(2) for _ in range(n)], xs(n)),
        "no list": lambda r, n: dist.all_to_all(xs(n), None)}),
    "all_to_all_single": (lambda r, n: dist.all_to_all_single(x(2 * n), x(2 * n)), {
        "dtype": lambda r, n: dist.all_to_all_single(x(2 * n, dtype=F64), x(2 * n)),
        "size": lambda r, n: dist.all_to_all_single(x(2 * n), x(2 * n + 2)),
        "columns": lambda r, n: dist.all_to_all_single(x(2 * n, 2), x(2 * n, 2)),
        "sizes that do not add up": lambda r, n: dist.all_to_all_single(x(2 * n), x(2 * n), [3] * n, [3] * n),
        "negative sizes": lambda r, n: dist.all_to_all_single(x(2 * n), x(2 * n), None, [2 * n + 1, -1] + [0] * (n - 2)),
        "nan sizes": lambda r, n: dist.all_to_all_single(x(2 * n), x(2 * n), None, [float("nan")] * n),
        "fractions": lambda r, n: dist.all_to_all_single(x(2 * n), x(2 * n), None, [2.0] * n),
        "sizes a number": lambda r, n: dist.all_to_all_single(x(2 * n), x(2 * n), 2, 2),
        "0-d": lambda r, n: dist.all_to_all_single(ag.tensor(1.0), ag.tensor(1.0)),
        "None": lambda r, n: dist.all_to_all_single(None, x(2 * n))}),
    "barrier": (lambda r, n: dist.barrier(), {
        "devices": lambda r, n: dist.barrier(device_ids=[0]),
        "another": lambda r, n: dist.all_gather_object([None] * n, 1)}),
    "all_gather_object": (lambda r, n: dist.all_gather_object([None] * n, r), {
        "unpicklable": lambda r, n: dist.all_gather_object([None] * n, Unpicklable()),
        "a lambda": lambda r, n: dist.all_gather_object([None] * n, lambda: 0),
        "a lock": lambda r, n: dist.all_gather_object([None] * n, threading.Lock()),
        "unmakeable": lambda r, n: dist.all_gather_object([None] * n, Unmakeable()),
        "unmakeable on one rank": lambda r, n: dist.all_gather_object([None] * n, Unmakeable(n - 1)),
        "list length": lambda r, n: dist.all_gather_object([None] * (n + 1), 1),
        "no list": lambda r, n: dist.all_gather_object(None, 1)}),
    "gather_object": (lambda r, n: dist.gather_object(r, [None] * n if r == 0 else None, 0), {
        "unpicklable": lambda r, n: dist.gather_object(Unpicklable(), [None] * n if r == 0 else None, 0),
        "list length": lambda r, n: dist.gather_object(r, [None] * (n + 1), 0),
        "list missing or too many": lambda r, n: dist.gather_object(r, None if r == 0 else [None] * n, 0),
        "root": lambda r, n: dist.gather_object(r, None, n - 1 if n > 1 else 7),
        "root out of range": lambda r, n: dist.gather_object(r, None, n)}),
    "broadcast_object_list": (lambda r, n: dist.broadcast_object_list([r, r], 0), {
        "unpicklable": lambda r, n: dist.broadcast_object_list([r, Unpicklable()] if r == 0 else [1], 0),
        "unmakeable": lambda r, n: dist.broadcast_object_list([r, Unmakeable()] if r == 0 else [1], 0),
        "unmakeable on one rank": lambda r, n: dist.broadcast_object_list([r, Unmakeable(n - 1)] if r == 0 else [1], 0),
        "list length": lambda r, n: dist.broadcast_object_list([r] if n > 1 else None, 0),
        "no list": lambda r, n: dist.broadcast_object_list((r, r), 0),
        "device": lambda r, n: dist.broadcast_object_list([r, r], 0, device="cuda"),
        "root out of range": lambda r, n: dist.broadcast_object_list([r, r], n)}),
    "scatter_object_list": (lambda r, n: dist.scatter_object_list([None], [r] * n if r == 0 else None, 0), {
        "unpicklable": lambda r, n: dist.scatter_object_list([None] if r == 0 else [], [Unpicklable()] * n, 0),
        "unmakeable": lambda r, n: dist.scatter_object_list([None] if r == 0 else [], [Unmakeable()] * n, 0),
        "unmakeable on one rank": lambda r, n: dist.scatter_object_list([None] if r == 0 else [], [Unmakeable(n - 1)] * n, 0),
        "list length": lambda r, n: dist.scatter_object_list([None] if r == 0 else [], [1] * (n + 1), 0),
        "list missing": lambda r, n: dist.scatter_object_list([None] if r == 0 else [], None, 0),
        "no output": lambda r, n: dist.scatter_object_list([], [1] * n if r == 0 else None, 0),
        "root out of range": lambda r, n: dist.scatter_object_list([None], None, n)}),
    "new_group": (lambda r, n: dist.new_group([0]), {
        "twice": lambda r, n: dist.new_group([0, 0]),
        "out of range": lambda r, n: dist.new_group([n]),
        "no numbers": lambda r, n: dist.new_group(["a"]),
        "backend": lambda r, n: dist.new_group([0], backend="carrier pigeon"),
        "timeout": lambda r, n: dist.new_group([0], timeout=3),
        "local": lambda r, n: dist.new_group([0], use_local_synchronization=True)}),
    "new_subgroups": (lambda r, n: dist.new_subgroups(1), {
        "no size": lambda r, n: dist.new_subgroups(),
        "size 0": lambda r, n: dist.new_subgroups(0),
        "too large": lambda r, n: dist.new_subgroups(n + 1)}),
    "new_subgroups_by_enumeration": (lambda r, n: dist.new_subgroups_by_enumeration([[0]]), {
        "twice": lambda r, n: dist.new_subgroups_by_enumeration([[0], [0]]),
        "none": lambda r, n: dist.new_subgroups_by_enumeration([])}),
    "split_group": (lambda r, n: dist.split_group(split_ranks=[[0]]), {
        "none": lambda r, n: dist.split_group(split_ranks=[]),
        "twice": lambda r, n: dist.split_group(split_ranks=[[0], [0]]),
        "options": lambda r, n: dist.split_group(split_ranks=[[0]], pg_options=1),
        "timeout": lambda r, n: dist.split_group(split_ranks=[[0]], timeout=3)}),
    # those that are recorded
    "nn.all_reduce": (lambda r, n: recorded.all_reduce(x()), {
        "dtype": lambda r, n: recorded.all_reduce(x(dtype=F64)),
        "shape": lambda r, n: recorded.all_reduce(x(3)),
        "op": lambda r, n: recorded.all_reduce(x(), "sum"),
        "None": lambda r, n: recorded.all_reduce(None)}),
    "nn.reduce": (lambda r, n: recorded.reduce(x(), 0), {
        "root": lambda r, n: recorded.reduce(x(), n),
        "shape": lambda r, n: recorded.reduce(x(3), 0)}),
    "nn.broadcast": (lambda r, n: recorded.broadcast(x(), 0), {
        "root": lambda r, n: recorded.broadcast(x(), n)}),
    "nn.gather": (lambda r, n: recorded.gather(x(), 0), {
        "root": lambda r, n: recorded.gather(x(), n),
        "dtype": lambda r, n: recorded.gather(x(dtype=F64), 0)}),
    "nn.scatter": (lambda r, n: recorded.scatter(xs(n), 0), {
        "root": lambda r, n: recorded.scatter(xs(n), n),
        "list length": lambda r, n: recorded.scatter(xs(n + 1), 0) if r == 0 else recorded.scatter(None, n),
        "no list": lambda r, n: recorded.scatter(None, 0) if r == 0 else recorded.scatter(None, n)}),
    "nn.all_gather": (lambda r, n: recorded.all_gather(x()), {
        "dtype": lambda r, n: recorded.all_gather(x(dtype=F64)),
        "shape": lambda r, n: recorded.all_gather(x(3)),
        "None": lambda r, n: recorded.all_gather(None)}),
    "nn.reduce_scatter": (lambda r, n: recorded.reduce_scatter(x(), xs(n)), {
        "list length": lambda r, n: recorded.reduce_scatter(x(), xs(n + 1)),
        "no list": lambda r, n: recorded.reduce_scatter(x(), None),
        "op": lambda r, n: recorded.reduce_scatter(x(), xs(n), op=5)}),
    "nn.all_to_all": (lambda r, n: recorded.all_to_all(xs(n), xs(n)), {
        "list length": lambda r, n: recorded.all_to_all(xs(n), xs(n + 1)),
        "no list": lambda r, n: recorded.all_to_all(xs(n), None)}),
    "nn.all_to_all_single": (lambda r, n: recorded.all_to_all_single(x(2 * n), x(2 * n)), {
        "sizes": lambda r, n: recorded.all_to_all_single(x(2 * n), x(2 * n), [3] * n, [3] * n),
        "dtype": lambda r, n: recorded.all_to_all_single(x(2 * n, dtype=F64), x(2 * n, dtype=F64)),
        "None": lambda r, n: recorded.all_to_all_single(x(2 * n), None)}),
    # Functions, and what else is called on all ranks
    "AllReduce": (lambda r, n: dparallel.AllReduce.apply(x(), comm=group()), {
        "unknown setting": lambda r, n: dparallel.AllReduce.apply(x(), comm=group(), root=0),
        "op": lambda r, n: dparallel.AllReduce.apply(x(), comm=group(), op=ReduceOp.SUM),
        "no input": lambda r, n: dparallel.AllReduce.apply(comm=group()),
        "three inputs": lambda r, n: dparallel.AllReduce.apply(x(), x(), x(), comm=group())}),
    "AllReduce of a graph": (lambda r, n: dparallel.AllReduce.apply(in_graph(), comm=group()), {
        "unknown setting": lambda r, n: dparallel.AllReduce.apply(in_graph(), comm=group(), root=0)}),
    "AllReduce.start": (lambda r, n: dparallel.AllReduce.start(x(), comm=group()).wait(), {
        "unknown setting": lambda r, n: dparallel.AllReduce.start(x(), comm=group(), root=0).wait()}),
    "Broadcast": (lambda r, n: dparallel.Broadcast.apply(x(), comm=group()), {
        "unknown setting": lambda r, n: dparallel.Broadcast.apply(x(), comm=group(), src=0),
        "no input": lambda r, n: dparallel.Broadcast.apply(comm=group()),
        "two inputs": lambda r, n: dparallel.Broadcast.apply(x(), x(), comm=group())}),
    "Permute": (lambda r, n: dparallel.Permute.apply(x(), comm=group(), pairs=[(0, n - 1)]), {
        "no pairs": lambda r, n: dparallel.Permute.apply(x(), comm=group()),
        "pairs that raise": lambda r, n: dparallel.Permute.apply(x(), comm=group(), pairs=map(explode, [None]))}),
    "Scan": (lambda r, n: dparallel.Scan.apply(x(), comm=group()), {
        "unknown setting": lambda r, n: dparallel.Scan.apply(x(), comm=group(), op="max")}),
    "clip_grad_norm_": (lambda r, n: dparallel.clip_grad_norm_([with_grad()], 1.0, comm=group()), {
        "integers": lambda r, n: dparallel.clip_grad_norm_([with_grad(I64)], 1.0, comm=group()),
        "no parameters": lambda r, n: dparallel.clip_grad_norm_(None, 1.0, comm=group()),
        "no order": lambda r, n: dparallel.clip_grad_norm_([with_grad()], 1.0, "two", comm=group()),
        "order 0": lambda r, n: dparallel.clip_grad_norm_([with_grad()], 1.0, 0, comm=group())}),
    "scatter of a tree": (lambda r, n: dparallel.scatter(x(n), group()), {
        "unpicklable": lambda r, n: dparallel.scatter(Unpicklable(), group()),
        "unmakeable": lambda r, n: dparallel.scatter([x(n), Unmakeable()], group()),
        "root": lambda r, n: dparallel.scatter(x(n), group(), root=n)}),
}


def group():
    return dist.group.WORLD


def in_graph():
    return ag.ones(2, requires_grad=True)


def with_grad(dtype=ag.float32):
    p = ag.nn.Parameter(x(dtype=dtype), requires_grad=False)
    p.grad = x(dtype=dtype)
    return p


def in_level(call):
    with ag.forward_ad.dual_level():
        return call()


def dual():
    return ag.forward_ad.make_dual(x(), x())


ON_ROOT = {"unmakeable", "unmakeable on one rank", "list length", "list missing", "no list", "unpicklable", "dtype of the list",
           "shape of the list", "list no list", "root"}
ROOTED = {"gather", "scatter", "scatter of a tree", "broadcast_object_list", "scatter_object_list", "gather_object"}


@pytest.mark.parametrize("name", CALLS)
def test_a_fault_on_one_rank_is_an_error_on_all(comm, name):
    healthy, faulty = CALLS[name]
    with in_group(comm) as (rank, size):
        for fault, call in faulty.items():
            for odd in sorted({0, size - 1}) if name not in ROOTED or fault not in ON_ROOT else [0]:
                what = f"{name}, {fault}, rank {odd} of {size}"
                if size == 1 and fault in ALONE.get(name, ()):
                    continue                     # there is no other rank to differ from
                with pytest.raises(Exception) as caught:
                    call(rank, size) if rank == odd else healthy(rank, size)
                    pytest.fail(f"{what}: no error on rank {rank}")
                text = str(caught.value)
                assert not text.startswith("Failed:") and text, what
                if rank != odd:
                    assert isinstance(caught.value, (ValueError, RuntimeError, OSError)), (what, caught.value)
                for _ in range(2):
                    total = ag.tensor([rank + 1.0])
                    dist.all_reduce(total)
                    assert total.item() == size * (size + 1) / 2, what
            healthy(rank, size)


# Differences between ranks that are no fault of one rank alone.
ALONE = {
    "all_reduce": {"dtype", "shape", "shape of as many elements", "op", "another collective"},
    "all_reduce, async": {"dtype"},
    "all_reduce_coalesced": {"dtype", "shapes that add up", "one shape", "list length"},
    "reduce": {"dtype", "shape"}, "broadcast": {"dtype", "size", "empty"}, "broadcast, async": {"dtype", "size"},
    "all_gather": {"dtype of both", "shape of both"}, "all_gather_into_tensor": {"dtype of both", "size of both"},
    "all_gather_coalesced": {"shapes that add up"}, "gather": {"dtype", "shape"}, "scatter": {"dtype of both", "shape of both"},
    "reduce_scatter": {"dtype of both", "op"}, "reduce_scatter_tensor": {"size of both"}, "all_to_all": {"dtype of both"},
    "all_to_all_single": {"columns", "negative sizes"}, "barrier": {"another"},
    "nn.all_reduce": {"dtype", "shape"}, "nn.reduce": {"shape"}, "nn.gather": {"dtype"}, "nn.all_gather": {"dtype", "shape"},
    "nn.all_to_all_single": {"dtype"}, "scatter of a tree": {"unpicklable", "unmakeable"}, "clip_grad_norm_": {"order 0"},
}


# --- faults that concern some ranks only: the others need not wait for these -------------------------------------------------

@contextlib.contextmanager
def in_group(comm):
    """(rank, size) in the default group, which is whole at the end of the block."""
    dist.init_process_group("gloo", comm=comm)
    try:
        yield dist.get_rank(), dist.get_world_size()
        total = ag.ones(1)
        dist.all_reduce(total)
        assert total.item() == comm.size
    finally:
        dist.destroy_process_group()


def test_what_only_the_receiver_can_know_is_an_error_there(comm):
    with in_group(comm) as (rank, size):
        outs = [None] * size if rank == 0 else None
        try:
            dist.gather_object(Unmakeable() if rank == size - 1 else rank, outs, 0)
            assert rank
        except OSError as error:
            assert rank == 0 and (not hasattr(error, "__notes__") or f"object of rank {size - 1}" in error.__notes__[0])
        if size > 1:                                 # a recorded exchange costs no further message to check the room
            room = xs(size, 3 if rank == size - 1 else 2)
            try:
                recorded.all_to_all(room, xs(size))
                assert rank != size - 1
            except RuntimeError as error:
                assert f"{2 * size} elements were received, but this rank expects {3 * size}" in str(error)


SENDS = [lambda v: dist.send(v, 1, tag=3), lambda v: dist.isend(v, 1, tag=3)]
SENT = [lambda: dist.recv(x(), 0, tag=3), lambda: dist.irecv(x(), 0, tag=3).wait(), lambda: dist.recv(x(), tag=3)]


def test_messages_that_cannot_be_sent_or_received(comm):
    """A sender's mistake is an error of the receiver too, which would otherwise wait."""
    with in_group(comm) as (rank, size):
        if size == 1:
            return
        for number, receive in enumerate(SENT):
            for value in NO_TENSORS.values():
                if rank == 0:
                    raises(TypeError, "of type Tensor", lambda: SENDS[number % 2](value))
                elif rank == 1:
                    raises(CollectiveError, "rank 0 could not send it: i?send: TypeError", receive)
        for objects in ([Unpicklable()], [lambda: 0], None):
            if rank == 0:
                raises(Exception, "picklable|pickle|not iterable", dist.send_object_list, objects, 1)
            elif rank == 1:
                raises(CollectiveError, "rank 0 could not send it: send_object_list", dist.recv_object_list, [None], 0)
        bad = [x(3), x(dtype=F64), x(2, 2)]
        for sent in bad:
            if rank == 0:
                dist.send(sent, 1)
            elif rank == 1:
                with pytest.raises(RuntimeError, match=r"recv from rank 0: received float(32|64) \(.*\) for a tensor of float32"):
                    dist.recv(x(), 0)
        for sent, error in (([Unmakeable()], OSError), ([1, 2], RuntimeError)):
            if rank == 0:
                dist.send_object_list(sent, 1)
            elif rank == 1:
                raises(error, None, dist.recv_object_list, [None], 0)
        for wrong in (read_only(2), None, expanded(2)):          # raised before anything is received
            if rank == 1:
                raises((ValueError, TypeError, RuntimeError), None, dist.recv, wrong, 0)
        for call in (lambda: dist.send(x(), size), lambda: dist.recv(x(), -1), lambda: dist.send(x(), rank),
                     lambda: dist.isend(x(), "a"), lambda: dist.send(x(), (rank + 1) % size, tag=-1)):
            raises((ValueError, TypeError), None, call)


@pytest.mark.devices
def test_objects_of_communicators_that_cannot_be_made_again(comm):
    """On every rank, also where they could be made; and the communicator goes on."""
    own = comm.held[0]
    calls = {
        "allgather_object": lambda v: comm.allgather_object([v] * len(comm.held)),
        "broadcast_object": lambda v: comm.broadcast_object(v if 0 in comm.held else None),
        "scatter_object": lambda v: comm.scatter_object([v] * comm.size if 0 in comm.held else None)}
    for name, call in calls.items():
        raises(Exception, "not to be made again|can't be unpickled: OSError", lambda: call(Broken(comm.size - 1, own)))
        assert comm.allgather_object(list(comm.held)) == list(range(comm.size)), name
    outs = None
    if 0 in comm.held:
        raises(OSError, "not to be made again", lambda: comm.gather_object([Broken(0, own)] * len(comm.held)))
    else:
        assert comm.gather_object([Broken(0, own)]) is outs
    assert comm.any(False) is False


class Broken:
    """What can't be unpickled by the thread that is rank `where`: threads have no ranks of their own here."""

    def __init__(self, where, own):
        self.where = where
        HERE.rank = own

    def __reduce__(self):
        return unpickled_at, (self.where,)


def unpickled_at(where):
    if HERE.rank == where or HERE.rank == 0:
        raise OSError("not to be made again")
    return "made again"


HERE = threading.local()


@pytest.mark.devices
def test_a_sum_in_place_takes_arrays_only(comm):
    """MPI would write into a Tensor's memory, and autograd would not see it."""
    for wrong in (ag.ones(2), None, [1.0, 2.0]):
        for call in (comm.sum_in_place, lambda xs: comm.start_sum_in_place(xs).wait()):
            raises(TypeError, "sum_in_place: ", lambda: call([wrong for _ in comm.held]))
    xs = [np.ones(2) for _ in comm.held]
    comm.sum_in_place(xs)
    assert all(x.tolist() == [comm.size] * 2 for x in xs)
