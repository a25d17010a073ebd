"""Sums over memory that ranks share: values, order, mistakes, and what becomes of the memory."""

import gc
import os
import re

import numpy as np
import pytest
from raised import raises

import autograd as ag
from autograd import nn
from dparallel import CollectiveError, DataParallel, run_ranks, world
from dparallel.comm.mpi import shared_memory
from dparallel.comm.persistent import PersistentSum
from dparallel.hooks import fp16_compress_hook

SIZES = [0, 1, 5, 16, 17, 1000, 8193, 100_003]


@pytest.fixture
def comm():
    from dparallel.comm.mpi.shared_sum import SharedSum  # what is tested runs on this
    made = world().duplicate()
    if made.node().size < made.size:
        pytest.skip("the ranks of several hosts share no memory")
    if made.size > 1 and hasattr(os, "memfd_create"):
        assert isinstance(made.persistent_sum(1, np.float32), SharedSum)
    yield made
    made.free()


def numbers(rank, size, dtype, step=0):
    drawn = np.random.default_rng((rank, size, step)).standard_normal(size)
    return (100 * drawn).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64", "float16"])
def test_sums_are_in_rank_order_and_the_same_everywhere(comm, dtype):
    for size in SIZES:
        vector = comm.persistent_sum(size, np.dtype(dtype))
        assert vector.array.shape == (size,) and vector.array.dtype == dtype and not vector.array.any()
        for step in range(3):
            vector.array[...] = numbers(comm.rank, size, dtype, step)
            vector.start().wait()
            parts = [numbers(rank, size, dtype, step).astype("float32" if dtype == "float16" else dtype)
                     for rank in range(comm.size)]
            expected = np.sum(parts, axis=0, dtype=parts[0].dtype) if comm.size > 1 else parts[0]
            np.testing.assert_allclose(vector.array, expected.astype(dtype), rtol=1e-5, atol=1e-3)
            everywhere = comm.allgather([vector.array.view("u1")])[0].reshape(comm.size, -1)
            assert (everywhere == everywhere[0]).all()


