"""Every collective on every kind of communicator gives what plain NumPy gives."""

import numpy as np
import pytest
from numpy_collectives import DTYPES, NAMES, REDUCTIONS, ROOTED, compare, numbers, row_counts, sized

pytestmark = [pytest.mark.quick, pytest.mark.devices]


@pytest.mark.parametrize("name", NAMES)
def test_all_roots_and_sizes(name, comm):
    n = comm.size
    for root in range(n if name in ROOTED else 1):
        settings = {"root": root} if name in ROOTED else {}
        for case, sizes in enumerate([None, sized(name, n), sized(name, n, 1)]):
            xs = [numbers(p, (rows, 3), case=case) for p, rows in enumerate(row_counts(name, n, sizes))]
            compare(comm, name, xs, **settings, **({} if sizes is None else {"sizes": sizes}))


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", [*ROOTED, "broadcast_object"])
def test_the_root_may_be_numpys_number(name, kind, comm):
    """Also an array of shape (), which has an index."""
    for root in range(comm.size):
        if name == "broadcast_object":
            assert comm.broadcast_object(f"from {root}" if root in comm.held else None, kind(root)) == f"from {root}"
            continue
        mine = [numbers(p, (4, 2)) for p in comm.held]
        x = numbers(root, (4, 2)) if name in ("broadcast", "scatter") else mine
        got, wanted = (getattr(comm, name)(x, root=r) for r in (kind(root), root))
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.shape == b.shape


@pytest.mark.parametrize("name", NAMES)
def test_dtypes(name, comm):
    for case, dtype in enumerate(DTYPES):
        settings = {"root": case % comm.size} if name in ROOTED else {}
        xs = [numbers(p, (4, 2), dtype, case) for p in range(comm.size)]
        compare(comm, name, xs, **settings)


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_ops(name, op, comm):
    for case, dtype in enumerate(DTYPES):
        if np.dtype(dtype).kind != "c" or op in ("sum", "prod"):
            compare(comm, name, [numbers(p, (6,), dtype, case) for p in range(comm.size)], op=op)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 0), (1,), (3, 1, 2), (2, 1, 1, 2, 1, 1, 1, 2)], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_shapes(name, shape, on_all_kinds):
    if shape == () and name in ("scatter", "reduce_scatter", "alltoall"):
        pytest.skip("0-d arrays have no rows; test_comm_errors.py has the error")

    def check(comm):
        compare(comm, name, [numbers(p, shape) for p in range(comm.size)])
    on_all_kinds(check)


LAYOUTS = {"fortran": np.asfortranarray, "transposed": lambda x: x.T.copy().T,
           "reversed": lambda x: x[::-1].copy()[::-1],
           "strided": lambda x: np.repeat(x, 2, axis=0)[::2],
           "read-only": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
           "sub-array": lambda x: np.pad(x, 1)[1:-1, 1:-1]}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_layouts(name, layout, comm):
    xs = [numbers(p, (4, 3)) for p in range(comm.size)]
    compare(comm, name, xs, layout=LAYOUTS[layout])
    if name in REDUCTIONS:
        compare(comm, name, xs, layout=LAYOUTS[layout], op="max")


@pytest.mark.parametrize("name", ["gather", "allgather", "alltoall"])
def test_a_rank_without_a_part_fits_any_shape_and_dtype(name, comm):
    for absent in range(comm.size if comm.size > 1 else 0):
        parts = [np.empty(0, np.int8) if p == absent else numbers(p, (p + 1, 2), "float32") for p in range(comm.size)]
        full = [np.empty(0, np.float32) if p == absent else x for p, x in enumerate(parts)]
        wanted = [x.astype(np.float32) for x in full]
        compare(comm, name, wanted)
        mine = [parts[p] for p in comm.held]
        got = getattr(comm, name)(mine)
        for x in [got] if name == "gather" else got:
            assert x.dtype == np.float32


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_and_infinity_in_max_and_min(op, dtype, comm):
    """nan wins on every rank, wherever it is; with MPI's own maximum, ranks differ."""
    for owner in range(comm.size):
        xs = [np.array([p, -p, np.inf, -np.inf, 0.0, -1.5], dtype) for p in range(comm.size)]
        xs[owner][[0, 2, 3]] = np.nan, np.nan, 7
        compare(comm, "allreduce", xs, op=op)
        compare(comm, "reduce_scatter", xs, op=op)
        compare(comm, "reduce", xs, op=op, root=owner)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_reductions_are_bitwise_the_same_everywhere(dtype, comm):
    for count in (1, 7, 1000, 100_000):
        xs = [numbers(p, count, dtype) for p in comm.held]
        for op in ("sum", "prod") if dtype == "complex64" else ("sum", "prod", "max", "min"):
            for got in (comm.allreduce(xs, op), comm.start_allreduce(xs, op).wait()):
                assert len(set(comm.allgather_object([x.tobytes() for x in got]))) == 1, (dtype, count, op)
        for function in (comm.sum_in_place, lambda buffers: comm.start_sum_in_place(buffers).wait()):
            buffers = [x.copy() for x in xs]
            function(buffers)
            assert len(set(comm.allgather_object([x.tobytes() for x in buffers]))) == 1, (dtype, count)


