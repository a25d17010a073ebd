"""Non-blocking collectives: handles, order, lifetime."""

import gc
import time

import numpy as np
import pytest

import autograd as ag
from dparallel import CollectiveError, run_ranks

pytestmark = pytest.mark.quick


@pytest.mark.devices
def test_wait_is_idempotent_and_done_becomes_true(comm):
    handle = comm.start_allreduce([np.ones(3) for _ in comm.held])
    deadline = time.monotonic() + 60
    while not handle.done():
        assert time.monotonic() < deadline
    first = handle.wait()
    assert first[0].tolist() == [comm.size] * 3
    assert handle.wait() is first and handle.done()


@pytest.mark.devices
def test_many_in_flight_waited_for_in_any_order(comm):
    n = comm.size
    handles = []
    for i in range(20):
        x = [np.full(5, float(rank + i)) for rank in comm.held]
        handles += [comm.start_allreduce(x), comm.start_allgather(x),
                    comm.start_broadcast(x[comm.held.index(i % n)] if i % n in comm.held else None, i % n)]
    order = np.random.default_rng(comm.rank).permutation(len(handles))       # another one on every rank
    got = {k: handles[k].wait() for k in order}
    for i in range(20):
        for total, everyone, copy in zip(got[3 * i], got[3 * i + 1], got[3 * i + 2], strict=True):
            assert total.tolist() == [sum(range(n)) + n * i] * 5
            assert everyone.tolist() == np.repeat(np.arange(n) + i, 5).tolist()
            assert copy.tolist() == [i % n + i] * 5


def test_known_calls_do_not_wait_at_their_start(comm):
    """As the compared ones; also of no elements, of bfloat16, and between blocking collectives."""
    n, sizes = comm.size, [rank % 3 for rank in range(comm.size)]
    whole = np.arange(sum(sizes)) * 1.0 + comm.rank
    for x in (np.full(sizes[comm.rank], comm.rank + 0.5), ag.full((sizes[comm.rank],), comm.rank + 0.5, dtype=ag.bfloat16).array):
        handles = [comm.start_known("allgather", x, sizes), comm.start_known("reduce_scatter", whole, sizes),
                   comm.start_known("alltoall", whole, sizes)]
        gathered, summed, sent = comm.allgather([x])[0], comm.reduce_scatter([whole], sizes)[0], comm.alltoall([whole], [sizes])[0]
        for handle, expected in zip(handles, (gathered, summed, sent), strict=True):
            assert handle.wait().dtype == expected.dtype and handle.wait().tolist() == expected.tolist()
    other = comm.duplicate()                         # ranks start these in another order than a checked call allows
    if comm.rank % 2:
        first, second = other.start_known("allgather", np.ones(1), [1] * n), comm.start_known("allgather", np.zeros(1), [1] * n)
    else:
        second, first = comm.start_known("allgather", np.zeros(1), [1] * n), other.start_known("allgather", np.ones(1), [1] * n)
    assert first.wait().tolist() == [1] * n and second.wait().tolist() == [0] * n


@pytest.mark.devices
def test_blocking_ones_between_start_and_wait(comm):
    buffers = [np.full(1000, rank + 1.0) for rank in comm.held]
    handle = comm.start_sum_in_place(buffers)
    other = comm.duplicate()
    assert other.total(1.0) == comm.size // len(comm.held)
    assert len(other.allgather([np.ones(2) for _ in comm.held])[0]) == 2 * comm.size
    handle.wait()
    handle.wait()
    for x in buffers:
        assert (x == comm.size * (comm.size + 1) / 2).all()


@pytest.mark.devices
def test_dropped_handles_do_no_harm(comm):
    """Nobody waits; the buffers must live until the messages are through."""
    for i in range(150):
        comm.start_allreduce([np.full(2000, float(i)) for _ in comm.held])
        comm.start_sum_in_place([np.ones(2000) for _ in comm.held])
    gc.collect()
    comm.barrier()
    assert comm.allreduce([np.ones(1) for _ in comm.held])[0][0] == comm.size


@pytest.mark.devices
def test_the_input_may_change_after_wait_only(comm):
    """The result is that of the arrays at the start, when they change after wait()."""
    xs = [np.full(4, rank + 1.0) for rank in comm.held]
    result = comm.start_allreduce(xs).wait()
    comm.barrier()
    for x in xs:
        x[...] = -1
    assert result[0].tolist() == [comm.size * (comm.size + 1) / 2] * 4


def test_a_rank_may_change_its_input_while_another_still_waits(comm):
    other, x = comm.duplicate(), np.full(4, comm.rank + 1.0)
    handle = comm.start_allreduce([x])
    if comm.rank == 0:
        handle.wait()
        x[...] = -1
    other.barrier()
    assert handle.wait()[0].tolist() == [comm.size * (comm.size + 1) / 2] * 4
    other.free()


def test_under_threads_start_does_not_wait_for_the_others():
    def body(comm):
        if comm.rank == 0:
            handle = comm.start_allreduce([np.ones(1)])
            assert not handle.done()
            comm.duplicate().barrier()               # the others start after this
        else:
            comm.duplicate().barrier()
            handle = comm.start_allreduce([np.ones(1)])
        return handle.wait()[0].item()

    assert run_ranks(3, body) == [3, 3, 3]


@pytest.mark.threads(2)
def test_an_error_stays_with_the_handle(comm):
    handle = comm.start_allreduce([np.ones(1 + comm.rank)])
    texts = set()
    for _ in range(2):
        with pytest.raises(CollectiveError) as caught:
            handle.wait()
        texts.add(str(caught.value))
    assert handle.done() and len(texts) == 1