@pytest.mark.parametrize("weights", ["equal", "powers of two", "others", "none", "not finite"])
def test_some_elements_are_divided_by_the_sum_of_the_last(comm, weights):
    last = {"equal": 3.0, "powers of two": 2.0 ** comm.rank, "others": 0.3 + comm.rank, "none": 0.0,
            "not finite": float("inf")}[weights]
    for size in (1, 5, 1000, 200_003):
        for divided in sorted({0, min(1, size - 1), size // 2, size - 1}):
            vector, plain = (comm.persistent_sum(size, np.float32) for _ in range(2))
            for v in (vector, plain):
                v.array[...] = numbers(comm.rank, size, np.float32)
                v.array[-1] = last
            handles = [vector.start(divided), plain.start()]
            for handle in handles:
                handle.wait()
            total = plain.array[-1]
            if np.isfinite(total) and total:
                plain.array[:divided] /= total
            np.testing.assert_array_equal(vector.array[divided:], plain.array[divided:])
            np.testing.assert_allclose(vector.array[:divided], plain.array[:divided], rtol=1e-6)
            everywhere = comm.allgather([vector.array])[0].reshape(comm.size, -1)
            np.testing.assert_array_equal(everywhere, np.broadcast_to(vector.array, everywhere.shape))


def test_several_under_way_and_waited_for_in_any_order(comm):
    vectors = [comm.persistent_sum(size, np.float64) for size in (3000, 10, 70_000)]
    for step in range(20):
        for vector in vectors:
            vector.array[...] = comm.rank + step
        handles = [vector.start() for vector in vectors]
        for i in np.random.default_rng((comm.rank, step)).permutation(3):    # another order on each rank
            while step % 2 and not handles[i].done():
                pass
            handles[i].wait()
            assert handles[i].done() and handles[i].wait() is None
        for vector in vectors:
            assert (vector.array == sum(rank + step for rank in range(comm.size))).all()


@pytest.mark.mpi
def test_sums_that_overflow_raise_on_no_rank(comm):
    """Whatever NumPy is to do then: an exception in one rank's slice would leave the others waiting."""
    vector = comm.persistent_sum(1000, np.float32)
    vector.array[...] = 3e38
    with np.errstate(all="raise"):
        vector.start(999).wait()
    assert comm.size == 1 or np.isinf(vector.array[-1])


@pytest.mark.mpi
def test_communicators_may_be_waited_for_in_different_orders(comm):
    """As in one backward pass over two models that ranks call in different orders."""
    others = [comm, comm.duplicate(), comm.duplicate()]
    vectors = [c.persistent_sum(50_000, np.float32) for c in others]
    for step in range(10):
        order = np.random.default_rng((comm.rank, step)).permutation(3)
        for vector in vectors:
            vector.array[...] = 1
        handles = {i: vectors[i].start() for i in order}
        for i in np.random.default_rng((step, comm.rank)).permutation(3):
            handles[i].wait()
        assert all((vector.array == comm.size).all() for vector in vectors)
    for other in others[1:]:
        other.free()


class Uneven(nn.Module):
    """Layers of which odd ranks do not use the last."""

    def __init__(self, width, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])

    def forward(self, x):
        for layer in self.layers[:len(self.layers) - world().rank % 2 if len(self.layers) > 1 else 1]:
            x = layer(x)
        return x


@pytest.mark.mpi
@pytest.mark.parametrize("layers", [1, 4])
@pytest.mark.parametrize("how", ["plain", "hook", "shard"])
def test_two_models_in_one_pass_called_in_different_orders(layers, how):
    """Also where some buckets are full before the end of the pass, and others not."""
    nets = [DataParallel(Uneven(50, layers), comm=world(), find_unused_parameters=True, bucket_cap_mb=0.001,
                         shard=2 if how == "shard" else None) for _ in range(2)]
    optimizers = [ag.optim.SGD(net.parameters(), lr=0.1) for net in nets]
    x = ag.ones(4, 50)
    for net in nets * (how == "hook"):
        net.register_comm_hook(None, fp16_compress_hook)
    for _ in range(3):
        order = nets if world().rank % 2 else nets[::-1]
        sum((i + 1) * net(x).sum() for i, net in sorted(enumerate(nets), key=lambda item: order.index(item[1]))).backward()
        for i, net in enumerate(nets):
            found = {name.removeprefix("module."): p.grad.numpy() for name, p in net.named_parameters()}
            users = 1 if layers == 1 else (world().size + 1) // 2 / world().size
            np.testing.assert_allclose(found[f"layers.{layers - 1}.bias"], 4 * (i + 1) * users, rtol=1e-3)
            optimizers[i].zero_grad()


@pytest.mark.mpi
def test_a_rank_that_can_not_add_up_is_an_error_on_all(comm):
    """As for want of memory; the sums of this communicator and of others go on."""
    if comm.size == 1:
        return
    vector, after = (comm.persistent_sum(1000, np.float32) for _ in range(2))
    if comm.rank == comm.size - 1:
        vector._parts = None
    raises(CollectiveError, f"rank {comm.size - 1} could not compute its slice", lambda: vector.start().wait())
    after.array[...] = 1
    after.start().wait()
    assert (after.array == comm.size).all()


@pytest.mark.mpi
def test_a_communicator_that_has_failed_leaves_others_alone(comm):
    """Its own sums fail; whoever waits for another one's does not hear of it."""
    dead = comm.duplicate()
    vectors = [c.persistent_sum(1000, np.float32) for c in (dead, dead, comm)]
    if comm.size == 1:
        return
    for vector in vectors:
        vector.array[...] = 1
    handles = [vector.start() for vector in vectors]

    class Broken:
        def Test(self):  # MPI's name
            raise RuntimeError("MPI_ERR_COMM")

        Wait = Test

    barrier, dead._shared._barrier = dead._shared._barrier, Broken()
    for _ in range(2):
        handles[-1].wait()
        assert (vectors[-1].array == comm.size).all()
        vectors[-1].array[...] = 1
        handles[-1] = vectors[-1].start()
    handles[-1].wait()
    for handle in handles[:2]:
        raises(CollectiveError, r"failed: RuntimeError: MPI_ERR_COMM", handle.wait)
    barrier.Wait()
    dead.free()


@pytest.mark.mpi
def test_ranks_at_different_vectors_are_told_so(comm):
    if comm.size == 1:
        return
    one, two = (comm.persistent_sum(10, np.float32) for _ in range(2))
    raises(CollectiveError, "sum different vectors", lambda: (two if comm.rank == 0 else one).start().wait())
    for vector in (one, two):                        # and they go on
        vector.array[...] = comm.rank
        vector.start().wait()
        assert (vector.array == sum(range(comm.size))).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64"])
@pytest.mark.parametrize("vector_of", [lambda rank, size: rank, lambda rank, size: rank == size - 1,
                                       lambda rank, size: 40 * (rank == 0)], ids=["each its own", "last", "first"])
def test_sums_over_messages_of_different_vectors_are_an_error(comm, dtype, vector_of):
    vectors = [PersistentSum(comm, 10, dtype) for _ in range(41)]
    if comm.size > 1:
        with pytest.raises(CollectiveError, match=rf"sum different vectors: .* {dtype} \(10,\), vector \d+"):
            vectors[vector_of(comm.rank, comm.size)].start().wait()
    for vector in vectors[::10]:                 # and they go on
        vector.array[...] = comm.rank
        for _ in range(2):
            vector.start(divided=0).wait()
        assert (vector.array == sum(range(comm.size)) * comm.size).all()


@pytest.mark.parametrize("bad", [0, -1])
def test_a_rank_that_caught_its_error_in_backward_is_told_where_messages_sum(on_ranks, bad, monkeypatch):
    """As between hosts. All buckets have one length, so that MPI notices nothing."""
    from dparallel.comm.mpi.shared_sum import SharedSums
    monkeypatch.setattr(SharedSums, "vector", lambda *_: None)

    def check(comm):
        model = DataParallel(nn.Sequential(*[nn.Linear(8, 8, bias=False) for _ in range(4)]), comm=comm, batch="own",
                             bucket_cap_mb=1e-4, verify_every=0)
        hits = []

        def planted(g):
            hits.append(1)
            if len(hits) == 3 and comm.rank == bad % comm.size:
                raise ZeroDivisionError

        model.module[1].weight.register_hook(planted)
        caught = []
        for _ in range(4):
            try:
                model(ag.ones(2, 8)).sum().backward()
            except (ZeroDivisionError, CollectiveError) as error:
                caught.append(type(error))
                if type(error) is CollectiveError:
                    break
            model.zero_grad()
        if comm.size > 1:
            assert caught == [ZeroDivisionError] * (comm.rank == bad % comm.size) + [CollectiveError]

    on_ranks(check)


@pytest.mark.mpi
def test_a_rank_that_caught_its_own_error_and_goes_on(comm):
    """Its next pass meets the others' unfinished one: an error on all ranks, once, and then they are together again."""
    if comm.size == 1:
        return
    vectors = [comm.persistent_sum(10, np.float32) for _ in range(3)]
    failed = comm.rank == comm.size - 1

    def step(count):
        for handle in [vector.start() for vector in vectors[:count]]:
            handle.wait()

    step(3)
    if failed:
        step(1)                                      # its exception came here
    raises(CollectiveError, "sum different vectors", step, 3)
    for _ in range(2):
        for vector in vectors:
            vector.array[...] = comm.rank
        step(3)
        assert all((vector.array == sum(range(comm.size))).all() for vector in vectors)


@pytest.mark.mpi
def test_free_completes_what_was_started():
    comm = world().duplicate()
    vector = comm.persistent_sum(1000, np.float32)
    vector.array[...] = 1
    vector.start()
    comm.free()
    assert (vector.array == comm.size).all()


@pytest.mark.mpi
def test_memory_goes_with_the_vectors(comm):
    """Nothing stays mapped or open, and no rank waits for another to give it back."""
    if comm.size == 1 or not os.path.exists("/proc/self/maps"):
        return

    def mapped():
        with open("/proc/self/maps") as file:
            return len(re.findall("memfd:dparallel", file.read()))

    gc.collect()
    before = mapped(), len(os.listdir("/proc/self/fd"))
    vectors = [comm.persistent_sum(50_000, np.float32) for _ in range(5)]
    assert mapped() == before[0] + 5
    kept = vectors[0].array[3:]
    del vectors
    assert mapped() == before[0] + 1                 # a view keeps what it is of
    kept[...] = 1
    del kept
    assert (mapped(), len(os.listdir("/proc/self/fd"))) == before


@pytest.mark.mpi
@pytest.mark.parametrize("where", ["first", "last", "pipe", "full"])
def test_ranks_that_can_not_share_memory_sum_by_mpi(monkeypatch, where):
    """As on several hosts: some rank can't open the file, or finds another one, or none that is read so, there."""
    odd = world().rank == (0 if where == "first" else world().size - 1)
    if odd and where == "first":
        monkeypatch.setattr(shared_memory, "_create", lambda: (_ for _ in ()).throw(OSError("no memory")))
    if odd and where == "last":
        monkeypatch.setattr(shared_memory.os, "pread", lambda *_: b"another host's")
    if odd and where == "pipe":
        monkeypatch.setattr(shared_memory.os, "pread", lambda *_: (_ for _ in ()).throw(OSError("Illegal seek")))
    if odd and where == "full":
        monkeypatch.setattr("mmap.mmap", lambda *_: (_ for _ in ()).throw(OSError("Too many open files")))
    comm = world().duplicate()
    vector = comm.persistent_sum(100, np.float32)
    assert type(vector) is PersistentSum
    vector.array[...] = 1
    vector.start().wait()
    assert (vector.array == comm.size).all()
    comm.free()


@pytest.mark.mpi
def test_without_memfd_a_file_is_used_and_leaves_no_name(monkeypatch, tmp_path, comm):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if comm.size == 1:
        return
    vector = comm.persistent_sum(1000, np.float64)
    vector.array[...] = comm.rank
    vector.start().wait()
    assert (vector.array == sum(range(comm.size))).all()
    comm.barrier()
    assert not list(tmp_path.iterdir())


def test_ranks_as_threads_have_them_too():
    def body(comm):
        vector = comm.persistent_sum(7, np.float32)
        vector.array[...] = comm.rank
        vector.start().wait()
        return vector.array.tolist()

    assert run_ranks(3, body) == [[3.0] * 7] * 3
