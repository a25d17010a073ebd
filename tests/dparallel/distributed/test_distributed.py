"""dparallel.distributed: what each call gives on ranks, compared with what PyTorch 2.13 gave with gloo on 2 and 3 processes.

Where a row says so, the expected values were taken from torch.distributed; ranks are r = 0, ..., n - 1.
"""

import contextlib
import copy
import datetime
import importlib
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from raised import raises

import autograd as ag
import dparallel.distributed as dist
import dparallel.distributed.nn.functional as recorded
from autograd import nn
from dparallel import CollectiveError, Devices, RankFailure, run_ranks
from dparallel.comm import launched_size
from dparallel.distributed import ReduceOp

Op = ReduceOp
BOTH_SIDES = (CollectiveError, ValueError, TypeError, RuntimeError)


@contextlib.contextmanager
def in_group(comm):
    """(rank, size) in the default group, which ends with the block."""
    dist.init_process_group("gloo", comm=comm)
    try:
        yield dist.get_rank(), dist.get_world_size()
    finally:
        dist.destroy_process_group()


def full(*shape, value=0.0, dtype=ag.float32):
    return ag.full(shape, value, dtype=dtype)


def mean(xs):
    return sum(xs) / len(xs)


# --- reductions: the same inputs as PyTorch got, and what it gave -------------------------------------------------------

REDUCED = [(op, dtype) for op in "SUM AVG PRODUCT MIN MAX BAND BOR BXOR".split()
           for dtype in ("float32", "float16", "int64", "bool", "complex64")]
REFUSED = {("AVG", "int64"): RuntimeError, ("AVG", "bool"): RuntimeError, **{
    (op, "complex64"): ValueError for op in "MIN MAX BAND BOR BXOR".split()}, **{
    (op, dtype): RuntimeError for op in ("BAND", "BOR", "BXOR") for dtype in ("float32", "float16")}}
IN_NUMPY = {"SUM": np.add, "AVG": np.add, "PRODUCT": np.multiply, "MIN": np.minimum, "MAX": np.maximum,
            "BAND": np.bitwise_and, "BOR": np.bitwise_or, "BXOR": np.bitwise_xor}


def operand(rank, dtype):
    return (np.array([1, 2, 3]) + (0 if dtype == "bool" else rank)).astype(dtype)


def test_every_reduction_of_every_dtype(comm):
    """PyTorch's verdict for each; it refuses complex products, which are well defined and made here."""
    with in_group(comm) as (rank, size):
        for op, dtype in REDUCED:
            x = ag.tensor(operand(rank, dtype))
            if (op, dtype) in REFUSED:
                raises(REFUSED[op, dtype], None, lambda: dist.all_reduce(x, op=getattr(Op, op)))
                continue
            wanted = IN_NUMPY[op].reduce([operand(r, dtype) for r in range(size)])
            wanted = (wanted / size if op == "AVG" else wanted).astype(dtype)
            assert dist.all_reduce(x, op=getattr(Op, op)) is None
            assert x.dtype == getattr(ag, dtype) and np.allclose(x.numpy(), wanted), (op, dtype)
            for root in ({"dst": size - 1}, {"group_dst": size - 1}):
                y = ag.tensor(operand(rank, dtype))
                dist.reduce(y, op=getattr(Op, op), **root)
                assert np.allclose(y.numpy(), wanted if rank == size - 1 else operand(rank, dtype)), (op, dtype)
            z = ag.tensor(operand(rank, dtype))[:1]
            dist.reduce_scatter(z, [ag.tensor(operand(rank, dtype))[1:2] for _ in range(size)], op=getattr(Op, op))
            assert np.allclose(z.numpy(), wanted[1:2]), (op, dtype)
        scaled = full(2, value=1.0)
        dist.all_reduce(scaled, op=dist._make_nccl_premul_sum(0.5))
        assert scaled.tolist() == [0.5 * size] * 2


def test_reductions_of_integers_bit_by_bit_are_pytorchs(comm):
    """[1, 2, 3] + r on 2 and 3 ranks."""
    wanted = {2: {"BAND": [0, 2, 0], "BOR": [3, 3, 7], "BXOR": [3, 1, 7]},
              3: {"BAND": [0, 0, 0], "BOR": [3, 7, 7], "BXOR": [0, 5, 2]}}

    with in_group(comm) as (rank, size):
        for op, values in wanted.get(size, {}).items():
            x = ag.tensor([1, 2, 3]) + rank
            dist.all_reduce(x, op=getattr(Op, op))
            assert x.tolist() == values


# --- collectives: what rank r of n has afterwards, as in PyTorch --------------------------------------------------------

def all_gather(r, n):
    out = [full(3) for _ in range(n)]
    yield dist.all_gather(out, full(3, value=r), async_op=(yield))
    yield [x.tolist() for x in out], [[float(i)] * 3 for i in range(n)]


def all_gather_scalars(r, n):
    out = [ag.tensor(0.0) for _ in range(n)]
    yield dist.all_gather(out, ag.tensor(float(r)), async_op=(yield))
    yield [x.item() for x in out], [float(i) for i in range(n)]