def test_sums_go_in_rank_order(comm):
    if comm.kind == "mpi":
        return                                   # the order is MPI's
    xs = [numbers(p, 100, "float32") * 10.0 ** p for p in range(comm.size)]
    total = xs[0].astype(xs[0].dtype)
    for x in xs[1:]:
        total = total + x
    mine = [xs[p] for p in comm.held]
    assert comm.allreduce(mine)[0].tobytes() == total.tobytes()
    comm.sum_in_place(mine)
    assert mine[0].tobytes() == total.tobytes()


def test_half_floats_are_summed_in_float32_and_rounded_once(comm):
    mine = [np.array([1.0 if rank else 2048.0], np.float16) for rank in comm.held]     # in float16, 2048 + 1 is 2048
    wanted = np.float16(2048 + comm.size - 1)
    assert comm.allreduce(mine)[0] == wanted
    assert comm.start_reduce(mine).wait().tolist() == ([wanted] if 0 in comm.held else [])
    comm.sum_in_place(mine)
    assert mine[0] == wanted


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", "int64"])
def test_sum_in_place(dtype, comm):
    for started in (False, True):
        for count in (0, 1, 17, 5000):
            xs = [numbers(p, count, dtype) for p in range(comm.size)]
            wide = np.float32 if dtype == "float16" else dtype
            wanted = np.sum([x.astype(wide) for x in xs], axis=0).astype(dtype)
            mine = [xs[p].copy() for p in comm.held]
            assert (comm.start_sum_in_place(mine).wait() if started else comm.sum_in_place(mine)) is None
            for x in mine:
                tolerance = 1e-2 if dtype == "float16" else 1e-5
                np.testing.assert_allclose(x, wanted, rtol=tolerance, atol=tolerance)


def test_small_exchanges(comm):
    n, processes = comm.size, comm.size // len(comm.held)
    assert comm.total(comm.rank + 0.5) == sum(r + 0.5 for r in range(processes))
    assert isinstance(comm.total(1), float)
    for who in range(processes):
        assert comm.any(comm.rank == who) is True
    assert comm.any(False) is False
    assert comm.any(np.bool_(True)) is True
    for repeat in range(3):                      # other numbers in calls that fit as well as the last ones
        assert comm.total(repeat * 1e-3 + comm.rank) == sum(repeat * 1e-3 + r for r in range(processes))
        assert comm.any(comm.rank == 0 and repeat == 1) is (repeat == 1)
    assert np.isnan(comm.total(np.nan if comm.rank == 0 else 1.0))
    shapes = [(), (0,), (3, 2), (5,), (1, 1)]
    assert comm.rows([np.empty(shapes[p]) for p in comm.held]) == [1, 0, 3, 5, 1][:n]
    assert comm.barrier() is None


def test_objects(comm):
    objects = [{"rank": p, "data": [1.5] * p, "none": None} for p in range(comm.size)]
    mine = [objects[p] for p in comm.held]
    got = comm.allgather_object(mine)
    assert got == objects
    assert not any(a is b for a in got for b in mine)
    for root in range(comm.size):
        value = {"root": root, "text": "x" * 1000}
        got = comm.broadcast_object(value if root in comm.held else "ignored", root)
        assert got == value and got is not value


def test_alltoall_and_back(comm):
    for case in (0, 1):
        sizes = sized("alltoall", comm.size, case)
        xs = [numbers(p, (sum(sizes[p]), 2)) for p in comm.held]
        mine = [sizes[p] for p in comm.held]
        back = comm.alltoall_sizes(mine)
        assert back == [[sizes[source][p] for source in range(comm.size)] for p in comm.held]
        for x, y in zip(xs, comm.alltoall(comm.alltoall(xs, mine), back), strict=True):
            np.testing.assert_array_equal(x, y)


def test_lists_of_numbers_are_arrays(comm):
    assert comm.allreduce([[1, 2] for _ in comm.held])[0].tolist() == [comm.size, 2 * comm.size]
