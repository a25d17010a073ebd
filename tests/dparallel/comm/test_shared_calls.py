"""Calls compared in shared memory, where an allreduce of little data takes place, and by MPI: values, mistakes, stragglers."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from dparallel import CollectiveError, world
from dparallel.comm.reference import combined

pytestmark = pytest.mark.mpi
OPS = {"float32": ["sum", "avg", "prod", "max"], "float16": ["sum", "mean", "min"], "int64": ["sum", "max", "bxor"],
       "bool": ["sum", "prod", "band"], "complex64": ["sum", "mean"]}


def error_of(call):
    """The text of the CollectiveError that a call raises."""
    with pytest.raises(CollectiveError) as caught:
        call()
    return str(caught.value)


@pytest.fixture(params=["shared memory", "MPI"])
def comm(request, monkeypatch):
    from dparallel.comm.mpi.comparison import SharedCalls
    if request.param == "MPI":                       # as on several hosts
        monkeypatch.setattr(SharedCalls, "of", classmethod(lambda *_: None))
    made = world().duplicate()
    if request.param == "shared memory" and made.size > 1:
        if made.node().size < made.size:
            pytest.skip("the ranks of several hosts share no memory")
        assert made._shared_calls is not None
    yield made
    made.free()


def limit(comm, dtype):
    """Elements of the largest array that travels with its call, were memory shared."""
    from dparallel.comm.mpi.shared_calls import HALF
    return 2 * HALF // comm.size // np.dtype(dtype).itemsize


def drawn(rank, shape, dtype, step):
    rng = np.random.default_rng((rank, step))
    x = rng.integers(-3, 4, shape) if dtype in ("int64", "bool") else rng.standard_normal(shape)
    return np.asarray(x + 1j * x if dtype.startswith("complex") else x).astype(dtype)


@pytest.mark.parametrize("dtype", OPS)
def test_values_are_those_of_the_reference_and_stay(comm, dtype):
    """Calls alternate, so that they use both halves of the memory; results of earlier calls do not change."""
    cases = [(shape, op) for shape in ((), (0,), (5,), (3, 4), (limit(comm, dtype),), (limit(comm, dtype) + 1,))
             for op in OPS[dtype]]
    kept = []
    for step in range(3):
        for shape, op in cases:
            xs = [drawn(rank, shape, dtype, step) for rank in range(comm.size)]
            expected = combined(xs, "mean" if op == "avg" else op)
            x = np.array(xs[comm.rank], order="F")
            y = comm.allreduce([x], op)[0] if step < 2 else comm.start_allreduce([x], op).wait()[0]
            assert (y.shape, y.dtype, y.flags.c_contiguous) == (shape, np.dtype(dtype), True)
            np.testing.assert_allclose(y, expected, rtol=1e-2 if dtype == "float16" else 1e-5, atol=1e-5)
            np.testing.assert_array_equal(x, xs[comm.rank])
            kept.append((y, y.copy()))
    for y, copy in kept:
        np.testing.assert_array_equal(y, copy)
    total = comm.allgather([np.concatenate([y.reshape(-1) for y, _ in kept]).view("u1")])[0].reshape(comm.size, -1)
    assert (total == total[0]).all()                 # the same bits on all ranks


WRONG = {"dtype": lambda comm, x: comm.allreduce([x.astype("float64")]), "shape": lambda comm, x: comm.allreduce([x[1:]]),
         "dimensions": lambda comm, x: comm.allreduce([x.reshape(1, -1)]), "op": lambda comm, x: comm.allreduce([x], "max"),
         "ties": lambda comm, x: comm.issue("allreduce", [x], ties="first"), "no array": lambda comm, x: comm.allreduce([None]),
         "another collective": lambda comm, x: comm.allgather([x]), "no data": lambda comm, x: comm.barrier(),
         "an agreement": lambda comm, x: comm.agree(1), "started": lambda comm, x: comm.start_allreduce([x], "prod")}


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("size", ["small", "at the limit", "above it"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_mismatch_is_one_error_on_all_ranks(comm, wrong, size, known):
    if comm.size == 1:
        pytest.skip("one rank matches itself")
    n = {"small": 6, "at the limit": limit(comm, "float32"), "above it": limit(comm, "float32") + 1}[size]
    x = np.full(n, 1.0, np.float32)

    def right():
        np.testing.assert_array_equal(comm.allreduce([x])[0], np.full(n, comm.size, np.float32))

    for _ in range(3 * known):
        right()
        if wrong == "an agreement":
            comm.agree(1)
    for _ in range(2):                               # in both halves of the memory
        text = error_of(lambda: WRONG[wrong](comm, x) if comm.rank == comm.size - 1 else comm.allreduce([x]))
        assert f"collective of {comm.size} ranks rejected" in text and "allreduce(op='sum') of float32" in text
        assert len(set(comm.allgather_object([text]))) == 1
        right()


def test_sums_that_are_not_finite_warn_of_nothing(comm):
    x = np.array([3e38, np.inf if comm.rank else -np.inf, np.nan], np.float32)
    with np.errstate(all="raise"):
        for _ in range(2):
            y = comm.allreduce([x])[0]
    if comm.size > 1:
        assert np.isinf(y[0]) and np.isnan(y[1:]).all()
        assert np.geterr()["over"] == "warn"


def test_agreements_combine_the_bits_of_all_ranks(comm):
    for step in range(3):
        assert comm.agree(4) == 4
        assert comm.agree(1 << comm.rank, "f") == (1 << comm.size) - 1
        assert comm.agree(step if comm.rank == 0 else 0) == step
        with comm.in_backward_of(step + 1):
            assert comm.agree(8) == 8 and comm.allreduce([np.ones(3)])[0].tolist() == [comm.size] * 3
    if comm.size > 1:
        with comm.in_backward_of(1 + comm.rank):
            for call in (lambda: comm.agree(4), lambda: comm.allreduce([np.ones(3)])):
                assert "backward passes reach different collectives" in error_of(call)


def test_a_rank_that_waits_lets_mpi_progress(comm):
    """Rank 1 sends synchronously to rank 0, which waits for it in the allreduce, and has another message that nothing receives."""
    if comm.size == 1:
        return
    from mpi4py import MPI
    raw = MPI.COMM_WORLD.Dup()
    for _ in range(2):
        received, request = np.zeros(1 << 20), None
        if comm.rank == 0:
            request = raw.Irecv(received, 1)
        elif comm.rank == 1:
            early = comm.comm.Isend(np.ones(1), 0, 5)
            time.sleep(0.05)
            raw.Ssend(np.ones(1 << 20), 0)
        assert comm.allreduce([np.ones(2)])[0].tolist() == [comm.size] * 2
        if comm.rank == 0:
            request.Wait()
            comm.comm.Recv(np.empty(1), 1, 5)
            assert received.all()
        elif comm.rank == 1:
            early.Wait()
    raw.Free()


def test_a_rank_that_waits_for_long_sleeps(comm, monkeypatch):
    """Else its other threads would wait for Python's lock."""
    if comm._shared_calls is None:
        return
    from dparallel.comm.mpi import shared_calls
    slept = []

    def sleep(seconds):
        if comm.rank == 0 and not slept:
            slept.append(comm.comm.Isend(np.ones(1), 1, 5))

    monkeypatch.setattr(shared_calls, "time", SimpleNamespace(sleep=sleep))
    if comm.rank == 1:
        comm.comm.Recv(np.empty(1), 0, 5)            # rank 0 sends this when it sleeps
    comm.barrier()
    for request in slept:
        request.Wait()


def test_a_freed_communicator_says_so(comm):
    made = comm.duplicate()
    made.allreduce([np.ones(2)])
    made.free()
    with pytest.raises(Exception, match="free"):
        made.allreduce([np.ones(2)])
