"""bfloat16 through every collective, where the package ml_dtypes is installed: bits as they are, reductions rounded once."""

import numpy as np
import pytest
from numpy_collectives import NAMES, REDUCTIONS, call, expected, row_counts, sized
from raised import raises

ml_dtypes = pytest.importorskip("ml_dtypes")


def numbers(rank, shape):
    return np.random.default_rng([rank, 3]).standard_normal(shape).astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.devices
def test_every_collective(comm, name, started):
    n = comm.size
    for sizes in (None, sized(name, n)):
        for op in ("sum", "prod", "max", "min", "mean") if name in REDUCTIONS else ("sum",):
            xs = [numbers(p, (rows, 3)) for p, rows in enumerate(row_counts(name, n, sizes))]
            settings = {} if sizes is None else {"sizes": sizes}
            got = call(comm, name, [xs[p] for p in comm.held], op=op, started=started, **settings)
            ranks = [0 if 0 in comm.held else comm.held[0]] if name in ("reduce", "gather") else comm.held
            for x, rank in zip(got, ranks, strict=True):
                if name in REDUCTIONS:
                    wide = [x.astype(np.float32) for x in xs]
                    y = expected(name, wide, rank, op="sum" if op == "mean" else op, **settings)
                    y = (y / n if op == "mean" else y).astype(np.float32)
                else:
                    y = expected(name, xs, rank, **settings)
                assert x.dtype == ml_dtypes.bfloat16 and x.shape == y.shape
                np.testing.assert_allclose(x.astype(np.float32), y.astype(np.float32), rtol=2 ** -8, atol=1e-6)


@pytest.mark.devices
def test_shapes_roots_objects_and_sums_in_place(comm):
    for shape in ((), (0,), (0, 2), (3, 1, 2)):
        for root in range(comm.size):
            x = numbers(root, shape)
            for y in comm.broadcast(x if root in comm.held else None, root):
                assert y.dtype == x.dtype and y.tobytes() == x.tobytes() and y.shape == shape
    xs = [np.full(3, 1 + 2 ** -7 * (p == 0), ml_dtypes.bfloat16) for p in comm.held]
    comm.sum_in_place(xs)
    wanted = np.full(3, comm.size + 2 ** -7, np.float32).astype(ml_dtypes.bfloat16)
    assert all(x.tobytes() == wanted.tobytes() for x in xs)
    assert comm.allgather_object([xs[0]] * len(comm.held))[0].tobytes() == wanted.tobytes()


@pytest.mark.devices
def test_nan_wins(comm):
    xs = [np.array([np.nan if p == comm.size - 1 else p, p], ml_dtypes.bfloat16) for p in comm.held]
    for y in comm.allreduce(xs, "max"):
        assert np.isnan(y[0]) and y[1] == comm.size - 1


def test_bfloat16_and_float16_do_not_mix(comm):
    from dparallel import CollectiveError
    if comm.size > 1:
        with pytest.raises(CollectiveError, match="dtypes differ"):
            comm.allreduce([np.ones(2, ml_dtypes.bfloat16 if comm.rank else np.float16)])


@pytest.mark.mpi
def test_a_rank_without_ml_dtypes_is_named_on_all(monkeypatch):
    """Installations may differ: a rank that knows no bfloat16 could not even read what the others want to send."""
    from dparallel import CollectiveError, world
    from dparallel.comm.mpi import communicator as mpi
    last = world().size - 1
    if last == 0:
        return
    if world().rank == last:
        monkeypatch.setattr(mpi, "DTYPES", mpi.DTYPES[:-1])
    comm = world().duplicate()
    mine = np.ones(3, np.float32) if comm.rank == last else numbers(comm.rank, (3,))
    for name in ("allreduce", "allgather", "alltoall"):
        raises(CollectiveError, f"ml_dtypes, which rank {last} lacks", lambda: getattr(comm, name)([mine]))
    raises(CollectiveError, f"ml_dtypes, which rank {last} lacks", lambda: comm.broadcast(mine if comm.rank == 0 else None))
    if comm.rank == 0:
        raises(CollectiveError, f"ml_dtypes, which rank {last} lacks", comm.send, mine, last)
    np.testing.assert_array_equal(comm.allreduce([np.ones(3, np.float32)])[0], np.full(3, comm.size))
    comm.free()
