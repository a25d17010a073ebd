"""What only MPI has: large counts, the user's own communicator, requests under way at the end. Run on real ranks."""

import numpy as np
import pytest
from numpy_collectives import NAMES, REDUCTIONS, ROOTED, compare, numbers, row_counts, sized

from dparallel import world

pytestmark = pytest.mark.mpi


@pytest.fixture
def MPI():
    from mpi4py import MPI  # not at the top: this would start MPI without mpirun

    return MPI


@pytest.mark.parametrize("name", NAMES)
def test_too_many_elements_go_in_pieces_or_as_rows(name):
    """As with over 2**31 elements, but with a smaller limit."""
    comm = world().duplicate()
    n, comm.max_count = comm.size, 29
    for dtype in ("float16", "float32", "bool"):
        for sizes in (None, sized(name, n)):
            xs = [numbers(p, (rows, 31), dtype) for p, rows in enumerate(row_counts(name, n, sizes))]
            settings = {} if sizes is None else {"sizes": sizes}
            for root in range(n if name in ROOTED else 1):
                compare(comm, name, xs, **settings, **({"root": root} if name in ROOTED else {}))
            if name in REDUCTIONS:
                compare(comm, name, xs, **settings, op="max")
    comm.free()


@pytest.mark.parametrize("name", NAMES)
def test_too_many_rows_go_in_rounds(name):
    comm = world().duplicate()
    n, comm.max_count = comm.size, 2 * comm.size
    for dtype in ("float16", "complex64", "bool"):
        for sizes in (None, sized(name, n), sized(name, n, 1)):
            for shape in ((), (3,)):
                xs = [numbers(p, (5 * rows, *shape), dtype) for p, rows in enumerate(row_counts(name, n, sizes))]
                cut = None if sizes is None else (5 * np.array(sizes)).tolist()
                for root in range(n if name in ROOTED else 1):
                    compare(comm, name, xs, **({} if cut is None else {"sizes": cut}),
                            **({"root": root} if name in ROOTED else {}))
    comm.free()


def test_a_users_communicator_in_another_order(MPI):
    from dparallel.comm.mpi.communicator import MpiComm
    base = MPI.COMM_WORLD.Split(0, -MPI.COMM_WORLD.rank)
    comm = MpiComm(base)
    assert (comm.rank, comm.size) == (MPI.COMM_WORLD.size - 1 - MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size)
    assert comm.allgather([np.array(comm.rank)])[0].tolist() == list(range(comm.size))
    comm.free()
    assert base.allreduce(1) == base.size            # the user's own is still there
    base.Free()


def test_part_of_the_world(MPI):
    from dparallel.comm.mpi.communicator import MpiComm
    base = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
    comm = MpiComm(base)
    ranks = list(range(MPI.COMM_WORLD.rank % 2, MPI.COMM_WORLD.size, 2))
    assert comm.allgather([np.array(MPI.COMM_WORLD.rank)])[0].tolist() == ranks
    comm.free()
    base.Free()


def test_messages_of_the_user_are_not_met(MPI):
    from dparallel.comm.mpi.communicator import MpiComm
    base, here = MPI.COMM_WORLD, np.zeros(1)
    comm = MpiComm(base)
    request = base.Irecv(here, MPI.ANY_SOURCE, MPI.ANY_TAG)
    for _ in range(3):
        assert comm.allreduce([np.ones(1)])[0][0] == comm.size
    assert not request.Test()
    comm.barrier()                                   # else the next rank's own message may be here before that was asked
    base.Send(np.full(1, 5.0), (base.rank + 1) % base.size)
    request.Wait()
    assert here[0] == 5
    comm.free()


def test_free_completes_what_nobody_waited_for(MPI):
    comm = world().duplicate()
    buffer = np.ones(50_000)
    comm.start_sum_in_place([buffer])
    comm.free()
    assert (buffer == comm.size).all()
    with pytest.raises(RuntimeError, match="was freed"):
        comm.comm.Barrier()


def test_world_is_one_communicator_of_all_ranks(MPI):
    assert world() is world()
    assert (world().kind, world().rank, world().size) == ("mpi", MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size)
    assert MPI.Comm.Compare(world().comm, MPI.COMM_WORLD) == MPI.CONGRUENT


def test_many_different_calls():
    """More than the communicator remembers."""
    for count in range(600):
        assert len(world().allreduce([np.ones(count)])[0]) == count