def all_gather_into_rows(r, n):
    out = full(3 * n)
    yield dist.all_gather_into_tensor(out, full(3, value=r), async_op=(yield))
    yield out.tolist(), [float(i // 3) for i in range(3 * n)]


def all_gather_into_stack(r, n):
    out = full(n, 3)
    yield dist.all_gather_into_tensor(out, full(3, value=r), async_op=(yield))
    yield out.tolist(), [[float(i)] * 3 for i in range(n)]


def all_gather_coalesced(r, n):
    out = [[full(2), full(1, 2)] for _ in range(n)]
    yield dist.all_gather_coalesced(out, [full(2, value=r), full(1, 2, value=-r)], async_op=(yield))
    yield [[x.tolist() for x in row] for row in out], [[[float(i)] * 2, [[-float(i)] * 2]] for i in range(n)]


def all_reduce_coalesced(r, n):
    xs = [full(2, value=1.0), full(1, 3, value=r)]
    yield dist.all_reduce_coalesced(xs, async_op=(yield))
    yield [x.tolist() for x in xs], [[float(n)] * 2, [[n * (n - 1) / 2] * 3]]


def broadcast(r, n):
    x = full(2, 3, value=r).t()                      # not contiguous
    yield dist.broadcast(x, n - 1, async_op=(yield))
    yield x.tolist(), [[n - 1.0] * 2] * 3


def all_reduce_transposed(r, n):
    base = ag.arange(6.0).reshape(2, 3) * (r + 1)
    x = base.t()
    yield dist.all_reduce(x, async_op=(yield))
    yield base.tolist(), (np.arange(6.0).reshape(2, 3) * n * (n + 1) / 2).tolist()


def gather(r, n):
    out = [full(3) for _ in range(n)] if r == 0 else None
    yield dist.gather(full(3, value=r), out, dst=0, async_op=(yield))
    yield out and [x.tolist() for x in out], out and [[float(i)] * 3 for i in range(n)]


def scatter(r, n):
    out = full(2)
    yield dist.scatter(out, [full(2, value=i) for i in range(n)] if r == n - 1 else None, src=n - 1, async_op=(yield))
    yield out.tolist(), [float(r)] * 2


def reduce_scatter(r, n):
    out = full(2)
    yield dist.reduce_scatter(out, [full(2, value=i + r) for i in range(n)], async_op=(yield))
    yield out.tolist(), [r * n + n * (n - 1) / 2] * 2


def reduce_scatter_tensor(r, n):
    out = full(2)
    yield dist.reduce_scatter_tensor(out, ag.arange(2.0 * n), async_op=(yield))
    yield out.tolist(), [2.0 * r * n, (2.0 * r + 1) * n]


def reduce_scatter_max_of_stack(r, n):
    out = full(1, 2)
    yield dist.reduce_scatter_tensor(out, ag.arange(2.0 * n).reshape(n, 1, 2) * (r + 1), op=Op.MAX, async_op=(yield))
    yield out.tolist(), [[2.0 * r * n, (2.0 * r + 1) * n]]


def all_to_all(r, n):
    out = [full(2) for _ in range(n)]
    yield dist.all_to_all(out, [full(2, value=10 * r + i) for i in range(n)], async_op=(yield))
    yield [x.tolist() for x in out], [[10.0 * i + r] * 2 for i in range(n)]


def all_to_all_uneven(r, n):
    out = [full(i + 1, r + 1) for i in range(n)]
    yield dist.all_to_all(out, [full(r + 1, i + 1, value=10 * r + i) for i in range(n)], async_op=(yield))
    yield [x.tolist() for x in out], [np.full((i + 1, r + 1), 10.0 * i + r).tolist() for i in range(n)]


def all_to_all_single(r, n):
    out = full(2 * n)
    yield dist.all_to_all_single(out, ag.arange(2.0 * n) + 10 * r, async_op=(yield))
    yield out.tolist(), [10.0 * i + 2 * r + j for i in range(n) for j in range(2)]


def all_to_all_splits(r, n):
    out = full(sum(i + 1 for i in range(n)), 2)
    yield dist.all_to_all_single(out, full((r + 1) * n, 2, value=r), [i + 1 for i in range(n)], [r + 1] * n, async_op=(yield))
    yield out[:, 0].tolist(), [float(i) for i in range(n) for _ in range(i + 1)]


def coalescing_manager(r, n):
    async_op = yield
    x, y, z = full(2, value=r), full(3, value=1.0), full(n)
    with dist._coalescing_manager(async_ops=async_op) as coalesced:
        coalesced.append(dist.all_reduce(x, async_op=True))
        coalesced.append(dist.all_reduce(y, op=Op.MAX))
        dist.all_gather_into_tensor(z, full(1, value=r))
    if async_op:
        coalesced.wait()
    yield coalesced.works[0] if async_op else None
    yield [x.tolist(), y.tolist(), z.tolist()], [[n * (n - 1) / 2] * 2, [1.0] * 3, [float(i) for i in range(n)]]


def barrier(r, n):
    yield dist.barrier(async_op=(yield))
    yield None, None


TABLE = [all_gather, all_gather_scalars, all_gather_into_rows, all_gather_into_stack, all_gather_coalesced, all_reduce_coalesced,
         broadcast, all_reduce_transposed, gather, scatter, reduce_scatter, reduce_scatter_tensor, reduce_scatter_max_of_stack,
         all_to_all, all_to_all_uneven, all_to_all_single, all_to_all_splits, coalescing_manager, barrier]


def test_every_collective_at_once_and_as_work(comm):
    with in_group(comm) as (rank, size):
        for row in TABLE:
            for async_op in (False, True):
                steps = row(rank, size)
                next(steps)
                work = steps.send(async_op)
                if async_op:
                    assert work.wait() is True and work.is_completed() and work.is_success() and work.exception() is None, row
                    assert isinstance(work.get_future().wait(), list)
                else:
                    assert work is None, row
                found, wanted = next(steps)
                assert found == wanted, (row.__name__, async_op)


def test_work_under_way(comm):
    """Several at once, waited for in any order; the tensors are written when one asks whether they are."""
    with in_group(comm) as (rank, size):
        xs = [full(3, value=rank + i) for i in range(4)]
        works = [dist.all_reduce(x, async_op=True) for x in xs]
        then = works[0].get_future().then(lambda f: f.value()[0] * 2)
        for i in (2, 0, 3, 1):
            works[i].wait()
        assert [x[0].item() for x in xs] == [size * (size - 1) / 2 + i * size for i in range(4)]
        assert then.done() and then.wait()[0].item() == xs[0][0].item() * 2
        assert works[1].result()[0] is xs[1] and works[1].get_future().value()[0] is xs[1]
        x = full(2, value=rank + 1)
        work = dist.all_reduce(x, async_op=True)
        while not work.is_completed():
            time.sleep(1e-3)
        assert x[0].item() == size * (size + 1) / 2
        y = full(2, value=rank + 1)
        dist.all_reduce(y, async_op=True)            # nobody waits: the next barrier does
        dist.barrier()
        assert y[0].item() == size * (size + 1) / 2


# --- what autograd knows ------------------------------------------------------------------------------------------------

def test_not_recorded_and_written_in_place(comm):
    """A parameter, a result with a graph: written. A backward pass that needs the old value, or that passes to where it came
    from, is an error, where PyTorch would take the new value, or warn."""
    with in_group(comm) as (rank, size):
        total = size * (size + 1) / 2
        p = nn.Parameter(full(2, value=rank + 1))
        before = p._version
        dist.all_reduce(p)
        assert p.tolist() == [total] * 2 and p.requires_grad and p.grad_fn is None and p._version > before
        y = p * 2
        dist.all_reduce(y)
        assert y.tolist() == [2 * total * size] * 2 and y.grad_fn is not None
        raises(RuntimeError, "overwritten by all_reduce of dparallel.distributed", lambda: y.sum().backward())
        y = p * 2
        with ag.no_grad():                           # the user takes the old value's gradient
            dist.all_reduce(y)
        y.sum().backward()
        assert p.grad.tolist() == [2.0, 2.0]
        z = p.exp()
        dist.broadcast(z, 0)
        if rank:
            raises(RuntimeError, "modified by an inplace operation", lambda: z.sum().backward())
        alias = p.detach()
        dist.all_reduce(alias, op=Op.AVG)
        assert p.tolist() == [total] * 2


def list_with(x, size, **kwargs):
    return [x, *(full(2) for _ in range(size - 1))]


# Every collective and message that writes into a tensor (x of 2 elements): name -> (call, the ranks on which x is written).
WRITES = {
    "all_reduce": (lambda x, r, n, a: dist.all_reduce(x, async_op=a), lambda r, n: True),
    "all_reduce_coalesced": (lambda x, r, n, a: dist.all_reduce_coalesced([full(3), x], async_op=a), lambda r, n: True),
    "reduce": (lambda x, r, n, a: dist.reduce(x, n - 1, async_op=a), lambda r, n: r == n - 1),
    "broadcast": (lambda x, r, n, a: dist.broadcast(x, 0, async_op=a), lambda r, n: r > 0),
    "all_gather": (lambda x, r, n, a: dist.all_gather(list_with(x, n), full(2), async_op=a), lambda r, n: True),
    "all_gather_coalesced": (lambda x, r, n, a: dist.all_gather_coalesced([[o] for o in list_with(x, n)], [full(2)], async_op=a),
                             lambda r, n: True),
    "all_gather_into_tensor": (lambda x, r, n, a: dist.all_gather_into_tensor(x, full(2 // n), async_op=a), lambda r, n: True),
    "gather": (lambda x, r, n, a: dist.gather(full(2), list_with(x, n) if r == 0 else None, async_op=a), lambda r, n: r == 0),
    "scatter": (lambda x, r, n, a: dist.scatter(x, list_with(full(2), n) if r == 0 else None, async_op=a), lambda r, n: True),
    "reduce_scatter": (lambda x, r, n, a: dist.reduce_scatter(x, list_with(full(2), n), async_op=a), lambda r, n: True),
    "reduce_scatter_tensor": (lambda x, r, n, a: dist.reduce_scatter_tensor(x, full(2 * n), async_op=a), lambda r, n: True),
    "all_to_all": (lambda x, r, n, a: dist.all_to_all(list_with(x, n), list_with(full(2), n), async_op=a), lambda r, n: True),
    "all_to_all_single": (lambda x, r, n, a: dist.all_to_all_single(
        x, full(2), [2] + [0] * (n - 1), [2 * (p == r) for p in range(n)], async_op=a) if r == 0 else dist.all_to_all_single(
        x, full(2), [2 * (p == r) for p in range(n)], [2 * (p == r) for p in range(n)], async_op=a), lambda r, n: True),
    "recv": (lambda x, r, n, a: dist.send(full(2), (r + 1) % n) or (dist.irecv if a else dist.recv)(x, (r - 1) % n),
             lambda r, n: True),
    "batch_isend_irecv": (lambda x, r, n, a: Both(dist.batch_isend_irecv([
        dist.P2POp(dist.isend, full(2), (r + 1) % n), dist.P2POp(dist.irecv, x, (r - 1) % n)]), a), lambda r, n: True),
}
SAID = {"batch_isend_irecv": "recv"}


class Both:
    """The Works of several messages; waited for at once unless they are to be pending."""

    def __init__(self, works, pending):
        self.works = works
        if not pending:
            self.wait()

    def wait(self):
        for work in self.works:
            work.wait()


def refused(call, name, written):
    """A backward pass that must raise with the collective's name on ranks where the tensor was written."""
    if not written:
        return call()
    raises(RuntimeError, f"overwritten by (a pending )?i?{SAID.get(name, name)} of dparallel.distributed", call)


@pytest.mark.parametrize("pending", [False, True], ids=["at once", "pending"])
@pytest.mark.parametrize("name", WRITES)
def test_a_backward_pass_through_an_overwritten_tensor_names_the_collective(comm, name, pending):
    """Saved before, differentiated after, as a leaf, as a view, of a base, in no_grad; while it is pending and after wait()."""
    call, where = WRITES[name]

    with in_group(comm) as (rank, size):
        if (size == 1 and name in ("recv", "batch_isend_irecv")) or (size > 2 and name == "all_gather_into_tensor"):
            return                                   # no other rank; no parts of 2 elements
        written = where(rank, size)

        def write(x):
            return call(x, rank, size, pending)

        def settle(work):
            if pending and work is not None:
                work.wait()

        w = ag.ones(2, requires_grad=True)
        x = w * 1
        y, count = (x * x).sum(), x._version
        work = write(x)
        assert (x._version > count) == written
        if pending:                                  # the old values are there, and are not to be read
            refused(lambda: y.backward(retain_graph=True), name, written)
        settle(work)
        refused(y.backward, name, written)           # of what was saved
        w = ag.ones(2, requires_grad=True)
        x = w * 1
        work = write(x)
        again = (x * x).sum() if pending else None   # read while pending: wait() writes again
        settle(work)
        refused((x * 3).sum().backward, name, written)           # of where the old value came from
        if again is not None and written:
            refused(again.backward, name, written)
        leaf = ag.ones(2, requires_grad=True)
        z = (leaf * leaf).sum()
        settle(write(leaf))
        assert leaf.is_leaf and leaf.requires_grad
        refused(z.backward, name, written)
        (leaf * 2).sum().backward()                  # the new value's gradient
        assert leaf.grad.tolist()[0] in (2.0, 4.0)
        base = ag.ones(4, requires_grad=True) * 1
        settle(write(base[1:3]))
        refused((base * 2).sum().backward, name, written)
        data = ag.ones(2)                            # an input that is no part of a graph
        weight = ag.ones(2, requires_grad=True)
        loss = (weight * data).sum()
        settle(write(data))
        refused(loss.backward, name, written)
        w = ag.ones(2, requires_grad=True)
        x = w.exp()
        with ag.no_grad():
            settle(write(x))
        refused(x.sum().backward, name, written)     # it saved its result
        with ag.inference_mode():
            value = ag.ones(2)
        settle(write(value))                         # nothing can have saved it


def test_recorded_collectives(comm):
    """distributed.nn: values and gradients, those of the sum of all ranks' losses."""
    with in_group(comm) as (rank, size):
        others = list(range(size))

        def leaf():
            return (ag.arange(2.0) + rank + 1).requires_grad_()

        def gradient(loss, x):
            loss.backward()
            return x.grad.tolist()

        x = leaf()
        y = recorded.all_reduce(x)
        assert y.tolist() == [sum(r + 1 + i for r in others) for i in (0, 1)]
        assert gradient((y * (rank + 1)).sum(), x) == [size * (size + 1) / 2] * 2
        x = leaf()
        assert gradient((recorded.all_reduce(x, op=Op.AVG) * (rank + 1)).sum(), x) == [(size + 1) / 2] * 2
        x = leaf()
        ys = recorded.all_gather(x)
        assert [y.tolist() for y in ys] == [[r + 1.0, r + 2.0] for r in others]
        assert gradient(sum((i + 1) * y.sum() for i, y in enumerate(ys)), x) == [size * (rank + 1.0)] * 2
        x = leaf()
        y = recorded.broadcast(x, 0)
        assert y.tolist() == [1.0, 2.0]
        assert gradient(y.sum() * (rank + 1), x) == [size * (size + 1) / 2 if rank == 0 else 0.0] * 2
        x = leaf()
        y = recorded.reduce(x, 0)
        assert y.shape == (2,)
        assert gradient(y.sum() * (3 if rank == 0 else 1), x) == [3.0] * 2
        x = leaf()
        ys = recorded.gather(x, 0)
        assert len(ys) == size and all(y.shape == (2,) for y in ys)
        assert gradient(sum((i + 1) * y.sum() for i, y in enumerate(ys)), x) == [rank + 1.0] * 2
        x = leaf()
        y = recorded.scatter([x * (i + 1) for i in others], 0)
        assert y.tolist() == [rank + 1.0, 2 * (rank + 1.0)]
        assert gradient(y.sum() * (rank + 1), x) == [sum((r + 1.0) ** 2 for r in others) if rank == 0 else 0.0] * 2
        x = leaf()
        y = recorded.reduce_scatter(full(2), [x * (i + 1) for i in others])
        assert y.tolist() == [(rank + 1) * sum(r + 1 + i for r in others) for i in (0, 1)]
        assert gradient(y.sum() * (rank + 1), x) == [sum((r + 1.0) ** 2 for r in others)] * 2
        x = leaf()
        ys = recorded.all_to_all([full(2) for _ in others], [x * (i + 1) for i in others])
        assert [y[0].item() for y in ys] == [(r + 1.0) * (rank + 1) for r in others]
        assert gradient(sum(y.sum() for y in ys) * (rank + 1), x) == [sum((r + 1.0) ** 2 for r in others)] * 2
        x = (ag.arange(2.0 * size) + rank).requires_grad_()
        y = recorded.all_to_all_single(full(2 * size), x)
        assert y.tolist() == [r + 2.0 * rank + j for r in others for j in (0, 1)]
        assert gradient((y * (rank + 1)).sum(), x) == [i // 2 + 1.0 for i in range(2 * size)]


# --- messages -------------------------------------------------------------------------------------------------------------

def test_messages(comm):
    with in_group(comm) as (rank, size):
        if size == 1:
            return
        right, left = (rank + 1) % size, (rank - 1) % size
        x = full(2, 3)
        dist.send(full(3, 2, value=rank), right)     # as many elements: the bytes count, as in gloo
        assert dist.recv(x, left) == left and x.tolist() == [[float(left)] * 3] * 2
        dist.send(full(2, value=rank), group_dst=right, tag=3)
        dist.send(full(2, value=rank + 10), right, tag=4)
        y, z = full(2), full(4)[::2]
        second, first = dist.irecv(z, left, tag=4), dist.irecv(y, left, tag=3)
        assert first.wait() and second.wait() and (first.source_rank(), second.source_rank()) == (left, left)
        assert y.tolist() == [left] * 2 and z.tolist() == [left + 10.0] * 2
        work = dist.isend(full(2, value=rank), right)
        got = full(2)
        receive = dist.irecv(got, left)
        assert work.wait() and receive.wait() and receive.is_completed() and got.tolist() == [left] * 2
        works = dist.batch_isend_irecv([dist.P2POp(dist.irecv, got, left), dist.P2POp(dist.isend, full(2, value=-rank), right)])
        assert [w.wait() for w in works] == [True, True] and got.tolist() == [-left] * 2
        assert dist.batch_isend_irecv([]) == []
        dist.barrier()
        if rank:                                     # from any rank
            dist.send(full(2, value=rank), 0, tag=7)
            dist.send_object_list(["object", rank], 0)
        else:
            found = {dist.recv(got, tag=7): got[0].item() for _ in range(size - 1)}
            assert found == {r: float(r) for r in range(1, size)}
            items = [None, None]
            assert sorted((dist.recv_object_list(items), items[1]) for _ in range(size - 1)) == [(r, r) for r in range(1, size)]
        a, b = full(1), full(1)
        if rank == 0:                                # two receives from any rank take two messages
            works = [dist.irecv(a, tag=9), dist.irecv(b, tag=9)] if size > 2 else []
            for work in reversed(works):
                work.wait()
            assert not works or sorted([a.item(), b.item()]) == [1.0, 2.0]
            assert not works or sorted(work.source_rank() for work in works) == [1, 2]
        elif size > 2 and rank < 3:
            dist.send(full(1, value=rank), 0, tag=9)
        dist.barrier()


def test_messages_that_cannot_be(comm):
    with in_group(comm) as (rank, size):
        for call in (lambda: dist.send(full(1), rank), lambda: dist.send(full(1), size + 1), lambda: dist.recv(full(1), rank),
                     lambda: dist.send(full(1)), lambda: dist.P2POp("x", full(1), 0), lambda: dist.batch_isend_irecv(["x"]),
                     lambda: dist.send(full(1), (rank + 1) % size, tag=-1)):
            raises(ValueError, None, call)
        raises(TypeError, None, lambda: dist.send([1.0], (rank + 1) % size))
        if size > 1:                                 # another size than the receiver's
            raises(CollectiveError, "could not send it: send: TypeError", lambda: dist.recv(full(1), (rank - 1) % size))
            dist.send(full(3), (rank + 1) % size)
            raises(RuntimeError, r"received float32 \(3,\)", lambda: dist.recv(full(2), (rank - 1) % size))


def test_objects(comm):
    with in_group(comm) as (rank, size):
        out = [None] * size
        dist.all_gather_object(out, {"r": rank})
        assert out == [{"r": r} for r in range(size)]
        out = [None] * size if rank == 0 else None
        dist.gather_object(rank, out, dst=0)
        assert out == (list(range(size)) if rank == 0 else None)
        items = ["a", rank]
        dist.broadcast_object_list(items, src=size - 1)
        assert items == ["a", size - 1]
        one = [None]
        dist.scatter_object_list(one, [f"for {r}" for r in range(size)] if rank == 0 else None, src=0)
        assert one == [f"for {rank}"]


# --- groups ---------------------------------------------------------------------------------------------------------------

def test_groups(comm):
    """What PyTorch said on 3 processes of a group of ranks 2 and 1."""
    with in_group(comm) as (rank, size):
        assert (dist.get_backend(), dist.is_initialized(), dist.is_available()) == ("gloo", True, True)
        assert dist.get_process_group_ranks(None) == list(range(size)) and dist.get_process_group_ranks(dist.group.WORLD)
        assert dist.GroupMember.WORLD is dist.group.WORLD and dist.group.WORLD.rank() == rank
        assert dist.group.WORLD.size() == size and dist.get_pg_count() == 1
        if size != 3:
            return
        group = dist.new_group([2, 1])
        if rank == 0:
            assert group == dist.GroupMember.NON_GROUP_MEMBER == -100
            assert (dist.get_rank(group), dist.get_world_size(group)) == (-1, -1)
            with pytest.warns(UserWarning, match="does not belong to the given group"):
                assert dist.all_reduce(full(2), group=group) is None
            raises(ValueError, "Invalid process group specified", dist.get_backend, group)
        else:
            assert (dist.get_rank(group), dist.get_world_size(group), dist.get_backend(group)) == (rank - 1, 2, "gloo")
            assert dist.get_process_group_ranks(group) == [1, 2] and dist.get_group_rank(group, 2) == 1
            assert dist.get_global_rank(group, 0) == 1 and copy.deepcopy(group) is group
            for call in (lambda: dist.get_group_rank(group, 0), lambda: dist.get_global_rank(group, 9),
                         lambda: dist.broadcast(full(2), 0, group=group), lambda: dist.broadcast(full(2), group=group),
                         lambda: dist.broadcast(full(2), 1, group=group, group_src=0)):
                raises(ValueError, None, call)
            for how in ({"src": 2}, {"group_src": 1}):
                x = full(2, value=rank)
                dist.broadcast(x, group=group, **how)
                assert x.tolist() == [2.0, 2.0]
            out = [full(1) for _ in range(2)]
            dist.all_gather(out, full(1, value=rank), group=group)
            assert [x.item() for x in out] == [1.0, 2.0]
            out = [None] * 2
            dist.all_gather_object(out, rank, group=group)
            assert out == [1, 2]
            x = full(1, value=rank)
            if rank == 1:
                dist.send(x, 2, group=group)
            else:
                assert dist.recv(x, group=group) == 1 and x.item() == 1.0
            dist.monitored_barrier(group)
        unsorted = dist.new_group([2, 0, 1], sort_ranks=False)
        assert dist.get_process_group_ranks(unsorted) == [2, 0, 1] and dist.get_rank(unsorted) == [1, 2, 0][rank]
        mine, every = dist.new_subgroups(1)
        assert dist.get_process_group_ranks(mine) == [rank] and len(every) == size and every[rank] is mine
        pair, _ = dist.new_subgroups_by_enumeration([[0, 2], [1]])
        assert dist.get_process_group_ranks(pair) == ([1] if rank == 1 else [0, 2])
        part = dist.split_group(split_ranks=[[0], [1, 2]])
        assert dist.get_process_group_ranks(part) == ([0] if rank == 0 else [1, 2])
        dist.destroy_process_group(part)
        raises(ValueError, "not registered", dist.get_rank, part)
        inner = dist.split_group(unsorted, [[1, 0]])         # group ranks: global 0 and 2
        assert inner is None if rank == 1 else dist.get_process_group_ranks(inner) == [2, 0]
        assert dist.get_pg_count() == (6 if rank == 2 else 5)


def test_groups_that_cannot_be(comm):
    with in_group(comm) as (rank, size):
        for error, call in ((ValueError, lambda: dist.new_group([0, 0])), (ValueError, lambda: dist.new_group([0, 17])),
                            (ValueError, lambda: dist.all_reduce(full(1), group="x")), (ValueError, lambda: dist.get_rank("x")),
                            (ValueError, lambda: dist.new_subgroups(size + 1)), (ValueError, lambda: dist.new_subgroups()),
                            (TypeError, lambda: dist.new_group([0], timeout=3)), (ValueError, lambda: dist.new_group([0], backend="foo")),
                            (NotImplementedError, lambda: dist.new_group([0], use_local_synchronization=True))):
            raises(error, None, call)
        if size > 1:
            raises(CollectiveError, "ranks pass different groups", lambda: dist.new_group([0, 1] if rank else [0]))


# --- mistakes: PyTorch's class of error on the rank that makes one; never a hang on another -------------------------------

MISTAKES = [
    (TypeError, lambda r, n: dist.all_reduce([1.0])),
    (TypeError, lambda r, n: dist.all_reduce(3.0)),
    (TypeError, lambda r, n: dist.all_reduce(full(2), op="sum")),
    (TypeError, lambda r, n: dist.all_reduce(full(2), op=None)),
    (TypeError, lambda r, n: dist.all_reduce(full(2), op=Op.PREMUL_SUM)),
    (RuntimeError, lambda r, n: dist.all_gather([full(3) for _ in range(n + 1)], full(3))),
    (RuntimeError, lambda r, n: dist.all_gather([full(2) for _ in range(n)], full(3))),
    (ValueError, lambda r, n: dist.all_gather([full(3, dtype=ag.int32) for _ in range(n)], full(3))),
    (TypeError, lambda r, n: dist.all_gather(full(3), full(3))),
    (RuntimeError, lambda r, n: dist.all_gather_into_tensor(full(3 * n + 1), full(3))),
    (ValueError, lambda r, n: dist.all_gather_into_tensor(full(3 * n, dtype=ag.int32), full(3))),
    (ValueError, lambda r, n: dist.broadcast(full(1), n + 3)),
    (ValueError, lambda r, n: dist.broadcast(full(1))),
    (ValueError, lambda r, n: dist.reduce(full(1), n + 3)),
    (ValueError, lambda r, n: dist.gather(full(3), None if r == 0 else [full(3) for _ in range(n)], dst=0)),
    (ValueError, lambda r, n: dist.scatter(full(3), None if r == 0 else [full(3) for _ in range(n)], src=0)),
    (RuntimeError, lambda r, n: dist.reduce_scatter(full(3), [full(3)] * (n + 1))),
    (RuntimeError, lambda r, n: dist.reduce_scatter_tensor(full(2), full(2 * n + 1))),
    (RuntimeError, lambda r, n: dist.all_to_all_single(full(2 * n), full(2 * n), [1] * n, [1] * n)),
    (RuntimeError, lambda r, n: dist.all_to_all_single(full(2 * n), full(2 * n), [2] * n, [3] * n)),
    (RuntimeError, lambda r, n: dist.all_to_all([full(2) for _ in range(n + 1)], [full(2) for _ in range(n)])),
    (RuntimeError, lambda r, n: dist.all_to_all([full(3) for _ in range(n)], [full(2) for _ in range(n)])),
    (RuntimeError, lambda r, n: dist.barrier(device_ids=[0])),
    (ValueError, lambda r, n: dist.all_reduce_coalesced([])),
    (CollectiveError, lambda r, n: dist.scatter_object_list([], ["x"] * n if r == 0 else None)),
]


def test_mistakes_on_all_ranks_and_on_one(comm):
    with in_group(comm) as (rank, size):
        for number, (error, call) in enumerate(MISTAKES):
            raises(error, None, call, rank, size)
            assert dist.get_world_size() == size, number
        if size > 1:
            for error, call in MISTAKES[:12]:
                with pytest.raises(error if rank == 1 else CollectiveError, match=None if rank == 1 else "rank 1"):
                    call(rank, size) if rank == 1 else dist.all_reduce(full(2))
            raises(CollectiveError, "shapes differ", lambda: dist.all_reduce(full(2 + rank)))
            with pytest.raises(CollectiveError, match="dtypes differ"):
                dist.all_reduce(full(2, dtype=ag.float64 if rank else ag.float32))
            with pytest.raises(CollectiveError, match="different collectives"):
                dist.all_reduce(full(2)) if rank else dist.broadcast(full(2), 0)
        x = full(2, value=1.0)
        dist.all_reduce(x)
        assert x.tolist() == [size] * 2              # and the group works on


def test_before_and_after(comm):
    uninitialized = [dist.get_rank, dist.get_world_size, dist.get_backend, dist.barrier, lambda: dist.all_reduce(full(2)),
                     lambda: dist.new_group([0]), lambda: dist.DistributedDataParallel(nn.Linear(1, 1)),
                     dist.destroy_process_group]
    for call in uninitialized:
        raises(ValueError, "Default process group has not been initialized", call)
    assert not dist.is_initialized() and dist.group.WORLD is None
    for error, settings in ((ValueError, {"backend": "foo"}), (TypeError, {"timeout": 3}), (RuntimeError, {"world_size": 17}),
                            (NotImplementedError, {"device_id": "cuda:0"})):
        raises(error, None, lambda: dist.init_process_group(**{"backend": "gloo", "comm": comm, **settings}))
    if comm.size > 1:                            # a WORLD_SIZE left over on one rank is told to all
        with pytest.raises(RuntimeError, match=f"world_size=17 .* on rank 1, but this job has {comm.size}"):
            dist.init_process_group(comm=comm, world_size=17 if comm.rank == 1 else -1)
    for _ in range(2):                           # again and again; in another order of ranks
        dist.init_process_group("cpu:gloo,cuda:nccl", comm=comm, rank=comm.size - 1 - comm.rank, world_size=comm.size)
        assert dist.get_rank() == comm.size - 1 - comm.rank and dist.get_backend() == "gloo"
        raises(ValueError, "twice", dist.init_process_group, "gloo", comm=comm)
        dist.destroy_process_group()
    if comm.size > 1:
        raises(RuntimeError, "each number from 0", dist.init_process_group, comm=comm, rank=0, world_size=comm.size)
    dist.init_process_group(comm=comm)
    assert dist.get_backend() == "mpi"
    dist.destroy_process_group()


def test_monitored_barrier_names_who_is_missing(comm):
    """Also to that rank, when it comes."""
    with in_group(comm) as (rank, size):
        dist.monitored_barrier()
        if size > 1:
            if rank == size - 1:
                time.sleep(0.5)
            with pytest.raises(RuntimeError, match=f"rank {size - 1} did not call within 0.3 s"):
                dist.monitored_barrier(timeout=datetime.timedelta(seconds=0.3), wait_all_ranks=True)
            dist.barrier()
            dist.monitored_barrier()


# --- DistributedDataParallel -----------------------------------------------------------------------------------------------

def test_ddp_averages_over_ranks(comm):
    """As in PyTorch: the mean over ranks of their gradients, whatever their numbers of rows; state with "module."."""
    with in_group(comm) as (rank, _):
        ag.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
        alone = copy.deepcopy(net)
        model = dist.DistributedDataParallel(net, device_ids=None, gradient_as_bucket_view=False)
        assert list(model.state_dict()) == [f"module.{key}" for key in alone.state_dict()]
        assert next(model.named_parameters())[0] == "module.0.weight" and model.module is net
        x = ag.tensor(np.random.RandomState(rank).randn(rank + 3, 3).astype("float32"))
        (model(x) ** 2).mean().backward()
        (alone(x) ** 2).mean().backward()
        for p, q in zip(model.parameters(), alone.parameters(), strict=True):
            total = q.grad.clone()
            dist.all_reduce(total, op=Op.AVG)
            np.testing.assert_allclose(p.grad.numpy(), total.numpy(), rtol=1e-5, atol=1e-6)
        model.load_state_dict({f"module.{key}": value for key, value in alone.state_dict().items()})
        raises(RuntimeError, "Missing key", lambda: model.load_state_dict(alone.state_dict()))


def test_ddp_adds_up_gradients_without_summing_over_ranks(comm):
    """By no_sync(), and by require_backward_grad_sync, which scripts set (nanoGPT's)."""
    with in_group(comm) as (rank, size):
        def steps(accumulate):
            ag.manual_seed(0)
            model = dist.DistributedDataParallel(nn.Linear(2, 1, bias=False), bucket_cap_mb=1)
            accumulate(model, [full(1, 2, value=rank + 1 + i) for i in range(3)])
            return model.module.weight.grad.tolist()

        def by_attribute(model, xs):
            for i, x in enumerate(xs):
                model.require_backward_grad_sync = i == len(xs) - 1
                (model(x) / len(xs)).sum().backward()

        def by_block(model, xs):
            with model.no_sync():
                for x in xs[:-1]:
                    (model(x) / len(xs)).sum().backward()
            (model(xs[-1]) / len(xs)).sum().backward()

        wanted = mean([mean([r + 1 + i for i in range(3)]) for r in range(size)])
        for accumulate in (by_attribute, by_block):
            np.testing.assert_allclose(steps(accumulate), [[wanted] * 2], rtol=1e-6)


def test_ddp_arguments(comm):
    with in_group(comm) as (rank, size):
        for settings in ({"device_ids": [0]}, {"output_device": 0}):
            raises(ValueError, "only work with GPU", lambda: dist.DistributedDataParallel(nn.Linear(1, 1), **settings))
        for settings in ({"device_mesh": 1}, {"skip_all_reduce_unused_params": True}, {"bucket_cap_mb_list": [1]},
                         {"batched_grad_copy": True}):
            with pytest.raises(NotImplementedError, match=next(iter(settings))):
                dist.DistributedDataParallel(nn.Linear(1, 1), **settings)
        with pytest.raises(RuntimeError, match="not needed when a module doesn't have any parameter"):
            dist.DistributedDataParallel(nn.ReLU())
        for settings in ({"static_graph": True}, {"find_unused_parameters": True}, {"broadcast_buffers": False},
                         {"gradient_as_bucket_view": True}, {"process_group": dist.group.WORLD}, {"init_sync": False}):
            ag.manual_seed(0)
            model = dist.DistributedDataParallel(nn.Linear(1, 1), **settings)
            model(full(2, 1, value=1.0)).sum().backward()
            assert model.module.weight.grad.item() == 2.0 and model.process_group is dist.group.WORLD
        if size == 3:
            group = dist.new_group([0, 2])
            if rank != 1:
                model = dist.DistributedDataParallel(nn.Linear(1, 1, bias=False), process_group=group)
                model(full(1, 1, value=rank)).sum().backward()
                assert model.module.weight.grad.item() == 1.0
            else:
                with pytest.raises(RuntimeError, match="not in the process group"):
                    dist.DistributedDataParallel(nn.Linear(1, 1), process_group=group)


def test_gradients_that_are_no_views_of_buckets(comm):
    """PyTorch's default: a gradient that somebody keeps does not change in the next pass; passes add up. With gradient_as_bucket_view=True the memory is the bucket's."""
    with in_group(comm) as (rank, size):
        for views in (False, True):
            model = dist.DistributedDataParallel(nn.Linear(2, 1, bias=False), gradient_as_bucket_view=views)
            weight, kept = model.module.weight, []
            for step in (1.0, 2.0, 3.0):
                model.zero_grad(set_to_none=True)
                model(full(1, 2, value=step + rank)).sum().backward()
                kept.append(weight.grad)
            shift = (size - 1) / 2
            if not views or size == 1:
                assert [g.tolist() for g in kept] == [[[step + shift] * 2] for step in (1.0, 2.0, 3.0)]
            model.zero_grad(set_to_none=False)
            model(full(1, 2, value=rank)).sum().backward()
            assert weight.grad.tolist() == [[shift] * 2]
            model(full(1, 2, value=rank + 1)).sum().backward()
            assert weight.grad.tolist() == [[2 * shift + 1] * 2]
            with model.no_sync():
                model(full(1, 2, value=rank)).sum().backward()
            model(full(1, 2, value=rank)).sum().backward()
            assert weight.grad.tolist() == [[4 * shift + 1] * 2]


# --- stores ---------------------------------------------------------------------------------------------------------------

@pytest.fixture(params=["hash", "file", "tcp", "prefix"])
def store(request, tmp_path):
    if request.param == "file":
        return dist.FileStore(str(tmp_path / "store"), 1)
    if request.param == "tcp":
        return dist.TCPStore("127.0.0.1", 0, 1, True, datetime.timedelta(seconds=10))
    return dist.HashStore() if request.param == "hash" else dist.PrefixStore("p", dist.HashStore())


def test_stores(store):
    """As in PyTorch."""
    store.set("a", "one")
    assert store.get("a") == b"one" and store.num_keys() == 1 and store.check(["a"]) and not store.check(["a", "b"])
    assert (store.add("n", 3), store.add("n", -1), store.get("n")) == (3, 2, b"2")
    assert store.compare_set("a", "two", "x") == b"one" and store.compare_set("a", "one", "two") == b"two"
    assert store.compare_set("new", "", "v") == b"v" and store.compare_set("none", "w", "v") == b"w"
    assert store.delete_key("a") and not store.delete_key("a") and not store.check(["a"])
    store.append("log", b"1")
    store.append("log", "2")
    store.multi_set(["x", "y"], ["1", b"\0\xff"])
    assert store.multi_get(["y", "x", "log"]) == [b"\0\xff", b"1", b"12"]
    store.set_timeout(datetime.timedelta(seconds=0.1))
    for call in (lambda: store.get("never"), lambda: store.wait(["x", "never"]),
                 lambda: store.wait(["never"], datetime.timedelta(seconds=0.05))):
        raises(dist.DistStoreError, "never", call)
    raises(TypeError, None, store.set, "a", 3)
    raises(TypeError, None, store.set_timeout, 3)
    assert store.timeout == datetime.timedelta(seconds=0.1)


def test_stores_wake_who_waits_and_add_up_without_losing_any(store, tmp_path):
    """Clients of their own, in threads."""
    def client():
        if isinstance(store, dist.TCPStore):
            return dist.TCPStore("127.0.0.1", store.port, timeout=datetime.timedelta(seconds=10))
        return dist.FileStore(store.path) if isinstance(store, dist.FileStore) else store

    def work(number):
        mine = client()
        for _ in range(20):
            mine.add("n", 1)
        mine.wait(["go"])
        mine.set(f"done{number}", b"")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    while store.add("n", 0) < 60:
        time.sleep(0.01)
    store.set("go", b"")
    store.wait([f"done{i}" for i in range(3)])
    for thread in threads:
        thread.join()


def test_stores_that_nobody_serves():
    with pytest.raises(dist.DistNetworkError, match="no server"):
        dist.TCPStore("127.0.0.1", 1, timeout=datetime.timedelta(seconds=0.1))
    raises(dist.DistStoreError, "1 of 2", lambda: dist.TCPStore("127.0.0.1", 0, 2, True, datetime.timedelta(seconds=0.1)))


# --- one process -----------------------------------------------------------------------------------------------------------

def test_a_lone_process():
    """python script.py: a group of one; more than that is an error that says how to start."""
    if launched_size():
        pytest.skip("no lone process")
    dist.init_process_group("gloo", comm=Devices(1))
    try:
        x = full(2, value=3.0)
        dist.all_reduce(x)
        assert x.tolist() == [3.0, 3.0] and dist.get_rank() == 0 and dist.get_world_size() == 1
    finally:
        dist.destroy_process_group()
    raises(ValueError, "one rank per process", lambda: dist.init_process_group(comm=Devices(2)))
    raises(RuntimeError, "No rendezvous handler", dist.init_process_group, "gloo", init_method="foo://x")
    with pytest.raises(ValueError, match="both"):
        dist.init_process_group("gloo", init_method="env://", store=dist.HashStore(), rank=0, world_size=1)


def test_receiving_from_any_rank_when_nobody_is_left():
    def check(comm):
        dist.init_process_group(comm=comm)
        if comm.rank == 0:
            dist.recv(full(1))

    if not launched_size():
        raises(RankFailure, "all other ranks have returned", run_ranks, 2, check, timeout=20)


def test_names_of_pytorch():
    """Those of its documentation, the ones that scripts use."""
    for name in ("is_torchelastic_launched is_nccl_available is_gloo_available is_mpi_available Backend GroupMember "
                 "get_node_local_rank default_pg_timeout all_gather_single reduce_scatter_single reduce_op GradBucket").split():
        assert hasattr(dist, name), name
    c10d = importlib.import_module("autograd.distributed.distributed_c10d")      # where PyTorch defines them
    assert c10d.ProcessGroup is dist.ProcessGroup and importlib.import_module("dparallel.distributed.distributed_c10d") is c10d
    raises(ValueError, "not been initialized", c10d._get_default_group)
    assert dist.Backend("GLOO") == dist.Backend.GLOO == "gloo" and repr(Op.SUM) == "<RedOpType.SUM: 0>"
    assert str(Op.AVG) == "RedOpType.AVG" and dist.ReduceOp.SUM == dist.reduce_op.SUM
    assert isinstance(Op.SUM, dist.ReduceOp) and os.environ is not None


@pytest.mark.skipif(bool(launched_size()), reason="one process")
def test_the_page_runs():
    """The program of docs/distributed.md."""
    page = (Path(__file__).parents[3] / "docs" / "distributed.md").read_text()
    code = page.partition("```python\n")[2].partition("```")[0]
    exec(code, {})
    assert not dist.is_initialized()


def test_a_hook_as_for_pytorch_and_groups_in_place_of_communicators(comm):
    """register_comm_hook with torch.distributed's own calls; SyncBatchNorm, ZeroRedundancyOptimizer and samplers take groups."""
    with in_group(comm) as (_, size):
        def hook(group, bucket):
            future = dist.all_reduce(bucket.buffer().div_(dist.get_world_size(group)), group=group, async_op=True).get_future()
            return future.then(lambda fut: fut.value()[0])

        ag.manual_seed(0)
        net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), dist.group.WORLD)
        model = dist.DistributedDataParallel(net, process_group=dist.group.WORLD)
        model.register_comm_hook(dist.group.WORLD, hook)
        optimizer = dist.optim.ZeroRedundancyOptimizer(model.parameters(), ag.optim.SGD, lr=0.1, process_group=dist.group.WORLD)
        for _ in range(2):
            optimizer.zero_grad()
            (model(ag.randn(4, 2)) ** 2).sum().backward()
            optimizer.step()
        told = [None] * size
        dist.all_gather_object(told, [p.tolist() for p in model.parameters()])
        assert all(each == told[0] for each in told)
